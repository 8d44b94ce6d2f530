"""Implications between levels: what they mean, how they are written, and what is refused."""

import itertools

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DataError, SpecError
from likewise.spec import Categorical, Integer, Ordinal, Space
from likewise.spec.constraints import Constraint, parse_constraints
from likewise.spec.implications import Indicator
from likewise.spec.pairs import constraint_terms

SPACE = Space(
    {
        "housing": Categorical(["own", "rent", "for free"]),
        "job": Ordinal(["none", "unskilled", "semi-skilled", "and"]),
        "size": Ordinal([-1, 0.5, 2]),
        "member": Categorical([False, True]),
        "age": Integer(18, 75),
    }
)
MEANINGS = {
    "if housing == own then job != none": lambda r: r["housing"] != "own" or r["job"] != "none",
    "if housing != own then job in {unskilled, semi-skilled}": lambda r: (
        r["housing"] == "own" or r["job"] in ("unskilled", "semi-skilled")
    ),
    'if housing not in {own, "for free"} and member == true then size == -1': lambda r: (
        r["housing"] != "rent" or not r["member"] or r["size"] == -1
    ),
    "if size == 0.5 then member == False and housing == for free": lambda r: (
        r["size"] != 0.5 or (not r["member"] and r["housing"] == "for free")
    ),
    'if `job` == "and" and housing == rent then job != "and"': lambda r: (
        r["job"] != "and" or r["housing"] != "rent"
    ),
    "if job in {none, unskilled} and job != none then member == true": lambda r: (
        r["job"] != "unskilled" or r["member"]
    ),
}


def everybody():
    levels = [SPACE[name].levels for name in SPACE.names[:-1]]
    for row in itertools.product(*levels):
        yield dict(zip(SPACE.names, (*row, 20), strict=True))


@pytest.mark.parametrize("text", MEANINGS)
def test_an_implication_means_what_it_says(text):
    space = SPACE.where(text)
    tables = [constraint_terms(space, constraint) for constraint in space.constraints]
    for row in everybody():
        truth = MEANINGS[text](row)
        codes = space.encode(pd.DataFrame([row]), allow_extra=True)[0] if truth else None
        if codes is None:
            with pytest.raises(DataError, match="row 0"):
                space.encode(pd.DataFrame([row]))
            codes = SPACE.encode(pd.DataFrame([row]))[0]
        assert all(constraint.holds(row) for constraint in space.constraints) == truth
        assert all(table.exact([int(c) for c in codes]) <= 0 for table in tables) == truth


@pytest.mark.parametrize("text", MEANINGS)
def test_the_canonical_text_says_the_same(text):
    for constraint in SPACE.where(text).constraints:
        assert parse_constraints(constraint.canonical(), SPACE.features) == (constraint,)


levels = st.lists(st.one_of(st.text(min_size=0, max_size=4)), min_size=1, max_size=4, unique=True)


@given(st.data(), st.dictionaries(st.text(min_size=1).filter(str.strip), levels, min_size=1, max_size=3))
def test_any_names_and_levels_can_be_written(data, features):
    space = Space({name: Categorical(given) for name, given in features.items()})
    indicators = []
    for _ in range(data.draw(st.integers(2, 4))):
        name = data.draw(st.sampled_from(space.names))
        chosen = data.draw(st.lists(st.sampled_from(space[name].levels), min_size=1))
        indicators.append(Indicator(name, frozenset(chosen), data.draw(st.booleans())))
    constraint = Constraint.forbidding("text", indicators)
    assert parse_constraints(constraint.canonical(), space.features) == (constraint,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("if age == 20 then job != none", "'age' is integer, and implications are between levels"),
        ("if hosing == own then job != none", "no feature 'hosing' (did you mean 'housing'?)"),
        ("if housing == won then job != none", "'housing' has no level 'won' (did you mean 'own'?)"),
        ("if size == 3 then job != none", "'size' has no level '3'"),
        ("if housing == own", "the text ends where 'and' or 'then' should follow"),
        ("if housing == own then", "the text ends where the name of a feature should follow"),
        ("if housing == own or job == none then member == true", "'or' is not part of an implication"),
        ("if housing <= own then job != none", "<= compares numbers, and implications are between levels"),
        ("if housing in own then job != none", "a list of levels is missing\n"),
        ("if housing in {own then job != none", "this list of levels is never closed\n"),
        ("if housing own then job != none", "'own' stands where ==, !=, in {...} or not in {...} should"),
        ("if housing == own then job == none none", "'none' stands where 'and' or the end should"),
        ("housing == 3", "implications between levels: if a == b then c != d"),
        ("housing != own", "if a == b then c != d"),
    ],
)
def test_wrong_implications(text, said):
    with pytest.raises(SpecError) as caught:
        SPACE.where(text)
    assert said in str(caught.value)


def test_a_feature_may_be_called_if():
    space = Space({"if": Integer(0, 3), "if x": Integer(0, 3)}).where("if - 1 <= 1", "if x <= 2")
    assert [constraint.names for constraint in space.constraints] == [("if",), ("if x",)]


def test_a_row_that_breaks_an_implication_is_named():
    space = SPACE.where("if housing == own then job != none")
    rows = pd.DataFrame(itertools.islice(everybody(), 12, None))
    rows = pd.concat([rows[rows.job != "none"], rows[rows.job == "none"].assign(housing="own")])
    with pytest.raises(DataError) as caught:
        space.check_frame(rows.reset_index(drop=True))
    first = int((rows.job != "none").sum())
    assert f"row {first} (counted from 0)" in str(caught.value)
    assert "breaks the constraint 'if housing == own then job != none': housing = own, job = none" in str(
        caught.value
    )


def test_levels_must_stay_while_an_implication_names_them():
    space = SPACE.where("if housing == own then job != none")
    assert space.replace(housing=Categorical(["own", "rent", "boat"])).constraints == space.constraints
    with pytest.raises(SpecError, match="'housing' has no level 'own'"):
        space.replace(housing=Categorical(["rent"]))
    with pytest.raises(SpecError, match="'housing' is integer"):
        space.replace(housing=Integer(0, 3))


def test_only_conjunctions_of_two_or_more_can_be_forbidden():
    with pytest.raises(SpecError, match="must forbid two conditions or more"):
        Constraint.forbidding("no", [Indicator("job", frozenset(["none"]))])
