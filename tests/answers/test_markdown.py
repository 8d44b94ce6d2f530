"""A card is pasted into other people's pages: nothing in it that comes from a file may become markup there.

The judge is a Markdown parser that Likewise does not use: it may find the headings, tables and code that the card has, and every text as it was.
"""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.answers.answer import Answer, Cell, Pair, PairRow, Table, code, fact, feature, words
from likewise.answers.markdown import render

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HARMLESS = re.compile(r"(heading|paragraph|table|thead|tbody|tr|th|td)_(open|close)|inline|fence")
HARMLESS_INSIDE = {"text", "text_special", "code_inline", "strong_open", "strong_close"}

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=https://evil.example/x.png>",
    "![seen](https://evil.example/x.png)",
    "[click](javascript:alert(1))",
    "](javascript:alert(1)) [x",
    "<https://evil.example>",
    "a | b | c",
    "a \\| b",
    "ends in \\",
    "`code`",
    "``` two ` lengths",
    "````\n# title\n````",
    "a\n\n# title\n\n- b",
    "one\r\n| two |\n|---|",
    "a\u2028b\u0085c",
    "good\u202edab",
    "zero\u200bwidth\x07bell\x1b[31m",
    "&lt;b&gt;",
    "*a* _b_ ~~c~~ **d**",
    "$x$ {{ y }}",
    "[ref]: https://evil.example",
    "-->",
    "x\n```\n# title\n```\ny",
    "\ud800 alone",
]
TEXTS = st.sampled_from(HOSTILE) | st.text(
    st.sampled_from("`|\\<>[]()!*_~\n\r\t #&;ax\u202e\u2028\x00"), min_size=1, max_size=20
)


def plain(text):
    """A text as it should be read: in one line, with what is not seen written out."""
    seen = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in re.sub(r"\s", " ", text)
    )
    return re.sub(r"\s+", " ", seen).strip()


def parsed(text):
    """Texts and lengths of tables that a parser finds, and nothing that loads, links or runs."""
    tokens = PARSER.parse(text)
    found, cells = [], []
    for token in tokens:
        assert HARMLESS.fullmatch(token.type), token
        if token.type == "tr_open":
            cells.append(0)
        elif token.type in ("td_open", "th_open"):
            cells[-1] += 1
        elif token.type == "fence":
            found.append(token.content.rstrip("\n"))
        elif token.type == "inline":
            assert {child.type for child in token.children} <= HARMLESS_INSIDE, token
            found.append(" ".join("".join(child.content for child in token.children).split()))
    return found, cells


@given(TEXTS, TEXTS)
def test_texts_stay_texts_wherever_they_stand(one, two):
    row = PairRow(name=one, first=two, second=one, differs=False)
    table = Table(
        title=two, columns=(one, two), rows=((Cell(words=words(two)), Cell(words=words(code(one)))),)
    )
    title = one if one.strip() else "FAIR"  # a result has a name
    answer = Answer(
        title=title,
        summary=words("of ", feature(one), " and ", code(two), code(one), " so ", two),
        blocks=(
            fact(one, words(two)),
            fact(two, words(code(one), " then ", code(two))),
            Pair(features=(row,), treatment=(), shown=3, rest=""),
            table,
        ),
    )
    said = render(answer, title=two)
    assert "\u202e" not in said
    assert "\x00" not in said
    found, cells = parsed(said)
    assert cells == [2, 2, 2, 3, 3, 2, 2]
    a, b, t = plain(one), plain(two), plain(title)
    spaced = [re.sub(r"\s", "", text) for text in found]  # how many blanks there are does not matter
    wanted = [b, f"{t}:of{a}and{b}{a}so{b}", "", "", a, b, b, f"{a}then{b}", "Thepair", "", "x", "x'"]
    wanted += [a, b, a, b, a, b, b, a]
    assert spaced == [re.sub(r"\s", "", text) for text in wanted]


@pytest.fixture(scope="module")
def result():
    """A verdict on a model whose features, categories and labels are markup."""
    names = ["<img src=x>|`", "[a](javascript:b)"]
    categories = ["![i](https://evil.example/i.png)", "a|b`"]
    space = lw.Space({names[0]: lw.Categorical(categories), names[1]: lw.Integer(0, 3)})
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    X = pd.DataFrame([*product(categories, range(4))], columns=names)
    y = np.where(X[names[0]] == categories[0], "<b>yes</b>", "no|`")
    first = make_column_transformer((OneHotEncoder(), [names[0]]), remainder="passthrough")
    model = make_pipeline(first, LogisticRegression()).fit(X, y)
    return lw.verify(model, space, lw.Similarity(free=[names[0]]), X=X, budget=20)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_card_with_hostile_names_holds_no_markup(result, hostile):
    files = {hostile: "0" * 64, f"file `{hostile}": "1" * 64}
    command = f"likewise verify '{hostile}'"
    for given_to in ({"certificate_path": hostile}, {"command": command}):
        text = result.model_card(files=files, **given_to)
        found, cells = parsed(text)
        assert {2, 3} == set(cells)
        said = [re.sub(r"\s", "", one) for one in found]
        assert re.sub(r"\s", "", plain(hostile)) in said  # as the name of a file
        assert "[a](javascript:b)" in found
        assert "![i](https://evil.example/i.png)" in found
        (commands,) = [one for one in found if "likewise-check " in one and "nothing else" not in one]
        assert re.sub(r"\s", "", plain(hostile)) in re.sub(r"\s|'\"'\"'", "", commands)
