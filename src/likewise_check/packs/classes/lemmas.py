"""What a leaf of a case has to show (section 10), as a claim of its own.

decision       a rule with a way [r, r', lambda] is about the conditions F > m at x (place r) and G' > m at x' (place r'), each perhaps >=, of which a pair of the case has both. With
               G = -G', that no pair of the cell has both is a lemma about two bodies, and the leaf with the way lambda shows it; in an array of `sos` [p_0, ...] stands for lambda.
score          the claim of section 2 about f_c, whatever the rule; so is a probability whose link is the identity.
softmax        has a rule of its own.

All other rules (`enumerated`, `independent`, `empty`) look at the model with all its scores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected, anything, array_of, whole
from likewise_check.core.model import Model
from likewise_check.core.properties import Property
from likewise_check.packs.classes.head import Case
from likewise_check.packs.classes.scores import Several

# Rules whose leaves have a way.
WITH_WAY = ("separable", "kernel", "polynomial", "sos", "trees")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lemma:
    """What a leaf is about: `claim` makes it, `key` tells it from others of its case."""

    key: object
    leaf: list[object]
    claim: Callable[[], Claim]


def lemma(claim: Claim, body: Several, case: Case, node: list[object]) -> Lemma:
    """The claim that a leaf of a case is about, and the leaf as one of that claim; `body` is that of the claim's model."""
    asked, name = claim.asked, node[0]
    if asked.kind == "decision" and name in WITH_WAY:
        places, leaf = _taken_apart(case, body.classes.count, node)
        return Lemma(key=places, leaf=leaf, claim=lambda: _compared(claim, body, case, places))
    if asked.kind == "score" or (asked.kind == "probability" and body.classes.link == "identity"):
        return Lemma(key=None, leaf=node, claim=lambda: _scored(claim, body, case.i))
    if name in WITH_WAY:
        raise Rejected(f"{name}: not a rule for probabilities of the softmax link")
    return Lemma(key=None, leaf=node, claim=lambda: replace(claim, case=case))


def _taken_apart(case: Case, classes: int, node: list[object]) -> tuple[tuple[int, ...], list[object]]:
    """The places r and r' of a leaf with the way [r, r', lambda], and the leaf with the way lambda."""
    if len(node) < 2:
        raise Rejected("the leaf has no way")
    *places, way = array_of(anything, 3)(node[1], "the way of a leaf of a decision case")
    for side, place in enumerate(places):
        whole(0, case.conditions(side, classes) - 1)(place, "the place of a condition")
    return tuple(places), [node[0], way, *node[2:]]


def _compared(claim: Claim, body: Several, case: Case, places: Sequence[int]) -> Claim:
    """That no pair has both conditions."""
    first, second = (case.condition(side, r, body.classes.count) for side, r in enumerate(places))
    opposite = tuple((c, -factor) for c, factor in second.form)
    return replace(
        claim,
        model=Model(body=body.form(first.form)),
        other=body.form(opposite),
        asked=Property(kind="decision", bound=claim.asked.bound),
        strict=(first.strict, second.strict),
        steps=(first.steps, second.steps),
    )


def _scored(claim: Claim, body: Several, c: int) -> Claim:
    """That no pair has scores f_c more than delta apart."""
    own = Model(body=body.form(((c, Fraction(1)),)))
    return replace(claim, model=own, asked=Property(kind="score", bound=claim.asked.bound))
