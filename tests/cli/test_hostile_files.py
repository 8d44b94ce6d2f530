"""Files that are none, that unpack to far more than they are, or that say less than they hold: refused in words, before they take memory or time."""

import gzip
import io
import json
import os
import re
import socket
import stat
import struct
import zipfile
import zlib

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

CLAIM = "--data d.csv --label approved --free sex"


def refused(done, *words):
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    for word in words:
        assert word in done.stderr
    return done.stderr


# -- what is no file ------------------------------------------------------------------------------------------


@pytest.fixture
def none(tmp_path):
    """none("pipe", ".csv") makes something of that name that is no file."""

    def make(kind, suffix):
        path = tmp_path / f"x{suffix}"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "link to a pipe":
            os.mkfifo(tmp_path / "pipe")
            path.symlink_to(tmp_path / "pipe")
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(str(path))
        else:
            path.mkdir()
        return path

    return make


READ = {
    "model": (".skops", "verify --model {} " + CLAIM),
    "network": (".onnx", "verify --model {} " + CLAIM),
    "booster": (".json", "verify --model {} " + CLAIM),
    "pickle": (".pkl", "verify --allow-pickle --model {} " + CLAIM),
    "data": (".csv", "verify --model m.skops --data {} --label approved --free sex"),
    "packed data": (".csv.gz", "verify --model m.skops --data {} --label approved --free sex"),
    "Parquet": (".parquet", "verify --model m.skops --data {} --label approved --free sex"),
    "claim": (".toml", "verify {}"),
    "certificate": (".likewise", "explain {}"),
    "second model": (".skops", "compare --model m.skops --with {} " + CLAIM),
    "answers": (".json", "report --audit {} --model m.skops -o r.html " + CLAIM),
    "share": (".json", "card --share {} --model m.skops " + CLAIM),
    "checkpoint": (".checkpoint", "verify --model m.skops --checkpoint {} --resume " + CLAIM),
    "drafted data": (".csv", "init {} --model m.skops --label approved"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "device", "socket", "folder"])
@pytest.mark.parametrize("what", READ)
@pytest.mark.draw(8)
def test_what_is_no_file_is_refused_and_never_waited_for(run, none, what, kind):
    suffix, line = READ[what]
    if (what, kind) == ("checkpoint", "folder"):
        pytest.skip("a folder is where the checkpoint goes")
    said = refused(run(line.format(none(kind, suffix))))
    assert kind.rpartition(" ")[2] in said or "not a" in said


# -- what unpacks to more than it is --------------------------------------------------------------------------


@pytest.fixture
def packed(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def test_packed_rows_have_a_limit_of_memory_that_a_flag_raises(run, packed):
    rows = b"age,sex,income,approved\n" + b"20,0,10.5,no\n30,1,20.5,yes\n" * 40_000
    path = packed("d.csv.gz", gzip.compress(rows))
    line = f"audit --model m.skops --data {path} --label approved --free sex --budget 30 --max-memory"
    assert "--max-memory" in refused(run(f"{line} 0.01"), "memory", str(path))
    assert run(f"{line} 1").exit_code == 0


def test_a_line_without_an_end_is_not_read_to_its_end(run, packed):
    path = packed("d.csv.gz", gzip.compress(b"a,b\n" + b"x" * (1 << 25)))
    refused(run(f"verify --model m.skops --data {path} --free sex"), "a line has")


def test_what_was_packed_twice_is_no_table(run, packed):
    path = packed("d.csv.gz", gzip.compress(gzip.compress(b"a,b\n1,2\n")))
    refused(run(f"verify --model m.skops --data {path} --free sex"), "UTF-8")


def test_parquet_is_measured_by_its_values_and_not_by_its_bytes(run, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    count = 1_000_000
    ones = pa.array(np.ones(count, "i8"))
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, "i4")), pa.array(["x" * 10_000]))
    lists = pa.array([np.ones(count)])
    tables = {
        "runs": {"age": ones, "sex": ones},
        "texts": {"age": ones, "sex": long},
        "lists": {"age": lists},
    }
    for name, columns in tables.items():
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table(columns), path, compression="zstd")
        assert path.stat().st_size < 200_000
        line = f"verify --model m.skops --data {path} --free sex --max-memory 0.02"
        refused(run(line), "memory", str(path))


def test_rows_that_take_longer_than_the_budget_are_left(run, packed, monkeypatch):
    """On a clock on which a row takes a second."""
    from likewise import clock

    late = [0.0]

    def now():
        late[0] += 1.0
        return late[0]

    monkeypatch.setattr(clock, "now", now)
    monkeypatch.setattr("likewise.spec.csv_file.LOOKED_AT", 100)
    path = packed("d.csv", b"age,sex,income,approved\n" + b"20,0,10.5,no\n30,1,20.5,yes\n" * 100)
    line = f"verify --model m.skops --data {path} --label approved --free sex --budget"
    refused(run(f"{line} 5"), "longer than the budget of 5 s", "--budget 60", str(path))


# -- models ---------------------------------------------------------------------------------------------------


@pytest.fixture
def members():
    """The members of a model's file."""
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def array(shape, content, kind="<f8"):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def array_names(members):
    return [name for name in members if name.endswith(".npy")]


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        ((1 << 40,), "<f8"),
        ((1 << 62, 4), "<f8"),
        ((-1,), "<f8"),
        ((2, -4), "<f8"),
        ((1,), "|O"),
        ((1,), "<U999999999"),
        ((1 << 50,), "|V0"),
    ],
)
def test_arrays_that_say_more_than_they_hold_are_refused(run, packed, members, shape, kind):
    path = packed("x.skops", zipped({**members, array_names(members)[0]: array(shape, bytes(8), kind)}))
    refused(run(f"verify --model {path} {CLAIM}"), str(path))
    content = {"layers.npy": array((1,), "Linear(in_features=1, out_features=1)".encode("utf-32-le"), "<U37")}
    path = packed("x.npz", zipped({**content, "0.weight.npy": array(shape, bytes(8), kind)}))
    refused(run(f"verify --model {path} {CLAIM}"), str(path))


def test_members_that_unpack_to_much_are_refused(run, packed, members):
    big = array((1 << 21,), bytes(1 << 24))
    path = packed("x.skops", zipped({**members, array_names(members)[0]: big}))
    assert path.stat().st_size < 100_000
    refused(run(f"verify --model {path} {CLAIM} --max-memory 0.05"), "memory", str(path))


def test_one_member_that_is_the_content_of_many_values_counts_each_time(run, packed, members):
    name = array_names(members)[0]
    schema = json.loads(members["schema.json"])
    places = schema["content"]["content"]
    one = next(node for node in places.values() if node.get("file") == name)
    many = [{**one, "__id__": 10_000_000 + k} for k in range(200)]
    places["more"] = {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": many,
        "__id__": 9_999_999,
    }
    schema["content"]["key_types"]["content"].append(schema["content"]["key_types"]["content"][0])
    changed = {**members, "schema.json": json.dumps(schema), name: array((1 << 15,), bytes(1 << 18))}
    path = packed("x.skops", zipped(changed))
    refused(run(f"verify --model {path} {CLAIM} --max-memory 0.1"), "memory", str(path))


def test_members_that_hold_more_than_they_say_are_not_unpacked(run, packed, members):
    """The directory says 100 bytes; what is packed is 16 MiB."""
    name = array_names(members)[0]
    content = bytearray(zipped({**members, name: bytes(1 << 24)}))
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = content.find(mark)
        while at >= 0:
            if struct.unpack_from("<I", content, at + offset)[0] == 1 << 24:
                struct.pack_into("<I", content, at + offset, 100)
            at = content.find(mark, at + 1)
    path = packed("x.skops", bytes(content))
    refused(run(f"verify --model {path} {CLAIM}"), str(path))


def test_checkpoints_that_unpack_to_much_are_refused(run, packed):
    import hashlib

    from likewise.search.checkpoint import MARK

    content = zlib.compress(bytes(1 << 26))
    path = packed("x.checkpoint", MARK + hashlib.sha256(content).digest() + content)
    refused(run(f"verify --model m.skops {CLAIM} --checkpoint {path} --resume --max-memory 0.01"), "memory")


@pytest.mark.parametrize("name", ["x.toml", "x.json"])
def test_texts_that_are_too_long_are_not_parsed(run, packed, name):
    path = packed(name, b"[" * (1 << 18))
    line = (
        f"verify {path}" if name == "x.toml" else f"report --audit {path} --model m.skops {CLAIM} -o r.html"
    )
    refused(run(f"{line} --max-memory 0.01"), "memory", str(path))
    refused(run(line), str(path))


# -- what is written ------------------------------------------------------------------------------------------


def rights(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="this system has other rights")
@pytest.mark.parametrize("model", ["rbf", "m"])
def test_files_about_people_are_their_owners_alone(run, tmp_path, model):
    names = ["r.html", "rows.csv", "proof.likewise", "state.checkpoint"]
    page, rows, proof, state = (tmp_path / name for name in names)
    page.write_bytes(b"")
    rows.write_bytes(b"an older one")
    for path in (page, rows):
        path.chmod(0o666)
    line = f"--model {model}.skops {CLAIM} --budget 3"
    old = os.umask(0)
    try:
        assert run(f"report {line} -o {page} --certificate {proof} --quiet").exit_code in (0, 1, 3)
        assert run(f"audit {line} --output {rows} --checkpoint {state}").exit_code in (0, 3)
    finally:
        os.umask(old)
    assert [rights(path) for path in (page, rows, proof, state)] == [0o600] * 4


@pytest.mark.skipif(os.name != "posix", reason="this system has other rights")
def test_a_proof_about_nobody_is_for_everybody(run, tmp_path):
    path, old = tmp_path / "proof.likewise", os.umask(0o022)
    try:
        done = run(f"verify --model fair.skops {CLAIM} --certificate {path}")
    finally:
        os.umask(old)
    assert done.exit_code == 0
    assert rights(path) == 0o644
    assert "holds rows" not in done.stderr


def test_files_that_hold_rows_are_said_to(run, tmp_path):
    """The support vectors of a kernel machine are rows of the data, which a certificate and an export hold."""
    proof, export = tmp_path / "proof.likewise", tmp_path / "model.line"
    done = run(f"measure --model rbf.skops {CLAIM} --certificate {proof} --budget 2")
    assert done.exit_code in (0, 3)
    assert f"{proof}: holds rows of the training data" in done.stderr
    assert "holds rows" in run(f"export --model rbf.skops {CLAIM} -o {export}").stderr
    assert "holds rows" not in run(f"export --model m.skops {CLAIM} -o {export}").stderr


@pytest.mark.parametrize("model", ["rbf", "m"])
def test_a_report_without_rows_shows_nobody(run, tmp_path, model):
    """Incomes are to the cent: one that is in the page belongs to a person."""
    import pandas as pd

    page = tmp_path / "r.html"
    line = f"report --model {model}.skops {CLAIM} --budget 3 --quiet -o {page}"
    done = run(line)
    data = pd.read_csv("d.csv").income
    people = {f"{income:.2f}" for income in data if not f"{income:.2f}".endswith("0")}
    people -= {f"{end:.2f}" for end in (data.min(), data.max())}  # of the space

    def shown():
        return people & set(re.findall(r"(?<![\d.])\d+\.\d\d(?!\d)", page.read_text()))

    assert len(shown()) > 3
    assert run(f"{line} --no-rows").exit_code == done.exit_code
    text = page.read_text()
    assert shown() == set()
    assert 'id="check"' not in text
    assert "--no-rows" in text
