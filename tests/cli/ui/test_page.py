"""The page in a browser: files are chosen, features marked, questions asked and stopped, and what was found is saved.

Skipped where there is no Chromium; LIKEWISE_BROWSER names its program if it is not on the path.
"""

import threading
import time

import pytest
from tests.report.browser import Page, installed

from likewise.cli.ui.server import open_server
from likewise_check import check

pytestmark = pytest.mark.skipif(
    installed() is None, reason="no browser: install chromium, or name one with LIKEWISE_BROWSER"
)
READING = {"allow_pickle": False, "trust": (), "import_budget": 600.0, "max_memory": 2.0}
SECONDS = 120


@pytest.fixture(scope="module")
def folder(shelf, tmp_path_factory):
    """Some of the models, in a folder that is written to."""
    folder = tmp_path_factory.mktemp("desk")
    for name in ("d.csv", "m.skops", "fair.skops", "s.csv", "s.skops"):
        (folder / name).write_bytes((shelf / name).read_bytes())
    return folder


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    browser = Page(installed(), tmp_path_factory.mktemp("browser"))
    try:
        with open_server(str(folder), port=0, reading=READING) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            browser.look(height=1600)
            browser.open(server.address)
            yield browser
            server.shutdown()
    finally:
        browser.close()


@pytest.fixture(autouse=True)
def _complaints(page):
    """Whatever a test does, the browser has nothing to complain about."""
    yield
    page.run("0")
    assert not page.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    assert [entry["entry"]["text"] for entry in page.of("Log.entryAdded")] == []


def until(page, condition):
    """Wait until it holds in the page."""
    end = time.monotonic() + SECONDS
    while not page.run(f"Boolean({condition})"):
        assert time.monotonic() < end, f"{condition}: {page.run('document.body.innerText')}"
        time.sleep(0.05)


def choose(page, name, value):
    until(page, f"[...at({name!r}).options].some(option => option.value === {value!r})")
    page.run(f"at({name!r}).value = {value!r}; at({name!r}).dispatchEvent(new Event('change'))")


def write(page, name, value):
    page.run(f"at({name!r}).value = {value!r}; at({name!r}).dispatchEvent(new Event('change'))")


def click(page, name):
    until(page, f"!at({name!r}).disabled")
    page.run(f"at({name!r}).click()")


def mark(page, feature, relation, amount=None):
    radio = f"document.querySelector('input[name=\"relation of {feature}\"][value={relation}]')"
    page.run(f"{radio}.click()")
    if amount is not None:
        page.run(
            f"(() => {{ const input = document.querySelector('[aria-label=\"{feature}: by at most\"]');"
            f"input.value = {amount!r}; input.dispatchEvent(new Event('change')); }})()"
        )


def draft(page, data, model, label):
    page.run("at('similar').hidden = true")
    choose(page, "data", data)
    choose(page, "model", model)
    until(page, "!at('draft').disabled")
    assert page.run("at('label').value") == label  # the one column that the model was not fitted on
    click(page, "draft")
    until(page, "!at('similar').hidden")


def answered(page):
    until(page, "at('stop').disabled && at('answer').innerText")
    return page.run("at('answer').innerText")


def test_a_draft_hints_at_protected_features_and_waits_for_a_similarity(page):
    draft(page, "d.csv", "m.skops", "approved")
    hints = "[...document.querySelectorAll('#features .hint')].map(e => e.parentNode.firstChild.textContent)"
    assert page.run(hints) == ["age", "sex"]
    assert page.run("at('verify').disabled")
    mark(page, "sex", "free")
    until(page, "!at('verify').disabled")


@pytest.mark.slow
def test_a_biased_model_from_its_files_to_the_report(page, folder):
    draft(page, "d.csv", "m.skops", "approved")
    mark(page, "sex", "free")
    mark(page, "age", "within", "2")
    until(page, "/sex.*age/.test(at('words').innerText)")
    click(page, "verify")
    told = answered(page)
    assert told.startswith("BIASED")
    differing = page.run(
        "[...document.querySelectorAll('#answer tr.differs')].map(row => row.cells[0].textContent)"
    )
    assert "sex" in differing
    assert "income" not in differing

    write(page, "claim-name", "mine.toml")
    click(page, "save-claim")
    until(page, "at('claim-saved').innerText")
    assert "within" in (folder / "mine.toml").read_text()
    assert 'path = "m.skops"' in (folder / "mine.toml").read_text()
    click(page, "save-certificate")
    until(page, "at('certificate-saved').innerText")
    assert check(folder / "proof.likewise").accepted
    write(page, "budget", "5")
    click(page, "save-report")
    until(page, "at('report-saved').innerText.includes('look at it')")
    assert "BIASED" in (folder / "report.html").read_text()
    assert page.run("at('answer').innerText").startswith("BIASED")


@pytest.mark.slow
def test_a_fair_model_is_proved(page):
    draft(page, "d.csv", "fair.skops", "approved")
    mark(page, "sex", "free")
    click(page, "verify")
    assert answered(page).startswith("FAIR")


@pytest.mark.slow
def test_a_gap_is_measured(page):
    draft(page, "d.csv", "m.skops", "approved")
    mark(page, "sex", "free")
    choose(page, "of", "probability")
    click(page, "measure")
    assert "probability" in answered(page)


@pytest.mark.slow
def test_a_search_is_stopped_with_what_it_knows(page):
    draft(page, "s.csv", "s.skops", "")
    mark(page, "sex", "free")
    write(page, "budget", "600")
    click(page, "verify")
    until(page, "/cells closed/.test(at('stage').innerText)")
    click(page, "stop")
    told = answered(page)
    assert told.startswith("UNKNOWN")
    assert "interrupted" in told


@pytest.mark.slow
def test_what_is_wrong_is_said_and_nothing_lost(page, folder):
    draft(page, "d.csv", "m.skops", "approved")
    mark(page, "age", "within", "many")
    until(page, "!at('problem').hidden")
    assert "many" in page.run("at('problem').innerText")
    mark(page, "age", "within", "2")
    until(page, "at('problem').hidden")
    write(page, "claim-name", "../outside.toml")
    click(page, "save-claim")
    until(page, "!at('problem').hidden")
    assert not (folder.parent / "outside.toml").exists()


@pytest.mark.slow
def test_a_claim_file_is_opened_again(page, folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "old.toml").write_text(
        '[model]\npath = "../m.skops"\n[data]\npath = "../d.csv"\nlabel = "approved"\n'
        '[features.age]\nkind = "integer"\nlo = 18\nhi = 90\n[features.sex]\nkind = "integer"\nlo = 0\nhi = 1\n'
        '[features.income]\nkind = "continuous"\nlo = 0\nhi = 200\n[similarity]\nfree = ["sex"]\n[property]\nkind = "score"\ndelta = 9.5\n'
    )
    page.run("begin()")
    choose(page, "claims", "sub/old.toml")
    click(page, "open")
    until(page, "at('limit').value === '9.5' && !at('similar').hidden")
    assert page.run("document.querySelector('[aria-label=\"age: to\"]').value") == "90"
    assert "scores at most 9.5 apart" in page.run("at('words').innerText")
    click(page, "verify")
    assert answered(page).startswith("FAIR")


@pytest.mark.slow
def test_a_claim_that_the_page_does_not_offer_is_asked_as_it_is(page, folder):
    (folder / "steep.toml").write_text(
        '[model]\npath = "m.skops"\n[data]\npath = "d.csv"\nlabel = "approved"\n[similarity]\nfree = []\n[property]\nkind = "lipschitz"\nconstant = 1e6\n'
        '[property.metric]\nkind = "l1"\nweights = { income = "1/10" }\n'
    )
    page.run("begin()")
    choose(page, "claims", "steep.toml")
    click(page, "open")
    until(page, "/times their distance/.test(at('words').innerText)")
    assert page.run("at('kind').selectedOptions[0].text") == "as the claim file says"
    assert page.run("at('limit-field').hidden")
    click(page, "verify")
    assert answered(page).startswith("FAIR")


@pytest.mark.slow
def test_on_a_phone_the_pair_is_seen_and_nothing_sticks_out(page):
    draft(page, "d.csv", "m.skops", "approved")
    mark(page, "sex", "free")
    click(page, "verify")
    answered(page)
    try:
        page.look(width=390, height=800, phone=True)
        cells = (
            "[...document.querySelectorAll('#answer :is(th, td, caption)')].filter(c => c.checkVisibility())"
        )
        assert page.run(f"{cells}.length") > 5
        assert page.run(f"{cells}.filter(c => c.getBoundingClientRect().right > 390).length") == 0
        assert page.run("(f => f.scrollHeight <= f.clientHeight)(at('features').closest('.scroll'))")
        for dark, width in ((False, 1000), (True, 1000), (False, 390)):
            page.look(dark=dark, width=width, height=1600, phone=width < 500)
            assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
    finally:
        page.look(height=1600)


@pytest.mark.slow
def test_a_claim_on_files_elsewhere_is_opened_once_the_person_agrees(page, folder):
    (folder.parent / "elsewhere.csv").write_bytes((folder / "d.csv").read_bytes())
    text = "[model]\npath = 'm.skops'\n[data]\npath = '../elsewhere.csv'\nlabel = 'approved'\n"
    (folder / "sent.toml").write_text(text + "[similarity]\nfree = ['sex']\n")
    page.run("begin()")
    choose(page, "claims", "sent.toml")
    for agreed in (False, True):
        page.run(
            f"at('similar').hidden = true; confirm = (said) => {{ window.said = said; return {str(agreed).lower()}; }}; window.said = ''"
        )
        click(page, "open")
        until(page, "window.said && !document.body.hasAttribute('aria-busy')")
        assert str(folder.parent / "elsewhere.csv") in page.run("window.said")
        if agreed:
            until(page, "!at('similar').hidden")
        assert page.run("at('similar').hidden") is not agreed
