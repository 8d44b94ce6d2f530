"""A claim as TOML text, and onto disk without ever leaving half a file.

The text reads back to an equal claim: floats are written so that they round-trip, names and levels are
quoted where TOML needs it, constraints keep the user's wording where it parses to the same constraint.
Paths are written relative to the folder of the file, so that the folder can move as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from likewise.errors import SpecError
from likewise.spec.along import Along, cases_of
from likewise.spec.claim import WrittenClaim
from likewise.spec.constraints import Constraint, parse_constraints
from likewise.spec.disk import write_file
from likewise.spec.display_names import NAME_KEYS, DisplayNames
from likewise.spec.features import Continuous, Feature, Integer
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.mahalanobis import Mahalanobis
from likewise.spec.metric import Metric
from likewise.spec.model_reading import READ_AS_IT_IS, LevelColumns, ModelReading
from likewise.spec.population import MISSING_KEY, Population
from likewise.spec.properties import SameDecision
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_LINE_LENGTH = 100
MISSING_TOML = "missing = true"
INPUTS_TOML = "[model.inputs]"
SIMILAR_COMMENT = (
    "# How similar individuals may differ: free in any way, within at most so far, all others not at all."
)


def spec_text(claim: WrittenClaim, *, comments: bool = True, folder: str | Path | None = None) -> str:
    """The claim as TOML; paths relative to `folder`, or absolute without one."""
    lines: list[str] = []
    if comments:
        lines += ["# A claim for Likewise:", f"# {_printable_line(claim.describe())}", ""]
    for section in (
        _file_lines(claim, folder, comments),
        _feature_lines(claim.space, comments),
        _constraint_lines(claim.space, comments),
        _similarity_lines(claim, comments),
        _property_lines(claim, comments),
        _display_lines(claim.display),
        _population_lines(claim.population),
    ):
        lines += [*section, ""]
    text = "\n".join(lines).strip("\n") + "\n"
    return re.sub(r"\n{3,}", "\n\n", text)


def write_spec(claim: WrittenClaim, path: str | Path) -> None:
    """Write the claim to `path`: the old file or the whole new one is there, never a part."""
    target = Path(path)
    folder = Path(os.path.abspath(target)).parent  # noqa: PTH100 - as in WrittenClaim: links are kept
    text = spec_text(claim, folder=folder)
    try:
        write_file(target, text.encode())
    except OSError as error:
        raise SpecError(f"{target}: cannot be written: {error.strerror or error}") from None


def _file_lines(claim: WrittenClaim, folder: str | Path | None, comments: bool) -> Iterator[str]:
    if claim.model_path is not None or claim.reading != READ_AS_IT_IS:
        yield "[model]"
        if claim.model_path is not None:
            yield f"path = {toml_string(_relative_path(claim.model_path, folder))}"
        yield from _reading_lines(claim.reading)
        yield ""
    if claim.data_path is None and claim.label is None and claim.outside == "error":
        return
    yield "[data]"
    if claim.data_path is not None:
        yield f"path = {toml_string(_relative_path(claim.data_path, folder))}"
    if claim.label is not None:
        yield f"label = {toml_string(claim.label)}" + (
            "    # what is predicted: no feature" if comments else ""
        )
    if claim.outside != "error":
        yield f"outside = {toml_string(claim.outside)}"
    note = '    # "observed": all columns but the label, those below overridden' if comments else ""
    yield f'features = "listed"{note}'


def _reading_lines(reading: ModelReading) -> Iterator[str]:
    if reading.labels is not None:
        yield f"labels = [{', '.join(map(toml_value, reading.labels))}]"
    if reading.encoding is not None:
        yield f"encoding = {toml_string(reading.encoding)}"
    if reading.threshold is not None:
        yield f"threshold = {toml_value(reading.threshold)}"
    if reading.external_data:
        yield "external_data = true"
    if reading.inputs:
        yield ""
        yield INPUTS_TOML
    for name, columns in reading.inputs.items():
        yield f"{toml_key(name)} = ["
        yield from (f"    {_column_text(column)}," for column in columns)
        yield "]"


def _display_lines(names: DisplayNames) -> Iterator[str]:
    texts = names.to_dict()
    tables = {key: texts.pop(key) for key in NAME_KEYS if key in texts}
    if texts:
        yield "[display]"
    yield from (f"{key} = {toml_string(text)}" for key, text in texts.items())
    for key, named in tables.items():
        yield ""
        yield f"[display.{key}]"
        yield from (f"{toml_key(name)} = {toml_string(text)}" for name, text in named.items())


def _population_lines(people: Population | None) -> Iterator[str]:
    if people is None:
        return
    yield "[population]"
    if people.given:
        given = (f"{toml_key(name)} = {toml_string(other)}" for name, other in people.given.items())
        yield f"given = {{ {', '.join(given)} }}"
    if people.tables:
        yield ""
        yield "[population.tables]"
    yield from (f"{toml_key(name)} = {_table_text(table)}" for name, table in people.tables.items())


def _table_text(table: Any) -> str:
    """Weights by value, or triples of intervals; tables of them by the level of another feature."""
    if not isinstance(table, Mapping):
        return f"[{', '.join(f'[{lo!r}, {hi!r}, {weight!r}]' for lo, hi, weight in table)}]"
    parts = []
    for key, value in table.items():
        name = toml_key(MISSING_KEY if key is None else str(key))
        inner = repr(value) if isinstance(value, int | float) else _table_text(value)
        parts.append(f"{name} = {inner}")
    return f"{{ {', '.join(parts)} }}"


def _column_text(column: str | LevelColumns) -> str:
    if isinstance(column, str):
        return toml_string(column)
    levels = ", ".join(map(toml_value, column.levels))
    return f"{{ feature = {toml_string(column.feature)}, levels = [{levels}] }}"


def _relative_path(path: str, folder: str | Path | None) -> str:
    if folder is None:
        return path
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:  # another drive
        return path
    return relative.replace(os.sep, "/")


def _feature_lines(space: Space, comments: bool) -> Iterator[str]:
    if comments:
        yield "# Who the individuals are. kind: continuous or integer (lo, hi), categorical or ordinal (levels)."
    for name, feature in space.features.items():
        yield f"[features.{toml_key(name)}]"
        yield f'kind = "{feature.kind}"'
        yield from _domain_lines(feature)
        yield ""


def _domain_lines(feature: Feature) -> Iterator[str]:
    if isinstance(feature, Continuous | Integer):
        yield f"lo = {feature.lo!r}"
        yield f"hi = {feature.hi!r}"
        if feature.missing:
            yield MISSING_TOML
        return
    levels = [toml_value(level) for level in feature.levels if level is not None]
    if feature.missing:
        yield MISSING_TOML
    line = f"levels = [{', '.join(levels)}]"
    if len(line) <= _LINE_LENGTH:
        yield line
        return
    yield "levels = ["
    yield from (f"    {level}," for level in levels)
    yield "]"


def _constraint_lines(space: Space, comments: bool) -> Iterator[str]:
    if comments and space.constraints:
        yield "# What every individual satisfies besides: linear, with <=, >= or ==; or if a == b then c != d."
    for rule in _constraint_texts(space):
        yield "[[constraints]]"
        yield f"rule = {toml_string(rule)}"
        yield ""


def _constraint_texts(space: Space) -> Iterator[str]:
    """Texts that parse to the constraints of `space`, in order: the user's own where they do."""
    left = list(space.constraints)
    while left:
        own = _parse_own_text(left[0], space)
        if own and left[: len(own)] == list(own):
            yield left[0].text
            del left[: len(own)]
        else:
            yield left.pop(0).canonical()


def _parse_own_text(constraint: Constraint, space: Space) -> tuple[Constraint, ...]:
    try:
        return parse_constraints(constraint.text, space.features)
    except SpecError:
        return ()


def _similarity_lines(claim: WrittenClaim, comments: bool) -> Iterator[str]:
    similarity = claim.similarity
    if comments:
        yield SIMILAR_COMMENT
    yield "[similarity]"
    yield f"free = [{', '.join(toml_string(name) for name in similarity.free)}]"
    if similarity.radius is not None:
        yield f"radius = {toml_value(similarity.radius)}"
    if similarity.within:
        yield ""
        yield "[similarity.within]"
        for name, tolerance in similarity.within.items():
            yield f"{toml_key(name)} = {toml_value(tolerance)}"
    if similarity.pairs:
        yield ""
        if comments:
            yield "# Levels that may differ from each other; no others may."
        yield "[similarity.pairs]"
        for name, pairs in similarity.pairs.items():
            written = ", ".join(f"[{toml_value(a)}, {toml_value(b)}]" for a, b in pairs)
            yield f"{toml_key(name)} = [{written}]"
    if similarity.metric is not None:
        yield ""
        if comments:
            yield "# How far they may be apart in several features together: no more than the radius."
        yield "[similarity.metric]"
        yield from _metric_lines(similarity.metric)
    yield from _order_lines(similarity, comments)
    yield from _along_lines(similarity, comments)


def _metric_lines(metric: Metric | Mahalanobis) -> Iterator[str]:
    yield f'kind = "{metric.kind}"'
    if isinstance(metric, Mahalanobis):
        columns = (
            toml_string(column) if isinstance(column, str) else f"[{', '.join(map(toml_value, column))}]"
            for column in metric.columns
        )
        yield f"columns = [{', '.join(columns)}]"
        yield "matrix = ["
        yield from (f"    [{', '.join(map(toml_value, row))}]," for row in metric.matrix)
        yield "]"
        return
    if metric.scale is not None:
        yield f'scale = "{metric.scale}"'
    weights = (f"{toml_key(name)} = {toml_value(weight)}" for name, weight in metric.weights.items())
    if metric.weights:
        yield f"weights = {{ {', '.join(weights)} }}"
    costs = []
    for name, cost in metric.costs.items():
        listed = cost if isinstance(cost, tuple) else ()
        table = ", ".join(f"[{', '.join(map(toml_value, entry))}]" for entry in listed)
        costs.append(f"{toml_key(name)} = {f'[{table}]' if isinstance(cost, tuple) else toml_value(cost)}")
    if costs:
        yield f"costs = {{ {', '.join(costs)} }}"


def _order_lines(similarity: Similarity, comments: bool) -> Iterator[str]:
    if similarity.order:
        yield ""
        if comments:
            yield "# Pairs are ordered: the second has more of it (up) or less (down), and must not be worse off."
        yield "[similarity.order]"
        for name, way in similarity.order.items():
            yield f"{toml_key(name)} = {toml_string(way)}"


def _along_lines(similarity: Similarity, comments: bool) -> Iterator[str]:
    for name, several in similarity.along.items():
        cases = cases_of(several)
        key = f"similarity.along.{toml_key(name)}"
        for n, one in enumerate(cases):
            yield ""
            if comments and n == 0:
                first = "" if len(cases) == 1 else " The first of these whose conditions hold counts."
                yield f"# How {name} changes when {one.feature} does; the other way round by the opposite.{first}"
            yield f"[{key}]" if len(cases) == 1 else f"[[{key}]]"
            yield f"with = {toml_string(one.feature)}"
            yield from _change_lines(one)


def _change_lines(one: Along) -> Iterator[str]:
    """By how much, or to what, and where."""
    said = one.to_dict()
    if one.rate is not None:
        yield f"rate = {toml_value(one.rate)}"
    else:
        key = "table" if one.table else "shift"
        rows = (
            "[" + ", ".join("[]" if entry == [] else toml_value(entry) for entry in row) + "]"
            for row in said[key]
        )
        yield f"{key} = [{', '.join(rows)}]"
    where = []
    for name, values in said.get("where", {}).items():
        if isinstance(values, dict):
            ends = (f"{key} = {toml_value(end)}" for key, end in values.items())
            where.append(f"{toml_key(name)} = {{ {', '.join(ends)} }}")
        else:
            where.append(f"{toml_key(name)} = [{', '.join(map(toml_value, values))}]")
    if where:
        yield f"where = {{ {', '.join(where)} }}"


def _property_lines(claim: WrittenClaim, comments: bool) -> Iterator[str]:
    if comments:
        yield '# What they must share. kind: "decision" (margin), "score" (delta) or "probability" (delta).'
    yield "[property]"
    yield f'kind = "{claim.property.kind}"'
    if isinstance(claim.property, SameDecision):
        yield f"margin = {claim.property.margin!r}"
    elif isinstance(claim.property, Lipschitz):
        yield f"constant = {claim.property.constant!r}"
        yield f"slack = {claim.property.slack!r}"
    else:
        yield f"delta = {claim.property.delta!r}"
    if claim.property.class_of_interest is not None:
        yield f"class_of_interest = {toml_value(claim.property.class_of_interest)}"
    if isinstance(claim.property, Lipschitz) and claim.property.metric is not None:
        yield ""
        yield "[property.metric]"
        yield from _metric_lines(claim.property.metric)


def toml_value(value: str | int | float | bool | None) -> str:
    """One scalar as TOML, which has no null: a small table says that a level is missing; repr gives the
    shortest text that reads back to the same double."""
    if value is None:
        return f"{{ {MISSING_TOML} }}"
    if isinstance(value, str):
        return toml_string(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def toml_key(name: str) -> str:
    """A key, bare where TOML allows it."""
    return name if _BARE_KEY.fullmatch(name) else toml_string(name)


def toml_string(text: str) -> str:
    """A basic string, with everything escaped that TOML does not take as it is."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SpecError(f"{text!r} cannot be written as UTF-8") from None
    return '"' + "".join(_ESCAPES.get(char) or _escape(char) for char in text) + '"'


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x20 or ord(char) == 0x7F else char


def _printable_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
