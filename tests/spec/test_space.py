import copy
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from likewise.errors import SpecError
from likewise.spec import Categorical, Constraint, Continuous, Integer, Ordinal, Space

FEATURES = {
    "age": Integer(18, 75),
    "sex": Categorical(["f", "m"]),
    "income": Continuous(0, 1e5),
    "credit-amount": Ordinal([1, 2, 5]),
}
SPACE = Space(FEATURES, constraints=["credit-amount <= age - 14", "18 <= age <= 65"])


def test_a_space_is_an_ordered_read_only_mapping():
    assert SPACE.names == tuple(SPACE) == tuple(FEATURES)
    assert len(SPACE) == 4
    assert SPACE["age"] is FEATURES["age"]
    assert "age" in SPACE
    assert "Age" not in SPACE
    assert 3 not in SPACE
    assert dict(SPACE.features) == FEATURES
    with pytest.raises(TypeError):
        SPACE.features["age"] = Integer(0, 1)
    with pytest.raises(KeyError, match="did you mean 'age'"):
        SPACE["agee"]


def test_changing_the_mapping_given_changes_nothing():
    features = dict(FEATURES)
    space = Space(features)
    features.clear()
    assert space.names == tuple(FEATURES)


def test_spaces_are_immutable_values():
    for twin in (
        pickle.loads(pickle.dumps(SPACE)),
        copy.deepcopy(SPACE),
        Space(FEATURES, constraints=SPACE.constraints),
    ):
        assert twin == SPACE
        assert hash(twin) == hash(SPACE)
    with pytest.raises(AttributeError, match="immutable"):
        SPACE._features = {}
    with pytest.raises(AttributeError, match="immutable"):
        del SPACE._features
    assert Space(FEATURES) != SPACE
    assert Space(dict(reversed(FEATURES.items()))) != Space(FEATURES)
    assert SPACE != "space"


def test_size_counts_individuals():
    assert SPACE.size is None
    assert Space({"a": Integer(0, 9), "b": Categorical("xyz".__iter__())}).size == 30
    assert Space({"a": Integer(0, 9), "b": Continuous(3, 3)}).size == 10


def test_replace_keeps_places_and_constraints():
    wider = SPACE.replace({"credit-amount": Integer(0, 9)}, age=Integer(0, 120))
    assert wider.names == SPACE.names
    assert wider["age"] == Integer(0, 120)
    assert wider["credit-amount"] == Integer(0, 9)
    assert wider.constraints == SPACE.constraints
    assert SPACE["age"] == Integer(18, 75)


def test_where_adds_constraints():
    space = Space(FEATURES).where("age >= 20", "income <= 1000 * age").where(SPACE.constraints[0])
    assert [dict(c.coefficients) for c in space.constraints] == [
        {"age": -1},
        {"age": Fraction(-1000), "income": Fraction(1)},
        {"age": -1, "credit-amount": 1},
    ]
    assert Space(FEATURES, constraints="age >= 20") == Space(FEATURES).where("age >= 20")


def test_value_gives_the_users_own_python_values():
    values = [SPACE.value(j, np.float64(code)) for j, code in enumerate([20, 1, 0.5, 2])]
    assert values == [20, "m", 0.5, 5]
    assert [type(value) for value in values] == [int, str, float, int]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Space({}), "a space needs at least one feature"),
        (lambda: Space(["age"]), "features must map names to features, got ['age']"),
        (lambda: Space({"age": (18, 75)}), "feature 'age' is (18, 75)\nhint: use Continuous(lo, hi)"),
        (lambda: Space({"age": Integer}), "feature 'age' is <class"),
        (lambda: Space({3: Integer(0, 1)}), "3 cannot be the name of a feature\nhint: names are text"),
        (lambda: Space({" ": Integer(0, 1)}), "' ' cannot be the name of a feature"),
        (lambda: SPACE.replace(agee=Integer(0, 1)), "no feature 'agee' to replace (did you mean 'age'?)"),
        (lambda: SPACE.replace({"age": Integer(0, 1)}, age=Integer(0, 1)), "feature 'age' is replaced twice"),
        (
            lambda: SPACE.replace(age=Categorical(["a"])),
            "feature 'age' has text levels, which cannot be added up",
        ),
        (lambda: SPACE.where("agee <= 3"), "constraint 'agee <= 3': no feature 'agee' (did you mean 'age'?)"),
        (lambda: SPACE.where("sex <= 3"), "constraint 'sex <= 3': feature 'sex' has text levels"),
        (lambda: SPACE.where(Constraint("c", (("x", 1),), 2)), "no feature 'x'"),
        (lambda: SPACE.where("age < 3"), "strict comparison"),
        (lambda: SPACE.where(3), "a constraint is text, got 3"),
    ],
)
def test_wrong_spaces(make, said):
    with pytest.raises(SpecError) as caught:
        make()
    assert said in str(caught.value)


def test_constraints_make_it_at_most():
    space = Space({"age": Integer(18, 75)})
    assert space.describe() == "1 feature; 58 individuals"
    assert space.where("age <= 65").describe() == "1 feature, 1 constraint; at most 58 individuals"


def test_repr_is_a_table():
    assert repr(SPACE).splitlines() == [
        "Space: 4 features, 1 categorical, 1 ordinal, 2 constraints; infinitely many individuals",
        "  age            integer 18..75",
        "  sex            2 levels: f, m",
        "  income         continuous 0..100000",
        "  credit-amount  3 ordered levels: 1 < 2 < 5",
        "  where          credit-amount <= age - 14",
        "  where          18 <= age <= 65",
    ]


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (1, "1 individual"),
        (2, "2 individuals"),
        (999999, "999,999 individuals"),
        (10**6, "about 1 million individuals"),
        (41 * 10**13, "about 410 trillion individuals"),
        (9999999, "about 10 million individuals"),
    ],
)
def test_describe_counts_readably(size, words):
    assert Space({"a": Integer(1, size)}).describe() == f"1 feature; {words}"


def test_describe_of_a_huge_space():
    assert (
        Space({f"f{j}": Integer(1, 10**15) for j in range(30)}).describe()
        == "30 features; about 10^450 individuals"
    )


def test_html_is_escaped():
    html = Space({"<script>": Categorical(["<b>", "a&b"])}).where()._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert "a&amp;b" in html


def test_the_spec_layer_loads_no_frame_library_before_a_frame_is_given():
    code = (
        "import sys, likewise.spec, likewise.spec.file, likewise.spec.frames, likewise.spec.feature_inference, likewise.spec.rows\n"
        "likewise.spec.Space({'a': likewise.spec.Integer(0, 1)}).where('a <= 1')\n"
        "print(sorted({'numpy', 'narwhals', 'pandas', 'polars'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
