"""The package as a whole: what it exports, how light it is, and the house rules on files."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

import likewise

SRC = Path(likewise.__file__).parent.parent
SOURCES = sorted(path for package in ("likewise", "likewise_check") for path in (SRC / package).rglob("*.py"))


def documented_names() -> list[str]:
    return re.findall(r"^- `(\w+)`: ", likewise.__doc__ or "", flags=re.MULTILINE)


def test_exported_names_are_exactly_the_documented_ones():
    names = documented_names()
    assert len(names) == len(set(names))
    assert {*names, "__version__"} == set(likewise.__all__)
    assert set(likewise.__all__) <= set(dir(likewise))


def test_every_exported_name_resolves():
    assert [name for name in likewise.__all__ if getattr(likewise, name) is None] == []


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'verfy'"):
        likewise.verfy  # noqa: B018


def test_no_submodule_takes_the_place_of_an_exported_function():
    modules = {module.name for module in pkgutil.iter_modules(likewise.__path__)}
    assert modules & set(likewise.__all__) == {"datasets"}
    importlib.import_module("likewise.verifying")
    importlib.import_module("likewise.analysis.measure")
    assert callable(likewise.verify)
    assert callable(likewise.measure)


def test_import_is_light():
    code = "import sys, likewise; print(sorted({'numpy', 'sklearn', 'scipy', 'narwhals', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_linear_model_is_verified_without_compiled_loops():
    """numba takes longer to load than such a verdict takes."""
    code = """
import sys
import tomllib
import likewise as lw
from sklearn.linear_model import LogisticRegression

credit = lw.datasets.load_credit(coded=True)
model = LogisticRegression(solver="liblinear").fit(credit.X, credit.y)
print(lw.verify(model, credit.space, lw.Similarity(free=["Ethnicity"]), X=credit.X).verdict, "numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["BIASED", "False"]


def test_libraries_under_the_lgpl_are_named():
    """Those that the wheel of python-flint contains."""
    text = (SRC / "likewise/datasets/data/ATTRIBUTION.md").read_text(encoding="utf-8")
    files = distribution("python-flint").files
    assert files is not None
    libraries = {path.name.partition("-")[0] for path in files if path.parent.name == "python_flint.libs"}
    assert libraries
    assert [name for name in libraries if f"`{name}`" not in text] == []


def test_a_file_is_one_idea():
    unnamed = {"utils", "util", "helpers", "common", "base", "misc"}
    assert [path for path in SOURCES if path.stem in unnamed] == []
    assert [path for path in SOURCES if len(path.read_text(encoding="utf-8").splitlines()) > 500] == []


def test_dependencies_are_those_that_are_imported():
    """highspy is not among them: it fails to load after ortools, which loads another HiGHS."""
    declared = tomllib.loads((SRC.parent / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    modules = {"python-flint": "flint", "scikit-learn": "sklearn"}
    wanted = {modules.get(name, name) for name in (re.split(r"[^\w-]", each)[0] for each in declared)}
    imported = {
        module.split(".")[0]
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for module in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }
    assert wanted <= imported
    assert "highspy" not in imported
