"""likewise-check.html in a browser, from a file, with the network off: files dropped and chosen, and what is said of them.

Skipped where there is no Chromium; LIKEWISE_BROWSER names its program if it is not on the path.
"""

import gzip

import pytest
from tests.report.browser import Page, installed

from likewise.report.check_page import write_check_page

pytestmark = pytest.mark.skipif(
    installed() is None, reason="no browser: install chromium, or name one with LIKEWISE_BROWSER"
)

OUTCOME = "document.querySelector('.outcome').textContent"
TITLE = "document.querySelector('.outcome h3').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    page = Page(installed(), folder / "profile")
    try:
        page.look()
        page.url = write_check_page(folder / "likewise-check.html").as_uri()
        page.offline()
        yield page
    finally:
        page.close()


@pytest.fixture
def opened(browser):
    """The page, fresh; whatever a test does, nothing is asked for but the file and what it holds itself, and nothing is complained about."""
    browser.open(browser.url)
    yield browser
    browser.run("0")
    asked = [request["request"]["url"] for request in browser.of("Network.requestWillBeSent")]
    assert asked[0] == browser.url
    assert all(url.startswith("blob:") for url in asked[1:])
    assert not browser.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")


@pytest.fixture(scope="module")
def files(fair, biased, tmp_path_factory):
    """Certificates, and the claim and the model of the first one."""
    folder = tmp_path_factory.mktemp("files")
    lines = gzip.decompress(fair.certificate.content).splitlines(keepends=True)
    content = {
        "fair.likewise": fair.certificate.content,
        "biased.likewise": biased.certificate.content,
        "claim.lines": b"".join(lines[1:5]),
        "model.lines": lines[4],
        "narrower.lines": b"".join([lines[1].replace(b"18", b"19"), *lines[2:5]]),
        "damaged.likewise": gzip.compress(b"".join([*lines[:5], *lines[6:]])),
        "letter.txt": b"Dear auditor",
    }
    assert content["narrower.lines"] != content["claim.lines"]
    for name, what in content.items():
        (folder / name).write_bytes(what)
    return folder


def drop(opened, *paths):
    x, y = opened.run(
        "(() => { const r = document.getElementById('drop').getBoundingClientRect(); return [r.x + 9, r.y + 9]; })()"
    )
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        opened.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)


def choose(opened, field, path):
    root = opened.send("DOM.getDocument")["root"]["nodeId"]
    node = opened.send("DOM.querySelector", nodeId=root, selector=f"#{field}")["nodeId"]
    opened.send("DOM.setFileInputFiles", files=[str(path)], nodeId=node)


def said(opened, title):
    """What is said below this title, as soon as it is."""
    opened.until(f"document.querySelector('.outcome h3')?.textContent === '{title}'")
    return opened.run(OUTCOME)


def test_a_dropped_certificate(opened, files):
    drop(opened, files / "fair.likewise")
    told = said(opened, "✓ Accepted")
    assert "ACCEPTED: the proof holds, in exact arithmetic" in told
    assert "Your model: the numbers in the certificate were not compared" in told
    assert "Your claim: space, similarity, property are those of the certificate" in told
    assert (
        opened.run("document.getElementById('taken').textContent")
        == "fair.likewise is taken as the certificate."
    )
    assert opened.run("document.getElementById('certificate').files[0].name") == "fair.likewise"


def test_a_claim_that_is_the_same(opened, files):
    drop(opened, files / "claim.lines", files / "fair.likewise")
    told = said(opened, "✓ Accepted")
    assert "as was asked for: the lines space, similarity, property, model" in told
    assert "is about the claim and the model in your file" in told
    assert "were not compared" not in told


def test_a_claim_that_differs(opened, files):
    drop(opened, files / "fair.likewise")
    said(opened, "✓ Accepted")
    drop(opened, files / "narrower.lines")
    told = said(opened, "✗ Rejected")
    assert "The space line is not the one that was asked for" in told
    assert "ACCEPTED" not in told


def test_a_model_alone(opened, files):
    choose(opened, "certificate", files / "fair.likewise")
    choose(opened, "model", files / "model.lines")
    opened.until(f"{OUTCOME}.includes('as was asked for: the lines model')")
    told = said(opened, "✓ Accepted")
    assert "Your model" not in told
    assert "Your claim: space, similarity, property are" in told
    drop(opened, files / "model.lines", files / "biased.likewise")
    assert "The model line is not the one" in said(opened, "✗ Rejected")


def test_what_it_has_to_be(opened, files):
    drop(opened, files / "biased.likewise")
    assert "claim: NOT every two" in said(opened, "≠ Accepted: similar individuals are treated differently")
    opened.run(
        "(() => { const e = document.getElementById('expect'); e.value = 'fair'; e.dispatchEvent(new Event('change')); })()"
    )
    assert "This certificate is a pair that breaks the claim." in said(
        opened, "✗ Accepted, but not what was expected"
    )


def test_what_is_damaged_and_what_is_none(opened, files):
    drop(opened, files / "damaged.likewise")
    assert "Nothing is proved by it" in said(opened, "✗ Rejected")
    drop(opened, files / "letter.txt")
    assert "Nothing is proved by it" in said(opened, "✗ Not a certificate")


def test_a_file_in_the_wrong_place(opened, files):
    choose(opened, "certificate", files / "fair.likewise")
    choose(opened, "claim", files / "model.lines")
    assert "a claim file has 4 lines" in said(opened, "? Not checked")


def test_start_over(opened, files):
    drop(opened, files / "fair.likewise", files / "narrower.lines")
    said(opened, "✗ Rejected")
    opened.run("document.querySelector('.again').click()")
    assert opened.run(OUTCOME) == ""
    assert opened.run("document.querySelector('.start').disabled")
    assert opened.run("[...document.querySelectorAll('input')].every(field => field.files.length === 0)")
    drop(opened, files / "fair.likewise")
    said(opened, "✓ Accepted")


def test_stop(opened, files):
    opened.run("window.Worker = class { postMessage() {} terminate() { window.ended = true; } }")
    drop(opened, files / "fair.likewise")
    opened.until("document.querySelector('.stop').checkVisibility()")
    opened.run("document.querySelector('.stop').click()")
    assert "neither accepted nor rejected" in said(opened, "? Stopped")


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone(opened, files, dark):
    opened.look(width=360, height=740, phone=True, dark=dark)
    try:
        drop(opened, files / "fair.likewise", files / "claim.lines")
        said(opened, "✓ Accepted")
        assert opened.run("document.documentElement.scrollWidth") <= 360
        assert opened.run("[...document.querySelectorAll('select, input')].every(e => e.labels.length === 1)")
    finally:
        opened.look()
