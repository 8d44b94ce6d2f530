"""Reports that were edited after they were written: what the page itself finds, and what it says where it cannot.

Skipped where there is no Chromium; LIKEWISE_BROWSER names its program if it is not on the path.
"""

import base64
import gzip
import json
import re

import pytest
from tests.report.browser import Page, installed
from tests.report.samples import SEX, fitted

import likewise as lw

pytestmark = pytest.mark.skipif(
    installed() is None, reason="no browser: install chromium, or name one with LIKEWISE_BROWSER"
)
LINK = re.compile(r'(href="data:application/gzip;base64,)([^"]*)')
COMPARED = "document.getElementById('compared').textContent"
TOGETHER = "are those of the certificate inside"
APART = "do not belong together"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    browser = Page(installed(), tmp_path_factory.mktemp("browser"))
    try:
        browser.look()
        yield browser
    finally:
        browser.close()


@pytest.fixture(scope="module")
def report(fair, tmp_path_factory):
    """The text of an honest report about a fair model."""
    return fair.report(tmp_path_factory.mktemp("honest") / "r.html").read_text(encoding="utf-8")


def compared(opened, tmp_path, text):
    """What the page says of its words once it is open."""
    (tmp_path / "r.html").write_text(text, encoding="utf-8")
    opened.open((tmp_path / "r.html").as_uri())
    opened.offline()
    said = opened.until(f"!/scripts are switched off/.test({COMPARED}) && {COMPARED}")
    assert not opened.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    return said


def checked(opened):
    opened.run("document.querySelector('#check .start').click()")
    opened.until("document.querySelector('#check .outcome').textContent")
    assert not opened.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    return opened.run("document.querySelector('#check .outcome h3').textContent")


def changed(text, old, new, count=1):
    assert text.count(old) >= 1, old
    return text.replace(old, new, count)


def carrying(text, content):
    return LINK.sub(rf"\g<1>{base64.b64encode(content).decode()}", text)


def test_an_honest_report_and_its_certificate_belong_together(opened, report, biased, tmp_path):
    assert TOGETHER in compared(opened, tmp_path, report)
    assert checked(opened) == "✓ Accepted"
    names = {"features": {SEX: "gender"}, "title": "Loans"}
    for display in (None, names):
        text = biased.report(tmp_path / "b.html", display=display).read_text(encoding="utf-8")
        assert TOGETHER in compared(opened, tmp_path, text)
    assert "With the names that the model has" in text
    assert checked(opened) == "≠ Accepted: similar individuals are treated differently"


def edits(text):
    """What somebody may change in the words, and what the page says of it."""
    yield changed(text, "</span>FAIR</h2>", "</span>BIASED</h2>"), "The verdict in this report is BIASED"
    yield changed(text, 'class="verdict fair"', 'class="verdict biased"'), "The verdict"
    yield changed(text, "<title>FAIR", "<title>BIASED"), "The title"
    yield (
        changed(text, 'id="claim-words">', 'id="claim-words">All '),
        "The claim in this report is another one",
    )
    yield changed(text, ' id="claim-words"', ""), "The claim in this report is another one"
    for name in ("certificate", "space", "similarity", "property", "model"):
        place = re.search(f'data-digest="{name}">([0-9a-f]{{64}})', text)
        yield changed(text, place[0], place[0][:-1] + "x"), f"The digest of the {name}"
    yield re.sub(r'data-digest="model">[0-9a-f]{64}', ">", text), "The digest of the model"
    verdict = re.search('<h2 id="verdict-title">.*?</h2>', text)[0]
    yield changed(text, verdict, verdict + verdict.replace("FAIR", "BIASED")), "The verdict"


def test_edited_words_are_found(opened, report, tmp_path):
    for text, words in edits(report):
        said = compared(opened, tmp_path, text)
        assert APART in said
        assert words in said
    assert checked(opened) == "✗ Accepted, but it is not the certificate of this report"


def test_another_certificate_is_found(opened, report, fair, biased, claim, tmp_path):
    said = compared(opened, tmp_path, carrying(report, biased.certificate.content))
    assert "that of the certificate is BIASED" in said
    space, X, y = claim
    similar = lw.Similarity(free=[SEX], within={"age": 3})
    other = lw.verify(
        fitted(X, y), space, similar, lw.ScoreGap(1000), X=X, budget=20
    )  # as fair, about another claim
    assert other.verdict == "FAIR"
    said = compared(opened, tmp_path, carrying(report, other.certificate.content))
    assert APART in said
    assert "The claim" in said
    assert "The digest of the similarity" in said
    assert checked(opened) == "✗ Accepted, but it is not the certificate of this report"
    # Words and claim are those of the report, and the model is another one.
    lines = gzip.decompress(fair.certificate.content).split(b"\n")
    header = json.loads(lines[0])
    header["digests"]["model"] = "0" * 64
    forged = gzip.compress(b"\n".join([json.dumps(header).encode(), *lines[1:]]))
    assert "The digest of the model" in compared(opened, tmp_path, carrying(report, forged))
    assert checked(opened) == "✗ Rejected"


@pytest.mark.parametrize(
    "content", [b"", b"no certificate", gzip.compress(b"{}\n", mtime=0), gzip.compress(b"x" * 9, mtime=0)]
)
def test_what_is_no_certificate_is_said(opened, report, tmp_path, content):
    said = compared(opened, tmp_path, carrying(report, content))
    assert APART in said
    assert "cannot be read" in said or "The verdict" in said


def test_a_certificate_that_was_removed_is_missed(opened, report, tmp_path):
    link = re.search('<a class="button" download=.*?</a>', report, re.DOTALL)[0]
    section = re.search('<div id="check".*?</div>\n</div>', report, re.DOTALL)
    for text in (changed(report, link, ""), LINK.sub(r"\g<1>%%%", report), changed(report, section[0], "")):
        assert "no certificate inside" in compared(opened, tmp_path, text)


def test_without_its_script_the_report_says_that_nothing_was_compared(opened, report, tmp_path):
    at = report.rindex("<script>")
    edited = changed(report, "</span>FAIR</h2>", "</span>BIASED</h2>")
    for text in (
        report[:at] + report[report.rindex("</script>") + 9 :],  # no script
        changed(
            edited, "return differences;", "return [];"
        ),  # a changed one, which the policy does not let run
    ):
        (tmp_path / "r.html").write_text(text, encoding="utf-8")
        opened.open((tmp_path / "r.html").as_uri())
        assert "were not compared with the certificate inside" in opened.run(COMPARED)
        assert opened.run("document.querySelector('#check .start').checkVisibility()") is False


def test_every_report_says_that_its_words_can_be_edited(report, claim, fair, tmp_path):
    import dataclasses

    none = dataclasses.replace(fair, certificate=None).report(tmp_path / "n.html").read_text(encoding="utf-8")
    for text in (report, none):
        assert "Anyone who has this file can edit its words: " in text
        assert "They report a result; they do not prove it." in text
    assert "It cannot find the edits of someone who changes the script too" in report
    assert "nothing here can be compared" in none
