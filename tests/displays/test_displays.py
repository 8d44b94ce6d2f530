"""What the pictures say: the numbers and names that are drawn, not how they look."""

import json
import math
import sys
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.displays import DisparityDisplay, PairDisplay, RadiusDisplay, RegionDisplay
from likewise.errors import LikewiseError, SpecError

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def asked():
    """A model that looks at sex and age, with a space and a similarity."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"age": random.integers(18, 70, 90), "sex": random.choice(["f", "m"], 90)})
    X["income$"] = random.uniform(0, 100, 90).round(1)
    coded = X.assign(sex=(X.sex == "m") * 1)
    y = coded["income$"] + 10 * coded.sex + 0.2 * coded.age > 60
    model = LogisticRegression(solver="liblinear").fit(coded, y)
    return model, lw.Space.from_data(coded), lw.Similarity(free=["sex"], within={"age": 2})


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_a_pair_is_drawn_with_what_differs_and_how_it_is_treated(asked):
    display = PairDisplay.from_estimator(*asked)
    result = lw.verify(*asked)
    drawn = texts(display.ax_)
    assert {"sex", "age", r"income\$", "decision", "score", "P(True)"} <= set(drawn)
    differing = [
        name for name in result.pair.columns if result.pair[name].iloc[0] != result.pair[name].iloc[1]
    ]
    assert drawn.count("≠") == len(differing) >= 1
    assert {str(decision) for decision in result.decisions} <= set(drawn)
    assert display.figure_ is display.ax_.figure
    display.figure_.canvas.draw()


def test_a_pair_can_be_drawn_from_json(asked):
    document = json.loads(json.dumps(lw.verify(*asked).to_dict()))
    assert {"sex", "P(upper class)"} <= set(texts(PairDisplay.from_result(document).ax_))


def test_features_left_out_are_counted():
    document = {"pair": [{f"f{i}": 0 for i in range(20)} | {"sex": i} for i in range(2)]}
    display = PairDisplay.from_result(document)
    assert "... 12 more the same" in texts(display.ax_)
    assert not any("more" in text for text in texts(display.plot(all_features=True).ax_))


def test_no_pair_is_an_error_that_says_why():
    with pytest.raises(SpecError, match="no pair to draw: the verdict is FAIR"):
        PairDisplay.from_result({"pair": None, "verdict": "FAIR"})


def test_the_bracket_is_drawn_as_it_was(asked):
    disparity = lw.measure(*asked, of="probability")
    display = DisparityDisplay.from_result(disparity)
    upper, lower = (line.get_ydata() for line in display.ax_.lines)
    assert (lower[-1], upper[-1]) == (disparity.lower, disparity.upper)
    assert len(lower) == len(display.history) + 1
    display.figure_.canvas.draw()


def test_a_bracket_known_at_once_is_a_line_across():
    document = {"of": "score", "lower": 1.0, "upper": 2.0, "history": [[0.5, 1.0, 2.0]]}
    ax = DisparityDisplay.from_result(document).ax_
    for line in ax.lines:
        assert (min(line.get_xdata()), max(line.get_xdata())) == ax.get_xlim()


def test_a_bracket_of_an_estimator(asked):
    assert DisparityDisplay.from_estimator(*asked, of="probability").of == "probability"
    with pytest.raises(SpecError, match="whatever the property"):
        DisparityDisplay.from_estimator(*asked, lw.SameDecision())


def test_unknown_ends_are_left_out_and_unproved_ones_are_named():
    document = {"of": "score", "lower": 1.0, "upper": None, "history": [[0.1, None, None], [0.2, 1.0, None]]}
    display = DisparityDisplay.from_result({**document, "proved": False, "stats": {"seconds": 1.0}})
    upper, lower = (line.get_ydata() for line in display.ax_.lines)
    assert all(map(math.isnan, upper))
    assert math.isnan(lower[0])
    assert lower[-1] == 1.0
    assert display.ax_.get_title() == "largest gap of scores: at least 1; no upper bound is known"
    assert "not proved" in display.ax_.get_legend().get_texts()[0].get_text()
    display.figure_.canvas.draw()


def test_a_radius_is_drawn_on_the_axes_given(asked):
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    model, space, _ = asked
    display = RadiusDisplay.from_estimator(model, space, lw.Similarity(), feature="age", ax=ax, budget=5)
    assert display.ax_ is ax
    found = lw.radius(model, space, lw.Similarity(), feature="age", budget=5)
    assert (display.proved, display.refuted) == (found.proved, found.refuted)
    assert ax.get_xlabel() == "tolerance of age"
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"proved", "refuted", "in between"} <= labels


def test_a_radius_with_nothing_proved_or_refuted():
    document = {"of": None, "proved": None, "refuted": None, "largest": 3.0, "reason": "the budget ended"}
    ax = RadiusDisplay.from_result(document).ax_
    assert ax.get_title() == "nothing is proved, nothing refuted"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["not decided"]


REGIONS = {
    "fair": [{"rule": "age >= 60", "measure": 0.5}],
    "biased": [{"rule": "savings == $0", "measure": 0.125}],
    "undecided": [{"rule": f"r{i}", "measure": 0.025} for i in range(15)],
    "empty": [],
}


def test_every_region_is_in_a_bar_and_the_shares_add_up():
    ax = RegionDisplay.from_result(REGIONS).ax_
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(100)
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "5 more"
    assert "undecided: 37.50%" in {text.get_text() for text in ax.get_legend().get_texts()}
    ax.figure.canvas.draw()


def test_almost_all_is_not_all():
    shares = {"fair": Fraction(10**20 - 1, 10**20), "undecided": Fraction(1, 10**20)}
    document = {
        kind: [{"rule": "r", "measure": float(share), "exact_measure": str(share)}]
        for kind, share in shares.items()
    }
    ax = RegionDisplay.from_result({**document, "biased": []}).ax_
    assert "fair: above 99.99%" in {text.get_text() for text in ax.get_legend().get_texts()}
    whole = {"fair": [{"rule": "everybody", "measure": 1.0}], "biased": [], "undecided": []}
    labels = RegionDisplay.from_result(whole).ax_.get_legend().get_texts()
    assert [text.get_text() for text in labels] == ["fair: 100%"]


def test_regions_of_an_estimator(asked):
    """Small regions are put together, and no share is lost."""
    model, space, _ = asked
    claim = model, space.where("age <= 19"), lw.Similarity(free=["sex"])
    display = RegionDisplay.from_estimator(*claim, budget=5)
    assert {kind for kind, _, _ in display.regions} >= {"fair", "biased"}
    assert sum(share for _, _, share in display.regions) == 1
    assert sum(bar.get_width() for bar in display.ax_.patches) == pytest.approx(100)


def test_how_it_looks_can_be_told_with_the_answer():
    assert len(RegionDisplay.from_result(REGIONS, most=2).ax_.patches) == 3  # and one for the rest of a kind
    document = {"pair": [{f"f{i}": 0 for i in range(20)} | {"sex": i} for i in range(2)]}
    assert not any("more" in text for text in texts(PairDisplay.from_result(document, all_features=True).ax_))


@pytest.mark.parametrize("kind", [PairDisplay, DisparityDisplay, RadiusDisplay, RegionDisplay])
def test_other_things_are_refused(kind):
    with pytest.raises(SpecError, match="is drawn, not int"):
        kind.from_result(3)
    with pytest.raises(SpecError, match="the document has no"):
        kind.from_result({})


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(LikewiseError, match=r"likewise\[plot\]"):
        RadiusDisplay(proved=1.0, refuted=2.0, largest=3.0).plot()
