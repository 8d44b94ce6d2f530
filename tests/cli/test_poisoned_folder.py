"""Python files next to data and models do not run: each command and each process that it starts, in a folder with a file for every module that could be imported."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from likewise.cli.ui.files import Folder
from likewise.cli.ui.jobs import Job
from likewise.cli.ui.server import Workbench

SCRIPTS = Path(sys.executable).parent
SITE = {"sitecustomize", "usercustomize"}  # Python itself looks for them, before any program begins
NAMES = {*sys.stdlib_module_names, *(module.name for module in iter_modules()), *SITE}
# What `python -m` itself imports, and what it is asked to run.
OF_PYTHON = {
    *("importlib", "warnings", "contextlib", "collections", "keyword", "operator", "reprlib", "functools"),
    *("types", "likewise", "likewise_check"),
}
CLAIM = """
[model]
path = "{model}.skops"
[data]
path = "d.csv"
label = "y"
[features.sex]
kind = "integer"
lo = 0
hi = 1
[features.wage]
kind = "integer"
lo = 0
hi = 9
[similarity]
free = ["sex"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Data, models, claims and a proof."""
    folder = tmp_path_factory.mktemp("made")
    X = pd.DataFrame({"sex": [0, 1, 0, 1], "wage": [1, 2, 8, 9]})
    for name, weight in (("biased", 2.0), ("fair", 0.0)):
        model = LogisticRegression().fit(X, [0, 0, 1, 1])
        model.coef_, model.intercept_ = np.array([[weight, 1.0]]), np.array([-4.5])
        skops.io.dump(model, folder / f"{name}.skops")
        (folder / f"{name}.toml").write_text(CLAIM.format(model=name))
    X.assign(y=[0, 0, 1, 1]).to_csv(folder / "d.csv", index=False)
    words = [SCRIPTS / "likewise", "verify", "fair.toml", "--certificate", "proof.likewise"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def poisoned(made, tmp_path):
    """The same with a file for every module."""
    folder = tmp_path / "poisoned"
    folder.mkdir()
    for path in made.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for name in NAMES:
        line = (
            f"open({str(tmp_path / 'marks')!r}, 'a').write({name!r} + ' ' + ' '.join(sys.orig_argv) + '\\n')"
        )
        (folder / f"{name}.py").write_text(f"import sys\n{line}\n")
    return folder


def marks(folder):
    found = folder.parent / "marks"
    return found.read_text().splitlines() if found.exists() else []


def runs(folder, *words, code=0, **environment):
    """What a command prints that runs in the folder, imports nothing from there and ends with this code."""
    known = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    done = subprocess.run(
        [*map(str, words)],
        cwd=folder,
        env={**known, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert marks(folder) == []
    assert done.returncode == code, done.stderr
    return done.stdout


def program(folder, text):
    """Of a user, in a folder of its own, from which it imports nothing else."""
    path = folder.parent / "program" / "program.py"
    path.parent.mkdir()
    path.write_text(text)
    return sys.executable, path


def test_the_files_leave_marks(poisoned):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    subprocess.run([sys.executable, "-c", "import json, numpy"], cwd=poisoned, env=environment, check=True)
    assert [line.split()[0] for line in marks(poisoned)] == ["json", "numpy"]


@pytest.mark.some_days
def test_claims_side_by_side(poisoned):
    words = ("verify", "fair.toml", "biased.toml", "--jobs", "2")
    assert "2 claims: 1 BIASED, 1 FAIR" in runs(poisoned, SCRIPTS / "likewise", *words, code=1)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        pytest.param(
            "likewise", ["verify", "fair.toml", "biased.toml", "--jobs", "2"], marks=pytest.mark.slow
        ),
        ("likewise_check", ["proof.likewise"]),
    ],
    ids=["likewise", "likewise_check"],
)
def test_python_dash_m(poisoned, command, words):
    """From the first line on; whatever is there for `python -m` itself has run before."""
    for name in OF_PYTHON:
        (poisoned / f"{name}.py").unlink()
    runs(poisoned, sys.executable, "-m", command, *words, code=int(command == "likewise"))


@pytest.mark.slow
@pytest.mark.parametrize("path", [os.pathsep, f"{os.pathsep}/nowhere", f"/nowhere{os.pathsep}"])
def test_an_empty_entry_of_the_path_names_nothing(poisoned, path):
    """Python itself takes it for the current folder until the first line."""
    code = "import re, sys, likewise.cli; print(*sys.modules)"
    before = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in (*SITE, "likewise_check", *before.stdout.split()):
        (poisoned / f"{name}.py").unlink(missing_ok=True)
    command = (SCRIPTS / "likewise", "verify", "fair.toml", "biased.toml", "--jobs", "2")
    assert "2 claims: 1 BIASED, 1 FAIR" in runs(poisoned, *command, code=1, PYTHONPATH=path)


def test_a_path_that_names_the_folder_is_kept(made):
    code = "import sys; from likewise.cli import main; sys.argv[1:] = ['--help']\ntry: main()\nfinally: print(sys.path[0])"
    path = f"{made}{os.pathsep}"
    assert runs(made, sys.executable, "-c", code, PYTHONPATH=path).splitlines()[-1] == str(made)


@pytest.mark.draw(1)
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_processes_of_the_checker(poisoned, method):
    text = f"""
import multiprocessing, os
from likewise_check import check
from likewise_check.core import leaves
if __name__ == "__main__":
    multiprocessing.set_start_method({method!r})
    leaves.ALONE_SECONDS = 0.0
    print(check("proof.likewise", jobs=2).accepted, os.environ.get("PYTHONSAFEPATH"))
"""
    assert runs(poisoned, *program(poisoned, text)) == "True None\n"


def test_processes_of_a_search(poisoned):
    """Of loky, asked for by a program of the user."""
    text = """
import os
from likewise.search.workers import Workers
if __name__ == "__main__":
    workers = Workers(2)
    print(workers.submit(abs, -2).result(), os.environ.get("PYTHONSAFEPATH"), os.environ.get("OMP_NUM_THREADS"))
    workers.close()
"""
    assert runs(poisoned, *program(poisoned, text), OMP_NUM_THREADS="7") == "2 None 7\n"


@pytest.mark.slow
def test_processes_that_fit_the_papers_models(poisoned):
    text = """
from pathlib import Path
from likewise.datasets import load_credit
from likewise.paper import training
from likewise.paper.experiment import chosen_rows
if __name__ == "__main__":
    data = load_credit(coded=True)
    rows = chosen_rows(["credit-linear1", "credit-rbf1"])
    print(len(list(training.fit_all([(row, data) for row in rows], Path(__file__).parent, jobs=2))))
"""
    assert runs(poisoned, *program(poisoned, text)) == "2\n"


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "module", ["likewise.importers.layer_files.hdf5_process", "likewise.importers.catboost.reading"]
)
def test_processes_that_read_files_for_a_parser(poisoned, module):
    text = f"""
from likewise.errors import UnsupportedModel
from likewise.spec.reader_process import ask_process
try:
    ask_process({module!r}, b"no such file", "file")
except UnsupportedModel:
    print("refused")
"""
    assert runs(poisoned, *program(poisoned, text)) == "refused\n"


@pytest.mark.slow
def test_processes_of_the_page(poisoned, tmp_path, monkeypatch):
    monkeypatch.chdir(poisoned)
    (tmp_path / "work").mkdir()
    bench = Workbench(
        Folder("."),
        tmp_path / "work",
        {"allow_pickle": False, "trust": (), "import_budget": 60.0, "max_memory": 2.0},
    )
    job = Job(
        {
            "question": "columns",
            "data": "d.csv",
            "model": "fair.skops",
            "allow_pickle": False,
            "trust": [],
            "import_budget": 60,
            "max_memory": 2.0,
        }
    )
    job.wait()
    assert job.error is None
    (tmp_path / "work" / "claim.toml").write_text(
        CLAIM.format(model=poisoned / "fair").replace("d.csv", str(poisoned / "d.csv"))
    )
    report = bench._start_report({"output": "report.html", "budget": 5})
    report.wait()
    assert report.error is None
    assert (poisoned / "report.html").exists()
    assert marks(poisoned) == []


@pytest.mark.slow
def test_a_cluster(poisoned):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tcp", dashboard_address=":0", silence_logs=50
    ) as found:
        words = ("verify", "fair.toml", "--cluster", found.scheduler_address)
        assert "FAIR" in runs(poisoned, SCRIPTS / "likewise", *words)


@pytest.mark.some_days
def test_a_module_that_is_named_is_imported_and_takes_no_other_place(poisoned):
    for name in NAMES:
        if find_spec(name) is None:
            (poisoned / f"{name}.py").unlink()
    (poisoned / "scoring_of_ours.py").write_text(
        "import json, numpy\ndef premium(people): return 25.0 * people['sex']\n"
    )
    words = ("verify", "fair.toml", "--property", "score:20", "--budget", "5")
    assert "BIASED" in runs(
        poisoned, SCRIPTS / "likewise", *words, "--model", "scoring_of_ours:premium", code=1
    )
    done = subprocess.run(
        [SCRIPTS / "likewise", *words, "--model", "json:loads"],
        cwd=poisoned,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "an installed module is called json, too: rename your file" in done.stderr
    assert marks(poisoned) == []


def test_settings_of_numba_in_the_folder_choose_no_folder_of_machine_code(made, tmp_path):
    """Machine code is kept in pickles."""
    pytest.importorskip("yaml")
    (tmp_path / ".numba_config.yaml").write_text(f"cache_dir: {tmp_path / 'planted'}\n")
    text = """
import numba
from types import SimpleNamespace
from likewise.compiled.kept import Kept
print(numba.config.CACHE_DIR, Kept(SimpleNamespace(py_func=Kept.flush)).cache_path)
"""
    told = runs(tmp_path, sys.executable, "-c", text).split()
    assert told[0].endswith("planted")
    assert "planted" not in told[1]
