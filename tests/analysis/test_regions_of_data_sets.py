"""regions of models of Credit and Adult: all three kinds where they should be, shares that add up, certificates that are accepted, and
sampled members that the models themselves decide as the box says."""

import io
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from benchmarks.regions import boosting, fitted, flipped, forest, people, piped
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from tests.tiers import ALL

import likewise as lw
from likewise.spec.boxes import parse_box

FIVE = ["income", "limit", "cards", "student", "gender"]
FEW = 5 if ALL else 2  # boxes of a kind in the quick tests


@cache
def case(name):
    """A model, its space and what is free."""
    credit = lw.datasets.load_credit()
    if name == "credit rbf":
        rows = credit.X[FIVE].sample(120, random_state=0)
        space = lw.Space({name: credit.space[name] for name in FIVE})
        return piped(SVC(), space).fit(rows, credit.y.loc[rows.index]), space, ["gender"]
    data = credit if name.startswith("credit") else lw.datasets.load_adult()
    last = {
        "logistic": LogisticRegression(max_iter=2000),
        "boosting": boosting(20, 3),
        "forest": forest(5, 4),
    }[name.split()[1]]
    return *fitted(last, data), list(data.protected)


CASES = ["credit logistic", "adult logistic", "credit boosting", "credit forest", "credit rbf"]


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "credit forest" else name for name in CASES],
)
def test_a_few_boxes_of_each_kind(name):
    found = checked(*case(name), max_boxes=FEW, budget=120)
    assert len(found.fair) <= FEW
    assert len(found.biased) <= FEW


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_boxes_of_each_kind(name):
    found = checked(*case(name), max_boxes=100, budget=40)
    assert float(found.share("fair")) > 0.35


def checked(model, space, free, **options):
    """The regions, after all that is said of them was looked at."""
    found = lw.regions(model, space, lw.Similarity(free=free), **options)
    rows = people(space)
    treated_differently = flipped(model, rows, space, free)
    assert treated_differently.any()
    assert not treated_differently.all()
    assert found.fair
    assert found.biased
    assert sum((region.measure for region in found), Fraction(0)) == 1
    for region in found.fair:
        (certificate,) = region.certificates
        report = lw.check(io.BytesIO(certificate.content))
        assert report.accepted
        assert report.kind == "proof"
        assert not flipped(model, people(space, region.box, 50), space, free).any()
    labels = [model.classes_[0], model.classes_[1]]
    for region in found.biased:
        members = people(space, region.box, 50)
        assert flipped(model, members, space, free).all()
        reports = [lw.check(io.BytesIO(certificate.content)) for certificate in region.certificates]
        assert all(report.accepted for report in reports)
        assert sorted(report.decided for report in reports) == [0, 1]
        for report, change in zip(reports, region.counterparts, strict=True):
            assert set(change) <= set(free)
            assert set(model.predict(members.assign(**change))) == {labels[report.decided]}
    everybody_is_in_one_box(space, rows[:300], found)
    return found


def everybody_is_in_one_box(space, rows, found):
    codes = space.encode(rows).tolist()
    seen = np.zeros(len(rows), dtype=int)
    for region in found:
        box = parse_box(region.rule, space)
        seen += [box.holds(row) for row in codes]
    assert (seen == 1).all()
