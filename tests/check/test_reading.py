"""Hostile files: each is refused with a reason, quickly, in little memory."""

import gzip
import io
import json
import resource
import zlib
from pathlib import Path

import pytest
from tests.check import samples
from tests.check.builder import checked, joined, packed, sealed

from likewise_check import check
from likewise_check.core import line_reader
from likewise_check.core.fields import Rejected
from likewise_check.core.line_reader import Lines, decode_line


def looked_at(raw: bytes):
    report = check(io.BytesIO(raw))
    assert not report.accepted
    return report


@pytest.fixture
def lines():
    return sealed(samples.gap())


@pytest.mark.parametrize("raw", [b"", b"no gzip", b"\x1f\x8b", b"\x1f\x8b\x08\x00" + b"\0" * 30])
def test_no_gzip(raw):
    assert not looked_at(raw).readable


@pytest.mark.parametrize("text", [b"", b"\n", b"[]\n", b"hello\n", b"{}\n", b'{"likewise-certificate":2}\n'])
def test_no_certificate_of_a_known_version(text):
    report = looked_at(gzip.compress(text))
    assert not report.readable
    assert report.line == 1


@pytest.mark.parametrize("version", ["true", "1.0", '"1"', "null", "[1]", "10"])
def test_the_version_is_the_number_one(version, lines):
    lines[0] = lines[0].replace(b'"likewise-certificate":1', b'"likewise-certificate":' + version.encode())
    assert not looked_at(packed(lines)).readable


def test_missing_file(tmp_path):
    report = check(tmp_path / "none.gz")
    assert not report.readable
    assert "No such file" in report.reason
    assert check(str(tmp_path)).reason.startswith("cannot be read")


def test_paths_and_streams_that_cannot_seek(tmp_path, lines):
    path = tmp_path / "cert.gz"
    path.write_bytes(packed(lines))
    assert check(path).accepted
    assert check(str(path)).accepted

    class Pipe(io.RawIOBase):
        def __init__(self):
            self.left = io.BytesIO(packed(lines))

        def read(self, size=-1):
            return self.left.read(min(size, 7))

    assert check(Pipe()).accepted


def test_every_truncation_is_rejected(lines):
    whole = packed(lines)
    for length in range(len(whole)):
        assert not check(io.BytesIO(whole[:length])).accepted


def test_every_flipped_byte_of_the_stored_text_is_rejected(lines):
    text = joined(lines[:-1])
    for i in range(len(text)):
        changed = text[:i] + bytes([text[i] ^ 1]) + text[i + 1 :]
        assert not check(io.BytesIO(gzip.compress(changed + lines[-1] + b"\n"))).accepted


def test_wrong_checksum_and_length(lines):
    whole = packed(lines)
    for i in range(1, 9):
        assert "gzip" in looked_at(whole[:-i] + bytes([whole[-i] ^ 1]) + whole[len(whole) - i + 1 :]).reason


@pytest.mark.parametrize(
    "rest", [b"\0", b"garbage", gzip.compress(b""), gzip.compress(b"[]\n")], ids=range(4)
)
def test_something_behind_the_member(rest, lines):
    assert "follows the gzip member" in looked_at(packed(lines) + rest).reason


def test_garbage_in_a_later_read(lines, monkeypatch):
    monkeypatch.setattr(line_reader, "_PIECE", 1)
    assert check(io.BytesIO(packed(lines))).accepted
    assert "follows the gzip member" in looked_at(packed(lines) + b"x").reason


def test_two_members_with_one_text(lines):
    whole = gzip.compress(joined(lines[:3])) + gzip.compress(joined(lines[3:]))
    assert not check(io.BytesIO(whole)).accepted


def test_a_bomb_is_refused_in_little_memory():
    pack = zlib.compressobj(9, wbits=31)
    raw = b"".join([*(pack.compress(b" " * (1 << 20)) for _ in range(200)), pack.flush()])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = looked_at(raw)
    assert "times as much text" in report.reason or "a line of more" in report.reason
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


def test_ratio_of_a_stream_that_cannot_seek():
    raw = io.BytesIO(zlib.compress(b"0" * (60 << 20), 9, wbits=31))

    class Pipe:
        def read(self, size):
            return raw.read(min(size, 50))

    assert "times as much text" in looked_at_stream(Pipe()).reason


def looked_at_stream(stream):
    report = check(stream)
    assert not report.accepted
    return report


def test_text_limit(monkeypatch, lines):
    monkeypatch.setattr(line_reader, "LONGEST_TEXT", len(joined(lines)) - 1)
    assert "bytes of text" in looked_at(packed(lines)).reason


@pytest.mark.parametrize("piece", [1 << 18, 10])
def test_line_limit(monkeypatch, piece, lines):
    monkeypatch.setattr(line_reader, "_PIECE", piece)
    monkeypatch.setattr(line_reader, "LONGEST_LINE", max(map(len, lines)))
    assert check(io.BytesIO(packed(lines))).accepted
    monkeypatch.setattr(line_reader, "LONGEST_LINE", max(map(len, lines)) - 1)
    assert "a line of more than" in looked_at(packed(lines)).reason


def test_endings(lines):
    text = joined(lines)
    assert "line feed" in looked_at(gzip.compress(text[:-1])).reason
    assert not check(io.BytesIO(gzip.compress(text + b"\n"))).accepted
    assert "something follows the end" in looked_at(gzip.compress(text + b"[]\n")).reason
    assert not check(io.BytesIO(gzip.compress(text.replace(b"\n", b"\r\n")))).accepted
    assert not check(io.BytesIO(gzip.compress(b"\xef\xbb\xbf" + text))).accepted
    assert "ends where" in looked_at(gzip.compress(joined(lines[:3]))).reason


@pytest.mark.parametrize("around", [b"%s ", b" %s", b"%s\r", b"%s\t", b"%s,", b"%s[]", b"%s\0"])
def test_nothing_around_a_value(around, lines):
    with pytest.raises(Rejected):
        decode_line(around % lines[1])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "one JSON object or array"),
        (b"1", "one JSON object or array"),
        (b"[1.5]", "whole"),
        (b"[1e5]", "whole"),
        (b"[1E400]", "whole"),
        (b"[-0.0]", "whole"),
        (b"[NaN]", "whole"),
        (b"[Infinity]", "whole"),
        (b"[-Infinity]", "whole"),
        (b"[" + b"1" * 601 + b"]", "601 characters"),
        (b"[-" + b"1" * 600 + b"]", "601 characters"),
        (b"[" + b"1" * 1000000 + b"]", "1000000 characters"),
        (b'{"a":1,"a":1}', "same key"),
        (b'[{"a":1,"\\u0061":2}]', "same key"),
        (b'["\xff"]', "UTF-8"),
        (b'["\xed\xa0\x80"]', "UTF-8"),
        (b'["a\nb"]', "not JSON"),
        (b"[01]", "not JSON"),
        (b"[1,]", "not JSON"),
        (b"[1}", "not JSON"),
        (b"['a']", "not JSON"),
        (b"[" * 1000000 + b"]" * 1000000, "nested deeper"),
        (b'{"a":' * 100000 + b"{}" + b"}" * 100000, "nested deeper"),
        (b"[" * 1000000 + b'"]', "nested deeper"),
        (b"[" * 33 + b"]" * 33, "nested deeper"),
        (b'["\\"' + b"[" * 40 + b'",' + b"[" * 32 + b"]" * 32 + b"]", "nested deeper"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_bad_lines(raw, reason):
    with pytest.raises(Rejected, match=reason):
        decode_line(raw)


def test_good_lines():
    assert decode_line(b"[" + b"9" * 600 + b"]") == [10**600 - 1]
    assert decode_line(b"[" * 32 + b"]" * 32) == json.loads("[" * 32 + "]" * 32)
    brackets = '["' + "[{" * 5000 + '\\"]\\\\",' + "[]," * 100 + "{}]"
    assert decode_line(brackets.encode()) == json.loads(brackets)


def test_lines_know_their_digests():
    import hashlib

    found = Lines(io.BytesIO(gzip.compress(b"[1]\n[2]\n")))
    assert found.value("it") == [1]
    assert found.digest_before() == hashlib.sha256(b"").hexdigest()
    assert found.value("it") == [2]
    assert found.digest() == hashlib.sha256(b"[2]").hexdigest()
    assert found.digest_before() == hashlib.sha256(b"[1]\n").hexdigest()
    assert found.following() is None
    with pytest.raises(Rejected, match="ends where it should be"):
        found.value("it")


def test_texts_of_the_file_cannot_speak_to_the_terminal():
    values = samples.gap()
    values[1]["space"]["features"][1]["name"] = "\x1b[2J\u202e\x9b\ud800\nACCEPTED" + "x" * 10**5
    report = checked(values)
    assert report.claim.isascii()
    assert len(report.claim) < 500
    assert "\n" not in report.claim
    assert "\x1b" not in report.in_words()


def test_many_names_are_cut_short():
    from tests.check.builder import FREE, affine, categorical, proof, score

    features = [categorical(f"f{i}", ["a"]) for i in range(30)]
    report = checked(proof(features, [FREE] * 30, score(0), affine(0, []), [["independent"]]))
    assert report.accepted
    assert "'f19', 10 more" in report.claim


def test_nothing_is_run_or_imported_by_reading():
    source = "".join(path.read_text() for path in Path(line_reader.__file__).parent.rglob("*.py"))
    for word in ("eval(", "exec(", "pickle", "__import__", "import_module", "float(", "math.log", "math.exp"):
        assert word not in source
