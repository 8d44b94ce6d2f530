"""What is below the answers knows them in the methods alone that show a result."""

import ast
from pathlib import Path

import likewise

ROOT = Path(likewise.__file__).parent
BELOW = ("verifying", "analysis", "paper")
ABOVE = ("likewise.answers", "likewise.report")
SHOWING = {"__str__", "_repr_html_", "side_by_side", "model_card", "report", "in_words", "exact"}


def _imports(tree, inside=None):
    """Every import with the function that it is in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module), inside
        elif isinstance(node, ast.Import):
            yield from ((name.name, inside) for name in node.names)
        else:
            yield from _imports(node, node.name if isinstance(node, ast.FunctionDef) else inside)


def test_results_import_what_shows_them_only_to_be_shown():
    found = []
    for package in BELOW:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [(path.name, where) for name, where in _imports(tree) if name.startswith(ABOVE)]
    assert found
    assert [one for one in found if one[1] not in SHOWING] == []
