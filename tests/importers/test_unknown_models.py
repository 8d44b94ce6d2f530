"""What is said of models that nothing reads, and of what is no model at all."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import all_estimators

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers import registry
from likewise.importers.imported_model import import_model
from likewise.importers.mixing import MATRICES
from likewise.importers.transformers.composition import COMPOSERS, HANDLERS, refusal_reason
from likewise.importers.unfold import REFITTED, THRESHOLDS

SPACE = lw.Space({"age": lw.Integer(18, 60), "sex": lw.Integer(0, 1)})


def refusal(model):
    with pytest.raises(UnsupportedModel) as refused:
        import_model(model, SPACE, rows=np.empty((0, 2)))
    return refused.value


class Almost:
    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize("model", [KNeighborsClassifier(), KNeighborsRegressor(), Almost()])
def test_nothing_far_away_is_suggested(model):
    error = refusal(model)
    assert "did you mean" not in str(error)
    assert "LogisticRegression" in error.hint


@pytest.mark.parametrize("name", ["LGBMClasifier", "LogisticRegresion", "svc", "Redge"])
def test_one_letter_is(name):
    assert "did you mean" in str(refusal(type(name, (Almost,), {})()))


@pytest.mark.parametrize("name", ["SVM", "MLPClassifierCV", "str", "Lasagna"])
def test_two_are_not(name):
    assert "did you mean" not in str(refusal(type(name, (Almost,), {})()))


def test_a_path_is_no_model(tmp_path):
    for path in ("m.skops", tmp_path / "m.skops"):
        error = refusal(path)
        assert "text is not supported" in error.message
        assert "skops.io.load" in error.hint


@pytest.mark.parametrize("thing", [None, np.zeros(3), len])
def test_what_cannot_predict_is_said_to_be_none(thing):
    assert "has no predict" in refusal(thing).message


def test_classes_are_told_from_models():
    assert "is a class" in refusal(LogisticRegression).message


def test_every_example_is_read():
    known = registry._reader_names(registry.SCORE_READERS) | registry._reader_names(registry.FOREST_READERS)
    assert {name for names in registry.EXAMPLES.values() for name in names} <= known


def sklearn_classes(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(all_estimators(type_filter=kind))


def test_every_transformer_of_scikit_learn_is_read_or_has_its_own_reason():
    known = {*HANDLERS, *COMPOSERS, *MATRICES, "Nystroem", "KernelPCA"}
    others = {
        "LabelBinarizer",
        "LabelEncoder",
        "MultiLabelBinarizer",
        "PatchExtractor",
        "SparseCoder",
        "TSNE",
    }
    named = {
        name
        for name, kind in sklearn_classes("transformer").items()
        if name not in known and not callable(getattr(kind, "predict", None)) and name not in others
    }
    assert named > {"NMF", "RBFSampler", "BernoulliRBM"}
    for name in named:
        why, hint = refusal_reason(name, "sklearn", sorted(HANDLERS))
        assert "not known to work" not in why, name
        assert hint


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_every_model_of_scikit_learn_is_read_or_has_its_own_reason(kind):
    known = registry._reader_names(registry.SCORE_READERS) | registry._reader_names(registry.FOREST_READERS)
    known |= {*registry.ENSEMBLES, registry.ONE_VS_REST, *REFITTED, *THRESHOLDS, "TransformedTargetRegressor"}
    several = {name for name in sklearn_classes(kind) if name.startswith(("MultiTask", "MultiOutput"))}
    left = (
        set(sklearn_classes(kind))
        - known
        - several
        - {"ClassifierChain", "RegressorChain", "IsotonicRegression"}
    )
    assert left
    for name in left:
        assert registry._refusal_reason(name).startswith(": "), name
