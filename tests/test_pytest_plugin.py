"""The fixture assert_fair, in test runs of its own."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

MODELS = """
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw

SPACE = lw.Space({"sex": lw.Categorical([0, 1]), "wage": lw.Integer(0, 9)})
SIMILAR = lw.Similarity(free=["sex"])


def model(weight):
    X = pd.DataFrame({"sex": [0, 1, 0, 1], "wage": [1, 2, 8, 9]})
    made = LogisticRegression().fit(X, [0, 0, 1, 1])
    made.coef_ = np.array([[weight, 1.0]])
    made.intercept_ = np.array([-4.5])
    return made
"""

SPEC = """
[model]
path = "model.skops"
[features.sex]
kind = "categorical"
levels = [0, 1]
[features.wage]
kind = "integer"
lo = 0
hi = 9
[similarity]
free = ["sex"]
[property]
kind = "decision"
"""


@pytest.fixture
def tests(pytester, monkeypatch):
    """Runs tests written below MODELS, with this plugin and no other."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(body: str, *args: str):
        pytester.makepyfile(MODELS + body)
        return pytester.runpytest_inprocess(
            "-p", "likewise.pytest_plugin", "-W", "ignore::pytest.PytestAssertRewriteWarning", *args
        )

    return run


def test_a_fair_model_passes_and_the_result_is_returned(tests):
    done = tests(
        """
def test_it(assert_fair):
    assert assert_fair(model(0.0), SPACE, SIMILAR).certificate is not None

def test_gap(assert_fair):
    assert_fair(model(0.5), SPACE, SIMILAR, lw.ScoreGap(0.6))
"""
    )
    done.assert_outcomes(passed=2)


def test_a_biased_model_fails_with_the_pair_side_by_side(tests):
    done = tests("def test_it(assert_fair):\n    assert_fair(model(2.0), SPACE, SIMILAR)\n")
    done.assert_outcomes(failed=1)
    done.stdout.re_match_lines(
        [
            r"claim    individuals who differ only in sex get the same decision",
            r"verdict  BIASED   found in .* s, exact, replayed on predict",
            r"  sex       [01] +<> [01]",
            r"  decision +[01] +[01]",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_unknown_fails_and_says_why_unless_allowed(tests, pytester):
    done = tests(
        """
def test_strict(assert_fair):
    assert_fair(model(0.5), SPACE, SIMILAR, lw.ScoreGap(0.6), certify=False)

def test_lenient(assert_fair):
    result = assert_fair(model(0.5), SPACE, SIMILAR, lw.ScoreGap(0.6), certify=False, allow_unknown=True)
    assert result.verdict == "UNKNOWN"
""",
        "--junitxml=out.xml",
    )
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["verdict  UNKNOWN*", "reason   *", "UNKNOWN is no proof: *allow_unknown=True"])
    report = (pytester.path / "out.xml").read_text()
    assert report.count('<property name="likewise_verdict" value="UNKNOWN" />') == 2


def test_a_spec_file_with_and_without_a_model(tests, pytester):
    (pytester.path / "claim.toml").write_text(SPEC)
    done = tests(
        """
import pathlib, skops.io

def test_given(assert_fair):
    assert_fair(model(0.0), "claim.toml")

def test_named(assert_fair):
    skops.io.dump(model(0.0), "model.skops")
    assert_fair(None, pathlib.Path("claim.toml"))

def test_overridden(assert_fair):
    assert_fair(model(0.5), "claim.toml", property=lw.ScoreGap(0.6))

def test_biased(assert_fair):
    assert_fair(model(2.0), "claim.toml")

def test_nobody_is_similar(assert_fair):
    with pytest.raises(lw.SpecError, match="who is similar"):
        assert_fair(model(0.0), SPACE)
"""
    )
    done.assert_outcomes(passed=4, failed=1)


def test_the_plugin_imports_nothing_heavy():
    code = (
        "import sys, likewise.pytest_plugin\n"
        "print(sorted({'numpy', 'sklearn', 'narwhals', 'likewise.spec', 'likewise.verifying'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_entry_point_names_the_plugin():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"likewise": "likewise.pytest_plugin"}
