"""Files of skops for `files`: each must be refused in words, or read and verified, and say what skops says.

A mutant is the file of a small model with one to three changes of its schema, its arrays or its members.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.fuzz.mutations import Format

from likewise.errors import UnsupportedModel

Files = dict[str, bytes]
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 255, 2**31, -(2**31), 2**63, 10**30),
    *(0.5, -1e308, float("nan"), float("inf"), "", "x", "null", "-1", "1e999", "[]", '"a"', [], {}, [1], {"a": 1}),
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 3, 7, 100, 2**15, 2**31 - 1, -(2**31), 2**62, -(2**62))
ALLOWED = (0, 1, 2, 3)  # exit codes: answers, and errors in words


def people(count: int = 40) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows that all models are fitted on."""
    drawn = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "age": drawn.integers(18, 70, count),
            "income": np.arange(count) % 9,
            "sex": drawn.integers(0, 2, count),
        }
    )
    return X, np.where(X.income + 3 * X.sex + X.age / 20 > 7, "yes", "no")


def originals() -> dict[str, bytes]:
    """Files of models with all kinds of parts that are looked at."""
    import skops.io
    from sklearn import ensemble, gaussian_process, neighbors, svm
    from sklearn.cluster import KMeans
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    coded = make_column_transformer((OneHotEncoder(min_frequency=2), ["income"]), (StandardScaler(), ["age"]))
    spline = make_column_transformer((SplineTransformer(n_knots=3), ["age"]), remainder="passthrough")
    models = {
        "logistic": LogisticRegression(),
        "coded": make_pipeline(coded, LogisticRegression()),
        "spline": make_pipeline(spline, FunctionTransformer(np.arctan), LogisticRegression()),
        "tree": DecisionTreeClassifier(max_depth=3),
        "forest": ensemble.RandomForestClassifier(2, max_depth=2, random_state=0),
        "boosting": ensemble.GradientBoostingClassifier(n_estimators=2, max_depth=2),
        "histograms": ensemble.HistGradientBoostingClassifier(
            max_iter=2, min_samples_leaf=4, categorical_features=[1]
        ),
        "machine": svm.SVC(),
        "sparse machine": make_pipeline(OneHotEncoder(handle_unknown="ignore"), svm.SVC()),
        "regressor": svm.SVR(kernel="linear"),
        "neighbours": neighbors.KNeighborsClassifier(algorithm="brute", metric="euclidean"),
        "centres": make_pipeline(KMeans(3, n_init=1, random_state=0), LogisticRegression()),
        "process": gaussian_process.GaussianProcessClassifier(optimizer=None),
        "network": MLPClassifier((3,), max_iter=20, random_state=0),
        "gradient": SGDClassifier(random_state=0),
        "bayes": GaussianNB(),
        "bagging": ensemble.BaggingClassifier(LogisticRegression(), 2, random_state=0),
    }
    X, y = people()
    files = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in models.items():
            files[name] = skops.io.dumps(model.fit(X, X.age if name == "regressor" else y))
    return files


def skops_mutants(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Damaged files, each with the name of the model that it was; the same for the same seed."""
    whole = originals()
    names = list(whole)
    for number in range(count):
        drawn = random.Random(f"{seed} {number}")
        name = names[number % len(names)]
        yield name, mutant(whole[name], drawn)


def mutant(content: bytes, drawn: random.Random) -> bytes:
    """A file with some changes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(drawn.choice((1, 1, 1, 2, 3))):
        change: Callable[[Files, random.Random], None] = drawn.choices(
            (change_schema, change_array, change_members), (10, 8, 1)
        )[0]
        change(files, drawn)
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as archive:
        warnings.simplefilter("ignore")
        for name, data in files.items():
            archive.writestr(name, data)
            if drawn.random() < 0.002:
                archive.writestr(name, data)
    return damage_bytes(made.getvalue(), drawn) if drawn.random() < 0.05 else made.getvalue()


def damage_bytes(data: bytes, drawn: random.Random) -> bytes:
    """Cut off, or with a few other bytes."""
    if not data or drawn.random() < 0.3:
        return data[: drawn.randrange(len(data) + 1)]
    changed = bytearray(data)
    for _ in range(drawn.randint(1, 4)):
        changed[drawn.randrange(len(changed))] = drawn.randrange(256)
    return bytes(changed)


def change_schema(files: Files, drawn: random.Random) -> None:
    """Another value at some place: an odd one, that of another place, or none."""
    try:
        schema = json.loads(files["schema.json"])
    except (KeyError, ValueError):
        return
    places = [place for place in _places(schema) if drawn.random() < 0.5 or place[1] in ("content", "file")]
    if not places:
        return
    held, key = drawn.choice(places)
    other, other_key = drawn.choice(places)
    action = drawn.randrange(6)
    if action == 0:
        held[key] = drawn.choice(ODD)
    elif action == 1:
        held[key] = json.dumps(drawn.choice(ODD[:22]))
    elif action == 2:
        del held[key]
    elif action == 3:
        held[key] = json.loads(json.dumps(other[other_key]))
    elif action == 4:
        alike = [place for place in places if place[1] == key] or places
        held[key] = json.loads(json.dumps((one := drawn.choice(alike))[0][one[1]]))
    elif isinstance(held, list):
        held.insert(key, json.loads(json.dumps(held[key])))
    else:
        held[str(key) + "x"] = held.pop(key)
    files["schema.json"] = json.dumps(schema).encode()


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    """All places of a schema but numbers of values."""
    keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
    for key in keys:
        if key != "__id__":
            yield part, key
            yield from _places(part[key])


def change_array(files: Files, drawn: random.Random) -> None:
    """Another entry, type or shape of an array, or an array in the place of another."""
    arrays = [name for name in files if name.endswith((".npy", ".npz"))]
    if not arrays:
        return
    name = drawn.choice(arrays)
    if drawn.random() < 0.1:
        files[name] = files[drawn.choice(arrays)]
    elif drawn.random() < 0.1:
        files[name] = damage_bytes(files[name][:130], drawn) + files[name][130:]
    elif name.endswith(".npy"):
        files[name] = _other_array(files[name], drawn)
    else:
        with zipfile.ZipFile(io.BytesIO(files[name])) as archive:
            inner = {member: archive.read(member) for member in archive.namelist()}
        change_array(inner, drawn)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for member, data in inner.items():
                archive.writestr(member, data)
        files[name] = made.getvalue()


def _other_array(data: bytes, drawn: random.Random) -> bytes:
    try:
        array = np.load(io.BytesIO(data)).copy()
    except Exception:  # noqa: BLE001 - one that was damaged before
        return data
    action = drawn.randrange(6)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if action <= 2 and array.size:
            field = drawn.choice(array.dtype.names) if array.dtype.names else ...
            flat = array.reshape(-1) if field is ... else array[field].reshape(-1)
            number = np.array(drawn.choice(NUMBERS)).astype(flat.dtype if flat.dtype.kind in "biuf" else int)
            flat[drawn.randrange(len(flat))] = number
        elif action == 3:
            array = array[: drawn.randrange(len(array) + 1)] if array.ndim else array.reshape(1)
        elif action == 4:
            array = np.concatenate([array, array]) if array.ndim else np.stack([array, array])
        elif array.dtype.names is None:
            kind = drawn.choice((np.int32, np.int64, np.float32, np.float64, np.uint8, bool, "U3", ">f8"))
            array = array.astype(kind) if array.dtype.kind in "biuf" else array.T
    written = io.BytesIO()
    np.save(written, array)
    return written.getvalue()


def change_members(files: Files, drawn: random.Random) -> None:
    """A member less, or with other bytes."""
    name = drawn.choice(list(files))
    if drawn.random() < 0.5:
        del files[name]
        files.setdefault("schema.json", b"{}")
    else:
        files[name] = damage_bytes(files[name], drawn)


# -- asking -------------------------------------------------------------------------------------------------


def ask(content: bytes, folder: Path, *, numbers: bool = False) -> tuple[int, str]:
    """The exit code of `likewise verify` and what it says, in this process."""
    from click.testing import CliRunner

    from likewise.cli.app import cli

    if not (folder / "d.csv").exists():
        X, y = people()
        X.assign(approved=y).to_csv(folder / "d.csv", index=False)
    (folder / "m.skops").write_bytes(content)
    asked = ["--property", "score-gap:1"] if numbers else []
    words = [
        "verify",
        "--model",
        str(folder / "m.skops"),
        "--data",
        str(folder / "d.csv"),
        "--label",
        "approved",
    ]
    found = CliRunner().invoke(cli, [*words, "--free", "sex", "--budget", "0.2", "--jobs", "1", *asked])
    return found.exit_code, found.output


def our_answers(model: Any, rows: pd.DataFrame) -> list[Any]:
    """What a loaded model says, if Likewise reads it over the space of the rows."""
    import likewise as lw
    from likewise.importers.files import reading_parts
    from likewise.importers.imported_model import import_model

    space = lw.Space({name: lw.Integer(int(rows[name].min()), int(rows[name].max())) for name in rows})
    with warnings.catch_warnings(), reading_parts("model.skops"):
        warnings.simplefilter("ignore")
        with contextlib.suppress(UnsupportedModel):
            import_model(model, space, rows=space.encode(rows), like=rows)
        return [0, np.asarray(model.predict(rows))]


def their_answers(path: str, rows: pd.DataFrame) -> list[Any]:
    """What skops makes of the same bytes."""
    import skops.io

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trusted = skops.io.get_untrusted_types(file=path)
        return [0, np.asarray(skops.io.load(path, trusted=trusted).predict(rows))]


SKOPS = {
    "skops": Format(
        ".skops",
        lambda: list(originals().values()),
        lambda drawn, content: mutant(content, drawn),
        our_answers,
        their_answers,
        lambda: people()[0],
    )
}
