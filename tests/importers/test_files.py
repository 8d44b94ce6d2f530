"""Models from files: audited, refused by name, never run unasked."""

import pickle
import sys
import warnings

import joblib
import numpy as np
import pytest
import skops.io
from scipy.sparse import csr_array, csr_matrix
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import SVC
from sklearn.utils import all_estimators

from likewise.errors import UnsupportedModel
from likewise.importers import sklearn_linear
from likewise.importers.files import load_model
from likewise.spec.model_reading import ModelReading

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
Y = np.array([0, 0, 1, 1])


class Unheard(LogisticRegression):
    """A type that is not on the trusted list."""


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.fixture
def model():
    return LogisticRegression(solver="liblinear").fit(X, Y)


@pytest.mark.parametrize("form", [csr_matrix, csr_array])
def test_machines_fitted_on_sparse_columns_need_no_trust(form, tmp_path):
    fitted = SVC().fit(form(X), Y)
    skops.io.dump(fitted, tmp_path / "m.skops")
    assert (load_model(tmp_path / "m.skops").support_vectors_ != fitted.support_vectors_).nnz == 0


def test_skops_files_come_back_as_they_were(model, tmp_path):
    skops.io.dump(model, tmp_path / "m.skops")
    assert np.array_equal(load_model(tmp_path / "m.skops").coef_, model.coef_)


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "modified_huber"])
def test_losses_of_sgd_need_no_trust(loss, tmp_path):
    skops.io.dump(SGDClassifier(loss=loss).fit(X, Y), tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops").loss == loss


def test_untrusted_types_are_named_with_the_flag_that_allows_them(tmp_path):
    skops.io.dump(Unheard(solver="liblinear").fit(X, Y), tmp_path / "m.skops")
    name = f"{Unheard.__module__}.Unheard"
    with pytest.raises(UnsupportedModel) as refused:
        load_model(tmp_path / "m.skops")
    assert name in refused.value.message
    assert f"--trust {name}" in str(refused.value.hint)
    if Unheard.__module__ in sys.modules:
        assert type(load_model(tmp_path / "m.skops", trust=[name])).__name__ == "Unheard"


@pytest.mark.parametrize("suffix", [".joblib", ".pkl", ".pickle", ".PKL"])
def test_pickles_are_not_opened_unasked(suffix, tmp_path):
    path, mark = tmp_path / f"m{suffix}", tmp_path / "mark"
    path.write_bytes(pickle.dumps(Trap(str(mark))))
    with pytest.raises(UnsupportedModel, match=r"runs whatever code it holds(.|\n)*--allow-pickle"):
        load_model(path)
    assert not mark.exists()


def test_pickles_are_opened_when_allowed(model, tmp_path):
    joblib.dump(model, tmp_path / "m.joblib")
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    for name in ("m.joblib", "m.pkl"):
        assert np.array_equal(load_model(tmp_path / name, allow_pickle=True).coef_, model.coef_)


@pytest.mark.parametrize("name", ["m.skops", "m.joblib", "m.pkl"])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"\x80\x04garbage"])
def test_damaged_files(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnsupportedModel, match=rf"{name}: cannot be loaded"):
        load_model(tmp_path / name, allow_pickle=True)


def test_a_cut_off_skops_file(model, tmp_path):
    whole = skops.io.dumps(model)
    (tmp_path / "m.skops").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UnsupportedModel, match=r"cannot be loaded"):
        load_model(tmp_path / "m.skops")


def test_missing_folders_and_other_kinds(model, tmp_path):
    skops.io.dump(model, tmp_path / "m.skops")
    with pytest.raises(UnsupportedModel, match=r"no such model file\nhint: in that folder: m\.skops"):
        load_model(tmp_path / "n.skops")
    with pytest.raises(UnsupportedModel, match="is a folder"):
        load_model(tmp_path)
    (tmp_path / "m.pmml").write_bytes(b"")
    with pytest.raises(UnsupportedModel, match=r"\.pmml is no kind of model file"):
        load_model(tmp_path / "m.pmml")


@pytest.mark.parametrize("suffix", ["pt", "pth", "ckpt", "safetensors"])
def test_files_of_pytorch_are_not_opened_and_say_what_can_be_done(tmp_path, suffix):
    (tmp_path / f"net.{suffix}").write_bytes(b"")
    with pytest.raises(
        UnsupportedModel, match=r"hint: .*torch\.onnx\.export.*np\.savez\('net\.npz', layers="
    ):
        load_model(tmp_path / f"net.{suffix}")


@pytest.mark.parametrize(
    ("suffix", "package", "hint"),
    [
        ("onnx", "onnx", r"likewise\[onnx\]"),
        ("keras", "h5py", r"likewise\[keras\]"),
        ("h5", "h5py", r"likewise\[keras\]"),
    ],
)
def test_without_the_package_files_of_networks_say_what_can_be_done(
    tmp_path, monkeypatch, suffix, package, hint
):
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / f"net.{suffix}").write_bytes(b"anything")
    with pytest.raises(
        UnsupportedModel, match=rf"needs the package {package}, which is not installed\nhint: .*{hint}"
    ):
        load_model(tmp_path / f"net.{suffix}")


def test_files_that_know_their_features_are_not_told(model, tmp_path):
    skops.io.dump(model, tmp_path / "m.skops")
    with pytest.raises(UnsupportedModel, match=r"m\.skops: knows its features and labels itself"):
        load_model(tmp_path / "m.skops", reading=ModelReading(labels=("a", "b")))


def test_what_is_no_model(tmp_path):
    skops.io.dump({"weights": [1.0]}, tmp_path / "m.skops")
    with pytest.raises(UnsupportedModel, match="holds a dict, not a fitted model"):
        load_model(tmp_path / "m.skops")


def test_without_skops_the_extra_is_named(model, tmp_path, monkeypatch):
    skops.io.dump(model, tmp_path / "m.skops")
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(UnsupportedModel, match=r"needs skops(.|\n)*likewise\[skops\]"):
        load_model(tmp_path / "m.skops")


@pytest.mark.some_days
@pytest.mark.draw(12)
@pytest.mark.parametrize("name", sorted(sklearn_linear.ESTIMATORS))
def test_every_estimator_of_the_linear_family_needs_no_trust(name, tmp_path):
    kinds = dict(all_estimators())
    if name not in kinds:
        pytest.skip(f"this scikit-learn has no {name}")
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, and of estimators on their way out
        estimator = kinds[name](**({"kernel": "linear"} if name in sklearn_linear.DUAL else {}))
        if "n_components" in estimator.get_params():
            estimator.set_params(n_components=1)  # of one target
        target = np.exp(rows[:, 0]) if name in sklearn_linear.GENERALISED else rows[:, 0] > 0
        skops.io.dump(estimator.fit(rows, target), tmp_path / "m.skops")
        assert type(load_model(tmp_path / "m.skops")).__name__ == name


@pytest.mark.parametrize("name", ["GaussianProcessClassifier", "GaussianProcessRegressor"])
def test_gaussian_processes_need_no_trust(name, tmp_path):
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

    rows = np.random.default_rng(0).normal(size=(30, 2))
    for kernel in (None, ConstantKernel(2.0) * RBF() + WhiteKernel(), DotProduct() ** 2):
        estimator = dict(all_estimators())[name](kernel=kernel, optimizer=None)
        skops.io.dump(estimator.fit(rows, rows[:, 0] > 0), tmp_path / "m.skops")
        assert type(load_model(tmp_path / "m.skops")).__name__ == name
