"""Pages of the gallery as notebooks: ``python -m tests.notebooks`` (`make notebooks`) writes them again.

A notebook is its page, cell by cell: text becomes Markdown, a block of Python a cell of code with what stands below it as its output, and
a block of commands one with ``!`` before each. The page is run by `test_pages`, so the cells are; nothing here needs Jupyter.
"""

import json
import re
from pathlib import Path

from tests.pages import DOCS

FOLDER = DOCS / "notebooks"
PAGES = ("credit", "insurance")
_BLOCK = re.compile(r"^```(?P<kind>python|sh|text)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def notebook(page: Path) -> dict:
    """The page in the format of Jupyter, version 4.5."""
    text, at, cells = page.read_text(encoding="utf-8"), 0, []
    for block in _BLOCK.finditer(text):
        _add_words(cells, text[at : block.start()])
        at = block.end()
        if block["kind"] == "text":
            cells[-1]["outputs"].append(
                {"name": "stdout", "output_type": "stream", "text": _lines(block["text"])}
            )
            continue
        source = block["text"].rstrip("\n")
        if block["kind"] == "sh":
            source = "\n".join(f"!{line}" for line in source.splitlines())
        count = 1 + sum(cell["cell_type"] == "code" for cell in cells)
        code = {"cell_type": "code", "execution_count": count, "outputs": [], "source": _lines(source)}
        cells.append(code)
    _add_words(cells, text[at:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": [{"id": f"cell-{i}", "metadata": {}, **cell} for i, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _add_words(cells: list, text: str) -> None:
    if text.strip():
        cells.append({"cell_type": "markdown", "source": _lines(text.strip())})


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def content(name: str) -> str:
    """The file of the notebook of a page of the gallery."""
    return json.dumps(notebook(DOCS / "gallery" / f"{name}.md"), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in PAGES:
        (FOLDER / f"{name}.ipynb").write_text(content(name), encoding="utf-8")


if __name__ == "__main__":
    main()
