"""What is stated of the rounding of networks in files: programs in single precision stay within the bound over the space, on rows, random and extreme individuals; where it says nothing of use, nothing is stated.
scikit-learn's networks agree with exact arithmetic to the last digits."""

import importlib.util
from fractions import Fraction

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier, MLPRegressor
from tests.onnx_graphs import model

import likewise as lw
from likewise.errors import LikewiseError
from likewise.families.scored_model import Scores, program_parts
from likewise.importers.files import load_model
from likewise.importers.imported_model import import_model
from likewise.importers.onnx.answers import NetworkModel
from likewise.spec.model_reading import LevelColumns, ModelReading

RUNTIME = importlib.util.find_spec("onnxruntime") is not None
LEVELS = ("a", "b", "c", "d")
PARTS = ("runtime", "numpy") if RUNTIME else ("numpy",)


def space_of(largest):
    return lw.Space(
        {
            "number": lw.Continuous(-largest, largest),
            "whole": lw.Integer(-50, 20_000_000),
            "level": lw.Categorical(LEVELS),
            "small": lw.Continuous(0, 1e-40),
            "flag": lw.Categorical(["no", "yes"]),
        }
    )


READING = ModelReading(
    inputs={"x": ("number", LevelColumns("level", LEVELS), "small", "whole", LevelColumns("flag", ("yes",)))}
)
WIDTH = 8


def random_network(seed, scale):
    """Scaled columns, up to three hidden layers, piecewise linear."""
    random = np.random.default_rng(seed)
    nodes = (
        [("Sub", ["x", "m"], "n", {}), ("Div", ["n", "d"], "t", {})]
        if seed % 3
        else [("Identity", ["x"], "t", {})]
    )
    constants = {"m": random.normal(size=WIDTH), "d": random.uniform(0.1, 1000, WIDTH)}
    width, at = WIDTH, "t"
    for depth in range(1 + seed % 3):
        made = int(random.integers(2, 12))
        constants |= {
            f"W{depth}": scale * random.normal(size=(width, made)),
            f"b{depth}": scale * random.normal(size=made),
        }
        nodes.append(("Gemm", [at, f"W{depth}", f"b{depth}"], f"g{depth}", {}))
        if random.random() < 0.3:
            constants |= {f"s{depth}": random.normal(size=made), f"v{depth}": random.uniform(0.01, 3, made)}
            nodes.append(
                (
                    "BatchNormalization",
                    [f"g{depth}", f"s{depth}", f"b{depth}", f"b{depth}", f"v{depth}"],
                    f"n{depth}",
                    {},
                )
            )
        bend = ("Relu", "LeakyRelu", "HardSigmoid", "Relu")[random.integers(4)]
        nodes.append((bend, [nodes[-1][2]], f"h{depth}", {}))
        width, at = made, f"h{depth}"
    constants |= {"V": scale * random.normal(size=(width, 1)), "c": scale * random.normal(size=1)}
    nodes.append(("Gemm", [at, "V", "c"], "y", {}))
    used = {name for _, names, _, _ in nodes for name in names}
    return model(nodes, {k: v.astype(np.float32) for k, v in constants.items() if k in used}, width=WIDTH)


def individuals(space, seed, count=30):
    """Random ones, corners of the space, and numbers that single precision cuts off, or loses."""
    random = np.random.default_rng(seed)
    lo, hi = np.array([feature.code_range for feature in space.features.values()], dtype=float).T
    rows = random.uniform(lo, hi, (count, len(lo)))
    rows[: count // 3] = np.where(random.random((count // 3, len(lo))) < 0.5, lo, hi)
    rows[count // 3 : count // 2, 0] = np.clip(
        np.ldexp(
            random.normal(size=count // 2 - count // 3), random.integers(-140, 20, count // 2 - count // 3)
        ),
        lo[0],
        hi[0],
    )
    whole = [k for k, feature in enumerate(space.features.values()) if not isinstance(feature, lw.Continuous)]
    rows[:, whole] = np.rint(rows[:, whole])
    return rows


def loaded_as(part, path, monkeypatch, reading=READING):
    if part == "numpy":
        monkeypatch.setattr(NetworkModel, "_start", start_without_a_runtime)
    return load_model(path, reading=reading)


def start_without_a_runtime(self):
    self._session, self.stand_in = None, "NumPy"


def errors_seen(imported, codes):
    """What the program's scores are off by, exactly."""
    parts = Scores(imported.model, codes.shape[1]).parts
    exact = [[part.exact([Fraction(c) for c in row]) for part in parts] for row in codes.tolist()]
    given = imported.replay.scores(codes).reshape(len(codes), -1).tolist()
    return [
        [abs(Fraction(g) - e) for g, e in zip(*row, strict=True)] for row in zip(given, exact, strict=True)
    ]


@pytest.mark.parametrize("seed", [287, 335, 467])
def test_scores_beyond_single_precision_end_in_a_model_or_a_clear_error(tmp_path, seed):
    """The space goes further than the program's numbers do."""
    (tmp_path / "net.onnx").write_bytes(random_network(seed, 1e6).SerializeToString())
    space = space_of((1.0, 1e4, 1e15)[seed % 3])
    try:
        imported = import_model(
            load_model(tmp_path / "net.onnx", reading=READING), space, rows=individuals(space, 99, 9)
        )
    except LikewiseError:
        return
    assert imported.program.error is None


@pytest.mark.some_days
@pytest.mark.draw(12)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("scale", [0.3, 3.0, 1e-12, 1e-25, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_programs_in_single_precision_stay_within_the_bound(tmp_path, monkeypatch, seed, scale, part):
    (tmp_path / "net.onnx").write_bytes(random_network(seed, scale).SerializeToString())
    space = space_of((1.0, 1e4, 1e15)[seed % 3])
    imported = import_model(
        loaded_as(part, tmp_path / "net.onnx", monkeypatch), space, rows=individuals(space, 99, 9)
    )
    (own,) = program_parts(imported.model)
    bound = own.rounding.bound(own, space)
    assert bound is not None
    codes = individuals(space, seed)
    seen = [row[0] for row in errors_seen(imported, codes)]
    assert max(seen) <= Fraction(bound.error)
    for error, allowed in zip(seen, own.rounding.errors(own, codes), strict=True):
        assert error <= allowed


def test_columns_that_cancel_are_rounded_all_the_same(tmp_path):
    """100,000,000 x + z - 100,000,000 x is z, but not in single precision."""
    nodes = [
        ("Gather", ["x", "i"], "g", {"axis": 1}),
        ("Gemm", ["g", "W"], "h", {}),
        ("Relu", ["h"], "r", {}),
        ("Gemm", ["r", "V"], "y", {}),
    ]
    constants = {"i": np.int64([0, 1, 0]), "W": np.float32([[1e8], [1], [-1e8]]), "V": np.float32([[1]])}
    (tmp_path / "net.onnx").write_bytes(model(nodes, constants, width=2).SerializeToString())
    space = lw.Space({"x": lw.Continuous(0, 1), "z": lw.Continuous(0, 1)})
    imported = import_model(load_model(tmp_path / "net.onnx"), space, rows=np.zeros((1, 2)))
    bound = imported.model.rounding.bound(imported.model, space)
    codes = np.random.default_rng(0).uniform(0, 1, (200, 2))
    assert 1 < max(row[0] for row in errors_seen(imported, codes)) <= Fraction(bound.error)


@pytest.mark.parametrize("bend", ["Relu", "Identity"])
def test_nothing_is_stated_where_numbers_may_be_beyond_single_precision(tmp_path, bend):
    nodes = [("Gemm", ["x", "W"], "g", {}), (bend, ["g"], "h", {}), ("Gemm", ["h", "V"], "y", {})]
    constants = {"W": np.float32([[1e30]]), "V": np.float32([[1e-30]])}
    (tmp_path / "net.onnx").write_bytes(model(nodes, constants, width=1).SerializeToString())
    for largest, stated in ((1e3, True), (1e10, False)):
        space = lw.Space({"x": lw.Continuous(0, largest)})
        imported = import_model(
            load_model(tmp_path / "net.onnx"), lw.Space({"x": lw.Continuous(0, 1)}), rows=np.zeros((1, 1))
        )
        bound = imported.model.rounding.bound(imported.model, space) if bend == "Relu" else None
        if bend == "Identity":
            with np.errstate(over="ignore"):
                try:
                    own = import_model(load_model(tmp_path / "net.onnx"), space, rows=np.zeros((1, 1))).model
                except lw.errors.UnsupportedModel:
                    own = None  # the program itself says infinity
            bound = None if own is None else own.rounding.bound(own, space)
        assert (bound is not None and bound.error < 1e300) == stated


def test_smooth_activations_in_single_precision_have_no_bound(tmp_path):
    nodes = [("Gemm", ["x", "W"], "g", {}), ("Tanh", ["g"], "h", {}), ("Gemm", ["h", "V"], "y", {})]
    (tmp_path / "net.onnx").write_bytes(
        model(nodes, {"W": np.float32([[1]]), "V": np.float32([[1]])}, width=1).SerializeToString()
    )
    space = lw.Space({"x": lw.Continuous(0, 1)})
    imported = import_model(load_model(tmp_path / "net.onnx"), space, rows=np.zeros((1, 1)))
    assert imported.program.error is None


def chain(depth, width, end=None):
    random = np.random.default_rng(depth)
    nodes, constants, at, inputs = [], {}, "x", 4
    for i in range(depth):
        constants |= {
            f"W{i}": random.normal(size=(inputs, width)).astype(np.float32),
            f"b{i}": random.normal(size=width).astype(np.float32),
        }
        nodes += [("Gemm", [at, f"W{i}", f"b{i}"], f"g{i}", {}), ("Relu", [f"g{i}"], f"h{i}", {})]
        at, inputs = f"h{i}", width
    constants |= {"V": (random.normal(size=(width, 1)) / width).astype(np.float32)}
    nodes.append(("Gemm", [at, "V"], "s" if end else "y", {}))
    return model([*nodes, *([(end, ["s"], "y", {})] if end else [])], constants)


SPACE = lw.Space(
    {"age": lw.Integer(18, 80), "level": lw.Categorical(["f", "m"]), "income": lw.Continuous(0, 9)}
)
OWN = ModelReading(inputs={"x": ("age", LevelColumns("level", ("f", "m")), "income")})


def test_a_proof_says_what_holds_of_the_program(tmp_path):
    """One hidden layer: the bound is small, and said; many: it is crude, and nothing is said."""
    (tmp_path / "net.onnx").write_bytes(chain(1, 6, "Sigmoid").SerializeToString())
    similar = lw.Similarity(free=["level"])
    shallow = load_model(tmp_path / "net.onnx", reading=OWN)
    found = lw.measure(shallow, SPACE, similar, budget=20, tolerance=1e-3)
    result = lw.verify(shallow, SPACE, similar, lw.ScoreGap(1.2 * found.upper), budget=20)
    assert result.verdict is lw.Verdict.FAIR
    stated = result.stats["program_rounding"]
    assert 0 < stated["observed"] <= stated["bound"] < 1e-3
    assert result.program_upper == pytest.approx(
        1.2 * found.upper + 2 * stated["bound"], rel=1e-9
    ) or stated.get("covered")
    imported = import_model(shallow, SPACE, rows=np.zeros((0, 3)))
    moved = imported.program.moved("probability", imported.model.head)
    assert moved > 2 * 2.0**-24  # probabilities are rounded to single precision too
    (tmp_path / "net.onnx").write_bytes(chain(7, 40).SerializeToString())
    deep = import_model(load_model(tmp_path / "net.onnx", reading=OWN), SPACE, rows=np.zeros((0, 3)))
    assert deep.model.rounding.bound(deep.model, SPACE).crude
    assert deep.program.error is None or deep.program.large


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [MLPClassifier, MLPRegressor])
def test_scikit_learns_networks_agree_to_the_last_digits(kind, seed):
    random = np.random.default_rng(seed)
    space = lw.Space({f"x{i}": lw.Continuous(-3, 3) for i in range(5)})
    x = random.uniform(-3, 3, (80, 5))
    y = x[:, 0] * x[:, 1] > 0 if kind is MLPClassifier else x[:, 0] * x[:, 1]
    fitted = kind(hidden_layer_sizes=(8,) * (1 + seed % 2), max_iter=2000, tol=1e-2, random_state=seed).fit(
        x, y
    )
    imported = import_model(fitted, space, rows=x)
    codes = individuals(space, seed)
    seen = max(row[0] for row in errors_seen(imported, codes))
    assert seen <= imported.program.error
    assert seen <= 1e-13
    assert imported.program.error <= 1e-11


def test_what_is_lost_below_the_smallest_numbers_counts(tmp_path):
    """A product of 1e-40 has few digits in single precision, and what follows makes it large again."""
    nodes = [("Gemm", ["x", "W"], "g", {}), ("Relu", ["g"], "h", {}), ("Gemm", ["h", "V"], "y", {})]
    constants = {"W": np.float32([[1e-20]]), "V": np.float32([[1e30]])}
    (tmp_path / "net.onnx").write_bytes(model(nodes, constants, width=1).SerializeToString())
    space = lw.Space({"x": lw.Continuous(0, 1e-20)})
    imported = import_model(load_model(tmp_path / "net.onnx"), space, rows=np.zeros((1, 1)))
    bound = imported.model.rounding.bound(imported.model, space)
    codes = np.random.default_rng(0).uniform(0, 1e-20, (200, 1))
    seen = max(row[0] for row in errors_seen(imported, codes))
    assert 1e-7 * 1e-10 < seen <= Fraction(bound.error)
