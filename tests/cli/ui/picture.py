"""The documentation's picture of the page: ``python -m tests.cli.ui.picture`` (`make picture`) takes it again, with Chromium.

A logistic regression on six columns of German Credit, one of them free and one within five years.
"""

import sys
import tempfile
import threading
from pathlib import Path

import skops.io
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.cli.ui.test_page import READING, answered, click, draft, mark, until
from tests.report.browser import Page, installed

import likewise as lw
from likewise.cli.ui.server import open_server

PICTURE = Path(__file__).parents[3] / "docs" / "ui.png"
COLUMNS = ["duration", "savings", "age", "housing", "sex-marital-status"]


def write(folder: Path) -> None:
    """Data and model."""
    data = lw.datasets.load_german()
    X = data.X[COLUMNS]
    coded = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    skops.io.dump(
        make_pipeline(coded, LogisticRegression(max_iter=1000)).fit(X, data.y), folder / "credit.skops"
    )
    X.assign(good=data.y).to_csv(folder / "applicants.csv", index=False)


def take(folder: Path, profile: Path) -> bytes:
    page = Page(installed(), profile)
    try:
        with open_server(str(folder), port=0, reading=READING) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            page.look(width=860)
            page.open(server.address)
            draft(page, "applicants.csv", "credit.skops", "good")
            mark(page, "sex-marital-status", "free")
            mark(page, "age", "within", "5")
            until(page, "/age/.test(at('words').innerText)")
            click(page, "verify")
            answered(page)
            page.run("at('folder').textContent = 'credit'; document.activeElement.blur()")
            picture = page.picture()
            server.shutdown()
            return picture
    finally:
        page.close()


if __name__ == "__main__":
    if installed() is None:
        sys.exit("no browser: install chromium, or name one with LIKEWISE_BROWSER")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        write(Path(folder))
        PICTURE.write_bytes(take(Path(folder), Path(profile)))
