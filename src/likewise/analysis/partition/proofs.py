"""Proofs of boxes: what float64 and short searches propose is proved, box by box, and the checker has the last word.

fair     the claim itself on the sub-space of everybody similar to somebody in the box: FAIR as `verify` says it, with its certificate
biased   two certificates, one a counterpart: everybody in the box, so changed, gets the same known decision (`search.frontier.one_sided_frontier`), which the
         checker says as well (spec/certificate-v1.md, section 14)

Certificates of before (`known`), from a checkpoint, count where the checker accepts them again and they are about the same space, similarity, property and model; then nothing is searched.

Boxes are of the user's own space, or, for `share`, of the space of codes (`CodeProver`), parts of which are never imported again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.partition.changes import Change, Counterpart
from likewise.cells.leaf import Leaf
from likewise.certificate.certificate import Certificate
from likewise.clock import OutOfTime
from likewise.errors import InternalError, SpecError
from likewise.importers.imported_model import ImportedModel, import_model
from likewise.importers.recoding import identity_recoding
from likewise.importers.restriction import restrict_model
from likewise.importers.two_classes import as_one_score
from likewise.problem import Claim, Problem
from likewise.run import Run
from likewise.search.budget import Budget, BudgetPart
from likewise.search.frontier import LOWER, UPPER, one_sided_frontier
from likewise.search.frontiers import Frontiers, make_frontiers
from likewise.search.portfolio import Outcome, prove_independence, run_frontiers
from likewise.search.proof import Proof
from likewise.spec.boxes import Box, similarity_closure
from likewise.spec.features import Categorical, Continuous, Ordinal
from likewise.spec.numbers import double_above
from likewise.spec.properties import Property, SameDecision
from likewise.spec.relations import Direction
from likewise.spec.similarity import Relation, Similarity
from likewise.spec.space import Space
from likewise.verifying.certification import CheckReport, CheckRunner, Statement, certify_proof
from likewise.verifying.posed_problem import PosedProblem, pose
from likewise.verifying.result import StatedClaim, Verdict
from likewise.verifying.verdicts import ClaimOutcome, give_verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.row_claim import RowClaim
    from likewise.model.question import Question
    from likewise.spec.boxes import FeaturePart as Interval
    from likewise.spec.features import Feature

    Floats = NDArray[np.float64]
    ProofKey = tuple[str, tuple[Interval, ...]]  # what is proved, of which box

BOX_SHARE = 0.25  # of what is left of the budget that one proof may take, unless told
MANY_BOXES_SHARE = 0.05  # the same of the many boxes of a share
LEAST_SECONDS = 0.2
NOBODY_SIMILAR = Similarity()


def budget_slice(whole: Budget, seconds: float) -> BudgetPart:
    """A part of a budget that is worth beginning with."""
    return BudgetPart(whole, max(seconds, LEAST_SECONDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxProver:
    """Proves boxes about one claim."""

    model: Any
    whole: ImportedModel  # over the whole space
    space: Space
    asked: Property
    relations: tuple[Relation, ...]
    budget: Budget
    checking: CheckRunner
    time_share: float = BOX_SHARE
    known: dict[ProofKey, bytes] = field(
        default_factory=dict
    )  # accepted certificates of this run and of earlier ones

    def fair(self, box: Box) -> Certificate | None:
        """An accepted certificate that nobody in the box is in a pair that breaks the property."""
        space = similarity_closure(box, self.relations).subspace()
        if space is None:
            return None
        similar = similarity_within(space, self.space, self.relations)
        prepared, key = self._prepared(space, similar), ("fair", box.parts)
        again = None if prepared is None else self._recall(key, prepared, prepared.task.question)
        if again is not None:
            return again[0]
        outcome = None if prepared is None else _run_proof(prepared)
        if prepared is None or outcome is None or outcome.proofs is None:
            return None
        claimed = StatedClaim(
            space=space, similarity=similar, property=self.asked, family=prepared.imported.model.family
        )
        result = give_verdict(ClaimOutcome(prepared, outcome, claimed), self.checking)
        if result.verdict != Verdict.FAIR or result.certificate is None:
            return None
        self.known[key] = result.certificate.content
        return result.certificate

    def problem_of(self, box: Box) -> Problem | None:
        """The claim about everybody who is similar to somebody in the box; None where the constraints exclude all of them."""
        space = similarity_closure(box, self.relations).subspace()
        try:
            return (
                None
                if space is None
                else self._problem(space, similarity_within(space, self.space, self.relations))
            )
        except SpecError:
            return None

    def _recall(
        self, key: ProofKey, prepared: PosedProblem, question: Question
    ) -> tuple[Certificate, CheckReport] | None:
        """A certificate of before, if it is about this and the checker accepts it again."""
        if key not in self.known:
            return None
        certificate = Certificate(self.known[key])
        report = self.checking.check(certificate, self.budget.checking_seconds)
        lines = Statement(words="", question=question).lines(prepared)
        digests = [hashlib.sha256(line).hexdigest() for line in lines]
        same = report.accepted and report.kind == "proof" and list(report.digests.values()) == digests
        return (certificate, report) if same else None

    def looks_fair(self, box: Box, cells: int) -> bool:
        """Whether a search of so many cells proves a box, the checker not asked."""
        space = similarity_closure(box, self.relations).subspace()
        prepared = (
            None
            if space is None
            else self._prepared(space, similarity_within(space, self.space, self.relations))
        )
        if prepared is None:
            return False
        if _trivial_proof(prepared) is not None:
            return True
        if prepared.task.oracles.unproved(prepared.task.question) is not None:
            return False
        search = make_frontiers(prepared.task)
        return search.run(most=cells * len(search.all)) == "closed"

    def biased(self, box: Box, counterparts: tuple[Counterpart, ...]) -> tuple[Certificate, ...]:
        """Accepted certificates of both counterparts' decisions; none if one of them is not everybody's or not proved."""
        if sorted(counterpart.lean for counterpart in counterparts) != [0, 1]:
            return ()
        found = []
        for counterpart in counterparts:
            if not (counterpart.exists(box) and counterpart.similar(box, self.relations)):
                return ()
            certificate = self._certify_decision(counterpart.box(box), counterpart.lean)
            if certificate is None:
                return ()
            found.append(certificate)
        return tuple(found)

    def _certify_decision(self, box: Box, lean: int) -> Certificate | None:
        """An accepted certificate that everybody in a box gets the decision of `lean`, constraints or not."""
        space = Box(Space(box.space.features), box.parts).subspace()
        prepared = None if space is None else self._prepared(space, NOBODY_SIMILAR)
        if prepared is None:
            return None
        labels, place = (
            prepared.imported.model.head.labels or ("lower", "upper"),
            int((lean == UPPER) != prepared.mirrored),
        )
        statement = Statement(
            words=f"everybody with {box.rule} gets the decision {labels[place]}",
            question=prepared.task.question.at(Fraction(0)),
        )
        key = (f"decision {lean}", box.parts)
        again = self._recall(key, prepared, statement.question)
        if again is not None and again[1].decided == place:
            return again[0]
        search = one_sided_frontier(prepared.task, lean)
        if search.run() != "closed":
            return None
        with suppress(OutOfTime), prepared.task.budget.grace_watched():
            frontiers = Frontiers(all=[search], turn=inf)
            certificate, report = certify_proof(
                prepared, frontiers, lambda: search.clearance, statement, self.checking
            )
            if report.accepted and report.decided == place:
                self.known[key] = certificate.content
                return certificate
        return None

    def _prepared(self, space: Space, similar: Similarity) -> PosedProblem | None:
        """None where nobody is found who satisfies the constraints."""
        left = self.budget.seconds - self.budget.elapsed
        try:
            problem = self._problem(space, similar)
            return pose(problem, Run(budget=budget_slice(self.budget, self.time_share * left)))
        except SpecError:
            return None

    def _problem(self, space: Space, similar: Similarity) -> Problem:
        """The claim, about a part of the space."""
        imported = restrict_model(self.whole, space) or reduce_to_one_score(
            import_model(self.model, space, rows=np.empty((0, len(space)))), self.asked
        )
        return Problem(
            claim=Claim(model=self.model, space=space, similarity=similar, property=self.asked),
            imported=imported,
            relations=similar.relations(space),
        )


def reduce_to_one_score(imported: ImportedModel, asked: Property) -> ImportedModel:
    """The model as one of one score, if that says the same about the property; else as it is."""
    found = (
        as_one_score(imported) if isinstance(asked, SameDecision) and imported.model.n_scores > 1 else None
    )
    return imported if found is None else found


def _run_proof(prepared: PosedProblem) -> Outcome:
    """What `verify` does when it does not look for a pair first."""
    with suppress(OutOfTime), prepared.task.budget.watched():
        proof = _trivial_proof(prepared) or prove_independence(prepared.task)
        if proof is not None:
            return Outcome(engine="independence", proofs=(proof,))
    refusal = prepared.task.oracles.unproved(prepared.task.question)
    if refusal is not None:
        return Outcome(engine="branch and bound", reason=refusal)
    return run_frontiers(prepared.task, make_frontiers(prepared.task))


def _trivial_proof(prepared: PosedProblem) -> Proof | None:
    """The proof where everybody is alone: nobody is treated differently from themselves."""
    if any(relation.kind != "same" for relation in prepared.pairs.relations):
        return None
    proof = Proof()
    proof.close(0, Leaf(rule="independent"))
    return proof


def similarity_within(part: Space, space: Space, relations: tuple[Relation, ...]) -> Similarity:
    """Who is similar, said for a part of a space. Tolerances are those of the whole space (5% is of its range), rounded up."""
    free, within, pairs = [], {}, {}
    order: dict[str, Direction | int] = {}
    for name, relation in zip(space.names, relations, strict=True):
        if relation.kind == "free":
            free.append(name)
        elif relation.tolerance is not None:
            whole = not isinstance(space[name], Continuous)
            within[name] = int(relation.tolerance) if whole else double_above(relation.tolerance)
            if relation.one_way:
                order[name] = "up" if relation.apart[0] >= 0 else "down"
        elif relation.kind == "pairs":
            levels, left = _feature_levels(space[name]), _feature_levels(part[name])
            allowed = [
                (levels[a], levels[b]) for a, b in relation.allowed if levels[a] in left and levels[b] in left
            ]
            if allowed:
                pairs[name] = allowed
    return Similarity(free=free, within=within, pairs=pairs, order=order)


def _feature_levels(feature: Feature) -> tuple[Any, ...]:
    return tuple(feature.levels) if isinstance(feature, (Categorical, Ordinal)) else ()


# -- boxes of codes ---------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class CodeProver:
    """Proves boxes of codes, of a claim that is judged; `accepted` counts the certificates."""

    prover: BoxProver
    accepted: int = 0

    @classmethod
    def of(cls, judging: RowClaim, checking: CheckRunner) -> CodeProver:
        """The space that the model is over takes the place of the user's own."""
        over, imported = _number_levels(judging.pairs.space), judging.posed.imported
        whole = replace(imported, recoding=identity_recoding(over))
        if restrict_model(whole, over) is None or any(map(_misses_numbers, over.features.values())):
            raise SpecError(
                f"no certificates are made of boxes of {imported.model.family}, which a proved bracket rests on",
                hint="method='sampled', or 'exact' where everybody can be looked at",
            )
        prover = BoxProver(
            model=None,
            whole=whole,
            space=over,
            asked=_judged_property(judging),
            relations=(judging.pairs.turned() if judging.turned else judging.pairs).relations,
            budget=judging.budget,
            checking=checking,
            time_share=MANY_BOXES_SHARE,
        )
        return cls(prover=prover)

    def fair(self, lo: Floats, hi: Floats) -> bool:
        """Whether it is proved that nobody in the box is in a pair that breaks the property."""
        box = self._box(lo, hi)
        if self.prover.budget.over or box is None or self.prover.fair(box) is None:
            return False
        self.accepted += 1
        return True

    def biased(self, lo: Floats, hi: Floats, changes: Sequence[Change]) -> bool:
        """Whether it is proved that everybody in the box gets the upper decision after the first change, the lower one after the second."""
        counterparts = tuple(
            Counterpart(change=change, lean=lean)
            for change, lean in zip(changes, (UPPER, LOWER), strict=True)
        )
        box = self._box(lo, hi)
        if self.prover.budget.over or box is None or not self.prover.biased(box, counterparts):
            return False
        self.accepted += len(counterparts)
        return True

    def _box(self, lo: Floats, hi: Floats) -> Box | None:
        """None where a level is missing to everybody: no space is made of that."""
        space = self.prover.space
        features = [space[name] for name in space.names]
        if any(feature.missing_code == low for feature, low in zip(features, lo.tolist(), strict=True)):
            return None
        return Box(space, tuple(map(_interval, features, lo.tolist(), hi.tolist())))


def _judged_property(judging: RowClaim) -> Property:
    """The property of the score that is judged: decisions between two classes are about half a lead, with half the margin."""
    question = judging.posed.task.question
    if question.kind != "decision" or question.several:
        asked: Property = judging.source.claim.property
        return asked
    margin = float(question.level)
    if Fraction(margin) != question.level:
        raise InternalError("a margin that is no double")
    return SameDecision(margin, class_of_interest=judging.source.claim.property.class_of_interest)


def _number_levels(space: Space) -> Space:
    """The space with numbers for levels of which one is missing, so that it may be the only one of a box; the same where constraints
    speak of levels by their names."""
    if space.constraints:
        return space
    return space.replace(
        {
            name: type(feature)(range(feature.size))
            for name, feature in space.features.items()
            if isinstance(feature, (Categorical, Ordinal)) and feature.missing
        }
    )


def _misses_numbers(feature: Feature) -> bool:
    return not isinstance(feature, (Categorical, Ordinal)) and feature.missing


def _interval(feature: Feature, low: float, high: float) -> Interval:
    if isinstance(feature, (Categorical, Ordinal)):
        return tuple(range(int(low), int(high) + 1))
    return (low, high) if isinstance(feature, Continuous) else (int(low), int(high))
