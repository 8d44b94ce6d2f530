"""The README's picture of a terminal: ``python -m tests.cli.picture`` (`make picture`) takes it again, from a real run.

The first two commands of the first page of the documentation, with the model that the page fits, as rich draws them: an SVG file that
loads nothing.
"""

import contextlib
import os
import re
import tempfile
from unittest import mock

from click.testing import CliRunner
from tests.pages import DOCS, blocks

PICTURE = DOCS / "terminal.svg"
WIDTH = 88
COMMANDS = (
    "likewise init people.csv --model model.skops --label income --free sex -o claim.toml",
    "likewise verify claim.toml",
)


def run_commands() -> str:
    """What a terminal shows of them, escape codes included."""
    from likewise.cli.app import cli

    lines = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        fit = next(block.text for block in blocks(DOCS / "index.md") if block.kind == "python")
        exec(compile(fit, "index.md", "exec"), {})  # noqa: S102
        for command in COMMANDS:
            with mock.patch("likewise.cli.output.wants_colour", return_value=True):
                done = CliRunner().invoke(cli, command.split()[1:], color=True)
            lines += [f"\x1b[1m$ {command}\x1b[0m", done.output.rstrip("\n"), ""]
    return "\n".join(lines).rstrip("\n")


def draw(text: str) -> str:
    """The text as a picture; letters are those of the reader's machine, and nothing is loaded."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.terminal_theme import MONOKAI
    from rich.text import Text

    form = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    form = re.sub(r"<!-- Generated with Rich.*?-->", "", form)
    form = form.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    console.print(Text.from_ansi(text))
    return console.export_svg(title="likewise", theme=MONOKAI, code_format=form, unique_id="likewise")


def main() -> None:
    PICTURE.write_text(draw(run_commands()), encoding="utf-8")


if __name__ == "__main__":
    main()
