"""Shipped rows are the sources' rows; coded rows are the paper's, to the last bit."""

import csv
import gzip
from importlib import resources
from pathlib import Path

import narwhals.stable.v2 as nw
import pytest

from likewise import datasets
from likewise.errors import DataError

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
LOADERS = {"german": datasets.load_german, "adult": datasets.load_adult, "credit": datasets.load_credit}
SHAPES = {"german": (1000, 20), "adult": (32561, 8), "credit": (400, 10)}
FRAUD_HEADER = (
    "age,gender,ethnicity,incident_cause,days_to_incident,claim_area,police_report,claim_type,"
    "total_policy_claims,fraudulent"
)


def shared_file(*parts: str) -> Path:
    file = SHARED.joinpath(*parts)
    if not file.is_file():
        pytest.skip(f"{'/'.join(parts)} is not beside this repository")
    return file


def columns(dataset: datasets.Dataset) -> dict[str, list]:
    return nw.from_native(dataset.X).to_dict(as_series=False)


@pytest.mark.draw(4)
@pytest.mark.parametrize("frame", ["pandas", "polars"])
@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("name", LOADERS)
def test_rows_lie_in_the_space(name, coded, frame):
    data = LOADERS[name](coded=coded, frame=frame)
    assert type(data.X).__module__.partition(".")[0] == frame
    assert type(data.y).__module__.partition(".")[0] == frame
    assert data.X.shape == SHAPES[name]
    assert tuple(data.X.columns) == data.space.names
    data.space.check_frame(data.X)
    assert data.y.name == data.label
    assert data.label not in data.space
    assert len(data.y) == len(data.X)
    assert set(data.protected) <= set(data.space)
    assert data.positive in set(data.y)
    assert len(set(data.y)) == 2


@pytest.mark.parametrize("name", LOADERS)
def test_both_frame_libraries_give_the_same_values(name):
    one, other = (LOADERS[name](frame=frame) for frame in ("pandas", "polars"))
    assert columns(one) == columns(other)
    assert list(one.y) == list(other.y)


@pytest.mark.some_days
@pytest.mark.parametrize("name", LOADERS)
def test_coding_is_one_to_one_and_keeps_positions(name):
    """A level's position in the readable space is its code minus the smallest code."""
    readable, coded = LOADERS[name](), LOADERS[name](coded=True)
    for before, after in zip(readable.space, coded.space, strict=True):
        if readable.space[before].kind in ("categorical", "ordinal"):
            positions = [readable.space[before].position(level) for level in columns(readable)[before]]
            lowest = coded.space[after].lo
            assert [lowest + position for position in positions] == columns(coded)[after]
    assert [label == readable.positive for label in readable.y] == [label == 1 for label in coded.y]


@pytest.mark.parametrize("name", LOADERS)
def test_coded_rows_equal_the_papers(name):
    with shared_file("paper", f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    data = LOADERS[name](coded=True)
    assert [*data.space.names, data.label] == header
    expected = {
        key: [float(cell) for cell in cells]
        for key, cells in zip(header, zip(*rows, strict=True), strict=True)
    }
    assert expected.pop(data.label) == list(data.y)
    assert expected == columns(data)


@pytest.mark.parametrize(
    ("name", "source"), [("german", "german"), ("adult", "adult8"), ("credit", "credit")]
)
def test_shipped_file_is_the_source_and_packs_the_same_everywhere(name, source):
    packed = resources.files("likewise.datasets").joinpath("data", f"{name}.csv.gz").read_bytes()
    assert packed[4:8] == bytes(4)  # gzip's time stamp
    assert gzip.decompress(packed) == shared_file("open", f"{source}.csv").read_bytes()


def test_credit_label_is_the_threshold_on_balance():
    packed = resources.files("likewise.datasets").joinpath("data", "credit.csv.gz").read_bytes()
    rows = csv.DictReader(gzip.decompress(packed).decode().splitlines())
    data = datasets.load_credit()
    assert list(data.y) == ["high" if float(row["balance"]) > 550 else "low" for row in rows]
    assert "balance" not in data.X.columns


@pytest.mark.some_days
def test_known_counts():
    """Published class counts: 300 of 1000 bad credits, 7841 of 32561 above 50K."""
    assert sum(datasets.load_german(coded=True).y) == 300
    assert sum(datasets.load_adult(coded=True).y) == 7841


def test_levels_without_rows_are_in_the_space():
    data = datasets.load_german()
    assert "female-single" in data.space["sex-marital-status"].levels
    assert "female-single" not in set(data.X["sex-marital-status"])


def test_wrong_frame_kind():
    with pytest.raises(DataError, match="unknown kind of frame 'arrow'"):
        datasets.load_german(frame="arrow")


def test_without_frame_library_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"likewise\[polars\]"):
        datasets.load_german(frame="polars")
    with pytest.raises(DataError, match=r"likewise\[pandas\]"):
        datasets.load_german()


def test_without_pandas_auto_is_polars(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name if name == "polars" else None)
    assert type(datasets.load_credit().X).__module__.startswith("polars")


@pytest.mark.parametrize("name", LOADERS)
def test_paper_problem_is_the_coded_data_set(name):
    problem, data = datasets.paper_problem(name), LOADERS[name](coded=True)
    assert columns(problem) == columns(data)
    assert problem.space == data.space


def test_unknown_paper_problem_suggests_the_closest():
    with pytest.raises(DataError, match="german"):
        datasets.paper_problem("germn")


def test_fraud_without_a_folder_says_what_to_give():
    with pytest.raises(DataError, match="path="):
        datasets.paper_problem("fraud")


def test_fraud_without_the_file_names_it(tmp_path):
    with pytest.raises(DataError, match=r"fraud\.csv"):
        datasets.paper_problem("fraud", tmp_path)


def test_fraud_is_read(tmp_path):
    (tmp_path / "fraud.csv").write_text(f"{FRAUD_HEADER}\n32,1,0,2,225,1,0,1,1,0\n60,1,1,4,11874,2,2,1,3,1\n")
    data = datasets.paper_problem("fraud", tmp_path)
    assert data.protected == ("ethnicity",)
    assert list(data.y) == [0, 1]
    assert columns(data)["days_to_incident"] == [225, 11874]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1"),
        ("age,gender\n1,2\n", "line 1"),
        (f"{FRAUD_HEADER}\n", "no rows"),
        (f"{FRAUD_HEADER}\n32,1,0\n", "line 2: 3 cells"),
        (
            f"{FRAUD_HEADER}\n32,1,0,2,225,1,0,1,1,0\n32,1,0,2,x,1,0,1,1,0\n",
            "line 3, column days_to_incident: 'x'",
        ),
        (f"{FRAUD_HEADER}\n17,1,0,2,225,1,0,1,1,0\n", r"column age: '17' is no whole number in 18\.\.90"),
        (f"{FRAUD_HEADER}\n32,1,0,2,225,1,0,1,1,2\n", "column fraudulent: '2'"),
    ],
)
def test_bad_fraud_file_is_named_by_line_and_column(tmp_path, content, message):
    (tmp_path / "fraud.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        datasets.paper_problem("fraud", tmp_path)


def test_the_authors_fraud_file():
    data = datasets.paper_problem("fraud", shared_file("paper", "fraud.csv").parent)
    assert data.X.shape == (1100, 9)
    data.space.check_frame(data.X)


@pytest.mark.parametrize("coded", [False, True])
def test_credit_of_three_classes_has_a_third_of_the_rows_in_each(coded):
    data, two = datasets.load_credit(coded=coded, classes=3), datasets.load_credit(coded=coded)
    low, middle, high = (0, 1, 2) if coded else ("low", "middle", "high")
    labels = list(data.y)
    assert data.positive == high
    assert columns(data) == columns(two)
    assert [abs(labels.count(label) - 400 / 3) < 2 for label in (low, middle, high)] == [True] * 3
    # The threshold of the two classes, 550 dollars, lies in the middle third.
    pairs = set(zip(labels, two.y, strict=True))
    assert pairs == {(low, 0 if coded else "low"), (high, two.positive)} | {
        (middle, one) for one in set(two.y)
    }
    with pytest.raises(DataError, match="2 classes of balance or 3, not 4"):
        datasets.load_credit(classes=4)
