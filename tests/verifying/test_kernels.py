"""Kernel models end to end: verdicts against exhaustion, certificates accepted, brackets that hold."""

import gzip
import hashlib
import io
import itertools
import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import likewise as lw


def small_case(seed):
    """A small discrete space, an SVC on it, and what may differ."""
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 6))
    sizes = random.integers(2, 4, count)
    names = [f"f{k}" for k in range(count)]
    features = {}
    for k, name in enumerate(names):
        levels = [int(v) for v in range(sizes[k])]
        features[name] = lw.Integer(0, int(sizes[k]) - 1) if random.random() < 0.5 else lw.Categorical(levels)
    rows = pd.DataFrame({n: random.integers(0, s, 24) for n, s in zip(names, sizes, strict=True)})
    score = rows.to_numpy() @ random.normal(size=count) + 0.3 * random.normal(size=24)
    y = (score > np.median(score)).astype(int)
    model = SVC(C=float(random.choice([0.3, 1.0, 10.0])), gamma=float(random.choice([0.1, 0.5, 2.0]))).fit(
        rows, y
    )
    free = [n for n in names if random.random() < 0.4] or [names[0]]
    return lw.Space(features), model, lw.Similarity(free=free), free


def all_scores(space, model, free):
    """Scores of all individuals, one row for each setting of what is the same."""
    values = [range(f.lo, f.hi + 1) if f.kind == "integer" else f.levels for f in space.features.values()]
    frame = pd.DataFrame(list(itertools.product(*values)), columns=list(space.names))
    scores = pd.Series(model.decision_function(frame))
    shared = [n for n in space.names if n not in free]
    keys = [frame[n] for n in shared] or [pd.Series(np.zeros(len(frame)))]
    return scores.groupby(keys)


@pytest.mark.draw(6)
@pytest.mark.parametrize("seed", range(60))
def test_the_verdict_is_the_one_of_exhaustion(seed):
    space, model, similar, free = small_case(seed)
    groups = all_scores(space, model, free)
    highest, lowest = groups.max(), groups.min()
    gap = float((highest - lowest).max())
    biased = bool(((highest > 0) & (lowest < 0)).any())
    clear = float(np.minimum(highest.abs(), lowest.abs()).min())
    result = lw.verify(model, space, similar, budget=60)
    if clear > 1e-9:
        assert result.verdict == ("BIASED" if biased else "FAIR")
    above, below = (lw.verify(model, space, similar, lw.ScoreGap(gap * f), budget=60) for f in (1.01, 0.99))
    assert above.verdict == "FAIR"
    assert above.certificate is not None
    assert below.verdict == ("BIASED" if gap > 1e-9 else "FAIR")
    assert below.certificate is not None


@pytest.mark.draw(2)
@pytest.mark.parametrize("seed", range(8))
def test_the_bracket_holds_the_largest_gap_and_is_certified(seed):
    space, model, similar, free = small_case(seed)
    groups = all_scores(space, model, free)
    gap = float((groups.max() - groups.min()).max())
    found = lw.measure(model, space, similar, tolerance=0.05, budget=60, certify=True)
    assert found.lower - 1e-9 <= gap <= found.upper + 1e-9
    assert found.upper - found.lower <= 0.0501
    assert found.certificate is not None


def test_certificates_of_kernel_models_follow_the_schema():
    schema = json.loads((Path(__file__).parents[2] / "spec" / "certificate-v1.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    model = continuous_model()
    for result in (
        lw.verify(model, SPACE, SEX, budget=60),
        lw.verify(model, SPACE, SEX, lw.ScoreGap(3.0), budget=60),
    ):
        lines = gzip.decompress(result.certificate.content).splitlines()
        assert len(lines) >= 7
        for line in lines:
            validator.validate(json.loads(line))


@pytest.mark.parametrize("change", ["way", "hint", "coefficient", "delta", "lost leaf"])
def test_a_changed_kernel_certificate_is_rejected_or_still_true(change):
    """Sealed anew after the change: only what still proves its own claim may pass."""
    model = continuous_model()
    bound = lw.measure(model, SPACE, SEX, tolerance=0.05, budget=60, certify=True)
    lines = [json.loads(line) for line in gzip.decompress(bound.certificate.content).splitlines()]
    leaf = next(i for i, line in enumerate(lines) if isinstance(line, list) and line[0] == "kernel")
    if change == "way":
        lines[leaf][1] = "1/3"
    elif change == "hint":
        lines[leaf][3] = 2**20  # a tangent far outside the cell: sound, and useless
    elif change == "coefficient":
        lines[4]["model"]["body"]["terms"][0][0] = "1000"
    elif change == "delta":
        lines[3]["property"]["delta"] = "1/100"
    else:
        del lines[leaf]
    assert not lw.check(io.BytesIO(sealed(lines))).accepted


def sealed(lines):
    texts = [json.dumps(line, separators=(",", ":")).encode() for line in lines]
    names = ("space", "similarity", "property", "model")
    header = lines[0] | {
        "digests": {n: hashlib.sha256(t).hexdigest() for n, t in zip(names, texts[1:5], strict=True)}
    }
    texts[0] = json.dumps(header, separators=(",", ":")).encode()
    before = b"".join(text + b"\n" for text in texts[:-1])
    end = lines[-1]["end"] | {"sha256": hashlib.sha256(before).hexdigest(), "nodes": len(lines) - 6}
    return gzip.compress(before + json.dumps({"end": end}, separators=(",", ":")).encode() + b"\n")


def continuous_model(kind=SVC, **options):
    random = np.random.default_rng(3)
    X = pd.DataFrame({"age": random.integers(18, 70, 60), "sex": random.integers(0, 2, 60)})
    X["income"] = random.uniform(0, 4, 60).round(2)
    signal = X.income + 0.4 * X.sex - 0.02 * X.age
    y = (signal > signal.median()).astype(int) if kind is SVC else signal
    return kind(kernel="rbf", gamma=0.05, **options).fit(X, y)


SPACE = lw.Space({"age": lw.Integer(18, 70), "sex": lw.Categorical([0, 1]), "income": lw.Continuous(0, 4)})
SEX = lw.Similarity(free=["sex"])


@pytest.mark.parametrize("kind", [SVC, SVR, KernelRidge])
def test_gaps_over_continuous_features_are_proved(kind):
    model = continuous_model(kind)
    found = lw.measure(model, SPACE, SEX, tolerance=0.05, budget=60, certify=True)
    assert found.certificate is not None
    result = lw.verify(model, SPACE, SEX, lw.ScoreGap(found.upper), budget=60)
    assert result.verdict == "FAIR"
    assert not result.covers_floating_point
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"age": random.integers(18, 71, 2000), "sex": 0, "income": random.uniform(0, 4, 2000)}
    )
    score = model.decision_function if kind is SVC else model.predict
    assert np.abs(score(rows) - score(rows.assign(sex=1))).max() <= found.upper


def test_a_part_of_the_space_is_fair_and_the_whole_is_not():
    model = continuous_model()
    assert lw.verify(model, SPACE, SEX, budget=60).verdict == "BIASED"
    rich = SPACE.replace(income=lw.Continuous(3.5, 4), age=lw.Integer(18, 30))
    result = lw.verify(model, rich, SEX, budget=60)
    assert result.verdict == "FAIR"
    assert result.stats["checked"] is True


def test_a_masked_model_still_depends_on_the_attribute():
    """Every kernel value carries exp(-gamma sex^2), which moves the sum across the intercept."""
    random = np.random.default_rng(5)
    X = pd.DataFrame({"a": random.integers(0, 6, 40), "sex": np.zeros(40, dtype=int)})
    model = SVC(gamma=0.5, C=1.0).fit(X, (X.a + random.normal(size=40) > 2.5).astype(int))
    space = lw.Space({"a": lw.Integer(0, 5), "sex": lw.Integer(0, 3)})
    result = lw.verify(model, space, SEX, budget=30)
    apart = model.decision_function(pd.DataFrame({"a": range(6), "sex": 0})) - model.intercept_
    assert np.abs(apart).max() > 0.1
    assert result.stats["engine"] != "independence"
    assert result.verdict in ("BIASED", "FAIR")


def test_constraints_exclude_pairs_of_kernel_models_too():
    model = continuous_model()
    fair = SPACE.replace(income=lw.Continuous(3.5, 4)).where("age <= 30")
    assert lw.verify(model, fair, SEX, lw.ScoreGap(3.0), budget=30).verdict == "FAIR"


def test_what_may_differ_within_a_tolerance_is_proved_by_cells_of_two_copies():
    model, near = continuous_model(), lw.Similarity(within={"income": 0.1})
    found = lw.measure(model, SPACE, near, tolerance=0.02, budget=60, certify=True)
    assert found.certificate is not None
    assert lw.verify(model, SPACE, near, lw.ScoreGap(found.upper + 0.02), budget=60).verdict == "FAIR"
    assert lw.verify(model, SPACE, near, lw.ScoreGap(found.lower - 0.02), budget=60).verdict == "BIASED"


def test_without_a_check_nothing_is_fair():
    near = lw.Similarity(within={"income": 0.1})
    result = lw.verify(continuous_model(), SPACE, near, lw.ScoreGap(100.0), budget=20, certify=False)
    assert result.verdict == "UNKNOWN"
    assert "not checked" in result.reason


@pytest.mark.parametrize("drop", [None, "first"])
def test_levels_that_a_space_leaves_out_are_no_obstacle(drop):
    """Terms whose own level is not in the space have no place on its axis; with a dropped column, levels are not all
    equally far apart, and the feature is fixed first."""
    random = np.random.default_rng(5)
    X = pd.DataFrame({"job": random.choice(["a", "b", "c", "d"], 80), "sex": random.choice(["f", "m"], 80)})
    X["age"] = random.integers(18, 70, 80)
    y = X.age / 10 + (X.job == "b") * 2 + (X.sex == "m") > 5.5
    columns = make_column_transformer((StandardScaler(), ["age"]), remainder=OneHotEncoder(drop=drop))
    model = make_pipeline(columns, SVC(gamma=0.3)).fit(X, y)
    space = lw.Space(
        {"job": lw.Categorical(["a", "c"]), "sex": lw.Categorical(["f", "m"]), "age": lw.Integer(18, 69)}
    )
    every = pd.DataFrame(
        list(itertools.product(["a", "c"], ["f", "m"], range(18, 70))), columns=["job", "sex", "age"]
    )
    scores = pd.Series(model.decision_function(every)).groupby([every.job, every.age])
    gap = float((scores.max() - scores.min()).max())
    found = lw.measure(model, space, SEX, tolerance=0.01, budget=60, certify=True)
    assert found.lower - 1e-9 <= gap <= found.upper
    assert found.certificate is not None
    assert lw.verify(model, space, SEX, lw.ScoreGap(1.01 * gap), budget=60).verdict == "FAIR"
