"""Find-Bias-Rbf, as published: pairs of opposite support vectors and a convex quadratic program each.

With w_t = |a_t|, S+ and S- the support vectors of either sign, and for every value pair (v, v'):

    for r in S+, s in S-:   minimise  sum_{S+} w_u |x - x_u|^2 + sum_{S-} w_u |x' - x_u|^2
                            over similar x, x' of the box  |x_k - x_rk|, |x'_k - x_rk| <= D_r,  likewise for s
                            D_t = sqrt(log(M w_t / epsilon) / gamma)

(x and x' exchanged against the paper, so that x has the higher score). The objective is separable: a sum is
W (z - mean)^2 plus a constant, W the sum of the weights, so each feature has a closed form and all pairs (r, s)
are solved at once. Integers are rounded. The minimiser is then tried as a pair.

It may find pairs; it proves nothing. The minimiser of the surrogate is not that of f(x') - f(x), so the smallest
value met is no lower bound, whatever the paper says. Its f has no intercept, either; scikit-learn's has one.
`intercept=False` takes the pseudo-code by its word: then it can never find a pair on a masked model, whose sum
has the same sign whatever the protected value. The paper found some, so its program must have used the
intercept, and that is the default here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.kernel.body import KernelScore
from likewise.paper.answers import Answer, Finding, biased_finding, finding_without_pair
from likewise.paper.cases import Case, Cases, make_cases
from likewise.paper.prepare import allowed_level, asks_for_decision, oriented_score, prepare_problem
from likewise.progress import Listener, Snapshot
from likewise.run import open_listener
from likewise.search.budget import interruptible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.posed_problem import PosedProblem

    Floats = NDArray[np.float64]

ALGORITHM = "Find-Bias-Rbf"
EPSILON = 1e-8  # the paper's choice: scores nearer to zero are left out
BLOCK_SIZE = 2_000_000  # numbers at a time: pairs of support vectors times features
MOST_REFEREED = 8  # deepest candidates of a block that are put to the exact test


def find_bias_rbf(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    fixed: Sequence[str] | None = None,
    X: Any = None,
    budget: float = 60,
    random_state: int | None = 0,
    progress: bool | Listener = False,
    intercept: bool = True,
) -> Finding:
    """Find-Bias-Rbf on an RBF kernel model: BIASED with a replayed pair, or "not found", which proves nothing."""
    with open_listener(progress) as listener:
        prepared = prepare_problem(
            model,
            space,
            similar,
            property,
            X=X,
            budget=budget,
            random_state=random_state,
            listener=listener,
        )
        score = oriented_score(prepared)
        if not isinstance(score, KernelScore):
            raise UnsupportedModel(
                f"Find-Bias-Rbf is about RBF kernels, not {prepared.imported.model.family}",
                hint="verify_individual_bias takes linear and polynomial models",
            )
        with interruptible(prepared.task.budget):
            return search_pairs(prepared, score, make_cases(prepared.pairs, fixed, ()), intercept=intercept)


def search_pairs(
    prepared: PosedProblem, score: KernelScore, cases: Cases, *, intercept: bool = True
) -> Finding:
    """Go through value pairs and pairs of support vectors until a candidate is a pair."""
    problem = prepared.task
    surrogate = Surrogate(prepared, score)
    total = len(cases) * surrogate.count
    tried = candidates = 0
    for case in cases:
        for solved, x, other in surrogate.minimisers(case):
            tried += solved
            candidates += len(x)
            witness = _referee_deepest(prepared, score, x, other, intercept)
            if witness is not None:
                return biased_finding(
                    prepared, ALGORITHM, witness, programs=tried, of=total, candidates=candidates
                )
            problem.listener(
                Snapshot(stage=ALGORITHM, seconds=problem.budget.elapsed, share=tried / max(total, 1))
            )
            if problem.budget.over:
                note = f"{problem.budget.reason}, after {tried:,} of {total:,} programs"
                return finding_without_pair(
                    prepared,
                    ALGORITHM,
                    Answer.NO_ANSWER,
                    note,
                    programs=tried,
                    of=total,
                    candidates=candidates,
                )
    note = f"{total:,} programs, {candidates:,} different candidates"
    return finding_without_pair(
        prepared, ALGORITHM, Answer.NOT_FOUND, note, programs=tried, of=total, candidates=candidates
    )


def _referee_deepest(
    prepared: PosedProblem, score: KernelScore, x: Floats, other: Floats, intercept: bool
) -> Witness | None:
    """The deepest candidates put to the referee; `intercept` as in the model, or left out as in the paper."""
    if not len(x):
        return None
    less = 0.0 if intercept else score.body.bias
    depth = prepared.task.case.line.margin(score.scores(x) - less, score.scores(other) - less)
    for i in np.argsort(-depth)[:MOST_REFEREED]:
        if depth[i] <= 0:
            break
        witness = prepared.task.referee(x[i].tolist(), other[i].tolist())
        if witness is not None:
            return witness
    return None


class Surrogate:
    """The quadratic programs of one model, solved in closed form."""

    def __init__(self, prepared: PosedProblem, score: KernelScore) -> None:
        body, self.prepared = score.body, prepared
        weights = np.abs(body.coefficients)
        epsilon = EPSILON if asks_for_decision(prepared) else max(allowed_level(prepared) / 2, EPSILON)
        reach = np.sqrt(np.log(np.maximum(len(weights) * weights / epsilon, 1)) / body.gamma)
        centres = centres_as_codes(prepared, score)
        self.high, self.low = (
            _Side(centres[chosen], weights[chosen], reach[chosen])
            for chosen in (body.coefficients > 0, body.coefficients < 0)
        )
        self.whole = np.array([prepared.pairs.variables[v].discrete for v in prepared.pairs.first])
        # Equal rows have equal products with this, different ones different products but for bad luck.
        self.key = np.random.default_rng(0).uniform(1, 2, 2 * len(self.whole))

    @property
    def count(self) -> int:
        """Programs for one value pair."""
        return len(self.high.weights) * len(self.low.weights)

    def minimisers(self, case: Case) -> Iterator[tuple[int, Floats, Floats]]:
        """Block by block of pairs (r, s): how many were solved, and their different minimisers x, x'.

        Support vectors whose boxes agree inside the domain have the same programs: they are solved once.
        """
        if not self.count:
            return
        high, low = self.high.boxes(case), self.low.boxes(case)
        n, seen = len(self.whole), np.empty(0)
        # Where all boxes of either side meet, as they do in small domains, there is nothing to compare.
        narrow = np.flatnonzero(
            (high.lo.max(axis=0) > low.hi.min(axis=0)) | (low.lo.max(axis=0) > high.hi.min(axis=0))
        )
        step = max(1, BLOCK_SIZE // (len(low.lo) * n))
        for start in range(0, len(high.lo), step):
            part = slice(start, start + step)
            meet = np.ones((len(high.lo[part]), len(low.lo)), dtype=bool)
            for v in narrow:
                meet &= high.lo[part, None, v] <= low.hi[None, :, v]
                meet &= low.lo[None, :, v] <= high.hi[part, None, v]
            r, s = np.nonzero(meet)
            lo, hi = np.maximum(high.lo[part][r], low.lo[s]), np.minimum(high.hi[part][r], low.hi[s])
            keys, points = self._solve_boxes(case, lo, hi)
            points, seen = points[~np.isin(keys, seen)], np.union1d(keys, seen)
            yield int(high.times[part].sum() * low.times.sum()), points[:, :n], points[:, n:]

    def _solve_boxes(self, case: Case, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """Different minimisers (x, x') over these boxes, first the bounds of x, then those of x', with their keys."""
        n = len(self.whole)
        both = np.empty((len(lo), 2 * n))
        for k, relation in enumerate(case.pairs.relations):
            ends = lo[:, k], hi[:, k], lo[:, n + k], hi[:, n + k]
            reach = np.inf if relation.tolerance is None else float(relation.tolerance)
            both[:, k], both[:, n + k] = self._feature(k, 0.0 if relation.kind == "same" else reach, *ends)
        whole = np.concatenate([self.whole, self.whole])
        both[:, whole] = np.round(both[:, whole])
        keys, different = np.unique(both @ self.key, return_index=True)
        return keys, both[different]

    def _feature(
        self, k: int, reach: float, lo: Floats, hi: Floats, lo2: Floats, hi2: Floats
    ) -> tuple[Floats, Floats]:
        """argmin of W+ (x - m+)^2 + W- (x' - m-)^2 over two intervals, with |x - x'| <= reach."""
        high, low = self.high, self.low
        x, other = np.clip(high.mean[k], lo, hi), np.clip(low.mean[k], lo2, hi2)
        if reach == np.inf:
            return x, other
        # Too far apart: the optimum lies on x - x' = reach (or -reach), where one variable is left.
        apart = np.where(x > other, reach, -reach)
        share = high.total / (high.total + low.total)
        middle = share * (high.mean[k] - apart) + (1 - share) * low.mean[k]
        least, most = np.maximum(lo2, lo - apart), np.minimum(hi2, hi - apart)
        on_edge = np.clip(middle, least, np.maximum(most, least))
        far = np.abs(x - other) > reach
        return np.where(far, on_edge + apart, x), np.where(far, on_edge, other)


class _Side:
    """Support vectors of one sign: centres, weights, how far they reach, their weighted mean."""

    def __init__(self, centres: Floats, weights: Floats, reach: Floats) -> None:
        self.centres, self.weights, self.reach = centres, weights, reach
        self.total = float(weights.sum())
        self.mean = weights @ centres / self.total if len(weights) else np.zeros(centres.shape[1])

    def boxes(self, case: Case) -> _Boxes:
        """Where x and x' may lie for the sake of each support vector, inside the domain of the case."""
        variables = [case.pairs.variables[v] for v in (*case.pairs.first, *case.pairs.second)]
        bounds = np.array([[v.lo, v.hi] for v in variables], dtype=np.float64).T
        centres, reach = np.hstack([self.centres, self.centres]), self.reach[:, None]
        ends = np.hstack([np.maximum(centres - reach, bounds[0]), np.minimum(centres + reach, bounds[1])])
        different, times = np.unique(ends, axis=0, return_counts=True)
        lo, hi = np.hsplit(different, 2)
        return _Boxes(lo=lo, hi=hi, times=times)


class _Boxes(NamedTuple):
    """Different boxes, first the bounds of x, then those of x', and how many support vectors have each."""

    lo: Floats
    hi: Floats
    times: NDArray[np.intp]


def centres_as_codes(prepared: PosedProblem, score: KernelScore) -> Floats:
    """The support vectors in the space's features; the paper knows numeric columns as they are, only."""
    codes = np.zeros((len(score.body.centres), len(prepared.pairs.space)))
    for c, column in enumerate(score.embedding):
        if column.table is not None or column.slope != 1 or column.offset != 0:
            raise UnsupportedModel(
                f"Find-Bias-Rbf takes columns as they are, and {prepared.pairs.space.names[column.feature]!r} is encoded",
                hint="fit the model on numeric columns",
            )
        codes[:, column.feature] = score.body.centres[:, c]
    return codes
