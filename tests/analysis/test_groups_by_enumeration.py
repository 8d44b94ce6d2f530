"""All of `groups` against a list of everybody: random spaces, rules, populations and models. Who is valid, how much each person weighs and what follows for groups is written out here in
rationals; decisions are those of the model's own predict. Nothing of the package is used for what is expected."""

import itertools
import json
import math
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.errors import SpecError

SELECTION, TRUE_POSITIVE, FALSE_POSITIVE = "selection_rate", "true_positive_rate", "false_positive_rate"
LETTERS = "abcdef"


class Votes(LogisticRegression):
    """A class of its own, which can only be asked."""

    def predict(self, X):
        return super().predict(X)


MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
    "logistic": lambda: LogisticRegression(C=7),
    "kernel": lambda: SVC(gamma=0.37, decision_function_shape="ovo"),
    "asked": lambda: Votes(C=5),
}


class World:
    """Words and whole numbers, rules between them, and a model of two or three labels."""

    def __init__(self, seed):
        self.random = draw = random.Random(seed)
        self.values = {"g": list(LETTERS[: draw.randint(2, 6)]), "n": list(range(draw.randint(2, 6)))}
        if draw.random() < 0.7:
            self.values["h"] = list("xyz"[: draw.randint(2, 3)])
        if draw.random() < 0.5:
            self.values["m"] = list(range(-1, draw.randint(1, 3)))
        self.names = list(self.values)
        features = {
            name: lw.Categorical(values) if isinstance(values[0], str) else lw.Integer(values[0], values[-1])
            for name, values in self.values.items()
        }
        everybody = [
            dict(zip(self.names, one, strict=True)) for one in itertools.product(*self.values.values())
        ]
        while True:
            self.rules = [self.rule() for _ in range(draw.choice((0, 1, 1, 2)))]
            self.people = [one for one in everybody if all(holds(one) for _, holds in self.rules)]
            if self.people:
                break
        self.space = lw.Space(features, constraints=[text for text, _ in self.rules])
        self.labels = draw.choice(((0, 1), (0, 1), ("no", "maybe", "yes")))
        self.rows = [draw.choice(self.people) for _ in range(60)]
        frame = self.frame(everybody)
        score = frame.assign(g=frame["g"].map(LETTERS.index))[["g", "n"]].to_numpy() @ [0.7, 1.0]
        score = score + np.random.default_rng(seed).normal(0, 1, len(frame))
        cuts = np.quantile(score, np.linspace(0, 1, len(self.labels) + 1)[1:-1])
        words = [name for name in self.names if isinstance(self.values[name][0], str)]
        encode = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
        target = np.array(self.labels, dtype=object if len(self.labels) > 2 else int)
        self.model = make_pipeline(encode, MODELS[draw.choice(list(MODELS))]()).fit(
            frame, target[np.searchsorted(cuts, score)].tolist()
        )
        self.favourable = draw.choice(self.labels)
        self.by = draw.sample(self.names, draw.choice((1, 1, 2)))

    def frame(self, people):
        return pd.DataFrame([[one[name] for name in self.names] for one in people], columns=self.names)

    def rule(self):
        """A text, and whether a person obeys it."""
        draw = self.random
        words = [name for name in self.names if isinstance(self.values[name][0], str)]
        if draw.random() < 0.6:
            if len(words) < 2:
                low = draw.choice(self.values["g"][1:])
                return f"if g == {low} then g != {low}", lambda one: one["g"] != low
            first, second = draw.sample(words, 2)
            given = set(draw.sample(self.values[first], draw.randint(1, len(self.values[first]))))
            then = set(draw.sample(self.values[second], draw.randint(1, len(self.values[second]))))
            text = (
                f"if {first} in {{{', '.join(sorted(given))}}} then {second} in {{{', '.join(sorted(then))}}}"
            )
            return text, lambda one: one[first] not in given or one[second] in then
        numbers = [name for name in self.names if name not in words]
        taken = {
            name: draw.choice((1, -1, 2)) for name in draw.sample(numbers, draw.randint(1, len(numbers)))
        }
        sign, limit = draw.choice(("<=", ">=", "==")), draw.randint(0, 4)
        text = f"{' + '.join(f'{times}*{name}' for name, times in taken.items())} {sign} {limit}"

        def holds(one):
            total = sum(times * one[name] for name, times in taken.items())
            return {"<=": total <= limit, ">=": total >= limit, "==": total == limit}[sign]

        return text, holds

    def expected(self, weight):
        """Of all valid people by groups: their part of everybody, and who of them is selected."""
        decided = self.model.predict(self.frame(self.people)).tolist()
        mass, hit = {}, {}
        for one, decision in zip(self.people, decided, strict=True):
            key = tuple(one[name] for name in self.by)
            mass[key] = mass.get(key, Fraction(0)) + weight(one)
            hit[key] = hit.get(key, Fraction(0)) + (weight(one) if decision == self.favourable else 0)
        total = sum(mass.values())
        return {key: (mass[key] / total, hit[key] / mass[key]) for key in mass if mass[key]}


def assert_same_rates(found, metric, expected, width):
    """Rates, their difference and their ratio; of groups of nobody nothing is expected."""
    for group in found.groups:
        rate = group.rates[metric]
        if group.values not in expected:
            assert rate.count == 0
            continue
        assert Fraction(rate.lower) <= expected[group.values] <= Fraction(rate.upper)
        assert rate.upper - rate.lower <= width
    rates = list(expected.values())
    ratio = min(rates) / max(rates) if max(rates) else Fraction(1)
    for ends, truth in ((found.difference(metric), max(rates) - min(rates)), (found.ratio(metric), ratio)):
        assert Fraction(ends[0]) <= truth <= Fraction(ends[1])
        assert ends[1] - ends[0] <= (10 * width if truth == ratio else 2 * width)


def assert_same_groups(found, expected, width=0.0):
    json.dumps(found.to_dict(), allow_nan=False)
    assert [group.values for group in found.groups] == [
        key for key in (group.values for group in found.groups) if key in expected
    ]
    assert len(found.groups) == len(expected)
    for group in found.groups:
        assert group.share == pytest.approx(float(expected[group.values][0]), rel=1e-9)
        assert group.rates[SELECTION].method == "exact"
    rounding = width + 2**-52
    assert_same_rates(found, SELECTION, {key: rate for key, (_, rate) in expected.items()}, rounding)
    rates = [rate for _, rate in expected.values()]
    if not width or abs(5 * min(rates) - 4 * max(rates)) > 1e-6:
        assert found.four_fifths == (5 * min(rates) >= 4 * max(rates))
    for line, (_, rate) in zip(
        found.by_group.to_dict("records"), (expected[group.values] for group in found.groups), strict=True
    ):
        assert line[SELECTION] == pytest.approx(float(rate), rel=1e-9, abs=1e-9)


CASES = range(80)


@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", CASES)
def test_everybody_alike_is_counted_exactly(seed):
    world = World(seed)
    found = lw.groups(
        world.model,
        world.space,
        world.by,
        over="uniform",
        favourable=world.favourable,
        X=world.frame(world.rows),
    )
    assert_same_groups(found, world.expected(lambda _: Fraction(1)))


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", CASES)
def test_marginals_of_the_rows(seed):
    world = World(seed)

    def weight(one):
        return math.prod(
            Fraction(sum(row[name] == one[name] for row in world.rows), len(world.rows))
            for name in world.names
        )

    found = lw.groups(
        world.model,
        world.space,
        world.by,
        over="marginals",
        favourable=world.favourable,
        X=world.frame(world.rows),
    )
    assert_same_groups(found, world.expected(weight), width=1e-9)


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", CASES)
def test_a_population_of_tables(seed):
    """Whole weights, some of them 0; in one world of two, `n` depends on `g`."""
    world = World(seed)
    draw = world.random

    def table(name):
        weights = {value: draw.randint(0, 3) for value in world.values[name]}
        return weights if any(weights.values()) else dict.fromkeys(weights, 1)

    tables, given = {name: table(name) for name in world.names}, {}
    if draw.random() < 0.5:
        tables["n"], given = {level: table("n") for level in world.values["g"]}, {"n": "g"}

    def weight(one):
        found = Fraction(1)
        for name in world.names:
            some = tables[name][one["g"]] if name in given else tables[name]
            found *= Fraction(some[one[name]], sum(some.values()))
        return found

    def ask():
        return lw.groups(
            world.model,
            world.space,
            world.by,
            over=lw.Population(tables, given=given),
            favourable=world.favourable,
            X=world.frame(world.rows),
        )

    if not any(weight(one) for one in world.people):
        with pytest.raises(SpecError, match="nobody satisfies"):
            ask()
        return
    strata = sum(weight > 0 for weight in tables["g"].values()) if given and "g" not in world.by else 1
    if world.rules and strata > 1:
        with pytest.raises(SpecError, match="depend on others"):
            ask()
        return
    found = ask()
    assert_same_groups(found, world.expected(weight), width=1e-9)


@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", CASES)
def test_rows_with_labels(seed):
    """Selection, true and false positives and equalised odds; in some groups nobody has the favourable label."""
    world = World(seed)
    draw = world.random
    label = [draw.choice(world.labels) for _ in world.rows]
    label[0] = world.favourable
    if draw.random() < 0.2:
        label = [world.favourable] * len(label)
    decided = [one == world.favourable for one in world.model.predict(world.frame(world.rows)).tolist()]
    keys = [tuple(row[name] for name in world.by) for row in world.rows]
    counted = {}
    for key, hit, truth in zip(keys, decided, label, strict=True):
        metrics = (SELECTION, TRUE_POSITIVE if truth == world.favourable else FALSE_POSITIVE)
        for metric in metrics:
            hits, count = counted.setdefault(metric, {}).get(key, (0, 0))
            counted[metric][key] = hits + hit, count + 1
    expected = {m: {k: Fraction(*c) for k, c in groups.items()} for m, groups in counted.items()}
    found = lw.groups(
        world.model, world.space, world.by, favourable=world.favourable, X=world.frame(world.rows), y=label
    )
    shares = {k: (Fraction(keys.count(k), len(keys)), expected[SELECTION][k]) for k in set(keys)}
    assert_same_groups(found, shares)
    assert set(found.metrics) == set(expected)
    for metric, rates in expected.items():
        assert_same_rates(found, metric, rates, 2**-52)
    for group in found.groups:
        for metric, counts in counted.items():
            assert (group.rates[metric].hits, group.rates[metric].count) == counts.get(group.values, (0, 0))
    apart = [max(rates.values()) - min(rates.values()) for m, rates in expected.items() if m != SELECTION]
    odds = found.equalized_odds
    if len(apart) < 2:
        assert odds is None
    else:
        assert Fraction(odds[0]) <= max(apart) <= Fraction(odds[1])
        assert odds[1] - odds[0] <= 2**-51


def test_groups_that_rules_empty_are_left_out():
    """Three of six groups have nobody, and those of the others have 1, 1 and 2 in 4."""
    space = lw.Space({"g": lw.Categorical(list("abcdef")), "h": lw.Categorical(["x", "y"])}).where(
        "if h in {x, y} then g in {a, b, c}", "if h == x then g == c"
    )
    people = pd.DataFrame(itertools.product("abcdef", "xy"), columns=["g", "h"])
    model = make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(people, people["h"] == "x")
    found = lw.groups(model, space, "g", over="uniform")
    assert [(group.values, group.share) for group in found.groups] == [
        (("a",), 0.25),
        (("b",), 0.25),
        (("c",), 0.5),
    ]
    assert found.difference() == (0.5, 0.5)
    assert found.stats["empty_groups"] == [["d"], ["e"], ["f"]]
    assert "no person in d; e; f satisfies the constraints" in found._repr_html_()


@pytest.mark.some_days
@pytest.mark.usefixtures("clock_of_looks")
@pytest.mark.parametrize("seed", [3, 11, 23])
def test_samples_are_of_those_who_obey_the_rules(seed, monkeypatch):
    """Where nobody can be looked at one by one, rates are those of a sample, and shares of groups are estimated."""
    monkeypatch.setattr("likewise.analysis.decision_rates.MOST_INDIVIDUALS", 0)
    monkeypatch.setattr("likewise.analysis.share_sample.AIMED_WIDTH", 0.02)
    world = World(seed)
    assert world.rules
    expected = world.expected(lambda _: Fraction(1))
    found = lw.groups(
        world.model,
        world.space,
        world.by,
        over="uniform",
        favourable=world.favourable,
        X=world.frame(world.rows),
        budget=6,
        confidence=0.999999,
    )
    assert {group.values for group in found.groups} == set(expected)
    for group in found.groups:
        share, rate = expected[group.values]
        assert group.share == pytest.approx(float(share), abs=0.02)
        assert group.rates[SELECTION].lower <= rate <= group.rates[SELECTION].upper
    assert "sampled: 99.9999% sure" in str(found._repr_html_())
    assert "<td>about " in found._repr_html_()


@pytest.mark.usefixtures("clock_of_looks")
def test_rules_between_levels_and_a_continuous_number(monkeypatch):
    """x is uniform on [0, n/2], at most [0, 1], and above 1/4 it is selected; nobody has n = 0 or g = c."""
    monkeypatch.setattr("likewise.analysis.share_sample.AIMED_WIDTH", 0.02)
    space = lw.Space({"g": lw.Categorical(["a", "b", "c"]), "n": lw.Integer(0, 3), "x": lw.Continuous(0, 1)})
    space = space.where("if g == c then g != c", "x <= n / 2", "n >= 1", "if g == a then g in {a, b}")
    frame = pd.DataFrame({"g": list("abab"), "n": [0, 1, 2, 3], "x": [0.0, 0.25, 0.5, 1.0]})
    model = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(categories=[["a", "b", "c"]]), ["g"]), remainder="passthrough"
        ),
        LogisticRegression(),
    ).fit(frame, [0, 0, 1, 1])
    model[-1].coef_, model[-1].intercept_ = np.array([[0.0, 0.0, 0.0, 0.0, 1.0]]), np.array([-0.25])
    found = lw.groups(model, space, "n", over="uniform", budget=6, confidence=0.999999)
    assert found.stats["empty_groups"] == [[0]]
    for group, share, rate in zip(found.groups, (1 / 5, 2 / 5, 2 / 5), (1 / 2, 3 / 4, 3 / 4), strict=True):
        assert group.share == pytest.approx(share, abs=0.02)
        assert group.rates[SELECTION].lower <= rate <= group.rates[SELECTION].upper
    found = lw.groups(model, space, "g", over="uniform", budget=6, confidence=0.999999)
    assert [group.values for group in found.groups] == [("a",), ("b",)]
    assert found.stats["empty_groups"] == [["c"]]


def test_a_share_of_nobody_is_exactly_0():
    """Also where people weigh as much as the rows say: `s` hardly moves a score."""
    rows = pd.DataFrame({"a": [0, 1, 2, 3, 4] * 3, "s": [0, 1, 0] * 5})
    model = LogisticRegression().fit(rows, [0, 0, 1, 1, 1] * 3)
    model.coef_[0, 1] = 1e-9
    space = lw.Space({"a": lw.Integer(0, 4), "s": lw.Integer(0, 1)})
    found = lw.share(model, space, lw.Similarity(free=["s"]), over="marginals", X=rows, method="exact")
    assert (found.lower, found.upper, found.in_words()) == (0.0, 0.0, "0%")
