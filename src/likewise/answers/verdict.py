"""The answer of `verify`: the verdict, the pair or what the proof rests on, or why nothing is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.answers.answer import Answer, Block, Fact, Pair, Step, Words, fact, spacer, verdict, words
from likewise.answers.audience import PYTHON_AUDIENCE, Audience
from likewise.answers.pair import pair_answer
from likewise.answers.sentences import (
    bounds_in_words,
    comparison_facts,
    comparison_in_words,
    proof_facts,
    reading_facts,
    reason_facts,
    warning_facts,
)
from likewise.answers.texts import plural, value_text
from likewise.figures import number_text, percent_text, seconds_text
from likewise.verifying.result import pair_of, rounding_in_words, treatment_of

if TYPE_CHECKING:
    from likewise.verifying.result import Result


MOST_DIFFERING = 5  # features of a row that are shown where it differs
DECISIONS_MAY_DIFFER = "may still differ: two probabilities that are close can lie on both sides of the threshold; whether they do is another claim"


def verdict_answer(
    result: Result, telling: Audience = PYTHON_AUDIENCE, *, claim: bool = True, steps: bool = True
) -> Answer:
    """The whole of it; without the claim where that is told elsewhere."""
    blocks: list[Block] = list(claim_facts(result)) if claim else []
    blocks += [fact("verdict", verdict_in_words(result)), *reading_facts(result.stats)]
    blocks += [*pair_of_result(result, telling), *nearest_row_facts(result), *frequency_facts(result)]
    blocks += ground_facts(result)
    blocks += proof_facts(None if result.certificate is None else telling.proof)
    return Answer(
        title=str(result.verdict),
        summary=summary_of(result),
        blocks=tuple(blocks),
        steps=next_steps(result, telling) if steps else (),
        document=result.to_dict(),
    )


def claim_facts(result: Result) -> list[Fact]:
    """The claim with what it says of missing values, and the space."""
    claimed = result.claimed
    return [fact("claim", claimed.in_words()), fact("space", claimed.space.describe())]


def summary_of(result: Result) -> Words:
    """The answer in a sentence or two, for whoever reads nothing else; the verdict itself is the title."""
    if result.verdict == "FAIR":
        cells = plural(result.stats.get("cells", 1), "cell")
        return words(
            "No two similar individuals break the claim. This is proved for every pair of the space, not for a sample, and the proof, of "
            f"{cells}, was accepted by the independent checker in exact arithmetic."
        )
    if result.verdict == "BIASED" and "black_box" in result.stats:
        return words("Two similar individuals break the claim, by the model's own answers (predict).")
    if result.verdict == "BIASED":
        replayed = result.stats.get("replay", "predict")
        checked = ", which the independent checker has confirmed," if result.certificate is not None else ""
        return words(
            f"Two similar individuals break the claim: in exact arithmetic{checked} and on the model's own answers ({replayed})."
        )
    return words("The claim is neither proved nor refuted. This is not evidence of fairness.")


def verdict_in_words(result: Result) -> Words:
    """The verdict with how it was reached."""
    seconds = result.stats.get("seconds", 0.0)
    if result.verdict == "BIASED" and "black_box" in result.stats:
        return words(verdict(result.verdict), spacer(), f"found in {seconds_text(seconds)} by asking predict")
    if result.verdict == "BIASED":
        replayed = result.stats.get("replay", "predict")
        return words(
            verdict(result.verdict),
            spacer(),
            f"found in {seconds_text(seconds)}, exact, replayed on {replayed}",
        )
    if result.verdict == "FAIR":
        cells = plural(result.stats.get("cells", 1), "cell")
        return words(
            verdict(result.verdict), spacer(5), f"proved in {seconds_text(seconds)} and checked, {cells}"
        )
    return words(verdict(result.verdict), spacer(2), f"after {seconds_text(seconds)}")


def ground_facts(result: Result) -> list[Fact]:
    """What the verdict rests on, what is to be kept in mind, and what is known where it is UNKNOWN."""
    found = []
    if result.verdict == "FAIR":
        found.append(fact("basis", basis_in_words(result)))
        if result.claimed.property.kind == "probability":
            found.append(fact("decisions", DECISIONS_MAY_DIFFER))
    else:
        found += comparison_facts(result.stats)
    found += warning_facts(result.stats) + reason_facts(result.reason)
    if result.reason is not None:
        found.append(fact("bounds", bounds_in_words(result.claimed.property, result.bounds)))
    return found


def basis_in_words(result: Result) -> str:
    """What a FAIR rests on."""
    compared = comparison_in_words(result.stats)
    said = ["the model's stored numbers in exact arithmetic", rounding_in_words(result)]
    return "; ".join(said if compared is None else [*said, compared])


def pair_of_result(result: Result, telling: Audience = PYTHON_AUDIENCE) -> list[Pair]:
    """The pair, if there is one."""
    if result.pair is None:
        return []
    return [
        pair_answer(pair_of(result.pair, result.claimed.space.names), treatment_of(result), **telling.pair)
    ]


def nearest_row_facts(result: Result) -> list[Fact]:
    """Who in the data is nearest to the pair, where that was asked for."""
    near = result.stats.get("nearest_row")
    if near is None:
        return []
    who = "first" if near["individual"] == 1 else "second"
    if not near["differs"]:
        return [fact("like", f"the {who} individual is row {near['row']} of the data")]
    has = [f"{name} = {value_text(value)}" for name, value in near["differs"].items()]
    more = f" and {len(has) - MOST_DIFFERING} more" if len(has) > MOST_DIFFERING else ""
    return [
        fact(
            "like",
            f"no row was found to be part of such a pair; nearest to the {who} individual is row {near['row']}, which has "
            f"{', '.join(has[:MOST_DIFFERING])}{more}: a distance of {number_text(near['distance'], 2)}, where two rows are usually "
            f"{number_text(near['usual_distance'], 2)} apart",
        )
    ]


def frequency_facts(result: Result) -> list[Fact]:
    """How frequent the features of the two are among the rows, where that was asked for."""
    found = result.stats.get("frequency")
    if found is None or result.pair is None:
        return []
    said, pair = [], pair_of(result.pair, result.claimed.space.names)
    for i, who in enumerate(("the first individual is more frequent than", "the second than")):
        name, share = found["rarest"][i], found["rarest_share"][i]
        like = f"{percent_text(share)} of the rows" if share else "no row"
        rarer = percent_text(found["rarer_rows"][i])
        said.append(
            f"{who} {rarer} of the rows (its rarest value: {name} = {value_text(pair[name][i])}, like {like})"
        )
    return [fact("like", f"each feature counted by itself, {', '.join(said)}")]


def next_steps(result: Result, telling: Audience) -> tuple[Step, ...]:
    """What to ask about the same claim."""
    claimed = result.claimed.property
    label = {} if claimed.class_of_interest is None else {"class_of_interest": claimed.class_of_interest}
    scale: dict[str, Any] = {} if claimed.kind == "decision" else {"of": claimed.kind}
    same = {"property": claimed}
    steep, one_way = claimed.kind == "lipschitz", result.claimed.similarity.one_way
    whom = [("for whom, in the data", "audit", same)] if telling.rows and not (steep and one_way) else []
    if one_way and result.verdict != "UNKNOWN":
        # Others have no answer in one direction.
        fall = ("how far it can fall", "measure", {**scale, **label})
        return telling.steps(fall, *whom) if result.verdict == "BIASED" else ()
    if result.verdict == "BIASED":
        return telling.steps(
            ("how large the gap can be", "measure", {**scale, **label}),
            *whom,
            *(
                [("a model made fair", "repair", same)]
                if telling.repairs
                and not steep
                and not result.claimed.similarity.along
                and "black_box" not in result.stats
                and result.stats.get("repairable", True)
                else []
            ),
        )
    if result.verdict == "FAIR" and claimed.kind == "decision":
        return telling.steps(("how far apart scores can be", "measure", {"of": "score", **label}))
    if result.verdict == "FAIR":
        return telling.steps(("how large the gap is", "measure", {**scale, **label}))
    return telling.longer("verify", **same)
