"""The code on the page of analyses runs, and prints what stands below it."""

import re
from pathlib import Path

import pytest

PAGE = "analyses.md"
TEXT = (Path(__file__).parents[1] / "docs" / PAGE).read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, flags=re.DOTALL)


def test_every_block_has_its_output():
    assert len(BLOCKS) == TEXT.count("```python")


@pytest.mark.parametrize(("code", "output"), BLOCKS, ids=range(len(BLOCKS)))
def test_a_block_prints_what_the_page_says(code, output, capsys):
    exec(compile(code, PAGE, "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == output
