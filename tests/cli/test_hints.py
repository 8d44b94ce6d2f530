"""Hints in the language of whoever asks: flags and the claim file on the command line, calls and arguments in Python."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import likewise
from likewise.cli.hints import translate_hint

SOURCES = Path(likewise.__file__).parent
# Only these open files, which nobody but commands and the plugin of pytest asks for.
OPEN_FILES = ("disk.py", "files.py", "skops_files.py", "model_file.py")
PYTHON_ONLY = ("cli", "displays", "paper")
# What Python says of a claim. How a model is fitted and saved is said in Python to everybody.
CLAIM_IN_PYTHON = re.compile(
    r"\b(?:SameDecision|ScoreGap|ProbabilityGap|Similarity|Continuous|Integer|Categorical|Ordinal)\b\(|"
    r"\b(?:over|within|free|pairs|exclude|method|weights|reference|resume|checkpoint|import_budget)=|"
    r"\bspace\.|\bSpace\.from_data|\bframe\.|(?<!fit\()\bX\b|\b[a-z]\w*\(\.\.\., "
)
# Arguments of another type than the command line can give.
WRONG_TYPES = (
    "Space.from_data(X)",
    'Space({"age": Integer(18, 75)})',
    "use Continuous(lo, hi)",
    'pairs={"job"',
)


def text_of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(one.value if isinstance(one, ast.Constant) else "'NAME'" for one in node.values)
    if isinstance(node, ast.BinOp):
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, ast.IfExp):
        return f"{text_of(node.body)}; {text_of(node.orelse)}"
    return ""


@cache
def hints():
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "hint=" in text and not set(PYTHON_ONLY) & set(path.relative_to(SOURCES).parts):
            calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword))
            found += [(path, text_of(word.value)) for word in calls if word.arg == "hint"]
    return found


def test_no_hint_of_the_command_line_speaks_python():
    found = [translate_hint(text) for _, text in hints() if not text.startswith(WRONG_TYPES)]
    assert len(found) > 100
    assert [hint for hint in found if CLAIM_IN_PYTHON.search(hint)] == []


def test_no_hint_of_python_speaks_of_flags():
    found = [text for path, text in hints() if path.name not in OPEN_FILES]
    assert [hint for hint in found if re.search(r"(?<!\w)--[a-z]", hint)] == []


@pytest.mark.parametrize(
    ("python", "command"),
    [
        (
            "use method='average', or ask for ScoreGap(0.5)",
            "use --method average, or ask for --property score:0.5",
        ),
        ("reference={'sex': ...}, or X", "--reference sex=VALUE, or --data rows.csv"),
        (
            "space.replace({'job': Ordinal([...])}) with the level in its place",
            '[features.job] with kind = "ordinal" in the claim file with the level in its place',
        ),
        ("give it more time, import_budget=120", "give it more time, --import-budget 120"),
        ("fit it with loss='squared_error'", "fit it with loss='squared_error'"),
    ],
)
def test_a_hint_is_translated(python, command):
    assert translate_hint(python) == command


def test_files_of_other_libraries_say_what_can_be_done(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,sex\n30,f\n40,m\n", encoding="utf-8")
    Path("net.pt").write_bytes(b"PK")
    done = run("verify", "--model", "net.pt", "--data", "people.csv", "--free", "sex")
    assert done.exit_code == 2
    assert "torch.onnx.export" in done.stderr
    Path("net.onnx").write_bytes(b"nothing")
    done = run("verify", "--model", "net.onnx", "--data", "people.csv", "--free", "sex")
    assert done.exit_code == 2
    assert "hint:" in done.stderr
