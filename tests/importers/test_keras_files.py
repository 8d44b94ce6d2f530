"""Keras' Sequential models, from files made by hand as Keras 3 and Keras 2 lay them out: what is read computes what NumPy computes by hand, everything else is refused by layer, and no file makes it fetch another."""

import io
import json
import zipfile

import numpy as np
import pytest
from tests.tiers import ALL, some

import likewise as lw
from likewise.errors import LikewiseError, UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.layer_files import hdf5_process
from likewise.spec import reader_process
from likewise.spec.model_reading import LevelColumns, ModelReading

h5py = pytest.importorskip("h5py", reason="h5py is not installed: pip install h5py")

WIDTH = 4
X = np.random.default_rng(1).uniform(-2, 2, (50, WIDTH)).astype(np.float32)


@pytest.fixture(autouse=True)
def opened_here(request, monkeypatch):
    """Files are opened in this process, which is quicker, but for tests of the other one."""
    if "in_its_own_process" not in request.fixturenames:
        monkeypatch.setattr(
            hdf5_process, "ask_process", lambda _module, request, _what: hdf5_process.answer(request)
        )


@pytest.fixture
def in_its_own_process():
    """Files are opened as they are outside of tests."""


def weights(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def layer(kind, name, arrays=(), **settings):
    return {"kind": kind, "name": name, "arrays": list(arrays), "settings": settings}


def dense(name, inputs, outputs, activation="linear", *, bias=True, seed=0, **more):
    arrays = [weights(inputs, outputs, seed=seed), *([weights(outputs, seed=seed)] if bias else [])]
    return layer("Dense", name, arrays, units=outputs, activation=activation, use_bias=bias, **more)


def described(layers, kind="Sequential"):
    entry = {
        "class_name": "InputLayer",
        "config": {"batch_shape": [None, WIDTH], "dtype": "float32", "name": "input_layer"},
    }
    own = [
        {
            "module": "keras.layers",
            "class_name": one["kind"],
            "registered_name": None,
            "config": {
                "name": one["name"],
                "dtype": {"class_name": "DTypePolicy", "config": {"name": "float32"}},
                **one["settings"],
            },
        }
        for one in layers
    ]
    return json.dumps(
        {"module": "keras", "class_name": kind, "config": {"name": "net", "layers": [entry, *own]}}
    )


PLACES = {
    "Dense": "dense",
    "BatchNormalization": "batch_normalization",
    "ReLU": "re_lu",
    "Dropout": "dropout",
}
NAMES = {
    "Dense": ("kernel", "bias"),
    "BatchNormalization": ("gamma", "beta", "moving_mean", "moving_variance"),
}


def as_keras(path, layers, *, text=None, change=None):
    """As Keras 3 saves a model: weights numbered by the class of their layer."""
    stored, seen = io.BytesIO(), {}
    with h5py.File(stored, "w") as file:
        for one in layers:
            number = seen[one["kind"]] = seen.get(one["kind"], -1) + 1
            place = PLACES.get(one["kind"], one["kind"].lower()) + (f"_{number}" if number else "")
            group = file.create_group(f"layers/{place}/vars")
            for i, values in enumerate(one["arrays"]):
                group[str(i)] = values
        if change is not None:
            change(file)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", "{}")
        archive.writestr("config.json", described(layers) if text is None else text)
        archive.writestr("model.weights.h5", stored.getvalue())


def as_h5(path, layers, *, text=None, change=None):
    """As Keras 2 did: weights by the names of layers, in the order of an attribute."""
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = described(layers) if text is None else text
        weights = file.create_group("model_weights")
        weights.attrs["layer_names"] = [one["name"].encode() for one in layers]
        for one in layers:
            group = weights.create_group(one["name"])
            names = [
                f"{one['name']}/{name}:0".encode()
                for name in NAMES.get(one["kind"], ())[: len(one["arrays"])]
            ]
            group.attrs["weight_names"] = names
            for name, values in zip(names, one["arrays"], strict=True):
                group[name.decode()] = values
        if change is not None:
            change(file)


WAYS = {".keras": as_keras, ".h5": as_h5}
both = pytest.mark.parametrize("suffix", WAYS)


def saved(folder, suffix, layers, reading=None, **how):
    path = folder / f"net{suffix}"
    WAYS[suffix](path, layers, **how)
    return load_model(path, reading=reading or ModelReading())


def by_hand(layers, x=X):
    for one in layers:
        bend = one["settings"].get("activation", "linear")
        if one["kind"] == "Dense":
            x = x @ one["arrays"][0].astype(float) + (one["arrays"][1] if len(one["arrays"]) > 1 else 0)
        elif one["kind"] == "BatchNormalization":
            gamma, beta, mean, variance = one["arrays"]
            x = (x - mean) / np.sqrt(variance + one["settings"]["epsilon"]) * gamma + beta
        elif one["kind"] == "ReLU":
            bend = "relu"
        if bend == "relu":
            x = np.maximum(x, 0)
        elif bend == "tanh":
            x = np.tanh(x)
        elif bend == "sigmoid":
            x = 1 / (1 + np.exp(-x))
        elif bend == "leaky_relu":
            x = np.where(x > 0, x, 0.2 * x)
        elif bend == "elu":
            x = np.where(x > 0, x, np.expm1(np.minimum(x, 0)))
        elif bend == "relu6":
            x = np.clip(x, 0, 6)
        elif bend == "softmax":
            powers = np.exp(x - x.max(axis=1, keepdims=True))
            x = powers / powers.sum(axis=1, keepdims=True)
    return x


@both
@pytest.mark.parametrize("bend", ["relu", "tanh", "sigmoid", "leaky_relu", "elu", "relu6", "linear"])
def test_layers_are_those_of_numpy(tmp_path, suffix, bend):
    layers = [
        dense("first", WIDTH, 5, bend),
        dense("second", 5, 5, "relu", bias=False, seed=1),
        dense("third", 5, 1, seed=2),
    ]
    loaded = saved(tmp_path, suffix, layers)
    assert loaded.predict(X) == pytest.approx(by_hand(layers)[:, 0], rel=1e-4, abs=1e-4)
    assert loaded.stand_in == "the file's own layers in NumPy, as Keras itself is not asked"


@both
@pytest.mark.usefixtures("in_its_own_process")
def test_batch_normalization_dropout_and_softmax(tmp_path, suffix):
    normal = [weights(5, seed=1), weights(5, seed=2), weights(5, seed=3), np.abs(weights(5, seed=4))]
    layers = [
        dense("a", WIDTH, 5),
        layer("BatchNormalization", "b", normal, axis=-1, epsilon=0.001, center=True, scale=True),
        layer("ReLU", "c", max_value=None, negative_slope=0.0, threshold=0.0),
        layer("Dropout", "d", rate=0.5),
        dense("e", 5, 3, "softmax", seed=5),
    ]
    loaded = saved(tmp_path, suffix, layers)
    assert loaded.predict_proba(X) == pytest.approx(by_hand(layers), abs=1e-5)


@pytest.mark.some_days
@both
@pytest.mark.usefixtures("in_its_own_process")
def test_verdicts(tmp_path, suffix):
    first = [np.float32([[0.01, 0], [0, 0], [1, 0], [0, 1]]), np.float32([0, -3])]
    layers = [
        layer("Dense", "a", first, units=2, activation="relu"),
        layer("Dense", "b", [np.float32([[1], [1]]), np.float32([-2])], units=1, activation="sigmoid"),
    ]
    reading = ModelReading(
        inputs={"x": ("age", LevelColumns("sex", ("f", "m")), "income")}, labels=("no", "yes")
    )
    loaded = saved(tmp_path, suffix, layers, reading)
    space = lw.Space(
        {"age": lw.Integer(18, 80), "sex": lw.Categorical(["f", "m"]), "income": lw.Continuous(0, 9)}
    )
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(loaded, space, similar, lw.ScoreGap(1.01), budget=20).verdict is lw.Verdict.FAIR
    result = lw.verify(loaded, space, similar, budget=20)
    assert result.verdict is lw.Verdict.BIASED
    assert set(result.decisions) == {"no", "yes"}


def test_files_of_keras_2_13_have_another_container(tmp_path):
    def renamed(file):
        file.move("layers", "_layer_checkpoint_dependencies")

    layers = [dense("a", WIDTH, 3, "relu"), dense("b", 3, 1)]
    loaded = saved(tmp_path, ".keras", layers, change=renamed)
    assert loaded.predict(X) == pytest.approx(by_hand(layers)[:, 0], rel=1e-4, abs=1e-4)


FIRST = dense("a", WIDTH, 3)
REFUSED = {
    "code": ([FIRST, layer("Lambda", "own", function="anything")], r"layer 'own \(Lambda\)' is not read"),
    "an unknown layer": ([FIRST, layer("Conv1D", "c")], r"layer 'c \(Conv1D\)' is not read"),
    "an unknown activation": ([dense("a", WIDTH, 3, "gelu")], "has the activation 'gelu', which is not read"),
    "an activation that is an object": (
        [dense("a", WIDTH, 3, {"class_name": "function", "config": "own"})],
        "has the activation 'function'",
    ),
    "a threshold": ([FIRST, layer("ReLU", "r", threshold=1.0)], "layer 'r' has a threshold"),
    "another axis": ([FIRST, layer("Softmax", "s", axis=0)], "has axis=0"),
    "mixed precision": ([dense("a", WIDTH, 3, dtype="mixed_float16")], "calculates in mixed_float16"),
    "two layers of one name": ([FIRST, dense("a", 3, 3)], "two layers of one name"),
    "widths that do not fit": ([FIRST, dense("b", 5, 1)], "takes 5 columns, and the layers before it make 3"),
    "no numbers": ([layer("Dense", "a", [np.float32([[np.nan]] * WIDTH), np.float32([0])])], "not finite"),
}


@both
@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_layer(tmp_path, suffix, case):
    layers, message = REFUSED[case]
    if case == "two layers of one name" and suffix == ".h5":
        pytest.skip("HDF5 itself has no two groups of one name")
    with pytest.raises(UnsupportedModel, match=rf"(?s)net{suffix}: .*{message}"):
        saved(tmp_path, suffix, layers)


@both
def test_models_and_classes_of_ones_own_are_refused(tmp_path, suffix):
    with pytest.raises(UnsupportedModel, match="is a Functional model of Keras; Sequential ones are read"):
        saved(tmp_path, suffix, [FIRST], text=described([FIRST], "Functional"))
    for change in ({"module": "own.layers"}, {"registered_name": "Own>Dense"}):
        text = json.loads(described([FIRST]))
        text["config"]["layers"][1].update(change)
        with pytest.raises(UnsupportedModel, match="is a class of one's own"):
            saved(tmp_path, suffix, [FIRST], text=json.dumps(text))


@both
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "{}",
        '{"class_name": "Sequential", "config": 3}',
        "[" * 100_000,
        '{"class_name": "Sequential", "config": {"layers": [7]}}',
    ],
)
def test_descriptions_that_are_none_are_refused(tmp_path, suffix, text):
    with pytest.raises(UnsupportedModel, match="the file is damaged"):
        saved(tmp_path, suffix, [FIRST], text=text or " ")


def test_weights_that_are_not_those_of_the_layers_are_refused(tmp_path):
    def more(file):
        file["layers/dense_1/vars/0"] = weights(3, 3)

    with pytest.raises(UnsupportedModel, match="weights of 2 layers, and 1 layers that have some"):
        saved(tmp_path, ".keras", [FIRST], change=more)

    def longer(file):
        file["layers/dense/vars/2"] = weights(3)

    with pytest.raises(UnsupportedModel, match="layer 'a' has other weights than 2"):
        saved(tmp_path, ".keras", [FIRST], change=longer)

    def turned(file):
        file["model_weights/a"].attrs["weight_names"] = [b"a/bias:0", b"a/kernel:0"]

    with pytest.raises(
        UnsupportedModel, match=r"layer 'a' has the weights a/bias:0, a/kernel:0, not kernel, bias"
    ):
        saved(tmp_path, ".h5", [FIRST], change=turned)


@both
@pytest.mark.parametrize("shape", [[None, 5, WIDTH], [None, 5], [None], "all"])
def test_inputs_that_are_no_rows_of_the_weights_are_refused(tmp_path, suffix, shape):
    text = json.loads(described([FIRST]))
    text["config"]["layers"][0]["config"]["batch_shape"] = shape
    with pytest.raises(UnsupportedModel, match="layer 'input_layer' takes inputs of the shape"):
        saved(tmp_path, suffix, [FIRST], text=json.dumps(text))


def test_weights_alone_are_refused(tmp_path):
    def nameless(file):
        del file.attrs["model_config"]

    with pytest.raises(
        UnsupportedModel, match=r"(?s)not what they are the weights of.*model\.save\('net\.keras'\)"
    ):
        saved(tmp_path, ".h5", [FIRST], change=nameless)


PLACE = {".keras": "layers/dense/vars/0", ".h5": "model_weights/a/a/kernel:0"}


@both
@pytest.mark.parametrize(
    "way", ["external link", "soft link", "external data", "virtual data", "huge", "whole numbers"]
)
def test_nothing_is_fetched_from_other_files(tmp_path, suffix, way):
    with h5py.File(tmp_path / "secret.h5", "w") as other:
        other["kernel"] = weights(WIDTH, 3)
    (tmp_path / "secret.raw").write_bytes(weights(WIDTH, 3).tobytes())

    def change(file):
        place = PLACE[suffix]
        del file[place]
        if way == "external link":
            file[place] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "kernel")
        elif way == "soft link":
            file["elsewhere"] = weights(WIDTH, 3)
            file[place] = h5py.SoftLink("/elsewhere")
        elif way == "external data":
            file.create_dataset(
                place, (WIDTH, 3), np.float32, external=[(str(tmp_path / "secret.raw"), 0, 48)]
            )
        elif way == "virtual data":
            layout = h5py.VirtualLayout((WIDTH, 3), np.float32)
            layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "kernel", (WIDTH, 3))
            file.create_virtual_dataset(place, layout)
        elif way == "huge":
            file.create_dataset(
                place, (1 << 20, 1 << 20), np.float32, chunks=(1024, 1024), compression="gzip"
            )
        else:
            file[place] = np.ones((WIDTH, 3), np.int32)

    with pytest.raises(
        UnsupportedModel, match=r"not followed|in another file|at most 4,000,000|no array of float32"
    ):
        saved(tmp_path, suffix, [FIRST], change=change)


def test_archives_that_grow_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "net.keras", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", b" " * (100 << 20))
        archive.writestr("model.weights.h5", b"")
    with pytest.raises(UnsupportedModel, match="larger than 64 MB"):
        load_model(tmp_path / "net.keras")


@pytest.mark.some_days
@both
@pytest.mark.usefixtures("in_its_own_process")
def test_damaged_files_end_in_a_clear_error_or_a_network(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"net{suffix}"
    WAYS[suffix](path, [dense("a", WIDTH, 3, "relu"), dense("b", 3, 1)])
    content, refused = path.read_bytes(), 0
    monkeypatch.setattr(reader_process, "SECONDS", 5)
    for seed in some(range(12), 6, suffix):
        random = np.random.default_rng(seed)
        damaged = bytearray(content[: random.integers(1, len(content))] if seed % 5 == 0 else content)
        for place in random.integers(0, len(damaged), 1 + seed % 4):
            damaged[place] = random.integers(256)
        path.write_bytes(bytes(damaged))
        try:
            load_model(path)
        except LikewiseError:
            refused += 1
    assert refused > (2 if ALL else 0)


@both
@pytest.mark.usefixtures("in_its_own_process")
def test_files_that_never_end_are_left(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(reader_process, "SECONDS", 0.0001)
    with pytest.raises(UnsupportedModel, match="no HDF5 file that can be read within"):
        saved(tmp_path, suffix, [FIRST])


@pytest.mark.usefixtures("in_its_own_process")
def test_modules_beside_the_data_are_not_imported(tmp_path, monkeypatch):
    """The process that opens the file does not look into the folder it is started in."""
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, ".h5", [FIRST, dense("b", 3, 1)])
