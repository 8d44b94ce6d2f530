"""Outcomes: what became of each claim of a run, whichever way it is reported.

All claims are read before any search begins, so an input error costs no searching; it ends the run, and so does an error that only
the search finds. A claim that crashes is UNKNOWN, and the others go on. Ctrl-C ends the searches that are running with their bounds. The claims behind are UNKNOWN as they were never looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from likewise.cli.certificate_files import certificate_file
from likewise.cli.claim_process import Crash
from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, SearchFlags
from likewise.errors import InternalError, LikewiseError, SpecError

if TYPE_CHECKING:
    from likewise.answers.answer import Answer
    from likewise.answers.terminal import Line
    from likewise.cli.claims import LoadedClaim
    from likewise.problem import LikeData, Problem
    from likewise.search.budget import Budget
    from likewise.verifying.result import Result

NOT_REACHED = "interrupted before it was looked at"
STOPPED = "not looked at: another claim of this run is wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOutcome:
    """One claim: its answer; or the error that it cannot be read with; or how it crashed; or none of these, with the reason why not."""

    flags: ClaimFlags
    loaded: LoadedClaim | None = None
    import_seconds: float = 0.0
    reading_seconds: float = 0.0
    result: Result | None = None
    error: LikewiseError | None = None
    crash: Crash | None = None
    not_asked: str | None = None

    @property
    def problem(self) -> Problem:
        """The claim as a problem, its model read."""
        if self.loaded is None:
            raise InternalError(f"{self.name} was not loaded")
        return self.loaded.problem

    @property
    def name(self) -> str:
        """The claim file as it was typed."""
        return self.flags.spec or "claim given by flags"

    @property
    def file(self) -> str:
        """The file to look into: the spec, or the model where flags say the rest."""
        return self.flags.spec or self.flags.model or ""

    @property
    def verdict(self) -> str:
        return "UNKNOWN" if self.result is None else str(self.result.verdict)

    @property
    def claim(self) -> str:
        """The claim in words, as far as it could be read."""
        if self.result is not None:
            return self.result.claimed.in_words()
        if self.loaded is None:
            return self.name
        from likewise.verifying.result import claim_in_words

        return claim_in_words(self.loaded.space, self.loaded.similarity, self.loaded.property)

    @property
    def reason(self) -> str:
        """Why it is UNKNOWN, with what is known nevertheless; what is wrong with it; or the pair in words."""
        if self.error is not None:
            return self.error.message
        if self.crash is not None:
            return self.crash.why
        if self.result is None:
            return self.not_asked or NOT_REACHED
        from likewise.answers.pair import pair_in_words
        from likewise.answers.sentences import bounds_in_words
        from likewise.answers.verdict import pair_of_result

        result = self.result
        if result.pair is not None:
            return pair_in_words(*pair_of_result(result))
        if result.reason is not None:
            return f"{result.reason}; {bounds_in_words(result.claimed.property, result.bounds)}"
        return ""

    @property
    def seconds(self) -> float:
        return 0.0 if self.result is None else float(self.result.stats.get("seconds", 0.0))

    def answer(self, given: Mapping[str, Any], *, several: bool) -> Answer:
        """What is told of it; of several claims with the claim file that it is about."""
        from likewise.answers.answer import Answer, code, fact, verdict, words
        from likewise.answers.verdict import verdict_answer
        from likewise.cli.steps import command_audience

        named = (fact("file", code(self.name), whole=True),) if several else ()
        about = {"spec": self.flags.spec}
        if self.result is None or self.loaded is None:
            said = (fact("verdict", verdict("UNKNOWN")), fact("reason", self.reason))
            document = {**about, "verdict": "UNKNOWN", "claim": self.claim, "reason": self.reason}
            return Answer(
                title="UNKNOWN", summary=words(self.reason), blocks=(*named, *said), document=document
            )
        proof = given["certificate"]
        if proof is not None:
            proof = certificate_file(proof, self.flags.spec, several=several)
        telling = command_audience("verify", given, self.loaded, spec=self.flags.spec, proof=proof)
        found = verdict_answer(self.result, telling)
        document = {**(about if several else {}), **found.document}
        return replace(found, blocks=(*named, *found.blocks), document=document)


def read_claims(
    each: Sequence[ClaimFlags],
    property_text: str | None,
    class_text: str | None,
    *,
    budget: float,
    like_data: LikeData | None = None,
) -> list[ClaimOutcome]:
    """Every claim, loaded; or, where one cannot be read, which ones, and no other one to be searched. `like_data` asks for pairs near the rows of the data, or for frequent ones."""
    load = partial(
        _load_outcome,
        property_text=property_text,
        class_text=class_text,
        budget=budget,
        like_data=like_data,
    )
    outcomes = [_catch_error(flags, partial(load, flags)) for flags in each]
    if any(outcome.error is not None for outcome in outcomes):
        return [one if one.error else ClaimOutcome(flags=one.flags, not_asked=STOPPED) for one in outcomes]
    return outcomes


def decide_claims(
    outcomes: Sequence[ClaimOutcome],
    look: SearchFlags,
    *,
    progress: bool,
    keep: Callable[[str | None], str | None] = lambda _: None,
    resume: bool = False,
) -> list[ClaimOutcome]:
    """The claims that were read, searched, each with the whole budget: one after the other in one process or on a cluster, else side by side. `keep` says where the state of the one of a
    claim file is written."""
    from likewise.run import usable_cores
    from likewise.search.budget import Budget, interruptible

    jobs = look.jobs or usable_cores()
    searched = sum(outcome.loaded is not None for outcome in outcomes)
    with interruptible(whole := Budget(math.inf)):  # so that Ctrl-C between two searches ends the run, too
        if searched > 1 and jobs > 1 and look.cluster is None:
            return _decide_side_by_side(
                outcomes, look, jobs, whole, progress=progress, keep=keep, resume=resume
            )
        search = partial(_search_outcome, look=look, progress=progress, keep=keep, resume=resume)
        return _decide_in_turn(outcomes, search)


def _decide_in_turn(
    outcomes: Sequence[ClaimOutcome], search: Callable[[ClaimOutcome], ClaimOutcome]
) -> list[ClaimOutcome]:
    decided: list[ClaimOutcome] = []
    for outcome in outcomes:
        stopped = _stop_reason(decided)
        if outcome.loaded is None:
            decided.append(outcome)
        elif stopped is not None:
            decided.append(replace(outcome, not_asked=stopped))
        elif len(outcomes) == 1:
            decided.append(_catch_error(outcome.flags, partial(search, outcome)))
        else:
            decided.append(_catch_crash(outcome, partial(search, outcome)))
    return decided


def _decide_side_by_side(
    outcomes: Sequence[ClaimOutcome],
    look: SearchFlags,
    jobs: int,
    whole: Budget,
    *,
    progress: bool,
    keep: Callable[[str | None], str | None],
    resume: bool,
) -> list[ClaimOutcome]:
    from likewise.cli.fleet import FleetPlan, search_side_by_side

    def search_here(outcome: ClaimOutcome, how: SearchFlags) -> ClaimOutcome:
        search = partial(_search_outcome, outcome, how, progress=False, keep=keep, resume=resume)
        return _catch_crash(outcome, search)

    plan = FleetPlan(look=look, jobs=jobs, keep=keep, resume=resume, here=search_here)
    read = [place for place, outcome in enumerate(outcomes) if outcome.loaded is not None]
    found = search_side_by_side(
        [outcomes[place] for place in read], plan, whole, _stop_reason, progress=progress
    )
    decided = dict(zip(read, found, strict=True))
    return [decided.get(place, outcome) for place, outcome in enumerate(outcomes)]


def _catch_error(flags: ClaimFlags, make: Callable[[], ClaimOutcome]) -> ClaimOutcome:
    """What `make` gives, or the user's error that it ends with."""
    try:
        return make()
    except InternalError:
        raise
    except LikewiseError as error:
        return ClaimOutcome(flags=flags, error=error)


def _catch_crash(outcome: ClaimOutcome, make: Callable[[], ClaimOutcome]) -> ClaimOutcome:
    """The same, or whatever else it ends with: of several claims, the others go on."""
    try:
        return _catch_error(outcome.flags, make)
    except Exception as error:  # noqa: BLE001 - it is reported
        return replace(outcome, crash=Crash.by(error))


def _load_outcome(
    flags: ClaimFlags,
    property_text: str | None,
    class_text: str | None,
    *,
    budget: float,
    like_data: LikeData | None,
) -> ClaimOutcome:
    from likewise.cli.claims import load_claim
    from likewise.run import Run
    from likewise.search.budget import Budget

    run = Run(budget=Budget(budget, flags.import_budget))
    loaded = load_claim(flags, run, property_text, class_text)
    if like_data:
        if loaded.rows is None:
            raise SpecError("--like-data needs data", hint="--data rows.csv, or [data] in the claim file")
        claim = replace(loaded.problem.claim, like_data=like_data)
        loaded = replace(loaded, problem=replace(loaded.problem, claim=claim))
    clock = run.budget
    return ClaimOutcome(
        flags=flags,
        loaded=loaded,
        import_seconds=clock.import_seconds,
        reading_seconds=clock.reading_seconds,
    )


def _search_outcome(
    outcome: ClaimOutcome,
    look: SearchFlags,
    *,
    progress: bool,
    keep: Callable[[str | None], str | None],
    resume: bool,
) -> ClaimOutcome:
    from likewise.cli.claims import start_run
    from likewise.verifying.verification import verify_problem

    path = keep(outcome.flags.spec)
    with start_run(outcome.flags, look, progress=progress, checkpoint=path, resume=resume) as run:
        run.budget.carry_on(outcome.import_seconds, outcome.reading_seconds)
        return replace(outcome, result=verify_problem(outcome.problem, run))


def _stop_reason(decided: Sequence[ClaimOutcome]) -> str | None:
    """Why no further claim is searched, if so."""
    if any(one.error is not None for one in decided):
        return STOPPED
    if any(one.result is not None and (one.result.reason or "").startswith("interrupted") for one in decided):
        return NOT_REACHED
    return None


def exit_code(outcomes: Sequence[ClaimOutcome]) -> Exit:
    """1 if any claim is BIASED, else 101 if any ended by a defect of Likewise, else 3 if any is UNKNOWN, else 0."""
    verdicts = {outcome.verdict for outcome in outcomes}
    if "BIASED" not in verdicts and any(one.crash is not None and one.crash.defect for one in outcomes):
        return Exit.INTERNAL
    return next((Exit[verdict] for verdict in ("BIASED", "UNKNOWN") if verdict in verdicts), Exit.FAIR)


# -- for people -------------------------------------------------------------------------------------------

WIDTH = 80
VERDICT_WIDTH, SECONDS_WIDTH = 7, 9


def summary_lines(outcomes: Sequence[ClaimOutcome]) -> list[Line]:
    """One line a claim in 80 columns, and the counts; long names are folded, never cut."""
    from likewise.answers.answer import Role, Span, verdict, words

    room = WIDTH - VERDICT_WIDTH - SECONDS_WIDTH - 4
    width = min(room, max(len(one.name) for one in outcomes))
    head = f"{'verdict':<{VERDICT_WIDTH}}  {'claim':<{width}}  {'seconds':>{SECONDS_WIDTH}}"
    lines = [words(Span(head, Role.TITLE))]
    for one in outcomes:
        first, *rest = [one.name[i : i + width] for i in range(0, len(one.name), width)]
        blanks = " " * (VERDICT_WIDTH - len(one.verdict))
        told = f"{blanks}  {first:<{width}}  {one.seconds:>{SECONDS_WIDTH}.2f}"
        lines.append(words(verdict(one.verdict), told))
        lines += [words(f"{'':<{VERDICT_WIDTH}}  {part}") for part in rest]
    counts = Counter(one.verdict for one in outcomes)
    parts = [f"{counts[name]} {name}" for name in ("BIASED", "UNKNOWN", "FAIR") if counts[name]]
    return [*lines, words(f"{len(outcomes)} claims: {', '.join(parts)}")]
