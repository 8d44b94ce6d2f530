"""Chromium without a window, spoken to through a pipe: opens a page, runs scripts in it, takes pictures.

The DevTools protocol on file descriptors 3 and 4, messages in JSON ended by a zero byte: needs nothing but the browser itself.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60


def installed() -> str | None:
    """The browser's program; LIKEWISE_BROWSER names another."""
    return os.environ.get("LIKEWISE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page. `events` are what the browser has told so far."""

    def __init__(self, program: str, folder) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        command = [
            program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
        ]
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (to_browser, from_browser)]

        def placed() -> None:  # the browser wants them as 3 and 4
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(
            command,
            preexec_fn=placed,  # noqa: PLW1509 - two system calls, no thread of this process is in them
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        self._buffer, self._number, self._session = b"", 0, None
        self.events = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        try:
            self._session = None
            self.send("Browser.close")
        finally:
            self._process.wait(SECONDS)
            os.close(self._write)
            os.close(self._read)

    def send(self, method: str, **params):
        """The answer to one command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def _next(self):
        end = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], max(end - time.monotonic(), 0))[0]:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, url: str) -> None:
        self.events.clear()
        self.send("Page.navigate", url=url)
        self.hear("Page.loadEventFired")

    def hear(self, method: str, **params) -> None:
        """Waits until the browser tells this, with these values."""
        while not any(params.items() <= told.items() for told in self.of(method)):
            self.events.append(self._next())

    def run(self, script: str):
        """The value of an expression in the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def until(self, script: str):
        """The value of an expression as soon as there is one: neither empty nor false."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.02)
        raise TimeoutError(f"never so: {script}")

    def offline(self) -> None:
        """No network from now on."""
        self.send(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )

    def look(self, *, dark: bool = False, width: int = 900, height: int = 1200, phone: bool = False) -> None:
        """The reader's colours and window."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    def picture(self, *, whole: bool = True) -> bytes:
        """A PNG of the page."""
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    def printed(self) -> bytes:
        """A PDF of the page."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def of(self, *methods: str):
        """What the browser told under these names."""
        return [event["params"] for event in self.events if event.get("method") in methods]
