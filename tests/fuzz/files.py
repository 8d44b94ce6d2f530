"""Files that are damaged or crafted: what Likewise reads in them is what the library reads, or they are refused.

    python -m tests.fuzz.files --formats lightgbm xgboost-json --mutants 1000 --seed 7

A format is a line of `FORMATS`: how valid files are made, how one is mutated, how Likewise and how the library predict with it. Both readings are processes of their own, so that nothing
that crashes or hangs ends the run. Outcomes of a mutant:

    refused     in words
    same        both predict the same of all rows
    unread      Likewise reads it, and the library does not
    DIFFERENT   both read it, and predict otherwise
    CRASH       Likewise crashed, or did not end
    INTERNAL    Likewise raised what is no refusal
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pickle
import random
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 60  # for one reading of a file
BAD = ("DIFFERENT", "CRASH", "INTERNAL")
WORDS = (
    *("0", "-1", "1", "2", "3", "7", "-0", "00", "1_0", "４", "+1", "1.", ".5", "1e1", "0x1", " 1", "1 ", "1e-40"),
    *("2147483647", "2147483648", "4294967296", "18446744073709551617", "nan", "NaN", "inf", "Infinity", "1e999"),
    *("-1e999", "0.1", "0.30000000000000004", "1.00000005960464477539062500000000001", "true", "null", '"1"', "[]"),
)
INSERTED = ("\r", "\n", "\0", "\t", " ", "=", "\n\n", "\r\n", "\u0661", "\\u0061", "_", ",", "{}", "-", "\ufeff")
NUMBER = re.compile(r"-?\d[\d.]*(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Format:
    """How files of one kind are made, mutated, and predicted with by Likewise (from the loaded model) and by the library (from the path)."""

    suffix: str
    make: Callable[[], list[bytes]]
    mutate: Callable[[random.Random, bytes], bytes]
    ours: Callable[[Any, Any], list[Any]]
    theirs: Callable[[str, Any], list[Any]]
    rows: Callable[[], Any]


# -- mutations ---------------------------------------------------------------------------------------------


def mutate_bytes(draw: random.Random, content: bytes) -> bytes:
    """Some bytes other ones, left out, there twice, or moved."""
    made = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        at, size = draw.randrange(len(made)), draw.choice((1, 1, 2, 4, 8, 50))
        match draw.randrange(4):
            case 0:
                made[at] = draw.randrange(256)
            case 1:
                del made[at : at + size]
            case 2:
                made[at:at] = made[at : at + size]
            case 3:
                made[at : at + size] = bytes([draw.choice((0, 1, 127, 128, 255))]) * size
        made = made or bytearray(b"x")
    return bytes(made)


def mutate_text(draw: random.Random, content: bytes) -> bytes:
    """A number other, a line there twice or elsewhere, a sign between."""
    text = content.decode("utf-8")
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        lines = text.split("\n")
        at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        match draw.randrange(6):
            case 0 | 1:
                found = list(NUMBER.finditer(lines[at]))
                if found:
                    one = draw.choice(found)
                    lines[at] = lines[at][: one.start()] + draw.choice(WORDS) + lines[at][one.end() :]
            case 2:
                place = draw.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:place] + draw.choice(INSERTED) + lines[at][place:]
            case 3:
                lines.insert(other, lines[at])
            case 4:
                lines[at], lines[other] = lines[other], lines[at]
            case 5:
                del lines[at]
        text = "\n".join(lines)
    return text.encode()


def mutate_lightgbm(draw: random.Random, content: bytes) -> bytes:
    """Text, often with sizes of trees that fit."""
    if draw.random() < 0.1:
        return mutate_bytes(draw, content)
    text = mutate_text(draw, content).decode()
    if draw.random() < 0.7:
        head, *blocks = re.split(r"(?=^Tree=|^end of trees)", text, flags=re.MULTILINE)
        sizes = " ".join(str(len(block.encode())) for block in blocks[:-1])
        text = re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", head) + "".join(blocks)
    return text.encode()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON document, of long lists some."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*path, key)
        yield from places(one, (*path, key))


def mutate_document(draw: random.Random, document: Any) -> Any:
    """A document with fields that are other, gone, moved, or of other names."""
    for _ in range(draw.choice((1, 1, 1, 2))):
        *path, key = draw.choice(list(places(document)))
        inside = document
        for step in path:
            inside = inside[step]
        value, name = inside[key], str(key)
        match draw.randrange(8):
            case 0:
                del inside[key]
            case 1 if isinstance(inside, dict):
                inside[draw.choice((name + "_", name.upper(), "unknown", *inside))] = inside.pop(key)
            case 2 if isinstance(value, list):
                draw.shuffle(value)
            case 3 if isinstance(value, list):
                value.append(draw.choice(value or [0]))
            case 4 if isinstance(value, (int, float)) or (isinstance(value, str) and value.isdigit()):
                moved = float(value) + draw.choice((-1, 1, 0.5, 1e-9, 2**32, 2**31))
                inside[key] = str(moved) if isinstance(value, str) else draw.choice((moved, int(moved)))
            case 5:
                inside[key] = draw.choice((None, True, [], {}, 0, -1, 2, "x", str(value), 1e300, [value]))
            case 6 if isinstance(inside, list):
                inside[draw.randrange(len(inside))] = value
            case _:
                siblings = list(inside) if isinstance(inside, dict) else range(len(inside))
                inside[key] = inside[draw.choice(siblings)]
        document = json.loads(json.dumps(document))
    return document


def mutate_json(draw: random.Random, content: bytes) -> bytes:
    """A document, or its text; sometimes with keys that are there twice."""
    kind = draw.random()
    if kind < 0.3:
        return mutate_text(draw, content.replace(b",", b",\n") if b"\n" not in content else content)
    if kind < 0.35:
        return mutate_bytes(draw, content)
    document = mutate_document(draw, json.loads(content))
    if kind > 0.9:
        text = json.dumps(document)
        keys = list(re.finditer(r'"(\w+)": (\[[^][{}]*\]|"[^"{}]*"|[-\w.]+)', text))
        one, other = draw.choice(keys), draw.choice(keys)
        return f"{text[: one.start()]}{one[0]}, \"{one[1]}\": {other[2]}{text[one.end() :]}".encode()
    return json.dumps(document).encode()


def mutate_ubj(draw: random.Random, content: bytes) -> bytes:
    """A document in UBJ, or its bytes."""
    from likewise.importers.xgboost.ubj import parse_ubj

    if draw.random() < 0.5:
        return mutate_bytes(draw, content)
    plain = json.loads(json.dumps(parse_ubj(content), default=lambda array: array.tolist()))
    return to_ubj(mutate_document(draw, plain))


SINGLES = ("base_weights", "loss_changes", "split_conditions", "sum_hessian")
KINDS = {"default_left": "U", "split_type": "U", "values": "i", "categories_segments": "L", "categories_sizes": "L"}
DTYPES = {"d": ">f4", "U": ">u1", "i": ">i1", "l": ">i4", "L": ">i8"}
INTS = ("categories", "categories_nodes", "left_children", "right_children", "parents", "split_indices")


def to_ubj(value: Any, key: str = "") -> bytes:
    """UBJ as XGBoost writes it, arrays of numbers by their names."""

    def long(number: int) -> bytes:
        return b"L" + number.to_bytes(8, "big", signed=True)

    if isinstance(value, dict):
        parts = (long(len(k.encode())) + k.encode() + to_ubj(v, k) for k, v in value.items())
        return b"{" + b"".join(parts) + b"}"
    kind = "d" if key in SINGLES else KINDS.get(key, "l" if key in INTS else "")
    if isinstance(value, list) and kind:
        try:
            array = np.array(value).astype(DTYPES[kind])
            return f"[${kind}#".encode() + long(array.size) + array.tobytes()
        except (ValueError, TypeError, OverflowError):
            pass
    if isinstance(value, list):
        return b"[#" + long(len(value)) + b"".join(map(to_ubj, value))
    if isinstance(value, str):
        return b"S" + long(len(value.encode())) + value.encode()
    if isinstance(value, bool) or value is None:
        return {True: b"T", False: b"F", None: b"Z"}[value]
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return long(value)
    return b"D" + np.array(value, dtype=">f8").tobytes()


# -- boosters ----------------------------------------------------------------------------------------------


def numbers() -> Any:
    """Rows of two numbers and a category, with what is seldom seen among them."""
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(400, 3))
    rows[:, 2] = draw.integers(-1, 9, 400)
    rows[::9, 0], rows[1::9, 1], rows[2::9, 2] = np.nan, 0.0, np.nan
    rows[3::9, 0], rows[4::9, 1] = 1e-36, draw.choice([3e38, -1e300, 40.0, 400.0], len(rows[4::9]))
    return rows


def learning() -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(240, 3))
    X[:, 2] = draw.integers(0, 5, 240)
    return X, (X[:, 0] + (X[:, 2] == 3) > 0).astype(int) + (X[:, 1] > 1)


def lightgbm_files() -> list[bytes]:
    import lightgbm

    X, y = learning()
    more = {"verbose": -1, "num_threads": 1, "min_data_per_group": 5, "cat_smooth": 1, "num_leaves": 5}
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7, "objective": "binary"}
    kinds = ({"objective": "binary"}, {"objective": "multiclass", "num_class": 3}, {"objective": "poisson"}, forest)
    made = []
    for kind in kinds:
        rows = lightgbm.Dataset(X, np.minimum(y, 1) if kind["objective"] == "binary" else y, categorical_feature=[2])
        made.append(lightgbm.train({**more, **kind}, rows, 3).model_to_string().encode())
    return made


def our_lightgbm(model: Any, rows: Any) -> list[Any]:
    from likewise.importers.lightgbm import answers
    from likewise.importers.lightgbm.forest import import_lightgbm

    import_lightgbm(model.stored, family="model", kind=None)
    alone = answers.StoredAnswers(model.stored)
    return [alone.decision_function(rows), alone.predict_proba(rows) if "poisson" not in model.stored.objective else 0]


def their_lightgbm(path: str, rows: Any) -> list[Any]:
    import lightgbm

    model = lightgbm.Booster(model_file=path)
    averaged = "\naverage_output\n" in Path(path).read_text()
    given = model.predict(rows)
    raw = model.predict(rows, raw_score=True) / (model.current_iteration() if averaged else 1)
    return [raw, 0 if model.dump_model()["objective"] == "poisson" else two_columns(given)]


def two_columns(given: Any) -> Any:
    return given if given.ndim == 2 else np.stack([1 - given, given], axis=1)


def xgboost_files(kind: str) -> list[bytes]:
    import xgboost

    X, y = learning()
    more, made = {"nthread": 1, "max_depth": 2}, []
    for objective in ({"objective": "binary:logistic"}, {"objective": "multi:softprob", "num_class": 3}):
        target = np.minimum(y, 1) if "num_class" not in objective else y
        rows = xgboost.DMatrix(X, target, feature_types=["q", "q", "c"], enable_categorical=True)
        made.append(bytes(xgboost.train({**more, **objective}, rows, 3).save_raw(kind)))
    return made


def our_xgboost(model: Any, rows: Any) -> list[Any]:
    from likewise.importers.xgboost import answers
    from likewise.importers.xgboost.forest import import_xgboost

    import_xgboost(model.model.stored, family="model", kind=None, rounds=model.model.rounds)
    alone = answers.StoredAnswers(model.model)
    return [alone.decision_function(rows), alone.predict_proba(rows)]


def their_xgboost(path: str, rows: Any) -> list[Any]:
    import xgboost

    model = xgboost.Booster()
    model.load_model(path)
    best = model.attr("best_iteration")
    span = (0, 0 if best is None else int(best) + 1)
    made = [model.inplace_predict(rows, iteration_range=span, predict_type=kind) for kind in ("margin", "value")]
    return [made[0], two_columns(made[1])]


def people() -> Any:
    import pandas as pd

    rows = pd.DataFrame(numbers(), columns=["a", "b", "c"])
    return rows.assign(c=rows["c"].fillna(-7).astype(int).astype(str), d=np.array(list("xyzw"))[np.arange(400) % 4])


def catboost_files(kind: str) -> list[bytes]:
    import catboost
    import pandas as pd

    X, y = learning()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame = frame.assign(c=frame["c"].astype(int).astype(str), d=np.array(list("xyz"))[np.arange(240) % 3])
    frame.loc[::11, "a"] = np.nan
    more = {"iterations": 3, "depth": 2, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    settings = ({"max_ctr_complexity": 2}, {"grow_policy": "Lossguide"}, {"one_hot_max_size": 9})
    made = []
    for one in settings:
        model = catboost.CatBoostClassifier(**more, **one).fit(frame, np.minimum(y, 1), cat_features=["c", "d"])
        with tempfile.TemporaryDirectory() as folder:
            model.save_model(f"{folder}/model", format=kind)
            made.append(Path(f"{folder}/model").read_bytes())
    return made


def our_catboost(model: Any, rows: Any) -> list[Any]:
    from likewise.importers.catboost.answers import StoredAnswers
    from likewise.importers.catboost.forest import import_catboost

    import_catboost(model.stored, family="model", kind=None)
    alone = StoredAnswers(model.stored)
    return [alone.decision_function(rows), alone.predict(rows).astype(str)]


def their_catboost(path: str, rows: Any) -> list[Any]:
    import catboost

    model = catboost.CatBoost().load_model(path, format=path.rpartition(".")[2])
    asked = [model.predict(rows, prediction_type=kind, thread_count=1) for kind in ("RawFormulaVal", "Class")]
    return [asked[0], np.ravel(asked[1]).astype(str)]


FORMATS = {
    "lightgbm": Format(".txt", lightgbm_files, mutate_lightgbm, our_lightgbm, their_lightgbm, numbers),
    "xgboost-json": Format(".json", lambda: xgboost_files("json"), mutate_json, our_xgboost, their_xgboost, numbers),
    "xgboost-ubj": Format(".ubj", lambda: xgboost_files("ubj"), mutate_ubj, our_xgboost, their_xgboost, numbers),
    "catboost-json": Format(".json", lambda: catboost_files("json"), mutate_json, our_catboost, their_catboost, people),
    "catboost-cbm": Format(".cbm", lambda: catboost_files("cbm"), mutate_bytes, our_catboost, their_catboost, people),
}


# -- readings ----------------------------------------------------------------------------------------------


def serve(name: str, side: str) -> None:
    """In a process: answer paths on standard input with an outcome and predictions."""
    from likewise.errors import LikewiseError
    from likewise.importers.files import load_model

    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    one = FORMATS[name]
    rows = one.rows()
    for line in sys.stdin:
        path = line.strip()
        try:
            made: tuple[str, Any] = "read", one.ours(load_model(path), rows) if side == "ours" else one.theirs(path, rows)
        except LikewiseError as error:
            made = "refused", str(error)
        except Exception as error:
            made = "INTERNAL" if side == "ours" else "refused", repr(error)
        pickle.dump(made, stream)
        stream.flush()


class Reading:
    """A process that reads files, started anew where it has crashed or hangs."""

    def __init__(self, name: str, side: str) -> None:
        self.command = [sys.executable, "-m", "tests.fuzz.files", "--serve", name, side]
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, path: Path) -> tuple[str, Any]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            )
        self.process.stdin.write(f"{path}\n".encode())
        try:
            if not select.select([self.process.stdout], [], [], SECONDS)[0]:
                raise EOFError
            found: tuple[str, Any] = pickle.load(self.process.stdout)
        except (EOFError, pickle.UnpicklingError):
            self.close()
            return "CRASH", "crashed, or did not end"
        return found

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def same(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether scores are the same to the last bit, and what is made of them nearly."""
    scores = [np.asarray(one[0], dtype=np.float64) for one in (ours, theirs)]
    made = [np.asarray(one[1]) for one in (ours, theirs)]
    if not np.array_equal(*scores, equal_nan=True):
        return False
    if made[0].dtype.kind == "U":
        return bool(np.array_equal(*made))
    return made[0].shape == made[1].shape and np.allclose(*made, rtol=1e-5, atol=1e-6, equal_nan=True)


def run(name: str, mutants: int, seed: int, kept: Path | None = None) -> collections.Counter[str]:
    """The outcomes of some mutants; files that come to no good are kept in a folder."""
    one, counts = FORMATS[name], collections.Counter[str]()
    ours, theirs = Reading(name, "ours"), Reading(name, "theirs")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{one.suffix}"
        valid = one.make()
        for number in range(-len(valid), mutants):
            draw = random.Random(f"{name} {seed} {number}")
            content = draw.choice(valid) if number >= 0 else valid[number]
            path.write_bytes(content if number < 0 else one.mutate(draw, content))
            outcome, made = ours.ask(path)
            if outcome == "read":
                outcome, other = theirs.ask(path)
                outcome = ("same" if same(made, other) else "DIFFERENT") if outcome == "read" else "unread"
            if number < 0:
                assert outcome == "same", f"a valid file is {outcome}: {made}"
                continue
            counts[outcome] += 1
            if outcome in BAD and kept is not None:
                (kept / f"{name}-{seed}-{number}{one.suffix}").write_bytes(path.read_bytes())
                print(f"{name} {number}: {outcome} {made if isinstance(made, str) else ''}", flush=True)
    ours.close()
    theirs.close()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.files")
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=FORMATS)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None, help="a folder for files that come to no good")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve(*chosen.serve)
        return 0
    bad = 0
    for name in chosen.formats:
        start, counts = time.process_time(), run(name, chosen.mutants, chosen.seed, chosen.keep)
        bad += sum(counts[outcome] for outcome in BAD)
        print(f"{name}: {dict(counts)}, {time.process_time() - start:.0f} s", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
