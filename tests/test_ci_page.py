"""The page on continuous integration and its examples: what they name exists, and they run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = DOCS / "examples"
ROOT = DOCS.parent
PAGES = [
    DOCS / "ci.md",
    EXAMPLES / "gate.sh",
    EXAMPLES / "fairness.yml",
    ROOT / "action.yml",
    ROOT / ".pre-commit-hooks.yaml",
]
CHECKER = {"--model", "--claim", "--expect", "--seconds", "--memory"}

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_flags_exist(page):
    from likewise.cli.app import cli

    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"(?:^|`|\n +)likewise ([a-z]+)", text, flags=re.MULTILINE)
    assert set(commands) <= set(cli.commands)
    options = {
        option for command in cli.commands.values() for param in command.params for option in param.opts
    }
    assert set(re.findall(r"(?<=[ `])--[a-z][a-z-]*", text)) <= options | CHECKER


def test_the_hook_of_pre_commit_runs_what_it_names():
    from likewise.cli.app import cli

    entry = re.search(r"entry: likewise (\w+)", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert entry is not None
    assert entry.group(1) in cli.commands


def test_every_input_of_the_action_is_used():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    declared = re.findall(r"^  (\w+):\n    description", text, flags=re.MULTILINE)
    assert len(declared) == 6
    assert all(f"inputs.{name} " in text for name in declared)


def run_step(name, folder, **inputs):
    """The shell part of a step of the action, in a folder; what it hands to each program that it calls."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    step = re.search(rf"- name: {name}\n.*?run: (.*?)\n", text, flags=re.DOTALL)
    assert step is not None
    programs = folder.parent / "programs"
    programs.mkdir()
    for program in ("likewise", "python"):
        (programs / program).write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
        (programs / program).chmod(0o755)
    environment = {
        **os.environ,
        **inputs,
        "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.group(1)]
    done = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


HOSTILE = [
    "--trust=os.system.toml",
    "-o",
    "--allow-pickle",
    "a b.toml",
    "a\nb.toml",
    "$(touch ran).toml",
    "`touch ran`",
    "*",
    ";touch ran",
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    "claims", ["*", "--trust=os.system.toml -o\n--allow-pickle", "$(touch ran) ;touch ran `touch ran`"]
)
def test_no_name_is_an_option_of_the_action(tmp_path, claims):
    from likewise.cli.app import cli

    folder = tmp_path / "claims"
    folder.mkdir()
    for name in HOSTILE:
        (folder / name).touch()
    inputs = {"BUDGET": "60", "JOBS": "2", "JUNIT": "--trust=a.xml", "SARIF": "-o"}
    words = run_step("Verify claims", folder, CLAIMS=claims, **inputs)
    read = cli.commands["verify"].make_context("likewise", list(words[1:])).params
    assert list(read["specs"]) == (sorted(HOSTILE) if claims == "*" else claims.split())
    assert (read["trust"], read["allow_pickle"], read["junit"], read["sarif"]) == (
        (),
        False,
        "--trust=a.xml",
        "-o",
    )
    assert sorted(path.name for path in folder.iterdir()) == sorted(HOSTILE)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_action_installs_the_versions_that_are_tested(tmp_path):
    words = run_step("Install Likewise", tmp_path, SOURCE=str(ROOT), EXTRAS="skops --pre")
    assert words == [
        *["-P", "-m", "pip", "install", "-c"],
        f"{ROOT}/constraints.txt",
        "--",
        f"{ROOT}[skops --pre]",
    ]


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)", (DOCS / "ci.md").read_text(encoding="utf-8"))
    assert len(links) == 3
    assert all((DOCS / link).is_file() for link in links)


def test_the_test_file_passes(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    shutil.copy(EXAMPLES / "test_fairness.py", pytester.path)
    done = pytester.runpytest_inprocess(
        "-p", "likewise.pytest_plugin", "-W", "ignore::pytest.PytestAssertRewriteWarning"
    )
    done.assert_outcomes(passed=2)


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "code"), [(0.0, 0), (2.0, 1)])
def test_the_gate_opens_for_proofs_only(tmp_path, weight, code):
    import numpy as np
    import pandas as pd
    import skops.io
    from sklearn.linear_model import LogisticRegression

    X = pd.DataFrame({"sex": [0, 1, 0, 1], "wage": [1, 2, 8, 9]})
    model = LogisticRegression().fit(X, [0, 0, 1, 1])
    model.coef_, model.intercept_ = np.array([[weight, 1.0]]), np.array([-4.5])
    skops.io.dump(model, tmp_path / "model.skops")
    (tmp_path / "claims").mkdir()
    for name in ("sex", "again"):
        (tmp_path / "claims" / f"{name}.toml").write_text(
            '[model]\npath = "../model.skops"\n[features.sex]\nkind = "categorical"\nlevels = [0, 1]\n'
            '[features.wage]\nkind = "integer"\nlo = 0\nhi = 9\n[similarity]\nfree = ["sex"]\n'
        )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", str(EXAMPLES / "gate.sh")],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert (tmp_path / "fairness" / "junit.xml").exists()
