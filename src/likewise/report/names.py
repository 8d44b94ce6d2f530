"""What readers call things: the claim, the pair and tables with the names that the claim file has for them (`spec.display_names`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likewise.answers.answer import Cell, Pair, PairRow, Role, Span, Table, Words
from likewise.spec.along import cases_of
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space
from likewise.verifying.result import claim_in_words

if TYPE_CHECKING:
    from likewise.spec.display_names import DisplayNames
    from likewise.verifying.result import Result

DECISION = "decision"  # the row of a pair, and the columns of an audit, that hold labels
DECISION_COLUMNS = (DECISION, "counterpart's")


def claim_text(result: Result, names: DisplayNames) -> str:
    """The claim as a sentence that begins with a capital letter and has no full stop."""
    claimed = result.claimed
    called = [names.feature(name) for name in claimed.space.names]
    said = claimed.in_words()
    if names.features and len(set(called)) == len(called):
        space = Space({names.feature(name): feature for name, feature in claimed.space.features.items()})
        words = claim_in_words(space, _renamed_similarity(claimed.similarity, names), claimed.property)
        said = "; ".join((words, *claimed.notes))
    return f"{said[:1].upper()}{said[1:]}"


def _renamed_similarity(similarity: Similarity, names: DisplayNames) -> Similarity:
    metric = similarity.metric
    return Similarity(
        free=[names.feature(name) for name in similarity.free],
        within={names.feature(name): value for name, value in similarity.within.items()},
        pairs={names.feature(name): value for name, value in similarity.pairs.items()},
        metric=None
        if metric is None
        else metric.renamed({name: names.feature(name) for name in metric.names}),
        radius=similarity.radius,
        order={names.feature(name): value for name, value in similarity.order.items()},
        along={
            names.feature(name): [
                one.renamed(
                    {said: names.feature(said) for said in (one.feature, *(c.feature for c in one.where))}
                )
                for one in cases_of(several)
            ]
            for name, several in similarity.along.items()
        },
    )


def rename_pair(pair: Pair, names: DisplayNames) -> Pair:
    """The pair with names of features and labels for readers."""
    features = tuple(replace(row, name=names.feature(row.name)) for row in pair.features)
    return replace(
        pair, features=features, treatment=tuple(_rename_treatment(row, names) for row in pair.treatment)
    )


def _rename_treatment(row: PairRow, names: DisplayNames) -> PairRow:
    if row.name == DECISION:
        return replace(row, first=names.label(row.first), second=names.label(row.second))
    if row.name.startswith("P(") and row.name.endswith(")"):
        return replace(row, name=f"P({names.label(row.name[2:-1])})")
    return row


def rename_table(table: Table, names: DisplayNames) -> Table:
    """A table of rows with names of features and labels for readers."""
    decided = [column in DECISION_COLUMNS for column in table.columns]
    rows = tuple(
        tuple(_rename_cell(cell, names, label) for cell, label in zip(row, decided, strict=True))
        for row in table.rows
    )
    return replace(table, rows=rows)


def _rename_cell(cell: Cell, names: DisplayNames, label: bool) -> Cell:
    def renamed(span: Span) -> Span:
        if span.role is Role.FEATURE:
            return Span(names.feature(span.text), span.role)
        return Span(names.label(span.text), span.role) if label else span

    said: Words = tuple(map(renamed, cell.words))
    value: Any = "".join(span.text for span in said) if isinstance(cell.value, str) else cell.value
    return replace(cell, words=said, value=value)
