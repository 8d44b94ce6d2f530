"""A process that claims are verified in, one after the other, beside others of its kind (`fleet`).

The program and the process talk through a pipe: a claim goes out, with its model as it was read; how the search goes on comes back now and then, and at last what became of it. The program can
ask for an end of the search, which then answers with its bounds, as after Ctrl-C. A process whose program is gone ends.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likewise import clock
from likewise.errors import InternalError, LikewiseError
from likewise.search.workers import pack, starting_processes

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from likewise.cli.options import ClaimFlags, SearchFlags
    from likewise.problem import Problem
    from likewise.progress import Snapshot
    from likewise.search.budget import Budget
    from likewise.verifying.result import Result

TELL_SECONDS = 0.2  # between two tellings of progress
END_SECONDS = 5.0  # that a process may take to end when it is asked to
STOP = b"stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """A claim to be verified: its problem, with how many processes and how long, and where its state is kept."""

    problem: Problem
    flags: ClaimFlags
    look: SearchFlags
    import_seconds: float
    reading_seconds: float
    checkpoint: str | None
    resume: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """Why a claim has no answer: a defect of Likewise, or a process that was ended."""

    why: str
    defect: bool
    trace: str = ""

    @classmethod
    def by(cls, error: Exception) -> Crash:
        """Of what nobody foresaw."""
        why = f"internal error: {type(error).__name__}: {' '.join(str(error).split())}"
        return cls(why=why, defect=True, trace="".join(traceback.format_exception(error)))

    @classmethod
    def ended(cls, code: int | None) -> Crash:
        """Of a process that ended with this code before it answered."""
        how = f"with exit code {code}"
        if code is not None and code < 0:
            with suppress(ValueError):
                how = f"by {signal.Signals(-code).name}"
        more = ", perhaps for lack of memory" if how == "by SIGKILL" else ""
        return cls(why=f"its process was ended {how}{more}", defect=False)


# -- here ---------------------------------------------------------------------------------------------------


class ClaimProcess:
    """The process, seen from the program."""

    def __init__(self) -> None:
        from multiprocessing import get_context

        # Not a copy of this process (fork): locks that threads of ours hold would never be let go of there.
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,))
        with starting_processes():
            self._process.start()
        theirs.close()

    def ask(self, request: bytes) -> None:
        """Send a request, packed; a process that is gone does not take it, which `answer` tells."""
        with suppress(OSError):
            self.connection.send_bytes(request)

    def stop(self) -> None:
        """Ask for the end of its search, and for what is known by then."""
        self.ask(STOP)

    def answer(self) -> Snapshot | Result | LikewiseError | Crash:
        """What it says next: progress, or what became of the claim."""
        try:
            said: Any = pickle.loads(self.connection.recv_bytes())  # noqa: S301 - by the process that was started here
        except (EOFError, OSError):
            self._process.join(END_SECONDS)
            return Crash.ended(self._process.exitcode)
        found: Snapshot | Result | LikewiseError | Crash = said
        return found

    def close(self) -> None:
        """End it, whatever it is doing."""
        self.connection.close()
        self._process.join(END_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


# -- there --------------------------------------------------------------------------------------------------


def serve(connection: Connection) -> None:
    """Verify the claims that come, until nobody sends any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for searches, and for the program
    service = _Service(connection)
    threading.Thread(target=service.listen, daemon=True).start()
    while True:
        service.verify_next()


class _Service:
    """What a process does: a thread listens, the main one searches."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._budget: Budget | None = None
        self._told = -TELL_SECONDS

    def listen(self) -> None:
        while True:
            try:
                said = self._connection.recv_bytes()
            except (EOFError, OSError):
                os._exit(0)  # nobody waits for what the main thread is doing
            if said != STOP:
                self._requests.put(said)
                continue
            self._stopped.set()
            if self._budget is not None:
                self._budget.interrupt()

    def verify_next(self) -> None:
        request = self._requests.get()
        try:
            answer = self._verify(pickle.loads(request))  # noqa: S301 - sent by the program that started this process
        except InternalError as error:
            answer = pack(Crash.by(error))
        except LikewiseError as error:
            answer = pack(error)
        except Exception as error:  # noqa: BLE001 - the others go on, and the program says so
            answer = pack(Crash.by(error))
        self._connection.send_bytes(answer)

    def _verify(self, request: ClaimRequest) -> bytes:
        from likewise.cli.claims import start_run
        from likewise.verifying.verification import verify_problem

        with start_run(
            request.flags,
            request.look,
            progress=self._tell,
            checkpoint=request.checkpoint,
            resume=request.resume,
        ) as run:
            run.budget.carry_on(request.import_seconds, request.reading_seconds)
            self._budget = run.budget
            if self._stopped.is_set():
                run.budget.interrupt()
            try:
                return pack(verify_problem(request.problem, run))
            finally:
                self._budget = None

    def _tell(self, snapshot: Snapshot) -> None:
        now = clock.now()
        if now >= self._told + TELL_SECONDS:
            self._told = now
            self._connection.send_bytes(pack(snapshot))
