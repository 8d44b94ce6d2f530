"""What is kept of compiled code: found again, never stale, and no harm where it is damaged or cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from likewise.compiled import compiled
from likewise.compiled.entry import Entry
from likewise.errors import InternalError

STEP = 3.0


class Pair(NamedTuple):
    first: float
    second: float


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def function_of(source: str, **names: Any) -> Any:
    """An entry made of a source that names other things."""
    space = {"__name__": "likewise.made_up", "np": np, **names}
    exec(source, space)  # noqa: S102 - the sources of this file
    return compiled(space["asked"])


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nbc"))


def asked(x: float) -> float:
    return x + STEP


def test_what_was_compiled_is_found_again(folder: Path) -> None:
    first, second = compiled(asked), compiled(asked)
    assert first(1.0) == 4.0
    assert isinstance(first, Entry)
    assert isinstance(second, Entry)
    assert first.kept.missed
    assert len(files(folder)) == 1
    assert second(1.0) == 4.0
    assert not second.kept.missed


def test_a_change_in_a_function_that_is_called_is_seen(folder: Path) -> None:
    """It stands in another file, of which numba's own cache knows nothing."""
    source = "def asked(x):\n    return 2.0 * part(x)\n"
    once = function_of("def asked(x):\n    return x + 1.0\n")
    again = function_of("def asked(x):\n    return x + 2.0\n")
    assert function_of(source, part=once)(1.0) == 4.0
    assert function_of(source, part=again)(1.0) == 6.0
    assert len(files(folder)) == 1  # what nobody can need any more is gone


@pytest.mark.parametrize(
    ("before", "after"), [(1.0, 2.0), (1, 2), ((1.0, 2.0), (1.0, 3.0)), (np.ones(1), np.zeros(1))]
)
def test_a_change_of_a_constant_is_seen(folder: Path, before: Any, after: Any) -> None:
    source = "def asked(x):\n    return x + CONSTANT\n"
    one, other = function_of(source, CONSTANT=before), function_of(source, CONSTANT=after)
    assert one.kept._code != other.kept._code
    assert one.kept._code == function_of(source, CONSTANT=before).kept._code


def test_a_change_of_the_fields_of_a_tuple_is_seen(folder: Path) -> None:
    class Swapped(NamedTuple):
        second: float
        first: float

    Swapped.__name__ = Swapped.__qualname__ = "Pair"
    source = "def asked(pair):\n    return pair.first\n"
    assert function_of(source)(Pair(1.0, 2.0)) == 1.0
    assert function_of(source)(Swapped(second=1.0, first=2.0)) == 2.0


def test_options_are_a_part_of_what_is_kept(folder: Path) -> None:
    plain, fast = compiled(asked), compiled(fastmath=True)(asked)
    assert plain.kept._code != fast.kept._code  # type: ignore[attr-defined]


def test_what_could_change_unseen_is_refused(folder: Path) -> None:
    def helper(x: float) -> float:
        return x

    helper.__module__ = "likewise.made_up"
    with pytest.raises(InternalError, match="names helper"):
        _ = function_of("def asked(x):\n    return helper(x)\n", helper=helper).kept._code


@pytest.mark.parametrize("damage", ["empty", "cut", "garbage", "one bit"])
def test_damaged_files_are_compiled_again(folder: Path, damage: str) -> None:
    assert compiled(asked)(1.0) == 4.0
    (path,) = files(folder)
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(
        {
            "empty": b"",
            "cut": content[:middle],
            "garbage": b"no machine code",
            "one bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        }[damage]
    )
    again = compiled(asked)
    assert again(1.0) == 4.0
    assert isinstance(again, Entry)
    assert again.kept.missed
    assert path.read_bytes()[:32] == content[:32] or len(path.read_bytes()) > middle


def test_a_folder_that_cannot_be_written_to_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(nowhere))
    assert compiled(asked)(1.0) == 4.0
    assert nowhere.read_text() == "no folder"


def test_a_function_calls_others_as_parts_and_python_calls_any(folder: Path) -> None:
    part = function_of("def asked(x):\n    return x + 1.0\n")
    entry = function_of("def asked(x):\n    return 2.0 * part(x)\n", part=part)
    assert entry(1.0) == 4.0
    assert not part.overloads  # only taken in so far
    assert part(1.0) == 2.0


def test_errors_in_parts_reach_python(folder: Path) -> None:
    part = function_of("def asked(x):\n    if x < 0:\n        raise ValueError('below')\n    return 1 / x\n")
    entry = function_of("def asked(x):\n    return part(x) + 1\n", part=part)
    again = function_of("def asked(x):\n    return part(x) + 1\n", part=part)
    for function in (entry, again):
        with pytest.raises(ValueError, match="below"):
            function(-1.0)
        with pytest.raises(ZeroDivisionError):
            function(0.0)


@pytest.mark.some_days
def test_every_process_finds_what_another_has_kept() -> None:
    """Sets are in another order in every process."""
    told = {
        subprocess.run(
            [
                sys.executable,
                "-c",
                "from likewise.families.kernel.rbf.majorant import _dot; print(_dot.kept._code)",
            ],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(told) == 1
