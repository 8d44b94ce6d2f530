import csv
import gzip
import io
import math

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import DataError
from likewise.spec import frames
from likewise.spec.frames import frame_from_columns, native_backend, read_table


@pytest.fixture
def table(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def read(path):
    frame = nw.from_native(read_table(path))
    return {name: (str(frame[name].dtype), frame[name].to_list()) for name in frame.columns}


def test_columns_are_typed_by_their_cells_alone(table):
    found = read(
        table(
            "whole,number,text,zip,missing,signed,long,huge\n"
            "1,1,a,007,NA,+1,9223372036854775808,1e999\n"
            " 2 ,2.5, b ,10,nan,-2,1,2\n"
            "3,1e5,1,20,None,0,2,3\n"
        )
    )
    assert found == {
        "whole": ("Int64", [1, 2, 3]),
        "number": ("Float64", [1.0, 2.5, 1e5]),
        "text": ("String", ["a", " b ", "1"]),
        "zip": ("String", ["007", "10", "20"]),
        "missing": ("String", ["NA", "nan", "None"]),
        "signed": ("Int64", [1, -2, 0]),
        "long": ("String", ["9223372036854775808", "1", "2"]),
        "huge": ("String", ["1e999", "2", "3"]),
    }


def test_truth_values_are_read_as_pandas_reads_them(table):
    text = "plain,shouted,mixed,spaced,gaps\nTrue,TRUE,true, True,True\nFalse,FALSE,yes,False,\n"
    found = read(table(text))
    assert [found[name] for name in ("plain", "shouted")] == [("Boolean", [True, False])] * 2
    assert found["mixed"] == ("String", ["true", "yes"])
    assert found["spaced"] == ("String", [" True", "False"])
    gaps = read_table(table(text))["gaps"]
    assert gaps[0] is True
    assert gaps.isna().tolist() == [False, True]


def test_inf_is_text(table):
    assert read(table("a\ninf\n1\n")) == {"a": ("String", ["inf", "1"])}


def test_quotes_line_breaks_byte_order_mark_and_trailing_blank_lines(table):
    found = read(table(b'\xef\xbb\xbf"a,b",c\r\n"x\ny",1\r\n"say ""hi""",2\r\n\r\n\r\n'))
    assert found == {"a,b": ("String", ["x\ny", 'say "hi"']), "c": ("Int64", [1, 2])}


def test_empty_cells_are_missing_and_nothing_else_is(table):
    frame = read_table(table('a,b,c,d\n1,x,0.5,\n,"",NA, \n3, y,,\n'))
    assert frame["a"].tolist()[::2] == [1.0, 3.0]
    assert frame.isna().to_numpy().tolist() == [[0, 0, 0, 1], [1, 1, 0, 1], [0, 0, 1, 1]]
    assert frame["b"].tolist()[::2] == ["x", " y"]
    assert frame["c"].tolist()[:2] == ["0.5", "NA"]  # NA is a word, so that the column is text


def test_compressed(table):
    assert read(table(gzip.compress(b"a\n1\n2\n"), "data.csv.gz")) == {"a": ("Int64", [1, 2])}


def test_parquet(tmp_path):
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": [1, 2], "b": ["NA", "x"]}).write_parquet(path)
    assert read(path) == {"a": ("Int64", [1, 2]), "b": ("String", ["NA", "x"])}


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("a,b\n1,2\n3\n", "data.csv", "data.csv, line 3: 1 cells, but the header has 2 columns"),
        ("a,b\n1,2,3\n", "data.csv", "data.csv, line 2: 3 cells, but the header has 2 columns"),
        ("a,a\n1,2\n", "data.csv", "data.csv, line 1: column name 'a' appears twice"),
        ("a,\n1,2\n", "data.csv", "data.csv, line 1: column 2 has no name"),
        ("a;b\n1;2\n", "data.csv", "data.csv, line 1: only one column\nhint: separate columns by commas"),
        ("", "data.csv", "data.csv: is empty\nhint: the first line must name the columns"),
        ("a,b\n", "data.csv", "data.csv: has a header but no rows"),
        ("a,b\n1,2\n\n3,4\n", "data.csv", "data.csv, line 3: blank line between rows"),
        ('a,b\n"1,2\n', "data.csv", "data.csv, line 2: unexpected end of data"),
        ('a,b\n"1"x,2\n', "data.csv", "data.csv, line 2: "),
        (b"a,b\n\xff,2\n", "data.csv", "data.csv: is not UTF-8 text\nhint: save it with the encoding UTF-8"),
        (
            "a\n1\n",
            "data.xlsx",
            "data.xlsx: not a table Likewise can read\nhint: give a .csv, .csv.gz or .parquet",
        ),
        (b"a\n1\n", "data.csv.gz", "data.csv.gz: cannot be read: Not a gzipped file"),
        (
            gzip.compress(b"a\n" + b"1\n" * 999, mtime=0)[:-9],
            "data.csv.gz",
            "data.csv.gz: the compressed file is cut off or damaged",
        ),
        (b"not parquet", "data.parquet", "data.parquet: is not a whole Parquet file"),
        (b"", "data.parquet", "data.parquet: is not a whole Parquet file"),
        (b"PAR1 damaged PAR1", "data.parquet", "data.parquet: cannot be read"),
    ],
)
def test_bad_files_name_file_line_and_column(table, text, name, said):
    with pytest.raises(DataError) as caught:
        read_table(table(text, name))
    assert said in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    for name in ("none.csv", "none.csv.gz", "none.parquet"):
        with pytest.raises(DataError, match=rf"{name}: cannot be read"):
            read_table(tmp_path / name)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=8).filter(
    str.strip
)
doubles = st.floats(allow_nan=False, allow_infinity=False)
columns = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3),
    st.lists(doubles, min_size=3, max_size=3),
    st.tuples(cells.map(lambda cell: "t" + cell), cells, cells).map(list),
)


@given(st.dictionaries(cells.map(lambda cell: "n" + cell), columns, min_size=2, max_size=4))
@settings(deadline=None)
def test_what_is_written_is_what_is_read(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("table") / "data.csv"
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(table)
    writer.writerows(
        zip(
            *([repr(v) if isinstance(v, float) else v for v in column] for column in table.values()),
            strict=True,
        )
    )
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    frame = nw.from_native(read_table(path))
    for name, column in table.items():
        found = frame[name].to_list()
        assert found == column
        assert all(type(a) is type(b) for a, b in zip(found, column, strict=True))


@pytest.mark.parametrize(
    "like", [pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})], ids=["pandas", "polars"]
)
def test_columns_to_a_frame_of_the_same_library(like):
    frame = frame_from_columns(
        {
            "i": np.array([1, 2]),
            "f": [0.5, 1.0],
            "s": ["a", "b"],
            "b": [True, False],
            "o": np.array(["x", "y"], object),
        },
        like=like,
    )
    assert type(frame) is type(like)
    assert [str(dtype) for dtype in nw.from_native(frame).schema.values()] == [
        "Int64",
        "Float64",
        "String",
        "Boolean",
        "String",
    ]
    assert math.isclose(nw.from_native(frame)["f"].to_list()[0], 0.5)


def test_backend_is_pandas_then_polars_then_an_error_with_the_way_out(monkeypatch):
    import importlib.util

    assert native_backend() == "pandas"
    installed = {"polars"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name in installed else None)
    assert native_backend() == "polars"
    assert isinstance(frame_from_columns({"a": [1]}), pl.DataFrame)
    installed.clear()
    with pytest.raises(
        DataError, match=r'no frame library is installed\nhint: pip install "likewise\[pandas\]"'
    ):
        native_backend()
    with pytest.raises(DataError, match="no frame library"):
        frames.read_table("any.csv")
