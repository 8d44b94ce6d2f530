"""Models in ``.skops`` files: every type is known, reviewed or trusted by name before anything is
constructed.

    skops_schema    the whole file is parsed: what it would construct, and of which parts
    here            the types are audited, and trees and boosters read as plain arrays
    skops           constructs the model
    fitted_state    what it holds fits together, before it is asked anything

Trees are more than holders of numbers: their libraries follow the numbers of children and columns through
memory without a look. So what a file
says of them is read here first, as plain arrays, and a tree that leaves its arrays, or never ends, is
refused. The boosters of XGBoost, LightGBM and CatBoost
are whole models in one value, which the readers of their own files go through, and which is written anew
from what they have read. What passes needs no trust by name.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.fitted_state import settle_model
from likewise.importers.skops_schema import (
    SAVE_AGAIN,
    SPARSE_FORMS,
    check_schema,
    node_name,
    read_schema,
    repacked,
    stored_array,
    stored_state,
    stored_value,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Reviewed, for skops that do not list them: the loss objects that SGD models carry, which hold numbers only, and
# what pipelines and searches carry, support vectors in sparse matrices among them. Those are plain holders of fitted numbers and settings, or functions and
# classes that are named and, in predicting, not called.
_SGD_LOSSES = tuple(
    f"sklearn.linear_model._sgd_fast.{name}"
    for name in (
        *("EpsilonInsensitive", "Hinge", "Huber", "Log", "ModifiedHuber"),
        *("SquaredEpsilonInsensitive", "SquaredHinge", "SquaredLoss"),
    )
)
_KERNELS = (
    *("ConstantKernel", "DotProduct", "Exponentiation", "Hyperparameter"),
    *("Product", "RBF", "Sum", "WhiteKernel"),
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
_OBJECTS = (
    "imblearn.pipeline.Pipeline",
    *(f"imblearn.{name}" for name in _SAMPLERS),
    *(f"imblearn.ensemble._{name}" for name in _RESAMPLED),
    "likewise.repaired.estimators.SettledClassifier",
    "likewise.repaired.estimators.SettledRegressor",
    "scipy.interpolate._bsplines.BSpline",
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
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    *_SGD_LOSSES,
    *(f"sklearn.model_selection._split.{name}" for name in _FOLDS),
    *(f"xgboost.sklearn.XGB{name}" for name in ("Classifier", "Regressor", "RFClassifier", "RFRegressor")),
    *(f"lightgbm.sklearn.LGBM{name}" for name in ("Classifier", "Regressor")),
    *(
        f"interpret.glassbox._ebm._ebm.{private}ExplainableBoosting{name}"
        for private in ("", "DP")
        for name in ("Classifier", "Regressor")
    ),
)
_LOOK_AT_COLUMNS = "sklearn.utils.validation.check_array"
# By loader of skops: what may be made by it besides what skops lists.
REVIEWED: Mapping[str, frozenset[str]] = {
    "ObjectNode": frozenset(_OBJECTS),
    "ConstructorFromReduceNode": frozenset(_SGD_LOSSES),
    "LossNode": frozenset(_SGD_LOSSES),
    "DictNode": frozenset(("collections.OrderedDict", "sklearn.utils._bunch.Bunch")),
    "DTypeNode": frozenset(("numpy.dtype",)),
    "TypeNode": frozenset(
        (
            "collections.OrderedDict",
            *(f"numpy.{name}" for name in ("bool", "floating", "integer", "number", "object_")),
        )
    ),
    "SparseMatrixNode": frozenset(
        f"scipy.sparse._{kind}.{kind}_{form}" for kind in SPARSE_FORMS for form in ("matrix", "array")
    ),
    "FunctionNode": frozenset(
        (
            *("numpy.mean", "scipy._lib.array_api_compat.numpy._aliases.asarray"),
            _LOOK_AT_COLUMNS,
            *(f"sklearn.cluster._kmeans._kmeans_single_{name}" for name in ("elkan", "lloyd")),
            *(f"sklearn.feature_selection._univariate_selection.{name}" for name in _RELEVANCE),
            *(f"sklearn.metrics._classification.{name}" for name in _SCORES),
        )
    ),
}
# Of what skops lists: packages of scikit-learn whose estimators, in predicting, do no more than compute, with NumPy or from a state that `fitted_state` compares.
# Others read files (those of texts), divide by what they are told (hashes), or follow trees through memory (neighbours in trees).
_HARMLESS = tuple(
    f"sklearn.{name}."
    for name in (
        *("_loss", "calibration", "compose", "covariance", "cross_decomposition", "decomposition"),
        *("discriminant_analysis", "dummy", "ensemble", "feature_selection", "frozen", "gaussian_process"),
        *("impute", "isotonic", "kernel_approximation", "kernel_ridge", "linear_model", "mixture"),
        *("model_selection", "multiclass", "multioutput", "naive_bayes", "neural_network", "pipeline"),
        *("preprocessing", "random_projection", "semi_supervised", "svm", "tree"),
        *("cluster._kmeans", "cluster._bisect_k_means", "cluster._mean_shift"),
        *("cluster._affinity_propagation", "cluster._agglomerative"),
        *("manifold._isomap", "manifold._locally_linear"),
        *("neighbors._nearest_centroid", "neighbors._nca", "neighbors._lof", "neighbors._unsupervised"),
        *("neighbors._classification", "neighbors._regression", "neighbors._graph"),
    )
)

Written = dict[str, bytes]  # files that take the place of others, by name

_TREE = "sklearn.tree._tree.Tree"
_PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
_XGBOOST = "xgboost.core.Booster"
_LIGHTGBM = "lightgbm.basic.Booster"
_CATBOOST = tuple(f"catboost.core.CatBoost{name}" for name in ("", "Classifier", "Regressor"))


def read_skops(content: bytes, trust: Collection[str] = ()) -> Any:
    """The estimator in a ``.skops`` file that constructs nothing but known types, those trusted by name
    among them."""
    try:
        import skops.io
    except ImportError:
        raise UnsupportedModel(
            "reading .skops files needs skops, which is not installed", hint='pip install "likewise[skops]"'
        ) from None
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        content = repacked(archive)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = read_schema(archive)
        made = check_schema(schema, archive)
        untrusted = skops.io.get_untrusted_types(data=content)
        _check_types(made, set(untrusted), set(trust))
        content = _check_stored(schema, archive, trust)
    model = skops.io.loads(content, trusted=untrusted)
    settle_model(model)
    return model


def _check_types(
    made: Collection[tuple[str, str]], untrusted: Collection[str], trust: Collection[str]
) -> None:
    """Refuse what is neither known nor reviewed nor trusted by name, and functions whoever trusts them."""
    refused = {(loader, name) for loader, name in made if not _is_known(loader, name, untrusted)}
    functions = sorted(name for loader, name in refused if loader == "FunctionNode")
    if functions:
        raise UnsupportedModel(
            f"would call functions, of which only NumPy's are taken: {', '.join(functions)}",
            hint="if you trust them, load the model in Python, and name it: --model package.module:name",
        )
    unheard = sorted({name for _, name in refused} - set(trust))
    if unheard:
        raise UnsupportedModel(
            f"would construct types that are not on the trusted list: {', '.join(unheard)}",
            hint="if you know them and trust the file: " + " ".join(f"--trust {name}" for name in unheard),
        )
    for name in sorted({name for _, name in refused}):
        _check_class(name)


def _is_known(loader: str, name: str, untrusted: Collection[str]) -> bool:
    if name in REVIEWED.get(loader, ()) or _CHECKS.get(name, ("",))[0] == loader:
        return True
    return name not in untrusted and (loader != "ObjectNode" or name.startswith(_HARMLESS))


def _check_class(name: str) -> None:
    """Refuse a name that is trusted and is no class: it would be called."""
    module, _, kind = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), kind)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnsupportedModel(f"needs {name}, which cannot be imported: {error}") from error
    if not isinstance(found, type):
        raise UnsupportedModel(
            f"names {name} as a type, and it is none", hint=f"leave out --trust {name}: it would be called"
        )


# -- before anything is constructed -------------------------------------------------------------------------


def _check_stored(schema: dict[str, Any], archive: zipfile.ZipFile, trust: Collection[str]) -> bytes:
    """Refuse trees and boosters that are not what they should be; those trusted by name are not looked at.
    Gives back the file with boosters written anew, from what was read of them."""
    written: dict[str, bytes] = {}
    for node in _walk_nodes(schema):
        name, loader = node_name(node), node["__loader__"]
        # A loader of trees makes a tree of any type that is named.
        name = _TREE if loader == "TreeNode" else name
        if name not in _CHECKS or name in trust or loader == "TypeNode":
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


def _check_tree(node: Mapping[str, Any], archive: zipfile.ZipFile, _written: Written) -> None:
    """scikit-learn's compiled tree, of forests and gradient boosting."""
    from sklearn.tree._tree import NODE_DTYPE

    arguments = node["__reduce__"]["args"]
    if arguments["__loader__"] != "TupleNode":
        raise UnsupportedModel("its arguments are not written as a tuple")
    n_columns, classes, n_outputs = arguments["content"]
    columns, outputs = stored_value(n_columns), stored_value(n_outputs)
    counts = stored_array(classes, archive)
    if not (_is_count(columns) and _is_count(outputs) and counts.shape == (outputs,) and counts.min() >= 1):
        raise UnsupportedModel("its numbers of columns, outputs and classes do not fit")
    state = stored_state(node)
    nodes = stored_array(state["nodes"], archive)
    if stored_value(state["node_count"]) != len(nodes) or nodes.ndim != 1:
        raise UnsupportedModel("its nodes are not as many as it says")
    _check_fields(nodes, NODE_DTYPE)
    left, right = nodes["left_child"], nodes["right_child"]
    depth = _check_children(left, right, leaf=(left == -1) & (right == -1))
    if stored_value(state["max_depth"]) != depth:
        raise UnsupportedModel("it is not as deep as it says")
    _check_range(nodes["feature"][left != -1], columns, "column")


def _check_predictor(node: Mapping[str, Any], archive: zipfile.ZipFile, _written: Written) -> None:
    """A tree of histogram gradient boosting. How many columns there are its model knows: `fitted_state`."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    state = stored_state(node)
    nodes = stored_array(state["nodes"], archive)
    _check_fields(nodes, PREDICTOR_RECORD_DTYPE)
    leaf = nodes["is_leaf"].astype(bool)
    _check_children(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), leaf=leaf)
    chosen = ~leaf & nodes["is_categorical"].astype(bool)
    for name in ("raw_left_cat_bitsets", "binned_left_cat_bitsets"):
        sets = stored_array(state[name], archive)
        if sets.ndim != 2 or sets.shape[1] != 8 or sets.dtype != np.uint32:
            raise UnsupportedModel("its sets of categories are no sets")
        _check_range(nodes["bitset_idx"][chosen], len(sets), "set of categories")


def _check_fields(nodes: NDArray[Any], expected: np.dtype[Any]) -> None:
    """In their order: scikit-learn converts what has another type by place, not by name."""
    if nodes.ndim != 1 or nodes.dtype.names != expected.names:
        raise UnsupportedModel("its nodes are not written as scikit-learn writes them")


def _check_children(left: NDArray[Any], right: NDArray[Any], *, leaf: NDArray[np.bool_]) -> int:
    """Children come after their parents, and each has one, so that every way down ends; how deep the deepest
    is."""
    if not len(leaf):
        raise UnsupportedModel("it has no nodes")
    parents = np.flatnonzero(~leaf)
    children = np.concatenate([left[parents], right[parents]])
    if (children <= np.tile(parents, 2)).any() or (children >= len(leaf)).any():
        raise UnsupportedModel("a node's child is not among the nodes that follow it")
    if len(np.unique(children)) != len(leaf) - 1 or len(children) != len(leaf) - 1:
        raise UnsupportedModel("a node has no parent, or two")
    depth, level = 0, np.zeros(1, dtype=np.intp)
    while len(level := level[~leaf[level]]):
        level, depth = np.concatenate([left[level], right[level]]), depth + 1
    return depth


def _check_range(numbers: NDArray[Any], count: int, what: str) -> None:
    if ((numbers < 0) | (numbers >= count)).any():
        raise UnsupportedModel(f"a node asks for a {what} that does not exist")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _check_xgboost(node: Mapping[str, Any], archive: zipfile.ZipFile, written: Written) -> None:
    """The model that the library writes into one value, by the reader of XGBoost's own files."""
    from likewise.importers.boosters import pickled_xgboost

    handle = stored_state(node)["handle"]
    if handle["__loader__"] != "BytearrayNode":
        raise UnsupportedModel("its model is not written as bytes")
    content = pickled_xgboost(archive.read(handle["file"]))
    _write_anew(node, handle, content, written)


def _check_lightgbm(node: Mapping[str, Any], _archive: zipfile.ZipFile, _written: Written) -> None:
    """The model that the library writes as text, by the reader of LightGBM's own files."""
    from likewise.importers.lightgbm.model_file import read_lightgbm, write_lightgbm

    state = stored_state(node)
    handle = state["_handle" if "_handle" in state else "handle"]
    handle["content"] = json.dumps(write_lightgbm(read_lightgbm(stored_value(handle).encode())))
    _construct_apart(node, handle)


def _check_catboost(node: Mapping[str, Any], archive: zipfile.ZipFile, written: Written) -> None:
    """The model that the library writes into one value, which is what it writes to a ``.cbm`` file, by the
    reader of these; beside it are settings of the fit."""
    from likewise.importers.catboost.reading import rewritten

    model = stored_state(node).get("__model")
    if model is None or model["__loader__"] != "BytesNode":
        raise UnsupportedModel("its model is not written as bytes")
    if importlib.util.find_spec("catboost") is None:
        return  # and nothing is constructed
    try:
        content = rewritten(archive.read(model["file"]))
    except UnsupportedModel:
        raise
    except Exception as error:  # whatever CatBoost has to say about bytes that are no model
        raise UnsupportedModel("CatBoost does not take it for a model") from error
    _write_anew(node, model, content, written)


def _write_anew(node: Mapping[str, Any], part: dict[str, Any], content: bytes, written: Written) -> None:
    """Put other bytes in the place of a part of a node; its file may be that of other parts as well."""
    part["file"] = f"{part['file']}.anew"
    written[part["file"]] = content
    _construct_apart(node, part)


def _construct_apart(node: Mapping[str, Any], part: dict[str, Any]) -> None:
    """skops takes what has a number from where it came first, which would be what was written before."""
    for held in (node["content"], part):
        held.pop("__id__", None)


def _check_partial(node: Mapping[str, Any], _archive: zipfile.ZipFile, _written: Written) -> None:
    """Arguments kept for a function: histogram gradient boosting keeps those of the function that looks at
    its columns."""
    called = node["content"]["func"]
    if node_name(called) != _LOOK_AT_COLUMNS or called["__loader__"] != "FunctionNode":
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
        hint=SAVE_AGAIN,
    )
