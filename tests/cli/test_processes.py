"""The command as a process: what it imports, broken pipes, python -m."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LIKEWISE = [sys.executable, "-m", "likewise"]


@pytest.mark.draw(2)
@pytest.mark.parametrize("line", ["--help", "verify --help", "measure --help", "init --help", "demo --help"])
def test_help_imports_nothing_heavy(line):
    code = (
        "import sys; from likewise.cli import main; sys.argv[1:] = " + repr(line.split()) + "\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'numpy', 'sklearn', 'scipy', 'pandas', 'polars', 'narwhals', 'rich', 'skops', 'highspy'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_python_dash_m_and_the_script_are_the_same():
    script = Path(sys.executable).parent / "likewise"
    assert script.exists()
    texts = [
        subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
        for command in (LIKEWISE, [str(script)])
    ]
    assert texts[0] == texts[1]


@pytest.mark.some_days
def test_exit_code_and_streams_of_a_real_run(shelf, on_data):
    line = f"verify --model m.skops {on_data} --free sex --json".split()
    done = subprocess.run([*LIKEWISE, *line], capture_output=True, text=True, cwd=shelf, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "BIASED"
    assert done.stderr == ""


@pytest.mark.draw(1)
@pytest.mark.parametrize(("line", "code"), [("--help", 0), ("verify --model m.skops {d} --free sex", 1)])
def test_a_broken_pipe_is_quiet_and_keeps_the_code(shelf, on_data, line, code):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*LIKEWISE, *line.format(d=on_data).split()],
        cwd=shelf, stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == code
