"""Every benchmark starts and prints a row: by its smallest options, which are a table here so that none is forgotten."""

import pytest
from benchmarks.__main__ import main, names

SMALLEST = {
    "audits": ("--budget 2", "polynomial, degree 2"),
    "census": ("--data german --only Ridge --rows 60 --seconds 5 --jobs 2", "german  Ridge"),
    "certificates": ("--cells 10", "us/cell"),
    "checkers": ("--proofs --golden golden_later --seconds 1", "v1-witness-sum"),
    "cold": ("--families linear", "linear"),
    "defaults": ("--data german --models dt --seconds 2", "dt"),
    "ensembles": ("--data german --seconds 1 --trees 2 --bags 1", "EBM, all rows"),
    "explainable": ("--data german --seconds 2 --bags 1", "german"),
    "groups": ("--samples 2000 --budget 1", "hiring, network of 2"),
    "first_day": (
        "--forests one-hot --seconds 1 --kernels mortgages --times --levels 50",
        "60 trees, one-hot",
    ),
    "history": ("--rows ridge --seconds 1", "measure ridge adult"),
    "linear": ("--data credit", "Credit Linear1"),
    "lipschitz": ("--seconds 3 --models linear --kinds l2", "linear"),
    "metrics": ("--data credit --models linear --kinds l1 --seconds 3", "credit"),
    "nets": (
        "--data credit adult --nets 4 --marks 1 2 --highs-seconds 2 --marabou-seconds 2 --claim-seconds 5 --certificate-seconds 5 --decision-seconds 5",
        "credit",
    ),
    "pipelines": ("--data credit --model logistic --way dropped --budget 3", "credit  logistic"),
    "plausible": ("--models 1 --rows 60 --budget 5", "nearest"),
    "polynomial": ("--data credit --budget 3", "Credit Poly1"),
    "properties": ("--seconds 2 --models logistic", "logistic"),
    "rbf": ("--quick --scip-seconds 0 --no-certificates", "credit"),
    "rbf_cells": ("--data credit --limit 1", "credit   gap 0.01"),
    "regions": ("--budget 1", "Credit of five, RBF"),
    "repair": (
        "--data credit --models logistic --methods average",
        "| credit | gender, ethnicity | logistic",
    ),
    "memory": ("--verifies 3 --families linear", "linear"),
    "scale": (
        "--claims forest-100-6 --budget 2 --processes 1 --workers 10 --rows 3000 --share-rows 200 --dask 0",
        "forest-100-6",
    ),
    "sos": ("--parts paper", "credit"),
    "trees": ("--data credit --models xgb-100-6 --seconds 2 --veritas-seconds 2", "xgb-100-6"),
    "walk": ("--models logistic --processes 1", "logistic"),
}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """What `main` sets for its own process is taken back."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, "1")


def test_the_table_has_every_benchmark():
    assert sorted(SMALLEST) == names()


def test_all_are_listed(capsys):
    assert main([]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.split("\n\n")[0].splitlines()]
    assert listed == names()


@pytest.mark.parametrize("name", names())
def test_options_are_told(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: python -m benchmarks {name} " in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "certificates" else pytest.mark.slow) for name in SMALLEST],
)
def test_a_row_is_printed(name, capsys):
    options, row = SMALLEST[name]
    assert main([name, *options.split()]) == 0
    assert row in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [(["lineal"], "no benchmark 'lineal'"), (["linear", "rbf", "--quick"], "options go with one")],
)
def test_wrong_names_are_refused(line, words, capsys):
    assert main(line) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_a_model_that_ends_its_process_does_not_end_the_census():
    """The next one is examined all the same, whatever the number of processes, and findings come in their order."""
    from benchmarks._census_models import CountedModel
    from benchmarks.census import Examiners, Options

    wanted = [
        (CountedModel(part="classifiers", name=name), "german")
        for name in ("NoSuchClassifier", "RidgeClassifier", "DummyClassifier")
    ]
    for jobs in (1, 2):
        examiners = Examiners(Options(rows=60, jobs=jobs))
        found = list(examiners.examine(wanted))
        examiners.close()
        assert [one.title for one in found] == [one.title for one, _ in wanted]
        assert [one.kind for one in found] == ["failed", "proved", "proved"]
        assert "its process ended" in found[0].why
