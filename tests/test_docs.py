"""The code on the documentation's pages runs, and prints what stands below it."""

import re
from pathlib import Path

import pytest

from likewise.paper.published import ROWS

PAGE = "the-paper-reproduced.md"
TEXT = (Path(__file__).parents[1] / "docs" / PAGE).read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, flags=re.DOTALL)


REPAIR = (Path(__file__).parents[1] / "docs" / "repair.md").read_text(encoding="utf-8")


def test_the_example_of_a_repair_prints_what_the_page_says(capsys):
    ((code, output),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", REPAIR, flags=re.DOTALL)
    exec(compile(code, "repair.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == output


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


def test_the_page_about_regions_prints_what_it_says(capsys):
    page = (Path(__file__).parents[1] / "docs" / "regions.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) == page.count("```python") == 2
    names: dict[str, object] = {}
    for code, output in blocks:
        exec(compile(code, "regions.md", "exec"), names)  # noqa: S102
        assert capsys.readouterr().out == output


def test_the_way_from_biased_to_fair_is_as_the_page_says(capsys, tmp_path, monkeypatch):
    page = (Path(__file__).parents[1] / "docs" / "from-biased-to-fair.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) == page.count("```python") == 6
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code, output in blocks:
        exec(compile(code, "from-biased-to-fair.md", "exec"), names)  # noqa: S102
        assert capsys.readouterr().out == output
