"""A network in a file from init to a verdict: the draft says what is in doubt, the claim file which feature is in which column."""

import tomllib

import numpy as np
import pandas as pd
import pytest
from tests.onnx_graphs import TensorProto, model, onnx

RANDOM = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 81, 40),
        "sex": RANDOM.choice(["f", "m"], 40),
        "income": RANDOM.uniform(0, 9, 40).round(2),
        "good": RANDOM.choice(["no", "yes"], 40),
    }
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Rows and a network over age, sex = f, sex = m and income, whose score rises by 1 from f to m."""
    ROWS.to_csv(tmp_path / "people.csv", index=False)
    first = np.float32([[0.01, 0], [0, 0], [1, 0], [0, 1]])
    nodes = [
        ("Gemm", ["x", "W", "b"], "g", {}),
        ("Relu", ["g"], "h", {}),
        ("Gemm", ["h", "V", "c"], "s", {}),
        ("Sigmoid", ["s"], "y", {}),
    ]
    constants = {"W": first, "b": np.float32([0, -3]), "V": np.float32([[1], [1]]), "c": np.float32([-2])}
    (tmp_path / "net.onnx").write_bytes(model(nodes, constants).SerializeToString())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_a_draft_to_verdicts(run, folder):
    done = run("init people.csv --model net.onnx --label good --free sex -o claim.toml")
    assert done.exit_code == 0
    text = (folder / "claim.toml").read_text()
    assert "# FILL IN: which feature is in which column." in text
    draft = tomllib.loads(text)["model"]
    assert draft == {
        "path": "net.onnx",
        "labels": ["no", "yes"],
        "inputs": {"x": ["age", {"feature": "sex", "levels": ["f", "m"]}, "income"]},
    }
    assert run("verify claim.toml").exit_code == 1
    assert run("verify claim.toml --property score:1.01").exit_code == 0
    assert run("verify claim.toml --property score:0.99").exit_code == 1


def test_a_draft_that_does_not_fit_says_so(run, folder):
    ROWS.drop(columns="income").to_csv(folder / "fewer.csv", index=False)
    done = run("init fewer.csv --model net.onnx --label good --free sex -o claim.toml")
    assert done.exit_code == 0
    assert "# The input 'x' has 4 columns, and these are 3." in (folder / "claim.toml").read_text()
    done = run("verify claim.toml")
    assert done.exit_code == 2
    assert "the input 'x' has 4 columns, and 3 are described" in done.stderr


def test_without_a_claim_file_the_error_says_what_to_do(run, folder):
    done = run("verify --model net.onnx --data people.csv --label good --free sex")
    assert done.exit_code == 2
    assert "likewise init drafts one" in done.stderr


def test_unknown_operators_are_named(run, folder):
    (folder / "net.onnx").write_bytes(model([("Exp", ["x"], "y", {})]).SerializeToString())
    done = run("init people.csv --model net.onnx --label good")
    assert done.exit_code == 2
    assert "net.onnx: Exp (node 'Exp_0') is not read" in done.stderr


def test_weights_in_other_files_are_read_if_asked_by_init_too(run, folder):
    proto = onnx.load(str(folder / "net.onnx"))
    tensor = proto.graph.initializer[0]
    (folder / "net.data").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="net.data")
    (folder / "net.onnx").write_bytes(proto.SerializeToString())
    done = run("init people.csv --model net.onnx --label good --free sex -o claim.toml")
    assert done.exit_code == 2
    assert "likewise init --external-data" in done.stderr
    assert not (folder / "claim.toml").exists()
    done = run("init people.csv --model net.onnx --label good --free sex --external-data -o claim.toml")
    assert done.exit_code == 0
    assert tomllib.loads((folder / "claim.toml").read_text())["model"]["external_data"] is True
    assert run("verify claim.toml").exit_code == 1


def test_networks_of_pytorch_in_npz_files(run, folder):
    """The same network as layers and state."""
    first = np.float32([[0.01, 0], [0, 0], [1, 0], [0, 1]])
    np.savez(
        folder / "net.npz",
        layers=[
            "Linear(in_features=4, out_features=2, bias=True)",
            "ReLU()",
            "Linear(in_features=2, out_features=1, bias=True)",
            "Sigmoid()",
        ],
        **{
            "0.weight": first.T,
            "0.bias": np.float32([0, -3]),
            "2.weight": np.float32([[1, 1]]),
            "2.bias": np.float32([-2]),
        },
    )
    assert run("init people.csv --model net.npz --label good --free sex -o claim.toml").exit_code == 0
    draft = tomllib.loads((folder / "claim.toml").read_text())["model"]
    assert draft["labels"] == ["no", "yes"]
    assert draft["inputs"] == {"x": ["age", {"feature": "sex", "levels": ["f", "m"]}, "income"]}
    assert run("verify claim.toml --property score:1.01").exit_code == 0
    assert run("verify claim.toml --property score:0.99").exit_code == 1
    done = run("init people.csv --model net.npz --label good --external-data")
    assert done.exit_code == 2
    assert "keeps all weights in itself" in done.stderr


def test_other_files_of_networks_beside_the_claim(run, folder):
    assert run("init people.csv --model net.onnx --label good --free sex -o claim.toml").exit_code == 0
    (folder / "net.pt").write_bytes(b"")
    done = run("verify claim.toml --model net.pt")
    assert done.exit_code == 2
    assert "torch.onnx.export" in done.stderr


def test_next_steps_are_commands_that_such_a_file_allows(run, folder):
    assert run("init people.csv --model net.onnx --label good --free sex -o claim.toml").exit_code == 0
    printed = run("verify claim.toml")
    assert printed.exit_code == 1
    told = [line.strip() for line in printed.stdout.splitlines() if line.strip().startswith("likewise ")]
    assert [line.split()[1] for line in told] == ["measure", "audit"]
    for line in told:
        assert run(*line.split()[1:], "--budget", "5").exit_code in (0, 3)
    assert run("repair claim.toml").exit_code == 2
