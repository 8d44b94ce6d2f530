"""Counts that may only fall, in `ratchets.toml`: size, seams, docstrings, private names of libraries, words.

The test fails if a count rose, and shows the new places. It also fails if one fell, until `make ratchets` has
written the lower number; nothing writes a higher one.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tarfile
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.words import ROOT, Place, Words

FILE = ROOT / "tests/ratchets.toml"
COUNTED = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "src", "tests/words.toml")
WIDTH = 110
SHOWN = 20  # places of one count
HEADROOM = {"likewise_lines": 100, "likewise_check_lines": 100}  # a fall by less may be written later

SEAMS = {
    "src/likewise/families/family.py": ("Family",),
    "src/likewise/families/oracle.py": ("Bounder", "MemoryBounder", "Bounds"),
    "src/likewise/cells/leaf.py": ("Leaf",),
    "src/likewise/search/frontier.py": ("Frontier",),
    "src/likewise/search/task.py": ("SearchTask",),
}
INSIDE_NUMBA = re.compile(r"llvmlite\b|numba\.(core|cpython|misc|np|parfors|stencils)\b")
PRIVATE = re.compile(r"_[A-Za-z]\w*")
PATCHES = {"setattr", "delattr"}  # of numba, count like private names
DOCUMENTED = {"_asdict", "_exit", "_fields", "_make", "_replace"}  # of named tuples and `os`
KEPT = (
    *(ast.Import, ast.ImportFrom, ast.If, ast.ClassDef, ast.FunctionDef, ast.Attribute),
    *(ast.Constant, ast.JoinedStr, ast.Expr, ast.Raise, ast.Call),
)


def count(root: Path = ROOT) -> dict[str, list[Place]]:
    """By count: its places. Line 0 is the file as a whole."""
    found: dict[str, list[Place]] = defaultdict(list)
    words, imported, private, own = Words(root), {}, {}, set()
    for path in sorted((root / "src").rglob("*.py")):
        file, text = path.relative_to(root).as_posix(), path.read_text("utf-8")
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, KEPT)]
        package = file.split("/")[1]
        found[f"{package}_modules"].append((file, 0, "module"))
        found[f"{package}_lines"] += [(file, 0, "line")] * text.count("\n")
        found["wide_docstring_lines"] += _wide_docstring_lines(file, text.splitlines(), nodes)
        found["words_in_strings"] += words.in_module(file, nodes)
        imported[file] = set(_imports(nodes))
        for name, line in _private_names(nodes):
            private.setdefault((file, name), line)
        for node in nodes:
            own |= {name for _, _, name in _members(node)}
            if isinstance(node, ast.ClassDef):
                own.add(node.name)
                for kind, line, name in _members(node) if node.name in SEAMS.get(file, ()) else ():
                    if not name.startswith("_"):
                        found[f"{node.name}_{kind}"].append((file, line, f"{node.name}.{name}"))
    for file, importer in _with_one_importer(imported):
        name = f"{file.split('/')[1]}_modules_with_one_importer"
        found[name].append((file, 0, f"only {importer} imports it"))
    for (file, name), line in private.items():
        numba = any(re.match(r"numba\b|llvmlite\b", each) for each in imported[file])
        if name not in own and (numba or name not in PATCHES):
            found[f"private_names_of_{'numba' if numba else 'other_libraries'}"].append((file, line, name))
    found["words_in_strings"] += words.in_templates()
    found["words_in_pages"] += words.in_pages()
    return found


def _wide_docstring_lines(file: str, lines: list[str], nodes: list[ast.AST]) -> Iterator[Place]:
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            for line in range(node.lineno, node.end_lineno + 1):
                if len(lines[line - 1]) > WIDTH:
                    yield file, line, f"docstring line of {len(lines[line - 1])} characters"


def _imports(nodes: list[ast.AST]) -> Iterator[str]:
    """Full names of modules, or of their contents, that are imported when the program runs."""
    checks = [node for node in nodes if isinstance(node, ast.If)]
    checks = [check for check in checks if "TYPE_CHECKING" in vars(check.test).values()]
    typing = {id(inner) for check in checks for statement in check.body for inner in ast.walk(statement)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in typing:
            home = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield from (home + alias.name for alias in node.names)


def _with_one_importer(imported: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Modules and their importers. An `__init__` counts as one only if nothing else imports the module."""
    modules = {re.sub(r"(/__init__)?\.py$", "", file)[4:].replace("/", "."): file for file in imported}
    importers: dict[str, set[str]] = defaultdict(set)
    for importer, names in imported.items():
        for name in names:
            module = name if name in modules else name.rpartition(".")[0]
            importers[modules.get(module, "")].add(importer)
    for module in sorted(importers.keys() - {""}):
        known = {each for each in importers[module] if not each.endswith("__init__.py")} or importers[module]
        if len(known) == 1:
            yield module, min(known)


def _private_names(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """What may be private to another library: attributes, imports, strings as for `getattr`; patches."""
    pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _imports([node]):
                private = any(PRIVATE.fullmatch(part) for part in name.split("."))
                if INSIDE_NUMBA.match(name) or (private and not name.startswith("likewise")):
                    yield name, node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in PATCHES:
            yield node.func.id, node.lineno
        elif isinstance(node, ast.Attribute | ast.Constant) and id(node) not in pieces:
            name = node.attr if isinstance(node, ast.Attribute) else node.value
            if isinstance(name, str) and PRIVATE.fullmatch(name) and name not in DOCUMENTED:
                yield name, node.lineno


def _members(node: ast.AST) -> Iterator[tuple[str, int, str]]:
    """Kind, line and name of what a class defines, or of what a method sets."""
    for each in node.body if isinstance(node, ast.ClassDef) else []:
        if isinstance(each, ast.FunctionDef):
            yield "methods", each.lineno, each.name
        for target in getattr(each, "targets", [getattr(each, "target", None)]):
            if isinstance(target, ast.Name):
                yield "fields", each.lineno, target.id
    stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    if stored and getattr(node.value, "id", "") in ("self", "cls"):
        yield "fields", node.lineno, node.attr


# -- against the file ----------------------------------------------------------------------------------------


def problems(found: dict[str, list[Place]], stored: dict[str, int]) -> list[str]:
    """What is to be said of counts that are not those of the file."""
    risen = {name: places for name, places in found.items() if len(places) > stored.get(name, 0)}
    lines = []
    for name, places in _new_places(risen).items():
        lines.append(f"{name} rose from {stored.get(name, 0)} to {len(risen[name])}:")
        shown = Counter(f"  {file}:{line or ''} {what}" for file, line, what in places)
        lines += [f"{each} (x {times})" if times > 1 else each for each, times in shown.items()][:SHOWN]
        lines += [f"  and {len(shown) - SHOWN} more"] * (len(shown) > SHOWN)
    for name, number in stored.items():
        if name not in found:
            lines.append(f"{name} counts nothing: remove it from ratchets.toml, or correct SEAMS")
        elif len(found[name]) <= number - HEADROOM.get(name, 1):
            lines.append(f"{name} fell from {number} to {len(found[name])}: `make ratchets` writes that")
    return lines


def _new_places(risen: dict[str, list[Place]]) -> dict[str, list[Place]]:
    """Without those of the commit that last changed the file of counts; all of them if git has none."""
    if not risen:
        return {}
    try:
        commit = _git("log", "-1", "--format=%H", "--", "tests/ratchets.toml").decode().strip()
        archive = _git("archive", commit, *COUNTED)
    except (OSError, subprocess.CalledProcessError):
        return risen
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
        then, new = count(Path(folder)), {}
        for name, places in risen.items():
            known = Counter(_texts(Path(folder), then.get(name, [])))
            for place, text in zip(places, _texts(ROOT, places), strict=True):
                known[text] -= 1
                if known[text] < 0:
                    new.setdefault(name, []).append(place)
    return {name: new.get(name, places) for name, places in risen.items()}


def _texts(root: Path, places: list[Place]) -> Iterator[tuple[str, str]]:
    """Identifies places also when lines move: by the text of the line, or by the file."""
    lines = {file: (root / file).read_text("utf-8").splitlines() for file, line, _ in set(places) if line}
    return ((what, lines[file][line - 1] if line else file) for file, line, what in places)


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def stored_counts() -> dict[str, int]:
    return tomllib.loads(FILE.read_text("utf-8"))["counts"]


def lowered(text: str, found: dict[str, list[Place]]) -> str:
    """The file with the numbers that fell."""
    for name, number in tomllib.loads(text)["counts"].items():
        if name in found and len(found[name]) < number:
            text = text.replace(f"\n{name} = {number}", f"\n{name} = {len(found[name])}")
    return text


def test_no_count_rises_and_falls_are_written():
    lines = problems(count(), stored_counts())
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


PROJECT = {
    "README.md": "Read `nobody` or [this](whom.md)\n```sh\nnobody\n```\nis\nasked by the judge\n",
    "docs/design.md": "A judge, anew\n",
    "src/likewise/__init__.py": "from likewise.one import f\n",
    "src/likewise/cli/table.py": "from likewise import two\nNAMES = ['nobody', 'to nobody']\n",
    "src/likewise/two.py": "if TYPE_CHECKING:\n    from likewise import one\nprint('to nobody')\n",
    "src/likewise/one.py": f"""'''{"x" * 110}'''
from numba.core import types
def f(x):
    '''Public.

    Nobody.
    '''
    raise ValueError(f"{{x._y}} is told")
""",
    "src/likewise/search/task.py": "class SearchTask:\n    a: int\n    _b: int\n    def c(self): self._b\n",
}


def test_each_kind_of_place_is_counted(tmp_path):
    for file, text in {**PROJECT, "tests/words.toml": (ROOT / "tests/words.toml").read_text("utf-8")}.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, "utf-8")
    found = count(tmp_path)
    assert [len(found.pop(f"likewise_{name}")) for name in ("modules", "lines")] == [5, 18]
    shown = {
        kind: sorted(f"{Path(at).name}:{line} {what}" for at, line, what in found[kind]) for kind in found
    }
    assert shown == {
        "likewise_modules_with_one_importer": [
            "one.py:0 only src/likewise/__init__.py imports it",
            "two.py:0 only src/likewise/cli/table.py imports it",
        ],
        "wide_docstring_lines": ["one.py:1 docstring line of 116 characters"],
        "private_names_of_numba": ["one.py:2 numba.core.types", "one.py:8 _y"],
        "SearchTask_fields": ["task.py:2 SearchTask.a"],
        "SearchTask_methods": ["task.py:4 SearchTask.c"],
        "words_in_strings": ["one.py:6 nobody", "one.py:8 told", "table.py:2 nobody"],
        "words_in_pages": ["README.md:5 is asked", "README.md:6 judge", "design.md:1 anew"],
    }


def test_falls_are_written_and_rises_are_shown(monkeypatch):
    monkeypatch.setitem(globals(), "_new_places", lambda risen: {name: at[1:] for name, at in risen.items()})
    found = {"fell": [], "rose": [("a.py", 3, "old"), ("a.py", 7, "new")]}
    file = "[counts]\nfell = 2 # note\nrose = 1\nmoved = 3\n"
    assert problems(found, tomllib.loads(file)["counts"]) == [
        "rose rose from 1 to 2:",
        "  a.py:7 new",
        "fell fell from 2 to 0: `make ratchets` writes that",
        "moved counts nothing: remove it from ratchets.toml, or correct SEAMS",
    ]
    assert lowered(file, found) == file.replace("fell = 2", "fell = 0")


if __name__ == "__main__":
    counted, before = count(), stored_counts()
    FILE.write_text(lowered(FILE.read_text("utf-8"), counted), "utf-8")
    for name, now in stored_counts().items():
        if now != before[name]:
            print(f"{name}: {before[name]} -> {now}")  # noqa: T201
    raise SystemExit("\n".join(problems(counted, stored_counts())) or 0)
