"""The server of the page: who may ask, for which files, and what becomes of the processes that work for it."""

import http.client
import json
import os
import threading
from contextlib import contextmanager

import pytest

from likewise.cli.ui import worker
from likewise.cli.ui.choices import choose, show_claim
from likewise.cli.ui.files import Folder
from likewise.cli.ui.jobs import Job
from likewise.cli.ui.server import open_server
from likewise.errors import SpecError
from likewise.spec.claim import WrittenClaim
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.metric import Metric
from likewise.spec.properties import SameDecision, ScoreGap
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space

READING = {"allow_pickle": False, "trust": (), "import_budget": 600.0, "max_memory": 2.0}


@contextmanager
def served(folder):
    with open_server(str(folder), port=0, reading=READING) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server(shelf):
    with served(shelf) as server:
        yield server


def ask(server, path, given=None, *, key=None, host=None, raw=None):
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {"Host": host or f"127.0.0.1:{port}", "X-Likewise-Key": server.key if key is None else key}
    body = raw if raw is not None else (None if given is None else json.dumps(given))
    try:
        connection.request("GET" if body is None else "POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


def found(server, path, given=None):
    status, body, _ = ask(server, path, given)
    assert status == 200
    return json.loads(body)


def test_the_page_is_served_with_a_policy_that_lets_nothing_else_in(server):
    for path in ("/", "/page.js", "/page.css"):
        status, body, headers = ask(server, path, key="")
        assert status == 200
        assert body
        assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("key", ["", "wrong", "é"])
def test_without_the_key_nothing_is_told(server, key):
    if key == "é":
        key = key.encode().decode("latin-1")
    for path, given in (
        ("/api/files", None),
        ("/api/job", None),
        ("/api/ask", {"question": "open"}),
        ("/api/stop", {}),
    ):
        status, body, _ = ask(server, path, given, key=key)
        assert status == 403
        assert b"d.csv" not in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1"])
def test_another_name_of_this_machine_is_refused(server, host):
    assert ask(server, "/api/files", host=host)[0] == 403
    assert ask(server, "/", host=host)[0] == 403


@pytest.mark.parametrize("raw", ["", "[]", "3", "{", "[" * 100_000])
def test_what_is_no_question_is_refused(server, raw):
    assert ask(server, "/api/ask", raw=raw)[0] == 400


def test_questions_that_are_none_of_the_page_are_refused(server):
    assert ask(server, "/etc/passwd")[0] == 404
    assert ask(server, "/../server.py")[0] == 404
    assert ask(server, "/report/none")[0] == 404
    for path in ("/api/ask", "/api/start"):
        assert "no question" in found(server, path, {"question": "format"})["error"]
        assert "no question" in found(server, path, {})["error"]


def test_what_is_too_long_is_not_read(server):
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.putrequest("POST", "/api/ask")
    connection.putheader("Content-Length", "5000000")
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_files_are_those_of_the_folder(shelf, tmp_path):
    for name in ("a.csv", "m.skops", "m.pkl", "claim.toml", "other.toml", ".hidden.csv", "x.md"):
        (tmp_path / name).write_text("[similarity]\n" if name == "claim.toml" else "")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.parquet").write_text("")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "c.csv").write_text("")
    listed = Folder(str(tmp_path)).listed(pickles=False)
    assert listed == {
        "data": ["a.csv", "sub/b.parquet"],
        "models": ["m.skops"],
        "claims": ["claim.toml"],
        "more": False,
    }
    assert "m.pkl" in Folder(str(tmp_path)).listed(pickles=True)["models"]


def test_nothing_outside_of_the_folder_is_read_or_written(server, shelf, tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    link = shelf / "link.csv"
    if not link.exists():
        link.symlink_to(tmp_path / "secret.csv")
    try:
        for name in ("../secret.csv", str(tmp_path / "secret.csv"), "link.csv", "", "\0", 3, None):
            given = {"question": "columns", "data": name, "model": "m.skops"}
            assert found(server, "/api/ask", given)["error"]
        folder = Folder(str(shelf))
        for name in ("../new.toml", "/new.toml", "no/where.toml", "new.py", "d.csv", ""):
            with pytest.raises(SpecError):
                folder.place(name, ".toml", overwrite=True)
        (shelf / "there.toml").write_text("mine")
        with pytest.raises(SpecError, match="already"):
            folder.place("there.toml", ".toml", overwrite=False)
        folder.place("there.toml", ".toml", overwrite=True)
    finally:
        link.unlink()
        (shelf / "there.toml").unlink(missing_ok=True)


def test_pickles_stay_closed(server):
    given = {"question": "draft", "data": "d.csv", "model": "m.joblib", "label": "approved"}
    drafted = found(server, "/api/ask", given)
    assert drafted["error"] is None  # a name is all that a draft needs
    asked = {"question": "verify", "choice": {"features": {"sex": {"relation": "free"}}}, "budget": 5}
    found(server, "/api/start", asked)
    state = wait(server)
    assert "runs code" in state["error"] or "pickle" in state["error"]


def wait(server):
    server.bench.job.wait()
    return found(server, "/api/job")


def test_one_search_at_a_time_and_none_is_left_behind(shelf):
    with served(shelf) as server:
        found(server, "/api/ask", {"question": "draft", "data": "s.csv", "model": "s.skops"})
        asked = {"question": "verify", "choice": {"features": {"sex": {"relation": "free"}}}, "budget": 600}
        assert found(server, "/api/start", asked) == {}
        assert "running" in found(server, "/api/start", asked)["error"]
        pid = server.bench.job._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_that_dies_is_told(tmp_path):
    job = Job({"question": "nothing of this kind", "max_memory": 2.0})
    job.wait()
    assert "nothing of this kind" in job.state(0)["error"]
    job = Job({"question": "columns", "data": str(tmp_path / "none.csv"), "model": "none.skops"})
    job.kill()
    state = job.state(0)
    assert not state["running"]
    assert state["error"]


def test_a_process_that_is_stopped_before_it_knows_anything_says_so(shelf):
    job = Job({}, ["sleep", "600"])
    job.stop()
    job.wait()
    assert job.state(0)["error"] == "stopped before anything was known"


# -- choices ----------------------------------------------------------------------------------------------

SPACE = Space(
    {
        "age": Integer(18, 75),
        "income": Continuous(0.0, 100.0),
        "sex": Categorical(["f", "m"]),
        "grade": Ordinal(["low", "middle", "high"]),
    },
    constraints=["income <= 90"],
)
CLAIM = WrittenClaim(SPACE, Similarity(pairs={"grade": [("low", "middle")]}), SameDecision())


def test_a_choice_changes_what_it_names_and_nothing_else():
    chosen = choose(
        CLAIM,
        {
            "features": {
                "age": {"relation": "within", "tolerance": "2", "hi": "80"},
                "income": {"relation": "within", "tolerance": "5%", "lo": "0.5"},
                "sex": {"relation": "free"},
            },
            "property": {"kind": "score", "limit": "0.25"},
        },
    )
    assert chosen.space["age"] == Integer(18, 80)
    assert chosen.space["income"] == Continuous(0.5, 100.0)
    assert chosen.space.constraints == SPACE.constraints
    assert chosen.similarity == Similarity(
        free=["sex"], within={"age": 2, "income": "5%"}, pairs={"grade": [("low", "middle")]}
    )
    assert chosen.property == ScoreGap(0.25)
    assert choose(CLAIM, {}) == CLAIM
    again = {one["name"]: one for one in show_claim(chosen)["features"]}
    assert (again["age"]["relation"], again["age"]["tolerance"]) == ("within", "2")
    assert again["grade"]["relation"] == "pairs"
    assert choose(chosen, {"features": {"grade": {"relation": "same"}}}).similarity.pairs == {}


def test_a_property_that_the_page_does_not_offer_stays_as_the_claim_file_says():
    steep = Lipschitz(0.5, Metric("l1", weights={"age": 0.1}))
    claim = WrittenClaim(SPACE, Similarity(free=["sex", "age"]), steep)
    shown = show_claim(claim)["property"]
    assert choose(claim, {"property": shown}).property == steep
    assert choose(claim, {"property": {"kind": "score", "limit": "2"}}).property == ScoreGap(2)


@pytest.mark.parametrize(
    "choice",
    [
        {"features": {"wage": {"relation": "free"}}},
        {"features": {"age": {"relation": "alike"}}},
        {"features": {"age": {"relation": "within", "tolerance": ""}}},
        {"features": {"age": {"relation": "within", "tolerance": "many"}}},
        {"features": {"age": {"lo": "90"}}},
        {"features": {"age": {"lo": "old"}}},
        {"features": {"sex": {"relation": "within", "tolerance": "1"}}},
        {"features": ["age"]},
        {"features": {"age": 3}},
        {"property": {"kind": "virtue"}},
        {"property": {"kind": "score", "limit": "-1"}},
        {"property": {"kind": "score", "limit": "much"}},
    ],
)
def test_choices_that_cannot_be_are_refused(choice):
    with pytest.raises(SpecError):
        choose(CLAIM, choice)


# -- numbers that are too long ----------------------------------------------------------------------------

LONG = "9" * 5000


def test_long_numbers_are_refused_in_words(server, capfd):
    assert ask(server, f"/api/job?since={LONG}")[0] == 400
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.putrequest("POST", "/api/ask")
    connection.putheader("Content-Length", LONG)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    assert ask(server, "/api/ask", raw=f'{{"question": {LONG}}}')[0] == 400
    for budget in (LONG, int(LONG[:4000]), "1e400", "-1", "nan", [1]):  # 4,000 digits: as many as JSON takes
        said = found(server, "/api/start", {"question": "verify", "budget": budget})["error"]
        assert "not a number of seconds" in said
        assert len(said) < 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "one",
    [
        {"age": {"hi": LONG}},
        {"age": {"lo": int(LONG[:4000])}},
        {"age": {"hi": "1e400"}},
        {"age": {"hi": "nan"}},
        {"income": {"hi": f"-{LONG}"}},
        {"age": {"relation": "within", "tolerance": f"-{LONG}"}},
        {"age": {"relation": "within", "tolerance": f"{LONG}%"}},
    ],
)
def test_long_numbers_in_a_choice_are_refused_in_words(one):
    with pytest.raises(SpecError, match=r"age|income") as raised:
        choose(CLAIM, {"features": one})
    assert len(raised.value.message) < 300
    with pytest.raises(SpecError, match="the limit"):
        choose(CLAIM, {"property": {"kind": "score", "limit": LONG}})


@pytest.mark.parametrize("name", ["\ud800.csv", "x" * 5000 + ".csv", LONG, "a/" * 3000])
def test_names_that_no_file_can_have_are_refused(server, name):
    assert found(server, "/api/ask", {"question": "columns", "data": name, "model": "m.skops"})["error"]


# -- files outside of the folder --------------------------------------------------------------------------


def claim_on(folder, data, model="m.skops", name="claim.toml"):
    (folder / name).write_text(
        f"[model]\npath = '{model}'\n[data]\npath = '{data}'\nlabel = 'approved'\n[similarity]\nfree = ['sex']\n"
    )
    return {"question": "open", "claim": name}


@pytest.fixture
def desk(shelf, tmp_path):
    """A folder to serve, and one beside it that is not served."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        (folder / "sub").mkdir(parents=True)
        for name in ("d.csv", "m.skops"):
            (folder / name).write_bytes((shelf / name).read_bytes())
    (inside / "link.csv").symlink_to(outside / "d.csv")
    (inside / "folder").symlink_to(outside)
    (inside / "loop.csv").symlink_to("loop.csv")
    return inside, outside


def elsewhere(inside, outside):
    """Ways to write a file that is not in the folder, and what the page says of it."""
    yield "../outside/d.csv", str(outside / "d.csv")
    yield "sub/../../outside/d.csv", str(outside / "d.csv")
    yield "link.csv", str(outside / "d.csv")
    yield "folder/d.csv", str(outside / "d.csv")
    yield str(outside / "d.csv"), str(outside / "d.csv")
    yield str(inside / "d.csv"), str(inside / "d.csv")  # from the root
    yield "//server/share/d.csv", "//server/share/d.csv"
    yield r"\\server\share\d.csv", None
    yield r"C:\people\d.csv", None
    yield "c:d.csv", None
    yield "/dev/zero", "/dev/zero"


def opened(inside, asked, allowed=()):
    """What the worker answers, in this process."""
    request = {"claim": str(inside / asked["claim"]), "folder": str(inside), "allowed": list(allowed)}
    return worker.open_claim({**request, "kept": str(inside / "kept.toml")}, print)


def test_nothing_outside_of_the_folder_is_read_before_the_person_was_asked(desk, monkeypatch):
    inside, outside = desk
    monkeypatch.setattr("likewise.spec.frames.read_table", None)  # whoever reads data would call it
    for data, shown in elsewhere(inside, outside):
        answer = opened(inside, claim_on(inside, data))
        (one,) = answer["outside"]
        assert one["what"] == "data"
        assert shown is None or one["file"] == shown
        assert list(answer) == ["outside"]  # nothing of the claim, which tells levels of the data
        assert not (inside / "kept.toml").exists()
    both = opened(inside, claim_on(inside, "../outside/d.csv", "../outside/m.skops"))
    assert [one["what"] for one in both["outside"]] == ["model", "data"]
    other = opened(inside, claim_on(inside, "link.csv"), [str(outside / "m.skops")])
    assert "outside" in other  # what was allowed is another file


def test_files_in_the_folder_are_read_without_a_question(desk):
    inside, outside = desk
    for data in ("d.csv", "sub/../d.csv", "./d.csv"):
        assert "features" in opened(inside, claim_on(inside, data))
    assert "features" in opened(inside, claim_on(inside, "../d.csv", "../m.skops", name="sub/claim.toml"))
    assert "features" in opened(inside, claim_on(inside, "link.csv"), [str(outside / "d.csv")])
    assert "features" in opened(inside, claim_on(inside, str(outside / "d.csv")), [str(outside / "d.csv")])


def test_names_of_files_outside_are_shown_as_they_are(desk):
    inside, _ = desk
    (inside / "claim.toml").write_text(
        '[data]\npath = "../\\u202Egpj.csv\\n\\nRead them?"\n[similarity]\nfree = ["sex"]\n'
    )
    (one,) = opened(inside, {"claim": "claim.toml"})["outside"]
    assert one["file"].endswith("gpj.csv\n\nRead them?")
    assert one["shown"].isprintable()


@pytest.mark.slow
def test_files_outside_are_read_once_they_were_allowed(desk):
    inside, outside = desk
    with served(inside) as server:
        asked = claim_on(inside, "link.csv")
        (one,) = found(server, "/api/ask", asked)["answer"]["outside"]
        assert one["file"] == str(outside / "d.csv")
        allowed = {**asked, "allow": [one["file"]]}
        assert "features" in found(server, "/api/ask", allowed)["answer"]
        choice = {"features": {"sex": {"relation": "free"}}}
        assert found(server, "/api/ask", {"question": "show", "choice": choice})["error"] is None
        found(server, "/api/start", {"question": "verify", "choice": choice, "budget": 20})
        assert wait(server)["answer"]["verdict"] == "BIASED"
        # A link that leads somewhere else by now was not asked about.
        (outside / "other.csv").write_bytes((outside / "d.csv").read_bytes())
        (inside / "link.csv").unlink()
        (inside / "link.csv").symlink_to(outside / "other.csv")
        for path, given in (
            ("/api/ask", {"question": "show", "choice": choice}),
            ("/api/start", {"question": "report", "output": "r.html"}),
        ):
            assert "other.csv: is outside" in found(server, path, given)["error"]


@pytest.mark.parametrize("allow", ["all", [1], {"a": 1}])
def test_what_is_allowed_is_a_list_of_names(server, allow):
    given = {"question": "open", "claim": "d.csv", "allow": allow}
    assert "allow" in found(server, "/api/ask", given)["error"]
