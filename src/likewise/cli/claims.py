"""From flags and spec file to a model, rows, a space and a claim, each checked against the others.

A spec file says everything; flags override its entries one by one (``--free`` the list of free features,
``--within`` the table of tolerances, ``--pairs`` the table of pairs of levels; ``--where`` adds a constraint, and rows that break it are left out). ``--data`` beside a spec file gives
other rows to check and to start from: the space stays the one that the file describes. Without a spec file
the space is what the data show.

Everything is checked here, before any search: errors name the file they are about, and nothing has been
printed yet.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import click

from likewise.cli.options import ClaimFlags
from likewise.errors import DataError, LikewiseError, SpecError, UnsupportedModel, closest

if TYPE_CHECKING:
    from likewise.importers.imported import Imported, ImportedClasses
    from likewise.spec.claim import Claim
    from likewise.spec.features import Level
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity, Tolerance
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The model with all that is claimed about it; `imported` is the model as mathematics."""

    model: Any
    imported: Imported | ImportedClasses
    X: Any
    space: Space
    similarity: Similarity
    property: Property
    label: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What flags and spec file together ask for, files still unopened."""

    model: str
    data: str | None
    label: str | None
    similarity: Similarity
    property: Property
    space: Space | None


def load(
    flags: ClaimFlags, property_text: str | None = None, class_text: str | None = None, *, alone: bool = False
) -> Loaded:
    """Everything a search needs; raises what is wrong with any of it. `alone`: also where nobody is similar to another."""
    wanted = _wanted(flags, property_text)
    if not alone:
        _check_something_differs(wanted.similarity, flags)
    model = read_model(wanted.model, allow_pickle=flags.allow_pickle, trust=flags.trust)
    frame = None if wanted.data is None else _rows(wanted.data, wanted.label)
    space = wanted.space
    if space is None:
        space = _observed(frame, wanted.data, wanted.label)
    _check_columns(model, space, wanted)
    if frame is not None and wanted.space is not None:
        _check_stray_text(space, frame, str(wanted.data), declared=True)
    if flags.widen:
        space = _widened(space, frame, wanted.data)
    if frame is not None:
        _check_rows(space, frame, str(wanted.data), flags)
    if flags.where:
        space, frame = _restricted(space, frame, flags.where)
    if flags.pairs:
        wanted = replace(wanted, similarity=_with_pairs(wanted.similarity, space, flags))
    _check_claim(space, wanted, flags, alone=alone)
    imported = _imported(model, space, frame, wanted)
    return Loaded(
        model=model,
        imported=imported,
        X=frame,
        space=space,
        similarity=wanted.similarity,
        property=_with_class(wanted.property, imported, class_text, flags),
        label=wanted.label,
    )


def read_model(path: str, *, allow_pickle: bool, trust: tuple[str, ...]) -> Any:
    """The estimator in a file; what its library warns about goes to stderr in one line each."""
    from likewise.importers.files import load_model

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_model(path, allow_pickle=allow_pickle, trust=trust)
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        click.echo(f"warning: {path}: {text}", err=True)
    return model


# -- what is asked for ----------------------------------------------------------------------------------


def _wanted(flags: ClaimFlags, property_text: str | None) -> _Wanted:
    from likewise.spec.properties import SameDecision, parse_property
    from likewise.spec.similarity import Similarity

    claim = None if flags.spec is None else _claim(flags.spec)
    model = flags.model or (claim.model_path if claim else None)
    data = flags.data or (claim.data_path if claim else None)
    if model is None or (claim is None and data is None):
        _refuse_incomplete(flags, missing="--model" if model is None else "--data")
    within = _tolerances(flags.within)
    known = Similarity() if claim is None else claim.similarity
    free = flags.free or tuple(name for name in known.free if name not in within)
    kept = {name: t for name, t in known.within.items() if name not in flags.free}
    pairs = {name: p for name, p in known.pairs.items() if name not in flags.free and name not in within}
    property: Property = SameDecision() if claim is None else claim.property
    if property_text is not None:
        given: Property = _flagged("--property", parse_property, property_text)
        property = replace(given, class_of_interest=property.class_of_interest)
    return _Wanted(
        model=model,
        data=data,
        label=flags.label or (claim.label if claim else None),
        similarity=_flagged(
            "--free and --within", lambda _: Similarity(free=free, within=within or kept, pairs=pairs), None
        ),
        property=property,
        space=None if claim is None else claim.space,
    )


def _claim(spec: str) -> Claim:
    from likewise.spec.file import read_spec

    models = (".skops", ".json", ".ubj")
    if spec.lower().endswith((".csv", ".csv.gz", ".parquet", *models)):
        flag = "--model" if spec.lower().endswith(models) else "--data"
        raise SpecError(
            f"{spec}: is no spec file", hint=f"give it as {flag} {spec}; likewise init drafts a spec file"
        )
    return read_spec(spec)


def _refuse_incomplete(flags: ClaimFlags, missing: str) -> NoReturn:
    if flags.spec is not None:
        raise SpecError(
            f"{flags.spec}: model: path is missing",
            hint='[model] path = "model.skops", or --model model.skops',
        )
    raise click.UsageError(
        f"{missing} is missing: give a spec file, or --model, --data and --free (or --within)"
    )


def _tolerances(given: tuple[str, ...]) -> dict[str, Tolerance]:
    """``age=2`` and ``income=5%``; the last ``=`` separates, as names may have one."""
    tolerances: dict[str, Tolerance] = {}
    for text in given:
        name, equals, amount = text.rpartition("=")
        if not (name.strip() and equals and amount.strip()):
            raise SpecError(f"--within {text}: no tolerance", hint="--within age=2, or --within income=5%")
        if name.strip() in tolerances:
            raise SpecError(f"--within {text}: {name.strip()!r} is given twice")
        tolerances[name.strip()] = _number(amount.strip())
    return tolerances


def _number(text: str) -> Tolerance:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text  # a percentage, or an error that Similarity words


def _flagged(flag: str, make: Any, value: Any) -> Any:
    try:
        return make(value)
    except LikewiseError as error:
        raise error.located(flag) from None


def _with_pairs(similarity: Similarity, space: Space, flags: ClaimFlags) -> Similarity:
    """The similarity with the pairs of ``job=skilled:unskilled``, read as the space's own levels; they take the
    place of what a spec file says of the same feature, not of another flag."""
    from likewise.spec.similarity import Similarity

    pairs: dict[str, list[tuple[Level, Level]]] = {}
    for text in flags.pairs:
        name, levels = _flagged(f"--pairs {text}", lambda text: _level_pair(space, text), text)
        pairs.setdefault(name, []).append(levels)
    flagged = (*flags.free, *_tolerances(flags.within))
    free = [name for name in similarity.free if name not in pairs or name in flagged]
    within = {name: t for name, t in similarity.within.items() if name not in pairs or name in flagged}
    made: Similarity = _flagged("--pairs", lambda _: Similarity(free=free, within=within, pairs=pairs), None)
    return made


def _level_pair(space: Space, text: str) -> tuple[str, tuple[Level, Level]]:
    """The feature and its two levels; names and levels may have an ``=`` or a ``:`` themselves."""
    named = [(left.strip(), right) for left, right in _cut(text, "=") if left.strip() in space]
    if not named:
        name, equals, _ = text.partition("=")
        raise SpecError(
            f"no feature {name.strip()!r} in the space{closest(name.strip(), space.names)}"
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
    cuts = [(left.strip(), right.strip()) for left, right in _cut(levels, ":")]
    found = [pair for pair in cuts if pair[0] in known and pair[1] in known]
    if not found:
        unknown = next((part for pair in cuts for part in pair if part not in known), levels)
        raise SpecError(
            f"unknown level {unknown!r}{closest(unknown, known)}" if cuts else "a pair is two levels, A:B",
            hint=f"the levels of {name} are {', '.join(list(known)[:12])}{', ...' if len(known) > 12 else ''}",
        )
    return name, (known[found[0][0]], known[found[0][1]])


def _cut(text: str, at: str) -> list[tuple[str, str]]:
    """The text cut in two at each place of a sign."""
    return [(text[:i], text[i + 1 :]) for i, sign in enumerate(text) if sign == at]


def _check_something_differs(similarity: Similarity, flags: ClaimFlags) -> None:
    spec = flags.spec
    if similarity.names or flags.pairs:
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


# -- rows and space -------------------------------------------------------------------------------------


def _rows(path: str, label: str | None) -> Any:
    from likewise.spec.frames import read_table

    frame = read_table(path)
    columns = [str(name) for name in frame.columns]
    if label is not None and label not in columns:
        raise DataError(
            f"{path}: no column {label!r} to be the label{closest(label, columns)}",
            hint=f"its columns are {', '.join(columns[:12])}{', ...' if len(columns) > 12 else ''}",
        )
    return frame


def _observed(frame: Any, path: str | None, label: str | None) -> Space:
    from likewise.spec.space import Space

    try:
        return Space.from_data(frame, exclude=[] if label is None else [label])
    except LikewiseError as error:
        raise error.located(str(path)) from None


def _widened(space: Space, frame: Any, path: str | None) -> Space:
    if frame is None:
        raise click.UsageError("--widen needs --data: the rows that the space is to cover")
    try:
        return space.widen(frame)
    except LikewiseError as error:
        raise error.located(str(path)) from None


def _restricted(space: Space, frame: Any, rules: tuple[str, ...]) -> tuple[Space, Any]:
    """The space with further constraints, and the rows that satisfy them: only those are individuals of it."""
    narrower = space
    for rule in rules:
        narrower = _flagged("--where", narrower.where, rule)
    if frame is None:
        return narrower, None
    import narwhals.stable.v2 as nw

    kept = [
        all(constraint.holds(row) for constraint in narrower.constraints) for row in _exact_rows(space, frame)
    ]
    return narrower, nw.from_native(frame, eager_only=True).filter(kept).to_native()


def _exact_rows(space: Space, frame: Any) -> Iterator[dict[str, Level]]:
    for codes in space.encode(frame, allow_extra=True).tolist():
        yield {name: space.value(k, codes[k]) for k, name in enumerate(space.names)}


def _check_claim(space: Space, wanted: _Wanted, flags: ClaimFlags, *, alone: bool) -> None:
    try:
        wanted.similarity.relations(space)
        if not alone:
            wanted.similarity.resolve(space)
    except LikewiseError as error:
        flagged = (("--free", flags.free), ("--within", flags.within), ("--pairs", flags.pairs))
        given = [flag for flag, names in flagged if names]
        raise error.located(" and ".join(given) or str(flags.spec)) from None
    if wanted.label is not None and wanted.label in space:
        raise SpecError(
            f"label {wanted.label!r} is also a feature", hint="what is predicted is no part of the individual"
        )


def _check_rows(space: Space, frame: Any, path: str, flags: ClaimFlags) -> None:
    try:
        space.check_frame(frame, allow_extra=True)
    except DataError as error:
        if _wider_helps(space, frame):
            where = flags.spec or "a spec file"
            way = f"or change its bounds or levels in {where}"
            if error.message.endswith("missing value"):
                way = f"or write missing = true for it in {where}; or fill or drop such rows"
            raise DataError(
                f"{path}: {error.message}", hint=f"--widen extends the space to cover the data; {way}"
            ) from None
        raise error.located(path) from None


def _wider_helps(space: Space, frame: Any) -> bool:
    try:
        space.widen(frame).check_frame(frame, allow_extra=True)
    except LikewiseError:
        return False
    return True


# -- the model against the space --------------------------------------------------------------------------


def _check_columns(model: Any, space: Space, wanted: _Wanted) -> None:
    if not hasattr(model, "feature_names_in_") or isinstance(model, type):
        return
    names = [str(name) for name in model.feature_names_in_]
    place = wanted.data if wanted.space is None else "the space"
    missing = [name for name in names if name not in space]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise DataError(
            f"{place}: no column {missing[0]!r}{more}, which {wanted.model} was fitted on"
            f"{closest(missing[0], space.names)}",
            hint=f"the model's columns: {', '.join(names)}",
        )
    extra = [name for name in space.names if name not in names]
    if extra:
        more = f" (and {len(extra) - 1} more)" if len(extra) > 1 else ""
        raise DataError(
            f"{place}: column {extra[0]!r}{more} is none that {wanted.model} was fitted on",
            hint=f"--label {extra[0]} if it is what the model predicts; otherwise drop it from the data, "
            "or list the features in a spec file (likewise init drafts one)",
        )


def _imported(model: Any, space: Space, frame: Any, wanted: _Wanted) -> Imported | ImportedClasses:
    """Import once now, so that a refusal names its file; the search imports again with the data's rows."""
    import numpy as np

    from likewise.importers.imported import import_model

    try:
        return import_model(model, space, rows=np.empty((0, len(space))), like=frame)
    except UnsupportedModel as error:
        if frame is not None:
            _check_stray_text(space, frame, str(wanted.data), declared=False)
        raise error.located(wanted.model) from None
    except DataError as error:
        raise error.located(wanted.model) from None


def _with_class(
    property: Property, imported: Imported | ImportedClasses, text: str | None, flags: ClaimFlags
) -> Property:
    """The property with the label that is spelled so as its class of interest; refuses one that the model does not have."""
    from likewise.spec.properties import place_of_class

    labels = imported.model.head.labels
    wanted: Any = property.class_of_interest
    if text is not None:
        spelled = {str(label): label for label in labels or () if not isinstance(label, str)}
        wanted = text if text in (labels or ()) else spelled.get(text, text)
    try:
        place = place_of_class(wanted, labels, imported.model.family)
    except SpecError as error:
        where = "--class-of-interest" if text is not None else f"{flags.spec}: property.class_of_interest"
        raise error.located(where) from None
    return property if place is None else replace(property, class_of_interest=wanted)


def _check_stray_text(space: Space, frame: Any, path: str, *, declared: bool) -> None:
    """Words in a column of numbers, which make the whole column text when it is read: the words are the error.

    A column counts as numbers where it is declared so, or where most of its cells are.
    """
    from likewise.spec.columns import at

    for name in space.names:
        if name not in frame.columns or (declared and space[name].kind not in ("continuous", "integer")):
            continue
        values = list(frame[name])
        words = [row for row, value in enumerate(values) if isinstance(value, str) and not _numeric(value)]
        if words and (declared or len(words) < len(values) / 2):
            raise DataError(
                f"{path}: {at(name, words[0])}: text {values[words[0]]!r} in a column of numbers",
                hint="replace it by a number, or drop the row",
            )


def _numeric(text: str) -> bool:
    try:
        return float(text) == float(text) and abs(float(text)) != float("inf")
    except ValueError:
        return False
