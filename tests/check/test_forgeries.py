"""Certificates that say something else than their reader takes them to say: each is refused, or its words tell what is wrong with it."""

import copy
import io

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    between,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    line,
    ordinal,
    packed,
    pairs,
    proof,
    score,
    sealed,
    table,
    within,
    witness,
    worth,
)

from likewise_check import check
from likewise_check.__main__ import main

FEATURES = [integer("age", 18, 75), integer("children", 0, 9), categorical("sex", ["f", "m"])]
MODEL = affine(-2, [line(0, "1/100"), table(2, 1, [0, 0])])


def honest(prop=None) -> list:
    """FAIR: nothing reads the sex."""
    features = [*FEATURES]
    model = {**MODEL, "features": copy.deepcopy(features)}
    return proof(features, [SAME, SAME, FREE], prop or decision(), model, [["independent"]])


def told(values: list, **options) -> str:
    report = checked(values)
    assert report.accepted, report.reason
    return report.in_words(**options)


# -- the claim is bound ---------------------------------------------------------------------------------------


def swap_names(values):
    first, second, *_ = values[1]["space"]["features"]
    first["name"], second["name"] = second["name"], first["name"]


def shrink(values):
    values[1]["space"]["features"][0]["hi"] = "18"


def swap_levels(values):
    values[1]["space"]["features"][2]["levels"].reverse()


def other_kind(values):
    values[1]["space"]["features"][2]["kind"] = "ordinal"


FORGERIES = [swap_names, shrink, swap_levels, other_kind]


@pytest.mark.parametrize("forge", FORGERIES)
def test_features_are_bound_to_the_model(forge):
    assert checked(honest()).accepted
    values = honest()
    forge(values)
    report = checked(values)
    assert not report.accepted
    assert "features of the model are not those of the space" in report.reason


@pytest.mark.parametrize("forge", FORGERIES)
def test_a_model_of_the_users_refuses_features_changed_in_both_lines(forge, tmp_path):
    own = tmp_path / "model.json"
    own.write_bytes(sealed(honest())[4])
    assert check(io.BytesIO(packed(sealed(honest()))), model=own).compared == ("model",)
    values = honest()
    forge(values)
    values[4]["model"]["features"] = values[1]["space"]["features"]
    assert checked(values).accepted  # about other features: the words say which
    report = check(io.BytesIO(packed(sealed(values))), model=own)
    assert not report.accepted
    assert "another model" in report.reason


def test_features_may_be_written_otherwise_and_are_the_same_by_value():
    values = honest()
    values[4]["model"]["features"][0]["hi"] = "150/2"
    assert checked(values).accepted


@pytest.mark.parametrize("features", [[], None, "x", [{}]])
def test_features_of_a_model_are_features(features):
    values = honest()
    values[4]["model"]["features"] = features
    assert not checked(values).accepted


def test_a_claim_file_binds_all_four_lines(tmp_path, capsys):
    cert, own = tmp_path / "c.likewise", tmp_path / "claim.lines"
    lines = sealed(honest())
    cert.write_bytes(packed(lines))
    for end in (b"\n", b""):
        own.write_bytes(b"\n".join(lines[1:5]) + end)
        assert main([str(cert), "--claim", str(own)]) == 0
    assert "as in your file: space, similarity, property, model" in capsys.readouterr().out
    other = honest(decision(1))
    other[2]["similarity"][0] = within(2)
    other[1]["space"]["features"][0]["hi"] = "18"
    other[4]["model"]["family"] = "other"
    for place, name in enumerate(("space", "similarity", "property", "model"), start=1):
        changed = [*lines[1:5]]
        changed[place - 1] = sealed(other)[place]
        own.write_bytes(b"\n".join(changed))
        assert main([str(cert), "--claim", str(own)]) == 4
        assert f"another {name} than the file given" in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"", b"{}", b"\n\n\n\n\n\n"])
def test_a_claim_file_has_four_lines(tmp_path, content, capsys):
    cert, own = tmp_path / "c.likewise", tmp_path / "claim.lines"
    cert.write_bytes(packed(sealed(honest())))
    own.write_bytes(content)
    assert main([str(cert), "--claim", str(own)]) == 2
    assert "a claim file has 4 lines" in capsys.readouterr().out
    assert main([str(cert), "--claim", str(tmp_path / "none")]) == 2


def test_a_model_and_a_claim_that_speak_of_two_models(tmp_path):
    cert, own, model = (tmp_path / name for name in ("c", "claim", "model"))
    lines = sealed(honest())
    cert.write_bytes(packed(lines))
    own.write_bytes(b"\n".join(lines[1:5]))
    model.write_bytes(lines[4])
    assert main([str(cert), "--claim", str(own), "--model", str(model)]) == 0
    model.write_bytes(b"{}")
    assert main([str(cert), "--claim", str(own), "--model", str(model)]) == 2


# -- and said in full -----------------------------------------------------------------------------------------


def test_ranges_levels_and_relations_are_said():
    said = told(honest())
    assert "\n  'age': whole numbers from 18 to 75\n" in said
    assert "\n  'sex' (may differ in any way): one of 'f', 'm'\n" in said


def test_a_range_of_one_value_is_said():
    values = honest()
    del values[4]["model"]["features"]
    shrink(values)
    assert "\n  'age': 18 only\n" in told(values)


def test_every_kind_in_words():
    features = [
        continuous("wage", "1/2", 3),
        ordinal("school", ["low", "mid", "high"]),
        categorical("city", [None, True, worth("1/2"), "x"]),
        categorical("only", ["one"]),
        integer("years", 1, 1),
    ]
    relations = [within("1/4"), within(1), pairs((0, 1), (2, 3)), SAME, FREE]
    bounds = [constraint([(0, 2), (1, [0, 1, 1]), (2, [0, 0, "1/2", 0])], "7/2"), constraint([], 0)]
    values = proof(features, relations, decision(), affine(1, []), [["independent"]], constraints=bounds)
    assert told(values).split("\n")[1:8] == [
        "  'wage' (may differ by at most 0.25): from 0.5 to 3",
        "  'school' (may differ by at most 1 step): one, in this order, of 'low', 'mid', 'high'",
        "  'city' (may differ between missing and true, 0.5 and 'x'): one of missing, true, 0.5, 'x'",
        "  'only': 'one' only",
        "  'years' (may differ in any way): 1 only",
        "  constraint: 2 'wage' + 1 if 'school' is 'mid' or 'high' + 0.5 if 'city' is 0.5 <= 3.5",
        "  constraint: 0 <= 0",
    ]


def test_what_is_long_is_cut_unless_all_is_asked_for():
    many = [categorical("n" * 100, [f"level {i}" for i in range(100)])]
    many += [integer(f"x{i}", 0, 5 if i else 0) for i in range(40)]
    rules = [constraint([(1, 1)], 5)] * 30
    values = proof(
        many, [FREE, *[SAME] * 40], decision(), affine(1, []), [["independent"]], constraints=rules
    )
    short, full = told(values), told(values, full=True)
    assert f"  '{'n' * 60}'... (may differ in any way)" in short
    assert "'level 99'" not in short
    assert "'x0': 0 only" in short
    assert "... 17 more features (--full shows all)" in short
    assert "... 6 more constraints (--full shows all)" in short
    assert "'level 99'" in full
    assert "n" * 100 in full
    assert "'x39': whole numbers from 0 to 5" in full
    assert "--full" not in full


def test_pairs_that_allow_nothing_and_claims_about_each_alone_are_said():
    features = [categorical("sex", ["f", "m"]), integer("age", 3, 3)]
    values = proof(features, [pairs(), FREE], decision(), affine(1, []), [["independent"]])
    said = told(values)
    assert "'sex' (may differ between no two levels)" in said
    assert "no two different individuals are similar" in said
    assert "no two different individuals" not in told(honest())


# -- what is proved -------------------------------------------------------------------------------------------


def of_margin(margin, zero="lower") -> list:
    features = [integer("x", 0, 9), categorical("sex", ["f", "m"])]
    model = affine(1, [line(0, 1)], zero=zero)
    way = "0" if zero == "lower" else "1"
    return proof(features, [SAME, FREE], decision(margin), model, [["separable", way]])


@pytest.mark.parametrize(
    ("zero", "sides"),
    [
        ("lower", "one above 1000 and the other at most -1000"),
        ("upper", "one below -1000 and the other at least 1000"),
    ],
)
def test_a_margin_says_what_it_leaves_out(zero, sides):
    said = told(of_margin(1000, zero))
    assert said.startswith("claim: No two individuals of the space")
    assert f"get different decisions with both scores at least 1000 from the threshold ({sides})." in said
    assert "the same decision" not in said.partition("\n")[0]


def test_a_negative_margin_is_said():
    said = told(of_margin("-1/2"))
    assert "get scores of which one above -0.5 and the other at most 0.5 (a margin below 0" in said


def refuted() -> list:
    features = [categorical("sex", ["f", "m"])]
    return witness(features, [FREE], decision(), affine(-1, [table(0, 2, [0, 1])]), [1], [0], [1, -1])


def test_exit_codes_of_what_is_expected(tmp_path, capsys):
    fair, biased, bad = (tmp_path / name for name in ("fair", "biased", "bad"))
    fair.write_bytes(packed(sealed(honest())))
    biased.write_bytes(packed(sealed(refuted())))
    broken = honest()
    broken[5] = ["enumerated", 1]
    bad.write_bytes(packed(sealed(broken)))
    wanted = {fair: (0, 0, 1), biased: (1, 1, 0), bad: (4, 4, 4), tmp_path / "none": (2, 2, 2)}
    for path, codes in wanted.items():
        for code, more in zip(codes, ([], ["--expect", "fair"], ["--expect", "biased"]), strict=True):
            assert main([str(path), *more]) == code
            assert ("NOT AS EXPECTED" in capsys.readouterr().out) == (code == 1 and more != [])
            assert main([str(path), *more, "--quiet"]) == code
    assert main([str(biased)]) == 1
    assert "a proof that the claim of fairness is false" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([str(fair), "--expect", "other"])


# -- claims about nobody --------------------------------------------------------------------------------------

CONTRADICTION = [constraint([(0, 1)], 3), constraint([(0, -1)], -5)]  # x <= 3 and x >= 5
# 2 x - 2 y = 1, where whole numbers are too many for narrowing to find that there is nobody
HIDDEN = [constraint([(0, 2), (1, -2)], 1), constraint([(0, -2), (1, 2)], -1)]


def about_nobody(rules=CONTRADICTION, node=("separable", "0"), **end) -> list:
    features = [integer("x", 0, 9), categorical("sex", ["f", "m"])]
    values = proof(
        features, [SAME, FREE], decision(), affine(1, [line(0, 1)]), [list(node)], constraints=rules
    )
    values[-1]["end"].update(end)
    return values


def about_hidden_nobody(node=("independent",), **end) -> list:
    features = [integer("x", 0, 1000), integer("y", 0, 1000), categorical("sex", ["f", "m"])]
    model = affine(1, [line(0, 1)])
    values = proof(features, [SAME, SAME, FREE], decision(), model, [list(node)], constraints=HIDDEN)
    values[-1]["end"].update(end)
    return values


def moved_out_of_reach() -> list:
    """Whoever has ten years more, of ages from 0 to 9."""
    features = [integer("x", 0, 9), categorical("sex", ["f", "m"])]
    return proof(features, [between(10, 12), SAME], score(1), affine(1, []), [["independent"]])


@pytest.mark.parametrize("node", [("separable", "0"), ("independent",)])
def test_constraints_that_contradict_each_other_are_refused(node):
    report = checked(about_nobody(node=node))
    assert not report.accepted
    assert "a claim about nobody" in report.reason


@pytest.mark.parametrize("node", [("separable", "0"), ("independent",)])
def test_contradictions_that_are_not_found_are_refused(node, tmp_path):
    path = tmp_path / "nobody.likewise"
    path.write_bytes(packed(sealed(about_hidden_nobody(node=node))))
    assert "the claim may be vacuous" in check(path).reason
    assert main([str(path), "--quiet"]) == 4


@pytest.mark.parametrize("somebody", [["3", "0"], ["5", "0"], ["4", "0"], ["4"], [], ["4", "2"], None])
def test_nobody_is_somebody_where_constraints_contradict_each_other(somebody):
    assert not checked(about_nobody(somebody=somebody)).accepted


def test_somebody_is_shown_where_the_end_has_one():
    satisfied = [constraint([(0, 1)], 3), constraint([(0, -1)], -2)]
    for codes, valid in ((["3", "1"], True), (["2", "0"], True), (["1", "0"], False), (["5/2", "0"], False)):
        assert checked(about_nobody(satisfied, somebody=codes)).accepted == valid


TINY = "0x0.8p-1074"


@pytest.mark.parametrize(
    ("lo", "hi", "holds"),
    [
        ("1/3", "1/3", False),
        ("1/10", "0x1.999999999999ap-4", True),
        ("0x1.00000000000008p+0", "0x1.0000000000000fp+0", False),
        ("0x1.00000000000008p+0", "0x1.0000000000001p+0", True),
        ("-0x1.0000000000000fp+0", "-0x1.00000000000008p+0", False),
        (TINY, TINY, False),
        (f"-{TINY}", TINY, True),
        (TINY, "0x1p-1074", True),
        ("0x1p+1024", "0x1p+1025", False),
        ("0x1.fffffffffffffp+1023", "0x1p+1025", True),
        ("0x1.fffffffffffff8p+52", "0x1p+53", True),
        ("-1/3", "1/3", True),
    ],
)
def test_a_continuous_range_holds_a_double(lo, hi, holds):
    values = proof(
        [continuous("x", lo, hi), categorical("sex", ["f", "m"])],
        [SAME, FREE],
        decision(),
        affine(1, []),
        [["independent"]],
    )
    report = checked(values)
    assert report.accepted == holds
    assert holds or "no double" in report.reason


# -- floating point -------------------------------------------------------------------------------------------


UNIT = (continuous("x", 0, 1),)


def covering(model, *, covers=True, clearance=1, features=UNIT, node=("separable", "0")):
    free = [SAME] * len(features)
    return proof(features, free, decision(), model, [list(node)], clearance=clearance, covers=covers)


def described(model, **rounding):
    return {**model, "rounding": {**model["rounding"], **rounding}}


PLAIN = affine(2, [line(0, 1)])


def test_a_description_that_fits_covers():
    assert checked(covering(PLAIN)).covers_floating_point


@pytest.mark.parametrize(
    "rounding",
    [
        {"sizes": ["0"], "constant": "0", "operations": 0},
        {"sizes": ["0"]},
        {"sizes": ["0x0.ffffp+0"]},
        {"constant": "1"},
        {"operations": 0},
    ],
)
def test_a_description_of_less_than_the_model_covers_nothing(rounding):
    model = described(PLAIN, **rounding)
    assert "covers_floating_point" in checked(covering(model)).reason
    assert checked(covering(model, covers=False)).accepted


def test_sums_that_overflow_are_not_covered():
    """f = 1e308 x + 1e308 y: infinite to the program where x = y = 1, for whom the threshold does not count any more."""
    large, features = f"0x1p+{1023}", (continuous("x", 0, 1), continuous("y", 0, 1))
    model = affine(f"0x1p+{1000}", [line(0, large), line(1, large)])
    stated = f"0x1p+{999}"
    assert not checked(covering(model, features=features, clearance=stated)).accepted
    assert checked(covering(model, features=features, clearance=stated, covers=False)).accepted


def test_columns_that_overflow_before_a_small_weight_are_not_covered():
    model = affine(2, [line(0, "0x1p-1000", slope="0x1p+1030")])
    assert not checked(covering(model, clearance=1)).accepted
    assert checked(covering(model, clearance=1, covers=False)).accepted


def test_what_underflows_before_a_large_weight_is_not_covered():
    """x 2^-900 is lost to a program where x < 2^-174, and counts with 2^900."""
    model = affine("0x1p-200", [line(0, "0x1p+900", slope="0x1p-900")])
    features = (continuous("x", 0, "0x1p-180"),)
    assert not checked(covering(model, features=features, clearance="0x1p-201")).accepted
    assert checked(covering(model, features=features, clearance="0x1p-201", covers=False)).accepted


@pytest.mark.parametrize(("bits", "size"), [(24, 127), (53, 1020)])
def test_trees_whose_sums_overflow_are_not_covered(bits, size):
    values = [f"0x1p+{size}", f"0x1p+{size}"]
    body = {"kind": "trees", "bias": "1", "trees": [[[0, "1/2", 2], *values]] * 2}
    head = {"labels": ["no", "yes"], "zero": "lower", "link": None}
    constant = f"0x1p+{size + 2}"
    for covers in (True, False):
        model = {
            "family": "t",
            "body": body,
            "head": head,
            "rounding": {"constant": constant, "operations": 2, "bits": bits},
        }
        stated = f"0x1p+{size}"
        report = checked(covering(model, node=("trees", "0"), clearance=stated, covers=covers))
        assert report.accepted != covers
