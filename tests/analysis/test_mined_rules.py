"""Mined rules: what rows obey is found, what holds by chance is not, and every count is that of the rows."""

import numpy as np
import pandas as pd
import pytest

import likewise as lw
from likewise.errors import SpecError


def people(count=600, seed=3):
    """Employed since the age of 14 at most, students rent, and two features that nothing binds."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 70, count)
    job = random.choice(["student", "clerk", "smith"], count)
    return pd.DataFrame(
        {
            "age": age,
            "employed": (random.random(count) * (age - 14)).astype(int),
            "job": job,
            "housing": np.where(job == "student", "rent", random.choice(["rent", "own", "free"], count)),
            "colour": random.choice(["red", "green"], count),
            "height": random.random(count).round(3),
        }
    )


def space_of(frame):
    return lw.Space.from_data(frame)


def obeys(rule, row):
    """The rules of `people`, written anew: nothing of the package."""
    if rule.startswith("if job == student"):
        return row["job"] != "student" or row["housing"] == "rent"
    left, right = rule.split(" <= ")
    assert left == "employed", rule
    factor, _, offset = right.rpartition("*") if "*" in right else ("1", "", right)
    name, _, rest = offset.strip().partition(" ")
    return row["employed"] <= float(factor) * row[name] + float(rest.replace(" ", "") or 0)


def test_planted_rules_are_found_with_their_counts():
    frame = people()
    found = lw.mine_rules(space_of(frame), frame)
    assert {rule.rule.split(" <= ")[0] for rule in found} >= {
        "employed",
        "if job == student then housing == rent",
    }
    for rule in found:
        assert all(obeys(rule.rule, row) for row in frame.to_dict("records"))
        assert rule.exceptions == 0
        expected = len(frame) if "<=" in rule.rule else int((frame["job"] == "student").sum())
        assert rule.rows == expected
        assert rule.expected >= 10


def test_features_that_nothing_binds_are_left_alone():
    frame = people()
    assert not any(
        "colour" in rule.rule or "height" in rule.rule for rule in lw.mine_rules(space_of(frame), frame)
    )
    random = np.random.default_rng(1)
    free = pd.DataFrame({name: random.permutation(frame[name]) for name in frame})
    assert lw.mine_rules(space_of(free), free) == []


def test_exceptions_are_counted():
    frame = people()
    at = frame.index[frame["job"] == "student"][:2]
    frame.loc[at, "housing"] = "own"
    strict = [rule.rule for rule in lw.mine_rules(space_of(frame), frame)]
    assert "if job == student then housing == rent" not in strict
    lenient = {rule.rule: rule for rule in lw.mine_rules(space_of(frame), frame, exceptions=2)}
    assert lenient["if job == student then housing == rent"].exceptions == 2


def test_rows_are_those_that_have_the_level_of_the_condition():
    random = np.random.default_rng(8)
    job = random.choice(["a", "b", "c", "d"], 800)
    frame = pd.DataFrame(
        {"job": job, "home": np.where(job == "a", "x", random.choice(["w", "x", "y", "z", "z", "z"], 800))}
    )
    frame.loc[(frame["job"] == "a") & (frame.index % 3 == 0), "home"] = "y"
    frame.loc[(frame["job"] == "a") & (frame.index % 3 == 1), "home"] = "w"
    (rule,) = lw.mine_rules(space_of(frame), frame, most=1)
    condition = rule.rule.removeprefix("if ").split(" then ")[0]
    name, level = condition.split(" == ")
    assert rule.rows == int((frame[name] == level).sum())


def test_a_rule_is_a_constraint_of_a_space():
    frame = people()
    space = space_of(frame)
    for rule in lw.mine_rules(space, frame):
        space.where(rule.rule).check_frame(frame)
        assert str(rule).startswith(rule.rule)


def test_bounds_of_continuous_numbers_are_rounded_so_that_every_row_obeys():
    random = np.random.default_rng(5)
    income = np.exp(random.normal(10, 1, 500))
    frame = pd.DataFrame({"income": income, "rent": income * random.random(500) / 3, "x": random.random(500)})
    space = space_of(frame)
    rules = lw.mine_rules(space, frame)
    assert any(rule.rule.startswith("rent <= 0.3") and rule.rule.endswith("* income") for rule in rules)
    for rule in rules:
        space.where(rule.rule).check_frame(frame)


def test_few_rules_are_asked_for():
    frame = people()
    assert len(lw.mine_rules(space_of(frame), frame, most=1)) == 1
    assert lw.mine_rules(space_of(frame), frame[:0]) == []
    for wrong in ({"exceptions": -1}, {"most": 0}, {"most": True}):
        with pytest.raises(SpecError, match="whole number"):
            lw.mine_rules(space_of(frame), frame, **wrong)
