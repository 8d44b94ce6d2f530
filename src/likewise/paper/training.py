"""Trains the paper's models, and keeps the fits.

Stratified split, a quarter for testing, seed 42, no scaling, integer codes. A fit is kept in a file whose
name has the digest of everything it depends on: rows, labels, settings, and the versions of scikit-learn and
NumPy. So a file that is there is the right one, and nothing is ever refitted by mistake or taken by mistake.
The files are pickles (joblib), which run code when they are read: the folder must be the user's own.
"""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.paper.published import Published, estimator_settings
from likewise.search.workers import SAFE_PATH, starting_processes
from likewise.spec.disk import write_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.datasets import Dataset

SPLIT = {"test_size": 0.25, "random_state": 42}
FORMAT = 1  # of the files; raise it when `Fit` changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A fitted model, its accuracies, the digest of what it was made from, and how long fitting took."""

    model: Any
    train: float
    test: float
    digest: str
    seconds: float


def cache_folder() -> Path:
    """Where fits and finished cells are kept unless a folder is named: the user's cache folder."""
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(root) if root else Path.home() / ".cache") / "likewise"


def matrices(data: Dataset, *, masked: bool) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows and labels as arrays, protected columns zero if `masked`."""
    columns = [np.asarray(data.X[name], dtype=np.float64) for name in data.space.names]
    X = np.stack(columns, axis=1)
    if masked:
        X[:, [data.space.names.index(name) for name in data.protected]] = 0
    return X, np.asarray(data.y, dtype=np.int64)


def digest_of(row: Published, data: Dataset) -> str:
    """What a fit depends on, as a short digest."""
    import sklearn

    X, y = matrices(data, masked=row.masked)
    parts = [
        str(FORMAT),
        repr(estimator_settings(row)),
        repr(SPLIT),
        sklearn.__version__,
        np.__version__,
        repr(X.shape),
    ]
    digest = hashlib.sha256("\n".join(parts).encode())
    digest.update(X.tobytes())
    digest.update(y.tobytes())
    return digest.hexdigest()[:20]


def fit_all(
    wanted: Sequence[tuple[Published, Dataset]], folder: Path, *, jobs: int = 2
) -> Iterator[tuple[Published, Fit]]:
    """The fit of each model as it gets ready: from the folder where it is known, else in `jobs` processes."""
    import joblib

    missing = []
    for row, data in wanted:
        known = load_fit(row, digest_of(row, data), folder)
        if known is None:
            missing.append((row, data))
        else:
            yield row, known
    # The longest first, so that no process is left with one of them at the end.
    missing.sort(key=lambda pair: -len(pair[1].y))
    if len(missing) < 2 or jobs == 1:
        for row, data in missing:
            yield row, fit(row, *matrices(data, masked=row.masked), digest_of(row, data), folder)
        return
    tasks = (
        joblib.delayed(_fit_named)(row, *matrices(data, masked=row.masked), digest_of(row, data), folder)
        for row, data in missing
    )
    with starting_processes(SAFE_PATH):
        fits = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    yield from fits


def load_fit(row: Published, digest: str, folder: Path) -> Fit | None:
    """The fit with this digest, if it was made before."""
    import joblib

    path = _fit_path(row, digest, folder)
    if not path.is_file():
        return None
    found = joblib.load(path)
    return found if isinstance(found, Fit) and found.digest == digest else None


def fit(
    row: Published, X: NDArray[np.float64], y: NDArray[np.int64], digest: str, folder: Path | None = None
) -> Fit:
    """Fit one model as the paper did, and keep it if there is a folder."""
    from time import perf_counter

    import joblib
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import train_test_split

    train, test, train_labels, test_labels = train_test_split(X, y, stratify=y, **SPLIT)
    started = perf_counter()
    with warnings.catch_warnings():
        # The polynomial models are meant to stop after so many iterations, converged or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_estimator(row).fit(train, train_labels)
    done = Fit(
        model=model,
        seconds=perf_counter() - started,
        train=float(model.score(train, train_labels)),
        test=float(model.score(test, test_labels)),
        digest=digest,
    )
    if folder is not None:
        path, packed = _fit_path(row, digest, folder), io.BytesIO()
        joblib.dump(done, packed)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, packed.getvalue())
    return done


def _fit_named(
    row: Published, X: NDArray[np.float64], y: NDArray[np.int64], digest: str, folder: Path
) -> tuple[Published, Fit]:
    return row, fit(row, X, y, digest, folder)


def make_estimator(row: Published) -> Any:
    """The paper's estimator, not fitted yet."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    name, parameters = estimator_settings(row)
    return {"LogisticRegression": LogisticRegression, "SVC": SVC}[name](**parameters)


def _fit_path(row: Published, digest: str, folder: Path) -> Path:
    return folder / "fits" / f"{row.key}-{digest}.joblib"
