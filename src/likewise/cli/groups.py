"""``likewise groups``: how often does each group get the favourable decision?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, SearchFlags

if TYPE_CHECKING:
    from likewise.analysis.groups_result import Groups
    from likewise.cli.claims import LoadedClaim
    from likewise.run import Run

MOST_VALUES = 12  # of a feature that tells groups where nobody says which does
CONFIDENCE = 0.99


def groups(**given: Any) -> int:
    """How often does each group get the favourable decision?

    CLAIM and flags are those of `likewise verify`; what may differ between similar individuals does not matter here. Rates of the rows are counts, with labels also those of
    true and of false positives; rates of a population are exact, proved brackets, or intervals from a sample. It always says which.

    \b
    likewise groups claim.toml --by sex
    likewise groups claim.toml --by sex --by foreign --over marginals
    likewise groups claim.toml --by sex --over population --favourable granted
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.groups import groups_of_problem
    from likewise.answers import json
    from likewise.answers.groups import groups_answer
    from likewise.cli.claims import load_claim, read_population, start_run
    from likewise.cli.output import emit, emit_answer, emit_json
    from likewise.cli.steps import command_audience
    from likewise.errors import SpecError
    from likewise.spec.columns import as_table

    over = "rows" if given["over"] == "data" else given["over"]
    people: Any = read_population(flags) if over == "population" else over
    if people is None:
        raise SpecError(
            "--over population needs a claim file that says who people are",
            hint="[population.tables] in the claim file, or --over marginals",
        )
    with start_run(flags, look, progress=not given["quiet"]) as run:
        loaded = load_claim(flags, run, alone=True)
        if loaded.rows is None and over in ("rows", "marginals"):
            raise SpecError(
                f"--over {given['over']} needs data", hint="--data rows.csv, or [data] in the claim file"
            )
        label = loaded.label if over == "rows" else None
        found = groups_of_problem(
            loaded.problem,
            run,
            tuple(dict.fromkeys(given["by"])),
            over=people,
            favourable=given["favourable"],
            y=None if label is None else as_table(loaded.rows).get_column(label).to_list(),
            confidence=given["confidence"],
        )
    answer = groups_answer(found, loaded, command_audience("groups", given, loaded, spec=flags.spec))
    if given["as_json"]:
        emit_json(json.render(answer))
    elif given["quiet"]:
        low, high = found.difference()
        emit(f"{low!r} {high!r}")
    else:
        emit_answer(answer)
    return Exit.DONE if found.reason is None else Exit.UNKNOWN


def groups_of_claim(loaded: LoadedClaim, run: Run) -> Groups:
    """Rates of the rows, by the first feature with few values in which similar individuals may differ."""
    from likewise.analysis.groups import groups_of_problem
    from likewise.cli.repair import read_labels
    from likewise.errors import SpecError

    for name in loaded.similarity.names:
        feature = loaded.space[name]
        low, high = feature.code_range
        if feature.kind != "continuous" and high - low < MOST_VALUES:
            return groups_of_problem(
                loaded.problem, run, (name,), over="rows", y=read_labels(loaded), confidence=CONFIDENCE
            )
    raise SpecError("no feature in which similar individuals may differ has few values")
