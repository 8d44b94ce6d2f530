"""What is left out while an entry is compiled: the same results, and numba as it was for everybody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import event, postproc
from numba.core.base import BaseContext
from numba.core.errors import TypingError
from numba.core.typing.context import BaseContext as TypingContext
from numba.core.typing.templates import _OverloadFunctionTemplate

from likewise.compiled import compiled, shortcuts
from likewise.compiled.entry import _PartLibrary

PATCHED = [
    (postproc.PostProcessor, "run"),
    (BaseContext, "refresh"),
    (TypingContext, "refresh"),
    (_OverloadFunctionTemplate, "_get_impl"),
    (event, "start_event"),
    (event, "end_event"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))


@compiled
def ordered(numbers: Any) -> Any:
    """Calls functions of numba's: some are registered while this is compiled."""
    found = np.zeros(len(numbers), dtype=np.int64)
    for place, at in enumerate(np.argsort(numbers)):
        found[place] = at
    return found, max(numbers[0], numbers[1]), round(numbers[0])


@compiled
def with_closure(numbers: Any) -> Any:
    squares = [x * x for x in numbers]
    return sum(squares)


@compiled
def wrong(numbers: Any) -> Any:
    return numbers.is_none_of_its_attributes


def test_functions_of_numba_are_parts_and_say_the_same() -> None:
    numbers = np.array([0.5, 2.5, -1.0, 7.25, 3.0])
    places, largest, whole = ordered(numbers)
    assert places.tolist() == np.argsort(numbers).tolist()
    assert (largest, whole) == (2.5, 0)
    made = [found[0] for found in shortcuts._PARTS.values() if found[0] is not None]
    names = {one.py_func.__qualname__ for one in made}
    assert any("ol_np_zeros" in name for name in names)
    libraries = [one.library for part in made for one in part.overloads.values()]
    assert libraries
    assert all(isinstance(library, _PartLibrary) for library in libraries)


def test_nested_functions_are_still_seen() -> None:
    assert with_closure(np.arange(4.0)) == 14


def test_numba_is_as_it_was_afterwards() -> None:
    before = [getattr(owner, name) for owner, name in PATCHED]
    ordered(np.arange(3.0))
    with pytest.raises(TypingError):
        wrong(np.arange(3.0))
    assert [getattr(owner, name) for owner, name in PATCHED] == before

    @numba.njit
    def theirs(count: int) -> Any:
        found = np.zeros(count)
        if count > 3:
            raise ValueError("too many")
        return found

    assert theirs(2).tolist() == [0, 0]
    with pytest.raises(ValueError, match="too many"):
        theirs(4)
    with pytest.raises(ValueError, match="negative"):
        theirs(-1)


def test_what_is_kept_is_found_again() -> None:
    """Functions of numba's that are parts are in what is written down."""
    function = ordered.py_func  # type: ignore[attr-defined]
    first, again = compiled(function), compiled(function)
    numbers = np.array([3.0, 1.0])
    assert first(numbers)[0].tolist() == again(numbers)[0].tolist() == [1, 0]
    assert [sum(one.stats.cache_hits.values()) for one in (first, again)] == [0, 1]
