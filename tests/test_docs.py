"""The paper, reproduced: each block of the page stands alone, and the tables have what they should."""

import re
from pathlib import Path

import pytest

from likewise.paper.published import ROWS

PAGE = "the-paper-reproduced.md"
TEXT = (Path(__file__).parents[1] / "docs" / PAGE).read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, flags=re.DOTALL)


def test_every_block_has_its_output():
    assert len(BLOCKS) == TEXT.count("```python") == 8


@pytest.mark.parametrize(("code", "output"), BLOCKS, ids=range(len(BLOCKS)))
def test_a_block_prints_what_the_page_says(code, output, capsys):
    exec(compile(code, PAGE, "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == output


def test_the_tables_have_all_models_in_the_papers_order():
    begin, end = (
        TEXT.index(f"<!-- likewise bench paper --markdown: {word} -->") for word in ("begin", "end")
    )
    titles = re.findall(r"^\| (\w+_\w+) \|", TEXT[begin:end], flags=re.MULTILINE)
    assert titles == [row.title for row in ROWS] * 2


def test_no_line_of_the_tables_hides_a_verdict():
    verdicts = {"FAIR", "BIASED", "UNKNOWN", "UnsupportedModel"}
    rows = re.findall(r"^\| \w+_\w+ \|.*\| (\w+) \| [^|]* \| [^|]* \|$", TEXT, flags=re.MULTILINE)
    assert len(rows) >= 24
    assert set(rows[:24]) <= verdicts
