"""Jobs: pieces of work that a process of its own does for the page, which can be watched and stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

WORKER = (sys.executable, "-P", "-m", "likewise.cli.ui.worker")
LAST_WORDS = 20  # lines of stderr that are kept
POINTS = 2000  # of the progress that are kept


class Job:
    """One process; `progress` is what it told so far, `answer` or `error` how it ended."""

    def __init__(
        self,
        request: Mapping[str, Any],
        command: Sequence[str] = WORKER,
        *,
        done: Mapping[int, dict[str, Any]] | None = None,
    ) -> None:
        """`done`: the answers that the command's exit codes stand for, where it tells none itself."""
        self.progress: list[dict[str, Any]] = []
        self.told = 0  # how often it was asked to stop
        self.answer: dict[str, Any] | None = None
        self.error: str | None = None
        self.hint: str | None = None
        self._done, self._last_words = done or {}, deque[str](maxlen=LAST_WORDS)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C in the terminal is for the server
        )
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._listen)]
        for reader in self._readers:
            reader.start()
        self._waiter = threading.Thread(target=self._finish, args=(json.dumps(request),), daemon=True)
        self._waiter.start()

    @property
    def running(self) -> bool:
        return self._waiter.is_alive()

    def wait(self) -> None:
        """Until it has ended."""
        self._waiter.join()

    def stop(self) -> None:
        """Ask it to end with what it knows; asked a second time, it is ended."""
        self.told += 1
        if self._process.poll() is not None:
            return
        if self.told == 1 and os.name != "nt":
            self._process.send_signal(signal.SIGINT)
        else:
            self._process.kill()

    def kill(self) -> None:
        """End it at once."""
        if self._process.poll() is None:
            self._process.kill()
        self.wait()

    def state(self, since: int) -> dict[str, Any]:
        """What is known, and the progress from that place on."""
        running = self.running
        return {
            "running": running,
            "progress": self.progress[since:],
            "answer": self.answer,
            "error": None if running else self.error,
            "hint": self.hint,
        }

    def _finish(self, request: str) -> None:
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(request)
                self._process.stdin.close()
        except OSError:
            pass  # it has ended already, and says why
        code = self._process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        if self.answer is not None or self.error is not None:
            return
        self.answer = self._done.get(code)
        if self.answer is None:
            self.error = "stopped before anything was known" if self.told else self._words_of(code)

    def _words_of(self, code: int) -> str:
        said = [line.removeprefix("error: ") for line in self._last_words if line.startswith("error: ")]
        return (
            said[-1] if said else (self._last_words[-1] if self._last_words else f"it ended with code {code}")
        )

    def _read(self) -> None:
        for line in self._process.stdout or ():
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if not isinstance(message, dict):
                continue
            if "progress" in message:
                self._add(message["progress"])
            elif "answer" in message:
                self.answer = message["answer"]
            elif "error" in message:
                self.error, self.hint = message["error"], message.get("hint")

    def _add(self, point: dict[str, Any]) -> None:
        """Keep a point of the progress; when there are too many, the last one is replaced."""
        if len(self.progress) < POINTS:
            self.progress.append(point)
        else:
            self.progress[-1] = point

    def _listen(self) -> None:
        self._last_words.extend(line.rstrip() for line in self._process.stderr or () if line.strip())
