"""Columns of 0 and 1 that are the categories of one column, handed over as features of their own."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.spec.dummy_groups import undeclared_groups

N = 200


def people() -> pd.DataFrame:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": random.integers(20, 30, N),
            "job": random.choice(["clerk", "nurse", "driver"], N),
            "sex": random.choice(["f", "m"], N),
        }
    )


def rules(frame: pd.DataFrame, *, where: str | None = None) -> list[str]:
    space = lw.Space.from_data(frame, constant="keep")
    space = space if where is None else space.where(where)
    return [group.rule for group in undeclared_groups(space, space.encode(frame))]


@pytest.mark.parametrize("dtype", [bool, int, float])
def test_groups_are_found_whatever_their_dtype(dtype: Any) -> None:
    assert rules(pd.get_dummies(people(), dtype=dtype)) == [
        "job_clerk + job_driver + job_nurse == 1",
        "sex_f + sex_m == 1",
    ]
    assert rules(pd.get_dummies(people(), drop_first=True, dtype=dtype)) == ["job_driver + job_nurse <= 1"]


def test_names_that_are_no_words_are_quoted() -> None:
    frame = pd.get_dummies(people()[["job"]], prefix_sep=" is ")
    rule = "`job is clerk` + `job is driver` + `job is nurse` == 1"
    assert rules(frame) == [rule]
    assert rules(frame, where=rule) == []


@pytest.mark.parametrize(
    "where",
    ["job_clerk + job_driver + job_nurse <= 1", "2 * job_clerk + 2 * job_driver + 2 * job_nurse == 2"],
)
def test_a_constraint_settles_it(where: str) -> None:
    assert rules(pd.get_dummies(people()[["job"]]), where=where) == []


def test_a_weaker_constraint_does_not() -> None:
    for where in ("job_clerk + job_driver <= 1", "job_clerk + job_driver + job_nurse <= 2"):
        assert len(rules(pd.get_dummies(people()[["job"]]), where=where)) == 1


def test_flags_of_their_own_are_left_alone() -> None:
    """Rare flags that begin alike, flags that a row may have both of, flags without a common beginning."""
    random = np.random.default_rng(0)
    rare = np.zeros((N, 2), dtype=int)
    rare[3, 0] = rare[70, 1] = 1
    frame = pd.DataFrame(
        {
            "has_boat": rare[:, 0],
            "has_plane": rare[:, 1],
            "owns_car": random.integers(0, 2, N),
            "owns_dog": random.integers(0, 2, N),
            "tall": random.integers(0, 2, N),
        }
    )
    frame["short"] = 1 - frame.tall
    assert rules(frame) == []


def audited() -> tuple[Any, Any, Any, Any]:
    """A model of dummies, which favours one job by so much that people with two of them get the job's decision."""
    X = people()
    y = ((X.job == "clerk") | (X.age > 27)).astype(int)
    frame = pd.get_dummies(X, dtype=int)
    model = LogisticRegression(max_iter=2000).fit(frame, y)
    free = [name for name in frame if name.startswith("job_")]
    return X, frame, model, lw.Similarity(free=free)


def test_answers_warn_until_it_is_declared_and_then_count_people_who_exist() -> None:
    """The audit of the dummies under the constraints is the audit of the raw rows, and the brute force of predict."""
    X, frame, model, similar = audited()
    space = lw.Space.from_data(frame)
    found = lw.verify(model, space, similar, X=frame)
    assert 'declare the constraint "job_clerk + job_driver + job_nurse == 1"' in " ".join(str(found).split())
    for rule in ("sex_f + sex_m == 1", "job_clerk + job_driver + job_nurse == 1"):
        space = space.where(rule)
    declared = lw.audit(model, space, similar, X=frame)
    assert "dummies" not in declared.stats
    raw = lw.audit(model, lw.Space.from_data(X), lw.Similarity(free=["job"]), X=X, encoding="get_dummies")
    jobs = [
        model.predict(
            pd.get_dummies(X.assign(job=job), dtype=int).reindex(columns=frame.columns, fill_value=0)
        )
        for job in ("clerk", "nurse", "driver")
    ]
    expected = int((np.ptp(jobs, axis=0) > 0).sum())
    assert declared.biased == raw.biased == expected
