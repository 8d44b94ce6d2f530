"""Files made to take time or memory end soon, with a refusal; limits of time and memory hold from the first byte on, and end without a traceback."""

import gzip
import itertools
import json
import os
import subprocess
import sys
import time
from fractions import Fraction

import pytest
from tests.check import samples
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    constraint,
    decision,
    integer,
    line,
    packed,
    pairs,
    proof,
    score,
    sealed,
    worth,
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


def test_many_marks(cert, monkeypatch):
    """Brackets, commas and quotes of a line, by the size of the file: what is packed well may take no more memory."""
    longest = max(
        gzip.decompress(cert.read_bytes()).split(b"\n"), key=lambda raw: sum(map(raw.count, b'[{,"'))
    )
    monkeypatch.setattr(line_reader, "LARGEST_MARKS_RATIO", 0)
    for spare, accepted in ((0, True), (-1, False)):
        monkeypatch.setattr(line_reader, "MARKS_ALLOWANCE", sum(map(longest.count, b'[{,"')) + spare)
        report = check(cert)
        assert report.accepted == accepted
        assert accepted or "brackets, commas and quotes" in report.reason


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


def of_points_of_a_sum(size: int, terms: int) -> list:
    values = of_points(size, terms)
    model = values[4]["model"]
    part = {"weight": "1", "link": None, "body": model["body"]}
    model["body"] = {"kind": "sum", "bias": "0", "parts": [part, part]}
    return values


def test_terms_of_the_parts_of_a_sum_are_counted(monkeypatch):
    monkeypatch.setattr(enumerated, "MOST_TERMS", 24)
    assert checked(of_points_of_a_sum(4, 3)).accepted
    assert "terms of scores" in checked(of_points_of_a_sum(4, 4)).reason


def test_points_under_many_constraints_are_looked_at_one_by_one(monkeypatch):
    """The sums of all constraints are kept for few points only; the answer is the same."""
    model = affine(-3, [line(0, 1), line(1, Fraction(1, 3))])
    limits = [constraint([(0, k), (1, 4 - k)], 6) for k in range(4)]
    features = [integer("x", 0, 4), integer("y", 0, 4)]
    nodes = [["enumerated"]]
    for most in (25 * 5 * 4, 0):
        monkeypatch.setattr(enumerated, "MOST_SUMS", most)
        for stated, accepted in ((1, True), (2, False)):  # x is from 0 to 2: scores are 2 apart, of 4
            values = proof(
                features,
                [FREE, SAME],
                score(4),
                model,
                nodes,
                constraints=limits,
                clearance=stated,
                covers=True,
            )
            assert checked(values).accepted == accepted


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


HUGE = "9" * 9000  # Python writes no int of more than 4,300 digits


def of_huge_ends() -> list:
    """A condition's interval that is none, in a range of numbers of 9,000 digits."""
    where = {"where": [[0, [[3, "x"]]]], "bands": [[0, 1, "0", "1"], [1, 0, "-1", "0"]]}
    along = {"kind": "along", "with": 1, "cases": [where], "else": "0"}
    features = [integer("x", f"-{HUGE}", HUGE), categorical("sex", ["f", "m"]), integer("y", 0, 5)]
    return proof(features, [SAME, FREE, along], decision(), affine(1, []), [["independent"]])


def test_huge_numbers_are_cut_in_what_is_said(tmp_path, capsys):
    path = tmp_path / "huge.gz"
    path.write_bytes(packed(sealed(of_huge_ends())))
    assert main([str(path)]) == 4
    assert "from -1.0000000000000000000e+9000 to 1.0000000000000000000e+9000" in capsys.readouterr().out
    report = check(tmp_path / "huge.gz")
    assert len(report.reason) < 1000
    assert len(Rejected("x" * 10**6).reason) == 1000


def test_coefficients_of_many_levels_are_said_once():
    """A number for 2,000 levels, by a coefficient and not by 2,000 numbers, in each of 40 constraints."""
    features = [categorical("k", [worth(i) for i in range(2000)]), categorical("sex", ["f", "m"])]
    limits = [constraint([(0, 3)], 10**5 + k) for k in range(40)]
    report = checked(
        proof(features, [SAME, FREE], decision(), affine(1, []), [["independent"]], constraints=limits)
    )
    assert report.accepted
    assert "constraint: 3 'k' <= 100039" in report.in_words(full=True)


def of_long_names() -> list:
    """A name and levels of 100,000 characters, each said by many constraints."""
    levels = [letter * 10**5 for letter in "ab"]
    features = [categorical("n" * 10**5, levels), categorical("sex", ["f", "m"])]
    limits = [constraint([(0, [0, k])], k) for k in range(50)]
    return proof(features, [SAME, FREE], decision(), affine(1, []), [["independent"]], constraints=limits)


def test_long_names_are_said_in_full_once():
    report = checked(of_long_names())
    assert report.accepted
    said = report.in_words(full=True)
    assert "n" * 10**5 in said
    assert len(said) < 4 * 10**5


def test_categories_of_a_form_are_not_paired_one_by_one():
    """20,000 of them: the least and the largest change take a look at each, not at each two."""
    codes = [worth(i) for i in range(20_000)]
    distance = {"norm": 2, "terms": [], "forms": [["1", [[0, [str(i % 7) for i in range(20_000)]]]]]}
    asked = {"kind": "lipschitz", "delta": "0", "constant": "1", "distance": distance}
    values = proof([categorical("k", codes)], [FREE], asked, affine(0, []), [["separable", "1/2", [], ["0"]]])
    assert checked(values).accepted


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


@pytest.fixture
def a_second_a_look(monkeypatch):
    """As if each look at the clock took a second."""
    now = itertools.count(time.perf_counter())
    monkeypatch.setattr(deadline, "perf_counter", lambda: next(now))


@pytest.mark.usefixtures("a_second_a_look")
def test_the_clock_is_looked_at_while_steps_are_listed():
    """Of 1,000 levels two may differ: a million pairs are looked at for one."""
    along = {"kind": "along", "with": 0, "bands": [[0, 1, "1", "1"], [1, 0, "-1", "-1"]], "else": "0"}
    features = [categorical("a", [str(i) for i in range(1000)]), integer("y", 0, 5)]
    values = proof(features, [pairs([0, 1]), along], decision(), affine(1, []), [["independent"]] * 3)
    assert not checked(values, seconds=500).finished


@pytest.mark.usefixtures("a_second_a_look")
def test_the_clock_is_looked_at_in_every_case():
    """Whoever has one of 1,000 numbers is a case of their own: each is looked at for each of 2,000 parts."""
    many = 1000
    bands = [[0, 1, "1", "1"], [1, 0, "-1", "-1"]]
    cases = [{"where": [[2, [[c, c]]]], "bands": bands} for c in range(many)]
    along = {"kind": "along", "with": 0, "cases": cases, "else": "0"}
    features = [categorical("a", ["0", "1"]), integer("y", 0, 5), integer("c", 0, many)]
    nodes = [["independent"]] * (2 * many + 3)
    values = proof(features, [FREE, along, SAME], decision(), affine(1, []), nodes)
    assert not checked(values, seconds=20_000).finished


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--quiet",)])
def test_an_error_of_the_checker_has_an_exit_code_of_its_own(cert, monkeypatch, capsys, arguments):
    """Python would exit with 1, which says that a pair that breaks the claim is accepted."""

    def broken(*_, **__):
        raise ValueError("x" * 10**6)

    monkeypatch.setattr("likewise_check.checking.read_space", broken)
    assert main([str(cert), *arguments]) == 101
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("INTERNAL ERROR, neither accepted nor rejected: ValueError('xxx")
    assert len(printed.err) < 1200


def test_a_limit_of_memory_unless_told_another_one(cert, monkeypatch):
    resource = pytest.importorskip("resource")
    limits = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: limits.append(limit[0] >> 20))
    for arguments in ([], ["--memory", "77"]):
        monkeypatch.setattr(sys, "argv", ["likewise-check", str(cert), "--quiet", *arguments])
        assert main() == 0
    assert main([str(cert), "--quiet"]) == 0  # within a program, which has limits of its own
    assert limits == [1024, 77]


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
    large.write_bytes(gzip.compress(content, 0))  # so small a file as level 1 makes may not hold so many
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
