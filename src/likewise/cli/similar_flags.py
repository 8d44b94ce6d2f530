"""Who is similar, as flags say it: ``--free sex --within age=2 --pairs job=skilled:unskilled``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from likewise.cli.options import ClaimFlags
from likewise.errors import LikewiseError, SpecError, suggest_name
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from likewise.spec.features import Level
    from likewise.spec.similarity import Similarity, Tolerance
    from likewise.spec.space import Space


def parse_tolerances(given: tuple[str, ...]) -> dict[str, Tolerance]:
    """``age=2`` and ``income=5%``; the last ``=`` separates, as names may have one."""
    tolerances: dict[str, Tolerance] = {}
    for text in given:
        name, equals, amount = text.rpartition("=")
        if not (name.strip() and equals and amount.strip()):
            raise SpecError(f"--within {text}: no tolerance", hint="--within age=2, or --within income=5%")
        if name.strip() in tolerances:
            raise SpecError(f"--within {text}: {name.strip()!r} is given twice")
        tolerances[name.strip()] = _parse_tolerance(amount.strip())
    return tolerances


def _parse_tolerance(text: str) -> Tolerance:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text  # a percentage, or an error that Similarity words


def parse_flag(flag: str, make: Any, value: Any) -> Any:
    """What is made of a flag's value; errors name the flag."""
    try:
        return make(value)
    except LikewiseError as error:
        raise error.located(flag) from None


def add_pairs(similarity: Similarity, space: Space, flags: ClaimFlags) -> Similarity:
    """The similarity with the pairs of ``job=skilled:unskilled``, read as the space's own levels; they take the
    place of what a claim file says of the same feature, not of another flag."""
    pairs: dict[str, list[tuple[Level, Level]]] = {}
    for text in flags.pairs:
        name, levels = parse_flag(f"--pairs {text}", lambda text: _parse_level_pair(space, text), text)
        pairs.setdefault(name, []).append(levels)
    by_flag = (*flags.free, *parse_tolerances(flags.within))
    free = [name for name in similarity.free if name not in pairs or name in by_flag]
    within = {name: t for name, t in similarity.within.items() if name not in pairs or name in by_flag}
    made: Similarity = parse_flag(
        "--pairs", lambda _: similarity.replace(free=free, within=within, pairs=pairs), None
    )
    return made


def add_along(similarity: Similarity, space: Space, flags: ClaimFlags) -> Similarity:
    """The similarity with what ``income=sex:male:female:-3000`` says changes along, in the place of what a claim file says of the same feature."""
    from likewise.spec.along import Along

    shifts: dict[str, tuple[str, list[list[Any]]]] = {}
    made = dict(similarity.along)
    for text in flags.along:
        name, leader, said = parse_flag(f"--along {text}", lambda text: _parse_along(space, text), text)
        if isinstance(said, str):
            made[name] = parse_flag(f"--along {text}", lambda rate, of=leader: Along(of, rate=rate), said)
            continue
        shifts.setdefault(name, (leader, []))[1].append(said)
        if shifts[name][0] != leader:
            raise SpecError(f"--along {text}: {name!r} changes along with {shifts[name][0]!r} already")
    for name, (leader, rows) in shifts.items():
        made[name] = parse_flag("--along", lambda rows, of=leader: Along(of, rows), rows)
    found: Similarity = parse_flag("--along", lambda along: similarity.replace(along=along), made)
    return found


def _parse_along(space: Space, text: str) -> tuple[str, str, str | list[Any]]:
    """The feature, the one that it changes along with, and a rate, or two levels and a shift; names and levels may have an ``=`` or a ``:`` themselves."""
    hint = "--along income=sex:male:female:-3000, or --along experience=age:0.8"
    for name, rest in _split_at_each(text, "="):
        for leader, said in _split_at_each(rest, ":"):
            if name.strip() not in space or leader.strip() not in space:
                continue
            levels, colon, amount = said.rpartition(":")
            if not colon:
                return name.strip(), leader.strip(), amount.strip()
            if isinstance(space[leader.strip()], Continuous | Integer):
                _refuse_levels(space, name.strip(), leader.strip())
            first, second = _parse_level_pair(space, f"{leader}={levels}")[1]
            return name.strip(), leader.strip(), [first, second, amount.strip()]
    name = text.partition("=")[0].strip()
    known = name in space
    raise SpecError(
        "names no feature that it changes along with"
        if known
        else f"no feature {name!r} in the space{suggest_name(name, space.names)}",
        hint=hint,
    )


def _refuse_levels(space: Space, name: str, leader: str) -> NoReturn:
    """Say what goes along with a number, of which two levels were named."""
    raise SpecError(
        f"{leader!r} is {space[leader].kind}, it has no levels",
        hint=f'--along {name}={leader}:RATE changes by a rate for each 1 of a whole number; or [features.{leader}] with kind = "categorical" and levels in the claim file',
    )


def add_metric(similarity: Similarity, space: Space, flags: ClaimFlags) -> Similarity:
    """The similarity with the metric of ``l1:age=1/10,job=1`` and the radius, in the place of those of a claim file; what numbers mean is told by the space: costs of levels, weights of numbers and of steps."""
    metric = similarity.metric
    if flags.metric is not None:
        metric = read_metric(space, flags.metric)
    radius = similarity.radius if flags.metric_radius is None else flags.metric_radius
    made: Similarity = parse_flag(
        "--metric and --metric-radius", lambda _: similarity.replace(metric=metric, radius=radius), None
    )
    return made


def read_metric(space: Space, text: str) -> Any:
    """The metric of ``l1:age=1/10,job=1``."""
    return parse_flag(f"--metric {text}", lambda given: _parse_metric(space, given), text)


def _parse_metric(space: Space, text: str) -> Any:
    from likewise.spec.features import Categorical
    from likewise.spec.metric import Metric

    kind, _, listed = text.partition(":")
    weights: dict[str, Any] = {}
    costs: dict[str, Any] = {}
    for part in listed.split(","):
        name, equals, amount = (piece.strip() for piece in part.rpartition("="))
        if not (name and equals and amount):
            raise SpecError(
                f"{part.strip()!r} has no weight", hint="--metric l1:age=1/10,job=1 --metric-radius 1"
            )
        if name not in space:
            raise SpecError(f"no feature {name!r} in the space{suggest_name(name, space.names)}")
        (costs if isinstance(space[name], Categorical) else weights)[name] = amount
    return Metric(kind.strip(), weights=weights, costs=costs)  # type: ignore[arg-type]


def _parse_level_pair(space: Space, text: str) -> tuple[str, tuple[Level, Level]]:
    """The feature and its two levels; names and levels may have an ``=`` or a ``:`` themselves."""
    named = [(left.strip(), right) for left, right in _split_at_each(text, "=") if left.strip() in space]
    if not named:
        name, equals, _ = text.partition("=")
        raise SpecError(
            f"no feature {name.strip()!r} in the space{suggest_name(name.strip(), space.names)}"
            if equals
            else "no levels",
            hint="--pairs job=skilled:unskilled",
        )
    name, levels = named[0]
    feature = space[name]
    if feature.kind == "continuous" or feature.kind == "integer":
        raise SpecError(f"{name!r} is {feature.kind}, it has no levels", hint=f"--within {name}=2")
    known: dict[str, Level] = {"missing": None} if feature.missing else {}
    known |= {str(level): level for level in feature.levels if level is not None}
    cuts = [(left.strip(), right.strip()) for left, right in _split_at_each(levels, ":")]
    found = [pair for pair in cuts if pair[0] in known and pair[1] in known]
    if not found:
        unknown = next((part for pair in cuts for part in pair if part not in known), levels)
        raise SpecError(
            f"unknown level {unknown!r}{suggest_name(unknown, known)}"
            if cuts
            else "a pair is two levels, A:B",
            hint=f"the levels of {name} are {', '.join(list(known)[:12])}{', ...' if len(known) > 12 else ''}",
        )
    return name, (known[found[0][0]], known[found[0][1]])


def _split_at_each(text: str, at: str) -> list[tuple[str, str]]:
    """The text cut in two at each place of a sign."""
    return [(text[:i], text[i + 1 :]) for i, sign in enumerate(text) if sign == at]


def check_something_differs(similarity: Similarity, flags: ClaimFlags) -> None:
    """Refuse a claim about nothing but individuals beside themselves."""
    spec = flags.spec
    if similarity.names or flags.pairs or flags.metric or flags.along:
        return
    if spec is None:
        raise SpecError(
            "nothing says how similar individuals may differ",
            hint="--free sex (in any way) or --within age=2 (by at most 2)",
        )
    raise SpecError(
        f"{spec}: similarity: nothing may differ, so every pair is one individual",
        hint='fill in free = ["sex"] or [similarity.within] in the file, or give --free sex',
    )
