"""What a feature that changes along is said to do, for people."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from likewise_check.core.numbers import readable_number
from likewise_check.core.space import Feature, Level
from likewise_check.packs.along.equation import Along, Band, Case, Condition, Step, Table

MOST_LISTED = 20  # levels
LONGEST_NAME = 60


def tell_equation(one: Along, features: Sequence[Feature], names: Sequence[str]) -> str:
    """What a feature changes along with, and how."""
    told = ", or else ".join(_tell_case(case, one, features, names) for case in one.cases)
    if one.otherwise is None:
        rest = "and is the same otherwise"
    else:
        rest = f"by at most {readable_number(one.otherwise)} otherwise"
        rest = rest if one.otherwise else "not at all otherwise"
    return f"{names[one.feature]} changes along with {names[one.leader]}, {told}, {rest}"


def _tell_case(case: Case, one: Along, features: Sequence[Feature], names: Sequence[str]) -> str:
    levels, own = features[one.leader].names, features[one.feature].names
    told = [f"by {_by(band)} {_when(step, levels)}" for step, band in case.bands.items()]
    told += [f"{_when(step, levels)} {_tell_table(table, own)}" for step, table in case.tables.items()]
    where = " and ".join(_tell_condition(c, features[c.feature], names[c.feature]) for c in case.where)
    return f"where {where} {', '.join(told)}" if where else ", ".join(told)


def _by(band: Band) -> str:
    low, high = map(readable_number, band)
    return low if low == high else f"{low} to {high}"


def _when(step: Step, levels: Sequence[Level]) -> str:
    if len(step) == 2:
        return f"from {level_text(levels[step[0]])} to {level_text(levels[step[1]])}"
    return f"where that grows by {step[0]}"


def _tell_table(table: Table, levels: Sequence[Level]) -> str:
    """Of each level that does not just stay which ones it becomes."""
    becoming: dict[int, list[int]] = {}
    for v, beside in table.pairs:
        becoming.setdefault(v, []).append(beside)
    lacking = len(levels) - len(becoming)
    found = [f"{lacking} levels have no counterpart"] * (lacking > MOST_LISTED)
    for v in becoming if found else range(len(levels)):
        if v not in becoming:
            found.append(f"{level_text(levels[v])} has no counterpart")
        elif becoming[v] != [v]:
            becomes = " or ".join(level_text(levels[beside]) for beside in becoming[v])
            found.append(f"{level_text(levels[v])} becomes {becomes}")
    stays = "all others stay" if found else "all stay"
    return f"({', '.join([*found, stays])})"


def _tell_condition(condition: Condition, feature: Feature, name: str) -> str:
    return f"{name} is {' or '.join(_spans(condition, feature))}"


def _spans(condition: Condition, feature: Feature) -> Iterator[str]:
    for lo, hi in condition.spans:
        if feature.levels and hi - lo >= MOST_LISTED:
            yield f"one of {hi - lo + 1} levels from {level_text(feature.names[lo])} to {level_text(feature.names[hi])}"
        elif feature.levels:
            yield from (level_text(feature.names[place]) for place in range(lo, hi + 1))
        else:
            yield str(lo) if lo == hi else f"from {lo} to {hi}"


def level_text(level: Level) -> str:
    """A level, quoted, and cut if it is long."""
    sort, value = level
    if not isinstance(value, str):
        known = {"truth": "true" if value else "false"}
        return known.get(sort) or readable_number(Fraction(value))
    return (
        "missing" if sort == "missing" else repr(value[:LONGEST_NAME]) + "..." * (len(value) > LONGEST_NAME)
    )
