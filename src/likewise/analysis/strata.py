"""Strata: a population cut up so that, in each part, every feature is independent of the others.

The features that groups are told by, and those that others depend on, are *set*: a stratum is one setting of them, with its exact weight and a product measure of all others (`measures`). A
rate of a group is the weighted mean of the rates of its strata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.measures import FeatureMeasure, Measure, marginal_measure, uniform_measure
from likewise.errors import SpecError
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
from likewise.spec.population import MISSING_KEY, Population

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.row_claim import RowClaim
    from likewise.spec.features import Feature

    Floats = NDArray[np.float64]

MOST_STRATA = 20_000
NO_TABLES = Population()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stratum:
    """The codes, of the user's space, of the features that are set, its weight among all people, and how the others are distributed."""

    settings: Mapping[int, float]
    weight: Fraction
    measure: Measure


def make_strata(judging: RowClaim, over: Any, by: Sequence[int]) -> list[Stratum]:
    """All strata that have a weight; `over` is "uniform", "marginals" or a `Population`."""
    return list(_Strata(judging, over, by).all())


class _Strata:
    def __init__(self, judging: RowClaim, over: Any, by: Sequence[int]) -> None:
        self.judging, self.space, self.recoding = judging, judging.recoding.given, judging.recoding
        self.tables = over if isinstance(over, Population) else NO_TABLES
        self.tables.check(self.space)
        self.codes = judging.source.codes
        self.uniform = isinstance(over, str) and over == "uniform"
        names = self.space.names
        above = [names.index(name) for name in self.tables.parents]
        self.parent = {names.index(name): names.index(other) for name, other in self.tables.given.items()}
        self.set = [*above, *(k for k in by if k not in above)]
        for k in self.set:
            if isinstance(self.space[names[k]], Continuous):
                raise SpecError(
                    f"{names[k]!r} is continuous, so that it makes no groups",
                    hint="tell groups by a feature with levels, or rows by a column with bins",
                )
        whole = (
            uniform_measure(judging.pairs, judging.recoding)
            if self.uniform
            else marginal_measure(judging.pairs, judging.rows)
            if len(judging.rows)
            else None
        )
        self.spreads = None if whole is None else whole.spreads

    def all(self) -> Iterator[Stratum]:
        found: list[tuple[dict[int, float], Fraction]] = [({}, Fraction(1))]
        for k in self.set:
            found = [
                ({**settings, k: code}, weight * part)
                for settings, weight in found
                for code, part in self._shares(k, settings)
                if part
            ]
            if len(found) > MOST_STRATA:
                raise SpecError(
                    f"there are more than {MOST_STRATA:,} settings of {', '.join(self.space.names[k] for k in self.set)}",
                    hint="tell groups by fewer features, or let fewer depend on others",
                )
        for settings, weight in found:
            yield Stratum(settings=settings, weight=weight, measure=self._measure(settings))

    def _measure(self, settings: Mapping[int, float]) -> Measure:
        spreads = []
        for k in range(len(self.space)):
            if k in settings:
                (code,) = self._model_codes(k, np.array([settings[k]]))
                spreads.append(_atoms(code, code, [code], [1]))
            else:
                spreads.append(self._spread(k, settings))
        return Measure(pairs=self.judging.pairs, spreads=tuple(spreads))

    # -- of a feature that is set: shares of its values, by codes of the user's space ------------------------------

    def _shares(self, k: int, settings: Mapping[int, float]) -> list[tuple[float, Fraction]]:
        table = self._table(k, settings)
        feature = self.space[self.space.names[k]]
        if table is not None:
            weights = [(code, weight) for code, weight in _weights(feature, self.space.names[k], table)]
        elif self.uniform:
            low, high = feature.code_range
            weights = [(float(code), Fraction(1)) for code in range(int(low), int(high) + 1)]
        else:
            codes, counts = np.unique(self._rows(k, settings)[:, k], return_counts=True)
            weights = [
                (code, Fraction(count)) for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
            ]
        total = sum(weight for _, weight in weights)
        return [(code, weight / total) for code, weight in weights]

    # -- of another one -----------------------------------------------------------------------------------------

    def _spread(self, k: int, settings: Mapping[int, float]) -> FeatureMeasure:
        name, table = self.space.names[k], self._table(k, settings)
        if table is None and k not in self.parent and self.spreads is not None:
            return self.spreads[k]
        ends = self.judging.pairs.variables[self.judging.pairs.first[k]]
        if table is None:
            atoms, counts = np.unique(self._model_codes(k, self._rows(k, settings)[:, k]), return_counts=True)
            return _atoms(ends.lo, ends.hi, atoms.tolist(), counts.tolist())
        if isinstance(table, Mapping):
            weights = _weights(self.space[name], name, table)
            codes = self._model_codes(k, np.array([code for code, _ in weights])).tolist()
            merged: dict[float, Fraction] = {}
            for code, (_, weight) in zip(codes, weights, strict=True):
                merged[code] = merged.get(code, Fraction(0)) + weight
            order = sorted(merged)
            return _atoms(ends.lo, ends.hi, order, _whole([merged[code] for code in order]))
        return self._histogram(k, name, table)

    def _histogram(self, k: int, name: str, table: Any) -> FeatureMeasure:
        feature, part = self.space[name], self.recoding.parts.get(k)
        if not isinstance(feature, Continuous):
            raise SpecError(
                f"intervals are for continuous features, and {name!r} is none",
                hint=f"give its values their weights: {{{name!r}: {{value: weight, ...}}}}",
            )
        if part is not None and (part.bend is not None or part.shift):
            raise SpecError(
                f"the model sees a function of {name!r}, of which masses of intervals are not known",
                hint="give values their weights instead of intervals",
            )
        pieces = sorted((float(lo), float(hi), Fraction(weight)) for lo, hi, weight in table)
        edges, weights = [pieces[0][0]], []
        for lo, hi, weight in pieces:
            if not (feature.lo <= lo < hi <= feature.hi and weight >= 0):
                raise SpecError(
                    f"the interval from {lo:g} to {hi:g} of {name!r}, with the weight {float(weight):g}, is none of its range"
                )
            if lo < edges[-1]:
                raise SpecError(f"two intervals of {name!r} overlap, at {lo:g}")
            if lo > edges[-1]:
                edges.append(lo)
                weights.append(Fraction(0))
            edges.append(hi)
            weights.append(weight)
        counts = _whole(weights)
        sums = (0, *np.cumsum(np.array(counts, dtype=object)).tolist())
        if not sums[-1]:
            raise SpecError(f"no interval of {name!r} has a weight")
        return FeatureMeasure(
            lo=feature.lo, hi=feature.hi, edges=tuple(edges), counts=tuple(counts), sums=sums
        )

    # -- where both come from -----------------------------------------------------------------------------------

    def _table(self, k: int, settings: Mapping[int, float]) -> Any:
        """The table of a feature, the one for its parent's level where it depends on another."""
        name = self.space.names[k]
        table = self.tables.tables.get(name)
        if table is None or k not in self.parent:
            return table
        parent = self.space.names[self.parent[k]]
        for level, some in table.items():
            if _code_of(self.space[parent], parent, level) == settings[self.parent[k]]:
                return some
        raise SpecError(
            f"{name!r} depends on {parent!r}, and has no table for one of its levels",
            hint=f"give all levels of {parent!r} a table, or leave it to the data",
        )

    def _rows(self, k: int, settings: Mapping[int, float]) -> Floats:
        """The rows of the data, those with the parent's level where the feature depends on another."""
        if not len(self.codes):
            raise SpecError(
                f"the population has no table for {self.space.names[k]!r}, and there are no data to take it from",
                hint="groups(..., X=X), or a table for every feature",
            )
        if k not in self.parent:
            return self.codes
        parent = self.parent[k]
        rows: Floats = self.codes[self.codes[:, parent] == settings[parent]]
        if not len(rows):
            raise SpecError(
                f"the data have no rows to tell {self.space.names[k]!r} from, for one level of {self.space.names[parent]!r}"
            )
        return rows

    def _model_codes(self, k: int, codes: Floats) -> Floats:
        part = self.recoding.parts.get(k)
        return codes if part is None else part.coded(codes)


def _atoms(lo: float, hi: float, atoms: Sequence[float], counts: Sequence[int]) -> FeatureMeasure:
    sums = (0, *np.cumsum(np.array(counts, dtype=object)).tolist())
    return FeatureMeasure(lo=lo, hi=hi, atoms=tuple(atoms), counts=tuple(map(int, counts)), sums=sums)


def _weights(feature: Feature, name: str, table: Any) -> list[tuple[float, Fraction]]:
    """Codes of the user's space with their weights."""
    if not isinstance(table, Mapping) or not table:
        raise SpecError(f"the table of {name!r} must give its values their weights, not {table!r}")
    found = [(_code_of(feature, name, value), Fraction(weight)) for value, weight in table.items()]
    if any(weight < 0 for _, weight in found) or not sum(weight for _, weight in found):
        raise SpecError(f"the weights of {name!r} must not be negative, nor all be 0")
    return found


def _code_of(feature: Feature, name: str, value: Any) -> float:
    """The code of a value; whole numbers may be written as text, as keys of files are."""
    if value in (None, MISSING_KEY) and feature.missing_code is not None:
        return float(feature.missing_code)
    if isinstance(feature, Categorical | Ordinal):
        texts = [str(level) for level in feature.levels]
        if value in feature.levels:
            return float(feature.levels.index(value))
        if isinstance(value, str) and value in texts:
            return float(texts.index(value))
    else:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        whole = not isinstance(feature, Integer) or number == np.floor(number)
        if whole and feature.lo <= number <= feature.hi:
            return number
    raise SpecError(f"the population gives {name!r} a value that it does not have: {value!r}")


def _whole(weights: Sequence[Fraction]) -> list[int]:
    """Whole numbers in the same proportions."""
    common = lcm(*(weight.denominator for weight in weights))
    return [int(weight * common) for weight in weights]
