"""Spreading: pieces of work of one kind, each by itself, done here or by workers, and handed back in their order.

It begins here. As soon as what is left would take a worker several times as long as getting ready does, workers are called for, and when one is there the rest is spread.

Whoever does a piece needs the same value (a model, made ready), which travels once (`workers.Parcel`). Pieces go out as others come back, so that few are away at any time, and few wait to be
taken. This process does a piece itself as long as the others of its machine have enough to do. One that is lost is sent again; what nobody takes is done here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from likewise.errors import LikewiseError
from likewise.search.workers import UNSENDABLE, Parcel

if TYPE_CHECKING:
    from likewise.search.workers import Workers

Piece = TypeVar("Piece")
Done = TypeVar("Done")

POLL_SECONDS = 0.05  # between two looks at the clock
AHEAD = 2  # pieces a worker that are away


def make_parcel(workers: Workers, value: Any) -> Parcel | None:
    """The value on its way; None, with a warning, where it cannot be sent."""
    try:
        return Parcel(value)
    except UNSENDABLE as error:
        workers.refuse(f"the model cannot be sent to other processes ({error}): one does all of the work")
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceWork(Generic[Piece, Done]):
    """How pieces are done: by `here` in this process, by `work` in others (`Spreading`), which `greet` what is sent once, the `value`. `worth` says of seconds a row and rows whether processes are
    worth starting for them, by the clock `elapsed`; `told` hears how many rows are done, and in how many processes."""

    value: Callable[[], Any]
    greet: Callable[[str, bytes], None]
    work: Callable[[str, bytes | None, Piece], Done | None]
    here: Callable[[Piece], Done]
    elapsed: Callable[[], float]
    worth: Callable[[float | None, int], bool]
    patience: Callable[[], float]
    told: Callable[[int, int], None]


def do_pieces(
    how: PieceWork[Piece, Done],
    workers: Workers | None,
    pieces: Sequence[tuple[int, Callable[[], Piece]]],
    seconds_a_row: float | None = None,
) -> Iterator[Done]:
    """What comes of each piece, in their order; of each its number of rows and what makes it. `seconds_a_row` are those of this process, where that is known."""
    left, done = sum(rows for rows, _ in pieces), 0
    began, parcel = 0.0 if workers is None else how.elapsed(), None
    for at, (rows, make) in enumerate(pieces):
        if workers is not None and parcel is None:
            pace = (how.elapsed() - began) / done if done else seconds_a_row
            if how.worth(pace, left):
                parcel = make_parcel(workers, how.value())
                workers = None if parcel is None else workers
        if workers is not None and parcel is not None and workers.welcome(parcel, how.greet):
            yield from _spread(how, workers, parcel, pieces[at:], done)
            return
        yield how.here(make())
        done, left = done + rows, left - rows
        if len(pieces) > 1:
            how.told(done, 1)


def _spread(
    how: PieceWork[Piece, Done],
    workers: Workers,
    parcel: Parcel,
    pieces: Sequence[tuple[int, Callable[[], Piece]]],
    done: int,
) -> Iterator[Done]:
    spreading: Spreading[Piece, Done] = Spreading(
        workers=workers, parcel=parcel, work=how.work, here=how.here, patience=how.patience
    )
    found = spreading.run(make() for _, make in pieces)
    for (rows, _), one in zip(pieces, found, strict=True):
        yield one
        done += rows
        how.told(done, workers.count)


@dataclass(slots=True, kw_only=True)
class Spreading(Generic[Piece, Done]):
    """What `work` makes of pieces, in workers: it is told the parcel's name, its content where somebody did not know that, and the piece, and answers None where it does not know the parcel.
    `here` does the same in this process; when `patience` seconds are none, nothing more is waited for."""

    workers: Workers
    parcel: Parcel
    work: Callable[[str, bytes | None, Piece], Done | None]
    here: Callable[[Piece], Done]
    patience: Callable[[], float]
    _away: deque[tuple[Piece, Future[Done | None] | None]] = field(default_factory=deque)

    def run(self, pieces: Iterable[Piece]) -> Iterator[Done]:
        """All of them, in their order."""
        self.workers.introduce(self.parcel)
        try:
            for piece in pieces:
                enough = self._busy >= AHEAD * self.workers.others
                self._away.append((piece, self._do(piece) if enough else self._send(piece)))
                while self._away and (self._is_done or len(self._away) >= AHEAD * self.workers.count):
                    yield self._next()
            while self._away:
                yield self._next()
        finally:
            for _, future in self._away:
                if future is not None:
                    future.cancel()

    @property
    def _busy(self) -> int:
        """Pieces that others have."""
        return sum(future is not None and not future.done() for _, future in self._away)

    @property
    def _is_done(self) -> bool:
        """Whether the first has come back."""
        future = self._away[0][1]
        return future is None or future.done()

    def _do(self, piece: Piece) -> Future[Done | None]:
        """Do it here; what is wrong with it is said when it is its turn."""
        done: Future[Done | None] = Future()
        try:
            done.set_result(self.here(piece))
        except LikewiseError as error:
            done.set_exception(error)
        return done

    def _send(self, piece: Piece) -> Future[Done | None] | None:
        if self.patience() <= 0:
            return None
        return self.workers.submit(self.work, self.parcel.name, self.workers.content(self.parcel), piece)

    def _next(self) -> Done:
        """The first that is away, sent as often as it takes."""
        while True:
            piece, future = self._away[0]
            while future is not None and not future.done() and self.patience() > 0:
                wait([future], timeout=POLL_SECONDS)
            if future is None or not future.done():
                break
            if self.workers.lost(future):
                self._send_again()
                continue
            found = future.result()
            if found is not None:
                self._away.popleft()
                return found
            self.workers.tell_again(self.parcel)
            self._away[0] = (piece, self._send(piece))
        self._away.popleft()
        if future is not None:
            future.cancel()
        return self.here(piece)

    def _send_again(self) -> None:
        """The first, or all of them: with a pool all of its work is lost."""
        for at in range(1 if self.workers.given else len(self._away)):
            piece, _ = self._away[at]
            self._away[at] = (piece, self._send(piece))
