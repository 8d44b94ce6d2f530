"""Certificates in hand: saved, loaded, outlined; what is none is refused with the reason."""

import gzip
from fractions import Fraction

import pytest
from tests.certificate.kinds import SMALL, run

import likewise as lw
from likewise.certificate.certificate import Certificate
from likewise.spec.numbers import format_number, parse_number


@pytest.mark.some_days
@pytest.mark.parametrize("name", SMALL)
def test_a_certificate_survives_the_disk(name, tmp_path):
    certificate = run(name).certificate
    path = certificate.save(str(tmp_path / "c.likewise"))
    assert path.read_bytes() == certificate.content
    assert lw.load_certificate(path) == certificate == lw.load_certificate(str(path))
    assert repr(certificate) == f"Certificate({len(certificate.content):,} bytes)"


@pytest.mark.parametrize("name", SMALL)
def test_the_outline_counts_what_is_there(name):
    solved = run(name)
    lines, outline = solved.lines, solved.certificate.outline()
    assert outline.kind == lines[0]["kind"]
    assert (outline.words, outline.tool, outline.digests) == tuple(
        lines[0][k] for k in ("words", "tool", "digests")
    )
    if outline.kind == "witness":
        assert (outline.nodes, outline.rules, outline.clearance) == (0, {}, None)
        return
    nodes = lines[5:-1]
    assert outline.nodes == len(nodes) == solved.end["nodes"]
    assert outline.rules == {rule: sum(n[0] == rule for n in nodes) for rule in {n[0] for n in nodes}}
    assert outline.rules.get("split", 0) * 2 + 1 == outline.nodes
    assert outline.rules.get("split", 0).bit_length() <= outline.depth <= outline.rules.get("split", 0)


def test_saving_overwrites_whole_or_not_at_all(tmp_path):
    path = tmp_path / "c.likewise"
    path.write_bytes(b"old")
    run("masked").certificate.save(path)
    assert path.read_bytes() == run("masked").certificate.content
    assert [p.name for p in tmp_path.iterdir()] == ["c.likewise"]


def test_an_unwritable_place_is_named(tmp_path):
    with pytest.raises(lw.CertificateError, match=r"nowhere.*cannot be written"):
        run("masked").certificate.save(tmp_path / "nowhere" / "c.likewise")
    with pytest.raises(lw.CertificateError, match="cannot be written"):
        run("masked").certificate.save(tmp_path)


def test_a_missing_file_a_folder_and_other_files_are_refused(tmp_path):
    with pytest.raises(lw.CertificateError, match=r"c\.likewise: cannot be read: No such file"):
        lw.load_certificate(tmp_path / "c.likewise")
    with pytest.raises(lw.CertificateError, match="cannot be read"):
        lw.load_certificate(tmp_path)
    for content in (b"", b"\x1f", b"{}", b"PK\x03\x04"):
        (tmp_path / "c.likewise").write_bytes(content)
        with pytest.raises(lw.CertificateError, match=r"not a certificate\nhint"):
            lw.load_certificate(tmp_path / "c.likewise")


OUTLINED = [
    b"", b"\n", b"{}\n", b"[]\n" * 9, b"null\n" * 9, b"\xff\n", b"[" * 100_000, b'{"kind":"proof"}\n' * 7,
]  # fmt: skip


@pytest.mark.parametrize("text", OUTLINED)
def test_other_texts_have_no_outline(text):
    with pytest.raises(lw.CertificateError, match="not a readable certificate"):
        Certificate(gzip.compress(text)).outline()


def test_a_truncated_certificate_has_no_outline():
    content, text = run("gaps").certificate.content, gzip.decompress(run("gaps").certificate.content)
    lines = text.splitlines(keepends=True)
    for end in range(2, len(content), 40):
        with pytest.raises(lw.CertificateError):
            Certificate(content[:end]).outline()
    for end in range(len(lines)):
        with pytest.raises(lw.CertificateError):
            Certificate(gzip.compress(b"".join(lines[:end]))).outline()


def test_nodes_beyond_the_tree_have_no_outline():
    lines = gzip.decompress(run("masked").certificate.content).splitlines(keepends=True)
    doubled = b"".join([*lines[:-1], lines[-2], lines[-1]])
    with pytest.raises(lw.CertificateError):
        Certificate(gzip.compress(doubled)).outline()


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", gzip.compress(b"{}\n", mtime=0)])
def test_no_model_line_without_a_certificate(content):
    with pytest.raises(lw.CertificateError):
        Certificate(content).model_line()


@pytest.mark.parametrize(
    "value", [0, -14, 0.1, -2.5, 5e-324, 1.7e308, Fraction(1, 3), Fraction(-5, 12), 2**70]
)
def test_numbers_are_exact(value):
    assert parse_number(format_number(value)) == Fraction(value)
