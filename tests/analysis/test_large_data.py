"""Rows that are read and judged some at a time: the same answers as of one frame in memory, to the last digit, however they are cut."""

import os
import pickle
import signal
import time
from concurrent.futures import BrokenExecutor, Executor, Future

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.analysis.brute import MODELS, everybody, fitted
from tests.analysis.brute import SIMILAR as BRUTE_SIMILAR
from tests.analysis.brute import SPACE as BRUTE_SPACE

import likewise as lw
from likewise.analysis import audit_frames, data_reading, judged_rows, row_pieces
from likewise.errors import DataError
from likewise.search import workers
from likewise.search.workers import Workers
from likewise.spec import code_store, csv_file, data_rows, frames, row_source
from likewise.spec.frames import read_table

ROWS = 30
SIZES = [1, 7, 10**6]
SPACE = lw.Space(
    {
        "age": lw.Integer(18, 70, missing=True),
        "income": lw.Continuous(0, 10),
        "grade": lw.Categorical(["1", "2", "late"]),
        "sex": lw.Categorical(["f", "m"]),
        "member": lw.Categorical([False, True]),
    }
)
SIMILAR = lw.Similarity(free=["sex", "grade"], within={"age": 2})


@pytest.fixture(scope="module")
def table():
    """Whole numbers that become fractions, levels "1" and "2" before a word, gaps, and a level that comes last."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 71, ROWS).astype(object),
            "income": np.where(
                np.arange(ROWS) < 20, random.integers(0, 10, ROWS), random.uniform(0, 10, ROWS)
            ),
            "grade": random.choice(["1", "2"], ROWS),
            "sex": random.choice(["f", "m"], ROWS),
            "member": random.choice([True, False], ROWS),
            "city": random.choice(["Bonn", "Köln, Süd", 'the "other"'], ROWS),
        }
    )
    frame.loc[[0, 13, 14, 29], "age"] = None
    frame.loc[[25, 29], "grade"] = "late"
    return frame


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    text = table.assign(income=[str(int(v)) if v == int(v) else repr(v) for v in table["income"]])
    text.to_csv(folder / "rows.csv", index=False)
    text.to_csv(folder / "rows.csv.gz", index=False)
    read_table(folder / "rows.csv").to_parquet(folder / "rows.parquet", row_group_size=11)
    return folder


@pytest.fixture(scope="module")
def model(files):
    frame = read_table(files / "rows.csv")
    numbers = make_pipeline(SimpleImputer(strategy="median"))
    columns = make_column_transformer(
        (numbers, ["age"]), (OneHotEncoder(), ["grade", "sex", "member"]), ("passthrough", ["income"])
    )
    y = (frame["income"] + 2 * (frame["sex"] == "m") + 3 * (frame["grade"] == "late") > 6).astype(int)
    return make_pipeline(columns, LogisticRegression()).fit(frame[list(SPACE.names)], y)


@pytest.fixture(params=SIZES)
def size(request, monkeypatch):
    """Everything that is done some at a time, with so many at a time; and kept in files if they are few."""
    monkeypatch.setattr(csv_file, "SURVEYED_ROWS", request.param)
    monkeypatch.setattr(data_rows, "CHUNK_ROWS", request.param)
    monkeypatch.setattr(row_pieces, "ROWS_TOGETHER", request.param)
    monkeypatch.setattr(audit_frames, "WRITTEN_ROWS", request.param)
    monkeypatch.setattr(judged_rows, "READ_ROWS", request.param)
    monkeypatch.setattr(code_store, "MOST_IN_MEMORY", request.param)
    return request.param


def told(found):
    """All that an audit says, but for how long it took and how many rows it was compared on."""
    document = found.to_dict()
    document["stats"] = {name: value for name, value in document["stats"].items() if "seconds" not in name}
    return document


def in_frames(frame, length):
    yield frame.head(0)
    for start in range(0, len(frame), length):
        yield frame.iloc[start : start + length]
    yield frame.head(0)


@pytest.mark.draw(1)
def test_files_and_frames_are_audited_as_one_frame_is(model, files, size):
    property = lw.ProbabilityGap(0.05) if size == 7 else lw.SameDecision()
    frame = read_table(files / "rows.csv")
    expected = told(lw.audit(model, SPACE, SIMILAR, property, X=frame))
    assert 0 < expected["biased"] < ROWS
    for name in ("rows.csv", "rows.csv.gz", "rows.parquet"):
        assert told(lw.audit(model, SPACE, SIMILAR, property, X=files / name)) == expected, name
    frames = in_frames(frame, min(size, 13))
    assert told(lw.audit(model, SPACE, SIMILAR, property, X=frames)) == expected


@pytest.mark.draw(1)
def test_saved_rows_are_the_same_and_come_back(model, files, size, tmp_path):
    found = lw.audit(model, SPACE, SIMILAR, X=str(files / "rows.parquet"))
    whole = lw.audit(model, SPACE, SIMILAR, X=read_table(files / "rows.parquet"))
    for name, read in (("rows.csv", lambda p: p.read_text()), ("rows.parquet", pd.read_parquet)):
        found.save(tmp_path / f"streamed_{name}")
        whole.save(tmp_path / name)
        one, other = read(tmp_path / f"streamed_{name}"), read(tmp_path / name)
        assert one.equals(other) if name.endswith("parquet") else one == other
    back = pd.read_parquet(tmp_path / "rows.parquet")
    shown = whole.rows
    assert list(back.columns) == list(shown.columns)
    for column in back.columns:
        expected = [None if v is None or v != v else v for v in shown[column].tolist()]
        assert [None if v is None or v != v else v for v in back[column].tolist()] == expected, column


@pytest.mark.draw(1)
def test_groups_are_counted_by_features_and_other_columns(model, files, size):
    whole = lw.audit(model, SPACE, SIMILAR, X=read_table(files / "rows.csv"))
    found = lw.audit(model, SPACE, SIMILAR, X=files / "rows.csv")
    for column in ("city", "grade", "age"):
        assert found.by(column).equals(whole.by(column))
        assert found.by(column)["rows"].sum() == ROWS
    gone = lw.audit(model, SPACE, SIMILAR, X=in_frames(read_table(files / "rows.csv"), 13))
    assert gone.by("grade").equals(whole.by("grade"))
    with pytest.raises(DataError, match="'city' is no feature, and the frames that had it are gone"):
        gone.by("city")


@pytest.mark.some_days
@pytest.mark.draw(1)
def test_shares_of_files_and_frames_are_those_of_one_frame(model, files, size):
    frame = read_table(files / "rows.csv")
    expected = lw.share(model, SPACE, SIMILAR, over=frame)
    for over in (files / "rows.csv", str(files / "rows.parquet"), in_frames(frame, 7)):
        found = lw.share(model, SPACE, SIMILAR, over=over)
        assert (found.lower, found.upper, found.over) == (expected.lower, expected.upper, expected.over)


def test_polars_frames_and_generators_of_them(model, files):
    frame = read_table(files / "rows.csv")
    expected = told(lw.audit(model, SPACE, SIMILAR, X=frame))
    table = pl.from_pandas(frame).with_columns(pl.col("age").cast(pl.Int64))
    found = lw.audit(model, SPACE, SIMILAR, X=iter([table.slice(0, 12), table.slice(12)]))
    assert told(found) == expected
    assert isinstance(found.rows, pl.DataFrame)


@pytest.mark.draw(4)
@pytest.mark.parametrize(
    ("row", "column", "value", "message"),
    [
        (21, "income", "11.5", "column 'income', row 21 (counted from 0): 11.5 is outside 0..10"),
        (21, "grade", "3", "column 'grade', row 21 (counted from 0)"),
        (29, "sex", "", "column 'sex', row 29 (counted from 0): missing value"),
        (23, "age", "20.5", "column 'age', row 23 (counted from 0): 20.5 is not a whole number"),
    ],
)
def test_errors_name_the_row_of_the_file(model, files, size, tmp_path, row, column, value, message):
    lines = pd.read_csv(files / "rows.csv", dtype=str, keep_default_na=False)
    lines.loc[row, column] = value
    lines.to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(DataError) as raised:
        lw.audit(model, SPACE, SIMILAR, X=tmp_path / "bad.csv")
    assert message in str(raised.value)


def test_frames_with_other_columns_are_refused(model, files):
    frame = read_table(files / "rows.csv")
    with pytest.raises(DataError, match="different columns"):
        lw.audit(model, SPACE, SIMILAR, X=[frame.head(5), frame.drop(columns="city")])
    with pytest.raises(DataError, match="no rows"):
        lw.audit(model, SPACE, SIMILAR, X=iter([frame.head(0)]))


def test_rows_are_never_all_in_memory(model, files, monkeypatch):
    """No frame that is read has more rows than a chunk."""
    lengths = []
    encode = data_rows.encode

    def counted(space, frame, **more):
        lengths.append(len(frame))
        return encode(space, frame, **more)

    monkeypatch.setattr(data_rows, "encode", counted)
    monkeypatch.setattr(data_rows, "CHUNK_ROWS", 7)
    lw.audit(model, SPACE, SIMILAR, X=files / "rows.parquet")
    assert max(lengths) == 7
    assert sum(lengths) == ROWS


def test_stores_give_back_what_was_added(monkeypatch):
    space = lw.Space(
        {"a": lw.Integer(-3, 2**40), "b": lw.Continuous(-1, 1), "c": lw.Categorical(list("xyz"))}
    )
    random = np.random.default_rng(0)
    codes = np.stack(
        [random.integers(-3, 2**40, 50), random.uniform(-1, 1, 50), random.integers(0, 3, 50)], axis=1
    ).astype(float)
    codes[7, 1] = -0.0
    for most in (0, 500, 10**9):
        monkeypatch.setattr(code_store, "MOST_IN_MEMORY", most)
        store = code_store.CodeStore(space)
        store.add(codes[:20], np.arange(20))
        store.add(codes[20:], np.arange(25, 55))
        assert store.codes(3, 44).tobytes() == codes[3:44].tobytes()
        places = random.permutation(50)
        assert store.take(places).tobytes() == codes[places].tobytes()
        assert store.numbers(np.array([0, 19, 20, 49])).tolist() == [0, 19, 25, 54]
        back = pickle.loads(pickle.dumps(store))
        assert back.codes(0, 50).tobytes() == codes.tobytes()


@pytest.mark.draw(2)
@pytest.mark.parametrize("model", MODELS)
def test_pieces_of_any_size_say_the_same_of_every_family(model, monkeypatch):
    """Sums over support vectors are added up in an order that depends on how many rows there are: their gaps agree but for rounding, all else is the same."""
    X, similar = everybody(), BRUTE_SIMILAR["free and within"]
    found = []
    for size in (10**6, 1, 7):
        monkeypatch.setattr(row_pieces, "ROWS_TOGETHER", size)
        audit = lw.audit(fitted(MODELS[model]), BRUTE_SPACE, similar, X=X.iloc[::9], budget=3600)
        found.append((audit, audit.rows.sort_values("row").reset_index(drop=True)))
    (whole, rows), *others = found
    for audit, cut in others:
        assert cut.drop(columns="gap").equals(rows.drop(columns="gap"))
        assert np.abs(cut["gap"] - rows["gap"]).max() <= 2 * whole.stats["gap_error"]
        assert audit.biased == whole.biased


# -- workers ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def at_once(monkeypatch):
    """Workers are called for after the first piece, and waited for."""
    monkeypatch.setattr(row_pieces, "LEAST_PROCESS_WORK", 0.0)
    monkeypatch.setattr(row_pieces, "ROWS_TOGETHER", 7)
    welcome = Workers.welcome

    def waited(self, *who):
        while not welcome(self, *who):
            time.sleep(0.01)
        return True

    monkeypatch.setattr(Workers, "welcome", waited)


@pytest.mark.some_days
def test_two_processes_say_the_same(model, files, at_once):
    expected = told(lw.audit(model, SPACE, SIMILAR, X=files / "rows.csv"))
    stages = []
    found = lw.audit(
        *(model, SPACE, SIMILAR),
        X=files / "rows.csv",
        budget=3600,
        n_jobs=2,
        progress=lambda snapshot: stages.append(snapshot.stage),
    )
    assert told(found) == expected
    assert any("in 2 processes" in stage for stage in stages)


class Doubtful(Executor):
    """Does what it is sent at once; what the `lost` times of work are is lost, and from `last` on nothing is taken."""

    def __init__(self, lost=(), last=10**9):
        self.lost, self.last, self.count = lost, last, 0

    def submit(self, work, /, *arguments):
        self.count += 1
        if self.count > self.last:
            raise RuntimeError("shut down")
        done = Future()
        if self.count in self.lost:
            done.set_exception(BrokenExecutor("gone"))
        else:
            done.set_result(work(*arguments))
        return done


@pytest.mark.parametrize("executor", [Doubtful(lost=(3, 4)), Doubtful(last=3)], ids=["loses", "ends"])
def test_what_an_executor_loses_is_done_again(model, files, at_once, executor):
    expected = told(lw.audit(model, SPACE, SIMILAR, X=files / "rows.csv"))
    found = lw.audit(model, SPACE, SIMILAR, X=files / "rows.csv", executor=executor, budget=3600)
    assert told(found) == expected
    assert executor.count > 3


@pytest.fixture
def parts_elsewhere(monkeypatch, at_once):
    """Parts of a few rows, read by a process of its own, which is this one: it gets and gives what would be sent."""
    read = []

    class Pool(Executor):
        def submit(self, work, /, *arguments):
            done = Future()
            try:
                done.set_result(pickle.loads(pickle.dumps(work(*pickle.loads(pickle.dumps(arguments))))))
            except DataError as error:
                done.set_exception(pickle.loads(pickle.dumps(error)))
            if work is data_reading._read_elsewhere:
                read.append(arguments[-1])
            return done

        def shutdown(self, **_):
            pass

    monkeypatch.setattr(workers, "_start_pool", lambda _: Pool())
    monkeypatch.setattr(row_source, "PART_ROWS", 7)
    monkeypatch.setattr(data_rows, "CHUNK_ROWS", 4)
    monkeypatch.setattr(data_rows, "SAMPLED_ROWS", 5)
    return read


@pytest.mark.some_days
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_workers_read_parts_of_a_file_themselves(model, files, parts_elsewhere, backend, monkeypatch):
    monkeypatch.setattr(frames, "native_backend", lambda: backend)
    claim = {"X": files / "rows.parquet", "budget": 3600}
    alone, found = (lw.audit(model, SPACE, SIMILAR, n_jobs=jobs, **claim) for jobs in (1, 2))
    assert parts_elsewhere
    assert told(found) == told(alone)
    one, two = (pl.DataFrame(audit.data) for audit in (alone, found))
    assert one.equals(two)
    assert found.rows.equals(alone.rows)
    shares = [lw.share(model, SPACE, SIMILAR, over=files / "rows.parquet", n_jobs=n).lower for n in (1, 2)]
    assert shares[0] == shares[1]


@pytest.mark.parametrize("rows", [(3, 28), (28,), (12, 20)])
def test_the_first_row_that_is_wrong_is_named(model, files, parts_elsewhere, tmp_path, rows):
    """Wherever it is read, and whoever comes to a wrong one first."""
    frame = read_table(files / "rows.parquet")
    frame.loc[list(rows), "sex"] = "x"
    frame.to_parquet(tmp_path / "wrong.parquet", row_group_size=7)
    said = []
    for jobs in (1, 2):
        with pytest.raises(DataError) as error:
            lw.audit(model, SPACE, SIMILAR, X=tmp_path / "wrong.parquet", n_jobs=jobs)
        said.append((str(error.value), error.value.hint))
    assert said[0] == said[1]
    assert f"row {rows[0]}" in said[0][0]


def test_files_of_one_part_or_long_ones_are_read_here(files, monkeypatch):
    source = row_source.TableFile(files / "rows.parquet")
    assert source.parts() == (frames.FilePart(first=0, rows=30, groups=(0, 1, 2)),)
    monkeypatch.setattr(row_source, "PART_ROWS", 12)
    first, last = source.parts()
    assert (first.rows, last.first, last.groups) == (22, 22, (2,))
    monkeypatch.setattr(row_source, "MOST_PART_ROWS", 20)
    assert source.parts() == row_source.TableFile(files / "rows.csv").parts() == ()


class Silent(Executor):
    """Greets, and takes all work, but gives nothing back; ends the budget when it has some, as Ctrl-C does."""

    def __init__(self):
        self.count = 0

    def submit(self, work, /, *arguments):
        self.count += 1
        done = Future()
        if self.count == 1:
            done.set_result(work(*arguments))
        elif self.count == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return done


def test_an_interrupt_does_not_wait_for_workers(model, files, at_once, monkeypatch):
    monkeypatch.setattr(row_pieces, "LATE_SECONDS", 0.0)
    executor = Silent()
    found = lw.audit(model, SPACE, SIMILAR, X=files / "rows.csv", executor=executor, n_jobs=2, budget=3600)
    assert executor.count >= 3
    assert found.undecided == found.total
    (reason,) = found.reasons
    assert "interrupted" in reason
    assert found.to_dict()["rows"][0]["gap"] is None


def test_rows_are_judged_here_until_a_worker_is_there(model, files, monkeypatch):
    monkeypatch.setattr(row_pieces, "LEAST_PROCESS_WORK", 0.0)
    monkeypatch.setattr(row_pieces, "ROWS_TOGETHER", 7)
    monkeypatch.setattr(Workers, "welcome", lambda *_: False)
    expected = told(lw.audit(model, SPACE, SIMILAR, X=files / "rows.csv"))
    found = lw.audit(model, SPACE, SIMILAR, X=files / "rows.csv", n_jobs=2, budget=3600)
    assert told(found) == expected


def test_single_searches_do_not_depend_on_the_rows_before():
    """Rows that are searched one by one have random numbers of their own: gaps of several classes are the largest that were seen."""
    names = [f"x{i}" for i in range(8)]
    space = lw.Space({name: lw.Continuous(0, 1) for name in names})
    X = pd.DataFrame(np.random.default_rng(2).uniform(size=(60, 8)), columns=names)
    model = LogisticRegression(C=10).fit(X, np.digitize(X.sum(axis=1), [3.5, 4.5]))
    similar = lw.Similarity(within=dict.fromkeys(names, 0.1))
    found = [
        lw.audit(model, space, similar, lw.ScoreGap(100.0), X=rows, budget=3600)
        for rows in (X.head(3), X.head(3).iloc[::-1])
    ]
    first, turned = (one.rows.sort_values("row").reset_index(drop=True) for one in found)
    columns = ["biased", "gap", *(f"counterpart_{name}" for name in names)]
    pd.testing.assert_frame_equal(
        first[columns], turned[columns].iloc[::-1].reset_index(drop=True), check_exact=True
    )
