"""Workers: the processes, or the executor, in which parts of the work run besides here.

Everything goes through `concurrent.futures.Executor`: a pool of processes of this machine, which is started when it is first needed, or an executor that
the user has, of a cluster for instance. A worker is told the model once: what travels with every piece of work is a name for it, and a worker
that does not know it says so and is sent it with the next one.

What comes back is data: whoever takes it checks it. Work that did not come back, because a process died or a machine went, is lost alone and done again by whoever sent it
(`lost`). A pool that broke is started anew a few times; an executor that takes no more work, or that loses all that it is sent, is `gone`.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")

ALONE_SECONDS = (
    0.75  # that a search is alone before it calls for workers, which start beside it: most are over by then
)
SPREAD_SECONDS = 0.1  # the same when it is asked something else: until there is something to divide
MOST_LOSSES = 5  # pieces of work lost in a row before nobody is sent any more
IDLE_SECONDS = 120.0  # after which a process of a pool without work ends
KNOWN_MODELS = 4  # that a worker keeps
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# Processes are started by `python -m` or `-c`, which would look for modules in the current folder first.
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
UNSENDABLE = (
    pickle.PicklingError,
    TypeError,
    AttributeError,
    NotImplementedError,
)  # what packing raises
LOSSES = (BrokenExecutor, CancelledError, OSError, EOFError, MemoryError)


def is_loss(error: BaseException) -> bool:
    """Whether this says that somebody who did work is gone, and not that the work went wrong."""
    return isinstance(error, LOSSES) or type(error).__module__.startswith("distributed")


class Workers:
    """`count` workers, of this machine's processes, of which this one is one, or of an executor that was given."""

    def __init__(self, count: int, executor: Executor | None = None) -> None:
        self.count, self._given = count, executor
        self._pool: Any = None  # of loky, whose processes can be ended
        if executor is not None and count == 1:
            self.count = (
                getattr(executor, "_max_workers", None) or 1
            )  # as pools of the standard library have it
        self._losses = 0
        self._untold: dict[str, int] = {}  # by parcel: how many workers did not know it
        self._greetings: dict[str, Future[list[Future[Any]]]] = {}  # by parcel: what they were sent first
        self._starter: Executor | None = (
            None  # starting processes may take a while: that is done beside the search
        )
        self._closed = False
        self.gone = False

    @property
    def given(self) -> bool:
        """Whether the executor is the user's."""
        return self._given is not None

    @property
    def others(self) -> int:
        """Workers besides this process, which does its part where it would else wait: a machine's cores are to be busy, those of a cluster to be served at once."""
        return self.count if self.given else self.count - 1

    def patience(self, alone: float) -> float:
        """Seconds that a search, which was `alone` for so many, goes on by itself before it calls for workers."""
        return max(ALONE_SECONDS - alone, SPREAD_SECONDS)

    def submit(self, work: Callable[..., T], *arguments: Any) -> Future[T] | None:
        """Have work done; None where nobody takes any."""
        if self.gone or self._closed:
            return None
        if self._given is None and self._pool is None:
            self._pool = _start_pool(self.others)
        executor: Executor = self._pool if self._given is None else self._given
        try:
            return executor.submit(work, *arguments)
        except Exception as error:
            if not is_loss(error) and not isinstance(error, RuntimeError):  # RuntimeError: it was shut down
                raise
            self.lose()
            return self.submit(work, *arguments)

    def lost(self, future: Future[Any]) -> bool:
        """Whether what was sent did not come back, for no fault of its own; raises what the work itself raised."""
        error: BaseException | None = CancelledError() if future.cancelled() else future.exception()
        if error is None:
            self._losses = 0
            return False
        if not is_loss(error):
            raise error
        self.lose()
        return True

    def lose(self) -> None:
        """Take note of a loss: a pool is started anew, unless that went wrong too often; of an executor that was given nothing more is expected then."""
        self._losses += 1
        if self._losses >= MOST_LOSSES:
            self.gone = True
        if not self.given:
            self._end_pool()

    def close(self) -> None:
        """Send nothing more, and end the processes of a pool, whatever they are doing."""
        self._closed = True
        if self._starter is not None:
            self._starter.shutdown(wait=False)
        self._end_pool()

    def _end_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, kill_workers=True)
            self._pool = None
            self._untold.clear()
            self._greetings.clear()

    def refuse(self, why: str) -> None:
        """Send nobody anything, and say why."""
        self.gone = True
        warnings.warn(why, stacklevel=2)

    # -- what travels once ----------------------------------------------------------------------------------------

    def welcome(self, parcel: Parcel, greet: Callable[..., None], *more: Any) -> bool:
        """Whether a worker is there that knows a parcel: workers may take seconds to begin. They are sent it with the first call, and whoever asks goes on by itself
        meanwhile. True also where nobody will come."""
        if parcel.name not in self._greetings:
            self._greetings[parcel.name] = self._begin_greeting(parcel, greet, more)
        sent = self._greetings[parcel.name]
        for future in [future for future in sent.result() if future.done()] if sent.done() else ():
            if self.lost(future):
                self._greetings.pop(parcel.name, None)
                return self.gone
            return True
        return self.gone

    def _begin_greeting(
        self, parcel: Parcel, greet: Callable[..., None], more: Sequence[Any]
    ) -> Future[list[Future[Any]]]:
        if self.given:
            done: Future[list[Future[Any]]] = Future()
            done.set_result(self._greet_all(parcel, greet, more))
            return done
        if self._starter is None:
            self._starter = ThreadPoolExecutor(1)
        return self._starter.submit(self._greet_all, parcel, greet, more)

    def _greet_all(
        self, parcel: Parcel, greet: Callable[..., None], more: Sequence[Any]
    ) -> list[Future[Any]]:
        sent = (self.submit(greet, parcel.name, parcel.content, *more) for _ in range(self.others))
        greeted = [future for future in sent if future is not None]
        if self._closed:  # meanwhile
            self._end_pool()
        return greeted

    def content(self, parcel: Parcel) -> bytes | None:
        """The content of a parcel, where somebody said that he does not know it; None else."""
        left = self._untold.get(parcel.name, 0)
        self._untold[parcel.name] = max(left - 1, 0)
        return parcel.content if left else None

    def introduce(self, parcel: Parcel) -> None:
        """Nobody knows it yet, unless it was introduced before: it goes along with as many pieces of work as there are workers."""
        if parcel.name not in self._untold and parcel.name not in self._greetings:
            self._untold[parcel.name] = self.others

    def tell_again(self, parcel: Parcel) -> None:
        """Somebody did not know it."""
        self._untold[parcel.name] = self._untold.get(parcel.name, 0) + 1


def _start_pool(count: int) -> Any:
    """Processes that are started afresh: a copy of this one (fork) would stand still where threads of ours held a lock."""
    from multiprocessing.resource_tracker import ensure_running

    from joblib.externals.loky import ProcessPoolExecutor

    own = {**ONE_THREAD, **SAFE_PATH}
    with starting_processes(SAFE_PATH):  # of trackers, which are told no environment
        if os.name == "posix":
            ensure_running()
        return ProcessPoolExecutor(count, timeout=IDLE_SECONDS, initializer=_ignore_interrupts, env=own)


_STARTING = threading.Lock()


@contextmanager
def starting_processes(own: Mapping[str, str] = {**ONE_THREAD, **SAFE_PATH}) -> Iterator[None]:
    """The environment of processes that are started meanwhile: one thread each in their libraries, as there
    is one of them a core, and no modules from the current folder."""
    with _STARTING:
        before = {name: os.environ.get(name) for name in own}
        os.environ.update(own)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _ignore_interrupts() -> None:
    """Ctrl-C is for the program that waits for this process."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


# -- parcels ----------------------------------------------------------------------------------------------------------


class Parcel:
    """A value on its way to workers: its name, and its content for those who do not know it."""

    def __init__(self, value: Any) -> None:
        self.content = pack(value)
        self.name = hashlib.sha256(self.content).hexdigest()


def pack(value: Any) -> bytes:
    """As bytes. Of our own values their fields travel: what was made of these on first use is made again there."""
    import cloudpickle

    file = io.BytesIO()
    packer = cloudpickle.Pickler(file)
    as_usual = packer.reducer_override

    def reduce(one: Any) -> Any:
        if is_dataclass(one) and type(one).__module__.startswith("likewise.") and hasattr(one, "__dict__"):
            made = {part.name: getattr(one, part.name) for part in fields(one)}
            return object.__new__, (type(one),), made
        return as_usual(one)

    packer.reducer_override = reduce
    packer.dump(value)
    return file.getvalue()


_KNOWN = (
    threading.local()
)  # values by name, of each thread of a worker: bounds keep notes of their own, which threads must not share


def unpack(name: str, content: bytes | None, arrive: Callable[[Any], T]) -> T | None:
    """What is made of a parcel where it arrives, once; None where it is not known and the content did not come along."""
    known: OrderedDict[str, Any] = _KNOWN.__dict__.setdefault("values", OrderedDict())
    if name not in known:
        if content is None:
            return None
        known[name] = arrive(pickle.loads(content))  # noqa: S301 - sent by the process that this one works for
        while len(known) > KNOWN_MODELS:
            known.popitem(last=False)
    known.move_to_end(name)
    found: T = known[name]
    return found
