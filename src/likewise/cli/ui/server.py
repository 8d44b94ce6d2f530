"""The server of the page: on this machine alone, and for those alone who have the address with its key.

The key is in the part of the address that browsers keep to themselves (after #); the page sends it along with everything that it asks for. Requests that
name another host are refused, so that no other page can reach this one under a name of its own. The page runs nothing but its own script.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from likewise.certificate.certificate import load_certificate
from likewise.cli.ui.files import CLAIM_SUFFIX, Folder, check_files
from likewise.cli.ui.jobs import Job
from likewise.errors import LikewiseError, SpecError
from likewise.spec.numbers import short_repr

HOST = "127.0.0.1"
KEY_HEADER = "X-Likewise-Key"
MOST_BYTES = 4_000_000  # of a request
LONGEST_COUNT = 20  # digits
STATIC = Path(__file__).parent / "static"
PAGES = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-popups"  # a report knows nothing of this page, and has a policy of its own
)
SHORT = ("columns", "draft", "open", "show", "save")  # questions that are waited for
LONG = ("verify", "measure")
VERDICT_CODES = (0, 1, 3)


class Workbench:
    """What the page can do: the folder, the files of the work at hand, and the one job that runs."""

    def __init__(self, folder: Folder, work: Path, reading: Mapping[str, Any]) -> None:
        self.folder, self.work, self.reading = folder, work, reading
        self.job: Job | None = None
        self.reports: dict[str, Path] = {}  # by the names under which they are served
        self.allowed: set[str] = set()  # files outside of the folder that the person was asked about
        self._lock = threading.Lock()

    def files(self) -> dict[str, Any]:
        """What there is to choose from."""
        listed = self.folder.listed(pickles=bool(self.reading["allow_pickle"]))
        return {"folder": str(self.folder.path), **listed}

    def ask(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a question that takes a moment."""
        if given.get("question") not in SHORT:
            raise SpecError(f"{given.get('question')!r} is no question of this page")
        job = Job(self._request(given))
        job.wait()
        return job.state(0)

    def start(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Begin what takes longer, one at a time."""
        question = given.get("question")
        with self._lock:
            if self.job is not None and self.job.running:
                raise SpecError("another search is running", hint="wait for it, or stop it")
            if question in LONG:
                (self.work / "proof.likewise").unlink(missing_ok=True)
                self.job = Job(self._request(given))
            elif question == "report":
                self.job = self._start_report(given)
            else:
                raise SpecError(f"{question!r} is no question of this page")
        return {}

    def state(self, since: int) -> dict[str, Any]:
        """How the job is getting on."""
        if self.job is None:
            return {"running": False, "progress": [], "answer": None, "error": None, "hint": None}
        return self.job.state(since)

    def stop(self, _given: Mapping[str, Any]) -> dict[str, Any]:
        """End the job."""
        if self.job is not None:
            self.job.stop()
        return {}

    def save_certificate(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The certificate of the last verdict, in a file of the user's."""
        target = self.folder.place(given.get("output"), ".likewise", overwrite=given.get("overwrite") is True)
        if not (self.work / "proof.likewise").is_file():
            raise SpecError("there is no certificate", hint="verify first")
        load_certificate(self.work / "proof.likewise").save(target)
        return {"saved": str(given["output"])}

    def close(self) -> None:
        """End what runs."""
        if self.job is not None:
            self.job.kill()

    def _request(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """A question with the files that it needs, all of this folder or of the work at hand."""
        if given["question"] == "open":
            self.allowed |= _allowed_names(given)
        request: dict[str, Any] = {**self.reading, "question": given["question"]}
        request |= {"folder": str(self.folder.path), "allowed": sorted(self.allowed)}
        for name in ("data", "model", "claim"):
            if given.get(name) is not None:
                request[name] = self.folder.find(given[name])
        if given["question"] == "save":
            overwrite = given.get("overwrite") is True
            request["output"] = self.folder.place(given.get("output"), CLAIM_SUFFIX, overwrite=overwrite)
        needed = {"columns": ("data", "model"), "draft": ("data", "model"), "open": ("claim",)}
        for name in needed.get(str(given["question"]), ()):
            if name not in request:
                raise SpecError(f"no {name} was chosen")
        choice = given.get("choice", {})
        if not isinstance(choice, dict):
            raise SpecError("choice: not a choice of this page")
        places = {"kept": "draft.toml", "asked": "claim.toml", "certificate": "proof.likewise"}
        request |= {name: str(self.work / file) for name, file in places.items()}
        label = given.get("label")
        scale = given.get("of") if given.get("of") in ("score", "probability", "margin") else "score"
        return request | {
            "choice": choice,
            "budget": _seconds(given.get("budget")),
            "label": None if label in (None, "") else str(label),
            "of": scale,
        }

    def _start_report(self, given: Mapping[str, Any]) -> Job:
        """The report of the claim that was last asked about, by the command that makes reports."""
        asked = self.work / "claim.toml"
        if not asked.is_file():
            raise SpecError("there is nothing to report on yet", hint="verify or measure first")
        check_files(self.folder, asked, self.allowed)
        target = self.folder.place(given.get("output"), ".html", overwrite=given.get("overwrite") is True)
        read = ["--import-budget", str(self.reading["import_budget"])]
        read += ["--max-memory", str(self.reading["max_memory"])]
        read += ["--allow-pickle"] * bool(self.reading["allow_pickle"])
        read += [word for kind in self.reading["trust"] for word in ("--trust", kind)]
        budget = ["--budget", f"{_seconds(given.get('budget')):g}"]
        command = [
            sys.executable,
            "-P",
            "-m",
            "likewise",
            "report",
            str(asked),
            "-o",
            target,
            "--quiet",
            *budget,
            *read,
        ]
        name = secrets.token_urlsafe(24)
        self.reports[name] = Path(target)
        answer = {"saved": str(given["output"]), "view": f"/report/{name}"}
        return Job({}, command, done=dict.fromkeys(VERDICT_CODES, answer))


def _allowed_names(given: Mapping[str, Any]) -> set[str]:
    names = given.get("allow", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SpecError("allow: not the names of files")
    return set(names)


def _seconds(given: Any) -> float:
    try:
        seconds = float(60 if given in (None, "") else given)
    except (TypeError, ValueError, OverflowError):
        seconds = -1.0
    if not 0 <= seconds <= 1e6:
        raise SpecError(f"{short_repr(str(given))} is not a number of seconds", hint="from 0 to 1000000")
    return seconds


def _count(text: str) -> int:
    """A count in an address or a header, -1 for none. Python does not read one of thousands of digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < LONGEST_COUNT else -1


# -- HTTP -------------------------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """Serves one workbench; `address` is what a browser needs."""

    daemon_threads = True

    def __init__(self, port: int, bench: Workbench) -> None:
        super().__init__((HOST, port), _Handler)
        self.bench, self.key = bench, secrets.token_urlsafe(32)
        place = self.server_address[1]
        self.hosts = {f"{HOST}:{place}", f"localhost:{place}"}
        self.address = f"http://{HOST}:{place}/#{self.key}"


@contextmanager
def open_server(folder: str, *, port: int, reading: Mapping[str, Any]) -> Iterator[Server]:
    """A server of the files in a folder."""
    served = Folder(folder)
    with tempfile.TemporaryDirectory(prefix="likewise-ui-") as work:
        bench = Workbench(served, Path(work), reading)
        try:
            server = Server(port, bench)
        except OSError as error:
            raise SpecError(
                f"port {port}: {error.strerror or error}", hint="another --port, or none"
            ) from None
        try:
            with server:
                yield server
        finally:
            bench.close()


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """The page, a report, or what is asked for."""
        url = urlsplit(self.path)
        if not self._known_host():
            return
        if url.path in PAGES:
            name, kind = PAGES[url.path]
            self._send(HTTPStatus.OK, (STATIC / name).read_bytes(), kind)
        elif url.path.startswith("/report/"):
            self._send_report(url.path.removeprefix("/report/"))
        elif url.path == "/api/files":
            self._answer(lambda _: self.server.bench.files(), {})
        elif url.path == "/api/job":
            since = _count(parse_qs(url.query).get("since", ["0"])[0])
            if since < 0:
                self._refuse(HTTPStatus.BAD_REQUEST, "since: not a count of points")
            else:
                self._answer(lambda _: self.server.bench.state(since), {})
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")

    def do_POST(self) -> None:
        """What changes something."""
        bench = self.server.bench
        known = {
            "/api/ask": bench.ask,
            "/api/start": bench.start,
            "/api/stop": bench.stop,
            "/api/certificate": bench.save_certificate,
        }
        if not self._known_host():
            return
        length = _count(self.headers.get("Content-Length", ""))
        if not 0 <= length <= MOST_BYTES:
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too long")
            return
        body = self.rfile.read(length)
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            given = None
        if self.path not in known or not isinstance(given, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "not a question of this page")
            return
        self._answer(known[self.path], given)

    def _known_host(self) -> bool:
        """Whether it was this server that was meant, by its own name."""
        if self.headers.get("Host") in self.server.hosts:
            return True
        self.close_connection = True
        self._refuse(HTTPStatus.FORBIDDEN, "another host")
        return False

    def _answer(self, ask: Any, given: Mapping[str, Any]) -> None:
        key = self.headers.get(KEY_HEADER, "")
        if not hmac.compare_digest(key.encode(), self.server.key.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "the address lacks its key: open the one that was printed")
            return
        try:
            found = ask(given)
        except LikewiseError as error:
            found = {"running": False, "error": error.message, "hint": error.hint}
        except OSError as error:
            found = {"running": False, "error": error.strerror or str(error), "hint": None}
        self._send(HTTPStatus.OK, json.dumps(found).encode(), "application/json")

    def _send_report(self, name: str) -> None:
        path = self.server.bench.reports.get(name)
        if path is None or not path.is_file():
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such report")
        else:
            self._send(HTTPStatus.OK, path.read_bytes(), "text/html", REPORT_POLICY)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._send(status, json.dumps({"error": why, "hint": None}).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, policy: str = POLICY) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads what a page asks for."""
