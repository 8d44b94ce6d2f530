"""Explainable boosting machines of interpret: tables over bins of one feature, and over bins of two or more together.

    f(x) = intercept + sum over terms of table[bin of the first feature, bin of the second, ...]

A feature has bins of its own for tables of one dimension, of two, and so on. Bin 0 is that of missing values, the last one that of categories never seen; between them
are those of numbers, the first one up to a cut that belongs to the next, or one a category or group of them. Which bin a value is in is asked of the library itself: a copy of the
machine whose tables hold the numbers of their bins (`BinReader`). So the columns are bins, and a table is a tree over them that is cut in the middle again and again; parts that are the same all over are leaves.

Of two labels the upper one wins where f > 0; of objectives with a logarithm for a link the prediction is exp of f (`exponents`). Rounding: one addition in float64 a term.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.trees.body import LEAF
from likewise.importers.exponents import EXPONENTIAL_HEAD
from likewise.importers.transformers.breaks import raw_starts
from likewise.importers.transformers.encoders import check_missing_text
from likewise.importers.transformers.traced_columns import (
    Line,
    Step,
    TableFunction,
    TracedColumn,
    derive_column,
)
from likewise.importers.trees.library_forest import Forest, LibraryTree
from likewise.importers.trees.reached_columns import OwnPreprocessing
from likewise.importers.trees.sklearn_trees import check_fitted, classifier_labels, require_finite
from likewise.importers.trees.tree_model import LibraryModel
from likewise.model.head import NUMBER_HEAD, Head
from likewise.spec.features import Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_ENTRIES = 5_000_000  # of all tables together
GROUPS = TableFunction(does="puts values into groups")
OF_LABELS, OF_NUMBERS = ("logit", "mlogit", "vlogit"), ("identity", "log")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """The bins of a feature in tables of some dimension: `cuts` between numbers, or numbers of `categories`."""

    feature: int
    cuts: Floats | None
    categories: dict[str, int]

    @property
    def count(self) -> int:
        """With that of missing values and that of unknown ones."""
        if self.cuts is not None:
            return len(self.cuts) + 3
        return max(self.categories.values(), default=0) + 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Term:
    """A table (bins of each of these columns, scores)."""

    columns: tuple[int, ...]
    table: Floats


def read_explainable_boosting(estimator: Any) -> LibraryModel:
    """All terms, a tree each."""
    family = check_fitted(estimator, "term_scores_")
    labels = classifier_labels(estimator, family)
    head = _make_head(estimator, family, labels)
    start = require_finite(np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64)))
    if len(start) != head.n_scores:
        raise UnsupportedModel(
            f"{family} has {len(start)} intercepts for {head.n_scores} scores", hint="fit it again"
        )
    bins, terms = _read_terms(estimator, family, len(start))
    if not terms:
        raise UnsupportedModel(
            f"{family} has no terms: it says the same of everybody", hint="fit it on more rows or features"
        )
    return LibraryModel(
        family=family,
        forest=Forest(
            trees=tuple(tree_of_table(term.table, term.columns) for term in terms),
            bias=tuple(Fraction(value) for value in start.tolist()),
            single=False,
            strict=False,
        ),
        head=head,
        operations=len(terms) + 1,
        own=OwnPreprocessing(
            name=family,
            transformer=BinReader(estimator, bins),
            trace=lambda columns, step: _trace(bins, columns, step),
        ),
        leaves=_entry_reader(terms),
    )


READERS: dict[str, Callable[[Any], LibraryModel]] = dict.fromkeys(
    (
        "ExplainableBoostingClassifier",
        "ExplainableBoostingRegressor",
        "DPExplainableBoostingClassifier",
        "DPExplainableBoostingRegressor",
    ),
    read_explainable_boosting,
)


def _make_head(estimator: Any, family: str, labels: tuple[object, ...] | None) -> Head:
    link = estimator.link_
    if link not in (OF_NUMBERS if labels is None else OF_LABELS):
        raise UnsupportedModel(
            f"{family}(objective={estimator.objective!r}) predicts through the link {link!r}, which is no supported function of the score",
            hint="fit it with objective='log_loss', or for numbers with 'rmse', 'rmse_log', 'poisson_deviance', 'gamma_deviance' or 'tweedie_deviance'",
        )
    if labels is None:
        return NUMBER_HEAD if link == "identity" else EXPONENTIAL_HEAD
    if link == "logit":
        return Head(labels=labels, link="logistic")
    own = link == "vlogit"
    return Head(
        labels=labels,
        rule="argmax",
        link=None if own else "softmax",
        unlinked="its probabilities are those of each class against the rest and do not add up to one"
        if own
        else None,
    )


# -- terms -------------------------------------------------------------------------------------------------


def _read_terms(estimator: Any, family: str, scores: int) -> tuple[tuple[Bins, ...], tuple[Term, ...]]:
    """The tables, over columns of bins of their own: one a feature and sort of bins."""
    bins: list[Bins] = []
    places: dict[tuple[int, int], int] = {}
    terms = []
    for features, given in zip(estimator.term_features_, estimator.term_scores_, strict=True):
        columns = []
        for feature in features:
            levels = estimator.bins_[feature]
            key = int(feature), min(len(levels), len(features)) - 1
            if key not in places:
                places[key] = len(bins)
                bins.append(_read_bins(int(feature), levels[key[1]]))
            columns.append(places[key])
        shape = tuple(bins[c].count for c in columns)
        table = require_finite(np.asarray(given, dtype=np.float64))
        if table.shape != (shape if scores == 1 else (*shape, scores)) or len(set(features)) < len(features):
            raise UnsupportedModel(
                f"{family} has a table of {table.shape} numbers for bins of {shape}",
                hint="it was changed after fitting: fit it again",
            )
        terms.append(Term(columns=tuple(columns), table=table.reshape(*shape, scores)))
    entries = sum(term.table.size for term in terms)
    if entries > MOST_ENTRIES:
        raise UnsupportedModel(
            f"{family} has tables of {entries:,} numbers; at most {MOST_ENTRIES:,} are supported",
            hint="fit it with fewer max_interaction_bins, or without interactions of three features",
        )
    return tuple(bins), tuple(terms)


def _read_bins(feature: int, level: Any) -> Bins:
    if isinstance(level, dict):
        return Bins(
            feature=feature, cuts=None, categories={str(key): int(number) for key, number in level.items()}
        )
    return Bins(feature=feature, cuts=np.asarray(level, dtype=np.float64), categories={})


def tree_of_table(table: Floats, columns: Sequence[int]) -> LibraryTree:
    """The tree of a table (bins, ..., scores) over columns of bins: the longest side is cut in the middle."""
    column: list[int] = []
    threshold: list[float] = []
    right: list[int] = []
    values: list[Floats] = []
    blank, corner = np.zeros(table.shape[-1]), (0,) * len(columns)
    stack = [(table, corner, LEAF)]
    while stack:
        block, begin, parent = stack.pop()
        if parent != LEAF:
            right[parent] = len(column)
        first = block[corner]
        if block.size == len(first) or (block == first).all():
            column.append(LEAF)
            threshold.append(0.0)
            values.append(first)
        else:
            axis = max(range(len(columns)), key=block.shape.__getitem__)
            half, before = block.shape[axis] // 2, (slice(None),) * axis
            low, high = block[(*before, slice(half))], block[(*before, slice(half, None))]
            beyond = tuple(at + half * (i == axis) for i, at in enumerate(begin))
            stack += ((high, beyond, len(column)), (low, begin, LEAF))
            column.append(columns[axis])
            threshold.append(float(begin[axis] + half - 1))
            values.append(blank)
        right.append(LEAF)
    return LibraryTree(
        column=np.array(column, dtype=np.int32),
        threshold=np.array(threshold),
        missing_left=np.zeros(len(column), dtype=bool),
        right=np.array(right, dtype=np.int32),
        values=np.array(values),
    )


def _entry_reader(terms: Sequence[Term]) -> Callable[[Floats], Iterable[Floats]]:
    """What the tables themselves have at rows of bins."""

    def entries(matrix: Floats) -> Iterable[Floats]:
        for term in terms:
            yield term.table[tuple(matrix[:, c].astype(np.intp) for c in term.columns)]

    return entries


# -- bins --------------------------------------------------------------------------------------------------


class BinReader:
    """Puts rows into bins, by the machine's own program: with tables that hold the numbers of their bins it tells them as what its terms add."""

    def __init__(self, estimator: Any, bins: Sequence[Bins]) -> None:
        self.estimator, self.bins = estimator, tuple(bins)

    def transform(self, X: Any) -> Floats:
        """(rows, columns of bins)."""
        made = np.empty((len(X) if hasattr(X, "__len__") else X.shape[0], len(self.bins)))
        left = list(range(len(self.bins)))
        while left:
            now = {self.bins[c].feature: c for c in reversed(left)}
            made[:, list(now.values())] = self._ask(list(now.values()), X)
            left = [c for c in left if c not in now.values()]
        return made

    def _ask(self, columns: Sequence[int], X: Any) -> Floats:
        """The bins of columns of different features."""
        machine = copy.copy(self.estimator)
        machine.bins_ = list(self.estimator.bins_)
        for c in columns:
            one = self.bins[c]
            machine.bins_[one.feature] = [one.categories if one.cuts is None else one.cuts]
        machine.term_features_ = [(self.bins[c].feature,) for c in columns]
        machine.term_scores_ = [np.arange(float(self.bins[c].count)) for c in columns]
        machine.intercept_ = np.zeros(1)
        return np.asarray(machine.eval_terms(X), dtype=np.float64)


def _trace(bins: Sequence[Bins], columns: tuple[TracedColumn, ...], step: Step) -> tuple[TracedColumn, ...]:
    return tuple(_trace_bins(one, columns[one.feature], step) for one in bins)


def _trace_bins(bins: Bins, column: TracedColumn, step: Step) -> TracedColumn:
    if bins.cuts is not None:
        if column.text is not None:
            step.refuse(
                f"takes {column.name!r} for a number, and the space has the level {column.text!r}",
                hint=f"declare {column.name!r} as the model was fitted",
            )
        if isinstance(column.feature, Integer) and column.line is not None:
            return _whole_steps(column, column.feature, column.line, bins.cuts)
        action = TableFunction(does="cuts numbers into bins", thresholds=tuple(bins.cuts.tolist()))
        return derive_column(column, action, step)
    if column.untouched and column.feature.missing:
        check_missing_text(column.name, column.values or (), bins.categories, step.refuse_space)
    return derive_column(column, GROUPS, step)


def _whole_steps(column: TracedColumn, feature: Integer, line: Line, cuts: Floats) -> TracedColumn:
    """Bins of whole numbers, which begin at the first one that has passed a cut; no table of all values is needed."""
    starts = {
        math.ceil(start) for start in raw_starts(line, cuts.tolist(), float(feature.lo), float(feature.hi))
    }
    return replace(column, untouched=False, line=None, starts=tuple(map(float, sorted(starts))))
