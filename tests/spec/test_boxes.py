"""Boxes: rules are read back to the box they were written for; sub-spaces hold exactly its individuals."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import SpecError
from likewise.spec.boxes import Box, full_part, parse_box, similarity_closure
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space

SPACE = Space(
    {
        "age": Integer(18, 30),
        "credit-amount": Continuous(-1.5, 1e5),
        "housing": Categorical(["own", "for free", "rent", "and", 'a "b"']),
        "grade": Ordinal([1, 2, 3, 4]),
        "in": Categorical([False, True]),
    }
)


@st.composite
def boxes(draw):
    parts = []
    for feature in SPACE.features.values():
        if isinstance(feature, Integer):
            parts.append(tuple(sorted(draw(st.tuples(*[st.integers(feature.lo, feature.hi)] * 2)))))
        elif isinstance(feature, Continuous):
            parts.append(tuple(sorted(draw(st.tuples(*[st.floats(feature.lo, feature.hi)] * 2)))))
        else:
            parts.append(tuple(sorted(draw(st.sets(st.integers(0, feature.size - 1), min_size=1)))))
    return Box(SPACE, tuple(parts))


@given(boxes())
def test_a_rule_is_read_back_to_its_box(box):
    assert parse_box(box.rule, SPACE) == box


def test_rules_are_short():
    box = parse_box("age >= 20 and housing != rent and grade >= 2 and age <= 25", SPACE)
    assert box.rule == "20 <= age <= 25 and housing != rent and grade != 1"
    assert parse_box("everybody", SPACE).rule == "everybody"
    assert box.share == Fraction(6, 13) * Fraction(4, 5) * Fraction(3, 4)


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("age >= 31", "nobody in the space has age >= 31"),
        ("age + grade >= 3", "2 features"),
        ("agee >= 3", "did you mean 'age'"),
        ("housing >= 3", "text levels"),
        ("housing == own and", "text ends|number or a feature"),
        ("housing == own or age >= 3", "or"),
    ],
)
def test_what_is_no_rule(rule, wrong):
    with pytest.raises(SpecError, match=wrong):
        parse_box(rule, SPACE)


def individuals(space):
    values = [range(f.lo, f.hi + 1) if isinstance(f, Integer) else f.levels for f in space.features.values()]
    for row in itertools.product(*values):
        person = dict(zip(space.names, row, strict=True))
        if all(constraint.holds(person) for constraint in space.constraints):
            yield row


@given(st.sets(st.integers(0, 2), min_size=1), st.sets(st.integers(0, 2), min_size=1), st.integers(0, 3))
def test_a_subspace_has_exactly_the_valid_individuals_of_its_box(homes, jobs, oldest):
    space = Space(
        {"age": Integer(0, 3), "home": Categorical(["own", "rent", "none"]), "job": Ordinal(["a", "b", "c"])},
        constraints=["if home == own then job != a", "if job in {a, b} then home != none", "age <= 2"],
    )
    box = Box(space, ((0, oldest), tuple(sorted(homes)), tuple(sorted(jobs))))
    levels = [[space["home"].levels[p] for p in homes], [space["job"].levels[p] for p in jobs]]
    wanted = {r for r in individuals(space) if r[0] <= oldest and r[1] in levels[0] and r[2] in levels[1]}
    part = box.subspace()
    assert wanted == (set() if part is None else set(individuals(part)))


def test_everybody_similar_to_somebody_in_a_box_is_in_its_closure():
    similar = Similarity(
        free=["in"],
        within={"age": 2, "grade": 1, "credit-amount": "0.1%"},
        pairs={"housing": [("own", "rent")]},
    )
    box = parse_box(
        "20 <= age <= 21 and housing == own and grade == 1 and 0 <= credit-amount <= 1 and `in` == true",
        SPACE,
    )
    reach = similarity_closure(box, similar.relations(SPACE))
    assert reach.parts[0] == (18, 23)
    assert reach.parts[2:] == ((0, 2), (0, 1), full_part(SPACE["in"]))
    assert reach.parts[1][0] == -1.5
    assert Fraction(reach.parts[1][1]) >= 1 + Fraction(1, 1000) * (Fraction(1e5) + Fraction(1.5))


@pytest.mark.parametrize("way", ["up", "down"])
@pytest.mark.parametrize("within", [{}, {"grade": 1}, {"age": 1}])
def test_the_closure_of_an_ordered_claim_has_both_sides_of_its_pairs(way, within):
    """Who comes before somebody in the box is in it, as is who comes after, and the box itself."""
    relations = Similarity(order={"grade": way}, within=within).relations(SPACE)
    k = SPACE.names.index("grade")
    levels = range(len(full_part(SPACE["grade"])))
    for place in levels:
        box = Box.whole(SPACE).with_part(k, (place,))
        beside = {
            other
            for other in levels
            for pair in ((place, other), (other, place))
            if relations[k].allows(*pair)
        }
        assert similarity_closure(box, relations).parts[k] == tuple(sorted({place, *beside}))
