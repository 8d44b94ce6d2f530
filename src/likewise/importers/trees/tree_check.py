"""Checking: imported trees must agree with the original, or they are refused.

Compared on data rows, random rows, corners, every level, missing values, and for thresholds on the number itself, one code to either
side, and the float32 numbers next to it:

    leaf by leaf   the values that every tree of the library itself has for the columns that its own preprocessing makes, exactly
    all in all     scores (within what a sum of so many terms can lose), labels wherever no tie is nearer than that, probabilities
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.clock import check_clock
from likewise.errors import MismatchedModel
from likewise.families.combined.body import combine_floats, combined_parts
from likewise.families.program_rounding import ObservedError
from likewise.families.scored_model import Model
from likewise.families.trees.body import LEAF, Tree, TreeSum, ensembles_of
from likewise.families.trees.rounding import TreeRounding, tree_rounding
from likewise.importers.self_check import LINK_TOLERANCE, check_predictions, sample_codes
from likewise.importers.trees.reached_columns import ReachedColumns, missing_code
from likewise.importers.trees.tree_model import LibraryModel, largest_sum
from likewise.model.head import logistic
from likewise.spec.features import Continuous, Integer
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.replay import Replay
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

MOST_THRESHOLDS = 2_000  # of all features together; of more, some of each
FEWEST_THRESHOLDS = 20  # of each feature
MOST_LEVELS = 400
MOST_ANSWERS = 200_000  # rows that a settled estimator asks the one inside about, all settings together
GAP_SHARE = 0.2  # share of missing values in some rows
EXTRA_OPERATIONS = 4  # operations besides one a tree, or a setting


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyRounding:
    """How a program adds up leaves, where no rounding is stated as what comes before the trees is rounded as well: good for comparing."""

    operations: int
    bits: int


def check_trees(
    model: Model, grown: LibraryModel, reaching: ReachedColumns, replay: Replay, rows: Floats
) -> ObservedError:
    """Raise UnsupportedModel where the imported trees and the original disagree; what the original's rounding was seen to do."""
    body = tree_sum_of_model(model)
    codes = probing_codes(body, reaching.inputs.space, rows)
    leaves = [find_leaves(tree, codes, body.missing) for tree in body.trees]
    check_leaves(model, body, leaves, grown, reaching, codes)
    likely = LikelyRounding(operations=len(body.trees) + EXTRA_OPERATIONS, bits=grown.bits)
    allowed = 2 * float(_sum_error(model.rounding, body, likely))
    return _compare(model, scores_of_leaves(body, leaves), allowed, replay, reaching.inputs.space, codes)


def check_settled_trees(
    model: Model,
    inside: TreeSum,
    replay: Replay,
    space: Space,
    rows: Floats,
    settings: int,
    bits: int,
) -> ObservedError:
    """The same all in all for a settled estimator, whose model inside was compared leaf by leaf already: at what that one tests, settled or not."""
    codes = probing_codes(inside, space, rows)
    codes = codes[:: max(1, len(codes) * settings // MOST_ANSWERS)]
    likely = LikelyRounding(operations=len(inside.trees) + settings + EXTRA_OPERATIONS, bits=bits)
    ours, allowed = _settled_scores(model, codes, likely)
    return _compare(model, ours, allowed, replay, space, codes)


def _settled_scores(model: Model, codes: Floats, likely: LikelyRounding) -> tuple[Floats, float]:
    """Scores in float64, and how far another program's may be off."""
    found, errors = [], []
    parts = combined_parts(model) or (model,)
    for part in parts:
        body = tree_sum_of_model(part)
        leaves = [find_leaves(tree, codes, body.missing) for tree in body.trees]
        found.append(scores_of_leaves(body, leaves))
        errors.append(2 * float(_sum_error(part.rounding, body, likely)))
    return combine_floats(model.bodies[0], found), max(errors)


def _compare(
    model: Model, ours: Floats, allowed: float, replay: Replay, space: Space, codes: Floats
) -> ObservedError:
    """Scores, labels and probabilities with the original's own."""
    check_clock()
    theirs = replay.scores(codes)
    off = ~(np.abs(ours - theirs) <= allowed)
    _refuse_first(
        np.any(off, axis=1),
        model,
        space,
        codes,
        lambda i: f"its score is {theirs[i].tolist()}, the imported one {ours[i].tolist()}",
    )
    if model.n_scores > 1:
        _check_classes(model, ours, allowed, replay, space, codes)
    elif model.head.labels is not None:
        _check_two_classes(model, ours[:, 0], allowed, replay, space, codes)
    elif model.head.link == "exponential":
        check_predictions(model, ours[:, 0], np.full(len(ours), allowed), replay, space, codes)
    return ObservedError(
        error=float(np.abs(ours - theirs).max(initial=0.0)), size=float(np.abs(theirs).max(initial=0.0))
    )


def tree_sum_of_model(model: Model) -> TreeSum:
    """The ensemble of a model of trees, all of whose scores are those of the model."""
    found = ensembles_of(model.bodies[0])
    if len(found) != 1 or model.n_scores != found[0].n_scores:
        raise TypeError(f"{model.family} has no trees, or scores that are sums of those of its trees")
    return found[0]


# -- rows ------------------------------------------------------------------------------------------------


def probing_codes(body: TreeSum, space: Space, rows: Floats) -> Floats:
    """Individuals on both sides of what trees test, and others. Deterministic."""
    random = np.random.default_rng(0)
    some = sample_codes(space, rows)
    parts = [some]
    for k in range(len(space)):
        values = _probe_values(body, space, k)
        part = some[random.integers(len(some), size=len(values))]
        part[:, k] = values
        parts.append(part)
    codes = np.concatenate(parts)
    return np.concatenate([codes, _add_gaps(codes[:: max(1, len(codes) // 200)], space, random)])


def _probe_values(body: TreeSum, space: Space, k: int) -> Floats:
    feature = space[space.names[k]]
    if not isinstance(feature, (Continuous, Integer)):
        return np.arange(min(feature.size, MOST_LEVELS), dtype=np.float64)
    tests = np.unique(np.concatenate([tree.threshold[tree.feature == k] for tree in body.trees]))
    tests = tests[:: max(1, len(tests) // max(FEWEST_THRESHOLDS, MOST_THRESHOLDS // len(space)))]
    lo, hi, missing = float(feature.lo), float(feature.hi), missing_code(space, k)
    gap = [] if missing is None else [missing]
    if isinstance(feature, Integer):
        near = np.concatenate([[lo, hi], tests, tests - 1, tests + 1])
    else:
        singles = tests.astype(np.float32)
        around = [np.nextafter(singles, np.float32(to)).astype(np.float64) for to in (-np.inf, np.inf)]
        beside = [np.nextafter(tests, to) for to in (-np.inf, np.inf)]
        near = np.concatenate([[lo, hi], tests, *beside, singles.astype(np.float64), *around])
    return np.concatenate([near[(near >= lo) & (near <= hi)], gap])


def _add_gaps(codes: Floats, space: Space, random: np.random.Generator) -> Floats:
    codes = codes.copy()
    for k in range(len(space)):
        missing = missing_code(space, k)
        if missing is not None:
            codes[random.uniform(size=len(codes)) < GAP_SHARE, k] = missing
    return codes


# -- trees in float64 ------------------------------------------------------------------------------------


def find_leaves(tree: Tree, codes: Floats, missing: Mapping[int, Fraction]) -> NDArray[np.intp]:
    """The leaf that each row comes to: all rows go down one node at a time."""
    check_clock()
    gaps = np.full(codes.shape[1], np.nan)
    for feature, code_of_gap in missing.items():
        gaps[feature] = float(code_of_gap)
    starts, sizes, members = _level_tables(tree)
    node = np.zeros(len(codes), dtype=np.intp)
    going = np.flatnonzero(tree.feature[node] != LEAF)
    while len(going):
        at = node[going]
        k = tree.feature[at]
        code = codes[going, k]
        left = code <= tree.threshold[at]
        of_levels = np.flatnonzero(sizes[at] >= 0)
        place, size = code[of_levels].astype(np.intp), sizes[at[of_levels]]
        left[of_levels] = members[starts[at[of_levels]] + np.minimum(place, size)]
        left = np.where(code == gaps[k], tree.missing_left[at], left)
        node[going] = np.where(left, at + 1, tree.right[at])
        going = going[tree.feature[node[going]] != LEAF]
    return node


def _level_tables(tree: Tree) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """Of nodes that test levels: where in the last array it says for each position up to `sizes` whether it goes left, no from there on."""
    starts, sizes = np.zeros(len(tree.feature), dtype=np.intp), np.full(len(tree.feature), -1, dtype=np.intp)
    parts, length = [np.zeros(0, dtype=bool)], 0
    known: dict[frozenset[int], tuple[int, int]] = {}
    for node, levels in tree.levels.items():
        if levels not in known:
            part = np.zeros(max(levels, default=-1) + 2, dtype=bool)
            part[list(levels)] = True
            known[levels] = length, len(part) - 1
            parts.append(part)
            length += len(part)
        starts[node], sizes[node] = known[levels]
    return starts, sizes, np.concatenate(parts)


def scores_of_leaves(body: TreeSum, leaves: list[NDArray[np.intp]]) -> Floats:
    """bias + the values of these leaves, in float64."""
    total = np.tile([nearest_double(value) for value in body.bias], (len(leaves[0]), 1))
    for tree, leaf in zip(body.trees, leaves, strict=True):
        total += nearest_double(tree.factor) * tree.values[leaf]
    return total


def _sum_error(stated: object, body: TreeSum, likely: LikelyRounding) -> Fraction:
    """How far a program's sum may be off, and how far ours, which multiplies by rounded factors."""
    known = tree_rounding(stated) or TreeRounding(
        constant=largest_sum(body), operations=likely.operations, bits=likely.bits
    )
    return replace(known, operations=known.operations + 4).error()


# -- comparing -------------------------------------------------------------------------------------------


def check_leaves(
    model: Model,
    body: TreeSum,
    leaves: list[NDArray[np.intp]],
    grown: LibraryModel,
    reaching: ReachedColumns,
    codes: Floats,
) -> None:
    """Refuse trees that send rows elsewhere than the library's own."""
    if grown.leaves is None:
        return
    matrix = reaching.matrix(codes)
    for t, (tree, leaf, theirs) in enumerate(zip(body.trees, leaves, grown.leaves(matrix), strict=True)):
        check_clock()
        ours = tree.values[leaf]
        _refuse_first(
            (ours != theirs).any(axis=1),
            model,
            reaching.inputs.space,
            codes,
            lambda i, t=t, ours=ours, theirs=theirs: (
                f"its tree {t} says {theirs[i].tolist()}, the imported one {ours[i].tolist()}"
            ),
        )


def _check_classes(
    model: Model, ours: Floats, allowed: float, replay: Replay, space: Space, codes: Floats
) -> None:
    ordered = np.sort(ours, axis=1)
    certain = ordered[:, -1] - ordered[:, -2] > 2 * allowed
    _check_labels(model, np.argmax(ours, axis=1), certain, replay, space, codes)
    if model.head.link is None:
        return
    expected = ours
    if model.head.link == "softmax":
        powers = np.exp(ours - ours.max(axis=1, keepdims=True))
        expected = powers / powers.sum(axis=1, keepdims=True)
    off = np.abs(replay.probabilities(codes) - expected).max(axis=1)
    _refuse_first(
        off > LINK_TOLERANCE + allowed,
        model,
        space,
        codes,
        lambda _: f"its probabilities are not the {model.head.link} of its scores",
    )


def _check_two_classes(
    model: Model, ours: Floats, allowed: float, replay: Replay, space: Space, codes: Floats
) -> None:
    head = model.head
    room = max(1.0, abs(float(head.slope)))
    upper = (ours > 0) | ((ours == 0) & head.zero_is_upper)
    _check_labels(model, upper.astype(int), np.abs(ours) > allowed, replay, space, codes)
    if head.link != "logistic":
        return
    expected = logistic(nearest_double(head.slope) * ours + nearest_double(head.offset))
    off = np.abs(replay.probabilities(codes)[:, 1] - expected)
    _refuse_first(
        off > LINK_TOLERANCE + room * allowed,
        model,
        space,
        codes,
        lambda _: "its probability is not the logistic function of its score",
    )


def _check_labels(
    model: Model,
    decided: NDArray[Any],
    certain: NDArray[np.bool_],
    replay: Replay,
    space: Space,
    codes: Floats,
) -> None:
    check_clock()
    known = list(model.head.labels or ())
    theirs = replay.decisions(codes).tolist()
    ours = [known[place] for place in decided.tolist()]
    differs = np.array([mine != given for mine, given in zip(ours, theirs, strict=True)]) & certain
    _refuse_first(
        differs, model, space, codes, lambda i: f"it says {theirs[i]!r}, the imported one {ours[i]!r}"
    )


def _refuse_first(wrong: NDArray[np.bool_], model: Model, space: Space, codes: Floats, what: Any) -> None:
    if wrong.any():
        _refuse(model, space, codes[int(np.argmax(wrong))], what(int(np.argmax(wrong))))


def _refuse(model: Model, space: Space, row: Floats, what: str) -> NoReturn:
    values = ", ".join(f"{name}={space.value(k, row[k])}" for k, name in enumerate(space.names))
    raise MismatchedModel(
        f"the imported {model.family} disagrees with the original at {values}: {what}",
        hint="the estimator was changed after fitting, or behaves differently from its library's own",
    )
