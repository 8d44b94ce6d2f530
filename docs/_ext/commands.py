"""The directive ``commands``: every command of the program with its flags, as the program itself states them."""

import re

import click
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from likewise.cli.app import cli
from likewise_check.__main__ import _make_parser as checker


class Commands(SphinxDirective):
    """One section a command, the checker last."""

    def run(self):
        """The sections."""
        sections = [_command(name, command) for name, command in cli.commands.items()]
        return [*sections, _checker()]


def _section(name, *content):
    section = nodes.section(ids=[nodes.make_id(name)], names=[name])
    section += nodes.title(name, name)
    section += content
    return section


def _command(name, command):
    context = click.Context(command, info_name=f"likewise {name}", max_content_width=80)
    pieces = [piece for piece in command.help.split("\n\n") if piece.strip()]
    options = [_option(*record) for param in command.params if (record := param.get_help_record(context))]
    usage = command.get_usage(context).removeprefix("Usage: ")
    return _section(
        f"likewise {name}",
        *(_piece(piece) for piece in pieces),
        nodes.literal_block(usage, usage, language="text"),
        nodes.definition_list("", *options),
    )


def _piece(piece):
    """A paragraph of the help text; after a \\b, lines as they are."""
    if piece.lstrip().startswith("\b"):
        lines = piece.strip().removeprefix("\b").strip("\n")
        return nodes.literal_block(lines, lines, language="text")
    return _paragraph(" ".join(piece.split()))


def _paragraph(text):
    """Text in which backticks mean code."""
    paragraph = nodes.paragraph()
    for number, part in enumerate(re.split(r"`([^`]*)`", text)):
        paragraph += nodes.literal(part, part) if number % 2 else nodes.Text(part)
    return paragraph


def _option(flags, words):
    return nodes.definition_list_item(
        "", nodes.term("", "", nodes.literal(flags, flags)), nodes.definition("", _paragraph(words))
    )


def _checker():
    parser = checker()
    usage = parser.format_usage().removeprefix("usage: ").strip()
    options = [
        _option(" ".join([", ".join(action.option_strings) or action.metavar, *_value(action)]), action.help)
        for action in parser._actions
    ]
    return _section(
        "likewise-check",
        _paragraph(f"{parser.description} {parser.epilog}"),
        nodes.literal_block(usage, usage, language="text"),
        nodes.definition_list("", *options),
    )


def _value(action):
    return [action.metavar] if action.option_strings and action.metavar else []


def setup(app):
    """Called by Sphinx."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
