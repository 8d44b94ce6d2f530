"""Claims with a name: in Python, as a flag and in a claim file they say one and the same."""

import math

import pytest

import likewise as lw
from likewise.spec.claim import WrittenClaim
from likewise.spec.file import read_spec
from likewise.spec.named_claims import parse_named_claim, stated_claim
from likewise.spec.toml_writer import write_spec

SPACE = lw.Space(
    {
        "income": lw.Continuous(0, 9),
        "sex": lw.Categorical(["f", "m", "x"]),
        "rank": lw.Ordinal(["a", "b", "c"]),
    }
)
SPELLED = {
    "monotone:income": lw.Monotone("income"),
    "monotone:income,down": lw.Monotone("income", -1),
    "monotone:income,up,probability=0.1": lw.Monotone("income", of="probability", at_most=0.1),
    "monotone:rank,decision": lw.Monotone("rank", of="decision"),
    "influence:income,score=0.5": lw.Influence("income", 0.5),
    "treatment:sex,f,m": lw.SameTreatment("sex", "f", "m"),
    "rounding:income,0.5": lw.Rounding("income", 0.5),
    "rounding:income,5%,score=1": lw.Rounding("income", "5%", of="score", at_most=1),
}
TABLES = {
    'kind = "monotone"\nfeature = "income"\ndirection = "down"\nof = "decision"': lw.Monotone(
        "income", -1, of="decision"
    ),
    'kind = "influence"\nfeature = "income"\nat_most = 0.5': lw.Influence("income", 0.5),
    'kind = "treatment"\nfeature = "sex"\nlevels = ["f", "m"]': lw.SameTreatment("sex", "f", "m"),
    'kind = "rounding"\nfeature = "income"\nby = 0.5': lw.Rounding("income", 0.5),
}


@pytest.mark.parametrize(("text", "claim"), SPELLED.items())
def test_spelled(text, claim):
    assert parse_named_claim(text) == claim


@pytest.mark.parametrize(
    "text",
    [
        "monotone",
        "monotone:",
        "monotone:income,sideways",
        "influence:age",
        "treatment:sex,f",
        "rounding:age,a bit",
    ],
)
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(lw.SpecError):
        parse_named_claim(text)


def test_other_properties_are_no_names():
    assert parse_named_claim("score:0.5") is None


@pytest.mark.parametrize(("table", "claim"), TABLES.items())
def test_claim_files(table, claim, tmp_path):
    file, again = tmp_path / "claim.toml", tmp_path / "again.toml"
    features = '[features.income]\nkind = "continuous"\nlo = 0\nhi = 9\n[features.sex]\nkind = "categorical"\nlevels = ["f", "m", "x"]\n'
    file.write_text(f"{features}[property]\n{table}\n")
    read = read_spec(file)
    assert (read.similarity, read.property) == (claim.similarity(), claim.property())
    write_spec(read, again)
    assert (read_spec(again).similarity, read_spec(again).property) == (read.similarity, read.property)


def test_orders_are_written_and_read():
    similar = lw.Similarity(within={"income": 2}, order={"income": "up", "rank": -1})
    assert similar.names == ("rank", "income")
    assert lw.Similarity.from_dict(similar.to_dict()) == similar
    assert (
        repr(similar)
        == "Similarity(free=['rank'], within={'income': 2}, order={'income': 'up', 'rank': 'down'})"
    )
    assert similar != lw.Similarity(free=["rank"], within={"income": 2})
    limits = {
        name: relation.limits for name, relation in zip(SPACE.names, similar.resolve(SPACE), strict=True)
    }
    assert limits == {"income": (0, 2), "sex": None, "rank": (-2, 0)}


def test_alone_nobody_is_beside_themselves_where_values_are_whole():
    assert lw.Similarity(order={"rank": "up"}).resolve(SPACE)[2].limits == (1, 2)
    assert lw.Similarity(order={"income": "up"}).resolve(SPACE)[0].limits == (0, 9)
    assert lw.Similarity(order={"rank": "up"}, free=["sex"]).resolve(SPACE)[2].limits == (0, 2)
    assert lw.Similarity(order={"income": "up"}, within={"income": math.inf}).resolve(SPACE)[0].limits == (
        0,
        9,
    )


def test_words():
    claim = lw.Monotone("income", -1, of="probability", at_most=0.1, class_of_interest="yes")
    written = WrittenClaim(SPACE, *stated_claim(claim, None))
    assert written.describe() == (
        "individuals who differ only in income, the second having less income, get probabilities of the class 'yes' of which the second is at most 0.1 lower"
    )


def test_two_who_are_the_same_in_it_may_be_a_pair_where_others_may_differ():
    similar, _ = stated_claim(lw.Similarity(free=["sex"]), lw.Monotone("income"))
    assert "the second having at least as much income" in similar.describe()
    assert "the second having at most as much a" in lw.Similarity(order={"a": "down", "b": "up"}).describe()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lw.Similarity(order={"a": "sideways"}), "is no direction"),
        (lambda: lw.Similarity(order={"a": "up"}, pairs={"a": [("x", "y")]}), "both in order and in pairs"),
        (lambda: lw.Similarity(order=["a"]), "must map names to directions"),
        (lambda: lw.Monotone("a", of="rank"), "of must be"),
        (lambda: stated_claim(None, lw.SameDecision()), "nothing says how"),
    ],
)
def test_refused(make, words):
    with pytest.raises(lw.SpecError, match=words):
        make()


@pytest.mark.parametrize(
    "claim",
    [
        lw.Influence("income", 0.5),
        lw.Rounding("income", 1),
        lw.Rounding("income", 1, of="score", at_most=0.5),
    ],
)
def test_an_order_beside_a_claim_does_not_halve_it(claim):
    """What the claim says of its feature it says both ways, whatever a similarity beside it has of the same feature."""
    beside = lw.Similarity(free=["sex"], within={"income": 3}, order={"income": "up", "rank": "down"})
    similar, _ = stated_claim(beside, claim)
    assert dict(similar.order) == {"rank": "down"}
    limits = similar.resolve(SPACE)[0]
    assert limits.allows(5, 4)
    assert limits.allows(4, 5)


@pytest.mark.parametrize(
    "claim", [lw.SameTreatment("sex", "f", "m"), lw.Rounding("income", 1), lw.Influence("income", 0.5)]
)
def test_a_metric_beside_a_claim_does_not_empty_it(claim):
    """With a cost of 5 and a radius of 1 nobody of two sexes would be compared, and any model be proved to treat them alike."""
    metric = lw.Metric("l1", weights={"rank": 1, "income": 5}, costs={"sex": 5})
    with pytest.raises(lw.SpecError, match="and so does the metric"):
        stated_claim(lw.Similarity(metric=metric, radius=1), claim)
