"""The kernel family: sums of Gaussians. Bounds are compiled loops, which are loaded with the bounder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.family import Family
from likewise.families.kernel.body import BLOCK_VALUES, KernelScore, RbfSum
from likewise.families.kernel.judge import KernelJudge
from likewise.model.embedding import Column, column_line
from likewise.spec.numbers import format_number, format_numbers, one_or_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.kernel.bounder import KernelBounder
    from likewise.families.scored_model import Model
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


class KernelFamily(Family):
    """bias + sum of coefficients times Gaussians. The bodies of a model share gamma and centres."""

    name = "kernel"
    rules = MappingProxyType(
        {
            "kernel": "a sum of Gaussians stays on one side of a line, by a cubic bound",
            "chords": "a sum of Gaussians stays on one side of a line, by chords and tangents",
        }
    )
    links_rescaled = False
    shared_work = True

    def form(self, bodies: Sequence[RbfSum], alpha: tuple[Fraction, ...]) -> RbfSum:
        """Coefficients are doubles, so only one score, or its negative."""
        places = [i for i, a in enumerate(alpha) if a]
        if len(places) != 1 or abs(alpha[places[0]]) != 1:
            raise InternalError("a form of sums of Gaussians is one of them, or its negative")
        body = bodies[places[0]]
        return body if alpha[places[0]] > 0 else body.negated()

    def form_score(
        self, model: Model, parts: Sequence[KernelScore], alpha: tuple[Fraction, ...], n_features: int
    ) -> KernelScore:
        """alpha . f of several with its coefficients rounded to doubles. Good enough for bounds, which only
        propose there: pairs are decided by all scores themselves, and the checker forms alpha . f in rationals."""
        if sum(map(abs, alpha)) == 1:
            return KernelScore(body=self.form(_gaussians(model), alpha), embedding=model.embedding)
        weights = np.array([float(a) for a in alpha])
        body = replace(
            parts[0].body,
            bias=float(weights @ [part.body.bias for part in parts]),
            coefficients=weights @ np.stack([part.body.coefficients for part in parts]),
        )
        return replace(parts[0], body=body)

    def join_bodies(
        self, bodies: Sequence[RbfSum], places: Sequence[tuple[int, ...]], width: int, estimator: str
    ) -> tuple[RbfSum, ...]:
        """The same sums over the centres of all."""
        if any(place != places[0] for place in places):
            raise UnsupportedModel(
                f"{estimator} holds models of different kinds or on different columns, which have no one form",
                hint="use one kind of model, and put what selects or scales columns in front of it",
            )
        return _join_centres(bodies, estimator)

    def check(self, bodies: Sequence[RbfSum]) -> None:
        first = bodies[0]
        for body in bodies[1:]:
            same = body.centres is first.centres or np.array_equal(body.centres, first.centres)
            if body.gamma != first.gamma or not same:
                raise UnsupportedModel("the sums of Gaussians of this model do not share their centres")

    def scores(self, parts: Sequence[KernelScore], codes: Floats) -> Floats:
        """All scores share their kernel values."""
        if len(parts) == 1:
            return parts[0].scores(codes)[:, None]
        first, bodies = parts[0], [part.body for part in parts]
        weights, bias = np.stack([b.coefficients for b in bodies], axis=1), np.array([b.bias for b in bodies])
        columns, middle = first.columns(codes), first.body.centres.mean(axis=0)
        centres = first.body.centres - middle
        squares, total = (centres**2).sum(axis=1), np.empty((len(codes), len(bodies)))
        step = max(1, BLOCK_VALUES // len(centres))
        for start in range(0, len(codes), step):
            part = columns[start : start + step] - middle
            distances = (part**2).sum(axis=1)[:, None] - 2 * (part @ centres.T) + squares
            total[start : start + step] = np.exp(-first.body.gamma * np.maximum(distances, 0)) @ weights
        scores: Floats = total + bias
        return scores

    def bounder(
        self, score: KernelScore, pairs: PairSpace, second: KernelScore | None = None
    ) -> KernelBounder:
        from likewise.families.kernel.bounder import KernelBounder  # brings in numba

        return KernelBounder(score, pairs, second)

    def judge(self, score: KernelScore) -> KernelJudge:
        return KernelJudge(score)

    def products(self, score: KernelScore, pairs: PairSpace) -> Callable[[], Any]:
        from likewise.families.kernel.products import kernel_products

        return partial(kernel_products, score, pairs)

    def line(self, bodies: Sequence[RbfSum], embedding: tuple[Column, ...]) -> dict[str, Any]:
        rows = zip(bodies[0].centres.tolist(), *(body.coefficients.tolist() for body in bodies), strict=True)
        return {
            "kind": "rbf",
            "gamma": format_number(bodies[0].gamma),
            "bias": one_or_array([body.bias for body in bodies]),
            "columns": [column_line(column) for column in embedding],
            "terms": [[one_or_array(values), format_numbers(centre)] for centre, *values in rows],
            **({"grouped": True} if _has_groups(bodies[0], embedding) else {}),
        }

    def hints_line(self, rule: str, hints: Sequence[int]) -> list[Any]:
        """Of `kernel` the last one by itself; of `chords` the only one."""
        return list(hints) if rule == "chords" else [list(hints[:-1]), hints[-1]]


FAMILY = KernelFamily()


def _has_groups(body: RbfSum, embedding: tuple[Column, ...]) -> bool:
    """Whether the rule has to know of grouped features (section 20): those that are neither numbers nor one-hot."""
    from likewise.families.kernel.distances import level_distance  # brings in numba
    from likewise.families.kernel.rbf.terms import GroupedAxis

    for k in {column.feature for column in embedding if column.table is not None}:
        if isinstance(level_distance(body, embedding, k).axis, GroupedAxis):
            return True
    return False


def _gaussians(model: Model) -> list[RbfSum]:
    return [body for body in model.bodies if isinstance(body, RbfSum)]


def _join_centres(bodies: Sequence[RbfSum], family: str) -> tuple[RbfSum, ...]:
    """The same sums over the centres of all."""
    gamma = bodies[0].gamma
    if any(body.gamma != gamma for body in bodies):
        raise UnsupportedModel(
            f"{family} holds kernel models of different gamma", hint="fit it with one number for gamma"
        )
    rows: dict[tuple[bytes, int], int] = {}
    joined = [[rows.setdefault(key, len(rows)) for key in _centre_keys(body.centres)] for body in bodies]
    centres = np.array([np.frombuffer(row) for row, _ in rows])
    found = []
    for body, places in zip(bodies, joined, strict=True):
        coefficients = np.zeros(len(rows))
        coefficients[places] = body.coefficients
        found.append(RbfSum(gamma=gamma, bias=body.bias, coefficients=coefficients, centres=centres))
    return tuple(found)


def _centre_keys(centres: Floats) -> Iterator[tuple[bytes, int]]:
    """What tells centres apart: a centre that one sum has twice is two, as the sum of two coefficients may be no double."""
    seen: Counter[bytes] = Counter()
    for centre in centres + 0.0:  # -0.0 and 0.0 are one number
        row = centre.tobytes()
        yield row, seen[row]
        seen[row] += 1
