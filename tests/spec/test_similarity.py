import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import SpecError
from likewise.spec import Categorical, Continuous, Integer, Ordinal, Relation, Similarity, Space

SPACE = Space(
    {
        "age": Integer(18, 75),
        "sex": Categorical(["f", "m"]),
        "income": Continuous(0, 1e5),
        "grade": Ordinal(["low", "middle", "high"]),
        "fixed": Integer(3, 3),
    }
)


def related(**given):
    return dict(zip(SPACE.names, Similarity(**given).resolve(SPACE), strict=True))


def test_relations_in_space_order_all_others_the_same():
    found = Similarity(free=["sex"], within={"income": "5%", "age": 2}).resolve(SPACE)
    assert found == (
        Relation("within", Fraction(2)),
        Relation("free"),
        Relation("within", Fraction(5000)),
        Relation("same"),
        Relation("same"),
    )


def test_relations_are_in_smallest_form():
    assert related(within={"age": 2.9})["age"] == Relation("within", Fraction(2))
    assert related(within={"age": 57})["age"] == Relation("free")
    assert related(within={"age": 56})["age"] == Relation("within", Fraction(56))
    assert related(within={"income": 1e5})["income"] == Relation("free")
    assert related(within={"income": "100%"})["income"] == Relation("free")
    assert related(within={"grade": 1})["grade"] == Relation("within", Fraction(1))
    assert related(within={"grade": 2.0})["grade"] == Relation("free")
    assert related(free=["sex"], within={"age": 0.5})["age"] == Relation("same")
    assert related(free=["sex", "fixed"])["fixed"] == Relation("same")
    assert related(free=["sex"], within={"fixed": 3})["fixed"] == Relation("same")
    assert related(within={"age": 2, "sex": 0})["sex"] == Relation("same")
    assert related(within={"sex": math.inf})["sex"] == Relation("free")


def test_tolerances_are_exact():
    assert related(within={"income": 0.1})["income"].tolerance == Fraction(0.1) != Fraction(1, 10)
    assert related(within={"income": "0.1%"})["income"].tolerance == 100
    assert related(within={"age": "10%"})["age"].tolerance == 5  # 5.7 years, floored
    wide = Space({"x": Continuous(0.1, 0.3)})
    (relation,) = Similarity(within={"x": "5 %"}).resolve(wide)
    assert relation.tolerance == (Fraction(0.3) - Fraction(0.1)) / 20


@given(st.integers(-50, 50), st.integers(0, 60), st.floats(0, 80))
def test_integer_relation_allows_exactly_the_pairs_within_the_tolerance(lo, width, tolerance):
    space = Space({"n": Integer(lo, lo + width), "free": Integer(0, 1)})
    relation = Similarity(free=["free"], within={"n": tolerance}).resolve(space)[0]
    reach = {"same": Fraction(0), "within": relation.tolerance, "free": Fraction(width)}[relation.kind]
    for difference in range(width + 1):
        assert (difference <= tolerance) == (difference <= reach)
    assert (relation.kind == "same") == (min(tolerance, width) < 1)
    assert (relation.kind == "free") == (width > 0 and tolerance >= width)


def test_groups_is_the_papers_form():
    grouped = Similarity.groups([(["sex"], math.inf), (["age", "income"], 2.0), (["grade"], 0)])
    assert grouped == Similarity(free=["sex"], within={"age": 2.0, "income": 2.0, "grade": 0})
    assert [relation.kind for relation in grouped.resolve(SPACE)] == [
        "within",
        "free",
        "within",
        "same",
        "same",
    ]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Similarity(free="sex"), "expected a list of feature names, got 'sex'\nhint: write ['sex']"),
        (lambda: Similarity(free=3), "expected a list of feature names, got 3"),
        (lambda: Similarity(free=[3]), "expected the name of a feature, got 3"),
        (lambda: Similarity(free=["sex", "sex"]), "feature 'sex' is named twice"),
        (lambda: Similarity(free=["sex"], within={"sex": 1}), "feature 'sex' is both free and within"),
        (lambda: Similarity(within=["age"]), "within must map names to tolerances, got ['age']"),
        (lambda: Similarity(within={3: 1}), "expected the name of a feature, got 3"),
        (lambda: Similarity(within={"age": -1}), "the tolerance of 'age' is negative: -1"),
        (lambda: Similarity(within={"age": -math.inf}), "the tolerance of 'age' is negative: -inf"),
        (lambda: Similarity(within={"age": "-5%"}), "the tolerance of 'age' is negative: -5%"),
        (lambda: Similarity(within={"age": math.nan}), "the tolerance of 'age' is NaN"),
        (lambda: Similarity(within={"age": None}), "must be a number or a percentage, got None"),
        (lambda: Similarity(within={"age": True}), "must be a number or a percentage, got True"),
        (lambda: Similarity(within={"age": "5"}), "within: '5' is no tolerance for 'age'"),
        (lambda: Similarity(within={"age": "%"}), "within: '%' is no tolerance for 'age'"),
        (lambda: Similarity(within={"age": "5%%"}), "is no tolerance for 'age'"),
        (lambda: Similarity(within={"age": "five%"}), "is no tolerance for 'age'"),
        (lambda: Similarity(within={"age": "1e999999999%"}), "is no tolerance for 'age'"),
        (lambda: Similarity.groups([(["age"], 1), (["age"], 2)]), "feature 'age' is in two groups"),
        (lambda: Similarity.groups([(["age", "age"], 1)]), "feature 'age' is named twice"),
        (lambda: Similarity.groups([("age", 1)]), "expected a list of feature names, got 'age'"),
        (lambda: Similarity.groups(["age"]), "a group is a pair (names, threshold), got 'age'"),
        (lambda: Similarity(free=["sex"], pairs={"sex": [("f", "m")]}), "'sex' is both free and in pairs"),
        (lambda: Similarity(within={"a": 1}, pairs={"a": [(1, 2)]}), "'a' is both within and in pairs"),
        (lambda: Similarity(pairs=["sex"]), "pairs must map names to pairs of levels, got ['sex']"),
        (lambda: Similarity(pairs={"sex": "fm"}), "'sex' needs a list of pairs, got 'fm'"),
        (lambda: Similarity(pairs={"sex": ["fm"]}), "'fm' is no pair of levels of 'sex'"),
        (lambda: Similarity(pairs={"sex": [("f",)]}), "a pair of levels of 'sex' has two, got ('f',)"),
        (lambda: Similarity(pairs={"sex": [("a", "b", "c")]}), "give three pairs"),
        (lambda: Similarity(pairs={"sex": [("f", "f")]}), "('f', 'f') is one level of 'sex' twice"),
        (lambda: Similarity(pairs={"sex": [("f", [])]}), "[] is no level of 'sex'"),
        (lambda: Similarity(pairs={"sex": []}), "no pairs are given for 'sex'"),
        (lambda: Similarity.from_dict({"fre": []}), "unknown key 'fre' (did you mean 'free'?)"),
    ],
)
def test_wrong_similarities(make, said):
    with pytest.raises(SpecError) as caught:
        make()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"free": ["sxe"]}, "no feature 'sxe' in the space (did you mean 'sex'?)"),
        ({"within": {"Age": 2}}, "no feature 'Age' in the space (did you mean 'age'?)"),
        (
            {"within": {"sex": 1}},
            "'sex' is categorical, its levels have no distance\nhint: make it free, or Ordinal",
        ),
        ({"within": {"sex": "5%"}}, "a percentage (5%) means nothing for 'sex'"),
        ({"within": {"grade": "50%"}}, "a percentage (50%) means nothing for 'grade', which has levels"),
        (
            {"within": {"grade": 1.5}},
            "1.5 is no number of steps for the ordinal feature 'grade'\nhint: give a whole number, such as 1 or 2",
        ),
        ({}, "nothing may differ: every pair is one individual\nhint: name what"),
        (
            {"within": {"age": 0.5}},
            "nothing may differ: every pair is one individual (age cannot differ in this space)",
        ),
        (
            {"pairs": {"grade": [("low", "hihg")]}},
            "feature 'grade': unknown level 'hihg' (did you mean 'high'?)",
        ),
        ({"pairs": {"age": [(20, 30)]}}, "'age' is integer, it has no levels\nhint: within={'age': 2}"),
        ({"pairs": {"sxe": [("f", "m")]}}, "no feature 'sxe' in the space (did you mean 'sex'?)"),
        ({"free": ["fixed"]}, "nothing may differ: every pair is one individual (fixed cannot differ"),
    ],
)
def test_similarities_that_do_not_fit_the_space(given, said):
    with pytest.raises(SpecError) as caught:
        Similarity(**given).resolve(SPACE)
    assert said in str(caught.value)


def test_pairs_are_positions_the_smaller_first():
    similar = Similarity(pairs={"grade": [("high", "low"), ("low", "high")]})
    assert similar.resolve(SPACE)[SPACE.names.index("grade")] == Relation("pairs", allowed=((0, 2),))
    assert similar.describe(SPACE) == "differ only between high and low in grade"
    assert similar == Similarity(pairs={"grade": [("low", "high")]})
    assert hash(similar) == hash(Similarity(pairs={"grade": [("low", "high")]}))
    assert similar != Similarity(free=["grade"])
    assert "between high and low" in similar._repr_html_()


def test_pairs_are_not_passed_on():
    relation = Relation("pairs", allowed=((0, 1), (1, 2)))
    assert [relation.partners(i, 4) for i in range(4)] == [[0, 1], [0, 1, 2], [1, 2], [3]]


def test_drafts_have_relations_though_nothing_may_differ():
    assert {relation.kind for relation in Similarity().relations(SPACE)} == {"same"}


def test_words():
    assert Similarity(free=["sex"], within={"age": 2}).describe() == "differ only in sex, by at most 2 in age"
    assert Similarity(free=["a", "b", "c"]).describe() == "differ only in a, b and c"
    assert Similarity(within={"age": 2.5, "income": "5%"}).describe() == (
        "differ only by at most 2.5 in age, by at most 5% in income"
    )
    assert Similarity().describe() == "differ in nothing"
    given = Similarity(free=["sex", "fixed"], within={"income": "5%", "grade": 1, "age": 2.5})
    assert given.describe(SPACE) == (
        "differ only in sex, by at most 2 in age, by at most 5% (5000) in income, by at most 1 step in grade"
    )


names = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True, max_size=6)
tolerances = st.one_of(
    st.integers(0, 10**20),
    st.floats(0, allow_nan=False),
    st.decimals(0, 200, places=2).map(lambda d: f"{d}%"),
)


@st.composite
def similarities(draw):
    chosen = draw(names)
    cut = draw(st.integers(0, len(chosen)))
    end = draw(st.integers(cut, len(chosen)))
    levels = st.lists(st.one_of(st.integers(), st.text("abc")), min_size=2, max_size=2, unique=True).map(
        tuple
    )
    pairs = {name: draw(st.lists(levels, min_size=1, max_size=3)) for name in chosen[end:]}
    return Similarity(
        free=chosen[:cut], within={name: draw(tolerances) for name in chosen[cut:end]}, pairs=pairs
    )


@given(similarities())
def test_similarities_are_values(similarity):
    for twin in (Similarity.from_dict(similarity.to_dict()), pickle.loads(pickle.dumps(similarity))):
        assert twin == similarity
        assert hash(twin) == hash(similarity)
        assert repr(twin) == repr(similarity)
    turned = {name: [(b, a) for a, b in reversed(pairs)] for name, pairs in similarity.pairs.items()}
    again = Similarity(free=similarity.free[::-1], within=dict(similarity.within), pairs=turned)
    assert again == similarity
    assert hash(again) == hash(similarity)


def test_immutable_and_of_plain_values():
    similarity = Similarity(free=np.array(["sex"]), within={"age": np.int64(2), "income": np.float32(0.5)})
    assert repr(similarity) == "Similarity(free=['sex'], within={'age': 2, 'income': 0.5})"
    with pytest.raises(AttributeError, match="immutable"):
        similarity.free = ()
    with pytest.raises(TypeError):
        similarity.within["age"] = 3
    assert similarity != Similarity(free=["sex"])
    assert similarity != "sex"


def test_html_is_escaped():
    html = Similarity(free=["<b>sex</b>"], within={"a&b": "5%"})._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;sex&lt;/b&gt;" in html
    assert "a&amp;b" in html
