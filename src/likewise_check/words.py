"""The claim for people, made from the data of a certificate alone: one sentence, and then every feature, every constraint and what may differ.

Texts of the file are quoted and escaped. What is long is cut, and says so, unless all of it is asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.claim import Claim
from likewise_check.core.numbers import readable_number
from likewise_check.core.properties import Allowance
from likewise_check.core.space import Constraint, Feature, Level, Relation, Space, Term, joint_limit

MOST_LINES = 24  # of features, and of constraints
MOST_NAMES = 20
LONGEST_NAME = 60
LONGEST_PART = 160


def claim_in_words(claim: Claim, *, refuted: bool) -> str:
    """The claim in one sentence, or its contrary if a witness refutes it."""
    features, constraints = len(claim.space.features), len(claim.space.constraints)
    space = f"the space ({features} feature{'s' * (features != 1)}, {constraints} constraint{'s' * (constraints != 1)})"
    sorts = ("free", "within", "pairs", "between", "along")
    free, within, paired, between, along = (_related_names(claim, sort) for sort in sorts)
    may = [
        f"differ such that the second is {_join_names(between)}" if between else "",
        f"may differ in any way in {_join_names(free)}" if free else "",
        f"may differ in {_join_names(within)}" if within else "",
        f"may differ between allowed levels in {_join_names(paired)}" if paired else "",
        _joint_words(claim),
        "agree in all other features"
        if any((free, within, paired, between, along))
        else "agree in all features",
    ]
    outcome, everybody = claim.model.head.in_words(claim.asked)
    start = "Some two" if refuted else "Every two" if everybody else "No two"
    verb = "do not get" if refuted and everybody else "get"
    return f"{start} individuals of {space} that {' and '.join(filter(None, may))} {verb} {outcome}."


def _joint_words(claim: Claim) -> str:
    """What features keep together, in a few words."""
    limit = joint_limit(claim.similarity)
    if limit is None:
        return ""
    if limit.pack == "distance":
        return "keep a distance together (see the details)"
    return f"differ such that {limit.in_words([_name(one, full=False) for one in claim.space.features])},"


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What the claim is about: the values of every feature, who is similar, the constraints."""

    space: Space
    similarity: tuple[Relation, ...]
    allowance: Allowance | None = None

    def lines(self, *, full: bool) -> list[str]:
        """One line a feature, then one a constraint; without `full` not all of them, and long ones cut."""
        features, constraints = self.space.features, self.space.constraints
        pairs = list(zip(features, self.similarity, strict=True))
        telling = [k for k, (feature, relation) in enumerate(pairs) if _tells_much(feature, relation)]
        shown = sorted([*telling, *(k for k in range(len(pairs)) if k not in set(telling))][:MOST_LINES])
        said = [_in_words(*pairs[k], full) for k in (range(len(pairs)) if full else shown)]
        if not full and len(shown) < len(pairs):
            said.append(f"... {len(pairs) - len(shown)} more features (--full shows all)")
        last = len(constraints) if full else MOST_LINES
        said += [f"constraint: {_constraint_in_words(c, features, full)}" for c in constraints[:last]]
        if last < len(constraints):
            said.append(f"... {len(constraints) - last} more constraints (--full shows all)")
        limit = joint_limit(self.similarity)
        if limit is not None:
            parts = iter([limit.in_words([_quoted(feature.name) for feature in features])])
            what = "are near" if limit.pack == "distance" else "differ along"
            said.append(f"similar individuals {what}: {_cut(parts, full)}")
        if self.allowance is not None:
            parts = iter([self.allowance.details([_quoted(feature.name) for feature in features])])
            said.append(f"their distance: {_cut(parts, full)}")
        if all(_is_same(feature, relation) for feature, relation in pairs):
            said.append("no two different individuals are similar: the claim is about each one alone")
        return said


def _tells_much(feature: Feature, relation: Relation) -> bool:
    """Whether the feature may differ, or has but one value."""
    return relation.kind != "same" or feature.lo == feature.end


def _is_same(feature: Feature, relation: Relation) -> bool:
    empty = relation.kind == "pairs" and not relation.allowed
    return relation.kind == "same" or empty or feature.lo == feature.end


def _related_names(claim: Claim, sort: str) -> list[str]:
    found = []
    for feature, relation in zip(claim.space.features, claim.similarity, strict=True):
        if relation.kind == sort:
            name = _name(feature, full=False)
            by = f"{name} {_tolerance(feature, relation)}" if relation.tolerance is not None else name
            found.append(f"{_limits(feature, relation)} in {name}" if relation.limits else by)
    return found


def _join_names(names: list[str]) -> str:
    more = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join(names[:MOST_NAMES] + more)


def _name(feature: Feature, *, full: bool) -> str:
    return _quoted(feature.name, None if full else LONGEST_NAME)


def _quoted(text: str, longest: int | None = LONGEST_PART) -> str:
    """A text of the file, cut if it is long, as it may be said again and again."""
    shown = text[:longest]
    return repr(shown) + "..." * (len(shown) < len(text))


def _tolerance(feature: Feature, relation: Relation) -> str:
    steps = f" step{'s' * (relation.tolerance != 1)}" if feature.kind == "ordinal" else ""
    return f"by at most {readable_number(relation.tolerance or Fraction(0))}{steps}"


def _limits(feature: Feature, relation: Relation) -> str:
    """How far the second of a pair is above the first."""
    low, high = map(readable_number, relation.limits or ())
    return f"by {low} to {high}{' steps' if feature.kind == 'ordinal' else ''} above the first"


def _in_words(feature: Feature, relation: Relation, full: bool) -> str:
    differs = {"same": "", "free": " (may differ in any way)"}.get(relation.kind)
    if relation.tolerance is not None:
        differs = f" (may differ {_tolerance(feature, relation)})"
    elif relation.kind == "along":
        differs = " (changes along with another one, see below)"
    elif relation.limits is not None:
        differs = f" (of the second {_limits(feature, relation)})"
    elif differs is None:
        pairs = (
            f"{_level(feature.names[i])} and {_level(feature.names[j])}" for i, j in sorted(relation.allowed)
        )
        allowed = _cut(pairs, full) if relation.allowed else "no two levels"
        differs = f" (may differ between {allowed})"
    return f"{_name(feature, full=full)}{differs}: {_values(feature, full)}"


def _values(feature: Feature, full: bool) -> str:
    if feature.levels == 1 or (feature.lo == feature.hi and not feature.levels):
        only = _level(feature.names[0], full) if feature.levels else readable_number(feature.lo)
        said = f"{only} only"
    elif feature.levels:
        order = ", in this order," if feature.kind == "ordinal" else ""
        said = f"one{order} of {_cut((_level(one, full) for one in feature.names), full)}"
    else:
        whole = "whole numbers " if feature.discrete else ""
        said = f"{whole}from {readable_number(feature.lo)} to {readable_number(feature.hi)}"
    return said + (", or missing" if feature.missing is not None else "")


def _level(level: Level, full: bool = False) -> str:
    sort, value = level
    if sort == "missing":
        return "missing"
    if sort == "truth":
        return "true" if value else "false"
    return (
        _quoted(value, None if full else LONGEST_PART)
        if isinstance(value, str)
        else readable_number(Fraction(value))
    )


def _constraint_in_words(constraint: Constraint, features: Sequence[Feature], full: bool) -> str:
    parts = (part for term in constraint.terms for part in _term_in_words(term, features[term.feature]))
    said = _cut(parts, full, " + ") if constraint.terms else "0"
    return f"{said} <= {readable_number(constraint.bound)}"


def _term_in_words(term: Term, feature: Feature) -> Iterator[str]:
    """Of levels, those that count as other than 0, by what they count."""
    name = _quoted(feature.name)
    if term.values is None or (term.values is feature.values and feature.levels > MOST_NAMES):
        yield f"{readable_number(term.weight)} {name}"
        return
    counted: dict[Fraction, list[str]] = {}
    for level, value in zip(feature.names, term.values, strict=True):
        counted.setdefault(term.weight * value, []).append(_level(level))
    for value, levels in counted.items():
        if value:
            yield f"{readable_number(value)} if {name} is {' or '.join(levels)}"


def _cut(parts: Iterator[str], full: bool, between: str = ", ") -> str:
    """The parts, as many as a line has room for unless all of them are asked for."""
    said: list[str] = []
    length = 0
    for part in parts:
        if not full and length > LONGEST_PART:
            return between.join([*said, "... (--full shows all)"])
        said.append(part if full or len(part) <= LONGEST_PART else part[:LONGEST_PART] + "...")
        length += len(said[-1]) + len(between)
    return between.join(said)
