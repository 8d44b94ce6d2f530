"""Arguments as they came: compiled functions compute what Python does, hold nothing back and let go of nothing that is not theirs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core import types
from numba.core.errors import TypingError

from likewise.compiled import compiled
from likewise.compiled.lowering import RecordModel


class Net(NamedTuple):
    weights: np.ndarray
    rows: np.ndarray
    bias: float


Net.__module__ = "likewise.made_up"  # one of ours is handed on by reference


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))


@compiled
def inner(net: Net, count: int, x: Any) -> Any:
    """Its arguments become other things on the way."""
    total = 0.0
    for i in range(count):
        total += net.weights[i] * net.rows[i, 0] + x[i]
    count += 1
    x = x[1:]
    if total > 1e9:
        net = Net(net.rows[0], net.rows, -net.bias)
    return total + net.bias + count + x[0], x


@compiled
def outer(net: Net, count: int, x: Any) -> Any:
    other = Net(net.rows[0], net.rows, net.bias)
    first, rest = inner(net, count, x)
    second, again = inner(other, 1, x)
    return first + second, rest, again, x, net.weights, other


@compiled
def last_row(net: Net) -> Any:
    return net.rows[-1]


def make_net(scale: float = 1.0) -> Net:
    return Net(scale * np.arange(4.0), scale * np.arange(8.0).reshape(4, 2), 2.5)


@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_compiled_functions_compute_what_python_does(scale: float) -> None:
    net, x = make_net(scale), np.linspace(1.0, 2.0, 4)
    compiled_gives, python_gives = outer(net, 3, x), outer.py_func(net, 3, x)  # type: ignore[attr-defined]
    for one, other in zip(compiled_gives[:5], python_gives[:5], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(compiled_gives[5], python_gives[5], strict=True):
        np.testing.assert_array_equal(one, other)


def test_references_are_as_many_as_before() -> None:
    net, x = make_net(), np.ones(4)
    held = [net.weights, net.rows, x]
    before = [sys.getrefcount(array) for array in held]
    for _ in range(100):
        found = outer(net, 3, x)
    assert found[3] is not None
    del found
    assert [sys.getrefcount(array) for array in held] == before


def test_what_is_returned_outlives_what_it_is_a_part_of() -> None:
    row = last_row(make_net())
    rubbish = [np.full(8, 7.0) for _ in range(100)]  # would be written over what had been let go
    assert rubbish
    np.testing.assert_array_equal(row, [6.0, 7.0])


def test_only_our_own_tuples_are_handed_on_by_reference() -> None:
    from numba import typeof
    from numba.core.datamodel import default_manager

    class Foreign(NamedTuple):
        weights: np.ndarray
        bias: float

    assert isinstance(default_manager.lookup(typeof(make_net())), RecordModel)
    assert not isinstance(default_manager.lookup(typeof(Foreign(np.ones(1), 1.0))), RecordModel)


def test_numba_is_left_as_it_was() -> None:
    @compiled
    def fails(x: float) -> Any:
        return x.nobody  # type: ignore[attr-defined]

    assert last_row(make_net()) is not None
    with pytest.raises(TypingError):
        fails(1.0)
    assert "get_call_type" not in vars(types.Function)
