"""The page in a browser, from a file: it runs, asks for nothing, sorts, filters, draws the map over other axes, and prints.

Skipped where there is no Chromium; LIKEWISE_BROWSER names its program if it is not on the path.
"""

import json
import re

import pytest
from tests.report.browser import Page, installed
from tests.report.samples import JOB

pytestmark = pytest.mark.skipif(
    installed() is None, reason="no browser: install chromium, or name one with LIKEWISE_BROWSER"
)

ROWS = "[...document.querySelectorAll('#audit-table tbody tr')]"
SHOWN = f"{ROWS}.filter(row => row.checkVisibility())"
TITLES = "[...document.querySelectorAll('#map g > title')].map(title => title.textContent)"


@pytest.fixture(scope="module")
def opened(page, tmp_path_factory):
    browser = Page(installed(), tmp_path_factory.mktemp("browser"))
    try:
        browser.look()
        browser.open(page.as_uri())
        yield browser
    finally:
        browser.close()


@pytest.fixture(autouse=True)
def _complaints(opened):
    """Whatever a test does: no error is logged, and nothing is asked for but the file itself."""
    yield
    opened.run("0")
    assert not opened.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    assert [entry["entry"]["text"] for entry in opened.of("Log.entryAdded")] == []
    asked = {request["request"]["url"].split("#")[0] for request in opened.of("Network.requestWillBeSent")}
    assert len(asked) == 1
    assert asked.pop().startswith("file://")


def gaps(opened):
    found = opened.run(f"{ROWS}.map(row => row.cells[2].dataset.key)")
    return [float(gap) for gap in found if gap], [gap == "" for gap in found]


def click(opened, name):
    opened.run(
        f"[...document.querySelectorAll('#audit-table th button')].find(b => b.textContent === '{name}').click()"
    )


def change(opened, name, value):
    opened.run(
        f"(() => {{ const field = document.getElementById('{name}'); field.value = {json.dumps(value)};"
        "field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event('change')); })()"
    )


def test_names_are_text_in_the_page(opened):
    assert opened.run("document.querySelectorAll('script').length") == 3
    assert opened.run("document.querySelectorAll('img').length") == 0


def test_what_scripts_do_not_know_by_digest_does_not_run(opened):
    opened.run(
        "(() => { const made = document.createElement('div'); made.innerHTML = '<p style=\"color: red\">a</p>';"
        "document.body.append(made); window.colour = getComputedStyle(made.firstChild).color; made.remove(); })()"
    )
    assert opened.run("window.colour") == opened.run("getComputedStyle(document.body).color")
    # The browser says that it refused the style: that is what was asked for.
    opened.run("0")
    opened.events[:] = [event for event in opened.events if event.get("method") != "Log.entryAdded"]


def test_sorting(opened):
    click(opened, "gap")
    numbers, unknown = gaps(opened)
    assert numbers == sorted(numbers)
    assert unknown == sorted(unknown)  # what is not known comes last
    click(opened, "gap")
    numbers, unknown = gaps(opened)
    assert numbers == sorted(numbers, reverse=True)
    assert unknown == sorted(unknown)
    assert opened.run("document.querySelector('#audit-table th:nth-child(3)').ariaSort") == "descending"
    click(opened, "row")
    assert opened.run(f"{ROWS}.map(row => Number(row.cells[0].dataset.key))") == list(range(40))


def test_filtering_and_folding(opened):
    assert opened.run(f"{SHOWN}.length") == 15
    change(opened, "audit-verdict", "biased")
    assert opened.run(f"{SHOWN}.every(row => row.dataset.verdict === 'biased')")
    assert opened.run("document.getElementById('audit-count').textContent") == "14 of 40 rows"
    change(opened, "audit-text", "AGE = 20")
    assert opened.run(f"{SHOWN}.length") == opened.run(
        f"{ROWS}.filter(row => row.dataset.verdict === 'biased' && row.textContent.includes('age = 20')).length"
    )
    change(opened, "audit-verdict", "")
    change(opened, "audit-text", "")
    more = "document.querySelector('#audit .more')"
    opened.run(f"{more}.click()")
    assert opened.run(f"{SHOWN}.length") == 40
    opened.run(f"{more}.click()")
    assert opened.run(f"{SHOWN}.length") == 15


def test_the_map_over_all_axes_adds_up(opened):
    names = opened.run("[...document.getElementById('map-up').options].map(option => option.text)")
    assert names == ["income", JOB, "age"]
    for across in range(3):
        for up in range(3):
            change(opened, "map-across", str(across))
            change(opened, "map-up", str(up))
            titles = opened.run(TITLES)
            assert titles
            for title in titles:
                shares = [
                    float(share) for share in re.findall(r"(?:biased|undecided|fair|empty) ([\d.]+)%", title)
                ]
                assert sum(shares) == pytest.approx(100, abs=0.3)
            label = opened.run("document.getElementById('map').getAttribute('aria-label')")
            assert names[across] in label
            assert names[up] in label


def test_the_map_says_who_is_where(opened):
    change(opened, "map-across", "0")
    change(opened, "map-up", "1")
    titles = opened.run(TITLES)
    assert len(titles) == 2 * 3
    low = [title for title in titles if title.startswith("income 0 to 20")]
    assert all("fair 100.00%" in title for title in low)
    high = [title for title in titles if title.startswith("income 20 to 100")]
    assert sum("biased 100.00%" in title for title in high) == 2
    assert (
        sum(re.search(r"undecided 48.08%, fair 0.00%, empty 51.92%", title) is not None for title in high)
        == 1
    )


def test_the_keyboard_reaches_everything(opened):
    reached = opened.run(
        "[...document.querySelectorAll('a, button, select, input, [tabindex=\"0\"]')].every(e => e.tabIndex >= 0)"
    )
    assert reached
    unnamed = opened.run(
        "[...document.querySelectorAll('svg[role=img], [role=region], nav')].filter("
        "e => !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')).length"
    )
    assert unnamed == 0
    assert opened.run("[...document.querySelectorAll('select, input')].every(e => e.labels.length === 1)")


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_both_schemes(opened, dark):
    """WCAG's contrast of text on paper, and of the colours that carry meaning on it."""
    opened.look(dark=dark)
    colours = opened.run(
        "(() => { const s = getComputedStyle(document.documentElement); return Object.fromEntries("
        "['paper','ink','quiet','link','fair','biased'].map(n => [n, s.getPropertyValue('--' + n).trim()])); })()"
    )
    paper = luminance(colours.pop("paper"))
    assert (paper < 0.1) == dark
    for name, colour in colours.items():
        low, high = sorted((paper, luminance(colour)))
        assert (high + 0.05) / (low + 0.05) >= (4.5 if name in ("ink", "quiet", "link") else 3), name
    opened.look()


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_phone_needs_no_scrolling_sideways(opened):
    opened.look(width=360, height=740, phone=True)
    assert opened.run("document.documentElement.scrollWidth") <= 360
    opened.look()


def test_on_a_phone_the_whole_space_is_seen(opened):
    """No cell of its table is cut off, and each says what it is."""
    opened.look(width=360, height=740, phone=True)
    cells = (
        "[...document.querySelectorAll('#space-table :is(th, td)')].filter(cell => cell.checkVisibility())"
    )
    assert opened.run(f"{cells}.length") > 5
    assert opened.run(f"{cells}.filter(cell => cell.getBoundingClientRect().right > 360).length") == 0
    said = "getComputedStyle(document.querySelector('#space-table td:last-child'), '::before').content"
    assert "two similar individuals" in opened.run(said)
    opened.look()


def test_on_a_phone_the_rules_of_regions_are_seen_with_their_shares(opened):
    opened.look(width=360, height=740, phone=True)
    cells = "[...document.querySelectorAll('#regions-table td')].filter(cell => cell.checkVisibility())"
    assert opened.run(f"{cells}.length") > 5
    assert opened.run(f"{cells}.filter(cell => cell.getBoundingClientRect().right > 360).length") == 0
    said = "getComputedStyle(document.querySelector('#regions-table td[data-name]'), '::after').content"
    assert "share" in opened.run(said)
    opened.look()


def test_names_of_levels_beside_the_map_are_not_cut_off(opened):
    for up in range(opened.run("document.getElementById('map-up').options.length")):
        change(opened, "map-across", "0")
        change(opened, "map-up", str(up))
        edge = "document.getElementById('map').getBoundingClientRect().left"
        out = f"[...document.querySelectorAll('#map text')].filter(t => t.getBoundingClientRect().left < {edge} - 1)"
        assert opened.run(f"{out}.map(t => t.textContent)") == []


def test_on_paper_all_rows_are_there_and_nothing_to_press(opened):
    opened.send("Emulation.setEmulatedMedia", media="print")
    assert opened.run(f"{SHOWN}.length") == 40
    for name in ("nav", ".controls", ".more", "details:not([open])"):
        assert opened.run(f"document.querySelector({json.dumps(name)}).checkVisibility()") is False
    displays = "getComputedStyle(document.querySelector('{}')).display"
    # Sums once and not on every page; and Chromium repeats no head that has a button in it.
    assert opened.run(displays.format("tfoot")) == "table-row-group"
    assert opened.run(displays.format("th button")) == "contents"
    sizes = "parseFloat(getComputedStyle(document.querySelector('{}')).fontSize)"
    body, quiet, cell = (opened.run(sizes.format(name)) for name in ("body", ".quiet", "#audit-table td"))
    assert 10 <= quiet < body < 14
    assert 10 <= cell < body
    opened.send("Emulation.setEmulatedMedia", media="")


def test_it_prints_to_pages(opened):
    """A PDF of several pages, the same in a dark scheme: paper is white."""
    opened.look(dark=True)
    opened.send("Emulation.setEmulatedMedia", media="print")
    assert opened.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    opened.send("Emulation.setEmulatedMedia", media="")
    content = opened.printed()
    opened.look()
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 20


def test_on_a_phone_no_number_and_no_header_is_broken(opened):
    opened.look(width=360, phone=True)
    broken = """[...document.querySelectorAll('thead th, [data-number], .figure')]
        .filter(cell => cell.offsetParent !== null && cell.textContent.trim() !== '')
        .filter(cell => { const range = document.createRange(); range.selectNodeContents(cell);
                          return range.getBoundingClientRect().height > 1.8 * parseFloat(getComputedStyle(cell).fontSize) * 1.55; })
        .map(cell => cell.textContent.trim())"""
    assert opened.run("document.querySelectorAll('[data-number]').length") > 5
    assert opened.run(broken) == []
