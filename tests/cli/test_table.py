"""The command table: every command with its options, their kinds and their help, as `options.txt` lists them.

Scripts rely on names, defaults and exit codes: a line of the list may be added, but none may change or go without a word in the CHANGELOG.
Written by ``python tests/cli/test_table.py``.
"""

from pathlib import Path

import click

from likewise.cli.app import cli
from likewise.cli.table import COMMANDS, sections

LIST = Path(__file__).parent / "options.txt"


def listed() -> str:
    return (
        "\n".join(line for name, command in _commands(cli, "likewise") for line in _lines(name, command))
        + "\n"
    )


def _commands(command, name):
    yield name, command
    for inner in sorted(getattr(command, "commands", {})):
        yield from _commands(command.commands[inner], f"{name} {inner}")


def _lines(name, command):
    yield name
    for parameter in command.params:
        known = getattr(parameter, "metavar", None) or "-", _kind(parameter), getattr(parameter, "help", None)
        flags = ", ".join(parameter.opts) if isinstance(parameter, click.Option) else "argument"
        yield "    " + " | ".join((flags, str(parameter.name), *known[:2], known[2] or "-"))
    yield f"    help: {' '.join((command.help or '').split())}"
    yield f"    epilog: {' '.join((command.epilog or '-').split())}"


def _kind(parameter):
    kind = parameter.type
    if getattr(parameter, "is_flag", False):
        marks = ["flag"]
    elif isinstance(kind, click.Choice):
        marks = [f"one of {', '.join(kind.choices)}"]
    elif isinstance(kind, click.IntRange | click.FloatRange):
        marks = [f"{kind.name} {kind._describe_range()}"]
    else:
        marks = [kind.name]
    marks += ["repeatable"] * bool(getattr(parameter, "multiple", False))
    marks += ["required"] * bool(parameter.required)
    marks += [f"nargs {parameter.nargs}"] * (parameter.nargs != 1)
    if "flag" not in marks and isinstance(parameter.default, int | float | str):
        marks.append(f"default {parameter.default}")
    return "; ".join(marks)


def test_names_options_and_help_are_what_they_were():
    assert listed() == LIST.read_text(encoding="utf-8")


def test_every_command_is_in_one_section_of_the_help():
    named = [name for names in sections().values() for name in names]
    assert sorted(named) == sorted(cli.commands)
    assert len(COMMANDS) == len(named)


def test_no_flag_of_a_command_stands_for_two_things():
    for name, command in _commands(cli, "likewise"):
        flags = [flag for parameter in command.params for flag in (*parameter.opts, parameter.name)]
        own = [{*parameter.opts, parameter.name} for parameter in command.params]
        assert len(set(flags)) == sum(map(len, own)), name


if __name__ == "__main__":
    LIST.write_text(listed(), encoding="utf-8")
