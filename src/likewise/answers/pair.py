"""The pair: two individuals side by side, what differs first, then what is the same, then how the model treats them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likewise.answers.answer import Pair, PairRow
from likewise.answers.texts import ValueFormatter, escape_unprintable, json_value, value_text
from likewise.figures import distinct_texts
from likewise.verifying.result import Treatment

SAME_SHOWN = 3  # features shown although they are the same, to tell who the individuals are
PYTHON_REST = ".pair has them"  # where the other features are


def pair_answer(
    pair: Mapping[str, tuple[Any, Any]],
    treated: Treatment,
    *,
    shown: ValueFormatter | None = None,
    rest: str = PYTHON_REST,
    most: int | None = SAME_SHOWN,
) -> Pair:
    """The pair as texts; `most` of the features that are the same are shown where there is little room, None shows all."""
    rows = [_make_row(name, first, second, shown) for name, (first, second) in pair.items()]
    rows.sort(key=lambda row: not row.differs)
    return Pair(
        features=tuple(rows),
        treatment=treatment_rows(treated),
        shown=len(rows) if most is None else most,
        rest=rest,
    )


def pair_of_document(found: Mapping[str, Any], **how: Any) -> list[Pair]:
    """The pair that a document holds, if there is one."""
    if found.get("pair") is None:
        return []
    first, second = found["pair"]
    treated = Treatment(
        decisions=found.get("decisions"),
        scores=found.get("scores"),
        probabilities=found.get("probabilities"),
        upper_label=found.get("upper_label"),
        score_name=found.get("score_name", "score"),
    )
    return [pair_answer({name: (first[name], second[name]) for name in first}, treated, **how)]


def treatment_rows(treated: Treatment) -> tuple[PairRow, ...]:
    """What the model makes of the two, as far as it has such answers."""
    rows = []
    if treated.decisions is not None:
        rows.append(("decision", *(value_text(json_value(decision)) for decision in treated.decisions)))
    if treated.scores is not None:
        first, second = treated.scores
        rows.append((treated.score_name, *distinct_texts(first, second)))
    if treated.probabilities is not None:
        first, second = treated.probabilities
        texts = distinct_texts(first, second)
        rows.append((f"P({value_text(json_value(treated.upper_label))})", *texts))
    return tuple(PairRow(name=name, first=first, second=second) for name, first, second in rows)


def pair_in_words(pair: Pair) -> str:
    """In a sentence: ``sex: f and m; all else the same; decision: yes and no``."""
    parts = [f"{row.name}: {row.first} and {row.second}" for row in pair.differing]
    parts += ["all else the same"] if pair.same else []
    parts += [f"{row.name}: {row.first} and {row.second}" for row in pair.treatment]
    return "; ".join(parts)


def _make_row(name: str, first: Any, second: Any, how: ValueFormatter | None) -> PairRow:
    if how is not None:
        texts = escape_unprintable(how(name, first)), escape_unprintable(how(name, second))
    else:
        texts = distinct_texts(first, second, value_text)
    return PairRow(name=name, first=texts[0], second=texts[1], differs=first != second)
