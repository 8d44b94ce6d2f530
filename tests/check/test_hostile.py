"""Files made to take time or memory end soon, with a refusal; limits of time and memory hold from the first byte on, and end without a traceback."""

import gzip
import json
import os
import subprocess
import sys

import pytest
from tests.check import samples
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    decision,
    integer,
    line,
    packed,
    proof,
    sealed,
)
from tests.check.test_forgeries import honest

from likewise_check import check
from likewise_check.__main__ import main
from likewise_check.core import deadline, enumerated, line_reader
from likewise_check.core.deadline import OutOfTime
from likewise_check.core.fields import Rejected
from likewise_check.core.line_reader import decode_line


def refused(raw: bytes) -> str:
    with pytest.raises(Rejected) as found:
        decode_line(raw)
    return found.value.reason


# -- lines ----------------------------------------------------------------------------------------------------


def test_many_brackets(monkeypatch):
    monkeypatch.setattr(line_reader, "MOST_BRACKETS", 100)
    assert len(decode_line(b"[" + b"[]," * 98 + b"[]]")) == 99
    assert "brackets in a line" in refused(b"[" + b"[]," * 99 + b"[]]")
    assert "brackets in a line" in refused(b"[" + b"{}," * 99 + b"{}]")


def nested(depth: int, inside: bytes = b"") -> bytes:
    return b"[" * depth + inside + b"]" * depth


@pytest.mark.parametrize(
    "inside", [b"", b'"]]]]"', b'"\\"]]]]"', b'"\\\\",[],[]', b'"\\\\\\"[["', b'"\\u005b"']
)
def test_deep_nesting(inside):
    shallow = line_reader.DEEPEST_NESTING - inside.count(b",[") // 2
    assert decode_line(nested(shallow, inside))
    assert "deeper" in refused(nested(line_reader.DEEPEST_NESTING + 1, inside))


def test_brackets_in_texts_are_no_nesting():
    names = b'["' + b"[" * 100 + b'","' + b'\\"' * 3 + b"{" * 100 + b'"]'
    assert decode_line(names) == ["[" * 100, '"' * 3 + "{" * 100]


def test_a_million_brackets_end_in_a_refusal():
    assert "deeper" in refused(b"[" * 10**6 + b"]" * 10**6)
    assert "deeper" in refused(b"[" * 10**6 + b"]")


def of_denominators(*below: int) -> list:
    """f = sum of x / denominator."""
    columns = [line(0, f"1/{n}") for n in below]
    features = [integer("x", 0, 9), categorical("sex", ["f", "m"])]
    return proof(features, [SAME, FREE], decision(), affine(1, columns), [["separable", "0"]])


def test_huge_common_denominators():
    apart = [10**3000 + 2 * i + 1 for i in range(200)]
    assert checked(of_denominators(apart[0])).accepted
    assert "common denominator" in checked(of_denominators(*apart)).reason
    assert checked(of_denominators(*[10**3000] * 200)).accepted  # one and the same
    assert checked(of_denominators(*range(1, 40))).accepted
    assert decode_line(b'["1/' + b"9" * 9_998 + b'"]')  # as long as a number may be
    values = of_denominators(*apart)
    values[0]["words"] = "a/" + "1" * 20_000  # no number
    assert "common denominator" in checked(values).reason


def test_texts_that_are_no_fractions_have_no_denominators():
    apart = [10**3000 + 2 * i + 1 for i in range(200)]
    for form in ("a/{}", "01/{}", '\\"1/{}', " 1/{}", "--1/{}"):
        texts = ",".join(f'"{form.format(n)}"' for n in apart)
        assert len(decode_line(f"[{texts}]".encode())) == len(apart)
    assert "common denominator" in refused(("[" + ",".join(f'"-0/{n}"' for n in apart) + "]").encode())


# -- leaves ---------------------------------------------------------------------------------------------------


def of_points(size: int, terms: int) -> list:
    body = {
        "kind": "rbf",
        "gamma": "1/7",
        "bias": "9",
        "columns": [{"feature": 0, "slope": "1/3", "offset": "0"}],
        "terms": [["1", ["1"]]] * terms,
    }
    head = {"labels": ["a", "b"], "zero": "lower", "link": None}
    model = {"family": "t", "body": body, "head": head, "rounding": None}
    return proof([integer("x", 1, size)], [SAME], decision(), model, [["enumerated"]])


def test_one_enumerated_leaf_of_many_exponentials(monkeypatch):
    assert "terms of scores" in checked(of_points(1 << 19, 3)).reason
    monkeypatch.setattr(enumerated, "MOST_TERMS", 12)
    assert checked(of_points(4, 3)).accepted
    assert not checked(of_points(4, 4)).accepted
    assert not checked(of_points(5, 3)).accepted


def of_fifty_classes() -> list:
    """Odds of all 2^14 boxes of 49 differences."""
    count = 50
    weights = [f"{(37 * c) % 19 - 9}/9" for c in range(count)]
    columns = [
        {"feature": 0, "weight": weights, "slope": "1", "offset": "0"},
        {"feature": 1, "weight": [f"{(11 * c) % 23 - 11}/4" for c in range(count)], "table": ["0", "1"]},
    ]
    body = {"kind": "affine", "bias": ["0"] * count, "columns": columns}
    head = {"labels": list(range(count)), "classes": "argmax", "link": "softmax"}
    model = {"family": "t", "body": body, "head": head, "rounding": None}
    features = [integer("x", 0, 9), categorical("sex", ["f", "m"])]
    asked = {"kind": "probability", "delta": "1/100", "class": 3}
    return proof(features, [SAME, FREE], asked, model, [["cases"], ["odds", []]])


def test_odds_of_fifty_classes():
    """Seconds, and a refusal."""
    assert "odds" in checked(of_fifty_classes()).reason


@pytest.mark.parametrize(
    "leaf",
    [
        ["separable", "1", "with"],
        ["separable", "1", ["with"]],
        ["separable", "1", "with", []],
        ["separable", "1", []],
        ["separable", "1", None],
        ["separable", ["1"]],
        ["separable", "1", {}],
        ["separable"],
        ["separable", 1],
        ["separable", True],
    ],
)
def test_a_malformed_leaf_after_one_that_is_known(leaf):
    features = [integer("x", 0, 9), categorical("sex", ["f", "m"])]
    nodes = [["split", 0, "4"], ["separable", "1"], leaf]
    values = proof(features, [SAME, FREE], decision(), affine(-20, [line(0, 1)]), nodes)
    report = checked(values)
    assert report.accepted == (leaf == ["separable", "1", []])


# -- limits ---------------------------------------------------------------------------------------------------


@pytest.fixture
def cert(tmp_path):
    path = tmp_path / "cert.gz"
    path.write_bytes(packed(sealed(honest())))
    return path


@pytest.mark.parametrize("looks", [1, 2, 3, 4, 5, 6])
def test_the_clock_is_looked_at_at_every_line(cert, monkeypatch, looks):
    """Also while the claim is read: time is over at the n-th look."""
    left = iter([0.0] * looks)
    monkeypatch.setattr(deadline, "perf_counter", lambda: next(left, 1e9))
    report = check(cert, seconds=1e6)
    assert not report.accepted
    assert not report.finished
    assert report.line == looks
    assert report.in_words().count("NOT FINISHED") == 1


def test_time_that_is_over_exits_with_3(cert, capsys):
    assert main([str(cert), "--seconds", "60", "--quiet"]) == 0
    assert main([str(cert), "--seconds", "1e-9"]) == 3
    assert "NOT FINISHED" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["0", "-1", "x", "nan"])
@pytest.mark.parametrize("flag", ["--seconds", "--memory"])
def test_limits_are_numbers(cert, flag, value):
    with pytest.raises(SystemExit) as stopped:
        main([str(cert), flag, value])
    assert stopped.value.code == 2


def test_an_alarm_ends_a_leaf_that_does_not_look_at_the_clock(cert, monkeypatch, capsys):
    def for_ever(*_):
        while True:
            pass

    monkeypatch.setattr("likewise_check.core.independent.Independent.__call__", for_ever)
    assert main([str(cert), "--seconds", "0.2"]) == 3
    assert "NOT FINISHED" in capsys.readouterr().out


def test_memory_that_is_not_there_is_no_traceback(cert, monkeypatch, capsys):
    def too_much(*_):
        raise MemoryError

    monkeypatch.setattr("likewise_check.checking.read_space", too_much)
    assert main([str(cert)]) == 3
    assert "NOT FINISHED: there was not enough memory" in capsys.readouterr().out


def test_a_limit_of_memory(tmp_path):
    """A line of two million arrays, some 200 MB of values, with 150 MiB to use."""
    lines = sealed(samples.gap())
    large = tmp_path / "large.gz"
    content = b"\n".join([*lines[:5], b"[" + b"[[],[]]," * 10**6 + b"[]]", b""])
    large.write_bytes(gzip.compress(content, 1))
    done = subprocess.run(
        [sys.executable, "-m", "likewise_check", str(large), "--memory", "150", "--json"],
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 3
    assert json.loads(done.stdout)["finished"] is False


def test_out_of_time_has_words():
    assert "time given was over" in OutOfTime.reason
