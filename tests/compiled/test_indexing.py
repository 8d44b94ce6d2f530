"""Elements, rows and loops: what compiled functions read, write and run through is what Python does, whatever the layout, the sign of an index and the ends of a range."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.compiled import compiled


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    """The same numbers: in a row, by columns, or each with a gap behind it, from the last to the first."""
    if layout == "C":
        return np.ascontiguousarray(values)
    if layout == "F":
        return np.asfortranarray(values)
    wide = np.zeros(tuple(2 * size for size in values.shape), dtype=values.dtype)
    view = wide[tuple(slice(None, None, -2) for _ in values.shape)]
    view[...] = values
    return view


@compiled
def read(one: Any, two: Any, three: Any, i: Any, j: Any, k: Any) -> Any:
    local = two[i]
    plane = three[i]
    return (
        one[i],
        two[i, j],
        three[i, j, k],
        local[j],
        plane[j, k],
        three[i, j][k],
        one[-1],
        two[-1, 0],
        two[0][-1],
        three[0, 1][0],
    )


@compiled
def write(one: Any, two: Any, three: Any, i: Any, j: Any, k: Any) -> None:
    one[i] = 5
    two[i, j] = one[0] + 1
    three[i, j, k] = two[i, j]
    line = three[j, i]
    line[k] = 3
    two[-1][0] = 2
    two[1] = two[0]
    three[-1, -1, -1] = 1


@compiled
def rows(two: Any, three: Any, i: Any) -> Any:
    return two[i], three[i], three[i, -1]


def arrays(dtype: Any, layout: str) -> list[np.ndarray]:
    random = np.random.default_rng(7)
    return [
        laid_out(random.integers(0, 2 if dtype is np.bool_ else 90, shape).astype(dtype), layout)
        for shape in ((4,), (4, 5), (4, 5, 3))
    ]


INDICES = [(0, 0, 0), (3, 2, 1), (-1, -2, -3), (-4, 3, -1), (np.uint64(2), np.uint64(3), np.uint64(1))]


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("layout", ["C", "F", "gaps"])
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_])
def test_reading_and_writing(dtype: Any, layout: str) -> None:
    for at in INDICES:
        given = arrays(dtype, layout)
        assert read(*given, *at) == read.py_func(*given, *map(int, at))  # type: ignore[attr-defined]
        ours, pythons = arrays(dtype, layout), arrays(dtype, layout)
        write(*ours, *at)
        write.py_func(*pythons, *map(int, at))  # type: ignore[attr-defined]
        for one, other in zip(ours, pythons, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("layout", ["C", "F", "gaps"])
def test_rows_are_views_that_hold_what_they_are_a_part_of(layout: str) -> None:
    _, two, three = arrays(np.float64, layout)
    before = sys.getrefcount(two), sys.getrefcount(three)
    for i in (1, -1):
        found = rows(two, three, i)
        for one, other in zip(found, rows.py_func(two, three, i), strict=True):  # type: ignore[attr-defined]
            np.testing.assert_array_equal(one, other)
            assert one.shape == other.shape
            assert one.strides == other.strides
            assert one.__array_interface__["data"] == other.__array_interface__["data"]
    del found, one, other
    assert (sys.getrefcount(two), sys.getrefcount(three)) == before
    kept = rows(*arrays(np.float64, layout)[1:], 2)
    rubbish = [np.full(60, 7.5) for _ in range(100)]  # would be written over what had been let go
    assert rubbish
    for one, other in zip(kept, rows(two, three, 2), strict=True):
        np.testing.assert_array_equal(one, other)


@compiled
def run_through(start: Any, stop: Any, step: Any) -> Any:
    """Ranges of one, two and three numbers, one in another, left, and begun again."""
    seen = np.zeros(8)
    last = -99
    for i in range(stop):
        seen[0] += i + 1
    for i in range(start, stop):
        seen[1] += i * i
        last = i
        for j in range(i, stop):
            if j > 3:
                break
            seen[2] += 1
            if j % 2:
                continue
            seen[3] += j
    for i in range(start, stop, step):
        seen[4] += 10 + i
    for i in range(stop, start, -1):
        seen[5] += i
    turns = range(start, stop)
    for i in turns:
        seen[6] += i
    for i in turns:
        seen[7] -= i + last
    return seen, last, len(turns)


@pytest.mark.draw(15)
@pytest.mark.parametrize("start", [-3, 0, 2, 5])
@pytest.mark.parametrize("stop", [-4, 0, 1, 2, 7])
@pytest.mark.parametrize("step", [1, 3, -2])
def test_ranges(start: int, stop: int, step: int) -> None:
    (ours, *more), (pythons, *others) = run_through(start, stop, step), run_through.py_func(start, stop, step)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(ours, pythons)
    assert more == others


@compiled
def run_to(stop: Any) -> Any:
    found = 0.0
    for i in range(stop):
        found += i
    return found


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint64, np.uint8, int])
def test_ranges_of_any_integer(kind: Any) -> None:
    for stop in (0, 1, 6):
        assert run_to(kind(stop)) == sum(range(stop))


@compiled
def mixed_up(values: Any, turns: int) -> Any:
    """A variable that is another array, another row and another number as it goes, and that is not set on every way."""
    here, best = values, -1.0
    line = values[0]
    for turn in range(turns):
        if turn % 3 == 1:
            here = values[turn:]
        if here[0, 0] > best:
            best = here[0, 0]
            line = here[-1]
        else:
            wide = here[0, turn % 2] * 2.0
            best += wide
    return best, line


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_variables_that_become_other_things(turns: int) -> None:
    values = np.arange(12.0).reshape(6, 2)
    before = sys.getrefcount(values)
    (best, line), (other, row) = mixed_up(values, turns), mixed_up.py_func(values, turns)  # type: ignore[attr-defined]
    assert best == other
    np.testing.assert_array_equal(line, row)
    del line, row
    assert sys.getrefcount(values) == before
