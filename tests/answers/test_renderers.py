"""Four renderers of one value: each tells every fact, none takes a name for markup, and colour comes from roles alone."""

import json as standard_json
import re
import shlex
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from likewise.answers import html, json, markdown, terminal
from likewise.answers.answer import (
    Answer,
    Cell,
    Item,
    Listing,
    Pair,
    PairRow,
    Picture,
    Role,
    Span,
    Step,
    Table,
    fact,
    words,
    words_text,
)

# What a careless renderer would take for a title, a verdict, a mark, markup or an end of a line.
NAMES = st.sampled_from(
    [
        "sex",
        "verdict",
        "next",
        "FAIR",
        "a <> b",
        "<b>bold</b>",
        "a|b",
        "`code`",
        "*x*",
        "&amp;",
        "$x$",
        "it's",
    ]
) | st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=30)
SPANS = st.builds(Span, NAMES, st.sampled_from([role for role in Role if role is not Role.PAUSE]))
WORDS = st.lists(SPANS, min_size=1, max_size=5).map(lambda spans: words(*spans))
PRINTABLE = WORDS.filter(lambda said: words_text(said).isprintable())


def answer_of(said):
    row = PairRow(name=words_text(said), first="1", second="2", differs=True)
    return Answer(
        title="UNKNOWN",
        summary=said,
        blocks=(
            fact("reason", said),
            fact("warning", said, warns=True),
            Table(title="rows", columns=("a", "b"), rows=((Cell(words=said), Cell(words=said)),)),
            Pair(features=(row,), treatment=(), shown=3, rest="--all"),
            Listing(title="fair", words=said, items=(Item(figures=("1%",), words=said),), figures=("share",)),
            Picture(kind="share", drawn={}),
        ),
        steps=(Step(why="ask", how="likewise verify 'a b.toml' --free 'x y'"),),
        document={"verdict": "UNKNOWN"},
    )


def squeezed(text):
    return re.sub(r"\s", "", text)


class Cells(HTMLParser):
    """The text, of a page whose tags are all closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "span", "code"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def without_escapes(text):
    """Markdown without its escapes: outside of code, a backslash; in code, that of a table's bar."""
    return re.sub(r"(`+)(.+?)\1|\\(.)", lambda m: m[3] if m[1] is None else m[2].replace("\\|", "|"), text)


@given(PRINTABLE)
def test_every_renderer_tells_every_fact(said):
    answer, told = answer_of(said), squeezed(words_text(said))
    assert squeezed(terminal.render(answer)).count(told) >= 4  # table cells are wrapped side by side
    assert squeezed(Cells(html.render(answer)).text).count(told) >= 6
    plain = without_escapes(markdown.render(answer, title="Title"))
    assert squeezed(plain).replace("`", "").count(told.replace("`", "")) >= 5
    document = json.render(answer)
    assert squeezed(document["summary"]) == told
    assert [squeezed(warning) for warning in document["warnings"]] == [told]
    assert document["next"] == [{"why": "ask", "command": "likewise verify 'a b.toml' --free 'x y'"}]
    assert standard_json.loads(standard_json.dumps(document))["verdict"] == "UNKNOWN"


@given(PRINTABLE)
def test_colour_is_what_roles_say(said):
    lines = terminal.answer_lines(answer_of(said))
    assert re.sub(r"\x1b\[[0-9;]*m", "", terminal.colour_lines(lines)) == terminal.plain_text(lines)
    bare = tuple(Span(span.text) for span in said)
    (line,) = terminal.paragraph("", bare, terminal.UNLIMITED_WIDTH) or [()]
    assert "\x1b" not in terminal.colour_lines([line[1:]])


@given(WORDS, st.integers(20, 80))
def test_wrapping_keeps_roles(said, width):
    lines = terminal.paragraph("title", said, width)
    for role in (Role.STRONG, Role.VERDICT, Role.CODE):
        kept = "".join(span.text for line in lines for span in line if span.role is role)
        assert squeezed(kept) == squeezed("".join(span.text for span in said if span.role is role))


@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=90), max_size=12))
def test_a_command_can_be_pasted_from_its_lines(values):
    command = shlex.join(["likewise", "verify", *(word for value in values for word in ("--free", value))])
    lines = terminal.command_lines(command)
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert shlex.split("\n".join(lines).replace("\\\n", " ")) == shlex.split(command)
    longest = max((len(shlex.quote(value)) for value in values), default=0)
    assert max(map(len, lines)) <= max(80, longest + 2)
