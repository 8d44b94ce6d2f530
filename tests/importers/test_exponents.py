"""Regressors that predict exp of their score: compared with the original, gaps of predictions by brute force, planted verdicts, certificates and lies about them."""

import gzip
import importlib.util
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import GammaRegressor, LinearRegression, PoissonRegressor, TweedieRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import likewise as lw
from likewise.errors import SpecError, UnsupportedModel
from likewise.families.scored_model import Scores
from likewise.importers.files import load_model
from likewise.importers.imported_model import import_model
from likewise.model.witness_set import PredictionSet
from likewise_check import check

RANDOM = np.random.default_rng(0)
COUNT = 150
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, COUNT),
        "income": RANDOM.uniform(0, 90, COUNT),
        "sex": RANDOM.choice(["f", "m"], COUNT),
    }
)
Y = RANDOM.poisson(np.exp(0.5 + X.income / 60 + 0.6 * (X.sex == "m"))) + 0.25
SPACE = lw.Space(
    {"age": lw.Integer(18, 80), "income": lw.Continuous(0, 90), "sex": lw.Categorical(["f", "m"])}
)


def pipeline(model):
    words = ("words", OneHotEncoder(drop="first"), ["sex"])
    return make_pipeline(ColumnTransformer([words, ("numbers", StandardScaler(), ["age", "income"])]), model)


def of_logarithm(model, back=np.exp):
    return TransformedTargetRegressor(model, func=np.log if back is np.exp else np.log1p, inverse_func=back)


def boosters(library):
    return pytest.importorskip(library)


MODELS = {
    "poisson": lambda: pipeline(PoissonRegressor()),
    "gamma": lambda: pipeline(GammaRegressor()),
    "tweedie": lambda: pipeline(TweedieRegressor(power=1.5)),
    "boosting-poisson": lambda: pipeline(
        HistGradientBoostingRegressor(loss="poisson", max_iter=8, max_depth=3)
    ),
    "boosting-gamma": lambda: pipeline(HistGradientBoostingRegressor(loss="gamma", max_iter=8, max_depth=3)),
    "log": lambda: of_logarithm(pipeline(LinearRegression())),
    "log1p": lambda: of_logarithm(pipeline(LinearRegression()), np.expm1),
    "log-inside": lambda: pipeline(of_logarithm(LinearRegression())),
    "log-kernel": lambda: of_logarithm(pipeline(SVR())),
}
for objective in ("poisson", "gamma", "tweedie"):
    MODELS[f"xgboost-{objective}"] = lambda objective=objective: pipeline(
        boosters("xgboost").XGBRegressor(
            objective=f"{'count' if objective == 'poisson' else 'reg'}:{objective}",
            n_estimators=8,
            max_depth=3,
        )
    )
    MODELS[f"lightgbm-{objective}"] = lambda objective=objective: pipeline(
        boosters("lightgbm").LGBMRegressor(objective=objective, n_estimators=8, max_depth=3, verbose=-1)
    )
if "loss" in MLPRegressor().get_params():
    MODELS["network"] = lambda: pipeline(
        MLPRegressor(
            hidden_layer_sizes=(3,), loss="poisson", max_iter=5000, tol=1.0, solver="lbfgs", random_state=0
        )
    )


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("name", MODELS)
def test_the_imported_model_is_the_original(name):
    model = MODELS[name]().fit(X, Y)
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    assert imported.model.head.link == "exponential"
    (part,) = Scores(imported.model, 3).parts
    codes = SPACE.encode(X)[:40]
    scores = [float(part.enclose([Fraction(c) for c in row], 80).middle) for row in codes.tolist()]
    expected = np.exp(scores) - (1 if name == "log1p" else 0)
    assert np.allclose(expected, model.predict(X[:40]), rtol=1e-5 if "xgboost" in name else 1e-9)
    assert np.array_equal(imported.replay.predictions(codes)[:, 0], model.predict(X[:40]))
    with pytest.raises(SpecError, match="no probabilities"):
        lw.verify(model, SPACE, lw.Similarity(free=["sex"]), lw.ProbabilityGap(0.1), X=X)


def test_other_links_stay_lines():
    model = pipeline(TweedieRegressor(power=0)).fit(X, Y)
    assert import_model(model, SPACE, rows=SPACE.encode(X), like=X).model.head.link is None


# -- the set of witnesses -----------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1), Fraction(37, 2)])
def test_lines_lie_below_all_witnesses_and_touch(delta):
    witnesses = PredictionSet(delta=delta)
    for lean in (Fraction(1, 2), Fraction(501, 1000), Fraction(3, 5), Fraction(9, 10), Fraction(1)):
        line = witnesses.direction(lean)
        second = np.linspace(-30, 30, 4001)
        border = np.log(float(delta) + np.exp(second))  # the lowest first score of a witness
        values = float(line.a) * border - float(line.b) * second
        assert (values >= float(line.threshold) - 1e-9).all()
        assert values.min() <= float(line.threshold) + 1e-3
        assert float(witnesses.threshold(np.array([float(lean)]))[0]) == pytest.approx(float(line.threshold))
    assert not witnesses.admits(Fraction(49, 100))


@pytest.mark.parametrize(("first", "second"), [(0, -3), (3, 2), (-5, -6), (400, 399), (0.25, -0.25)])
def test_witnesses_are_told_as_the_checker_tells_them(first, second):
    from likewise_check.core.properties import Property

    gap = math.exp(first) - math.exp(second)
    for factor, expected in ((0.999999, True), (1.000001, False)):
        delta, pair = Fraction(gap * factor), (Fraction(first), Fraction(second))
        assert PredictionSet(delta=delta).holds(*pair) is expected
        assert Property(kind="prediction", bound=delta).broken_by(*pair) is expected
        assert not PredictionSet(delta=delta).holds(*reversed(pair))


# -- brute force --------------------------------------------------------------------------------------------

SMALL = lw.Space({"a": lw.Integer(-2, 3), "b": lw.Categorical([0.5, 2.0, 3.0]), "c": lw.Integer(0, 3)})
SIMILAR = lw.Similarity(free=["b"], within={"c": 1})
PEOPLE = list(itertools.product(range(-2, 4), (0.5, 2.0, 3.0), range(4)))
PAIRS = [
    (i, j)
    for (i, x), (j, y) in itertools.combinations(enumerate(PEOPLE), 2)
    if x[0] == y[0] and abs(x[2] - y[2]) <= 1
]


def small(model, seed=0):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(PEOPLE, columns=["a", "b", "c"])
    return model.fit(
        rows, np.exp(0.3 * rows.a + 0.2 * rows.b * rows.c / 3) + random.uniform(0.1, 1, len(rows))
    ), rows


@pytest.mark.draw(2)
@pytest.mark.parametrize(
    "model",
    [
        PoissonRegressor(),
        HistGradientBoostingRegressor(loss="gamma", max_iter=5, min_samples_leaf=3),
        of_logarithm(SVR()),
        lambda: boosters("xgboost").XGBRegressor(objective="count:poisson", n_estimators=5, max_depth=3),
        lambda: boosters("lightgbm").LGBMRegressor(
            objective="gamma", n_estimators=5, min_child_samples=3, verbose=-1
        ),
    ],
    ids=["linear", "trees", "kernel", "xgboost", "lightgbm"],
)
def test_gaps_of_predictions_by_brute_force(model):
    model, rows = small(model() if not hasattr(model, "fit") else model)
    said = model.predict(rows)
    largest = max(abs(said[i] - said[j]) for i, j in PAIRS)
    assert lw.verify(model, SMALL, SIMILAR, lw.ScoreGap(0.999 * largest), budget=60).verdict == "BIASED"
    fair = lw.verify(model, SMALL, SIMILAR, lw.ScoreGap(1.001 * largest), budget=60)
    assert fair.verdict == "FAIR"
    assert not fair.covers_floating_point
    found = lw.measure(model, SMALL, SIMILAR, budget=60)
    single = type(model).__name__ == "XGBRegressor"
    assert found.lower == pytest.approx(largest, rel=1e-5 if single else 1e-6)
    assert largest * (1 - (1e-5 if single else 1e-9)) <= found.upper <= 1.01 * largest


@pytest.mark.some_days
@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_files_predict_as_their_library_does(tmp_path, monkeypatch, library, installed):
    """Also where the file's own trees answer."""
    made = boosters(library)
    if library == "xgboost":
        model, rows = small(made.XGBRegressor(objective="reg:tweedie", n_estimators=5, max_depth=3))
        model.save_model(tmp_path / "model.json")
    else:
        model, rows = small(
            made.LGBMRegressor(objective="poisson", n_estimators=5, min_child_samples=3, verbose=-1)
        )
        model.booster_.save_model(str(tmp_path / "model.txt"))
    path = next(tmp_path.iterdir())
    if not installed:
        known = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *more: None if name == library else known(name, *more)
        )
    imported = import_model(load_model(path), SMALL, rows=SMALL.encode(rows), like=rows)
    assert (imported.replay.stand_in is None) is installed
    assert imported.replay.predictions(SMALL.encode(rows))[:, 0] == pytest.approx(
        model.predict(rows), rel=1e-6
    )


def test_rows_are_audited_by_predictions():
    model, rows = small(PoissonRegressor())
    said = model.predict(rows)
    gaps = np.zeros(len(PEOPLE))
    for i, j in PAIRS:
        gaps[i] = max(gaps[i], abs(said[i] - said[j]))
        gaps[j] = max(gaps[j], abs(said[i] - said[j]))
    level = float(np.median(gaps)) * 1.0001
    audit = lw.audit(model, SMALL, SIMILAR, lw.ScoreGap(level), X=rows, budget=60)
    assert (audit.biased, audit.undecided) == ((gaps > level).sum(), 0)
    share = lw.share(model, SMALL, SIMILAR, lw.ScoreGap(level), X=rows, budget=60)
    assert share.lower <= (gaps > level).mean() <= share.upper
    assert share.upper - share.lower < 1e-9


# -- planted ------------------------------------------------------------------------------------------------


def test_a_planted_model_gets_its_verdict_and_a_pair_shows_predictions(tmp_path):
    similar = lw.Similarity(free=["sex"])
    model = MODELS["poisson"]().fit(X, Y)
    said = model.predict(X.assign(income=90.0, age=80)), model.predict(X.assign(income=90.0, age=18))
    biased = lw.verify(model, SPACE, similar, lw.ScoreGap(0.5), X=X, budget=60)
    assert biased.verdict == "BIASED"
    shown = model.predict(biased.pair)
    assert biased.scores == pytest.approx(tuple(shown))
    assert abs(shown[0] - shown[1]) > 0.5
    assert max(map(np.max, said)) >= max(shown) * (1 - 1e-9)
    fair = model[-1]
    fair.coef_[0] = 0.0
    assert lw.verify(model, SPACE, similar, lw.ScoreGap(0), X=X, budget=60).verdict == "FAIR"
    fair.coef_[0] = 1e-3
    found = lw.verify(model, SPACE, similar, lw.ScoreGap(0.1), X=X, budget=60)
    assert found.verdict == "FAIR"
    found.certificate.save(tmp_path / "fair.lw")
    report = check(tmp_path / "fair.lw")
    assert report.accepted
    assert "predictions that differ by at most" in report.claim


def test_a_continuous_space_is_proved_with_a_bracket():
    model = MODELS["gamma"]().fit(X, Y)
    found = lw.measure(model, SPACE, lw.Similarity(free=["sex"], within={"income": 5.0}), X=X, budget=60)
    random = np.random.default_rng(1)
    people = pd.DataFrame(
        {"age": random.integers(18, 81, 4000), "income": random.uniform(0, 85, 4000), "sex": "f"}
    )
    apart = np.abs(model.predict(people) - model.predict(people.assign(sex="m", income=people.income + 5)))
    assert apart.max() <= found.upper
    assert found.upper <= found.lower * 1.001


def lines_of(path):
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def rewritten(path, lines):
    """The same file with other lines and digests that fit them."""
    import hashlib

    header, end = json.loads(lines[0]), json.loads(lines[-1])
    for name, line in zip(("space", "similarity", "property", "model"), lines[1:5], strict=True):
        header["digests"][name] = hashlib.sha256(line.encode()).hexdigest()
    body = "".join(f"{line}\n" for line in [json.dumps(header), *lines[1:-1]])
    end["end"]["sha256"] = hashlib.sha256(body.encode()).hexdigest()
    path.write_bytes(gzip.compress((body + json.dumps(end) + "\n").encode()))
    return path


def test_lies_about_predictions_are_refused(tmp_path):
    model, _ = small(PoissonRegressor())
    found = lw.verify(model, SMALL, SIMILAR, lw.ScoreGap(40.0), budget=60)
    assert found.verdict == "FAIR"
    found.certificate.save(tmp_path / "honest.lw")
    lines = lines_of(tmp_path / "honest.lw")
    assert check(rewritten(tmp_path / "same.lw", lines)).accepted
    assert '"prediction"' in lines[3]
    lies = {
        "a smaller gap": (3, lines[3].replace(json.loads(lines[3])["property"]["delta"], "1/1000")),
        "a probability": (
            3,
            lines[3]
            .replace("prediction", "probability")
            .replace(json.loads(lines[3])["property"]["delta"], "1/2"),
        ),
        "no link": (4, lines[4].replace('"exponential"', "null")),
        "another link": (4, lines[4].replace('"exponential"', '"logistic"')),
        "labels": (4, lines[4].replace('"labels":null', '"labels":["a","b"]')),
    }
    for name, (place, line) in lies.items():
        assert line != lines[place], name
        changed = [*lines[:place], line, *lines[place + 1 :]]
        assert not check(rewritten(tmp_path / "lie.lw", changed)).accepted, name
    for i, line in enumerate(lines[5:-1], start=5):
        node = json.loads(line)
        if node[0] == "separable":
            for way in ("2", "1/4", "-1"):
                changed = [*lines[:i], json.dumps([node[0], way, *node[2:]]), *lines[i + 1 :]]
                assert not check(rewritten(tmp_path / "lie.lw", changed)).accepted


def test_what_is_refused_names_the_reason():
    twice = of_logarithm(pipeline(PoissonRegressor())).fit(X, Y + 1)
    with pytest.raises(UnsupportedModel, match="exp of a score already"):
        import_model(twice, SPACE, rows=SPACE.encode(X), like=X)
