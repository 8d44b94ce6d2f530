"""The group of commands, and every way a command can end.

click's own ways out collide with the codes of `exits` (it exits with 1 on Ctrl-C and on a broken pipe), so
`Application` runs the commands itself. A command returns its exit code, or None for 0.
"""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from likewise import __version__
from likewise.cli.exits import EXIT_CODES_TEXT, Exit
from likewise.cli.hints import translate_hint
from likewise.cli.options import DEBUG_KEY, JSON_KEY
from likewise.cli.output import emit_json, report_defect
from likewise.cli.streams import silence_stdout
from likewise.cli.table import add_commands, sections
from likewise.errors import DataError, InternalError, LikewiseError


class Application(click.Group):
    """A click group that ends with the codes of `exits`, whatever happens."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002 - click's signature; a program always exits
        windows_expand_args: bool = True,  # noqa: ARG002 - as above
        **extra: Any,
    ) -> NoReturn:
        """Run one command line, then exit."""
        name = prog_name or "likewise"
        self._main_shell_completion(extra, name, complete_var)
        try:
            code = self._run(list(sys.argv[1:] if args is None else args), name, extra)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has gone: whatever was not written interests nobody, and that is no error.
            silence_stdout()
            code = Exit.DONE
        sys.exit(code)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """The commands below the sections of the table."""
        widest = max(map(len, self.commands))
        for section, names in sections().items():
            room = formatter.width - 6 - widest
            rows = [(f"{name:<{widest}}", self.commands[name].get_short_help_str(room)) for name in names]
            with formatter.section(section):
                formatter.write_dl(rows)

    def _run(self, args: list[str], name: str, extra: dict[str, Any]) -> int:
        meta: dict[str, Any] = {}
        try:
            with self.make_context(name, args, **extra) as ctx:
                meta = ctx.meta
                code = self.invoke(ctx)
                return code if isinstance(code, int) else Exit.DONE
        except click.exceptions.Exit as leaving:
            return leaving.exit_code
        except click.ClickException as error:
            error.show()
            return Exit.INPUT
        except (KeyboardInterrupt, EOFError, click.Abort):
            return _report_interrupt(meta)
        except BrokenPipeError:
            raise
        except InternalError as error:
            return _report_internal_error(error, meta)
        except LikewiseError as error:
            _report_error(error, meta)
            return Exit.INPUT
        except Exception as error:  # noqa: BLE001 - the last resort: what nobody foresaw is a bug
            return _report_internal_error(error, meta)


def _report_interrupt(meta: dict[str, Any]) -> int:
    """Ctrl-C where nothing is known yet; a running search answers it with its bounds instead."""
    reason = "interrupted before anything was known"
    if meta.get(JSON_KEY):
        emit_json({"verdict": "UNKNOWN", "reason": reason})
    else:
        click.echo(f"UNKNOWN: {reason}", err=True)
    return Exit.UNKNOWN


def _report_error(error: LikewiseError, meta: dict[str, Any]) -> None:
    if meta.get(DEBUG_KEY):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    click.echo(f"error: {error.message}", err=True)
    if error.hint is not None:
        click.echo(f"hint: {translate_hint(error.hint)}", err=True)


def _report_internal_error(error: Exception, meta: dict[str, Any]) -> int:
    if (
        isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG
    ):  # the one error that any name of a file may end in
        _report_error(DataError(f"{str(error.filename)[:60]}...: the name is too long for a file"), meta)
        return Exit.INPUT
    if meta.get(DEBUG_KEY):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    what = " ".join(str(error).split())
    click.echo(f"internal error: {type(error).__name__}: {what}", err=True)
    report_defect(debug=bool(meta.get(DEBUG_KEY)))
    return Exit.INTERNAL


@click.group(
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=EXIT_CODES_TEXT,
)
@click.version_option(__version__, prog_name="likewise", message="%(prog)s %(version)s")
def cli() -> None:
    """Prove that a model treats similar individuals alike, or see the pair that it does not.

    Start with `likewise demo`.
    """


add_commands(cli)
