"""PyTorch's nn.Sequential: from an .npz file without PyTorch, from modules in memory; what is read computes what NumPy computes by hand, everything else is refused by layer."""

import io
import sys
import types
import zipfile

import numpy as np
import pytest

import likewise as lw
from likewise.errors import LikewiseError, UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.imported_model import import_model
from likewise.spec.model_reading import LevelColumns, ModelReading

RANDOM = np.random.default_rng(0)
SPACE = lw.Space(
    {"age": lw.Integer(18, 80), "sex": lw.Categorical(["f", "m"]), "income": lw.Continuous(0, 9)}
)
READING = ModelReading(inputs={"x": ("age", LevelColumns("sex", ("f", "m")), "income")})
WIDTH = 4
LINEAR = "Linear(in_features=4, out_features=3, bias=True)"
BENDS = {
    "ReLU()": lambda y: np.maximum(y, 0),
    "ReLU6()": lambda y: np.clip(y, 0, 6),
    "LeakyReLU(negative_slope=0.01)": lambda y: np.where(y > 0, y, 0.01 * y),
    "ELU(alpha=0.5)": lambda y: np.where(y > 0, y, 0.5 * np.expm1(np.minimum(y, 0))),
    "Hardtanh(min_val=-2.0, max_val=0.5)": lambda y: np.clip(y, -2, 0.5),
    "Tanh()": np.tanh,
    "Sigmoid()": lambda y: 1 / (1 + np.exp(-y)),
    "Dropout(p=0.5, inplace=False)": lambda y: y,
}


def weights(*shape, dtype=np.float32, seed=0):
    return 0.3 * np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def state(dtype=np.float32, outputs=1, last=2):
    return {
        "0.weight": weights(3, WIDTH, dtype=dtype),
        "0.bias": weights(3, dtype=dtype),
        f"{last}.weight": weights(outputs, 3, dtype=dtype),
        f"{last}.bias": weights(outputs, dtype=dtype),
    }


def rows(count=50):
    return np.stack(
        [
            RANDOM.integers(18, 81, count),
            *np.eye(2)[RANDOM.integers(0, 2, count)].T,
            RANDOM.uniform(0, 9, count),
        ],
        axis=1,
    )


def saved(folder, layers, arrays, reading=READING):
    np.savez(folder / "net.npz", layers=layers, **arrays)
    return load_model(folder / "net.npz", reading=reading)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bend", BENDS)
def test_layers_are_those_of_numpy(tmp_path, bend, dtype):
    own = state(dtype)
    loaded = saved(
        tmp_path, [LINEAR, bend, "Linear(in_features=3, out_features=1, bias=True)"], own, ModelReading()
    )
    x = rows()
    hidden = BENDS[bend](x @ own["0.weight"].T.astype(float) + own["0.bias"])
    room = 1e-4 if dtype is np.float32 else 1e-12
    assert loaded.predict(x) == pytest.approx(
        (hidden @ own["2.weight"].T + own["2.bias"])[:, 0], rel=room, abs=room
    )
    assert loaded.stand_in == "the file's own layers in NumPy, as PyTorch itself is not asked"


def test_batch_normalization_flatten_and_softmax(tmp_path):
    own = state(outputs=3, last=3) | {
        "1.weight": weights(3, seed=1),
        "1.bias": weights(3, seed=2),
        "1.running_mean": weights(3, seed=3),
        "1.running_var": np.abs(weights(3, seed=4)),
        "1.num_batches_tracked": np.int64(7),
    }
    layers = [
        LINEAR,
        "BatchNorm1d(3, eps=0.001, momentum=0.1, affine=True, track_running_stats=True)",
        "ReLU()",
        "Linear(in_features=3, out_features=3, bias=True)",
        "Flatten(start_dim=1, end_dim=-1)",
        "Softmax(dim=1)",
    ]
    loaded = saved(tmp_path, layers, own, ModelReading())
    x = rows()
    inner = x @ own["0.weight"].T.astype(float) + own["0.bias"]
    inner = (inner - own["1.running_mean"]) / np.sqrt(own["1.running_var"] + 0.001) * own["1.weight"] + own[
        "1.bias"
    ]
    scores = np.maximum(inner, 0) @ own["3.weight"].T + own["3.bias"]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    assert loaded.predict_proba(x) == pytest.approx(powers / powers.sum(axis=1, keepdims=True), abs=1e-5)


def test_verdicts(tmp_path):
    arrays = {
        "0.weight": np.float32([[0.01, 0, 1, 0], [0, 0, 0, 1]]),
        "0.bias": np.float32([0, -3]),
        "2.weight": np.float32([[1, 1]]),
        "2.bias": np.float32([-2]),
    }
    layers = [
        "Linear(in_features=4, out_features=2, bias=True)",
        "ReLU()",
        "Linear(in_features=2, out_features=1, bias=True)",
    ]
    loaded = saved(tmp_path, layers, arrays)
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(loaded, SPACE, similar, lw.ScoreGap(1.01), budget=20).verdict is lw.Verdict.FAIR
    result = lw.verify(loaded, SPACE, similar, lw.ScoreGap(0.99), budget=20)
    assert result.verdict is lw.Verdict.BIASED
    assert not result.covers_floating_point  # PyTorch was not asked


REFUSED = {
    "an unknown layer": ([LINEAR, "GELU(approximate='none')"], {}, r"layer '1 \(GELU\)' is not read"),
    "layers in a layer": ([LINEAR, "Sequential(\n  (0): ReLU()\n)"], {}, "no layer as PyTorch prints it"),
    "code": (["__import__('os').system('true')"], {}, "no layer as PyTorch prints it"),
    "a very long text": (["Linear(" + "(" * 5000], {}, "no layer as PyTorch prints it"),
    "a softmax across rows": ([LINEAR, "Softmax(dim=0)"], {}, "has dim=0"),
    "no running mean": ([LINEAR, "BatchNorm1d(3, eps=1e-05)"], {}, "looks across rows"),
    "a setting that is no number": ([LINEAR, "LeakyReLU(negative_slope='a')"], {}, "which is no number"),
    "a slope beyond 1": ([LINEAR, "LeakyReLU(negative_slope=7.0)"], {}, "has alpha=7.0"),
    "an array too many": (
        [LINEAR, "ReLU()"],
        {"5.weight": weights(3, 3)},
        "'5.weight', which is of none of its 2 layers",
    ),
    "a parameter too many": (
        [LINEAR, "ReLU()"],
        {"1.weight": weights(3, 3)},
        "a parameter that is not read, 'weight'",
    ),
    "widths that do not fit": (
        [LINEAR, "ReLU()", "Linear(in_features=5, out_features=1, bias=False)"],
        {"2.weight": weights(1, 5)},
        "takes 5 columns, and the layers before it make 3",
    ),
    "no weights": (
        ["Linear(in_features=4, out_features=3, bias=True)", LINEAR],
        {},
        r"has no array '1\.weight'",
    ),
    "two types": ([LINEAR], {"0.bias": weights(3, dtype=np.float64)}, "types float32, float64"),
    "half precision": (
        [LINEAR],
        {"0.weight": weights(3, 4).astype(np.float16), "0.bias": weights(3).astype(np.float16)},
        "types float16",
    ),
    "not a number": (
        [LINEAR],
        {"0.bias": np.float32([0, np.nan, 0])},
        "'0.bias' has a number that is not finite",
    ),
    "no layers with weights": (["ReLU()"], {"0.weight": None, "0.bias": None}, "of the types none"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_layer(tmp_path, case):
    layers, more, message = REFUSED[case]
    arrays = {
        name: values
        for name, values in (state() | more).items()
        if values is not None and (name[0] in "0" or name in more)
    }
    with pytest.raises(UnsupportedModel, match=rf"(?s)net\.npz: .*{message}"):
        saved(tmp_path, layers, arrays, ModelReading())


def test_damaged_files_end_in_a_clear_error(tmp_path):
    np.savez(tmp_path / "net.npz", layers=[LINEAR], **{k: v for k, v in state().items() if k[0] == "0"})
    content = (tmp_path / "net.npz").read_bytes()
    for seed in range(200):
        random = np.random.default_rng(seed)
        damaged = bytearray(content[: random.integers(1, len(content))] if seed % 2 else content)
        damaged[random.integers(len(damaged))] ^= 1 << random.integers(8)
        (tmp_path / "net.npz").write_bytes(bytes(damaged))
        try:
            load_model(tmp_path / "net.npz")
        except LikewiseError:
            continue


def test_python_objects_and_bombs_are_not_opened(tmp_path):
    np.savez(tmp_path / "net.npz", layers=np.array([LINEAR, {}], dtype=object))
    with pytest.raises(UnsupportedModel, match="holds Python objects, which are not opened"):
        load_model(tmp_path / "net.npz")
    with zipfile.ZipFile(tmp_path / "net.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.weight.npy", bytes(100 << 20))
    with pytest.raises(UnsupportedModel, match="64 MB of arrays"):
        load_model(tmp_path / "net.npz")


# -- modules in memory ------------------------------------------------------------------------------------


class Tensor:
    """As much of a tensor as is asked for."""

    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


class Module:
    training = False

    def __init__(self, text, **parameters):
        self.text, self.parameters = text, parameters

    def __repr__(self):
        return self.text

    def __call__(self, x):
        if self.text.startswith("Linear"):
            return Tensor(x.values @ self.parameters["weight"].T + self.parameters["bias"])
        return Tensor(BENDS[self.text](x.values).astype(x.values.dtype))


class Sequential(Module):
    def __init__(self, *layers):
        self.layers = layers

    def children(self):
        return iter(self.layers)

    def state_dict(self):
        return {
            f"{i}.{k}": Tensor(v) for i, layer in enumerate(self.layers) for k, v in layer.parameters.items()
        }


Module.__module__ = "torch.nn.modules.module"


@pytest.fixture
def torch(monkeypatch):
    """PyTorch itself where it is installed, else what this asks of it."""
    made = types.ModuleType("torch")
    made.from_numpy = Tensor
    made.no_grad = io.BytesIO  # something that can be entered
    monkeypatch.setitem(sys.modules, "torch", made)


def test_a_module_like_those_of_pytorch_is_asked_itself(torch):
    own = state()
    net = Sequential(
        Module(LINEAR, weight=own["0.weight"], bias=own["0.bias"]),
        Module("ReLU()"),
        Module(
            "Linear(in_features=3, out_features=1, bias=True)", weight=own["2.weight"], bias=own["2.bias"]
        ),
        Module("Sigmoid()"),
    )
    space = lw.Space({f"x{i}": lw.Continuous(-1, 1) for i in range(WIDTH)})
    imported = import_model(net, space, rows=np.zeros((1, WIDTH)))
    assert imported.model.family == "PyTorch network"
    assert imported.model.head.labels == (0, 1)
    assert imported.replay.stand_in is None
    result = lw.verify(net, space, lw.Similarity(free=["x0"]), lw.ScoreGap(100.0), budget=20)
    assert result.verdict is lw.Verdict.FAIR
    net.training = True
    with pytest.raises(UnsupportedModel, match="training mode"):
        lw.verify(net, space, lw.Similarity(free=["x0"]), budget=20)


def test_sequential_and_other_modules_of_pytorch():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 3),
        torch.nn.BatchNorm1d(3),
        torch.nn.ReLU(),
        torch.nn.Linear(3, 1),
        torch.nn.Sigmoid(),
    ).eval()

    class Around(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = net

        def forward(self, x):
            return self.inner(2 * x - 1)

    space = lw.Space({f"x{i}": lw.Continuous(-1, 1) for i in range(WIDTH)})
    for module in (net, Around().eval()):
        import_model(module, space, rows=np.zeros((1, WIDTH)))
        assert (
            lw.verify(module, space, lw.Similarity(free=["x0"]), lw.ScoreGap(100.0), budget=20).verdict
            is lw.Verdict.FAIR
        )


def test_the_documented_line_saves_what_is_read(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install torch")
    net = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 3), torch.nn.LeakyReLU(), torch.nn.Dropout(), torch.nn.Linear(3, 1)
    ).eval()
    np.savez(
        tmp_path / "net.npz",
        layers=[repr(layer) for layer in net],
        **{k: v.numpy() for k, v in net.state_dict().items()},
    )
    x = rows().astype(np.float32)
    with torch.no_grad():
        expected = net(torch.from_numpy(x)).numpy()[:, 0]
    assert load_model(tmp_path / "net.npz").predict(x) == pytest.approx(expected, rel=1e-4)
