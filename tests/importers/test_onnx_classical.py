"""Classical models in ONNX files: they say what ONNX Runtime says, on and beside every threshold, and verdicts are those of brute force over small spaces."""

import pickle
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.errors import LikewiseError, UnsupportedModel
from likewise.families.scored_model import Scores
from likewise.importers.files import draft_reading, load_model
from likewise.importers.imported_model import import_model
from likewise.importers.onnx.model_file import Node
from likewise.importers.onnx.operators import run_node
from likewise.spec.model_reading import READ_AS_IT_IS, ModelReading

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
helper, TensorProto = onnx.helper, onnx.TensorProto

NUMBERS, WORDS = ["age", "income"], ["sex", "job"]
SPACE = lw.Space(
    {
        "age": lw.Integer(18, 30),
        "income": lw.Ordinal([0.5, 1.25, 2.0, 3.1]),
        "sex": lw.Categorical(["f", "m"]),
        "job": lw.Categorical(["a", "b", "c"]),
    }
)
SIMILAR = lw.Similarity(free=["sex"], within={"age": 1})
EVERYBODY = pd.DataFrame(
    list(product(range(18, 31), [0.5, 1.25, 2.0, 3.1], "fm", "abc")), columns=list(SPACE.names)
)


def rows(n=150, seed=0):
    random = np.random.default_rng(seed)
    X = EVERYBODY.iloc[random.integers(0, len(EVERYBODY), n)].reset_index(drop=True)
    value = 0.2 * (X.age - 24) + X.income - 1.6 + 0.8 * (X.sex == "m") + random.normal(0, 0.3, n)
    return X, value


def columns(kind, blind=()):
    words = [name for name in WORDS if name not in blind]
    if kind == "one-hot":
        return make_column_transformer(
            (StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), words)
        )
    return make_column_transformer((MinMaxScaler(), NUMBERS), (OrdinalEncoder(), words))


MODELS = {
    "logistic": ("one-hot", LogisticRegression(), 2),
    "softmax": ("ordinal", LogisticRegression(), 3),
    "ridge": ("ordinal", Ridge(), 0),
    "tree": ("one-hot", DecisionTreeClassifier(max_depth=3, random_state=0), 2),
    "forest": ("ordinal", RandomForestClassifier(5, max_depth=3, random_state=0), 2),
    "forest of three": ("one-hot", RandomForestClassifier(4, max_depth=3, random_state=0), 3),
    "boosting": ("one-hot", GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0), 2),
    "boosted numbers": ("ordinal", GradientBoostingRegressor(n_estimators=6, max_depth=2, random_state=0), 0),
    "machine": ("one-hot", SVC(), 2),
    "machine of three": ("ordinal", SVC(), 3),
    "linear machine": ("ordinal", SVC(kernel="linear"), 2),
    "polynomial machine": ("ordinal", SVC(kernel="poly", degree=2), 2),
    "machine of numbers": ("one-hot", SVR(), 0),
}


def fitted(name, blind=()):
    kind, estimator, classes = MODELS[name]
    X, value = rows()
    target = value if not classes else np.digitize(value, [0.0] if classes == 2 else [-0.6, 0.6])
    return make_pipeline(columns(kind, blind), estimator).fit(X, target)


def exported(model, path, *, zipmap=False, inputs=None, reading=READ_AS_IT_IS):
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    inputs = inputs or [
        *((name, FloatTensorType([None, 1])) for name in NUMBERS),
        *((name, StringTensorType([None, 1])) for name in WORDS),
    ]
    options = {} if zipmap or not hasattr(model, "classes_") else {"options": {"zipmap": False}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the exporter's own
        proto = skl2onnx.to_onnx(model, initial_types=inputs, **options)
    path.write_bytes(proto.SerializeToString())
    return load_model(path, reading=reading)


def told(path, X):
    """What ONNX Runtime itself makes of a file: labels or numbers."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {
        one.name: X[[one.name]].to_numpy(dtype=object if "string" in one.type else np.float32)
        for one in session.get_inputs()
    }
    return np.ravel(session.run(None, feed)[0])


def similar_pairs():
    """All pairs of individuals that are similar, by their rows in EVERYBODY."""
    ages, others = EVERYBODY.age.to_numpy(), EVERYBODY[["income", "job"]].apply(tuple, axis=1).to_numpy()
    near = np.abs(ages[:, None] - ages[None, :]) <= 1
    return np.argwhere(near & (others[:, None] == others[None, :]))


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("name", MODELS)
def test_verdicts_are_those_of_brute_force(name, tmp_path):
    file = tmp_path / "model.onnx"
    model = exported(fitted(name), file)
    assert model.stand_in is None
    answers, pairs = told(file, EVERYBODY), similar_pairs()
    assert model.predict(EVERYBODY).tolist() == pytest.approx(answers.tolist())
    if hasattr(model, "classes_"):
        result = lw.verify(model, SPACE, SIMILAR, X=EVERYBODY, budget=60)
        biased = bool((answers[pairs[:, 0]] != answers[pairs[:, 1]]).any())
    else:
        level = 0.6
        result = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(level), X=EVERYBODY, budget=60)
        biased = bool((np.abs(answers[pairs[:, 0]] - answers[pairs[:, 1]]) > level).any())
    assert result.verdict == ("BIASED" if biased else "FAIR")
    assert result.certificate is not None
    assert "replay" not in result.stats or result.stats["replay"] is None


@pytest.mark.parametrize("name", ["logistic", "forest", "boosting", "linear machine", "boosted numbers"])
def test_what_does_not_look_is_fair(name, tmp_path):
    model = exported(fitted(name, blind=("sex",)), tmp_path / "model.onnx")
    property = None if hasattr(model, "classes_") else lw.ScoreGap(0.0)
    space = SPACE.replace({"age": lw.Integer(18, 90), "income": lw.Continuous(-5.0, 5.0)})
    result = lw.verify(model, space, lw.Similarity(free=["sex"]), property, budget=60)
    assert result.verdict == "FAIR"
    assert not result.covers_floating_point or name in ("boosting", "forest", "boosted numbers")


@pytest.mark.parametrize("name", ["logistic", "ridge", "boosting", "forest"])
def test_gaps_are_bracketed(name, tmp_path):
    file = tmp_path / "model.onnx"
    model = exported(fitted(name), file)
    found = lw.measure(model, SPACE, SIMILAR, X=EVERYBODY, budget=60, certify=True)
    scores, pairs = model.decision_function(EVERYBODY), similar_pairs()
    scores = scores.reshape(len(EVERYBODY), -1)
    widest = np.abs(scores[pairs[:, 0]] - scores[pairs[:, 1]]).max()
    assert found.certificate is not None
    assert found.lower == pytest.approx(widest, rel=1e-5)
    assert found.upper >= widest - 1e-5


@pytest.mark.parametrize(("trees", "link"), [(4, "identity"), (5, None)])
def test_sums_of_shares_are_probabilities_where_they_are_at_most_one(trees, link, tmp_path):
    """A fifth in single precision is more than a fifth."""
    X, value = rows()
    forest = RandomForestClassifier(trees, max_depth=3, random_state=0)
    model = exported(make_pipeline(columns("ordinal"), forest).fit(X, value > 0), tmp_path / "m.onnx")
    assert model.head.link == link
    assert model.head.rule == "argmax"
    if link is None:
        with pytest.raises(LikewiseError, match="post_transform"):
            lw.measure(model, SPACE, SIMILAR, of="probability", budget=60)
    else:
        assert lw.measure(model, SPACE, SIMILAR, of="probability", budget=60).upper <= 1


def test_labels_of_zipmap_and_names_of_text(tmp_path):
    X, value = rows()
    pipeline = make_pipeline(columns("one-hot"), LogisticRegression())
    model = pipeline.fit(X, np.where(value > 0, "yes", "no"))
    read = exported(model, tmp_path / "model.onnx", zipmap=True)
    assert read.classes_.tolist() == ["no", "yes"]
    assert read.predict(X).tolist() == told(tmp_path / "model.onnx", X).tolist()
    renamed = load_model(tmp_path / "model.onnx", reading=ModelReading(labels=("rejected", "granted")))
    assert set(renamed.predict(X)) == {"rejected", "granted"}
    result = lw.verify(renamed, SPACE, SIMILAR, lw.ProbabilityGap(0.01), X=X, budget=60)
    assert result.verdict == "BIASED"
    draft, doubts = draft_reading(tmp_path / "model.onnx", SPACE, ["no", "yes"])
    assert draft.labels is None
    assert not doubts
    assert pickle.loads(pickle.dumps(renamed)).predict(X).tolist() == renamed.predict(X).tolist()


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize(
    "name",
    ["logistic", "softmax", "forest", "forest of three", "boosting", "machine", "machine of three", "ridge"],
)
def test_without_the_runtime_the_operators_answer(name, tmp_path, monkeypatch):
    file = tmp_path / "model.onnx"
    known = exported(fitted(name), file)
    with monkeypatch.context() as patch:
        patch.setattr("importlib.util.find_spec", lambda _: None)
        model = load_model(file)
    level = None if hasattr(model, "classes_") else lw.ScoreGap(0.1)
    result = lw.verify(model, SPACE, SIMILAR, level, budget=60)
    assert "is not installed" in result.stats["replay"]
    assert result.verdict == "BIASED"
    assert model.predict(EVERYBODY).tolist() == pytest.approx(known.predict(EVERYBODY).tolist(), abs=1e-6)
    assert model.decision_function(EVERYBODY) == pytest.approx(known.decision_function(EVERYBODY), abs=1e-5)
    if known.head.link is not None:
        assert model.predict_proba(EVERYBODY) == pytest.approx(known.predict_proba(EVERYBODY), abs=1e-6)


# -- made by hand -----------------------------------------------------------------------------------------


def graph(nodes, *, width=2, dtype=TensorProto.FLOAT, labels=True, version=3):
    """A model of nodes from x to scores, and label."""
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, None)]
    if labels:
        outputs.insert(0, helper.make_tensor_value_info("label", TensorProto.INT64, None))
    made = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", dtype, [None, width])], outputs)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(made, opset_imports=versions, ir_version=8)


def classical(operator, inputs=("x",), outputs=("label", "scores"), **attributes):
    return helper.make_node(
        operator, list(inputs), list(outputs), name=operator, domain="ai.onnx.ml", **attributes
    )


def stump(mode="BRANCH_LEQ", threshold=0.3, missing=0, column=0, **more):
    """A tree that parts rows by one test, a second one that always does the same, and their weights."""
    return {
        "nodes_treeids": [0, 0, 0, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 0, 1, 2],
        "nodes_featureids": [column, 0, 0, 1, 0, 0],
        "nodes_values": [threshold, 0.0, 0.0, 1.5, 0.0, 0.0],
        "nodes_modes": [mode, "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0, 2, 0, 0],
        "nodes_missing_value_tracks_true": [missing, 0, 0, 1 - missing, 0, 0],
        **more,
    }


def regressor(**tree):
    weights = {"target_treeids": [0, 0, 1, 1], "target_nodeids": [1, 2, 1, 2], "target_ids": [0] * 4}
    given = {"n_targets": 1, "target_weights": [1.0, -2.0, 0.25, 4.0], "base_values": [0.125], **weights}
    return classical("TreeEnsembleRegressor", outputs=["scores"], **{**given, **tree})


def joint(modes=(0, 1), **more):
    """The same trees as `regressor(**stump())`, as newer files have them."""
    lists = {
        "nodes_splits": np.float32([0.3, 1.5]),
        "nodes_modes": np.uint8(modes),
        "leaf_weights": np.float32([1.0, -2.0, 0.25, 4.0]),
    }
    given = {
        **{name: onnx.numpy_helper.from_array(value, name) for name, value in lists.items()},
        "nodes_featureids": [0, 1],
        "nodes_truenodeids": [0, 2],
        "nodes_trueleafs": [1, 1],
        "nodes_falsenodeids": [1, 3],
        "nodes_falseleafs": [1, 1],
        "nodes_missing_value_tracks_true": [0, 1],
        "leaf_targetids": [0, 0, 0, 0],
        "tree_roots": [0, 1],
        "n_targets": 1,
        "aggregate_function": 1,
        "post_transform": 0,
    }
    return classical("TreeEnsemble", outputs=["scores"], **{**given, **more})


def saved(proto, path):
    path.write_bytes(proto.SerializeToString())
    return load_model(path)


def beside(number, single=True):
    """A number, and those next to it, in single and in double precision."""
    near = np.float32(number)
    singles = [float(np.nextafter(near, np.float32(to))) for to in (-np.inf, np.inf)]
    middles = [(float(near) + one) / 2 for one in singles]
    found = [float(near), number, *singles, *middles]
    return sorted({value for one in found for value in (one, np.nextafter(one, -9), np.nextafter(one, 9))})


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.DOUBLE])
@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
@pytest.mark.parametrize("missing", [0, 1])
def test_trees_part_numbers_as_the_runtime_does(mode, missing, dtype, tmp_path):
    model = saved(
        graph([regressor(**stump(mode, missing=missing))], labels=False, dtype=dtype), tmp_path / "m.onnx"
    )
    space = lw.Space({"a": lw.Continuous(-1, 1, missing=True), "b": lw.Continuous(0, 3, missing=True)})
    found = import_model(model, space, rows=np.empty((0, 2)))
    values = list(product([*beside(0.3), np.nan], [*beside(1.5), np.nan]))
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    kind = np.float32 if dtype == TensorProto.FLOAT else np.float64
    theirs = session.run(None, {"x": np.array(values, dtype=kind)})[0][:, 0]
    codes = space.encode(pd.DataFrame(values, columns=["a", "b"]))
    body = found.model.bodies[0]
    for row, given in zip(codes.tolist(), theirs.tolist(), strict=True):
        assert body.exact([Fraction(code) for code in row]) == Fraction(given)


@pytest.mark.parametrize("modes", [(0, 1), (3, 2)])
@pytest.mark.parametrize("mean", [False, True])
def test_trees_of_newer_files_are_read_too(modes, mean, tmp_path, monkeypatch):
    proto = graph([joint(modes, aggregate_function=0 if mean else 1)], labels=False, version=5)
    model = saved(proto, tmp_path / "m.onnx")
    assert model.stand_in is None
    space = lw.Space({"a": lw.Continuous(-1, 1, missing=True), "b": lw.Continuous(0, 3, missing=True)})
    found = import_model(model, space, rows=np.empty((0, 2)))
    values = np.array(list(product([*beside(0.3), np.nan], [*beside(1.5), np.nan])))
    theirs = model.predict(values)
    codes = space.encode(pd.DataFrame(values, columns=["a", "b"]))
    exact = [found.model.bodies[0].exact([Fraction(code) for code in row]) for row in codes.tolist()]
    assert exact == [Fraction(value) for value in theirs.tolist()]
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert load_model(tmp_path / "m.onnx").predict(values).tolist() == theirs.tolist()


@pytest.mark.parametrize("mode", ["BRANCH_EQ", "BRANCH_NEQ"])
def test_trees_ask_for_categories(mode, tmp_path):
    model = saved(graph([regressor(**stump(mode, threshold=2.0))], labels=False), tmp_path / "m.onnx")
    space = lw.Space({"a": lw.Integer(0, 4), "b": lw.Integer(0, 3)})
    result = lw.verify(model, space, lw.Similarity(free=["a"]), lw.ScoreGap(2.99), budget=60)
    assert result.verdict == "BIASED"
    assert lw.verify(model, space, lw.Similarity(free=["a"]), lw.ScoreGap(3.0), budget=60).verdict == "FAIR"


@pytest.mark.draw(6)
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"])
@pytest.mark.parametrize(
    "scores",
    [
        ([1.0, -2.0], [0.25]),
        ([-1.0, 2.0, 1.0, -2.0], [-0.25, 0.25]),
        ([-1.0, 2.5, 1.0, -2.0], [0.5, 0.25]),
        ([1.0, 0.5, -1.0, 2.0, 0.25, -3.0], [0.0, 0.5, -0.5]),
    ],
    ids=["one", "opposite", "two", "three"],
)
def test_linear_classifiers_decide_before_they_transform(transform, scores, tmp_path, monkeypatch):
    """Whatever is shown as probabilities: decisions are the runtime's, and gaps of probabilities are refused where those are no known function of the scores."""
    coefficients, intercepts = scores
    labels = [3, 7] if len(intercepts) < 3 else [3, 7, 9]
    node = classical(
        "LinearClassifier",
        coefficients=coefficients,
        intercepts=intercepts,
        classlabels_ints=labels,
        post_transform=transform,
    )
    model = saved(graph([node]), tmp_path / "m.onnx")
    grid = np.array(list(product(np.linspace(-2, 2, 9), repeat=2)))
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    assert model.predict(grid).tolist() == session.run(None, {"x": grid.astype(np.float32)})[0].tolist()
    space = lw.Space({"a": lw.Integer(-2, 2), "b": lw.Integer(-2, 2)})
    result = lw.verify(model, space, lw.Similarity(free=["a"]), budget=60)
    assert result.verdict == "BIASED"
    linked = {
        "LOGISTIC": len(intercepts) == 1 or intercepts == [-0.25, 0.25],
        "SOFTMAX": intercepts in ([0.5, 0.25], [0.0, 0.5, -0.5]),
    }
    if linked.get(transform, False):
        assert lw.measure(model, space, lw.Similarity(free=["a"]), of="probability", budget=60).lower > 0
    else:
        with pytest.raises(LikewiseError, match="post_transform"):
            lw.measure(model, space, lw.Similarity(free=["a"]), of="probability", budget=60)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert load_model(tmp_path / "m.onnx").predict(grid).tolist() == model.predict(grid).tolist()


def test_gaps_in_numbers_are_filled_as_the_graph_fills_them(tmp_path):
    X, value = rows()
    X = X[NUMBERS].astype(float)
    X.iloc[::4, 0], X.iloc[1::5, 1] = np.nan, np.nan
    from skl2onnx.common.data_types import FloatTensorType

    space = lw.Space({"age": lw.Integer(18, 30, missing=True), "income": lw.Continuous(0, 4, missing=True)})
    for final in (LogisticRegression(), DecisionTreeClassifier(max_depth=3)):
        pipeline = make_pipeline(SimpleImputer(), StandardScaler(), final).fit(X, value > 0)
        model = exported(pipeline, tmp_path / "m.onnx", inputs=[("x", FloatTensorType([None, 2]))])
        result = lw.verify(model, space, lw.Similarity(free=["age"]), X=X, budget=60)
        assert result.verdict == "BIASED"
        assert model.predict(X.to_numpy()).tolist() == pipeline.predict(X).tolist()


def test_thresholds_of_a_binarizer_are_in_single_precision(tmp_path):
    nodes = [
        classical("Binarizer", outputs=["bits"], threshold=0.3),
        classical("LinearRegressor", ["bits"], ["scores"], coefficients=[1.0, 2.0], intercepts=[0.5]),
    ]
    model = saved(graph(nodes, labels=False), tmp_path / "m.onnx")
    space = lw.Space({"a": lw.Continuous(-1, 1), "b": lw.Continuous(0, 3)})
    found = import_model(model, space, rows=np.empty((0, 2)))
    values = np.array(list(product(beside(0.3), repeat=2)))
    theirs = model.predict(values)
    ours = Scores(found.model, 2).parts[0].reference_scores(values)
    assert [float(value) for value in ours] == theirs.tolist()


# -- refused ----------------------------------------------------------------------------------------------

WEIGHTS = {
    "class_treeids": [0, 0, 1, 1],
    "class_nodeids": [1, 2, 1, 2],
    "class_ids": [0] * 4,
    "class_weights": [0.1, -0.4, 0.2, 0.5],
}
REFUSED = {
    "has weights for both": classical("TreeEnsembleClassifier", **stump(), **{**WEIGHTS, "class_ids": [0, 1, 0, 1]}, classlabels_int64s=[0, 1]),
    "weights above 0 alone": classical("TreeEnsembleClassifier", **stump(), **{**WEIGHTS, "class_weights": [0.1, 0.4, 0.2, 0.5]}, classlabels_int64s=[0, 1], post_transform="LOGISTIC"),
    "programs differ": classical("TreeEnsembleClassifier", **stump(), **WEIGHTS, classlabels_int64s=[0, 1, 2]),
    "base values": classical("TreeEnsembleClassifier", **stump(), **WEIGHTS, classlabels_int64s=[0, 1], base_values=[0.1, 0.2]),
    "smallest or largest": regressor(**stump(), aggregate_function="MAX"),
    "with post_transform": regressor(**stump(), post_transform="LOGISTIC"),
    "mode 'BRANCH_SOMETIMES'": regressor(**stump("BRANCH_SOMETIMES")),
    "is no category": regressor(**stump("BRANCH_EQ", threshold=0.5)),
    "two parents": regressor(**stump(nodes_truenodeids=[2, 0, 0, 1, 0, 0])),
    "child is not there": regressor(**stump(nodes_truenodeids=[9, 0, 0, 1, 0, 0])),
    "one entry a node": regressor(**stump(nodes_values=[0.3])),
    "of tree 0 twice": regressor(**stump(nodes_nodeids=[0, 1, 1, 0, 1, 2])),
    "compares with no number": regressor(**stump(threshold=float("nan"))),
    "tests column 7": regressor(**stump(column=7)),
    "a column that is not there": regressor(**stump(column=2**40)),
    "what is no leaf": regressor(**stump(), target_nodeids=[0, 2, 1, 2]),
    "one that is no number": regressor(**stump(), target_weights=[1.0, float("inf"), 0.0, 0.0]),
    "do not fit its intercepts": classical("LinearRegressor", outputs=["scores"], coefficients=[1.0, 2.0, 3.0], intercepts=[1.0, 2.0]),
    "takes 3 columns, and gets 2": classical("LinearRegressor", outputs=["scores"], coefficients=[1.0, 2.0, 3.0], intercepts=[1.0]),
    "gives 2 numbers": classical("LinearRegressor", outputs=["scores"], coefficients=[1.0, 2.0, 3.0, 4.0], intercepts=[1.0, 2.0], targets=2),
    "kernel 'SIGMOID'": classical("SVMRegressor", outputs=["scores"], coefficients=[1.0], support_vectors=[1.0, 2.0], n_supports=1, rho=[0.0], kernel_type="SIGMOID"),
    "do not fit each other": classical("SVMRegressor", outputs=["scores"], coefficients=[1.0], support_vectors=[1.0, 2.0], n_supports=2, rho=[0.0], kernel_type="RBF"),
    "no support vectors": classical("SVMRegressor", outputs=["scores"], coefficients=[1.0], support_vectors=[1.0], n_supports=-3, rho=[0.0], kernel_type="RBF"),
    "sets of categories": joint((6, 0)),
    "two ways to one": joint(nodes_truenodeids=[1, 2]),
    "two ways to one, or|a child that is not there": joint(nodes_truenodeids=[7, 2]),
    "in each list of them": joint(leaf_targetids=[0]),
    "transforms its sums": joint(post_transform=1),
    "has a label twice": classical("LinearClassifier", coefficients=[1.0, 2.0], intercepts=[0.0], classlabels_ints=[1, 1]),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_known_is_refused(words, tmp_path):
    node = REFUSED[words]
    space = lw.Space({"a": lw.Continuous(-1, 1), "b": lw.Integer(0, 3)})
    version = 5 if node.op_type == "TreeEnsemble" else 3
    proto = graph([node], labels=len(node.output) == 2, version=version)
    with pytest.raises(UnsupportedModel, match=words):
        import_model(saved(proto, tmp_path / "m.onnx"), space, rows=np.empty((0, 2)))


def test_rows_divided_by_their_length_are_refused_by_name(tmp_path):
    X, value = rows()
    model = make_pipeline(Normalizer(), DecisionTreeClassifier(max_depth=2)).fit(X[NUMBERS], value > 0)
    from skl2onnx.common.data_types import FloatTensorType

    with pytest.raises(UnsupportedModel, match=r"Normalizer.* divides a row by its own length"):
        exported(model, tmp_path / "m.onnx", inputs=[("x", FloatTensorType([None, 2]))])


def test_levels_that_were_never_seen_or_are_of_another_type_are_refused(tmp_path):
    file = tmp_path / "m.onnx"
    model = exported(fitted("logistic"), file)
    for feature, words in (
        (lw.Categorical(["F", "M"]), "has seen none of the values"),
        (lw.Categorical([0, 1]), "takes text for 'sex'"),
        (lw.Integer(0, 1), "takes text for 'sex'"),
        (lw.Categorical(["f", "m", None]), "may be missing"),
    ):
        with pytest.raises(LikewiseError, match=words):
            import_model(model, SPACE.replace({"sex": feature}), rows=np.empty((0, 4)))


FRONTED = {
    "signs": (SGDClassifier(random_state=0), 2),
    "perceptron": (MLPClassifier(hidden_layer_sizes=(4,), solver="lbfgs", random_state=0), 2),
    "perceptron of three": (MLPClassifier(hidden_layer_sizes=(4,), solver="lbfgs", random_state=0), 3),
    "perceptron of numbers": (MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", random_state=0), 0),
}


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", FRONTED)
@pytest.mark.parametrize("kind", ["one-hot", "ordinal"])
def test_layers_behind_columns_are_networks(name, kind, tmp_path):
    """What exporters write as products of matrices, behind scalers and encoders."""
    estimator, classes = FRONTED[name]
    X, value = rows()
    target = value if not classes else np.digitize(value, [0.0] if classes == 2 else [-0.6, 0.6])
    file = tmp_path / "m.onnx"
    reading = ModelReading(labels=tuple(range(classes)) if classes else None)
    model = exported(make_pipeline(columns(kind), estimator).fit(X, target), file, reading=reading)
    answers, pairs = told(file, EVERYBODY), similar_pairs()
    assert model.predict(EVERYBODY).tolist() == pytest.approx(answers.tolist(), abs=1e-5)
    property = None if classes else lw.ScoreGap(0.01)
    result = lw.verify(model, SPACE, SIMILAR, property, X=EVERYBODY, budget=60)
    apart = np.abs(answers[pairs[:, 0]] - answers[pairs[:, 1]]) > (0 if classes else 0.01)
    assert result.verdict == ("BIASED" if apart.any() else "FAIR")
    assert result.certificate is not None


def behind(nodes, tensor):
    """A stump on a tensor that nodes make of x."""
    stem = regressor(**stump())
    stem.input[0] = tensor
    return graph([*nodes, stem], labels=False)


def test_columns_of_one_input_are_joined(tmp_path):
    node = helper.make_node("FeatureVectorizer", ["x"], ["v"], domain="ai.onnx.ml", inputdimensions=[2])
    joined = saved(behind([node], "v"), tmp_path / "joined.onnx")
    plain = saved(graph([regressor(**stump())], labels=False), tmp_path / "plain.onnx")
    space = lw.Space({"a": lw.Continuous(0, 1), "b": lw.Continuous(0, 1)})
    gaps = [lw.measure(each, space, lw.Similarity(free=["a"]), of="score").upper for each in (joined, plain)]
    assert gaps[0] == gaps[1] > 0


def test_half_precision_is_refused_in_front_of_trees(tmp_path):
    nodes = [helper.make_node("Cast", ["x"], ["h"], to=10), helper.make_node("Cast", ["h"], ["v"], to=1)]
    space = lw.Space({"a": lw.Continuous(0, 1), "b": lw.Continuous(0, 1)})
    with pytest.raises(UnsupportedModel, match="a type that is not supported"):
        lw.measure(
            saved(behind(nodes, "v"), tmp_path / "m.onnx"), space, lw.Similarity(free=["a"]), of="score"
        )


def test_whole_numbers_are_divided_as_the_runtime_does():
    a, b = np.arange(-7, 8)[:, None], np.array([-3, -2, 2, 3])
    node = Node(operator="Div", name="d", inputs=("a", "b"), output="y", attributes={})
    assert (run_node(node, [a, b], 17) == [[int(x / y) for y in b] for x in a[:, 0]]).all()
    with pytest.raises(UnsupportedModel, match="by zero"):
        run_node(node, [a, np.array([0])], 17)
