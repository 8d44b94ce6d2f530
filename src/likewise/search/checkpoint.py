"""Checkpoints: the state of a search in a file, so that it can be taken up again where it was.

A file has the proof trees, the open nodes and the best pair of a search, and digests of what it is about: space, similarity, question and model. It is written now and then, and when the
search ends, whole or not at all (`write_file`), so that a program that is killed loses what was found since
the last time. Where it cannot be written, on a full disk for
instance, that is said once and the search goes on.

Analyses that are no single search (`share`, `regions`) write values of their own, of which they say what they believe (`SavedAnalysis`).

What a file says of a search is not believed: its cells must be those of its trees, the pair is put to the referee, and leaves are proved again, or left to the checker where that looks at all of them. It
holds values of our own and numbers; whatever else it names is not read. Two programs that write the same file would spoil each other's work: the second one is refused.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import math
import os
import pickle
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise import clock
from likewise.errors import SpecError
from likewise.search.frontiers import Frontiers, by_cases, make_frontiers, resume_all
from likewise.search.parts import FrontierState, standing_state
from likewise.spec.disk import read_file, unpack, write_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.leaf import Clearance, Leaf
    from likewise.model.cases import Witness
    from likewise.progress import Listener, Snapshot
    from likewise.search.parts import Ends, NodeState
    from likewise.search.proof import Split
    from likewise.search.task import SearchTask

MARK = b"likewise-checkpoint 1\n"
INTERVAL = 30.0  # seconds between two writes
WRITING_SHARE = 0.05  # of the time, at most
NUMBERS = {
    *(("numpy._core.multiarray", "scalar"), ("numpy.core.multiarray", "scalar"), ("numpy", "dtype")),
    ("fractions", "Fraction"),
}
ROOMS = (
    "likewise.analysis.",
    "likewise.cells.",
    "likewise.families.",
    "likewise.search.",
)  # whose values are in a file


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFrontier:
    """The state of the frontier of one case, without what the question says."""

    space: tuple[Ends, Ends]
    nodes: tuple[Split | Leaf | None, ...]
    open: tuple[NodeState, ...]
    stuck: tuple[NodeState, ...]
    batches: int
    clearance: Clearance


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """What a file has: whose search it is, its frontiers, and the best pair."""

    digests: Mapping[str, str]
    frontiers: tuple[SavedFrontier, ...]
    pair: tuple[tuple[float, ...], tuple[float, ...]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAnalysis:
    """The same of an analysis, whose own value the state is."""

    digests: Mapping[str, str]
    state: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedArray:
    """An array of numbers as plain bytes."""

    kind: str
    shape: tuple[int, ...]
    content: bytes

    @classmethod
    def of(cls, array: NDArray[Any]) -> SavedArray:
        return cls(kind=array.dtype.str, shape=array.shape, content=array.tobytes())

    @property
    def array(self) -> NDArray[Any]:
        return np.frombuffer(self.content, dtype=np.dtype(self.kind)).reshape(self.shape).copy()


class Checkpoint:
    """The file of one search; with `resume`, the search goes on from what is in it."""

    def __init__(self, path: str | os.PathLike[str], *, resume: bool) -> None:
        self.path, self.resume = Path(path), resume
        self.digests: Mapping[str, str] = {}
        self.pair: tuple[tuple[float, ...], tuple[float, ...]] | None = None
        self._saved: SavedSearch | SavedAnalysis | None = None
        self._followed: Frontiers | None = None
        self._make_state: Callable[[], Any] | None = None
        self._due, self._told = math.inf, False

    @contextmanager
    def held(self) -> Iterator[Checkpoint]:
        """The file is ours meanwhile."""
        if not self.path.absolute().parent.is_dir():
            raise SpecError(f"{self.path}: there is no folder {self.path.absolute().parent}")
        if self.path.exists() and not self.resume:
            raise SpecError(
                f"{self.path}: already exists",
                hint="resume=True goes on from it; for a new search remove it or name another file",
            )
        with _locked(self.path.with_name(f".{self.path.name}.lock"), self.path):
            yield self

    # -- taking up ------------------------------------------------------------------------------------------------

    def begin(self, digests: Mapping[str, str]) -> None:
        """Say whose search it is; what is in the file must be of the same one."""
        self.digests = digests
        if not self.path.exists():
            return
        saved = _read(self.path)
        for name, digest in digests.items():
            if saved.digests.get(name) != digest:
                raise SpecError(f"{self.path}: was written for another {name}", hint="name another file")
        self._saved = saved
        self.pair = saved.pair if isinstance(saved, SavedSearch) else None

    def known_pair(self, task: SearchTask) -> Witness | None:
        """The best pair of before, if it is one of what is asked now."""
        return None if self.pair is None else task.referee(*self.pair)

    def take_up(self, task: SearchTask, *, checked: bool) -> Frontiers | None:
        """The frontiers of before, once; None where there are none. `checked` where the checker will look at all leaves: they are not proved again here."""
        saved, self._saved = self._saved, None
        if not isinstance(saved, SavedSearch):
            return None
        states = [
            FrontierState(
                case=part.case,
                space=one.space,
                nodes=one.nodes,
                open=one.open,
                stuck=one.stuck,
                batches=one.batches,
                clearance=one.clearance,
            )
            for part, one in zip(by_cases(task), saved.frontiers, strict=True)
        ]
        return resume_all(task, states, checked=checked)

    def take_state(self) -> Any:
        """What an analysis wrote down, once; None where it did not."""
        saved, self._saved = self._saved, None
        return saved.state if isinstance(saved, SavedAnalysis) else None

    # -- writing --------------------------------------------------------------------------------------------------

    def follow_analysis(self, make_state: Callable[[], Any]) -> None:
        """Write this state from now on, when an analysis says that it may be `look`ed at."""
        self._make_state, self._due = make_state, clock.now() + INTERVAL

    def look(self) -> None:
        """Write the state if it is time: nothing is half done now."""
        if clock.now() >= self._due:
            self.save()

    def follow(self, frontiers: Frontiers) -> None:
        """Write their state from now on, whenever it is time; they tell how they go on between two looks at nodes, when nothing is half done."""
        self._followed, self._due = frontiers, clock.now() + INTERVAL
        for frontier in frontiers.all:
            frontier.task.listener = partial(self._listen, frontier.task.listener)

    def _listen(self, listener: Listener, snapshot: Snapshot) -> None:
        if clock.now() >= self._due:
            self.save()
        listener(snapshot)

    def end(self) -> None:
        """Write what is known now, and nothing later."""
        self.save()
        self._followed = self._make_state = None

    def save(self) -> None:
        """Write what is known now."""
        began, found = clock.now(), self._standing()
        if found is None:
            return
        content = zlib.compress(pickle.dumps(found), 1)
        try:
            write_file(self.path, MARK + hashlib.sha256(content).digest() + content, private=True)
        except OSError as error:
            if not self._told:
                self._told = True
                why = error.strerror or error
                warnings.warn(f"{self.path}: cannot be written ({why}); the search goes on", stacklevel=2)
        self._due = clock.now() + max(INTERVAL, (clock.now() - began) / WRITING_SHARE)

    def _standing(self) -> SavedSearch | SavedAnalysis | None:
        """What is to be written, if anything."""
        digests = dict(self.digests)
        if self._make_state is not None:
            return SavedAnalysis(digests=digests, state=self._make_state())
        if self._followed is None:
            return None
        frontiers = tuple(_saved_frontier(standing_state(one)) for one in self._followed.all)
        return SavedSearch(digests=digests, frontiers=frontiers, pair=self.pair)


def begin_frontiers(task: SearchTask, *, checked: bool) -> Frontiers:
    """The frontiers of a task: new ones, or those of its checkpoint, which follows them."""
    if task.checkpoint is None:
        return make_frontiers(task)
    frontiers = task.checkpoint.take_up(task, checked=checked) or make_frontiers(task)
    task.checkpoint.follow(frontiers)
    return frontiers


def _saved_frontier(state: FrontierState) -> SavedFrontier:
    return SavedFrontier(
        space=state.space,
        nodes=state.nodes,
        open=state.open,
        stuck=state.stuck,
        batches=state.batches,
        clearance=state.clearance,
    )


# -- the file ---------------------------------------------------------------------------------------------------------


class _ValueReader(pickle.Unpickler):
    """Reads values of our own and numbers, and nothing that could do anything."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in NUMBERS:
            return getattr(importlib.import_module(module), name)
        if module.startswith(ROOMS) and name.isidentifier():
            found = getattr(importlib.import_module(module), name)
            if isinstance(found, type) and (is_dataclass(found) or issubclass(found, tuple)):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no value of a checkpoint")


UNREADABLE = (
    *(pickle.UnpicklingError, zlib.error, EOFError, AttributeError, ImportError),
    *(IndexError, KeyError, TypeError, ValueError, MemoryError),
)


def _read(path: Path) -> SavedSearch | SavedAnalysis:
    try:
        content = read_file(path)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror or error}") from None
    digest, packed = content[len(MARK) : len(MARK) + 32], content[len(MARK) + 32 :]
    if not content.startswith(MARK) or hashlib.sha256(packed).digest() != digest:
        raise SpecError(f"{path}: is no checkpoint, or a damaged one", hint="name another file")
    try:
        found = _ValueReader(io.BytesIO(unpack(packed))).load()
    except UNREADABLE as error:
        raise SpecError(
            f"{path}: is no checkpoint of this version ({error})", hint="name another file"
        ) from None
    if not isinstance(found, (SavedSearch, SavedAnalysis)):
        raise SpecError(f"{path}: is no checkpoint", hint="name another file")
    return found


@contextmanager
def _locked(place: Path, path: Path) -> Iterator[None]:
    """Hold a lock that ends with this program, however it ends; where a system has none, nobody is refused."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        stream = place.open("a")
    except OSError as error:
        raise SpecError(f"{path}: cannot be written: {error.strerror or error}") from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = os.fstat(stream.fileno()).st_ino == place.stat().st_ino  # else it has just been let go of
        except OSError:
            ours = False
        if not ours:
            raise SpecError(f"{path}: another run is writing it", hint="wait for it, or name another file")
        try:
            yield
        finally:
            with suppress(OSError):
                place.unlink()
