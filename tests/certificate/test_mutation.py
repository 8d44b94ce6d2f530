"""Mutation: no change of a certificate gets past the checker unless what it then says is true.

As it stands, every changed file is rejected: the digests see to that. (Only the end itself is under no digest: it
may state a smaller clearance, which is true as well, and show nobody, which is then said.) With the digests made right again the mathematics alone must tell; a mutant that is accepted is proved again by the engine (`reproving`), or looked through (`exhausting`) where
the score is no sum of one-feature terms.
"""

import functools
import gzip
import io
import json
import random

import pytest
from tests.certificate import exhausting, reproving
from tests.certificate.golden import handed_out
from tests.certificate.kinds import COMING, CURVED, LARGE, NEWEST, SMALL, STEEP, run
from tests.certificate.mutants import mutants, packed, sealed, written
from tests.certificate.reproving import exhausted
from tests.tiers import ALL, SEED, some

from likewise.spec.numbers import format_number, parse_number
from likewise_check import check

MUTANTS = 600 if ALL else 20
WITH_OLD_DIGESTS = 200 if ALL else 25  # digests do not look at what was changed
BOTH = [*SMALL, *CURVED]
PLACES = 150 if ALL else 25  # at which files are cut, and bytes of them flipped
TODAY = random.Random(SEED).randrange(2**32)


SUMS = ["sum-difference"]  # looked at by tests of their own
EXHAUSTED = [name for name in (*NEWEST, *COMING, *STEEP) if name not in SUMS]


@functools.cache
def content_of(name) -> bytes:
    """A certificate of the kind: the golden one, or in `make test-all` one that is made now."""
    return run(name).certificate.content if ALL or name in LARGE else handed_out(name)


def lines_of(name):
    return [json.loads(text) for text in gzip.decompress(content_of(name)).splitlines()]


def objection(name, lines):
    return (exhausting if name in (*CURVED, *EXHAUSTED) else reproving).objection(lines)


def accepted(content: bytes) -> bool:
    return check(io.BytesIO(content)).accepted


@pytest.mark.some_days
@pytest.mark.draw(12)
@pytest.mark.parametrize("name", BOTH)
def test_every_change_is_rejected_while_the_digests_stand(name):
    original = lines_of(name)
    text = written(original)
    assert text == gzip.decompress(content_of(name)), "the mutator changes the writing itself"
    tried = 0
    for said, lines in mutants(original, WITH_OLD_DIGESTS, TODAY):
        changed = written(lines)
        if changed != text:
            tried += 1
            if accepted(packed(changed)):
                assert lines[:-1] == original[:-1], said
                before, after = original[-1]["end"], lines[-1]["end"]
                different = {key for key in {*before, *after} if before.get(key) != after.get(key)}
                assert different <= {"clearance", "somebody"}, said
                assert objection(name, lines) is None, said
    assert tried >= (0.98 if ALL else 0.8) * WITH_OLD_DIGESTS


def survivors(name, count, seed):
    """Mutants with right digests that the checker accepts, and how many there were in all."""
    original = lines_of(name)
    text, tried, found = sealed(original), 0, []
    for said, lines in mutants(original, count, seed):
        changed = sealed(lines)
        if changed != text:
            tried += 1
            if accepted(packed(changed)):
                found.append((said, [json.loads(line) for line in changed.splitlines()]))
    return tried, found


@pytest.mark.draw(36)
@pytest.mark.parametrize("name", [*BOTH, *EXHAUSTED, pytest.param("many-gaps", marks=pytest.mark.slow)])
def test_a_change_with_right_digests_is_rejected_or_true(name):
    tried, found = survivors(name, MUTANTS, TODAY)
    for said, lines in found:
        assert objection(name, lines) is None, said
        if "enumerated" in name:
            assert exhausted(lines), said
    assert tried >= (0.85 if ALL else 0.5) * MUTANTS
    if ALL:
        assert any("words" in lines[0] for _, lines in found), "not even a reworded claim was accepted"
        assert len(found) < tried / 2


@pytest.mark.draw(30)
@pytest.mark.parametrize("name", [*BOTH, *EXHAUSTED])
def test_the_second_route_agrees_about_the_certificate_itself(name):
    assert objection(name, lines_of(name)) is None


def test_the_second_route_can_object():
    """Or it would show nothing."""
    lines = lines_of("gaps")
    leaf = next(i for i, line in enumerate(lines) if isinstance(line, list) and line[0] == "separable")
    opposite = "0" if lines[leaf][1] != "0" else "1"
    assert "does not hold" in reproving.objection(
        [*lines[:leaf], ["separable", opposite], *lines[leaf + 1 :]]
    )
    assert "open" in reproving.objection([*lines[:-2], lines[-1]])
    assert "after" in reproving.objection([*lines[:-1], lines[-2], lines[-1]])
    end = {**lines[-1]["end"], "clearance": "1"}
    assert "clearance" in reproving.objection([*lines[:-1], {"end": end}])
    kernel = lines_of("kernel-score")
    tighter = [*kernel[:3], {"property": {"kind": "score", "delta": "1/2"}}, *kernel[4:]]
    assert "are a witness" in exhausting.objection(tighter)
    for name in ("one-way", "one-way-network", "one-way-odds", "one-way-softmax", "distance-forms"):
        lines = lines_of(name)
        half = {
            **lines[3]["property"],
            "delta": format_number(parse_number(lines[3]["property"]["delta"]) / 2),
        }
        assert "are a witness" in exhausting.objection([*lines[:3], {"property": half}, *lines[4:]]), name
    steep = ("lipschitz-levels", "lipschitz-matrix", "lipschitz-trees")
    bent = ("mixed-bins", "mixed-laplacian", "nested-trees", "nested-inner", "nested-median")
    for name in (*steep, *bent):
        lines = lines_of(name)
        tight = {**lines[3]["property"], "constant": "1/8"} if "lipschitz" in name else {"kind": "score"}
        stricter = {"property": {**tight, "delta": "0"}}
        assert "are a witness" in exhausting.objection([*lines[:3], stricter, *lines[4:]]), name
    small = lines_of("enumerated")
    assert not exhausted([*small[:3], {"property": {"kind": "decision", "margin": "-100"}}, *small[4:]])


@pytest.mark.some_days
@pytest.mark.draw(8)
@pytest.mark.parametrize("name", BOTH)
def test_a_truncated_file_is_rejected(name):
    content, text = content_of(name), written(lines_of(name))
    for end in range(0, len(content), max(1, len(content) // PLACES)):
        assert not accepted(content[:end])
    for end in range(0, len(text), max(1, len(text) // PLACES)):
        assert not accepted(packed(text[:end]))
    lines = lines_of(name)
    for line in some(range(len(lines)), PLACES):
        assert not accepted(packed(written(lines[:line])))


@pytest.mark.draw(8)
@pytest.mark.parametrize("name", BOTH)
def test_a_flipped_byte_is_rejected_or_changes_no_text(name):
    """The gzip header holds bytes without meaning (time, system); all others count."""
    content = content_of(name)
    text = gzip.decompress(content)
    harmless = 0
    for place in range(0, len(content), max(1, len(content) // PLACES)):
        for flip in (0x01, 0x80, 0xFF):
            flipped = bytearray(content)
            flipped[place] ^= flip
            if accepted(bytes(flipped)):
                harmless += 1
                assert gzip.decompress(bytes(flipped)) == text
    assert harmless <= 3 * 10


@pytest.mark.parametrize(
    "tail", [b"x", b"\0", b"\n", gzip.compress(b"{}\n", mtime=0), gzip.compress(b"", mtime=0)]
)
def test_what_follows_the_file_is_not_overlooked(tail):
    assert not accepted(content_of("gaps") + tail)
