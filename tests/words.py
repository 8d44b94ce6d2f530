"""Finds the words of `words.toml` where users read them. `python -m tests.words` prints the places."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
Place = tuple[str, int, str]  # file, line, word

_CODE = re.compile(
    r"^ *(?P<fence>```+|~~~+).*?^ *(?P=fence) *$|`(?:[^`\n]|\n(?!\n))+`|\]\([^)]*\)|<!--.*?-->",
    re.MULTILINE | re.DOTALL,
)
_MARKUP = re.compile(
    r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<(?P<tag>style|script)\b.*?</(?P=tag)>|<[^>]*>", re.DOTALL
)
_SAYS = re.compile(r"(Error|_error|Exception|Model|Rejected)$|^_?refuse|^warn$")  # calls that take a message


class Words:
    """The list in a folder with the project, and what finds its words there."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.rules = tomllib.loads((root / "tests/words.toml").read_text("utf-8"))
        self.files = {
            kind: {
                path.relative_to(root).as_posix(): None for glob in globs for path in sorted(root.glob(glob))
            }
            for kind, globs in self.rules.pop("files").items()
        }
        self._all = _pattern(self.rules.values())
        self._for_developers = _pattern(rules for name, rules in self.rules.items() if name != "house")

    def in_pages(self) -> Iterator[Place]:
        for file in self.files["pages"]:
            pattern = self._for_developers if file in self.files["developer_pages"] else self._all
            yield from self._in_text(file, _CODE, pattern)

    def in_templates(self) -> Iterator[Place]:
        for file in self.files["templates"]:
            yield from self._in_text(file, _MARKUP, self._all)

    def in_module(self, file: str, nodes: list[ast.AST]) -> Iterator[Place]:
        """In strings that users see, of a module with these nodes."""
        shown = _strings(nodes, everything=file in self.files["strings"])
        for node, text in [*shown, *_docstrings(nodes, self._public.get(file, set()))]:
            as_written = text.count("\n") == (node.end_lineno or 0) - node.lineno
            for match in self._all.finditer(text):
                line = node.lineno + (text.count("\n", 0, match.start()) if as_written else 0)
                yield file, line, _word(match)

    def advice(self, word: str) -> str:
        """What to write instead."""
        rules = (rule for section in self.rules.values() for rule in section.items())
        return next(better for rule, better in rules if re.fullmatch(rule, word, re.IGNORECASE))

    def _in_text(self, file: str, left_out: re.Pattern[str], pattern: re.Pattern[str]) -> Iterator[Place]:
        text = (self.root / file).read_text("utf-8")
        text = left_out.sub(lambda match: re.sub(r"[^\n]", "·", match[0]), text)
        for match in pattern.finditer(text):
            yield file, text.count("\n", 0, match.start()) + 1, _word(match)

    @cached_property
    def _public(self) -> dict[str, set[str]]:
        """By file: the names of classes and functions that are public if they are defined there."""
        found: dict[str, set[str]] = {}
        for file in self.files["public"]:
            for node in ast.walk(ast.parse((self.root / file).read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("likewise"):
                    home = self.root / "src" / str(node.module).replace(".", "/")
                    for path in home.glob("*.py") if home.is_dir() else [home.with_suffix(".py")]:
                        names = found.setdefault(path.relative_to(self.root).as_posix(), set())
                        names.update(alias.name for alias in node.names)
        return found


def _pattern(sections: Iterable[dict[str, str]]) -> re.Pattern[str]:
    rules = "|".join(rule.replace(" ", r"\s+") for rules in sections for rule in rules)
    return re.compile(rf"\b(?:{rules})\b", re.IGNORECASE)


def _word(match: re.Match[str]) -> str:
    return " ".join(match[0].lower().split())


def _strings(nodes: list[ast.AST], *, everything: bool) -> Iterator[tuple[ast.expr, str]]:
    """Strings of several words that are no docstrings: all of them, or those of errors and warnings."""
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    shown = nodes if everything else [inner for node in nodes if _speaks(node) for inner in ast.walk(node)]
    for node in {id(node): node for node in shown}.values():
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in parts:
            pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [piece.value if isinstance(piece, ast.Constant) else "{}" for piece in pieces]
            if all(isinstance(text, str) for text in texts) and " " in "".join(texts).strip():
                yield node, "".join(texts)


def _speaks(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return _SAYS.search(called) is not None
    return isinstance(node, ast.Raise)


def _docstrings(nodes: list[ast.AST], public: set[str]) -> Iterator[tuple[ast.expr, str]]:
    """Of these classes and functions, and of the public methods of the classes."""
    for node in nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name in public:
            inner = node.body if isinstance(node, ast.ClassDef) else []
            for each in (node, *(one for one in inner if isinstance(one, ast.FunctionDef))):
                first = each.body[0]
                if not each.name.startswith("_") and ast.get_docstring(each) and isinstance(first, ast.Expr):
                    yield first.value, ast.literal_eval(first.value)


def offenders(root: Path = ROOT) -> Iterator[Place]:
    """File, line and word: of pages, of templates and of strings in modules."""
    words = Words(root)
    yield from words.in_pages()
    yield from words.in_templates()
    for path in sorted((root / "src").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        yield from words.in_module(path.relative_to(root).as_posix(), nodes)


if __name__ == "__main__":
    advice = Words().advice
    lines = [f"{file}:{line}: {word} (write: {advice(word)})" for file, line, word in offenders()]
    raise SystemExit("\n".join([*lines, f"{len(lines)} words of tests/words.toml"]) if lines else 0)
