"""The page as text: what is in it, that names stay names, and that it asks for nothing."""

import base64
import dataclasses
import gzip
import hashlib
import json
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.report.samples import JOB, LEVELS, SEX, fitted

import likewise as lw
from likewise.answers.audit import merge_rows
from likewise.errors import DataError, SpecError
from likewise.report.page import MOST_BYTES, json_text, write_report
from likewise.report.provenance import certificate_summary
from likewise.report.templating import template_file
from likewise_check.__main__ import main as check_command

VOID = {"meta", "link", "img", "br", "input", "line", "rect", "circle", "polyline", "polygon"}
# What may load something, and what may run something.
LOADING = {
    "img",
    "iframe",
    "object",
    "embed",
    "link",
    "audio",
    "video",
    "source",
    "image",
    "use",
    "base",
    "form",
}


class Elements(HTMLParser):
    """Every element with its attributes and the text in it; refuses tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append({"tag": tag, "text": "", **dict(attrs)})
        if tag not in VOID:
            self.open.append((tag, self.found[-1]))

    def handle_startendtag(self, tag, attrs):
        self.found.append({"tag": tag, "text": "", **dict(attrs)})

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for _, element in self.open:
            element["text"] += data

    def of(self, tag):
        return [element for element in self.found if element["tag"] == tag]


@pytest.fixture(scope="module")
def text(page):
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def elements(text):
    return Elements(text)


def test_every_section_is_there_and_every_link_leads_somewhere(elements):
    sections = [element["id"] for element in elements.of("section")]
    assert sections == [
        "claim", "verdict", "pair", "disparity", "margins", "radius", "share", "regions", "audit", "groups", "repair",
        "assumptions", "provenance", "recheck",
    ]  # fmt: skip
    ids = [element["id"] for element in elements.found if "id" in element]
    assert len(ids) == len(set(ids))
    links = [element["href"] for element in elements.of("a") if element["href"].startswith("#")]
    assert {link[1:] for link in links} <= set(ids)
    assert {f"#{section}" for section in sections[2:]} <= set(links)  # the contents name them all
    for element in elements.found:
        assert element.get("aria-labelledby", ids[0]) in ids


def test_names_and_levels_stay_text(elements, text):
    assert [element.get("type") for element in elements.of("script")] == [
        "text/plain",
        "application/json",
        None,
    ]
    assert not LOADING & {element["tag"] for element in elements.found}
    assert not any(name.startswith("on") for element in elements.found for name in element)
    cells = {element["text"] for tag in ("th", "td") for element in elements.of(tag)}
    assert {SEX, JOB, "<b>yes</b>"} <= cells
    assert "\u202e" not in text


def test_nothing_is_loaded(elements, text):
    for element in elements.found:
        assert not {"src", "srcset", "style", "action", "background"} & set(element)
        assert element.get("href", "#").startswith(("#", "data:application/gzip;base64,"))
    addresses = set(re.findall(r"[a-z]+://[^\s\"')<]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a language, which nobody fetches
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) == {"#hatch"}


def test_the_policy_allows_the_style_and_the_script_alone(elements):
    (policy,) = [
        e["content"] for e in elements.of("meta") if e.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["worker-src"] == "blob:"  # of what the page itself holds
    assert set(rules) == {"default-src", "style-src", "script-src", "worker-src", "base-uri", "form-action"}
    for rule, tag in (("style-src", "style"), ("script-src", "script")):
        digest = base64.b64encode(hashlib.sha256(elements.of(tag)[-1]["text"].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_a_report_with_rates_of_groups_does_not_deny_them(elements, fair, tmp_path):
    (section,) = [element for element in elements.of("section") if element["id"] == "assumptions"]
    assert "averages over groups" not in section["text"]
    assert "averages over groups" in fair.report(tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("constraints", "told"), [([], "(84 individuals)"), (["age <= 30"], "(at most 84 individuals)")]
)
def test_how_many_a_proof_is_about(tmp_path, constraints, told):
    space = lw.Space({"age": lw.Integer(0, 41), "sex": lw.Integer(0, 1)}, constraints=constraints)
    blind = LogisticRegression().fit([[0, 0], [1, 0]], [0, 1])
    page = lw.verify(blind, space, lw.Similarity(free=["sex"])).report(tmp_path / "r.html")
    assert f"for everybody whom the space allows {told}, not for a sample" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("seconds", "reason", "drawn"), [(0.4, None, False), (0.4, "out of time", True), (9.0, None, True)]
)
def test_a_search_that_was_over_at_once_is_no_picture(biased, analyses, tmp_path, seconds, reason, drawn):
    history = [[0.0, 0.5, None], [0.1, 0.8, 3.0], [seconds, 1.5, 1.5]]
    found = {**analyses["disparity"], "history": history, "reason": reason}
    text = biased.report(tmp_path / "r.html", disparity=found).read_text(encoding="utf-8")
    assert ("The bracket around the largest value" in text) is drawn


def test_a_feature_that_is_alone_has_no_bar_to_compare_with(claim, biased, tmp_path):
    space, X, y = claim
    alone = lw.verify(fitted(X, y), space, lw.Similarity(free=[SEX]), X=X, budget=20)
    texts = [one.report(tmp_path / "r.html").read_text(encoding="utf-8") for one in (alone, biased)]
    assert ['<svg class="bar"' in text for text in texts] == [False, len(biased.contributions.parts) > 1]


def test_a_repair_is_told_with_its_verdict_and_what_it_costs(elements, biased, analyses, tmp_path):
    (section,) = [element for element in elements.of("section") if element["id"] == "repair"]
    told = " ".join(section["text"].split())
    for words in (
        f"all settings of {SEX} (2)",
        "FAIR",
        "30 of 1,200 decisions (2.50%)",
        "beforeaccuracy 0.7625 afteraccuracy 0.75",
    ):
        assert words in told
    none = {**analyses["repair"], "method": "threshold", "how": "no fair threshold was found", "rows": None}
    text = biased.report(tmp_path / "none.html", repair=none).read_text(encoding="utf-8")
    assert "No other model was made of this one: no fair threshold was found." in text


def test_the_data_come_back(elements, biased, analyses):
    (data,) = [json.loads(script["text"]) for script in elements.of("script") if script.get("id") == "data"]
    assert data["result"] == json.loads(json.dumps(biased.to_dict()))
    assert data["contributions"] == biased.contributions.to_dict()
    for name in ("disparity", "radius", "share", "groups", "audit", "repair"):
        assert data[name] == analyses[name]
    assert [axis["name"] for axis in data["region_map"]["axes"]] == ["income", JOB, "age"]
    assert json.loads(json_text(LEVELS)) == LEVELS
    assert not set("<>&") & set(json_text(LEVELS))


def test_the_certificate_inside_is_accepted(elements, biased, tmp_path):
    (link,) = [element["href"] for element in elements.of("a") if "download" in element]
    path = tmp_path / "claim.likewise"
    path.write_bytes(base64.b64decode(link.split(",", 1)[1]))
    assert path.read_bytes() == biased.certificate.content
    assert lw.check(path).accepted
    digests = json.loads(gzip.decompress(path.read_bytes()).split(b"\n")[0])["digests"]
    said = elements.of("body")[0]["text"]
    assert all(digest in said for digest in digests.values())
    assert hashlib.sha256(path.read_bytes()).hexdigest() in said


def test_the_checker_inside_is_the_second_one(elements):
    (packed,) = [script["text"] for script in elements.of("script") if script.get("id") == "checker"]
    assert gzip.decompress(base64.b64decode(packed)).decode() == template_file("checker.js")


def test_a_certificate_that_is_too_large_is_left_out_with_the_checker(biased, tmp_path, monkeypatch):
    monkeypatch.setattr("likewise.report.provenance.MOST_ATTACHED", len(biased.certificate.content) - 1)
    for given, said in (
        ({}, "it was not saved: <code>--certificate FILE</code>"),
        ({"certificate_file": "kept.likewise"}, "The certificate is the file kept.likewise"),
    ):
        text = write_report(biased, tmp_path / "r.html", **given).read_text(encoding="utf-8")
        elements = Elements(text)
        assert said in text
        assert "too large to be carried and checked by this page" in text
        assert f"likewise-check {given.get('certificate_file', 'claim.likewise')}" in text
        assert [script.get("id") for script in elements.of("script")] == ["data", None]
        assert "Check this proof" not in text
        assert "likewiseCheck = " not in text


def test_a_large_certificate_takes_no_room_from_the_lists(biased, analyses, tmp_path, monkeypatch):
    content = biased.certificate.content
    large = gzip.compress(
        gzip.decompress(content) + b" " * 3000, compresslevel=0
    )  # more than the page has room for
    monkeypatch.setattr("likewise.report.page.MOST_BYTES", 250_000)
    alone = biased.report(tmp_path / "alone.html", **analyses).read_text(encoding="utf-8")
    monkeypatch.setattr(
        "likewise.report.page.certificate_summary",
        lambda *given, **how: (
            certificate_summary(*given, **how) | {"content": base64.b64encode(large * 100).decode()}
        ),
    )
    both = biased.report(tmp_path / "both.html", **analyses).read_text(encoding="utf-8")
    assert len(both) > len(alone) + 250_000
    assert both.count("<tr data-verdict") == alone.count("<tr data-verdict") == 40


def test_a_fair_claim_says_so_and_has_no_pair(fair, tmp_path):
    elements = Elements(fair.report(tmp_path / "fair.html").read_text(encoding="utf-8"))
    assert "pair" not in [element["id"] for element in elements.of("section")]
    (verdict,) = [element for element in elements.of("section") if element["id"] == "verdict"]
    assert "FAIR" in verdict["text"]
    assert "accepted by the independent checker" in verdict["text"]
    assert "for predict itself up to rounding of" in verdict["text"]


def test_an_unknown_claim_is_not_called_fair(claim, fair, tmp_path):
    unknown = dataclasses.replace(
        fair, verdict=lw.Verdict.UNKNOWN, certificate=None, reason="the budget is used up", bounds=(-1.0, 2.0)
    )
    elements = Elements(unknown.report(tmp_path / "unknown.html").read_text(encoding="utf-8"))
    (verdict,) = [element for element in elements.of("section") if element["id"] == "verdict"]
    assert "UNKNOWN is not FAIR" in verdict["text"]
    assert "the budget is used up" in verdict["text"]
    assert "is between -1 and 2" in verdict["text"]
    assert "There is no certificate" in elements.of("body")[0]["text"]


def test_long_lists_are_cut_until_the_file_is_small(biased, analyses, tmp_path):
    row = analyses["audit"]["rows"][0]
    rows = [{**row, "row": i, "gap": 1.0 + i, f"counterpart_{SEX}": "long " * 200} for i in range(5000)]
    given = {**analyses, "audit": {**analyses["audit"], "rows": rows}}
    path = biased.report(tmp_path / "long.html", **given)
    assert path.stat().st_size <= MOST_BYTES
    assert "The worst 40 rows" in path.read_text(encoding="utf-8")


def test_rows_show_a_few_of_many_features_and_wrap_what_is_long(biased, analyses, tmp_path):
    row = analyses["audit"]["rows"][0]
    row = {**row, f"counterpart_{SEX}": "a long level", **{f"more_{k}": k for k in range(30)}}
    given = {**analyses, "audit": {**analyses["audit"], "rows": [row]}}
    page = biased.report(tmp_path / "wide.html", **given).read_text(encoding="utf-8")
    (line,) = re.findall(r"<tr data-verdict=.*</tr>", page)
    cells = re.findall(r"<td([^>]*)>(.*?)</td>", line)
    assert "more_29" not in line
    assert re.search(r"\d+ more$", re.sub(r"<[^>]*>", "", cells[-1][1]))
    assert ["short" in kind for kind, _ in cells[-3:]] == [True, False, False]


def test_equal_rows_are_one_with_their_number():
    """39 rows like the first, one that is not: two rows of a table, and their sum is that of all."""
    row = {"row": 0, "biased": True, "gap": 0.25, "decision": 0, "counterpart_decision": 1, "s": "f"}
    rows = [{**row, "row": n, "counterpart_s": "m"} for n in range(39)]
    merged = merge_rows([*rows, {**rows[0], "row": 39, "decision": 1, "counterpart_decision": 0}])
    assert [(one["row"], one["more_like_it"]) for one in merged] == [(0, 38), (39, 0)]


def test_rows_of_which_nothing_is_known_are_no_table(biased, analyses, tmp_path):
    rows = [{**row, "biased": None, "gap": None} for row in analyses["audit"]["rows"]]
    audit = {
        **analyses["audit"],
        "rows": rows,
        "biased": 0,
        "undecided": 40,
        "share": 0.0,
        "share_at_most": 1.0,
    }
    open_bracket = {**analyses["disparity"], "of": "probability", "lower": 0.0, "upper": 1.0}
    page = biased.report(tmp_path / "open.html", audit=audit, disparity=open_bracket).read_text(
        encoding="utf-8"
    )
    assert 'id="audit-table"' not in page
    said = re.findall(r'<p class="summary">(.*?)</p>', page)[1]
    assert said == "None of the 40 rows of the data could be looked at in time."


def test_what_is_no_answer_is_refused(biased, tmp_path):
    with pytest.raises(SpecError, match="audit: not what Likewise answers: it has no 'total'"):
        biased.report(tmp_path / "no.html", audit={"rows": []})
    with pytest.raises(SpecError, match="share: not what"):
        biased.report(tmp_path / "no.html", share=0.5)
    with pytest.raises(DataError, match="cannot be written"):
        biased.report(tmp_path / "nowhere" / "no.html")
    assert not (tmp_path / "no.html").exists()


def test_objects_are_taken_as_well(claim, tmp_path):
    space, X, y = claim
    model, similar = fitted(X, y), lw.Similarity(free=[SEX])
    result = lw.verify(model, space, similar, budget=20)
    found = lw.measure(model, space, similar, budget=20)
    text = result.report(tmp_path / "r.html", disparity=found).read_text(encoding="utf-8")
    assert 'id="disparity"' in text


@pytest.mark.some_days
def test_very_many_features_are_cut_as_well(tmp_path):
    names = [f"{'a feature with a long name ' * 5}{i}" for i in range(1000)]
    space = lw.Space({name: lw.Integer(0, 1) for name in names})
    model = LogisticRegression().fit(np.eye(2, len(names)), [0, 1])
    model.feature_names_in_ = np.array(names, dtype=object)
    result = lw.verify(model, space, lw.Similarity(free=names[:3]), budget=20)
    path = result.report(tmp_path / "wide.html")
    packed = len(base64.b64encode(result.certificate.content))
    assert path.stat().st_size <= MOST_BYTES + packed
    assert "more features are not shown" in path.read_text(encoding="utf-8")


def test_a_result_is_pickled_with_its_contributions(biased):
    again = pickle.loads(pickle.dumps(biased))
    assert again.contributions == biased.contributions


def test_report_and_card_state_the_exit_code_of_the_checker(fair, biased, tmp_path):
    for result in (fair, biased):
        result.certificate.save(tmp_path / "claim.likewise")
        code = check_command([str(tmp_path / "claim.likewise"), "--quiet"])
        text = result.report(tmp_path / "report.html").read_text(encoding="utf-8")
        assert f"says ACCEPTED, and exits with {code}." in text
        assert f"and exits with {code} (" in result.model_card()
