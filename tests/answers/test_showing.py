"""Notebook tables and model cards: well formed, escaped, and the same numbers as in the answer."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import likewise as lw
from likewise.html_tables import table

SEX = "<b>sex</b> | a_b"
SPACE = lw.Space({SEX: lw.Categorical(["<i>f</i>", "m|n"]), "wage": lw.Integer(0, 9)})
SIMILAR = lw.Similarity(free=[SEX])


class _Tags(HTMLParser):
    """Every tag is closed in order, and of the few that tables need."""

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.tables = [], [], 0

    def handle_starttag(self, tag, attrs):
        assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "span", "code"}
        assert tag != "th" or dict(attrs)["scope"] in {"row", "col"}
        self.tables += tag == "table"
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells.append(data)


def read(html: str) -> _Tags:
    tags = _Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    assert html.count("<caption>") == tags.tables
    return tags


def model(weight: float):
    X = pd.DataFrame({SEX: ["<i>f</i>", "m|n"] * 2, "wage": [1, 2, 8, 9]})
    coding = ColumnTransformer([("sex", OrdinalEncoder(), [SEX])], remainder="passthrough")
    made = make_pipeline(coding, LogisticRegression()).fit(X, [0, 0, 1, 1])
    made[-1].coef_, made[-1].intercept_ = np.array([[weight, 1.0]]), np.array([-4.5])
    return made


@pytest.fixture(scope="module")
def biased():
    return lw.verify(model(2.0), SPACE, SIMILAR)


def test_results_are_tables_with_the_pair(biased):
    tags = read(biased._repr_html_())
    assert tags.tables == 2
    assert {"BIASED", SEX, "<i>f</i>", "m|n", "decision", "P(1)"} <= set(tags.cells)
    fair = read(lw.verify(model(0.0), SPACE, SIMILAR)._repr_html_())
    assert (fair.tables, fair.cells[0]) == (1, "FAIR")
    unknown = read(lw.verify(model(0.0), SPACE, SIMILAR, certify=False)._repr_html_())
    assert {"UNKNOWN", "reason", "bounds"} <= set(unknown.cells)


def test_the_pair_side_by_side_has_what_differs_first_and_every_feature():
    space = lw.Space(
        {"wage": lw.Integer(0, 9), "age": lw.Integer(0, 9), "sex": lw.Integer(0, 1), "zip": lw.Integer(0, 9)}
    )
    X = pd.DataFrame({name: [0, 1, 0, 1] for name in space.names})
    made = LogisticRegression().fit(X, [0, 1, 0, 1])
    made.coef_, made.intercept_ = np.array([[1.0, 0.0, 2.0, 0.0]]), np.array([-4.5])
    similar = lw.Similarity(free=["sex"])
    for found in (
        lw.verify(made, space, similar, X=X),
        lw.measure(made, space, similar, X=X),
    ):
        lines = found.side_by_side().splitlines()
        assert [line.split()[0] for line in lines[1:5]] == ["sex", "wage", "age", "zip"]
        assert "<>" in lines[1]
        assert lines[5].split()[0] == "decision"
        assert type(found.pair) is pd.DataFrame
        assert list(found.pair) == list(X)
        assert tuple(made.predict(found.pair)) == found.decisions


def test_where_there_is_no_pair_it_is_said():
    assert lw.verify(model(0.0), SPACE, SIMILAR).side_by_side() == "no pair"


def test_brackets_radii_and_comparisons_are_tables():
    disparity = lw.measure(model(2.0), SPACE, SIMILAR)
    assert {f"{disparity.upper:.6g}", "proved", SEX} <= set(read(disparity._repr_html_()).cells)
    radius = lw.radius(model(2.0), SPACE, lw.Similarity(), feature="wage", budget=5)
    cells = read(radius._repr_html_()).cells
    assert "the tolerance of wage" in cells
    assert cells[cells.index("refuted") + 2] == f"{radius.refuted:g}"
    compared = lw.compare(model(0.0), model(2.0), SPACE, SIMILAR, budget=5)
    assert {"new is less fair", "FAIR", "BIASED"} <= set(read(compared._repr_html_()).cells)


def test_audits_and_shares_are_tables():
    X = pd.DataFrame({SEX: ["<i>f</i>", "m|n"], "wage": [4, 9]})
    audit = lw.audit(model(2.0), SPACE, SIMILAR, X=X)
    assert {"row", "biased", "decisions", "m|n"} <= set(read(audit._repr_html_()).cells)
    assert (
        audit._repr_html_().count('<th scope="col">') == 5
    )  # row, gap, decisions, what differs, what is the same
    share = lw.share(model(2.0), SPACE, SIMILAR, over=X)
    cells = read(share._repr_html_()).cells
    assert cells[cells.index("share") + 1] == "50.00%"
    assert cells[cells.index("basis") + 1] == "exact"
    sampled = lw.share(model(2.0), SPACE, SIMILAR, method="sampled", budget=1)
    assert "basis" in read(sampled._repr_html_()).cells


def test_spaces_and_similarities_are_tables():
    assert SEX in read(SPACE._repr_html_()).cells
    assert {SEX, "free", "all others"} <= set(read(SIMILAR._repr_html_()).cells)


def test_a_table_is_escaped_everywhere():
    bad = "<script>alert('&')</script>"
    assert read(table(bad, [(bad, bad)], columns=(bad, bad))).cells == [bad] * 5


def test_a_card_keeps_names_out_of_its_markdown(biased):
    card = biased.model_card(certificate_path="my proof.likewise")
    assert "**BIASED**" in card
    assert r"\<b\>sex\</b\> \| a\_b (differs)" in card
    assert "likewise-check 'my proof.likewise'" in card
    assert biased.certificate.outline().digests["model"] in card
    rows = [line for line in card.splitlines() if line.startswith("| ")]
    for line in rows:
        assert len(line.replace(r"\|", "").split("|")) in (4, 5)


def test_a_card_takes_answers_or_their_documents(biased):
    disparity = lw.measure(model(2.0), SPACE, SIMILAR)
    share = {
        "lower": 0.2,
        "upper": 0.2,
        "method": "exact",
        "confidence": None,
        "over": "the space",
        "proved": False,
    }
    cards = {biased.model_card(disparity=given, share=share) for given in (disparity, disparity.to_dict())}
    assert len(cards) == 1
    (card,) = cards
    assert "largest gap of scores" in card
    assert "20.00% of the space, everybody looked at; computed in floating point, not proved" in card


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((None, None), "nothing is known"),
        ((1.0, None), "at least 1; no upper bound is known"),
        ((1.0, 2.0), "between 1 and 2; the upper end was computed in floating point, not proved (time)"),
    ],
)
def test_a_card_says_how_much_of_the_bracket_is_known(biased, ends, said):
    document = {"of": "margin", "lower": ends[0], "upper": ends[1], "proved": False, "reason": "time"}
    assert f"| largest margin of different decisions | {said}" in biased.model_card(disparity=document)
