"""Models in ``.skops`` files: every type is known, reviewed or trusted by name before anything is constructed.

Trees are more than holders of numbers: their libraries follow the numbers of children and columns through memory without a look. So what a file
says of them is read here first, as plain arrays, and a tree that leaves its arrays, or never ends, is refused. The boosters of XGBoost, LightGBM and CatBoost
are whole models in one value, which the readers of their own files go through, and which is written anew from what they have read. What passes needs no trust by name.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Reviewed, for skops that do not list them: the loss objects that SGD models carry, which hold numbers only, and
# what pipelines and searches carry, support vectors in sparse matrices among them. Those are plain holders of fitted numbers and settings, or functions and
# classes that are named and, in predicting, not called.
_LOSSES = (
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Log",
    "ModifiedHuber",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "SquaredLoss",
)
_KERNELS = (
    "ConstantKernel",
    "DotProduct",
    "Exponentiation",
    "Hyperparameter",
    "Product",
    "RBF",
    "Sum",
    "WhiteKernel",
)
_SCORES = ("accuracy_score", "balanced_accuracy_score", "f1_score", "precision_score", "recall_score")
_RELEVANCE = ("chi2", "f_classif", "f_oneway", "f_regression", "r_regression")
_FOLDS = ("KFold", "RepeatedKFold", "RepeatedStratifiedKFold", "StratifiedKFold", "StratifiedShuffleSplit")
# What draws rows in fitting, and is passed over afterwards.
_SAMPLERS = (
    *("combine._smote_tomek.SMOTETomek", "over_sampling._adasyn.ADASYN"),
    "over_sampling._random_over_sampler.RandomOverSampler",
    *(f"over_sampling._smote.base.{name}" for name in ("SMOTE", "SMOTEN", "SMOTENC")),
    *(f"over_sampling._smote.filter.{name}" for name in ("BorderlineSMOTE", "SVMSMOTE")),
    "under_sampling._prototype_selection._random_under_sampler.RandomUnderSampler",
    "under_sampling._prototype_selection._tomek_links.TomekLinks",
)
_RESAMPLED = (
    "bagging.BalancedBaggingClassifier",
    "easy_ensemble.EasyEnsembleClassifier",
    "forest.BalancedRandomForestClassifier",
    "weight_boosting.RUSBoostClassifier",
)
REVIEWED_TYPES = frozenset(
    (
        *(f"numpy.{name}" for name in ("dtype", "bool", "floating", "integer", "number", "object_")),
        "collections.OrderedDict",
        "imblearn.pipeline.Pipeline",
        *(f"imblearn.{name}" for name in _SAMPLERS),
        *(f"imblearn.ensemble._{name}" for name in _RESAMPLED),
        "likewise.repaired.estimators.SettledClassifier",
        "likewise.repaired.estimators.SettledRegressor",
        "scipy._lib.array_api_compat.numpy._aliases.asarray",
        "scipy.interpolate._bsplines.BSpline",
        *(f"scipy.sparse._{kind}.{kind}_{form}" for kind in ("csr", "csc") for form in ("matrix", "array")),
        *(f"sklearn._loss.loss.HalfTweedieLoss{form}" for form in ("", "Identity")),
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        *(f"sklearn.gaussian_process.kernels.{name}" for name in _KERNELS),
        "sklearn.metrics._scorer._CurveScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.utils._bunch.Bunch",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
        "sklearn.utils.validation.check_array",
        *(f"sklearn.feature_selection._univariate_selection.{name}" for name in _RELEVANCE),
        *(f"sklearn.linear_model._sgd_fast.{name}" for name in _LOSSES),
        *(f"sklearn.metrics._classification.{name}" for name in _SCORES),
        *(f"sklearn.model_selection._split.{name}" for name in _FOLDS),
        *(
            f"xgboost.sklearn.XGB{name}"
            for name in ("Classifier", "Regressor", "RFClassifier", "RFRegressor")
        ),
        *(f"lightgbm.sklearn.LGBM{name}" for name in ("Classifier", "Regressor")),
        *(
            f"interpret.glassbox._ebm._ebm.{private}ExplainableBoosting{name}"
            for private in ("", "DP")
            for name in ("Classifier", "Regressor")
        ),
    )
)

Written = dict[str, bytes]  # files that take the place of others, by name

_TREE = "sklearn.tree._tree.Tree"
_PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
_XGBOOST = "xgboost.core.Booster"
_LIGHTGBM = "lightgbm.basic.Booster"
_CATBOOST = tuple(f"catboost.core.CatBoost{name}" for name in ("", "Classifier", "Regressor"))
_SAVE_AGAIN = "save the model again; a file that was changed by others may do harm when it is read"
_LOOK_AT_COLUMNS = "sklearn.utils.validation.check_array"


def read_skops(content: bytes, trust: Collection[str] = ()) -> Any:
    """The estimator in a ``.skops`` file that constructs nothing but known types, those trusted by name among them."""
    try:
        import skops.io
    except ImportError:
        raise UnsupportedModel(
            "reading .skops files needs skops, which is not installed", hint='pip install "likewise[skops]"'
        ) from None
    untrusted = skops.io.get_untrusted_types(data=content)
    refused = sorted(set(untrusted) - REVIEWED_TYPES - set(_CHECKS) - set(trust))
    if refused:
        raise UnsupportedModel(
            f"would construct types that are not on the trusted list: {', '.join(refused)}",
            hint="if you know them and trust the file: " + " ".join(f"--trust {name}" for name in refused),
        )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        content = _check_stored(archive, trust)
    model = skops.io.loads(content, trusted=untrusted)
    for part in _walk_parts(model):
        _check_columns(part)
    return model


# -- before anything is constructed -------------------------------------------------------------------------


def _check_stored(archive: zipfile.ZipFile, trust: Collection[str]) -> bytes:
    """Refuse trees and boosters that are not what they should be; those trusted by name are not looked at.
    Gives back the file with boosters written anew, from what was read of them."""
    written: dict[str, bytes] = {}
    schema = json.loads(archive.read("schema.json"))
    _digest(schema, archive, {})
    for node in _walk_nodes(schema):
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        loader = node["__loader__"]
        # A loader of trees makes a tree of any type that is named.
        name = _TREE if loader == "TreeNode" else name
        if name not in _CHECKS or name in trust or loader in ("TypeNode", "CachedNode"):
            continue
        expected, check = _CHECKS[name]
        if loader != expected:
            raise _unsound_error(name, f"its loader is {loader!r}")
        try:
            check(node, archive, written)
        except UnsupportedModel as error:
            raise _unsound_error(name, str(error)) from error
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise _unsound_error(name, "it is not written as its library writes it") from error
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive_anew:
        for name in archive.namelist():
            archive_anew.writestr(name, json.dumps(schema) if name == "schema.json" else archive.read(name))
        for name, data in written.items():
            archive_anew.writestr(name, data)
    return made.getvalue()


def _digest(part: Any, archive: zipfile.ZipFile, numbered: dict[Any, bytes]) -> bytes:
    """Of a part of the schema, whatever its parts are numbered. skops constructs what has one number once: whatever has it must be the same, so that what is looked at is what is constructed."""
    if isinstance(part, dict):
        words = [
            hashlib.sha256(archive.read(value)).digest()
            if key == "file"
            else key.encode() + _digest(value, archive, numbered)
            for key, value in sorted(part.items())
            if key != "__id__"
        ]
    elif isinstance(part, list):
        words = [_digest(value, archive, numbered) for value in part]
    else:
        return hashlib.sha256(json.dumps(part).encode()).digest()
    found = hashlib.sha256(b"".join([type(part).__name__.encode(), *words])).digest()
    if isinstance(part, dict) and part.get("__loader__") not in (None, "CachedNode"):
        number = part.get("__id__")
        if number is not None and numbered.setdefault(number, found) != found:
            raise UnsupportedModel("two different values in it have the same number", hint=_SAVE_AGAIN)
    return found


def _walk_nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [schema]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            if "__loader__" in found:
                yield found
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)


def _stored_array(node: Mapping[str, Any], archive: zipfile.ZipFile) -> NDArray[Any]:
    if node["__loader__"] != "NdArrayNode" or node["type"] != "numpy":
        raise UnsupportedModel("an array is not written as one")
    found: NDArray[Any] = np.load(io.BytesIO(archive.read(node["file"])), allow_pickle=False)
    return found


def _stored_value(node: Mapping[str, Any]) -> Any:
    if node["__loader__"] != "JsonNode":
        raise UnsupportedModel("a number or text is not written as one")
    return json.loads(node["content"])


def _stored_state(node: Mapping[str, Any]) -> Mapping[str, Any]:
    state = node["content"]
    if state["__loader__"] != "DictNode":
        raise UnsupportedModel("its state is not written as a dict")
    found: Mapping[str, Any] = state["content"]
    return found


def _check_tree(node: Mapping[str, Any], archive: zipfile.ZipFile, _written: Written) -> None:
    """scikit-learn's compiled tree, of forests and gradient boosting."""
    arguments = node["__reduce__"]["args"]
    if arguments["__loader__"] != "TupleNode":
        raise UnsupportedModel("its arguments are not written as a tuple")
    n_columns, classes, n_outputs = arguments["content"]
    columns, outputs = _stored_value(n_columns), _stored_value(n_outputs)
    counts = _stored_array(classes, archive)
    if not (_is_count(columns) and _is_count(outputs) and counts.shape == (outputs,) and counts.min() >= 1):
        raise UnsupportedModel("its numbers of columns, outputs and classes do not fit")
    state = _stored_state(node)
    nodes = _stored_array(state["nodes"], archive)
    if _stored_value(state["node_count"]) != len(nodes) or nodes.ndim != 1:
        raise UnsupportedModel("its nodes are not as many as it says")
    left, right = nodes["left_child"], nodes["right_child"]
    _check_children(left, right, leaf=(left == -1) & (right == -1))
    _check_range(nodes["feature"][left != -1], columns, "column")


def _check_predictor(node: Mapping[str, Any], archive: zipfile.ZipFile, _written: Written) -> None:
    """A tree of histogram gradient boosting. How many columns there are its model knows: `_check_columns`."""
    state = _stored_state(node)
    nodes = _stored_array(state["nodes"], archive)
    leaf = nodes["is_leaf"].astype(bool)
    _check_children(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), leaf=leaf)
    chosen = ~leaf & nodes["is_categorical"].astype(bool)
    for name in ("raw_left_cat_bitsets", "binned_left_cat_bitsets"):
        sets = _stored_array(state[name], archive)
        if sets.ndim != 2 or sets.shape[1] != 8 or sets.dtype != np.uint32:
            raise UnsupportedModel("its sets of categories are no sets")
        _check_range(nodes["bitset_idx"][chosen], len(sets), "set of categories")


def _check_children(left: NDArray[Any], right: NDArray[Any], *, leaf: NDArray[np.bool_]) -> None:
    """Children come after their parents, so that every way down ends."""
    if not len(leaf):
        raise UnsupportedModel("it has no nodes")
    parents = np.flatnonzero(~leaf)
    for children in (left[parents], right[parents]):
        if (children <= parents).any() or (children >= len(leaf)).any():
            raise UnsupportedModel("a node's child is not among the nodes that follow it")


def _check_range(numbers: NDArray[Any], count: int, what: str) -> None:
    if ((numbers < 0) | (numbers >= count)).any():
        raise UnsupportedModel(f"a node asks for a {what} that does not exist")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _check_xgboost(node: Mapping[str, Any], archive: zipfile.ZipFile, written: Written) -> None:
    """The model that the library writes into one value, by the reader of XGBoost's own files."""
    from likewise.importers.boosters import pickled_xgboost

    handle = _stored_state(node)["handle"]
    if handle["__loader__"] != "BytearrayNode":
        raise UnsupportedModel("its model is not written as bytes")
    _write_anew(handle, pickled_xgboost(archive.read(handle["file"])), written)


def _check_lightgbm(node: Mapping[str, Any], _archive: zipfile.ZipFile, _written: Written) -> None:
    """The model that the library writes as text, by the reader of LightGBM's own files."""
    from likewise.importers.lightgbm.model_file import read_lightgbm, write_lightgbm

    state = _stored_state(node)
    handle = state["_handle" if "_handle" in state else "handle"]
    handle["content"] = json.dumps(write_lightgbm(read_lightgbm(_stored_value(handle).encode())))


def _check_catboost(node: Mapping[str, Any], archive: zipfile.ZipFile, written: Written) -> None:
    """The model that the library writes into one value, which is what it writes to a ``.cbm`` file, by the reader of these; beside it are settings of the fit."""
    from likewise.importers.catboost.reading import rewritten

    model = _stored_state(node).get("__model")
    if model is None or model["__loader__"] != "BytesNode":
        raise UnsupportedModel("its model is not written as bytes")
    if importlib.util.find_spec("catboost") is None:
        return  # and nothing is constructed
    try:
        _write_anew(model, rewritten(archive.read(model["file"])), written)
    except UnsupportedModel:
        raise
    except Exception as error:  # whatever CatBoost has to say about bytes that are no model
        raise UnsupportedModel("CatBoost does not take it for a model") from error


def _write_anew(part: dict[str, Any], content: bytes, written: Written) -> None:
    """Put other bytes in the place of a part; its file may be that of other parts as well."""
    part["file"] = f"{part['file']}.anew"
    written[part["file"]] = content


def _check_partial(node: Mapping[str, Any], _archive: zipfile.ZipFile, _written: Written) -> None:
    """Arguments kept for a function: histogram gradient boosting keeps those of the function that looks at its columns."""
    called = node["content"]["func"]
    if (
        f"{called['__module__']}.{called['__class__']}" != _LOOK_AT_COLUMNS
        or called["__loader__"] != "FunctionNode"
    ):
        raise UnsupportedModel("it calls another function than scikit-learn's check_array")


# By type the loader that skops has for it, and what is to be seen before it is constructed.
_CHECKS: Mapping[str, tuple[str, Callable[[Mapping[str, Any], zipfile.ZipFile, Written], None]]] = {
    _TREE: ("TreeNode", _check_tree),
    _PREDICTOR: ("ObjectNode", _check_predictor),
    _XGBOOST: ("ObjectNode", _check_xgboost),
    _LIGHTGBM: ("ObjectNode", _check_lightgbm),
    **dict.fromkeys(_CATBOOST, ("ObjectNode", _check_catboost)),
    "functools.partial": ("PartialNode", _check_partial),
}


def _unsound_error(name: str, why: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"holds a {name} that is not sound: {why}",
        hint=_SAVE_AGAIN,
    )


# -- before anything is asked -------------------------------------------------------------------------------


def _walk_parts(model: Any) -> Iterator[Any]:
    """The model and everything that it is made of."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, type):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else ())
        else:
            waiting.extend(getattr(part, "__dict__", {}).values())


def _check_columns(part: Any) -> None:
    """Refuse an estimator whose trees ask for columns that its rows do not have."""
    columns = getattr(part, "n_features_in_", None)
    for tree in _walk_trees(part):
        name = f"{type(tree).__module__}.{type(tree).__qualname__}"
        if name == _TREE and tree.n_features != columns:
            raise _unsound_error(name, f"it is a tree over {tree.n_features} columns among {columns}")
        if name == _PREDICTOR:
            inner = ~tree.nodes["is_leaf"].astype(bool)
            if not isinstance(columns, int) or (tree.nodes["feature_idx"][inner] >= columns).any():
                raise _unsound_error(name, "a node asks for a column that does not exist")


def _walk_trees(part: Any) -> Iterator[Any]:
    """The trees that an estimator asks without another estimator in between."""
    held = getattr(part, "__dict__", {})
    if "tree_" in held:
        yield held["tree_"]
    if "_predictors" in held:
        yield from (tree for trees in held["_predictors"] for tree in trees)
    if "n_trees_per_iteration_" in held or hasattr(
        part, "_raw_predict_init"
    ):  # gradient boosting asks past its trees' estimators
        yield from (tree.tree_ for tree in np.ravel(held.get("estimators_", ())))
