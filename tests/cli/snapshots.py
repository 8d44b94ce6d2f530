"""What the commands print, kept as text files: ``python -m tests.cli.snapshots`` (`make snapshots`) writes them again.

Models have coefficients that were written down and not fitted, spaces are small enough to be decided whatever the machine, and
seconds are set to 0. Twice: with short names, and with names and levels longer than any column.
"""

import contextlib
import re
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import skops.io
from click.testing import CliRunner
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from likewise.cli import demo
from likewise.cli.app import cli

FOLDER = Path(__file__).parent / "snapshots"

LOAN = "--data loan.csv --label approved --free sex"
SCHOOLING = "highest-completed-education-of-the-applicant-or-of-any-co-applicant"
LEVELS = [
    "a-university-degree-or-its-equivalent-obtained-in-another-country",
    "a-university-degree-or-its-equivalent-obtained-in-this-country",
    "none",
]
DEBTS = "number of open debts_in_all_registers_of_this_country_and_its_neighbours"
LONG = ["--data", "long.csv", "--label", "outcome", "--free", SCHOOLING]
YES, NO = "granted-under-the-usual-conditions-of-this-bank", "not granted, and not to be asked for again"
HARD = "--model sum.skops --data sum.csv --free sex"

# File name: the command line, in the folder that `furnish` fills.
LINES: dict[str, list[str]] = {
    "demo": ["demo"],
    "verify-biased": f"verify --model biased.skops {LOAN}".split(),
    "verify-fair": f"verify --model fair.skops {LOAN} --certificate fair.likewise".split(),
    "verify-unknown": f"verify {HARD} --budget 0.5".split(),
    "verify-several": ["verify", "biased.toml", "fair.toml", "sum.toml", "--budget", "0.5"],
    "measure": f"measure --model biased.skops {LOAN}".split(),
    "measure-probability": f"measure --model biased.skops {LOAN} --of probability".split(),
    "measure-margin": f"measure --model fair.skops {LOAN} --of margin".split(),
    "audit": f"audit --model biased.skops {LOAN} --by sex".split(),
    "audit-undecided": f"audit --model biased.skops {LOAN} --budget 1e-9".split(),
    "share": f"share --model biased.skops {LOAN} --method exact".split(),
    "share-data": f"share --model biased.skops {LOAN} --over data".split(),
    "groups": f"groups --model biased.skops {LOAN} --by sex".split(),
    "groups-marginals": f"groups --model biased.skops {LOAN} --by sex --over marginals".split(),
    "regions": f"regions --model biased.skops {LOAN} --budget 600".split(),
    "radius": [
        "radius",
        "--model",
        "biased.skops",
        "--data",
        "loan.csv",
        "--label",
        "approved",
        "--feature",
        "age",
        "--property",
        "score:1",
    ],
    "compare": f"compare --model biased.skops --with fair.skops {LOAN}".split(),
    "repair": f"repair --model biased.skops {LOAN}".split(),
    "long-verify": ["verify", "--model", "long.skops", *LONG],
    "long-measure": ["measure", "--model", "long.skops", *LONG, "--all"],
    "long-audit": ["audit", "--model", "long.skops", *LONG, "--by", SCHOOLING],
    "long-share": ["share", "--model", "long.skops", *LONG],
    "long-regions": ["regions", "--model", "long.skops", *LONG, "--budget", "600"],
    "long-radius": ["radius", "--model", "long.skops", *LONG, "--feature", DEBTS, "--property", "score:6"],
    "long-compare": ["compare", "--model", "long.skops", "--with", "long.skops", *LONG],
    "long-repair": ["repair", "--model", "long.skops", *LONG],
}


def furnish(folder: Path) -> None:
    """Data, models and claim files."""
    loan = pd.DataFrame(
        {
            "age": [18, 23, 29, 34, 38, 41, 47, 52, 58, 63, 69, 75],
            "sex": ["f", "m"] * 6,
            "income": [0, 14, 22, 25, 31, 38, 40, 52, 55, 60, 71, 99],
        }
    )
    approved = ["no"] * 6 + ["yes"] * 6
    loan.assign(approved=approved).to_csv(folder / "loan.csv", index=False)
    for name, weight in (("biased", 1.25), ("fair", 0.0)):
        skops.io.dump(_loan_model(loan, approved, weight), folder / f"{name}.skops")
        (folder / f"{name}.toml").write_text(_spec(name, "loan"))
    long = pd.DataFrame({SCHOOLING: LEVELS * 3, DEBTS: [0, 1, 2, 3, 4, 5, 6, 7, 9]})
    outcome = [YES] * 5 + [NO] * 4
    long.assign(outcome=outcome).to_csv(folder / "long.csv", index=False)
    skops.io.dump(_long_model(long, outcome), folder / "long.skops")
    skops.io.dump(_subset_sum(folder / "sum.csv"), folder / "sum.skops")
    (folder / "sum.toml").write_text(_spec("sum", "sum"))


def _loan_model(loan: pd.DataFrame, approved: list[str], weight: float):
    coded = make_column_transformer(
        (OneHotEncoder(drop=["f"]), ["sex"]), remainder="passthrough", verbose_feature_names_out=False
    )
    model = make_pipeline(coded, LogisticRegression()).fit(loan, approved)
    return _with(model, [weight, -0.0625, 0.125], -2.03125)


def _long_model(long: pd.DataFrame, outcome: list[str]):
    coded = make_column_transformer(
        (OneHotEncoder(categories=[LEVELS]), [SCHOOLING]), remainder="passthrough"
    )
    model = make_pipeline(coded, LogisticRegression()).fit(long, outcome)
    return _with(model, [-1.5, 0.25, 2.0, 1.0], -4.125)


def _subset_sum(path: Path, size: int = 44):
    """Whether a sum hits one of two neighbouring numbers: no budget here decides it."""
    random = np.random.default_rng(0)
    names = [*(f"b{i}" for i in range(size)), "sex"]
    rows = pd.DataFrame(random.integers(0, 2, (40, size + 1)), columns=names)
    rows.to_csv(path, index=False)
    weights = 2.0 * random.integers(2**40, 2**41, size)
    model = make_pipeline(LogisticRegression()).fit(rows, rows["sex"])
    return _with(model, [*weights, 1.0], -weights[: size // 2].sum() - 1.0)


def _with(model, weights: list[float], intercept: float):
    model[-1].coef_, model[-1].intercept_ = np.array([weights]), np.array([intercept])
    return model


def _spec(model: str, data: str) -> str:
    label = '\nlabel = "approved"' if data == "loan" else ""
    return (
        f'[model]\npath = "{model}.skops"\n[data]\npath = "{data}.csv"{label}\n[similarity]\nfree = ["sex"]\n'
    )


def printed(name: str, folder: Path) -> str:
    """What the command prints, the exit code behind it, and nothing that changes from run to run."""
    fitted = demo.train_model

    def rounded(X, y):
        """What a fit leaves open in its last digits, which differ between processors: fit to the end, and round."""
        model = fitted(X, y).set_params(tol=1e-9, max_iter=10_000).fit(X, y)
        model.coef_, model.intercept_ = model.coef_.round(2), model.intercept_.round(2)
        return model

    with contextlib.chdir(folder), mock.patch.object(demo, "train_model", rounded):
        done = CliRunner().invoke(cli, LINES[name])
    assert done.stderr == "", done.stderr
    return normal(f"{done.stdout}[exit code {done.exit_code}]\n")


def normal(text: str) -> str:
    """Seconds set to 0: in sentences, and in the table of several claims."""
    text = re.sub(r"\b\d+\.\d\d s\b", "0.00 s", text)
    return re.sub(r"^((?:FAIR|BIASED|UNKNOWN) .*)\d\.\d\d$", r"\g<1>0.00", text, flags=re.MULTILINE)


def main() -> None:
    """Write all of them again, and say which ones are new."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        furnish(Path(folder))
        for name in LINES:
            path, text = FOLDER / f"{name}.txt", printed(name, Path(folder))
            before = path.read_text(encoding="utf-8") if path.exists() else None
            if text != before:
                path.write_text(text, encoding="utf-8")
                print(f"{name}: {'new' if before is None else 'changed'}")  # noqa: T201
    for path in FOLDER.glob("*.txt"):
        if path.stem not in LINES:
            path.unlink()


if __name__ == "__main__":
    main()
