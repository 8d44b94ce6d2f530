"""Options that may stand alone or have a value: ``--like-data`` and ``--like-data=frequent``.

Click's own optional values take whatever follows for the value, so that ``--like-data claim.toml`` would lose its claim file.
"""

from __future__ import annotations

from typing import Any

import click


class OptionalValue(click.Option):
    """An option that may stand alone, and means `bare` then; a value is put behind an equals sign only, so that what follows it is never taken for one."""

    def __init__(self, names: list[str], *, bare: str, others: list[str], **said: Any) -> None:
        super().__init__(names, type=click.Choice([bare, *others]), metavar=f"[={'|'.join(others)}]", **said)
        self.bare = bare

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        found = super().get_help_record(ctx)
        return None if found is None else (found[0].replace(" [=", "[="), found[1])


class OptionalValueCommand(click.Command):
    """A command whose options may have optional values."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        alone = {
            name: f"{name}={option.bare}"
            for option in self.params
            if isinstance(option, OptionalValue)
            for name in option.opts
        }
        options = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*(alone.get(a, a) for a in args[:options]), *args[options:]])
