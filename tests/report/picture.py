"""The README's picture of a report: ``python -m tests.report.picture`` (`make picture`) takes it again, with Chromium.

A credit model on nine columns of German Credit, and two applicants who may differ in their sex and marital status and by five years.
"""

import sys
import tempfile
from pathlib import Path

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.report.browser import Page, installed

import likewise as lw

PICTURE = Path(__file__).parents[2] / "docs" / "report.png"
WIDTH = 820
COLUMNS = [
    "checking-status",
    "duration",
    "credit-history",
    "purpose",
    "savings",
    "age",
    "housing",
    "job",
    "sex-marital-status",
]
BUDGET = 5  # seconds for each analysis


def write(folder: Path) -> Path:
    """The report."""
    data = lw.datasets.load_german()
    X = data.X[COLUMNS]
    coded = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    model = make_pipeline(coded, LogisticRegression(solver="liblinear")).fit(X, data.y)
    claim = lw.Space.from_data(X), lw.Similarity(free=["sex-marital-status"], within={"age": 5})
    result = lw.verify(model, *claim, X=X)
    return result.report(
        folder / "report.html",
        disparity=lw.measure(model, *claim, X=X),
        radius=lw.radius(model, *claim, lw.ProbabilityGap(0.2), X=X, budget=BUDGET),
        share=lw.share(model, *claim, budget=BUDGET),
        regions=lw.regions(model, *claim, budget=BUDGET),
        audit=lw.audit(model, *claim, X=X, budget=BUDGET),
    )


def take(report: Path, folder: Path, program: str) -> bytes:
    """The top of the page, down to where the answer ends and further analyses begin."""
    page = Page(program, folder)
    try:
        page.send("Emulation.setScrollbarsHidden", hidden=True)
        page.look(width=WIDTH)
        page.open(report.as_uri())
        end = page.run("Math.ceil(document.getElementById('disparity').getBoundingClientRect().top)")
        page.look(width=WIDTH, height=end - 24)
        return page.picture(whole=False)
    finally:
        page.close()


def main() -> None:
    program = installed()
    if program is None:
        sys.exit("no browser: install chromium, or name one with LIKEWISE_BROWSER")
    with tempfile.TemporaryDirectory() as folder:
        content = take(write(Path(folder)), Path(folder) / "browser", program)
    PICTURE.write_bytes(content)
    print(f"{PICTURE}: {len(content):,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
