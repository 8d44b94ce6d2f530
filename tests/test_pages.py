"""The documentation is true: its code runs and prints what stands below it, its links lead somewhere, and it names what exists."""

import dataclasses
import doctest
import inspect
import re

import pytest
from tests.pages import DOCS, ROOT, RUN, blocks, run

import likewise
from likewise.spec.file import _TABLES as TABLES

PAGES = sorted(page for page in DOCS.rglob("*.md") if "generated" not in page.parts)
# Blocks that stand alone, one test each: test_docs.py.
APART = {DOCS / "the-paper-reproduced.md"}
ALWAYS = [DOCS / "index.md", DOCS / "guide" / "is-my-model-fair.md"]
INNER = {"compared", "judged", "names", "score_name", "upper_label"}  # fields that no user needs
PUBLIC = [name for name in likewise.__all__ if name not in ("datasets", "__version__")]
EXAMPLES = [
    example
    for name in PUBLIC
    for example in doctest.DocTestFinder(recurse=False).find(getattr(likewise, name), name, globs={})
    if example.examples
]
RUNNING = [page for page in PAGES if page not in APART and any(block.kind in RUN for block in blocks(page))]


def _name(page):
    return str(page.relative_to(DOCS))


@pytest.mark.parametrize("page", ALWAYS, ids=_name)
def test_a_page_that_is_read_first_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page)


@pytest.mark.draw(4)
@pytest.mark.parametrize("page", [page for page in RUNNING if page not in ALWAYS], ids=_name)
def test_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page)


@pytest.mark.parametrize(
    "lie",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nprint(1)\n```\n",
        "```sh\nlikewise --version\n```\n\n```text\nlikewise 99\n```\n",
        "```sh\nlikewise verify\necho $?\n```\n\n```text\n0\n```\n",
        "```sh\ncurl example.org\n```\n",
        "```sh\npython -m pip install '.[nonsense]'\n```\n",
    ],
)
def test_a_page_that_does_not_hold_is_noticed(lie, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(lie, encoding="utf-8")
    with pytest.raises(AssertionError):
        run(page)


def test_the_spec_file_of_the_reference_is_one(tmp_path):
    import pandas as pd

    from likewise.spec.file import read_spec

    (example,) = (block for block in blocks(DOCS / "reference" / "claim-file.md") if block.kind == "toml")
    columns = {"age": [18, 75], "income": [1.5, 9.0], "sex": ["f", "m"], "employed": [0, 9], "good": [0, 1]}
    columns |= {"job": ["none", "skilled"], "housing": ["own", "rent"]}
    pd.DataFrame(columns).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "claim.toml").write_text(example.text, encoding="utf-8")
    claim = read_spec(tmp_path / "claim.toml")
    assert claim.similarity.names == ("sex", "age", "income", "job")
    assert len(claim.space.rules) == 2


def test_the_keys_of_spec_files_are_those_of_the_reference():
    page = (DOCS / "reference" / "claim-file.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([\w.]+)` \|", page, flags=re.MULTILINE))
    assert {key.split(".")[0] for key in listed} == set(TABLES)


def test_the_first_page_ends_with_a_verdict():
    kinds = [block.kind for block in blocks(DOCS / "index.md")]
    assert kinds.count("sh") >= 4
    assert kinds.count("python") >= 2
    assert any("verdict  BIASED" in block.text for block in blocks(DOCS / "index.md"))


def test_the_readme_starts_with_the_same_steps():
    def commands(page):
        return [line for block in blocks(page) if block.kind == "sh" for line in block.text.splitlines()]

    first = commands(DOCS / "index.md")[:3]
    assert [line.split()[:2] for line in first] == [
        ["python", "-m"],
        ["likewise", "init"],
        ["likewise", "verify"],
    ]
    assert commands(ROOT / "README.md")[:3] == first


def test_links_lead_somewhere():
    found = []
    for page in [*PAGES, ROOT / "README.md"]:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        text = re.sub(r"`[^`\n]*`", "", text)
        found += [(page, link) for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)]
    assert len(found) > 100
    assert [(page, link) for page, link in found if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_in_docstrings_print_what_they_say(example):
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_functions_and_answers_say_what_goes_in_and_comes_out():
    for name in likewise.__all__:
        thing = getattr(likewise, name)
        if inspect.isfunction(thing) and name != "load_certificate":
            assert "Parameters\n" in thing.__doc__, name
            assert "Returns\n" in thing.__doc__, name
        elif dataclasses.is_dataclass(thing):
            text = inspect.getdoc(thing)
            told = set(re.findall(r"\w+", text))
            fields = {field.name for field in dataclasses.fields(thing) if not field.name.startswith("_")}
            assert fields <= told | INNER, (name, fields - told)


def test_the_reference_has_every_public_name():
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^ {3}([A-Za-z_]\w*)$", page, flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(likewise.__all__) - {"datasets", "__version__"} <= set(listed)
