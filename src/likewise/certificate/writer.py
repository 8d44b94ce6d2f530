"""Writer: streams a certificate, line by line, into a compressed file; memory does not grow with the proof.

writer = Writer(file, kind="proof", words=..., lines=...)
writer.split(variable, at, after) / writer.leaf(rule, way, multipliers)        depth first, left before right
writer.end(clearance=..., covers_floating_point=...)

Space, similarity, property and model are lines of their own. Numbers are exact: whole numbers in decimal, dyadic rationals (every double is one) in hexadecimal, other
rationals as fractions. A line is canonical (fixed key order, no spaces), so that its digest identifies it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, BinaryIO, Literal

from likewise import __version__
from likewise.cells.leaf import InnerLimits, PartBound, PartDifference, PartLine, PartOfLeaf
from likewise.errors import CertificateError
from likewise.families.registry import family_of, family_with_rule
from likewise.families.scored_model import Model
from likewise.model.head import Head
from likewise.spec.allowance import Allowance
from likewise.spec.along_parts import ResolvedAlong, ResolvedCase
from likewise.spec.distance import Cost, Distance, SquaredForm
from likewise.spec.enclosure import Enclosure
from likewise.spec.features import Continuous, Feature, Integer, Level
from likewise.spec.numbers import format_number, format_numbers
from likewise.spec.pairs import PairSpace, constraint_terms
from likewise.spec.similarity import Relation
from likewise.spec.space import Space

VERSION = 1
COMPRESSION = 6


# Bodies whose terms are rows that the model was fitted on, number by number: other kernels come to sums over rows.
BODIES_OF_ROWS = (b'"kind":"rbf"', b'"kind":"mixed"')


def holds_rows(model_line: bytes) -> bool:
    """Whether a model line has rows of the training data in it. No name can look like a key: quotes in it
    are escaped."""
    return any(kind in model_line for kind in BODIES_OF_ROWS)


class Writer:
    """One certificate being written. `lines` are space, similarity, property and model, in this order."""

    def __init__(
        self, file: BinaryIO, *, kind: Literal["proof", "witness"], words: str, lines: Sequence[bytes]
    ) -> None:
        # No name and no time in the gzip header: the same proof gives the same bytes.
        self._gzip = gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION, fileobj=file, mtime=0)
        self._digest = hashlib.sha256()
        self.nodes = 0
        names = ("space", "similarity", "property", "model")
        self.digests = {
            name: hashlib.sha256(part).hexdigest() for name, part in zip(names, lines, strict=True)
        }
        self._write(
            json_line(
                {
                    "likewise-certificate": VERSION,
                    "kind": kind,
                    "tool": f"likewise {__version__}",
                    "words": words,
                    "digests": self.digests,
                }
            )
        )
        for part in lines:
            self._write(part)

    def split(self, variable: int, at: float, after: float | None = None) -> None:
        """The node cuts a variable, at a double or between it and the one `after` it; its left child's nodes come
        next, then its right child's."""
        self._node(["split", variable, format_number(at), *([] if after is None else [format_number(after)])])

    def split_inner(self, quantity: Sequence[Any], at: float) -> None:
        """The node cuts a quantity inside the model, named as its family does it; both parts have `at`."""
        self._node([*quantity, format_number(at)])

    def cases(self, cubes: Sequence[Sequence[Sequence[tuple[int, bool]]]] | None = None) -> None:
        """The first node of a proof about several classes; then comes a tree of cells a case."""
        known = () if cubes is None else ([[[list(pair) for pair in cube] for cube in of] for of in cubes],)
        self._node(["cases", *known])

    def leaf(
        self,
        rule: str,
        way: Fraction | None = None,
        multipliers: Sequence[Fraction] = (),
        hints: Sequence[int] = (),
        rivals: tuple[int, int] | None = None,
    ) -> None:
        """The node is closed by a rule; in a case of several classes by two of its conditions."""
        parts: list[Any] = [rule]
        if way is not None:
            parts.append(format_number(way) if rivals is None else [*rivals, format_number(way)])
        family = family_with_rule(rule)
        if family is not None:
            parts += family.hints_line(rule, hints)
        if multipliers or rule == "empty":
            parts.append([format_number(m) for m in multipliers])
        self._node(parts)

    def separable_less_costs(
        self, way: Fraction, multipliers: Sequence[Fraction], shares: Sequence[Fraction]
    ) -> None:
        """The node is closed by a line less shares of costs."""
        self._node(["separable", format_number(way), format_numbers(multipliers), format_numbers(shares)])

    def slope(self, boxes: Sequence[tuple[int, Fraction] | None]) -> None:
        """The node is closed by derivatives on boxes of individuals, depth first."""
        self._node(["slope", [0 if cut is None else [cut[0], format_number(cut[1])] for cut in boxes]])

    def lines_of_parts(
        self,
        rule: str,
        way: Fraction,
        parts: Sequence[PartOfLeaf],
        rivals: tuple[int, int] | None = None,
    ) -> None:
        """The node is closed by lines of the parts of a sum, or of the inner scores of what is nested."""
        written = format_number(way) if rivals is None else [*rivals, format_number(way)]
        self._node([rule, written, [None if part is None else _part_bound(part) for part in parts]])

    def softmax(
        self,
        way: Fraction,
        weights: Sequence[Fraction],
        steps: Sequence[tuple[Fraction, Sequence[Fraction]]],
        multipliers: Sequence[Fraction] = (),
    ) -> None:
        """The node is closed by bounds of log odds."""
        parts: list[Any] = ["softmax", format_number(way), [format_number(w) for w in weights]]
        parts.append([[format_number(slope), [format_number(v) for v in row]] for slope, row in steps])
        if multipliers:
            parts.append([format_number(m) for m in multipliers])
        self._node(parts)

    def odds(self, directions: Iterable[Sequence[int]]) -> None:
        """The node is closed by bounds of odds, with the extent of scores in these directions."""
        self._node(["odds", [[format_number(Fraction(e)) for e in row] for row in directions]])

    def squares(
        self,
        way: Fraction | Sequence[Fraction],
        bits: int,
        blocks: Iterable[tuple[Sequence[int | tuple[int, int]], int, Sequence[Sequence[int]]]],
    ) -> None:
        """The node is closed by sums of squares: (generator, mu, squares) each."""
        written = format_number(way) if isinstance(way, Fraction) else [format_number(part) for part in way]
        content = [
            [
                [f if isinstance(f, int) else list(f) for f in generator],
                mu,
                [list(square) for square in squares],
            ]
            for generator, mu, squares in blocks
        ]
        self._node(["sos", written, bits, content])

    def witness(
        self, x: Sequence[float], other: Sequence[float], scores: Sequence[Enclosure], *, exact: bool
    ) -> None:
        """The body of a witness certificate: scores as they are where those of the body are rational (`exact`), enclosures otherwise."""
        body = {
            "x": [format_number(code) for code in x],
            "other": [format_number(code) for code in other],
            "scores": [
                format_number(s.lo) if exact else [format_number(s.lo), format_number(s.hi)] for s in scores
            ],
        }
        self._write(json_line({"witness": body}))

    def class_witness(
        self,
        x: Sequence[float],
        other: Sequence[float],
        scores: Sequence[Sequence[Enclosure]],
        *,
        exact: bool,
    ) -> None:
        """The same with all scores of both individuals."""
        body = {
            "x": [format_number(code) for code in x],
            "other": [format_number(code) for code in other],
            "scores": [
                [format_number(s.lo) if exact else [format_number(s.lo), format_number(s.hi)] for s in row]
                for row in scores
            ],
        }
        self._write(json_line({"witness": body}))

    def end_proof(
        self, *, clearance: Fraction, covers_floating_point: bool, shown: Sequence[Sequence[Fraction]] = ()
    ) -> None:
        """The last line of a proof; the file is complete after it. `shown` are those whom it is about: nobody, one who satisfies the constraints, or a pair."""
        keys = zip(("somebody", "other"), shown, strict=False)
        named = {key: [format_number(code) for code in codes] for key, codes in keys}
        self._end(
            {
                "nodes": self.nodes,
                "clearance": format_number(clearance),
                "covers_floating_point": covers_floating_point,
            }
            | named
        )

    def end_witness(self) -> None:
        """The last line of a witness certificate."""
        self._end({})

    def _end(self, facts: dict[str, Any]) -> None:
        self._write(json_line({"end": facts | {"sha256": self._digest.hexdigest()}}))
        self._gzip.close()

    def _node(self, parts: list[Any]) -> None:
        self.nodes += 1
        self._write(json_line(parts))

    def _write(self, part: bytes) -> None:
        self._digest.update(part + b"\n")
        self._gzip.write(part + b"\n")


def _part_bound(part: PartBound | PartDifference | InnerLimits) -> list[Any]:
    if isinstance(part, InnerLimits):
        return [_part_line(line) for line in part.lines]
    if isinstance(part, PartDifference):
        limits = [[_part_line(end) for end in side] for side in (part.here, part.there)]
        return ["difference", _part_line(part.line), *limits, _one_or_array(part.place)]
    sides = [
        None
        if side is None
        else [
            *(_part_line(end) for end in (side.low, side.high)),
            _one_or_array(side.slope),
            _one_or_array(side.tangent),
        ]
        for side in (part.here, part.there)
    ]
    return [*sides, [_part_line(line) for line in part.lines]]


def _one_or_array(numbers: Fraction | tuple[Fraction, ...]) -> str | list[str]:
    """An array also of one number, or none."""
    if isinstance(numbers, tuple):
        return [format_number(one) for one in numbers]
    return format_number(numbers)


def _part_line(line: PartLine | None) -> list[Any] | None:
    if line is None:
        return None
    family, leaf = family_with_rule(line.leaf.rule), line.leaf
    hints = [] if family is None else family.hints_line(leaf.rule, leaf.hints)
    return [format_number(line.threshold), leaf.rule, *hints]


def json_line(value: Any) -> bytes:
    """One canonical JSON line, without its line feed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def scalar(value: object) -> Any:
    """A level or label: texts and truth values as they are, numbers exactly."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return {"number": format_number(value)}
    raise CertificateError(
        f"the label {value!r} is neither a text nor a number and cannot be written into a certificate",
        hint="train with labels that are texts, whole numbers or True/False",
    )


def space_line(pairs: PairSpace) -> bytes:
    """Features and constraints of the space."""
    space = pairs.space
    return json_line(
        {
            "space": {
                "features": _features(space),
                "constraints": [_constraint(space, i) for i in range(len(space.constraints))],
            }
        }
    )


def similarity_line(pairs: PairSpace) -> bytes:
    """One relation a feature, and the distance that pairs keep, if there is one."""
    line: dict[str, Any] = {"similarity": [_relation(relation) for relation in pairs.relations]}
    for one in pairs.along:
        line["similarity"][one.feature] = _along(one)
    if pairs.distance is not None:
        line["distance"] = _distance(pairs.distance)
    return json_line(line)


def _along(one: ResolvedAlong) -> dict[str, Any]:
    """How a feature changes along with another one: as section 22 has it, where there are neither conditions nor tables."""
    told: dict[str, Any] = {"kind": "along", "with": one.leader}
    cases = [_along_case(case) for case in one.cases]
    if one.otherwise is None:
        return told | {"cases": cases}
    plain = len(cases) == 1 and not cases[0]["where"]
    said = {"bands": cases[0]["bands"]} if plain else {"cases": cases}
    return told | said | {"else": format_number(one.otherwise)}


def _along_case(case: ResolvedCase) -> dict[str, Any]:
    told: dict[str, Any] = {"where": [[c, [list(span) for span in spans]] for c, spans in case.where]}
    if case.tables:
        tables = [[*step, [list(pair) for pair in pairs]] for step, pairs in case.tables]
        return told | {"tables": tables}
    return told | {"bands": [[*step, *map(format_number, band)] for step, band in case.bands]}


def property_line(kind: str, level: Fraction) -> bytes:
    """A property by its kind and its margin or delta, which may be any rational."""
    return json_line(
        {"property": {"kind": kind, "margin" if kind == "decision" else "delta": format_number(level)}}
    )


def lipschitz_line(allowance: Allowance, delta: Fraction) -> bytes:
    """A property that scores change no faster than a distance."""
    return json_line({"property": _lipschitz(allowance, delta)})


def class_lipschitz_line(allowance: Allowance, delta: Fraction, of: int | None) -> bytes:
    """The same of a model of several classes, with the class of interest (None: all of them)."""
    return json_line({"property": {**_lipschitz(allowance, delta), "class": of}})


def _lipschitz(allowance: Allowance, delta: Fraction) -> dict[str, Any]:
    costs = [(k, cost) for k, cost in enumerate(allowance.costs) if cost is not None]
    return {
        "kind": "lipschitz",
        "constant": format_number(allowance.constant),
        "delta": format_number(delta),
        "distance": {
            "norm": allowance.norm,
            "terms": [{"feature": k, **_cost(cost)} for k, cost in costs],
            "forms": [[format_number(form.weight), _form_entries(form)] for form in allowance.forms],
        },
    }


def class_property_line(kind: str, level: Fraction, of: int | None) -> bytes:
    """The same of a model of several classes, with the class of interest (None: all of them)."""
    name = "margin" if kind == "decision" else "delta"
    return json_line({"property": {"kind": kind, name: format_number(level), "class": of}})


def model_line(model: Model, space: Space) -> bytes:
    """The model's exact parameters and the features that it is a model of. Also what a model export holds, so that digests can be compared."""
    return json_line(
        {
            "model": {
                "family": model.family,
                "body": family_of(model.bodies[0]).line(model.bodies, model.embedding),
                "head": _head(model.head) if model.n_scores == 1 else _class_head(model.head),
                "rounding": None if model.rounding is None else model.rounding.line(),
                "features": _features(space),
            }
        }
    )


def _head(head: Head) -> dict[str, Any]:
    """How one score decides; where nothing is claimed about decisions, there are no labels."""
    labels = None if head.undecided is not None else head.labels
    return {
        "labels": None if labels is None else [scalar(label) for label in labels],
        "zero": "upper" if head.zero_is_upper else "lower",
        "link": _link(head),
    }


def _class_head(head: Head) -> dict[str, Any]:
    return {"labels": [scalar(label) for label in head.classes], "classes": head.rule, "link": head.link}


def _link(head: Head) -> Any:
    if head.shifted:
        return None  # gaps of probabilities are gaps of scores
    if head.link is None or (head.slope == 1 and head.offset == 0):
        return head.link
    return [head.link, format_number(head.slope), format_number(head.offset)]


def _features(space: Space) -> list[dict[str, Any]]:
    return [_feature(name, space[name]) for name in space.names]


def _feature(name: str, feature: Feature) -> dict[str, Any]:
    if isinstance(feature, (Continuous, Integer)):
        ends = {
            "name": name,
            "kind": feature.kind,
            "lo": format_number(feature.lo),
            "hi": format_number(feature.hi),
        }
        return {**ends, "missing": True} if feature.missing else ends
    return {"name": name, "kind": feature.kind, "levels": [_level(level) for level in feature.levels]}


def _level(level: Level) -> Any:
    return None if level is None else scalar(level)


def _constraint(space: Space, index: int) -> dict[str, Any]:
    constraint = space.constraints[index]
    places = sorted((space.names.index(name), value) for name, value in constraint.coefficients)
    terms: list[list[Any]] = [[place, format_number(value)] for place, value in places]
    if constraint.indicators:
        counted = enumerate(constraint_terms(space, constraint).terms)
        terms = [[k, [format_number(n) for n in term.table]] for k, term in counted if term.table is not None]
    return {
        "text": constraint.text,
        "terms": terms,
        "bound": format_number(constraint.bound),
    }


def _distance(distance: Distance) -> dict[str, Any]:
    costs = [(k, cost) for k, cost in enumerate(distance.costs) if cost is not None]
    return {
        "power": distance.power,
        "terms": [{"feature": k, **_cost(cost)} for k, cost in costs],
        "forms": [[format_number(form.weight), _form_entries(form)] for form in distance.forms],
        "bound": format_number(distance.bound),
    }


def _cost(cost: Cost) -> dict[str, Any]:
    if cost.table is not None:
        rows = (row[:i] for i, row in enumerate(cost.table))
        return {"table": [format_numbers(row) for row in rows if row]}
    if cost.each is not None:
        return {"each": format_number(cost.each)}
    return {"unequal": format_number(cost.unequal or Fraction(0))}


def _form_entries(form: SquaredForm) -> list[list[Any]]:
    used = [(k, term) for k, term in enumerate(form.terms) if not term.constant]
    return [
        [k, format_number(term.slope) if term.table is None else format_numbers(term.table)]
        for k, term in used
    ]


def _relation(relation: Relation) -> dict[str, Any]:
    if relation.limits is not None:
        low, high = map(format_number, relation.limits)
        return {"kind": "between", "low": low, "high": high}
    if relation.kind == "within" and relation.tolerance is not None:
        return {"kind": "within", "tolerance": format_number(relation.tolerance)}
    if relation.kind == "pairs":
        return {"kind": "pairs", "allowed": [list(pair) for pair in relation.allowed]}
    return {"kind": relation.kind}
