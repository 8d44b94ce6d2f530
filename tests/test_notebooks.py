"""The notebooks are the pages that they are made of, which `test_pages` runs; their cells run one after the other, and print what they show."""

import contextlib
import io
import json

import pytest
from tests.notebooks import FOLDER, PAGES, content
from tests.pages import timeless


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_is_its_page(name):
    """Otherwise: python -m tests.notebooks."""
    assert (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8") == content(name)


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", PAGES)
def test_the_cells_run_and_print_what_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or source.startswith("!"):
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(source, name, "exec"), names)  # noqa: S102
        shown = "".join(line for output in cell["outputs"] for line in output["text"])
        assert timeless(out.getvalue()) == timeless(shown)
        ran += 1
    assert ran >= 3
