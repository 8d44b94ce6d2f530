"""The report checks its own certificate: the button pressed in a browser, from a file, with the network off.

Skipped where there is no Chromium; LIKEWISE_BROWSER names its program if it is not on the path.
"""

import base64
import gzip
import json
import re

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.svm import SVC
from tests.report.browser import Page, installed
from tests.report.samples import SEX

import likewise as lw

pytestmark = pytest.mark.skipif(
    installed() is None, reason="no browser: install chromium, or name one with LIKEWISE_BROWSER"
)

OUTCOME = "document.querySelector('#check .outcome').textContent"
LINK = re.compile(r'(href="data:application/gzip;base64,)([^"]*)')
SPACE = lw.Space({"sex": lw.Integer(0, 1), "age": lw.Integer(18, 60), "wage": lw.Continuous(0, 10)})


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    browser = Page(installed(), tmp_path_factory.mktemp("browser"))
    try:
        browser.look()
        yield browser
    finally:
        browser.close()


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    X = np.column_stack(
        [random.integers(0, 2, 80), random.integers(18, 61, 80), random.uniform(0, 10, 80).round(2)]
    )
    return X, (X[:, 2] + X[:, 1] / 20 + 3 * X[:, 0] > 8).astype(int)  # the sex counts, or no rule would


def written(result, path, change=None):
    """The report, its certificate changed."""
    result.report(path)
    if change is not None:
        text = path.read_text(encoding="utf-8")
        content = change(base64.b64decode(LINK.search(text).group(2)))
        path.write_text(LINK.sub(rf"\g<1>{base64.b64encode(content).decode()}", text), encoding="utf-8")
    return path


def show(opened, path):
    opened.open(path.as_uri())
    opened.offline()


def pressed(opened, path):
    """What the page says when the button was pressed; nothing is asked for but the file and what it holds itself."""
    show(opened, path)
    opened.run("document.querySelector('#check .start').click()")
    said = opened.until(OUTCOME)
    assert opened.run("document.querySelector('#check .stop').checkVisibility()") is False
    asked = [request["request"]["url"] for request in opened.of("Network.requestWillBeSent")]
    assert asked[0].startswith("file://")
    assert all(url.startswith("blob:") for url in asked[1:])
    assert not opened.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
    return said


def title(opened):
    return opened.run("document.querySelector('#check .outcome h3').textContent")


def test_a_linear_proof(opened, fair, tmp_path):
    said = pressed(opened, written(fair, tmp_path / "fair.html"))
    assert title(opened) == "✓ Accepted"
    assert "ACCEPTED: the proof holds, in exact arithmetic" in said
    assert "may differ in any way" in said
    assert SEX in said  # a name that is markup stays text
    assert opened.run("document.querySelectorAll('script').length") == 3
    assert opened.run("document.querySelectorAll('img').length") == 0
    assert "rules used: core" in said
    assert "is not covered" in said
    assert "were not compared with the model in use" in said


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    ("model", "pack", "rule"),
    [
        (SVC(kernel="rbf", gamma=0.01), "kernel", "chords"),
        (GradientBoostingClassifier(n_estimators=5, max_depth=2), "trees", "trees"),
    ],
    ids=["rbf", "trees"],
)
def test_a_proof_of(opened, people, tmp_path, model, pack, rule):
    result = lw.verify(model.fit(*people), SPACE, lw.Similarity(free=["sex"]), lw.ScoreGap(5), budget=60)
    assert result.verdict == "FAIR"
    said = pressed(opened, written(result, tmp_path / "fair.html"))
    assert title(opened) == "✓ Accepted"
    assert "scores differ by at most 5" in said
    assert pack in re.search("rules used: .*", said).group()
    assert rule in re.search("leaves: .*", said).group()
    assert f"{result.certificate.outline().nodes:,} step" in said


def test_a_witness(opened, biased, tmp_path):
    said = pressed(opened, written(biased, tmp_path / "biased.html"))
    assert title(opened) == "≠ Accepted: similar individuals are treated differently"
    assert "ACCEPTED: the witness holds, in exact arithmetic" in said
    assert "claim: NOT every two" in said
    assert "The program in use was not run here" in said


def test_a_damaged_certificate(opened, fair, tmp_path):
    def altered(content):
        lines = gzip.decompress(content).split(b"\n")
        end = json.loads(lines[-2])
        end["end"]["nodes"] += 1
        return gzip.compress(b"\n".join([*lines[:-2], json.dumps(end).encode(), b""]))

    said = pressed(opened, written(fair, tmp_path / "altered.html", altered))
    assert title(opened) == "✗ Rejected"
    assert "Nothing is proved by it" in said
    assert "REJECTED at line" in said
    assert "ACCEPTED" not in said
    for name, damage in (("cut", lambda content: content[:-9]), ("none", lambda _: b"no certificate")):
        assert "Nothing is proved by it" in pressed(opened, written(fair, tmp_path / f"{name}.html", damage))
        assert title(opened) == "✗ Not a certificate"


def test_a_certificate_of_the_contrary_is_not_what_the_report_says(opened, fair, biased, tmp_path):
    said = pressed(opened, written(fair, tmp_path / "other.html", lambda _: biased.certificate.content))
    assert title(opened) == "✗ Accepted, but not what was expected"
    assert "a pair that breaks the claim, and the report says otherwise" in said


def test_the_certificate_is_the_one_to_save(opened, fair, tmp_path):
    show(opened, written(fair, tmp_path / "fair.html"))
    link = "document.querySelector('#check a[download]')"
    assert opened.run(f"{link}.checkVisibility()")
    assert opened.run(f"{link}.download") == "claim.likewise"
    opened.send("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    opened.run(f"{link}.click()")
    opened.hear("Page.downloadProgress", state="completed")
    assert (tmp_path / "claim.likewise").read_bytes() == fair.certificate.content


def put_in_place_of_the_checker(opened, script):
    packed = base64.b64encode(gzip.compress(script.encode())).decode()
    opened.run(f"document.getElementById('checker').textContent = '{packed}'")


def test_progress_and_stop(opened, fair, tmp_path):
    show(opened, written(fair, tmp_path / "fair.html"))
    put_in_place_of_the_checker(
        opened, "self.onmessage = () => { self.postMessage({kind: 'progress', nodes: 1234}); for (;;); }"
    )
    opened.run("document.getElementById('check').dataset.nodes = '5000'")
    opened.run("document.querySelector('#check .start').click()")
    opened.until("document.querySelector('#check .so-far').textContent.startsWith('1,234 steps of 5,000, ')")
    assert opened.run("document.querySelector('#check progress').value") == pytest.approx(0.2468)
    opened.run("document.querySelector('#check .stop').click()")
    assert title(opened) == "? Stopped"
    assert "neither accepted nor rejected" in opened.run(OUTCOME)
    assert opened.run("document.querySelector('#check .running').checkVisibility()") is False


@pytest.mark.parametrize("script", ["throw new Error('no way')", "no script ("])
def test_a_checker_that_fails_accepts_nothing(opened, fair, tmp_path, script):
    show(opened, written(fair, tmp_path / "fair.html"))
    put_in_place_of_the_checker(opened, script)
    opened.run("document.querySelector('#check .start').click()")
    assert "The checker failed" in opened.until(OUTCOME)
    assert title(opened) == "? Not checked"


def test_an_old_browser_is_told_so(opened, fair, tmp_path):
    once = opened.send("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    try:
        assert "likewise-check does the same" in pressed(opened, written(fair, tmp_path / "fair.html"))
        assert title(opened) == "? This browser is too old"
    finally:
        opened.send("Page.removeScriptToEvaluateOnNewDocument", identifier=once["identifier"])


def test_a_phone_needs_no_scrolling_sideways(opened, biased, tmp_path):
    opened.look(width=360, height=740, phone=True)
    try:
        pressed(opened, written(biased, tmp_path / "biased.html"))
        assert opened.run("document.documentElement.scrollWidth") <= 360
    finally:
        opened.look()
