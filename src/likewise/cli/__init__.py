"""The command line: what people type and what they see.

app       the program, and every way a command can end (exit codes)
table     all commands: function, options, section of the help, exit codes
options   every option, declared once
claims    from flags and claim file to a model, a space and a claim
steps     next steps as commands that can be pasted
output    answers, text and JSON onto the terminal
hints     hints meant for Python, said for the command line
outcomes  what became of each claim of a run; junit and sarif report it
verify, measure, init, demo, ...   one file a command

Nothing here loads numpy or scikit-learn before a command runs: ``likewise --help`` stays fast.
"""


def main() -> None:
    """Run the command line and exit with its code."""
    from likewise_check.core.safe_path import leave_current_folder

    leave_current_folder()
    import signal
    import sys

    try:
        from likewise.cli.app import cli

        cli.main(prog_name="likewise")
    except SystemExit as leaving:
        _leave_compiling(leaving.code)
        raise
    except KeyboardInterrupt:  # before there was a command
        sys.stderr.write("UNKNOWN: interrupted before anything was known\n")
        sys.exit(3)
    finally:
        # The answer is out: Ctrl-C while the interpreter cleans up must not change the exit code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave_compiling(code: object) -> None:
    """Leave at once where Ctrl-C came while loops were compiled: the answer is out, and the interpreter would wait for the compiler."""
    import os
    import sys

    beside = sys.modules.get("likewise.compiled.beside")
    if beside is not None and beside.still_compiling() and isinstance(code, int | None):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)
