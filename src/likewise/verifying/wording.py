"""Wording: a result as plain text of at most 80 columns, readable without colour.

A block is a row of titled paragraphs (claim, space, verdict, ...) and, where there is a pair, both
individuals side by side: what differs first and marked with ``<>``, then what is the same, then how the
model treats them. Long names and values are wrapped, never cut: two levels may differ in their last letter.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from likewise.progress import LONG_READING
from likewise.spec.features import is_missing, level_text

if TYPE_CHECKING:
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

WIDTH = 80
TITLE_WIDTH = 9
NAME_WIDTH = 26  # at most; names that need less leave more for the values
LEAST_VALUE = 12  # columns for each value, however long the names are
MARK = "<>"
SAME_SHOWN = 3  # features shown although they are the same, to tell who the individuals are

# How a value of a feature is shown, where its plain form says little: codes of levels, for instance.
Shown = Callable[[str, Any], str]


def claim_in_words(space: Space, similarity: Similarity, property: Property) -> str:
    """Who must share what."""
    return f"individuals who {similarity.describe(space)} {property.describe()}"


def result_text(result: Result, *, all_features: bool = False, shown: Shown | None = None) -> str:
    """The whole result for a terminal or a log."""
    lines = [
        *paragraph("claim", result.claimed.in_words()),
        *paragraph("space", result.claimed.space.describe()),
        *paragraph("verdict", verdict_line(result)),
        *reading_lines(result.stats),
    ]
    if result.pair is not None:
        pair = pair_of(result.pair, result.claimed.space.names)
        lines += pair_lines(pair, treated_by(result), all_features=all_features, shown=shown)
    elif result.verdict == "FAIR":
        lines += paragraph("basis", basis_in_words(result))
    if result.verdict != "FAIR":
        lines += rows_lines(result.stats)
    lines += rounding_lines(result.stats)
    if result.reason is not None:
        lines += paragraph("reason", result.reason)
        lines += paragraph("bounds", bounds_in_words(result.claimed.property, result.bounds))
    return "\n".join(lines)


def reading_lines(stats: Mapping[str, Any]) -> list[str]:
    """How long reading the model took, where that is worth a line: no budget counts it."""
    seconds = stats.get("import_seconds", 0.0)
    return paragraph("reading", f"reading the model took {seconds:.0f} s") if seconds > LONG_READING else []


def verdict_line(result: Result) -> str:
    """The verdict with how it was reached."""
    seconds = result.stats.get("seconds", 0.0)
    if result.verdict == "BIASED":
        return (
            f"BIASED   found in {seconds:.2f} s, exact, replayed on {result.stats.get('replay', 'predict')}"
        )
    if result.verdict == "FAIR":
        cells = result.stats.get("cells", 1)
        return f"FAIR     proved in {seconds:.2f} s and checked, {cells:,} cell{'s' * (cells != 1)}"
    return f"UNKNOWN  after {seconds:.2f} s"


def basis_in_words(result: Result) -> str:
    """What a FAIR rests on."""
    rows = rows_in_words(result.stats)
    said = ["the model's stored numbers in exact arithmetic", rounding_in_words(result)]
    return "; ".join(said if rows is None else [*said, rows])


def covers_program(result: Result) -> bool:
    """Whether a proof holds of the program that rounds: by its clearance, or as the claim is proved with room for the rounding."""
    rounding = result.stats.get("program_rounding", {})
    return result.covers_floating_point or bool(rounding.get("covered"))


def rounding_in_words(result: Result) -> str:
    """What a proof says of the program that rounds."""
    rounding = result.stats.get("program_rounding", {})
    if covers_program(result):
        return "covers the rounding of predict"
    if rounding.get("moves") is None:
        return "the rounding of predict is not known"
    return f"for predict itself up to rounding of {short(rounding['moves'])}"


def rows_in_words(stats: Mapping[str, Any]) -> str | None:
    """What the comparison of the model with the rows of the data leaves open: rows that it does not take as they are, and columns in single
    precision. None where that is nothing."""
    reason, single = stats.get("rows_not_compared"), stats.get("single_precision")
    said = []
    if reason is not None:
        said.append(
            f"the model was compared through codes only, as it does not take the rows as given ({reason})"
        )
    if single:
        said.append(
            f"columns in single precision ({', '.join(single)}): this is about the model asked in double precision, and about rows in "
            "single precision it may answer otherwise"
        )
    return "; ".join(said) or None


def rows_lines(stats: Mapping[str, Any]) -> list[str]:
    """The same as a paragraph, if there is anything to say."""
    words = rows_in_words(stats)
    return [] if words is None else paragraph("compared", words)


def bounds_in_words(property: Property, bounds: tuple[float, float]) -> str:
    """What is known when the search ended early."""
    low, high = bounds
    if property.kind == "decision":
        what, least = "the largest margin of a pair with different decisions", -math.inf
        allowed = f"a flip counts above {property.margin:g}" if property.margin else "a flip counts above 0"
    else:
        what, least = f"the largest {property.kind} gap of a similar pair", 0.0
        allowed = f"the claim allows {property.delta:g}"
    if not math.isfinite(high) and low <= least:
        return f"nothing is known of {what}; {allowed}"
    if low <= least:
        return f"{what} is at most {number(high)}; {allowed}"
    if not math.isfinite(high):
        return f"{what} is at least {number(low)}; {allowed}"
    return f"{what} is between {number(low)} and {number(high)}; {allowed}"


def warning_of(stats: Mapping[str, Any]) -> str | None:
    """A sentence on the program's own rounding, where it is large (`families.program_rounding`)."""
    found = stats.get("program_rounding")
    if not found or not found["large"]:
        return None
    seen = short(found["observed"])
    if found["bound"] is None:
        return (
            f"the program's own rounding moves scores by {seen} on the rows compared; no bound of it is known"
        )
    return (
        f"the program's own rounding may move scores by {short(found['bound'])} ({seen} on the rows compared)"
    )


def short(value: float) -> str:
    """A bound in one digit, rounded up."""
    with localcontext(prec=1, rounding=ROUND_CEILING):
        return f"{float(+Decimal(value)):g}"


def rounding_lines(stats: Mapping[str, Any]) -> list[str]:
    """A warning where the program's own rounding is large, else nothing."""
    warning = warning_of(stats)
    return [] if warning is None else paragraph("warning", warning)


# -- the pair ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Treated:
    """What the model makes of the two; None where it has no such answer."""

    decisions: tuple[Any, ...] | None = None
    scores: tuple[float, ...] | None = None
    probabilities: tuple[float, ...] | None = None
    upper_label: Any = None
    score_name: str = "score"

    def rows(self) -> list[tuple[str, str, str]]:
        rows = []
        if self.decisions is not None:
            rows.append(("decision", str(self.decisions[0]), str(self.decisions[1])))
        if self.scores is not None:
            rows.append((self.score_name, *_told_apart(self.scores, number)))
        if self.probabilities is not None:
            texts = _told_apart(self.probabilities, "{:.3f}".format)
            rows.append((f"P({self.upper_label})", *texts))
        return rows


def treated_by(answer: Any) -> Treated:
    """What the model's own program says about the pair of a `Result` or a `Disparity`."""
    return Treated(
        decisions=answer.decisions,
        scores=answer.scores,
        probabilities=answer.probabilities,
        upper_label=answer.upper_label,
        score_name=answer.score_name,
    )


def pair_of(frame: Any, names: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
    """The two rows of a frame as Python values, feature by feature; None where one is missing."""
    values: dict[str, tuple[Any, Any]] = {}
    for name in names:
        first, second = (value.item() if hasattr(value, "item") else value for value in frame[name])
        values[name] = (None if is_missing(first) else first, None if is_missing(second) else second)
    return values


def pair_rows(frame: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Both individuals as plain dictionaries of Python values."""
    pair = pair_of(frame, names)
    return [{name: values[side] for name, values in pair.items()} for side in range(2)]


def pair_lines(
    pair: Mapping[str, tuple[Any, Any]],
    treated: Treated,
    *,
    all_features: bool = False,
    shown: Shown | None = None,
) -> list[str]:
    """Both individuals side by side, what differs first and marked with <>."""
    rows, same = feature_rows(pair, shown=shown)
    kept = same if all_features else same[:SAME_SHOWN]
    treatment = [(name, first, second, "") for name, first, second in treated.rows()]
    header = ("", "x", "x'", "")
    widths = _widths([header, *rows, *kept, *treatment])
    lines = _row(header, widths)
    for row in (*rows, *kept):
        lines += _row(row, widths)
    if len(kept) < len(same):
        lines.append(f"  ... {len(same) - len(kept)} more the same (--all shows them)")
    for row in treatment:
        lines += _row(row, widths)
    return lines


Row = tuple[str, str, str, str]  # name, x, x', mark


def feature_rows(
    pair: Mapping[str, tuple[Any, Any]], *, shown: Shown | None = None
) -> tuple[list[Row], list[Row]]:
    """The features in which the two differ, marked, and those in which they are the same."""
    differing = [name for name, (first, second) in pair.items() if first != second]
    same = [name for name in pair if name not in differing]
    return (
        [(name, *_texts(name, *pair[name], shown), MARK) for name in differing],
        [(name, *_texts(name, *pair[name], shown), "") for name in same],
    )


def pair_in_words(pair: Mapping[str, tuple[Any, Any]], treated: Treated) -> str:
    """In a sentence: ``sex: f and m; all else the same; decision: yes and no``."""
    differing, same = feature_rows(pair)
    parts = [f"{name}: {first} and {second}" for name, first, second, _ in differing]
    parts += ["all else the same"] if same else []
    parts += [f"{name}: {first} and {second}" for name, first, second in treated.rows()]
    return "; ".join(parts)


def _widths(rows: list[Row]) -> tuple[int, int, int]:
    """Columns for names, x and x': what they need, and no more than 80 together."""
    name, left, right = (max(len(row[i]) for row in rows) for i in range(3))
    room = WIDTH - 2 - 2 - 4  # indent, gap after the name, mark between the values
    name = min(name, max(NAME_WIDTH, room - left - right))
    values = room - name
    half = max(values // 2, LEAST_VALUE)
    if left + right > values:
        left = min(left, max(half, values - right))
        right = values - left
    return name, left, right


def _row(row: Row, widths: tuple[int, int, int]) -> list[str]:
    columns = [_folded(text, width) for text, width in zip(row[:3], widths, strict=True)]
    lines = []
    for i, (name, left, right) in enumerate(zip_longest(*columns, fillvalue="")):
        mark = row[3] if i == 0 else ""
        lines.append(f"  {name:<{widths[0]}}  {left:<{widths[1]}} {mark:<2} {right}".rstrip())
    return lines


def _folded(text: str, width: int) -> list[str]:
    """The text in pieces of at most `width` characters, none left out; after a blank, a hyphen or the like where there is one late enough."""
    pieces = []
    while len(text) > width:
        ends = [at + 1 for at in range(width // 2, width) if text[at] in " -_/,."]
        cut = ends[-1] if ends else width
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]


def _texts(name: str, first: Any, second: Any, shown: Shown | None) -> tuple[str, str]:
    if shown is not None:
        return _printable(shown(name, first)), _printable(shown(name, second))
    if isinstance(first, float) and isinstance(second, float):
        return _told_apart((first, second), number)
    return _text(first), _text(second)


def _text(value: Any) -> str:
    if value is None:
        return level_text(None)
    return number(value) if isinstance(value, float) else _printable(str(value))


def _told_apart(numbers: tuple[float, ...], short: Callable[[float], str]) -> tuple[str, str]:
    """Short texts of two numbers, in full where the short ones would not tell them apart."""
    first, second = numbers
    if first != second and short(first) == short(second):
        return repr(first), repr(second)
    return short(first), short(second)


def _printable(text: str) -> str:
    return text if text.isprintable() else repr(text)


def number(value: float) -> str:
    """A double in six digits; tiny ones in scientific notation."""
    short = f"{value:.6g}"
    return short if float(short) == value or abs(value) >= 1e-3 else f"{value:.3e}"


def paragraph(title: str, text: str, *, whole_words: bool = False) -> list[str]:
    """Text under a title in the margin, wrapped; `whole_words` keeps even those longer than a line."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"{title.rstrip():<{TITLE_WIDTH - 1}} ",
        subsequent_indent=" " * TITLE_WIDTH,
        break_on_hyphens=False,
        break_long_words=not whole_words,
    )
