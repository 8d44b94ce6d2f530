"""Builds certificates by hand, from the specification alone: nothing here comes from the checker or the engine.

A certificate is a list of JSON values, one a line. `sealed` writes them as lines and fills in the digests; `packed` compresses.
"""

import copy
import gzip
import hashlib
import io
import json
from fractions import Fraction

from likewise_check import CheckReport, check

SECTIONS = ("space", "similarity", "property", "model")


def number(value: int | str | Fraction) -> str:
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    return str(value)


def continuous(name: str, lo=0, hi=1) -> dict:
    return {"name": name, "kind": "continuous", "lo": number(lo), "hi": number(hi)}


def integer(name: str, lo=0, hi=3) -> dict:
    return {"name": name, "kind": "integer", "lo": number(lo), "hi": number(hi)}


def categorical(name: str, levels) -> dict:
    return {"name": name, "kind": "categorical", "levels": list(levels)}


def ordinal(name: str, levels) -> dict:
    return {"name": name, "kind": "ordinal", "levels": list(levels)}


def worth(value) -> dict:
    return {"number": number(value)}


def constraint(terms, bound, text="") -> dict:
    written = [[k, [*map(number, c)] if isinstance(c, (list, tuple)) else number(c)] for k, c in terms]
    return {"text": text, "terms": written, "bound": number(bound)}


SAME = {"kind": "same"}
FREE = {"kind": "free"}


def within(tolerance) -> dict:
    return {"kind": "within", "tolerance": number(tolerance)}


def between(low, high) -> dict:
    return {"kind": "between", "low": number(low), "high": number(high)}


def pairs(*allowed) -> dict:
    return {"kind": "pairs", "allowed": [list(pair) for pair in allowed]}


def line(feature: int, weight, slope=1, offset=0) -> dict:
    return {"feature": feature, "weight": number(weight), "slope": number(slope), "offset": number(offset)}


def table(feature: int, weight, entries) -> dict:
    return {"feature": feature, "weight": number(weight), "table": [number(e) for e in entries]}


def pieces(feature: int, weight, cuts, polys) -> dict:
    rows = [[number(c) for c in poly] for poly in polys]
    return {"feature": feature, "weight": number(weight), "cuts": [number(c) for c in cuts], "pieces": rows}


def affine(bias, columns, *, labels=("no", "yes"), zero="lower", link="logistic", operations=4) -> dict:
    return {
        "family": "test",
        "body": {"kind": "affine", "bias": number(bias), "columns": list(columns)},
        "head": {"labels": None if labels is None else list(labels), "zero": zero, "link": link},
        "rounding": {
            "sizes": [at_least_one(column["weight"]) for column in columns],
            "constant": at_least_one(bias),
            "operations": max(operations, len(columns)),
        },
    }


def at_least_one(value) -> str:
    """The size of a number, or 1: what a description of rounding must state at least."""
    known = Fraction(float.fromhex(value)) if "0x" in str(value) else Fraction(value)
    return number(max(Fraction(1), abs(known)))


def decision(margin=0) -> dict:
    return {"kind": "decision", "margin": number(margin)}


def score(delta) -> dict:
    return {"kind": "score", "delta": number(delta)}


def probability(delta) -> dict:
    return {"kind": "probability", "delta": number(delta)}


def _start(kind, features, relations, prop, model, constraints) -> list:
    start = [
        {
            "likewise-certificate": 1,
            "kind": kind,
            "tool": "test",
            "words": "",
            "digests": dict.fromkeys(SECTIONS, ""),
        },
        {"space": {"features": list(features), "constraints": list(constraints)}},
        {"similarity": list(relations)},
        {"property": prop},
        {"model": model},
    ]
    return copy.deepcopy(start)  # so that tests may change one certificate without changing others


def proof(features, relations, prop, model, nodes, *, constraints=(), clearance=0, covers=False) -> list:
    end = {"nodes": len(nodes), "clearance": number(clearance), "covers_floating_point": covers, "sha256": ""}
    return [*_start("proof", features, relations, prop, model, constraints), *nodes, {"end": end}]


def witness(features, relations, prop, model, x, other, scores, *, constraints=()) -> list:
    pair = {"x": [*map(number, x)], "other": [*map(number, other)], "scores": [*map(number, scores)]}
    return [
        *_start("witness", features, relations, prop, model, constraints),
        {"witness": pair},
        {"end": {"sha256": ""}},
    ]


def written(value) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def sealed(values: list) -> list[bytes]:
    """The lines, with right digests wherever the places for them exist."""
    lines = [written(value) for value in values]
    header = values[0]
    if isinstance(header, dict) and isinstance(header.get("digests"), dict):
        right = {
            name: hashlib.sha256(raw).hexdigest() for name, raw in zip(SECTIONS, lines[1:5], strict=False)
        }
        digests = {name: right.get(name, old) for name, old in header["digests"].items()}
        lines[0] = written({**header, "digests": digests})
    end = values[-1]
    if isinstance(end, dict) and isinstance(end.get("end"), dict) and "sha256" in end["end"]:
        digest = hashlib.sha256(joined(lines[:-1])).hexdigest()
        lines[-1] = written({**end, "end": {**end["end"], "sha256": digest}})
    return lines


def joined(lines: list[bytes]) -> bytes:
    return b"".join(raw + b"\n" for raw in lines)


def packed(lines: list[bytes]) -> bytes:
    return gzip.compress(joined(lines), compresslevel=1, mtime=0)


def checked(values: list, **options) -> CheckReport:
    return check(io.BytesIO(packed(sealed(values))), **options)
