"""Analyses beside brute force and beside each other: measure, audit, share, radius, regions, repair, compare."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
from tests.fuzz.answers import Answers, asked
from tests.fuzz.choices import Choices, chance, one_of, some_of
from tests.fuzz.claims import Claim, Judged, gaps_of, judged, values_of
from tests.fuzz.estimators import fitted
from tests.fuzz.findings import Findings
from tests.fuzz.problems import AUDITED, Problem
from tests.fuzz.verdicts import compare_program_end, compare_result, verified

import likewise as lw

TOLERANCE = 1e-3
HAIR = 1e-12  # of shares, which are quotients of counts


def _handed(problem: Problem) -> dict[str, Any]:
    return {"X": problem.X, "budget": problem.budget}


def _sides(problem: Problem) -> tuple[Any, Any, Any]:
    return problem.model, problem.population.space(), problem.similar.declared()


# -- measure -------------------------------------------------------------------------------------------


def compare_measure(problem: Problem, findings: Findings, choices: Choices) -> None:
    """The bracket holds the largest gap of everybody, and `verify` agrees beyond both of its ends."""
    answers = problem.answers
    kinds = ["score"] * (answers.scored and answers.scores is not None) + ["probability"] * (
        answers.probabilities is not None
    )
    if not kinds:
        return
    kind, certify = one_of(choices, kinds), chance(choices, 25)
    claim = Claim(kind, 0.0, problem.claim.of, problem.claim.one_way)
    with findings.of("measure"):
        found = lw.measure(
            *_sides(problem),
            of=kind,
            class_of_interest=claim.of,
            tolerance=TOLERANCE,
            certify=certify,
            **_handed(problem),
        )
        before = len(findings.failures)
        json.dumps(found.to_dict(), allow_nan=False)
        _, off = values_of(answers, claim)
        largest = float(gaps_of(answers, claim)[problem.near].max())
        said = f"[{found.lower!r}, {found.upper!r}], by brute force {largest!r}, rounding {2 * off:.3g}"
        complete = problem.population.complete
        if found.proved:
            compare_program_end(findings, "measure", found, largest)
        findings.require(found.upper >= largest - 2 * off, "measure", f"too low: {said}")
        findings.require(not complete or found.lower <= largest + 2 * off, "measure", f"too high: {said}")
        if found.reason is None:
            wide = found.upper - found.lower > TOLERANCE + 4 * math.ulp(found.upper)
            findings.require(not wide, "measure", f"too wide: {said}")
        else:
            findings.unknown("measure", found.reason)
        if certify and found.certificate is None and found.reason is None:
            findings.disagreed("measure", f"no certificate, no reason: {said}")
        if found.pair is not None:
            _compare_measured_pair(problem, findings, claim, found)
        if len(findings.failures) == before:
            findings.agreed("measure", kind)
        _compare_both_ends(problem, findings, claim, found)


def _compare_measured_pair(problem: Problem, findings: Findings, claim: Claim, found: Any) -> None:
    people = problem.population.read(found.pair)
    answers = asked(
        problem.model, problem.population.given(people), exact=problem.exact, scored=problem.family.scored
    )
    gap, (_, off) = float(gaps_of(answers, claim)[0, 1]), values_of(answers, claim)
    similar = problem.similar.similar(problem.population, *people)
    findings.require(similar, "measure", f"the two are not similar: {people}")
    findings.require(
        abs(gap - found.lower) <= 2 * off + math.ulp(found.lower),
        "measure",
        f"the pair has a gap of {gap!r}, not {found.lower!r}; rounding {2 * off:.3g}",
    )


def _compare_both_ends(problem: Problem, findings: Findings, claim: Claim, found: Any) -> None:
    """A gap above the upper end is FAIR, one below the lower end is BIASED (or hidden by rounding)."""
    if not found.proved or found.reason is not None:
        return
    above, below = math.nextafter(found.upper, math.inf), math.nextafter(found.lower, 0.0)
    limit = 1.0 if claim.kind == "probability" else math.inf
    for level, wrong in ((above, "BIASED"), (below, "FAIR")):
        if not 0 <= level < limit or (wrong == "FAIR" and level == found.lower):
            continue
        beside = Claim(claim.kind, level, claim.of, claim.one_way)
        with findings.of("verify beside measure"):
            result = verified(problem, beside)
            bad = result.verdict == wrong
            said = f"{result.verdict} at {level!r}, measured [{found.lower!r}, {found.upper!r}]"
            if findings.require(not bad, "verify beside measure", said):
                compare_result(problem, findings, "verify beside measure", result, claim=beside)


# -- audit and share -----------------------------------------------------------------------------------


def compare_audit(problem: Problem, findings: Findings, choices: Choices) -> None:
    """Every row by looking at everybody; the share of the same rows; and the measured gap is no smaller than any row's."""
    rows = [problem.rows[choices.whole(0, len(problem.rows) - 1)] for _ in range(AUDITED)]
    frame = problem.population.frame(rows)
    found = problem.judged()
    with findings.of("audit"):
        audit = lw.audit(
            problem.model,
            problem.population.space(),
            problem.similar.declared(),
            problem.claim.declared(),
            X=frame,
            budget=problem.budget,
        )
        before = len(findings.failures)
        _compare_rows(problem, findings, audit, rows, found)
        if audit.undecided:
            findings.unknown("audit", f"{dict(audit.reasons)}")
        if len(findings.failures) == before:
            findings.agreed("audit", "rows")
        _compare_share_of_rows(problem, findings, audit, frame)


def _compare_rows(problem: Problem, findings: Findings, audit: Any, rows: list[Any], found: Judged) -> None:
    listed = audit.rows.to_dicts() if hasattr(audit.rows, "to_dicts") else audit.rows.to_dict("records")
    at = {person: i for i, person in enumerate(problem.population.people)}
    gaps, off = _gaps_of_rows(problem)
    findings.require(sorted(r["row"] for r in listed) == list(range(len(rows))), "audit", "rows are missing")
    sure, possible = found.sure | found.sure.T, found.possible | found.possible.T
    for row in listed:
        person = rows[row["row"]]
        i = at[person]
        if row["biased"] is None or row["biased"] is pd.NA:
            continue
        if bool(row["biased"]):
            fine = possible[i].any() or not problem.population.complete
        else:
            fine = not sure[i].any()
        findings.require(fine, "audit", f"{person} is said to be {'' if row['biased'] else 'not '}biased")
        if gaps is None or row["gap"] is None or row["gap"] != row["gap"]:
            continue
        largest = float(max(gaps[i][problem.near[i]].max(), gaps[:, i][problem.near[:, i]].max()))
        said = f"gap {row['gap']!r} of {person}, by brute force {largest!r}, rounding {2 * off:.3g}"
        known, stated = audit.stats["gaps_not_proved"] == 0, audit.stats["gap_error"]
        room = 2 * off + stated + math.ulp(largest)
        findings.require(not known or row["gap"] >= largest - room, "audit", f"{said}, stated {stated:.3g}")
        if problem.population.complete:
            findings.require(row["gap"] <= largest + 2 * off + math.ulp(largest), "audit", said)


def _gaps_of_rows(problem: Problem) -> tuple[Any, float]:
    answers, claim = problem.answers, problem.claim
    if (answers.scores is None or not answers.scored) and claim.kind != "probability":
        return None, 0.0
    kind = "probability" if claim.kind == "probability" else "score"
    scale = Claim(kind, 0.0, claim.of, claim.one_way)
    return gaps_of(answers, scale), values_of(answers, scale)[1]


def _compare_share_of_rows(problem: Problem, findings: Findings, audit: Any, frame: Any) -> None:
    with findings.of("share of rows"):
        share = lw.share(*_sides(problem), problem.claim.declared(), over=frame, budget=problem.budget)
        said = f"[{share.lower}, {share.upper}], audit [{audit.share}, {audit.share_at_most}]"
        apart = max(abs(share.lower - audit.share), abs(share.upper - audit.share_at_most))
        if audit.undecided or share.reason is not None:  # a budget ran out, not at the same row of both
            apart = max(share.lower - audit.share_at_most, audit.share - share.upper)
        if findings.require(apart <= HAIR, "share of rows", said):
            findings.agreed("share of rows", share.method)


def compare_share(problem: Problem, findings: Findings, choices: Choices) -> None:
    """Everybody is counted, alike or as often as the rows have their values."""
    if not problem.population.complete:
        return
    found, over = problem.judged(), "uniform"
    people = problem.population.people
    weights = np.full(len(people), 1 / len(people))
    if problem.handed and chance(choices, 30):
        over = "marginals"
        weights = np.ones(len(people))
        for k in range(len(problem.population.attributes)):
            column = [row[k] for row in problem.rows]
            weights *= [column.count(person[k]) / len(column) for person in people]
        weights /= weights.sum()
    method = one_of(choices, ("auto", "exact", "certified", "auto"))
    with findings.of("share"):
        share = lw.share(
            *_sides(problem), problem.claim.declared(), over=over, method=method, **_handed(problem)
        )
        json.dumps(share.to_dict(), allow_nan=False)
        least = float(weights @ (found.sure | found.sure.T).any(axis=1))
        most = float(weights @ (found.possible | found.possible.T).any(axis=1))
        said = (
            f"{over} {share.method} [{share.lower!r}, {share.upper!r}], by brute force [{least!r}, {most!r}]"
        )
        fine = share.lower <= most + HAIR and share.upper >= least - HAIR
        if share.method == "exact" and share.reason is None:
            fine = fine and share.upper - share.lower <= most - least + HAIR
        if share.method == "sampled":
            findings.agreed("share", "sampled")
        elif findings.require(fine, "share", said):
            findings.agreed("share", share.method)


# -- groups ---------------------------------------------------------------------------------------------


def compare_groups(problem: Problem, findings: Findings, choices: Choices) -> None:
    """Rates and shares of all valid people who are listed, alike or as often as the rows have their values, or of the rows; under constraints too."""
    answers, people = problem.answers, problem.population.people
    if answers.labels is None:
        return
    over = one_of(choices, ("uniform", "uniform", *(("marginals", "rows") if problem.handed else ())))
    levels = [a for a in problem.population.attributes if a.kind != "continuous"]
    if not levels or (over == "uniform" and not problem.population.complete):
        return
    by = [a.name for a in some_of(choices, levels, choices.whole(1, min(2, len(levels))))]
    favourable, weights = one_of(choices, answers.classes), np.ones(len(people))
    if over == "marginals":
        for k in range(len(problem.population.attributes)):
            column = [row[k] for row in problem.rows]
            weights *= [column.count(person[k]) / len(column) for person in people]
    if over == "rows":
        weights = np.array([float(problem.rows.count(person)) for person in people])
    at = [problem.population.names.index(name) for name in by]
    mass: dict[Any, float] = {}
    hit: dict[Any, float] = {}
    for person, weight, label in zip(people, weights.tolist(), answers.labels.tolist(), strict=True):
        key = tuple(person[k] for k in at)
        mass[key] = mass.get(key, 0.0) + weight
        hit[key] = hit.get(key, 0.0) + weight * (label == favourable)
    rates = {key: hit[key] / mass[key] for key in mass if mass[key]}
    with findings.of("groups"):
        found = lw.groups(
            problem.model,
            problem.population.space(),
            by,
            over=over,
            favourable=favourable,
            **_handed(problem),
        )
        json.dumps(found.to_dict(), allow_nan=False)
        said = f"{over} by {by}: {[(g.values, g.share, g.rates['selection_rate']) for g in found.groups]}, by brute force {rates}"
        # Scores within the program's rounding of a border may be decided otherwise in exact arithmetic.
        close = answers.rounding > 0 and _near_a_border(answers)
        fine = {group.values for group in found.groups} == set(rates)
        for group in found.groups if fine else ():
            rate, share = group.rates["selection_rate"], mass[group.values] / sum(mass.values())
            inside = rate.lower - HAIR <= rates[group.values] <= rate.upper + HAIR
            fine = fine and abs(group.share - share) <= HAIR * 100 and (close or inside)
            if rate.method == "exact" and found.reason is None:
                fine = fine and rate.upper - rate.lower <= 1e-8
        if fine and not close:
            low, high = found.difference()
            fine = low - HAIR <= max(rates.values()) - min(rates.values()) <= high + HAIR
        if any(group.rates["selection_rate"].method == "sampled" for group in found.groups):
            findings.agreed("groups", "sampled")
        elif findings.require(fine, "groups", said):
            findings.agreed("groups", over)


def _near_a_border(answers: Answers) -> bool:
    """Whether somebody's decision hangs on what rounding may change."""
    if answers.scores is None:
        return True
    scores = answers.scores if answers.duels is None else answers.duels
    if scores.shape[1] > 1 and answers.duels is None:
        ranked = np.sort(scores, axis=1)
        return bool((ranked[:, -1] - ranked[:, -2] <= 2 * answers.rounding).any())
    return bool((np.abs(scores) <= 2 * answers.rounding).any())


# -- radius --------------------------------------------------------------------------------------------


def compare_radius(problem: Problem, findings: Findings, choices: Choices) -> None:
    """Fair at the level that is proved, biased at the one that is refuted, by brute force and by `verify`."""
    ordered = [a for a in problem.population.attributes if a.kind in ("integer", "ordinal") and not a.missing]
    if not ordered:
        return
    feature = one_of(choices, ordered)
    claim = problem.claim
    with findings.of("radius"):
        found = lw.radius(*_sides(problem), claim.declared(), feature=feature.name, **_handed(problem))
        json.dumps(found.to_dict(), allow_nan=False)
        before = len(findings.failures)
        for level, right, wrong in ((found.proved, "FAIR", "sure"), (found.refuted, "BIASED", "possible")):
            if level is None:
                continue
            similar = problem.similar.replaced(feature.name, math.floor(level))
            pairs = getattr(problem.judged(near=similar.matrix(problem.population)), wrong).any()
            fine = not pairs if right == "FAIR" else pairs or not problem.population.complete
            findings.require(fine, "radius", f"{right} at {level} of {feature.name}: {found}")
            if similar.names and chance(choices, 40):
                result = verified(problem, claim, similar)
                findings.require(
                    result.verdict in (right, "UNKNOWN"), "radius", f"{level}: verify says {result.verdict}"
                )
        if found.reason is not None:
            findings.unknown("radius", found.reason)
        elif found.proved is not None and found.refuted is not None:
            findings.require(found.refuted - found.proved <= 1, "radius", f"a level is left out: {found}")
        if len(findings.failures) == before:
            findings.agreed("radius", "proved" if found.refuted is None else "refuted")


# -- regions -------------------------------------------------------------------------------------------


def compare_regions(problem: Problem, findings: Findings) -> None:
    """Everybody is in one region, nobody of a fair one is treated differently, and everybody of a biased one is."""
    if any(a.missing for a in problem.population.attributes):
        return
    found = problem.judged()
    sure, possible = (found.sure | found.sure.T).any(axis=1), (found.possible | found.possible.T).any(axis=1)
    people, names = problem.population.people, problem.population.names
    with findings.of("regions"):
        regions = lw.regions(*_sides(problem), problem.claim.declared(), **_handed(problem))
        json.dumps(regions.to_dict(), allow_nan=False)
        before, counted = len(findings.failures), np.zeros(len(people), dtype=int)
        for region in regions:
            inside = np.array(
                [
                    all(_in_part(problem, n, v, region.box) for n, v in zip(names, p, strict=True))
                    for p in people
                ]
            )
            counted += inside
            wrong = {"fair": inside & sure, "biased": inside & ~possible, "empty": inside}.get(region.kind)
            if region.kind == "biased" and not problem.population.complete:
                continue
            if wrong is not None and wrong.any():
                findings.disagreed("regions", f"{region}: {people[int(np.argmax(wrong))]}")
        if problem.population.complete:
            findings.require(
                (counted == 1).all(), "regions", f"not a partition: {sorted(set(counted.tolist()))}"
            )
        total = sum(region.measure for region in regions)
        findings.require(total == 1, "regions", f"shares add up to {total}")
        if regions.undecided and (regions.reason or problem.claim.kind == "decision"):
            findings.unknown("regions", regions.reason or "undecided boxes")
        if len(findings.failures) == before:
            findings.agreed("regions", f"{bool(regions.fair)} {bool(regions.biased)}")


def _in_part(problem: Problem, name: str, value: Any, box: dict[str, list[Any]]) -> bool:
    if name not in box:
        return True
    ranged = next(a for a in problem.population.attributes if a.name == name).ranged
    return bool(box[name][0] <= value <= box[name][1]) if ranged else value in box[name]


# -- repair and compare --------------------------------------------------------------------------------


def compare_repair(problem: Problem, findings: Findings, choices: Choices) -> None:
    """The verdict on the repaired model is that of brute force over its own answers."""
    method = one_of(choices, ("average", "max", "min", "reference", "shrink", "threshold"))
    command = f"repair {method}"
    with findings.of(command):
        claim = problem.claim
        repaired = lw.repair(*_sides(problem), method=method, property=claim.declared(), **_handed(problem))
        json.dumps(repaired.to_dict(), allow_nan=False)
        if repaired.model is None:
            findings.unknown(command, repaired.result.reason or repaired.result.verdict)
            return
        answers = asked(repaired.model, problem.population.given(problem.population.people))
        if claim.kind == "probability" and answers.probabilities is None:
            findings.disagreed(command, "a verdict on probabilities that the new model has not")
            return
        compare_result(
            problem,
            findings,
            command,
            repaired.result,
            model=repaired.model,
            found=_similar(judged(answers, claim), problem.near),
        )


def _similar(found: Judged, near: Any) -> Judged:
    return Judged(found.seen & near, found.sure & near, found.possible & near)


def compare_compare(problem: Problem, findings: Findings, choices: Choices) -> None:
    """Both verdicts, both brackets, and a change that follows from them."""
    try:
        other = fitted(
            choices, problem.family, problem.population, list(problem.rows)[::-1], problem.targets[::-1]
        )
    except ValueError:  # a library that cannot fit the rows in another order
        return
    with findings.of("compare"):
        given = problem.population.given(problem.population.people)
        answers = asked(other, given, exact=problem.exact, scored=problem.family.scored)
        found = lw.compare(
            problem.model,
            other,
            problem.population.space(),
            problem.similar.declared(),
            problem.claim.declared(),
            X=problem.X,
            budget=4 * problem.budget,
        )
        json.dumps(found.to_dict(), allow_nan=False)
        sides: list[tuple[Any, Answers]] = [(problem.model, problem.answers), (other, answers)]
        for (model, said), result, disparity in zip(sides, found.results, found.disparities, strict=True):
            judgement = _similar(judged(said, problem.claim), problem.near)
            compare_result(problem, findings, "compare", result, model=model, found=judgement)
            if disparity.of == "margin" or (disparity.of == "score" and not problem.family.scored):
                continue
            claim = Claim(disparity.of, 0.0, one_way=problem.claim.one_way)
            largest, (_, off) = float(gaps_of(said, claim)[problem.near].max()), values_of(said, claim)
            complete = problem.population.complete
            fine = largest - 2 * off <= disparity.upper
            fine = fine and (disparity.lower <= largest + 2 * off or not complete)
            text = f"{disparity.of} [{disparity.lower!r}, {disparity.upper!r}], brute force {largest!r}"
            findings.require(fine, "compare", text)
        _compare_change(findings, found)


def _compare_change(findings: Findings, found: Any) -> None:
    verdicts = tuple(map(str, (r.verdict for r in found.results)))
    wrong = {("FAIR", "BIASED"): "better", ("BIASED", "FAIR"): "worse"}.get(verdicts)
    findings.require(wrong is None or found.change != wrong, "compare", f"{verdicts} is {found.change}")
