"""What an estimator from a file holds, looked at before it is asked anything.

Much of what predicts is compiled, and follows the counts and places that an estimator holds through memory
without a look. `settle_model` compares those with
each other, part by part, and has everything run in one thread. A part that would not answer as its class
does is refused as well.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.skops_schema import SAVE_AGAIN
from likewise.importers.transformers.casts import HARMLESS_ARGUMENTS

Check = Callable[[Any], bool]
SETTLED: Mapping[str, Any] = {"n_jobs": 1, "_n_threads": 1, "memory": None}
KERNELS = ("linear", "poly", "rbf", "sigmoid")
# Attributes that say by which methods the parts inside are asked.
_ASKED_BY = ("stack_method_", "chain_method_", "response_method")
_ANSWERS = frozenset(("predict", "predict_proba", "decision_function", "auto"))
MOST_DEGREES = 100  # of a spline: beyond any that is of use
_TREE = "sklearn.tree._tree.Tree"
_PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"


def settle_model(model: Any) -> None:
    """Refuse a model with a part whose state does not fit together; let no part start other threads or
    processes."""
    parts = list(_walk_parts(model))
    for part in parts:
        _check_held(part)
        held = part if isinstance(part, dict) else getattr(part, "__dict__", {})
        held.update({name: value for name, value in SETTLED.items() if name in held})
    for checks in (_CHECKS, _LAST_CHECKS):
        for part in parts:
            for base in inspect.getmro(type(part)):
                _check_part(part, checks.get(base.__name__))


def _check_part(part: Any, check: Check | None) -> None:
    if check is None or (check not in _ALWAYS and not _is_fitted(part)):
        return
    try:
        holds = check(part)
    except Exception as error:  # whatever something else than is expected makes of it
        raise unsound_part(part, "it does not hold what its library puts there") from error
    if not holds:
        raise unsound_part(part, "its counts, shapes and places do not fit together")


def _is_fitted(part: Any) -> bool:
    """As scikit-learn tells it: what is not fitted answers nothing."""
    return any(name.endswith("_") or name == "_fit_method" for name in vars(part))


def unsound_part(part: Any, why: str) -> UnsupportedModel:
    """A part cannot be asked, as what it holds does not fit."""
    name = f"{type(part).__module__}.{type(part).__qualname__}"
    return UnsupportedModel(f"holds a {name} that is not sound: {why}", hint=SAVE_AGAIN)


def _walk_parts(model: Any) -> Iterator[Any]:
    """The model and everything that it is made of, but for the records of a search."""
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
            waiting.extend(np.asarray(part).ravel().tolist() if part.dtype == object else ())
        else:
            held = getattr(part, "__dict__", {})
            waiting.extend(value for name, value in held.items() if name != "cv_results_")


def _check_held(part: Any) -> None:
    """Refuse attributes in the way of methods, and numbers, columns and classes that are none."""
    dtype = getattr(part, "dtype", None)
    if isinstance(part, np.ma.MaskedArray) or (isinstance(dtype, np.dtype) and dtype.char in "FDGg"):
        raise unsound_part(part, "it has masked, complex or longer numbers, which are read in two ways")
    if inspect.isroutine(part) or isinstance(part, np.ndarray | np.ufunc | functools.partial):
        return
    held = getattr(part, "__dict__", {})
    for name in held.keys() & set(_ASKED_BY):
        if not _ANSWERS.issuperset([held[name]] if isinstance(held[name], str) else held[name]):
            raise unsound_part(part, f"its {name} asks for something else than answers")
    for name in held:
        own = inspect.getattr_static(type(part), name, None)
        if own is not None and not isinstance(own, bool):
            raise unsound_part(part, f"it has a {name!r} in the way of its class's own")
    count, names = held.get("n_features_in_", 1), held.get("feature_names_in_")
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise unsound_part(part, "it has no number of columns")
    if names is not None and not (np.ndim(names) == 1 and all(isinstance(name, str) for name in names)):
        raise unsound_part(part, "the names of its columns are none")
    classes = held.get("classes_")
    if np.ndim(held.get("classes_", ())) == 0 and not isinstance(classes, str | None):
        raise unsound_part(part, "its classes are none")
    if isinstance(classes, np.ndarray) and classes.ndim == 1 and len(set(classes.tolist())) < len(classes):
        raise unsound_part(part, "two of its classes are the same")


# -- parts whose programs are compiled ------------------------------------------------------------------------


def _fits_machine(part: Any) -> bool:
    """libsvm: vectors of a class after those of another, and a coefficient a vector for each of the
    others."""
    classes = len(part.classes_) if hasattr(part, "classes_") else 2
    several = type(part)._impl in ("c_svc", "nu_svc")
    pairs, rows = (classes * (classes - 1) // 2, classes - 1) if several else (1, 1)
    vectors, support = part.support_vectors_, part._n_support
    count = len(part.support_)
    arrays = [part.support_vectors_, part._dual_coef_, part.dual_coef_]
    if part._sparse:
        canonical = all(array.format == "csr" and array.has_canonical_format for array in arrays)
        if not (canonical and part._dual_coef_.nnz == rows * count):
            return False
    elif not all(isinstance(array, np.ndarray) for array in arrays):
        return False
    sign = (
        -1 if several and classes == 2 else 1
    )  # of what is kept twice: some methods ask the one, some the other
    if np.abs(part.dual_coef_ - sign * part._dual_coef_).max() != 0:
        return False
    return (
        classes >= 2
        and "_impl" not in vars(part)
        and part.kernel in KERNELS
        and vectors.shape == (count, part.n_features_in_)
        and (part.support_ >= 0).all()
        and support.shape == ((classes,) if several else (2,))
        and (support >= 0).all()
        and (support.sum() if several else support[0]) == count
        and all(array.shape == (rows, count) for array in arrays[1:])
        and all(array.shape == (pairs,) for array in (part._intercept_, part.intercept_))
        and (part.intercept_ == sign * part._intercept_).all()
        and all(array.shape in ((0,), (pairs,)) for array in (part._probA, part._probB))
    )


def _fits_spline(part: Any) -> bool:
    """A number of knots for its degree, in order, and a coefficient for each."""
    knots, coefficients = part.t, part.c
    count = len(knots) - part.k - 1
    return (
        isinstance(part.k, int)
        and 0 <= part.k <= MOST_DEGREES
        and isinstance(knots, np.ndarray)
        and knots.dtype == coefficients.dtype == np.float64
        and knots.ndim == 1
        and count >= part.k + 1
        and bool(np.isfinite(knots).all())
        and bool((knots[1:] >= knots[:-1]).all())
        and knots[part.k] < knots[count]
        and coefficients.ndim >= 1
        and len(coefficients) >= count
        and part.axis == 0
    )


def _fits_curves(part: Any) -> bool:
    """As many columns as it has splines, or one less of each feature."""
    splines = part.bsplines_[0].c.shape[1] - (not part.include_bias)
    return bool(part.n_features_out_ == part.n_features_in_ * splines)


def _fits_codes(part: Any) -> bool:
    """Every level gets a column of its own, or that of the rare ones; none is beyond the last."""
    categories, drops = part.categories_, part._drop_idx_after_grouping
    rare = part._infrequent_indices if part._infrequent_enabled else [None] * len(categories)
    mappings = part._default_to_infrequent_mappings if part._infrequent_enabled else rare
    drops = [None] * len(categories) if drops is None else drops.tolist()
    together = (categories, rare, mappings, drops, part._n_features_outs)
    if any(len(one) != part.n_features_in_ for one in together):
        return False
    return all(_fits_column(*one) for one in zip(*together, strict=True))


def _fits_column(levels: Any, rare: Any, mapping: Any, drop: Any, columns: int) -> bool:
    count = len(levels)
    if levels.dtype.kind not in "OUS":
        numbers = levels[:-1] if np.isnan(levels[-1]) else levels
        if np.isnan(numbers).any() or (numbers[1:] <= numbers[:-1]).any():
            return False
    if (rare is None) != (mapping is None):
        return False
    if mapping is not None:
        kept = count - len(rare) + 1
        if len(mapping) != count or mapping.min() < 0 or mapping.max() >= kept or rare[0] not in range(count):
            return False
        count = kept
    return (drop is None or drop in range(count)) and columns == count - (drop is not None)


def _fits_neighbours(part: Any) -> bool:
    """As many labels as rows, each of a class that exists; distances without weights of their own."""
    rows, columns = part._fit_X.shape
    labels, classes = getattr(part, "_y", None), getattr(part, "classes_", None)
    return (
        rows == part.n_samples_fit_
        and columns == part.n_features_in_
        and (getattr(part, "n_neighbors", None) or 1) in range(1, rows + 1)
        and isinstance(part.effective_metric_, str)
        and set(part.effective_metric_params_ or ()) | set(part.metric_params or ()) <= {"p"}
        and (labels is None or len(labels) == rows)
        and (
            classes is None
            or labels is None
            or (
                not part.outputs_2d_
                and labels.ndim == 1
                and bool(((labels >= 0) & (labels < len(classes))).all())
            )
        )
    )


def _fits_centres(part: Any) -> bool:
    return bool(part.cluster_centers_.shape[1:] == (part.n_features_in_,))


def _fits_bisections(part: Any) -> bool:
    """Every cluster is split once or not at all, and has a centre over all columns."""
    waiting, leaves = [(part._bisecting_tree, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        split = one.left is not None and one.right is not None
        leaves += not split
        if depth >= part.n_clusters or leaves > part.n_clusters or one.center.shape != (part.n_features_in_,):
            return False
        if split:
            waiting += [(one.left, depth + 1), (one.right, depth + 1)]
        elif one.left is not one.right or one.label not in range(part.n_clusters):
            return False
    return leaves == part.n_clusters and _fits_centres(part)


def _fits_rows(part: Any) -> bool:
    """A row a class: of centroids, or of what is likely of each."""
    rows = part.centroids_ if hasattr(part, "centroids_") else part.feature_log_prob_
    return isinstance(rows, list) or len(rows) == len(part.classes_)


def _fits_factors(part: Any) -> bool:
    """Non-negative factors, whose number is kept twice."""
    return bool(part.components_.shape == (part._n_components, part.n_features_in_))


def _fits_binarizer(labels: Any, classes: Any) -> bool:
    """Classes are shown as 0 and 1, and told by the half."""
    if (labels.neg_label, labels.pos_label, labels.sparse_input_) != (0, 1, False):
        return False
    if labels.y_type_.startswith("multilabel"):
        return True
    several = labels.y_type_ == "multiclass"
    return np.array_equal(labels.classes_, classes) and several == (len(classes) > 2)


def _fits_numbered(part: Any) -> bool:
    """Members, or the last one of a stack, say the number of a class, by which an encoder knows its label."""
    encoder = getattr(part, "_label_encoder", getattr(part, "le_", None))
    if isinstance(encoder, list):
        return True  # several labels at once, which are not asked about
    if encoder is not None and not np.array_equal(encoder.classes_, part.classes_):
        return False
    if getattr(part, "voting", "hard") == "soft":
        return True  # columns of probabilities are added by their place
    members = [part.final_estimator_] if hasattr(part, "final_estimator_") else part.estimators_
    count = 2 if encoder is None else len(part.classes_)
    return all(np.array_equal(getattr(one, "classes_", range(count)), range(count)) for one in members)


def _fits_rest(part: Any) -> bool:
    return _fits_binarizer(part.label_binarizer_, part.classes_)


def _fits_process(part: Any) -> bool:
    """The labels of two classes are kept twice."""
    return len(part.classes_) > 2 or np.array_equal(part.base_estimator_.classes_, part.classes_)


def _fits_boosted_labels(part: Any) -> bool:
    """LightGBM keeps labels twice, and their count."""
    return np.array_equal(part._le.classes_, part._classes) and part._n_classes == len(part._classes)


def _fits_network(part: Any) -> bool:
    """As many layers as there are weights, and the labels by the half of what a class is shown as."""
    last, labels = "identity", getattr(part, "_label_binarizer", None)
    if labels is not None:
        last = "softmax" if labels.y_type_ == "multiclass" else "logistic"
        if not _fits_binarizer(labels, part.classes_):
            return False
    elif part.loss == "poisson":
        last = "exp"
    return bool(part.n_layers_ == len(part.coefs_) + 1 and part.out_activation_ == last)


def _fits_steps(part: Any) -> bool:
    """Isotonic steps, in order, that end where rows are moved to."""
    places, values = part.X_thresholds_, part.y_thresholds_
    return bool(
        places.shape == values.shape
        and places.ndim == 1
        and (places[1:] > places[:-1]).all()
        and (part.X_min_, part.X_max_) == (places[0], places[-1])
    )


def _fits_bins(part: Any) -> bool:
    """Bins as many as their edges say, in order, and each with a code of its own."""
    counts = [len(edges) - 1 for edges in part.bin_edges_]
    codes = [np.arange(count) for count in counts]
    coded = codes if part.encode == "ordinal" else part._encoder.categories_
    return (
        part.n_bins_.tolist() == counts
        and all((edges[1:] >= edges[:-1]).all() for edges in part.bin_edges_)
        and all(np.array_equal(one, other) for one, other in zip(coded, codes, strict=True))
    )


def _moves_rows_inside(part: Any) -> bool:
    """scikit-learn makes no calibration that has nothing to say beyond the scores that it has seen."""
    return all(getattr(one, "out_of_bounds", "clip") == "clip" for one in part.calibrators)


def _fits_columns(part: Any) -> bool:
    """Every step takes, from a frame, the columns by number that it was given by name or number."""
    numbers = part._transformer_to_input_indices
    names = list(getattr(part, "feature_names_in_", ()))
    places = np.arange(part.n_features_in_)

    def place(key: Any) -> Any:
        return names.index(key) if isinstance(key, str) else key

    for name, _, given in part.transformers_:
        if isinstance(given, slice):
            ends = [place(given.start), place(given.stop), given.step]
            ends[1] += isinstance(given.stop, str)  # which is one of the columns
            found = places[slice(*ends)]
        else:
            listed = [given] if isinstance(given, str | int) else list(given)
            chosen = np.array([place(key) for key in listed], dtype=None if listed else int)
            found = places[chosen]
        if not np.array_equal(found, numbers[name]):
            return False
    return True


def _fits_members(part: Any) -> bool:
    """Bagging asks as many of its members as it was told to make, and adds up a column a class."""
    count = len(getattr(part, "classes_", ()))
    return bool(
        part.n_estimators == len(part.estimators_) == len(part.estimators_features_)
        and getattr(part, "n_classes_", count) == count
    )


def _fits_tree(part: Any) -> bool:
    """As many columns as it says, and as many classes of each output."""
    if _name(part.tree_) != _TREE or part.tree_.n_features != part.n_features_in_:
        return False
    classes = getattr(part, "classes_", None)
    counts = [len(each) for each in (classes if isinstance(classes, list) else [classes]) if each is not None]
    told = (part.n_classes_, part.tree_.n_classes) if counts else ()
    return all(np.array_equal(np.ravel(each), counts) for each in told)


def _fits_stages(part: Any) -> bool:
    """Gradient boosting asks past its trees' estimators, and adds what they say to columns that another part
    makes."""
    trees = part.estimators_
    if trees.ndim != 2 or not all(map(_fits_tree, trees.ravel())) or trees.shape[1] != _scores_of(part):
        return False
    if {tree.n_features_in_ for tree in trees.ravel()} != {part.n_features_in_}:
        return False
    first = part._raw_predict_init(np.zeros((1, part.n_features_in_), dtype=np.float32))
    return bool(trees.shape[1] == part.n_trees_per_iteration_ and first.shape == (1, trees.shape[1]))


def _scores_of(part: Any) -> int:
    """How many scores boosting has: one for two classes."""
    count = len(getattr(part, "classes_", ()))
    return count if count > 2 else 1


def _fits_histograms(part: Any) -> bool:
    """Categories are looked up by column in sets that the bins make, and the columns are those that a
    preprocessor makes. In a fit rows would be taken for bins, as they come."""
    each = {part.n_trees_per_iteration_, *map(len, part._predictors)}
    if "_in_fit" in vars(part) or each != {_scores_of(part)}:
        return False
    columns, categorical = part.n_features_in_, np.asarray(part._bin_mapper.is_categorical_) != 0
    if categorical.shape != (columns,):
        return False
    for tree in (tree for trees in part._predictors for tree in trees):
        inner = tree.nodes[tree.nodes["is_leaf"] == 0]
        asked = inner["feature_idx"]
        if _name(tree) != _PREDICTOR or (asked < 0).any() or (asked >= columns).any():
            return False
        if not categorical[asked[inner["is_categorical"] != 0]].all():
            return False
    return part._preprocessor is None or _codes_first(part._preprocessor, part.is_categorical_)


def _codes_first(preprocessor: Any, coded: Any) -> bool:
    """Whether it codes these columns, and then lets the other ones stay what they are."""
    (_, encoder, first), (_, looked_at, then), *others = preprocessor.transformers_
    called = looked_at.func
    told = {**called.keywords, "dtype": called.keywords["dtype"] == [np.float64]}
    return (
        _name(preprocessor).endswith(".ColumnTransformer")
        and _name(encoder) == "sklearn.preprocessing._encoders.OrdinalEncoder"
        and _name(looked_at) == "sklearn.preprocessing._function_transformer.FunctionTransformer"
        and coded.dtype == np.bool_
        and all(isinstance(step, str) and step == "drop" for _, step, _ in others)
        and np.array_equal(first, coded)
        and np.array_equal(then, ~coded)
        and told in ({"dtype": True, "ensure_all_finite": False}, {"dtype": True, "force_all_finite": False})
        and not called.args
    )


def _calls_nothing_else(part: Any) -> bool:
    """Functions of columns: NumPy's, which compute and do nothing else, a cast, or scikit-learn's look at
    columns."""
    arguments = {*(getattr(part, "kw_args", None) or ()), *(getattr(part, "inv_kw_args", None) or ())}
    if not arguments <= HARMLESS_ARGUMENTS:
        return False
    called = (part.func, part.inverse_func)
    return all(one is None or isinstance(one, np.ufunc | functools.partial) or _casts(one) for one in called)


def _casts(function: Any) -> bool:
    if isinstance(function, type):
        return issubclass(function, np.number | np.bool_)
    return getattr(function, "__name__", "") == "asarray"


def _name(part: Any) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"


_CHECKS: Mapping[str, Check] = {
    **dict.fromkeys(("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"), _fits_machine),
    "BSpline": _fits_spline,
    "SplineTransformer": _fits_curves,
    "OneHotEncoder": _fits_codes,
    "NeighborsBase": _fits_neighbours,
    **dict.fromkeys(("KMeans", "MiniBatchKMeans"), _fits_centres),
    "BisectingKMeans": _fits_bisections,
    **dict.fromkeys(("NMF", "MiniBatchNMF"), _fits_factors),
    **dict.fromkeys(("NearestCentroid", "_BaseDiscreteNB"), _fits_rows),
    "BaseDecisionTree": _fits_tree,
    "BaseBagging": _fits_members,
    "IsotonicRegression": _fits_steps,
    "KBinsDiscretizer": _fits_bins,
    "_CalibratedClassifier": _moves_rows_inside,
    "ColumnTransformer": _fits_columns,
    "BaseMultilayerPerceptron": _fits_network,
    **dict.fromkeys(("VotingClassifier", "StackingClassifier", "OneVsOneClassifier"), _fits_numbered),
    "OneVsRestClassifier": _fits_rest,
    "GaussianProcessClassifier": _fits_process,
    "LGBMClassifier": _fits_boosted_labels,
    "BaseHistGradientBoosting": _fits_histograms,
    **dict.fromkeys(("FunctionTransformer", "TransformedTargetRegressor"), _calls_nothing_else),
}
# These ask the parts inside, which have been looked at then.
_LAST_CHECKS: Mapping[str, Check] = {"BaseGradientBoosting": _fits_stages}
_ALWAYS = (_fits_spline, _calls_nothing_else, _moves_rows_inside)
