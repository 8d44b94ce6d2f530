"""Runs a page of the documentation: its blocks in order, each compared with the block of text that follows.

    ```python    run in one namespace a page; what it prints is its output
    ```sh        commands of this project, run in this process (an interpreter each would take minutes); `echo $?` has the
                 exit code of the last one; `pip install` is not run, but the extras it names must exist
    ```text      the output of the block before it, to the letter but for seconds
    ```toml      after a line "`FILE`:" the content of that file, which later blocks use; else only for reading

A page runs in an empty folder. Blocks in any other language are for reading only.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RUN = ("python", "sh")

_BLOCK = re.compile(
    r"(?:^`(?P<file>[\w.-]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_SECONDS = re.compile(r"\b\d+\.\d+ s\b")


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    text: str
    file: str | None


def blocks(page: Path) -> list[Block]:
    found = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(one["kind"], one["text"], one["file"]) for one in found]


def run(page: Path) -> None:
    """Every block of the page in order, in the current folder; AssertionError where the output is another one."""
    names: dict[str, object] = {"__name__": "__main__"}
    codes: list[int] = []
    todo = blocks(page)
    for block, following in zip(todo, [*todo[1:], None], strict=True):
        if block.kind == "toml" and block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf-8")
        if block.kind not in RUN:
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            if block.kind == "python":
                exec(compile(block.text, str(page), "exec"), names)  # noqa: S102
            else:
                _shell(block.text, codes)
        expected = following.text if following is not None and following.kind == "text" else ""
        assert timeless(out.getvalue()) == timeless(expected), f"{block.text}\nprints:\n{out.getvalue()}"


def timeless(output: str) -> str:
    return _SECONDS.sub("# s", output)


def _shell(text: str, codes: list[int]) -> None:
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        match words:
            case []:
                pass
            case ["likewise", *arguments]:
                codes.append(_likewise(arguments))
            case ["likewise-check", *arguments]:
                from likewise_check.__main__ import main

                codes.append(main(arguments))
            case ["echo", "$?"]:
                print(codes[-1])  # noqa: T201
            case ["python", "-m", "pip", "install", what]:
                _check_extras(what)
            case _:
                raise AssertionError(f"no command that a page may have: {line}")


def _likewise(arguments: list[str]) -> int:
    from likewise.cli.app import cli

    try:
        cli.main(arguments, prog_name="likewise")
    except SystemExit as end:
        return int(end.code or 0)
    raise AssertionError("the command did not exit")


def _check_extras(what: str) -> None:
    extras = re.fullmatch(r"\.\[([\w,]+)\]", what)
    assert extras, what
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras[1].split(",")) <= set(project["optional-dependencies"])
