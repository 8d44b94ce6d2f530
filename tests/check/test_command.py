"""The command: exit codes, what it prints and where, and a run with nothing but the standard library."""

import importlib
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from tests.check import samples
from tests.check.builder import packed, sealed

import likewise_check
from likewise_check import CheckReport
from likewise_check.__main__ import main
from likewise_check.core import leaves, registry

PACKAGE = Path(likewise_check.__file__).parent
SPECIFICATION = Path(__file__).parents[2] / "spec" / "certificate-v1.md"


@pytest.fixture
def cert(tmp_path):
    path = tmp_path / "cert.gz"
    path.write_bytes(packed(sealed(samples.gap())))
    return path


def test_accepted(cert, capsys):
    assert main([str(cert)]) == 0
    out, err = capsys.readouterr()
    assert "ACCEPTED" in out
    assert "2 separable" in out
    assert "rules used: core\n" in out
    assert "proof: 3 cells;" in out
    assert "clearance: 1.5; covers" in out
    assert out.startswith("claim: Every two individuals")
    assert err == ""


def test_one_cell_is_said_in_the_singular():
    said = CheckReport(accepted=True, cells=1, clearance=Fraction(0), rules={"separable": 1}).in_words()
    assert "proof: 1 cell; leaves by rule: 1 separable" in said


def test_rejected(tmp_path, capsys):
    values = samples.gap()
    values[7] = ["separable", "1"]
    path = tmp_path / "bad.gz"
    path.write_bytes(packed(sealed(values)))
    assert main([str(path)]) == 4
    assert "REJECTED (line 8): separable" in capsys.readouterr().out
    assert main([str(path), "--quiet"]) == 4
    assert capsys.readouterr().out == ""


def test_unreadable(tmp_path, capsys):
    assert main([str(tmp_path / "none")]) == 2
    assert "UNREADABLE: cannot be read" in capsys.readouterr().out
    (tmp_path / "text").write_text("hello")
    assert main([str(tmp_path / "text")]) == 2
    assert "UNREADABLE (line 1)" in capsys.readouterr().out


def test_json_alone(cert, capsys):
    assert main([str(cert), "--json", "--jobs", "2"]) == 0
    out, _ = capsys.readouterr()
    report = json.loads(out)
    assert report["accepted"]
    assert report["clearance"] == "3/2"
    assert report["packs"] == ["core"]
    assert set(report["digests"]) == {"space", "similarity", "property", "model"}


def test_a_witness_in_words(tmp_path, capsys):
    path = tmp_path / "w.gz"
    path.write_bytes(packed(sealed(samples.refuted())))
    assert main([str(path)]) == 1
    out = capsys.readouterr().out
    assert "the witness holds" in out
    assert "clearance" not in out
    assert main([str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["clearance"] is None


def test_not_covered(tmp_path, capsys):
    path = tmp_path / "tight.gz"
    path.write_bytes(packed(sealed(samples.regression())))
    assert main([str(path)]) == 0
    assert "does not cover" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [[], ["a", "b"], ["a", "--jobs", "0"], ["a", "--jobs", "x"], ["a", "--jobs", "2000"], ["a", "--more"]],
)
def test_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2


def test_model(cert, tmp_path, capsys):
    line = sealed(samples.gap())[4]
    own = tmp_path / "model.json"
    for content, code in [(line, 0), (line + b"\n", 0), (line + b" ", 4), (b"\n", 4)]:
        own.write_bytes(content)
        assert main([str(cert), "--model", str(own)]) == code
    assert "another model" in capsys.readouterr().out
    for content in (b"", line + b"\n\n", line + b"\n" + line):  # no file of one line
        own.write_bytes(content)
        assert main([str(cert), "--model", str(own)]) == 2
        assert "a model file has one line" in capsys.readouterr().out
    assert main([str(cert), "--model", str(tmp_path / "none")]) == 2


def test_progress_only_on_a_terminal(cert, capsys, monkeypatch):
    monkeypatch.setattr("likewise_check.core.proof._PROGRESS_EVERY", 1)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main([str(cert)]) == 0
    assert "3 cells" in capsys.readouterr().err
    assert main([str(cert), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


ALONE = """
import sys
sys.path.insert(0, {folder!r})
from likewise_check.__main__ import main as command
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_alone_with_the_standard_library(tmp_path, cert, jobs):
    """Nothing but a copy of the package and the standard library: no site-packages, no environment variables."""
    folder = tmp_path / "alone"
    shutil.copytree(PACKAGE, folder / "likewise_check", ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        ALONE.format(folder=str(folder))
        + f"""
if __name__ == "__main__":
    code = command([{str(cert)!r}, "--json", "--jobs", {jobs!r}])
    known = set(sys.stdlib_module_names) | {{"likewise_check", "__main__", "__mp_main__"}}
    sys.exit(code or [name for name in sys.modules if name.partition(".")[0] not in known] or 0)
"""
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script)],
        capture_output=True,
        text=True,
        env={},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accepted"]


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_as_a_program(tmp_path, encoding):
    values = samples.gap()
    values[1]["space"]["features"][1]["name"] = "größe\x1b"
    path = tmp_path / "cert.gz"
    path.write_bytes(packed(sealed(values)))
    done = subprocess.run(
        [sys.executable, "-m", "likewise_check", str(path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"ACCEPTED" in done.stdout
    assert b"\x1b" not in done.stdout


def test_as_a_module(cert, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["likewise-check", str(cert), "--quiet"])
    with suppress(ImportError):  # no limit stays behind in the process of the tests
        monkeypatch.setattr("resource.setrlimit", lambda *_: None)
    monkeypatch.setattr("sys.path", ["the current folder", *sys.path])
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.delitem(sys.modules, "likewise_check.__main__")
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("likewise_check", run_name="__main__")
    assert stopped.value.code == 0
    assert capsys.readouterr().out == ""


def code_lines(source: str) -> int:
    """Lines that are not blank, comments or docstrings."""
    import ast

    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            skipped |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(source.splitlines(), start=1)
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and n not in skipped for n, line in lines
    )


# Lines of code that a part of the package may have at most: what whoever trusts a proof has to read.
SIZES = {
    "program": 340,  # the command, and what it answers
    "words": 155,  # the claim for people
    "core": 2395,
    "along": 385,
    "axes": 60,
    "classes": 645,
    "combined": 70,
    "cubes": 430,
    "distance": 320,
    "intervals": 40,
    "kernel": 1460,
    "lines": 60,
    "lipschitz": 380,
    "mixed": 360,
    "nested": 330,
    "network": 790,
    "pieces": 250,
    "polynomial": 400,
    "sums": 540,
    "trees": 1000,
}


def part_of(path: Path) -> str:
    """core, the name of a pack, or the program around them."""
    first, *rest = path.relative_to(PACKAGE).parts
    if first == "packs" and rest[0] != "__init__.py":
        return rest[0].removesuffix(".py")
    return "core" if first == "core" else "words" if first == "words.py" else "program"


def test_size_of_the_package():
    """Small enough to be read by whoever wants to trust it: the core in an afternoon, a pack when it is used."""
    sizes = {path: code_lines(path.read_text()) for path in PACKAGE.rglob("*.py")}
    assert max(sizes.values()) <= 300
    by_part = dict.fromkeys(SIZES, 0)
    for path, size in sizes.items():
        by_part[part_of(path)] += size
    assert all(size <= SIZES[part] for part, size in by_part.items()), by_part


def test_the_trust_table_is_true():
    """The page says how many lines of each part there are, about."""
    page = (SPECIFICATION.parents[1] / "docs" / "what-a-proof-says.md").read_text()
    stated = {
        name: int(n.replace(",", "")) for name, n in re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", page, re.M)
    }
    counted = dict.fromkeys(SIZES, 0)
    for path in PACKAGE.rglob("*.py"):
        counted[part_of(path)] += code_lines(path.read_text())
    assert stated.keys() == counted.keys()
    assert all(abs(stated[part] - size) <= max(30, size / 10) for part, size in counted.items()), counted


def test_every_pack_keeps_what_its_line_of_the_registry_says():
    for pack, tables in registry.PACKS.items():
        for table, names in tables.items():
            module = "likewise_check.core.rules" if pack == "core" else f"likewise_check.packs.{pack}"
            assert tuple(getattr(importlib.import_module(module), table)) == names
            assert all(registry.pack_of(table, name) == pack for name in names)
    packages = {path.name.removesuffix(".py") for path in (PACKAGE / "packs").iterdir()} - {"__pycache__"}
    assert packages - {"__init__", "axes", "cubes", "intervals", "lines"} == set(registry.PACKS) - {"core"}


@pytest.mark.parametrize("pack", [pack for pack in registry.PACKS if pack != "core"])
def test_a_pack_says_which_section_of_the_specification_it_is(pack):
    said = importlib.import_module(f"likewise_check.packs.{pack}").__doc__
    assert said.startswith(f"The pack `{pack}`")
    sections = {int(n) for n in re.findall(r"section[s]? (\d+)", said)}
    headings = {int(n) for n in re.findall(r"^## (\d+)\.", SPECIFICATION.read_text(), re.MULTILINE)}
    assert sections
    assert sections <= headings


ONLY_CORE = """
import sys
from likewise_check.__main__ import main
code = main(sys.argv[1:])
print(sorted(name for name in sys.modules if name.startswith("likewise_check.packs.")))
sys.exit(code)
"""


def test_a_proof_of_the_core_runs_no_code_of_a_pack(cert):
    done = subprocess.run(
        [sys.executable, "-c", ONLY_CORE, str(cert), "--quiet"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_ctrl_c_says_nothing_of_the_certificate(cert, capsys, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("likewise_check.__main__.check", interrupted)
    assert main([str(cert)]) == 3
    assert capsys.readouterr() == ("", "interrupted: neither accepted nor rejected\n")


def test_workers_leave_ctrl_c_to_the_program(cert):
    with ProcessPoolExecutor(1, initializer=leaves._start_worker, initargs=(None,)) as pool:
        assert pool.submit(signal.getsignal, signal.SIGINT).result() is signal.SIG_IGN
