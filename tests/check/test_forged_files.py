"""Forged and hostile files put to the commands of both checkers: each is refused, or what is printed tells a reader what is wrong with it.

The second checker (`checker-js`) is asked where node is installed.
"""

import gzip
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.check import test_forgeries as forged
from tests.check import test_hostile as hostile
from tests.check.builder import (
    SAME,
    affine,
    categorical,
    continuous,
    decision,
    integer,
    line,
    packed,
    pairs,
    proof,
    sealed,
)

from likewise_check.__main__ import main

NODE = shutil.which("node")
COMMAND = Path(__file__).parents[2] / "checker-js" / "bin" / "likewise-check.js"
ACCEPTED, NOT_EXPECTED, UNREADABLE, REJECTED = 0, 1, 2, 4
CODES = {"accepted": ACCEPTED, "unreadable": UNREADABLE, "rejected": REJECTED}
MOST_BRACKETS = 1 << 23


@dataclass(frozen=True, kw_only=True)
class Forgery:
    """A file, how it is asked about, the exit code, and what of the printed claim tells on it: words of the first and of the second checker."""

    name: str
    file: Callable[[], list | bytes]
    code: int
    flags: tuple[str, ...] = ()
    words: tuple[str, str] | None = None


def in_space(forge):
    values = forged.honest()
    forge(values)
    return values


def in_both_lines(forge):
    values = in_space(forge)
    values[4]["model"]["features"] = values[1]["space"]["features"]
    return values


def in_an_old_file(forge):
    """From before the model line had features."""
    values = in_space(forge)
    del values[4]["model"]["features"]
    return values


def without_a_double():
    features = [continuous("x", "1/3", "1/3"), categorical("sex", ["f", "m"])]
    return proof(features, [SAME, forged.FREE], decision(), affine(1, []), [["independent"]])


def of_empty_pairs():
    features = [categorical("sex", ["f", "m"]), integer("age", 3, 9)]
    return proof(features, [pairs(), SAME], decision(), affine(1, []), [["independent"]])


def overflowing(covers=True):
    large, features = "0x1p+1023", (continuous("x", 0, 1), continuous("y", 0, 1))
    model = affine("0x1p+1000", [line(0, large), line(1, large)])
    return forged.covering(model, features=features, clearance="0x1p+999", covers=covers)


def underflowing(covers=True):
    model = affine("0x1p-200", [line(0, "0x1p+900", slope="0x1p-900")])
    return forged.covering(
        model, features=(continuous("x", 0, "0x1p-180"),), clearance="0x1p-201", covers=covers
    )


def described_by_zeros(covers=True):
    nothing = {"sizes": ["0"], "constant": "0", "operations": 0}
    return forged.covering(forged.described(forged.PLAIN, **nothing), covers=covers)


def malformed_after_a_cached_leaf():
    features = [integer("x", 0, 9), categorical("sex", ["f", "m"])]
    nodes = [["split", 0, "4"], ["separable", "1"], ["separable", "1", "with"]]
    return proof(features, [SAME, forged.FREE], decision(), affine(-20, [line(0, 1)]), nodes)


def of_brackets():
    return gzip.compress(b"[" + b"[]," * MOST_BRACKETS + b"[]]\n", compresslevel=1)


def of_brackets_in_a_certificate():
    lines = sealed(forged.honest())
    return packed([*lines[:5], b"[" + b"[]," * MOST_BRACKETS + b"[]]", *lines[6:]])


def nested_deeply():
    return gzip.compress(b"[" * 10**6 + b"]" * 10**6 + b"\n", compresslevel=1)


NOT_COVERED = (
    "does not cover the rounding of the deployed program",
    "not covered: the rounding of the deployed program",
)


def of_quotes():
    """Two million empty texts, well packed."""
    lines = sealed(forged.honest())
    return packed([lines[0], b'{"space":[' + b'"",' * (2 << 20) + b"1]}"])


def of_gzip_flags(flags: int) -> bytes:
    """1: text; 2: a check sum of the header, which is missing; others are reserved."""
    content = packed(sealed(forged.honest()))
    return content[:3] + bytes([flags]) + content[4:]


FORGERIES = [
    Forgery(name="names permuted", file=lambda: in_space(forged.swap_names), code=REJECTED),
    Forgery(
        name="names permuted, your model",
        file=lambda: in_both_lines(forged.swap_names),
        flags=("--model",),
        code=REJECTED,
    ),
    Forgery(
        name="names permuted, your claim",
        file=lambda: in_an_old_file(forged.swap_names),
        flags=("--claim",),
        code=REJECTED,
    ),
    Forgery(name="space shrunk", file=lambda: in_space(forged.shrink), code=REJECTED),
    Forgery(
        name="space shrunk, your model",
        file=lambda: in_both_lines(forged.shrink),
        flags=("--model",),
        code=REJECTED,
    ),
    Forgery(
        name="space shrunk, your claim",
        file=lambda: in_an_old_file(forged.shrink),
        flags=("--claim",),
        code=REJECTED,
    ),
    Forgery(
        name="space shrunk, as printed",
        file=lambda: in_an_old_file(forged.shrink),
        code=ACCEPTED,
        words=("'age': 18 only", '"age": integer, 18 to 18'),
    ),
    Forgery(name="levels permuted", file=lambda: in_space(forged.swap_levels), code=REJECTED),
    Forgery(
        name="margin 1000",
        file=lambda: forged.of_margin(1000),
        code=ACCEPTED,
        words=("with both scores at least 1000 from the threshold",) * 2,
    ),
    Forgery(
        name="negative margin",
        file=lambda: forged.of_margin("-1/2"),
        code=ACCEPTED,
        words=("a margin below 0", "the margin is below 0"),
    ),
    Forgery(name="a witness for a proof", file=forged.refuted, flags=("--expect", "fair"), code=NOT_EXPECTED),
    Forgery(
        name="hidden nobody",
        file=lambda: forged.about_hidden_nobody(node=("separable", "0")),
        code=REJECTED,
        words=("may be vacuous",) * 2,
    ),
    Forgery(
        name="hidden nobody, whom no column reads",
        file=forged.about_hidden_nobody,
        flags=("--expect", "fair"),
        code=REJECTED,
    ),
    Forgery(
        name="nobody, said to be somebody",
        file=lambda: forged.about_nobody(somebody=["4", "0"]),
        code=REJECTED,
    ),
    Forgery(name="no double in a range", file=without_a_double, code=REJECTED),
    Forgery(
        name="empty pairs",
        file=of_empty_pairs,
        code=ACCEPTED,
        words=(
            r"'sex' \(may differ between no two levels\)",
            r'"sex": .*may differ in these ways only: \(none\)',
        ),
    ),
    Forgery(name="overflow", file=overflowing, code=REJECTED),
    Forgery(name="overflow, not covered", file=lambda: overflowing(False), code=ACCEPTED, words=NOT_COVERED),
    Forgery(name="underflow", file=underflowing, code=REJECTED),
    Forgery(
        name="underflow, not covered", file=lambda: underflowing(False), code=ACCEPTED, words=NOT_COVERED
    ),
    Forgery(name="zero descriptions", file=described_by_zeros, code=REJECTED),
    Forgery(
        name="zero descriptions, not covered",
        file=lambda: described_by_zeros(False),
        code=ACCEPTED,
        words=NOT_COVERED,
    ),
    Forgery(name="malformed after a cached leaf", file=malformed_after_a_cached_leaf, code=REJECTED),
    Forgery(name="brackets", file=of_brackets, code=UNREADABLE),
    Forgery(name="brackets in a certificate", file=of_brackets_in_a_certificate, code=REJECTED),
    Forgery(name="deep nesting", file=nested_deeply, code=UNREADABLE),
    Forgery(
        name="huge common denominators",
        file=lambda: hostile.of_denominators(*(10**3000 + 2 * i + 1 for i in range(200))),
        code=REJECTED,
    ),
    Forgery(name="a leaf of many exponentials", file=lambda: hostile.of_points(1 << 19, 3), code=REJECTED),
    Forgery(name="odds of fifty classes", file=hostile.of_fifty_classes, code=REJECTED),
    Forgery(name="huge ends", file=hostile.of_huge_ends, code=REJECTED),
    Forgery(
        name="a sum of many exponentials", file=lambda: hostile.of_points_of_a_sum(1 << 18, 3), code=REJECTED
    ),
    Forgery(name="long names", file=hostile.of_long_names, code=ACCEPTED),
    Forgery(name="many quotes", file=of_quotes, code=REJECTED),
    *(
        Forgery(name=f"gzip flags {flags}", file=lambda flags=flags: of_gzip_flags(flags), code=code)
        for flags, code in ((1, ACCEPTED), (2, UNREADABLE), (32, UNREADABLE), (128, UNREADABLE))
    ),
    Forgery(name="nobody", file=forged.about_nobody, code=REJECTED),
    Forgery(
        name="nobody, whom no column reads",
        file=lambda: forged.about_nobody(node=("independent",)),
        code=REJECTED,
    ),
    Forgery(name="nobody so far from anybody", file=forged.moved_out_of_reach, code=REJECTED),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files by name, and the user's own: the model and the claim of the honest certificate."""
    folder = tmp_path_factory.mktemp("forged")
    for forgery in FORGERIES:
        made = forgery.file()
        (folder / forgery.name).write_bytes(made if isinstance(made, bytes) else packed(sealed(made)))
    lines = sealed(forged.honest())
    (folder / "honest").write_bytes(packed(lines))
    (folder / "--model").write_bytes(lines[4] + b"\n")
    (folder / "--claim").write_bytes(b"".join(line + b"\n" for line in lines[1:5]))
    return folder


def asked(forgery: Forgery, folder: Path) -> list[str]:
    """The flags, with the user's file behind those that want one."""
    given = [str(folder / flag) for flag in forgery.flags if (folder / flag).exists()]
    return [*forgery.flags, *given, "--full", "--seconds", "600"]


@pytest.mark.some_days
@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_the_first_checker(forgery, folder, capsys):
    assert main([str(folder / forgery.name), *asked(forgery, folder)]) == forgery.code
    said = capsys.readouterr().out
    assert ("ACCEPTED" in said) == (forgery.code in (ACCEPTED, NOT_EXPECTED))
    if forgery.words is not None:
        assert re.search(forgery.words[0], said), said


@pytest.mark.some_days
@pytest.mark.skipif(NODE is None, reason="node is not installed: checker-js was not tested")
@pytest.mark.draw(10)
@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_the_second_checker(forgery, folder):
    command = [NODE, str(COMMAND), str(folder / forgery.name), *asked(forgery, folder)]
    run = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    told = json.loads(run.stdout)
    code = NOT_EXPECTED if told["as_expected"] is False else CODES[told["answer"]]
    assert code == run.returncode == forgery.code
    if forgery.words is not None:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        assert ("ACCEPTED" in said) == (forgery.code in (ACCEPTED, NOT_EXPECTED))
        assert re.search(forgery.words[1], said), said


def test_the_honest_one_is_accepted(folder):
    for flag in ("--model", "--claim"):
        flags = [str(folder / "honest"), "--expect", "fair", flag, str(folder / flag)]
        assert main([*flags, "--quiet"]) == ACCEPTED
        if NODE is not None:
            run = subprocess.run([NODE, str(COMMAND), *flags], capture_output=True, check=False)
            assert run.returncode == ACCEPTED
