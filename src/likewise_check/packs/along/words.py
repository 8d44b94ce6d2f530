"""What a feature that changes along is said to do, for people."""

from collections.abc import Iterator, Sequence

from likewise_check.core.numbers import readable_number
from likewise_check.core.space import Feature, Level
from likewise_check.packs.along.equation import Along, Band, Case, Condition, Step, Table


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
    found: list[str] = []
    becoming: list[list[int]] = [[] for _ in levels]
    for v, beside in table.pairs:
        becoming[v].append(beside)
    for v, (level, images) in enumerate(zip(levels, becoming, strict=True)):
        if not images:
            found.append(f"{level_text(level)} has no counterpart")
        elif images != [v]:
            becomes = " or ".join(level_text(levels[beside]) for beside in images)
            found.append(f"{level_text(level)} becomes {becomes}")
    stays = "all others stay" if found else "all stay"
    return f"({', '.join([*found, stays])})"


def _tell_condition(condition: Condition, feature: Feature, name: str) -> str:
    return f"{name} is {' or '.join(_spans(condition, feature))}"


def _spans(condition: Condition, feature: Feature) -> Iterator[str]:
    for lo, hi in condition.spans:
        if feature.levels:
            yield from (level_text(feature.names[place]) for place in range(lo, hi + 1))
        else:
            yield str(lo) if lo == hi else f"from {lo} to {hi}"


def level_text(level: Level) -> str:
    """A level, quoted."""
    sort, value = level
    return {"missing": "missing", "truth": "true" if value else "false"}.get(sort, repr(value))
