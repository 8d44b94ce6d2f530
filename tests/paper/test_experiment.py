"""The paper's experiments: its facts, the fits that are kept, and answers that a rerun does not work out again."""

import json
import re
import signal
from pathlib import Path

import numpy as np
import pytest

from likewise.datasets import load_credit
from likewise.errors import SpecError
from likewise.paper import experiment, training
from likewise.paper.experiment import Interrupted, Plan, chosen_rows, count_steps, run
from likewise.paper.published import ROWS, estimator_settings

TEX = Path(__file__).parents[2].parent / "shared" / "paper.tex"


def plan(folder, *names, **options):
    parts = options.pop("parts", ("published", "testing", "ours"))
    return Plan(
        rows=chosen_rows(names), parts=parts, folder=folder, samples=500, budget=20, jobs=1, **options
    )


def work(a_plan):
    cells, told = [], []
    run(a_plan, cells, told.append)
    return cells, told


def test_the_tables_are_those_of_the_paper():
    if not TEX.is_file():
        pytest.skip("paper.tex is not beside this repository")
    text = TEX.read_text(encoding="utf-8")
    printed = re.findall(
        r"\\textsf\{(\w+?)\\_(\w+)\}\s*& ([\d.]+) & ([\d.]+) & (Yes|No|No Bias|Possible)\s*& ([\d.]+[sm])",
        text,
    )
    assert len(printed) == len(ROWS) == 24
    for row, (data, kind, train, test, bias, time) in zip(ROWS, printed, strict=True):
        assert (row.title, row.train, row.test) == (f"{data}_{kind}", float(train), float(test))
        assert (row.bias, row.time) == (bias.removesuffix(" Bias"), time)
    testing = re.findall(r"GC\\_(\w+?)\s*& ([\d.]+) mins & Not found", text)
    assert [row.testing_time for row in ROWS if row.testing] == [f"{minutes}m" for _, minutes in testing]


def test_models_are_chosen_by_name():
    assert [row.title for row in chosen_rows(["german-rbf2"])] == ["GC_Rbf2"]
    assert [row.title for row in chosen_rows(["GC_Rbf2"])] == ["GC_Rbf2"]
    assert {row.data for row in chosen_rows(["credit"])} == {"credit"}
    assert len(chosen_rows(["rbf"])) == 8
    assert [row.title for row in chosen_rows(["german-rbf"])] == ["GC_Rbf1", "GC_Rbf2"]
    assert len(chosen_rows(["linear1", "german"])) == 9
    assert chosen_rows([]) == ROWS
    with pytest.raises(SpecError, match="did you mean"):
        chosen_rows(["germann"])


def test_settings_are_those_of_the_paper():
    rbf1, rbf2 = (estimator_settings(row)[1] for row in chosen_rows(["adult-rbf1", "adult-rbf2"]))
    assert (rbf1["C"], rbf1["gamma"]) == (1000, 1e-4)
    assert (rbf2["C"], rbf2["gamma"]) == (1, 0.5)


def test_a_fit_is_kept_under_the_digest_of_what_it_is_made_of(tmp_path, monkeypatch):
    data = load_credit(coded=True)
    plain, masked = chosen_rows(["credit-linear1", "credit-linear2"])
    digest = training.digest_of(plain, data)
    assert digest != training.digest_of(masked, data)
    X, _ = training.matrices(data, masked=True)
    protected = [data.space.names.index(name) for name in data.protected]
    assert not X[:, protected].any()
    assert X.any()
    ((row, fit),) = training.fit_all([(plain, data)], tmp_path, jobs=1)
    assert (row, fit.digest) == (plain, digest)
    assert fit.train == pytest.approx(plain.train, abs=1e-3)
    monkeypatch.setattr(training, "fit", None)
    ((_, again),) = training.fit_all([(plain, data)], tmp_path, jobs=1)
    assert np.array_equal(again.model.coef_, fit.model.coef_)
    monkeypatch.setattr(training, "SPLIT", {"test_size": 0.25, "random_state": 1})
    assert training.digest_of(plain, data) != digest


@pytest.mark.some_days
def test_two_processes_fit_the_same_models(tmp_path):
    data = load_credit(coded=True)
    wanted = [(row, data) for row in chosen_rows(["credit-linear1", "credit-rbf1"])]
    fits = {row.key: fit for row, fit in training.fit_all(wanted, tmp_path / "two", jobs=2)}
    for row, fit in training.fit_all(wanted, tmp_path / "one", jobs=1):
        assert (fits[row.key].train, fits[row.key].test) == (fit.train, fit.test)


def test_the_cache_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert training.cache_folder() == tmp_path / "likewise"


def test_a_rerun_takes_the_answers_and_fresh_works_them_out_again(tmp_path, monkeypatch):
    first, told = work(plan(tmp_path, "credit-linear1"))
    assert len(told) == count_steps(plan(tmp_path, "credit-linear1")) == 4
    answers = first[0].answers
    assert answers["published"]["answer"] == "BIASED (replayed pair)"
    assert (answers["ours"]["verdict"], answers["ours"]["checked"]) == ("BIASED", True)
    assert answers["testing"]["details"]["samples"] == 500
    calls = []

    def counted(part, original):
        def call(*given):
            calls.append(part)
            return original(*given)

        return call

    counting = {part: counted(part, function) for part, function in experiment._ANSWERS.items()}
    monkeypatch.setattr(experiment, "_ANSWERS", counting)
    again, _ = work(plan(tmp_path, "credit-linear1"))
    assert calls == []
    assert again[0].to_dict() == first[0].to_dict()
    work(plan(tmp_path, "credit-linear1", fresh=True))
    assert calls == ["published", "testing", "ours"]
    work(plan(tmp_path, "credit-linear1", seed=1, parts=("ours",)))
    assert calls[3:] == ["ours"]


def test_what_is_refused_is_shown_and_not_kept(tmp_path, monkeypatch):
    def refused(*_given):
        raise SpecError("not today")

    with monkeypatch.context() as patched:
        patched.setattr(experiment, "_ANSWERS", {"ours": refused})
        cells, _ = work(plan(tmp_path, "credit-linear2", parts=("ours",)))
        assert cells[0].answers["ours"] == {"error": "SpecError", "message": "not today"}
    cells, _ = work(plan(tmp_path, "credit-linear2", parts=("ours",)))
    assert cells[0].answers["ours"]["verdict"] == "FAIR"


def test_ctrl_c_ends_the_run_and_keeps_what_was_finished(tmp_path, monkeypatch):
    def stopped(*_given):
        return {"verdict": "UNKNOWN", "reason": "interrupted after 0.1 s"}

    cells = []
    with monkeypatch.context() as patched:
        patched.setattr(experiment, "_ANSWERS", {**experiment._ANSWERS, "ours": stopped})
        with pytest.raises(Interrupted):
            run(plan(tmp_path, "credit-linear1"), cells, lambda _done: None)
    assert set(cells[0].answers) == {"published", "testing"}
    assert {path.name.split("-")[2] for path in (tmp_path / "answers").iterdir()} == {"published", "testing"}


@pytest.mark.parametrize("part", ["published", "testing"])
def test_an_answer_that_ctrl_c_cut_short_is_not_kept(part, tmp_path, monkeypatch):
    """Ctrl-C at the first progress that an algorithm reports once the model is read: it ends in order, with half of an answer."""
    name = {"published": "verify_individual_bias", "testing": "random_testing"}[part]
    algorithm = getattr(experiment, name)

    pressed = []

    def press_once(snapshot):
        if not pressed and not snapshot.stage.startswith("reading the model"):
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)

    cells = []
    with monkeypatch.context() as patched:
        patched.setattr(
            experiment, name, lambda *given, **options: algorithm(*given, **options, progress=press_once)
        )
        with pytest.raises(Interrupted):
            run(plan(tmp_path, "credit-linear2", parts=(part,)), cells, lambda _done: None)
    assert pressed
    assert not cells[0].answers
    assert not (tmp_path / "answers").exists()


def test_missing_data_are_named(tmp_path):
    cells, told = work(plan(tmp_path, "fraud-linear1", "credit-linear2", parts=("ours",)))
    assert "do not come with Likewise" in cells[0].missing
    assert cells[0].answers == {}
    assert cells[1].answers["ours"]["verdict"] == "FAIR"
    assert len(told) == 2
    json.dumps([cell.to_dict() for cell in cells], allow_nan=False)
