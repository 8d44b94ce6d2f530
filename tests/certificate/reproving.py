"""Another route to the truth of a certificate: its claim rebuilt with the engine's own classes and proved again.

`objection(lines)` is None where every leaf of the (mutated) certificate is proved by `SeparableBounder.prove`,
the leaves cover the whole pair space, and the end states no more than that; otherwise it says what is wrong.
Nothing of `likewise_check` is used. Ranges may be any rationals here, so pair spaces are built without a
`Space`, which holds doubles only. `exhausted` looks at every pair of a small discrete claim.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from tests.questions import case_of

from likewise.cells.leaf import Leaf
from likewise.families.affine.body import Affine
from likewise.families.affine.bounder import SeparableBounder
from likewise.families.affine.rounding import AffineRounding
from likewise.families.case_oracle import prove_leaf
from likewise.families.scored_model import Model, only_score
from likewise.model.embedding import Column
from likewise.model.head import Head
from likewise.model.witness_set import DecisionSet, GapSet, ProbabilitySet
from likewise.spec.numbers import parse_number
from likewise.spec.pairs import PairSpace, Variable
from likewise.spec.similarity import Relation
from likewise.spec.terms import Separable, Term

# Thresholds and clearances of probabilities are rounded: by the engine to 128 bits, by the checker on its own.
ROOM = Fraction(1, 2**90)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTangent(ProbabilitySet):
    """Leans are taken for the tangents' points themselves, as certificates name them."""

    def direction(self, lean):
        return self.tangent(lean)


class Prover(SeparableBounder):
    """The exact half of the oracle: numbers beyond doubles have no float bounds."""

    def __init__(self, score, pairs):
        self.score, self.pairs, self.evaluators = score, pairs, {}


@dataclass(frozen=True, kw_only=True)
class Rebuilt:
    pairs: PairSpace
    model: Model
    score: Separable  # f, or -f where the decision of zero asks for it
    question: Any
    of_probabilities: bool
    ends: list[list[Fraction]]  # of each feature: the codes at which columns are largest

    @property
    def rounding_error(self) -> Fraction:
        columns = self.model.embedding
        return self.model.rounding.error(
            [max(abs(c.exact(code)) for code in self.ends[c.feature]) for c in columns]
        )


def objection(lines: list[Any]) -> str | None:
    """What is wrong with the claim or its proof (or witness); None if nothing is."""
    claim = rebuilt(lines)
    if lines[0]["kind"] == "witness":
        return _witness_objection(claim, lines[5]["witness"])
    prover, clearances = Prover(claim.score, claim.pairs), []
    cells = [_root(claim.pairs)]
    for node in lines[5:-1]:
        if not cells:
            return "nodes after the complete tree"
        lo, hi = cells.pop()
        if node[0] == "split":
            halves = _halves(claim.pairs, lo, hi, node[1], parse_number(node[2]))
            if halves is None:
                return f"{node} loses a part of the cell"
            cells += reversed(halves)
            continue
        clearance = _proved(claim, prover, node, lo, hi)
        if clearance is None:
            return f"{node} does not hold in its cell"
        clearances.append(clearance)
    return (
        "a cell is left open"
        if cells
        else _end_objection(claim, clearances, lines[-1]["end"], len(lines) - 6)
    )


def exhausted(lines: list[Any]) -> bool:
    """Whether no pair of a discrete claim is a witness, by looking at all of them."""
    claim = rebuilt(lines)
    codes = [[Fraction(c) for c in range(int(v.lo), int(v.hi) + 1)] for v in claim.pairs.variables]
    for point in itertools.product(*codes):
        x, other = [point[v] for v in claim.pairs.first], [point[v] for v in claim.pairs.second]
        if claim.question.holds(claim.score.exact(x), claim.score.exact(other)) and claim.pairs.valid(
            x, other
        ):
            return False
    return True


def rebuilt(lines: list[Any]) -> Rebuilt:
    """Pair space, score and question of a certificate's lines."""
    space, relations = lines[1]["space"], lines[2]["similarity"]
    features = space["features"]
    ranges = [_range(feature) for feature in features]
    variables, first, second = [], [], []
    for k, (relation, (lo, hi)) in enumerate(zip(relations, ranges, strict=True)):
        sides = ("both",) if relation["kind"] == "same" else ("first", "second")
        first.append(len(variables))
        second.append(len(variables) + len(sides) - 1)
        discrete = features[k]["kind"] != "continuous"
        variables += [Variable(feature=k, side=side, discrete=discrete, lo=lo, hi=hi) for side in sides]
    model = _model(lines[4]["model"])
    property = lines[3]["property"]
    score = only_score(model, len(features))
    if property["kind"] == "decision" and model.head.zero_is_upper:
        score = score.negated()
    return Rebuilt(
        pairs=PairSpace(
            space=None,
            relations=tuple(
                Relation(r["kind"], parse_number(r["tolerance"]) if "tolerance" in r else None)
                for r in relations
            ),
            variables=tuple(variables),
            first=tuple(first),
            second=tuple(second),
            constraints=tuple(_constraint(c, features) for c in space["constraints"]),
        ),
        model=model,
        score=score,
        question=_question(property),
        of_probabilities=property["kind"] == "probability",
        ends=[
            [lo, hi] if "levels" not in f else _positions(f)
            for f, (lo, hi) in zip(features, ranges, strict=True)
        ],
    )


def _range(feature: dict[str, Any]) -> tuple[Fraction, Fraction]:
    if "levels" in feature:
        return Fraction(0), Fraction(len(feature["levels"]) - 1)
    return parse_number(feature["lo"]), parse_number(feature["hi"])


def _positions(feature: dict[str, Any]) -> list[Fraction]:
    return [Fraction(i) for i in range(len(feature["levels"]))]


def _model(model: dict[str, Any]) -> Model:
    body, head, rounding = model["body"], model["head"], model["rounding"]
    columns = tuple(
        Column(feature=c["feature"], table=tuple(map(parse_number, c["table"])))
        if "table" in c
        else Column(feature=c["feature"], slope=parse_number(c["slope"]), offset=parse_number(c["offset"]))
        for c in body["columns"]
    )
    return Model(
        family=model["family"],
        rounding=AffineRounding(
            sizes=tuple(map(parse_number, rounding["sizes"])),
            constant=parse_number(rounding["constant"]),
            operations=rounding["operations"],
        ),
        embedding=columns,
        bodies=(
            Affine(
                weights=tuple(parse_number(c["weight"]) for c in body["columns"]),
                bias=parse_number(body["bias"]),
            ),
        ),
        head=Head(
            labels=head["labels"],
            rule="number" if head["labels"] is None else "sign",
            link=head["link"],
            zero_is_upper=head["zero"] == "upper",
        ),
    )


def _question(property: dict[str, Any]) -> Any:
    if property["kind"] == "decision":
        return DecisionSet(level=parse_number(property["margin"]))
    delta = parse_number(property["delta"])
    if property["kind"] == "probability" and delta:
        return ByTangent(delta=delta)
    return GapSet(delta=delta)


def _constraint(constraint: dict[str, Any], features: list[dict[str, Any]]) -> Separable:
    coefficients = {k: parse_number(value) for k, value in constraint["terms"]}
    terms = []
    for k, feature in enumerate(features):
        weight = coefficients.get(k, Fraction(0))
        if weight and "levels" in feature:
            terms.append(Term(table=tuple(weight * _level(level) for level in feature["levels"])))
        else:
            terms.append(Term(slope=weight))
    return Separable(bias=-parse_number(constraint["bound"]), terms=tuple(terms))


def _level(level: Any) -> Fraction:
    return Fraction(level) if isinstance(level, bool) else parse_number(level["number"])


def _root(pairs: PairSpace) -> tuple[list[Fraction], list[Fraction]]:
    return [Fraction(v.lo) for v in pairs.variables], [Fraction(v.hi) for v in pairs.variables]


def _halves(pairs: PairSpace, lo: list[Fraction], hi: list[Fraction], v: int, at: Fraction) -> Any:
    if pairs.variables[v].discrete:
        if at.denominator != 1 or not lo[v] <= at < hi[v]:
            return None
        start = at + 1
    else:
        if not lo[v] < at < hi[v]:
            return None
        start = at
    return (lo, [*hi[:v], at, *hi[v + 1 :]]), ([*lo[:v], start, *lo[v + 1 :]], hi)


def _proved(claim: Rebuilt, prover: Prover, node: list[Any], lo: list[Fraction], hi: list[Fraction]) -> Any:
    rule = node[0]
    way = parse_number(node[1]) if rule == "separable" else None
    weights = node[-1] if isinstance(node[-1], list) else []
    if weights and len(weights) != 2 * len(claim.pairs.constraints):
        return None
    decision = isinstance(claim.question, DecisionSet)
    if rule == "independent" and decision and claim.question.level < 0:
        return None
    if isinstance(claim.question, ByTangent) and way is not None and not 0 < way < 1 - claim.question.delta:
        return None
    leaf = Leaf(rule=rule, lean=way, multipliers=tuple(map(parse_number, weights)))
    ends, score = (np.array(end, dtype=object) for end in (lo, hi)), claim.score
    asked = claim.question
    return prove_leaf(claim.pairs, score, score.enclose, (prover, asked), *ends, leaf, case_of(asked))


def _end_objection(claim: Rebuilt, clearances: list[Any], end: dict[str, Any], nodes: int) -> str | None:
    smallest, stated = min(clearances), parse_number(end["clearance"])
    room = ROOM if isinstance(claim.question, ByTangent) else 0
    if math.isinf(smallest):
        return "a claim about nobody"
    if not 0 <= stated <= smallest + room:
        return "the clearance is negative or too large"
    described = not claim.of_probabilities  # how a program rounds sigma is not
    if end["covers_floating_point"] is not (described and stated > claim.rounding_error):
        return "covers_floating_point is wrong"
    return None if end["nodes"] == nodes else "nodes are miscounted"


def _witness_objection(claim: Rebuilt, witness: dict[str, Any]) -> str | None:
    x, other = ([parse_number(c) for c in witness[side]] for side in ("x", "other"))
    scores = [claim.model.exact(codes)[0] for codes in (x, other)]
    if scores != [parse_number(s) for s in witness["scores"]]:
        return "the scores are not those of the model"
    if not claim.pairs.valid(x, other):
        return "not a pair"
    return None if claim.question.holds(claim.score.exact(x), claim.score.exact(other)) else "not a witness"
