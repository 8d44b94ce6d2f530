"""Networks in ONNX files: imported exactly over the features that a mapping names, compared with ONNX Runtime or with NumPy, proved and refuted; refusals by name."""

import importlib.util
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.onnx_graphs import TensorProto, helper, model

import likewise as lw
from likewise.errors import LikewiseError
from likewise.families.scored_model import Scores
from likewise.importers.files import load_model
from likewise.importers.imported_model import import_model
from likewise.importers.onnx import answers
from likewise.spec.model_reading import LevelColumns, ModelReading

RANDOM = np.random.default_rng(1)
SPACE = lw.Space(
    {
        "age": lw.Integer(18, 80),
        "income": lw.Continuous(0, 9),
        "job": lw.Categorical(["none", "some", "much"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 81, 60),
        "income": RANDOM.uniform(0, 9, 60),
        "job": RANDOM.choice(["none", "some", "much"], 60),
        "sex": RANDOM.choice(["f", "m"], 60),
    }
)
READING = ModelReading(
    inputs={"x": ("income", LevelColumns("job", ("some", "much")), "age", LevelColumns("sex", ("m", "f")))}
)
WIDTH = 6
RUNTIME = importlib.util.find_spec("onnxruntime") is not None
ENDS = {None: 1, "Sigmoid": 1, "Softmax": 3, "two": 2}


def weights(*shape, dtype=np.float32, seed=0):
    """The same numbers in every test, whatever ran before it."""
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def network(end=None, bend="Relu", dtype=np.float32, *, alike=False, scale=0.2):
    """A network of one hidden layer; `alike`: it does not look at sex."""
    first = scale * weights(WIDTH, 5, dtype=dtype)
    if alike:
        first[5] = first[4]
    nodes = [
        ("Gemm", ["x", "W", "b"], "g", {}),
        (bend, ["g"], "h", {}),
        ("Gemm", ["h", "V", "c"], "s" if end else "y", {}),
    ]
    if end:
        nodes.append((("Softmax" if end == "two" else end), ["s"], "y", {}))
    count = ENDS[end]
    constants = {
        "W": first.astype(dtype),
        "b": weights(5, dtype=dtype),
        "V": weights(5, count, dtype=dtype),
        "c": weights(count, dtype=dtype),
    }
    return model(nodes, constants, dtype=dtype, width=WIDTH)


def saved(proto, folder, reading=READING):
    path = folder / "net.onnx"
    path.write_bytes(proto.SerializeToString())
    return load_model(path, reading=reading)


def columns(frame):
    """The columns of the network, by hand."""
    return np.stack(
        [
            frame.income,
            frame.job == "some",
            frame.job == "much",
            frame.age,
            frame.sex == "m",
            frame.sex == "f",
        ],
        axis=1,
    ).astype(float)


@pytest.mark.some_days
@pytest.mark.draw(28)
@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bend", ["Relu", "LeakyRelu", "Elu", "HardSigmoid", "Sigmoid", "Tanh", "Identity"])
@pytest.mark.parametrize("end", ENDS)
def test_imported_scores_are_those_of_the_program(tmp_path, monkeypatch, end, bend, dtype, installed):
    if not installed:
        monkeypatch.setattr(answers.importlib.util, "find_spec", lambda name: None)
    elif not RUNTIME:
        pytest.skip("onnxruntime is not installed")
    loaded = saved(network(end, bend, dtype), tmp_path)
    assert list(loaded.feature_names_in_) == ["income", "job", "age", "sex"]
    imported = import_model(
        loaded, SPACE, rows=SPACE.encode(X), like=X
    )  # compares scores, labels and probabilities
    codes = SPACE.encode(X)[:8]
    parts = Scores(imported.model, len(SPACE)).parts
    ours = np.array([[float(s) for s in part.reference_scores(codes)] for part in parts]).T
    theirs = imported.replay.scores(codes)
    assert np.abs(ours - theirs).max() <= (1e-4 if dtype is np.float32 else 1e-12) * max(
        1, np.abs(ours).max()
    )
    if dtype is np.float32 or not installed:  # the runtime lacks some operators in double precision
        assert (imported.replay.stand_in is None) == installed


def test_scores_by_hand(tmp_path):
    proto = network(dtype=np.float64)
    loaded = saved(proto, tmp_path)
    constants = loaded.graph.constants
    hidden = np.maximum(columns(X) @ constants["W"] + constants["b"], 0)
    assert loaded.predict(X) == pytest.approx((hidden @ constants["V"] + constants["c"])[:, 0], rel=1e-12)


@pytest.mark.parametrize("kind", ["pandas", "polars", "categories", "nullable"])
def test_every_kind_of_frame(tmp_path, kind):
    loaded = saved(network("Sigmoid"), tmp_path)
    frame = {
        "pandas": X,
        "polars": pl.DataFrame(X.to_dict("list")),
        "categories": X.astype({"job": "category", "sex": "category"}),
        "nullable": X.convert_dtypes(),
    }[kind]
    assert (loaded.decision_function(frame) == loaded.decision_function(X)).all()


def test_verdicts(tmp_path):
    similar = lw.Similarity(free=["sex"])
    fair = lw.verify(saved(network("Sigmoid", alike=True), tmp_path), SPACE, similar, X=X, budget=20)
    assert fair.verdict is lw.Verdict.FAIR
    fair.certificate.save(tmp_path / "fair.cert")
    assert lw.check(tmp_path / "fair.cert").accepted
    biased = lw.verify(
        saved(network("Sigmoid", scale=1.0), tmp_path), SPACE, similar, lw.ScoreGap(0.01), X=X, budget=20
    )
    assert biased.verdict is lw.Verdict.BIASED


def test_gaps_of_scores_are_proved_with_certificates(tmp_path):
    loaded = saved(network(dtype=np.float64), tmp_path)
    similar = lw.Similarity(free=["sex", "job"], within={"age": 1})
    found = lw.measure(loaded, SPACE, similar, X=X, budget=20, tolerance=0.05)
    proved = lw.verify(loaded, SPACE, similar, lw.ScoreGap(1.1 * found.upper), X=X, budget=20)
    assert proved.verdict is lw.Verdict.FAIR
    rows = X.assign(sex="f", job="none").merge(
        pd.DataFrame({"sex": ["f", "m"]}), how="cross", suffixes=("_", "")
    )
    scores = loaded.predict(rows[list(X)]).reshape(-1, 2)
    assert np.abs(scores[:, 0] - scores[:, 1]).max() <= found.upper


def test_columns_without_a_mapping_are_the_features_in_their_order(tmp_path):
    loaded = saved(network(), tmp_path, ModelReading())
    assert not hasattr(loaded, "feature_names_in_")
    assert loaded.n_features_in_ == WIDTH
    space = lw.Space({f"x{i}": lw.Continuous(-1, 1) for i in range(WIDTH)})
    assert import_model(loaded, space, rows=np.zeros((1, WIDTH))).model.family == "ONNX network"


def test_inputs_of_one_column_are_features_by_name(tmp_path):
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 1]) for name in ("age", "income")
    ]
    nodes = [
        ("Concat", ["age", "income"], "x", {"axis": 1}),
        ("MatMul", ["x", "W"], "h", {}),
        ("Relu", ["h"], "y", {}),
    ]
    loaded = saved(model(nodes, {"W": weights(2, 1)}, inputs=inputs), tmp_path, ModelReading())
    assert list(loaded.feature_names_in_) == ["age", "income"]
    space = lw.Space({"income": SPACE["income"], "age": SPACE["age"]})
    import_model(loaded, space, rows=space.encode(X[["income", "age"]]), like=X[["income", "age"]])


def test_levels_are_compared_in_the_precision_of_the_file(tmp_path):
    """0.1 is one number in single precision, and another one in double precision."""
    nodes = [
        ("Equal", ["x", "k"], "t", {}),
        ("Cast", ["t"], "c", {"to": TensorProto.FLOAT}),
        ("MatMul", ["c", "W"], "y", {}),
    ]
    loaded = saved(
        model(nodes, {"k": np.float32([0.1]), "W": np.float32([[3]])}, width=1), tmp_path, ModelReading()
    )
    space = lw.Space({"x": lw.Ordinal([0.1, 0.2])})
    imported = import_model(loaded, space, rows=np.array([[0.0], [1.0]]))
    (part,) = Scores(imported.model, 1).parts
    assert [part.exact([Fraction(code)]) for code in (0, 1)] == [3, 0]
    with pytest.raises(LikewiseError, match="asks which number 'x' is"):
        import_model(loaded, lw.Space({"x": lw.Continuous(0, 1)}), rows=np.zeros((1, 1)))


def test_labels_make_scores_decide(tmp_path):
    nodes = [("Gemm", ["x", "W"], "h", {}), ("Relu", ["h"], "y", {})]
    loaded = saved(
        model(nodes, {"W": weights(WIDTH, 3)}, width=WIDTH),
        tmp_path,
        ModelReading(inputs=READING.inputs, labels=("a", "b", "c")),
    )
    assert set(loaded.predict(X)) <= {"a", "b", "c"}
    imported = import_model(loaded, SPACE, rows=SPACE.encode(X), like=X)
    assert imported.model.head.labels == ("a", "b", "c")


def test_a_network_survives_pickling(tmp_path):
    loaded = saved(network("Sigmoid"), tmp_path)
    again = pickle.loads(pickle.dumps(loaded))
    assert again.decision_function(X) == pytest.approx(loaded.decision_function(X))


REFUSED = {
    "no such input": (ModelReading(inputs={"y": ("age",)}), "no input 'y'"),
    "too few columns": (ModelReading(inputs={"x": ("age", "income")}), "has 6 columns, and 2 are described"),
    "too many labels": (
        ModelReading(inputs=READING.inputs, labels=("a", "b", "c")),
        "has 2 classes, and model.labels has 3",
    ),
    "two levels without a column": (
        ModelReading(
            inputs={
                "x": ("income", LevelColumns("job", ("some",)), "age", "age", LevelColumns("sex", ("m", "f")))
            }
        ),
        "'job' has the level 'none', for which there is no column",
    ),
    "a level misspelled": (
        ModelReading(
            inputs={
                "x": ("income", LevelColumns("job", ("some", "Much")), "age", LevelColumns("sex", ("m", "f")))
            }
        ),
        "for which there is no column",
    ),
    "text as a number": (
        ModelReading(inputs={"x": ("income", "job", "age", "age", LevelColumns("sex", ("m", "f")))}),
        "takes numbers, but feature 'job'",
    ),
    "levels of a number": (
        ModelReading(
            inputs={
                "x": (LevelColumns("age", (18, 19)), LevelColumns("job", ("some", "much")), "income", "sex")
            }
        ),
        "tell levels of 'age' apart",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mappings_that_do_not_fit_are_refused(tmp_path, case):
    reading, message = REFUSED[case]
    with pytest.raises(LikewiseError, match=message):
        import_model(saved(network("Sigmoid"), tmp_path, reading), SPACE, rows=SPACE.encode(X), like=X)


def test_several_outputs_without_a_word_are_refused(tmp_path):
    nodes = [("Gemm", ["x", "W"], "y", {})]
    with pytest.raises(LikewiseError, match=r"net\.onnx: has 3 outputs"):
        saved(model(nodes, {"W": weights(WIDTH, 3)}, width=WIDTH), tmp_path)


def test_damaged_files_name_themselves(tmp_path):
    (tmp_path / "net.onnx").write_bytes(b"\x0a\xff\xff")
    with pytest.raises(LikewiseError, match=r"net\.onnx: is (no|not an) ONNX model"):
        load_model(tmp_path / "net.onnx")


TINY = lw.Space({"sex": lw.Categorical(["f", "m"]), "class": lw.Ordinal([1, 2, 3]), "age": lw.Integer(0, 3)})


@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(30))
def test_verdicts_are_those_of_everybody_beside_everybody(tmp_path, seed):
    """Verdicts just below and just above the largest gap that the program itself shows over all pairs."""
    random = np.random.default_rng(seed)
    dtype = np.float64 if seed % 2 else np.float32
    bend = ("Relu", "LeakyRelu", "HardSigmoid")[seed % 3]
    nodes = [
        ("Sub", ["x", "m"], "a", {}),
        ("Div", ["a", "d"], "n", {}),
        ("Gemm", ["n", "W", "b"], "g", {}),
        (bend, ["g"], "h", {}),
        ("Gemm", ["h", "V"], "y", {}),
    ]
    shapes = {"m": (4,), "W": (4, 4), "b": (4,), "V": (4, 1)}
    constants = {name: random.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    constants["d"] = random.uniform(0.5, 3, 4).astype(dtype)
    reading = ModelReading(inputs={"x": ("age", LevelColumns("sex", ("f", "m")), "class")})
    loaded = saved(model(nodes, constants, dtype=dtype, width=4), tmp_path, reading)
    everybody = pd.DataFrame(
        [(s, c, a) for s in ("f", "m") for c in (1, 2, 3) for a in range(4)], columns=list(TINY.names)
    )
    scores = loaded.predict(everybody)
    near = np.abs(everybody.age.to_numpy()[:, None] - everybody.age.to_numpy()) <= 1
    alike = near & (everybody["class"].to_numpy()[:, None] == everybody["class"].to_numpy())
    largest = np.abs(scores[:, None] - scores)[alike].max()
    similar = lw.Similarity(free=["sex"], within={"age": 1})
    for factor, expected in ((0.999, lw.Verdict.BIASED), (1.001, lw.Verdict.FAIR)):
        found = lw.verify(loaded, TINY, similar, lw.ScoreGap(factor * largest), X=everybody, budget=20)
        assert found.verdict is expected
