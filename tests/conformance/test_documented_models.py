"""The page on pipelines: every model, transformer and loss that its tables name is one that a test compares with the original.

By name: a name of a table that no test fits is a promise that nobody keeps. Operators of ONNX files are written by exporters, and are compared by what these export; what is refused is asked of every estimator there is (`test_unknown_models`).
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTED = tuple(ROOT / "tests" / part for part in ("conformance", "importers", "verifying"))
ELSEWHERE = ("ONNX files of classical models", "Refused, and why")
NAME = re.compile(r"`([A-Z][A-Za-z0-9]+)(?:\([^`]*\))?`")


def named_in_tables():
    """(section, name) of every name that begins with a capital in a row of a table; names that end in dots stand for several."""
    sections = re.split(r"^## ", (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8"), flags=re.M)
    for section in sections[1:]:
        title = section.splitlines()[0]
        if title in ELSEWHERE:
            continue
        rows = [line for line in section.splitlines() if line.startswith("|")]
        yield from sorted({(title, name) for row in rows for name in NAME.findall(row)})


def test_the_page_has_tables():
    assert len(set(named_in_tables())) > 100


def text_of_tests():
    files = (path for folder in TESTED for path in folder.rglob("*.py") if path != Path(__file__))
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_a_test_has_what_is_named():
    """As a word of its own, in another file than this one."""
    text = text_of_tests()
    untested = [
        (title, name)
        for title, name in named_in_tables()
        if not re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z])|[\"']{name}:", text)
    ]
    assert not untested, "docs/pipelines.md names these models, and no test of conformance has them"
