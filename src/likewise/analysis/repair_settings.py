"""Settings: the values that a repair gives to the features in which similar individuals may differ.

    levels, and integers with few values    all of them
    other numbers                           a grid: equally spaced from lo to hi

`every_setting` is all combinations, `observed_settings` those of the rows with how often they occur (numbers at the nearest point of the grid;
who misses one does not count), `reference_setting` one of them: as given, or the most frequent one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError, SpecError, suggest_name
from likewise.spec.features import Categorical, Integer, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.features import Feature
    from likewise.spec.space import Space

MOST_SETTINGS = 2048
MOST_VALUES = 128  # of an integer feature; more are put on the grid


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChoice:
    """Features by name, and settings of them as the values that a frame holds, with counts."""

    names: tuple[str, ...]
    settings: tuple[tuple[Any, ...], ...]
    counts: tuple[int, ...]


def every_setting(space: Space, names: Sequence[str], grid: int) -> SettingChoice:
    """All combinations, each of them once."""
    values = [_setting_values(space, name, grid) for name in names]
    count = math.prod(map(len, values))
    if count > MOST_SETTINGS:
        sizes = ", ".join(f"{name} {len(found)}" for name, found in zip(names, values, strict=True))
        raise SpecError(
            f"there are {count:,} settings of what may differ ({sizes}); at most {MOST_SETTINGS:,} are combined",
            hint="use method='reference', weights='observed' with X, a smaller grid, or fewer values in the space",
        )
    settings = tuple(product(*values))
    return SettingChoice(names=tuple(names), settings=settings, counts=(1,) * len(settings))


def observed_settings(
    space: Space, names: Sequence[str], grid: int, rows: NDArray[np.float64]
) -> SettingChoice:
    """Those of the rows (codes of the space) that miss none of these numbers, the most frequent first."""
    rows = rows[_complete_rows(space, names, rows)]
    if not len(rows):
        raise SpecError("observed settings need rows that miss no number of them", hint="pass X")
    columns = [_nearest_values(space, name, grid, rows[:, space.names.index(name)]) for name in names]
    found = Counter(zip(*columns, strict=True)) if names else Counter({(): len(rows)})
    ordered = sorted(found.items(), key=lambda item: (-item[1], tuple(map(str, item[0]))))
    if len(ordered) > MOST_SETTINGS:
        raise SpecError(
            f"the rows have {len(ordered):,} settings of what may differ; at most {MOST_SETTINGS:,} are combined",
            hint="use method='reference' or a smaller grid",
        )
    return SettingChoice(
        names=tuple(names),
        settings=tuple(setting for setting, _ in ordered),
        counts=tuple(count for _, count in ordered),
    )


def reference_setting(
    space: Space,
    names: Sequence[str],
    grid: int,
    rows: NDArray[np.float64],
    given: Mapping[str, Any] | None,
) -> SettingChoice:
    """One setting: the given values, the most frequent ones among the rows for the others."""
    given = {} if given is None else dict(given)
    for name, value in given.items():
        if name not in names:
            raise SpecError(
                f"reference names {name!r}, which does not differ between similar individuals or does not matter"
                f"{suggest_name(name, tuple(names))}",
                hint=f"the features to settle: {', '.join(names) or 'none'}",
            )
        if not space[name].contains(value):
            raise DataError(f"reference: {value!r} is not a value of {name!r}", hint=space[name].describe())
    others = [name for name in names if name not in given]
    if others and not len(rows):
        raise SpecError(
            f"no reference is given for {others[0]!r}, and no rows to see what is most frequent",
            hint=f"reference={{{others[0]!r}: ...}}, or X",
        )
    common: dict[str, Any] = {}
    if others:
        choice = observed_settings(space, others, grid, rows)
        common = dict(zip(others, choice.settings[0], strict=True))
    setting = tuple(given.get(name, common.get(name)) for name in names)
    return SettingChoice(names=tuple(names), settings=(setting,), counts=(1,))


def _complete_rows(space: Space, names: Sequence[str], rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows miss none of these numbers: no setting is a missing one."""
    numbers = [name for name in names if not isinstance(space[name], (Categorical, Ordinal))]
    gaps = [space[name].missing_code for name in numbers]
    missing = rows[:, [space.names.index(name) for name in numbers]] == np.array(gaps, dtype=np.float64)
    return ~np.logical_or.reduce(missing, axis=1)  # type: ignore[no-any-return]


def _setting_values(space: Space, name: str, grid: int) -> list[Any]:
    feature = space[name]
    if isinstance(feature, (Categorical, Ordinal)):
        return list(feature.levels)
    if isinstance(feature, Integer) and feature.size <= MOST_VALUES:
        return list(range(feature.lo, feature.hi + 1))
    return _grid_values(feature, grid)


def _grid_values(feature: Feature, grid: int) -> list[Any]:
    if not isinstance(grid, int) or isinstance(grid, bool) or grid < 1:
        raise SpecError(f"grid must be a whole number of values, at least 1, not {grid!r}")
    if isinstance(feature, (Categorical, Ordinal)):
        return list(feature.levels)
    lo, hi = float(feature.lo), float(feature.hi)
    shares = [0.5] if grid == 1 else [i / (grid - 1) for i in range(grid)]
    points = [min(max(lo * (1 - share) + hi * share, lo), hi) for share in shares]
    if isinstance(feature, Integer):
        return sorted({round(point) for point in points})
    return sorted(set(points))


def _nearest_values(space: Space, name: str, grid: int, codes: NDArray[np.float64]) -> list[Any]:
    """The value of each row, or the nearest one that is a setting."""
    values = _setting_values(space, name, grid)
    if isinstance(space[name], (Categorical, Ordinal)):
        return [values[int(code)] for code in codes]
    points = np.array(values, dtype=np.float64)
    places = np.abs(codes[:, None] - points).argmin(axis=1)
    return [values[i] for i in places]
