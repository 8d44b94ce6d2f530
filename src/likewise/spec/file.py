"""The claim file: a claim kept as TOML, read here and written by `toml_writer`.

::

    [model]                      [features.age]            [similarity]
    path = "credit.skops"        kind = "integer"          free = ["sex"]
                                 lo = 18
    [data]                       hi = 75                   [similarity.within]
    path = "credit.csv"                                    age = 2
    label = "good"               [features.sex]            income = "5%"
    features = "observed"        kind = "categorical"
                                 levels = ["f", "m"]       [similarity.pairs]
    [[constraints]]                                        job = [["skilled", "unskilled"]]
    rule = "employed <= age - 14"
                                                           [similarity.metric]
                                                           kind = "l1"
                                                           weights = { income = "1/5000" }
                                                           costs = { region = 1 }

                                                           [property]
                                                           kind = "decision"
                                                           margin = 0
                                                           class_of_interest = "high"

Features come from the data unless ``data.features`` is ``"listed"``: every column but the label, kinds,
bounds and levels observed, and those listed in the file override theirs. Without ``data.path`` all of
them are listed. ``missing = true`` lets a feature be missing (the level None, for levels). Paths are
relative to the folder of the file. Every error names the file, the key,
what was expected, and the closest right name. Of an ``.onnx`` file, ``[model.inputs]`` says which feature is
in which column (`model_reading`), and ``model.labels`` what
its classes are called; ``model.encoding = "get_dummies"`` says that it was fitted on such columns,
``model.threshold = 0.2`` from which probability on it decides for the second of two classes. ``[display]``
has names for the readers of a report (`display_names`),
``[population]`` says who people are (`population`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from likewise.errors import LikewiseError, SpecError, suggest_name
from likewise.spec.claim import WrittenClaim
from likewise.spec.display_names import DisplayNames
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.mahalanobis import Mahalanobis
from likewise.spec.metric import Metric
from likewise.spec.model_reading import LevelColumns, ModelReading
from likewise.spec.named_claims import NAMED_KEYS, NAMED_KINDS, NamedClaim, named_claim
from likewise.spec.numbers import short_repr
from likewise.spec.outside import Outside, check_choice
from likewise.spec.population import Population
from likewise.spec.properties import PROPERTY_KINDS, Property, SameDecision, make_property
from likewise.spec.similarity import SIMILARITY_KEYS, Similarity, along_from_dict, metric_from_dict
from likewise.spec.space import Space
from likewise.spec.toml_tables import (
    check_keys,
    load_document,
    read_path,
    read_table,
    read_text,
    refuse,
    refuse_type,
)
from likewise.spec.toml_writer import spec_text, toml_key, write_spec

__all__ = ["WrittenClaim", "read_spec", "spec_text", "write_spec"]

_TABLES = ("model", "data", "features", "similarity", "property", "constraints", "display", "population")
_DOMAIN_KEYS = {
    "continuous": ("lo", "hi"),
    "integer": ("lo", "hi"),
    "categorical": ("levels",),
    "ordinal": ("levels",),
}  # and each may have missing = true


def read_spec(path: str | Path) -> WrittenClaim:
    """The claim in the TOML file at `path`."""
    file = Path(path)
    document = load_document(file)
    check_keys(file, "", document, _TABLES)
    model = read_table(
        file,
        document,
        "model",
        ("path", "inputs", "labels", "external_data", "encoding", "threshold", "trust"),
    )
    data = read_table(file, document, "data", ("path", "label", "features", "outside"))
    label = read_text(file, data, "data", "label")
    data_path, outside = read_path(file, data, "data"), _read_outside(file, data)
    model_path, reading = read_path(file, model, "model"), _read_reading(file, model)
    similarity, wanted = _read_claimed(file, document)
    space = _read_space(file, document, data, data_path, label)
    try:
        return WrittenClaim(
            space,
            similarity,
            wanted,
            model_path=model_path,
            data_path=data_path,
            label=label,
            reading=reading,
            outside=outside,
            display=DisplayNames.of(read_table(file, document, "display", None)),
            population=(
                Population.of(read_table(file, document, "population", None))
                if "population" in document
                else None
            ),
        )
    except SpecError as error:
        raise error.located(str(file)) from None


def _read_space(
    file: Path, document: dict[str, Any], data: dict[str, Any], data_path: str | None, label: str | None
) -> Space:
    listed = _read_features(file, document)
    mode = read_text(file, data, "data", "features") or "observed"
    if mode not in ("observed", "listed"):
        near = suggest_name(mode, ("observed", "listed"))
        refuse(file, "data.features", f'must be "observed" or "listed", got {mode!r}{near}')
    if data_path is not None and mode == "observed":
        listed = _add_observed(file, listed, data_path, label)
    if not listed:
        refuse(file, "features", "no features", hint="list them as [features.NAME], or give data.path")
    space = Space(listed)
    for number, rule in enumerate(_read_rules(file, document)):
        try:
            space = space.where(rule)
        except SpecError as error:
            raise error.located(f"{file}: constraints[{number}].rule") from None
    return space


def _read_features(file: Path, document: dict[str, Any]) -> dict[str, Feature]:
    tables = read_table(file, document, "features", None)
    features: dict[str, Feature] = {}
    for name, table in tables.items():
        key = f"features.{toml_key(name)}"
        if not isinstance(table, dict):
            refuse_type(file, key, "a table with kind and lo, hi or levels", table)
        features[name] = _read_feature(file, key, table)
    return features


def _read_feature(file: Path, key: str, table: dict[str, Any]) -> Feature:
    kinds = tuple(_DOMAIN_KEYS)
    kind = table.get("kind")
    if "kind" not in table:
        slip = next((k for k in table if suggest_name(k, ("kind",))), None)
        refuse(
            file,
            key,
            "kind is missing" + (f" (is {slip!r} meant to be 'kind'?)" if slip else ""),
            hint=_kinds_hint(),
        )
    if not isinstance(kind, str) or kind not in kinds:
        refuse(
            file,
            f"{key}.kind",
            f"{short_repr(kind)} is no kind of feature{suggest_name(kind, kinds)}",
            hint=_kinds_hint(),
        )
    check_keys(file, key, table, ("kind", *_DOMAIN_KEYS[kind], "missing"))
    for needed in _DOMAIN_KEYS[kind]:
        if needed not in table:
            refuse(file, key, f"{needed} is missing, a feature of kind {kind} needs it")
    missing = table.get("missing", False)
    if not isinstance(missing, bool):
        refuse_type(file, f"{key}.missing", "true or false", missing)
    try:
        if kind == "continuous":
            return Continuous(table["lo"], table["hi"], missing=missing)
        if kind == "integer":
            return Integer(table["lo"], table["hi"], missing=missing)
        levels = table["levels"]
        if missing and isinstance(levels, list):  # TOML has no null
            levels = [*levels, None]
        return Categorical(levels) if kind == "categorical" else Ordinal(levels)
    except SpecError as error:
        raise error.located(f"{file}: {key}") from None


def _kinds_hint() -> str:
    return 'kind is "continuous" or "integer" (with lo and hi), "categorical" or "ordinal" (with levels)'


def _add_observed(
    file: Path, listed: Mapping[str, Feature], data_path: str, label: str | None
) -> dict[str, Feature]:
    """The columns of the data in their order, minus the label, overridden by what is listed."""
    from likewise.spec.columns import as_table
    from likewise.spec.frames import read_table

    try:
        frame = as_table(read_table(data_path))
    except LikewiseError as error:
        raise error.located(f"{file}: data.path") from None
    columns = list(frame.columns)
    if label is not None and label not in columns:
        refuse(file, "data.label", f"the data have no column {label!r}{suggest_name(label, columns)}")
    for name in listed:
        if name not in columns:
            refuse(
                file,
                f"features.{toml_key(name)}",
                f"the data have no column {name!r}{suggest_name(name, columns)}",
                hint='with data.features = "listed" only the features in this file count',
            )
    wanted = [name for name in columns if name != label]
    rest = [name for name in wanted if name not in listed]
    try:
        observed = Space.from_data(frame.select(rest).to_native()).features if rest else {}
    except LikewiseError as error:
        # The way out of a constant or mixed column is another one in a file than in Python.
        key = f"{file}: data.path"
        raise type(error)(
            f"{key}: {error.message}",
            hint="list it as [features.NAME] in the claim file, with missing = true if it may be missing",
        ) from None
    return {name: listed[name] if name in listed else observed[name] for name in wanted}


def _read_outside(file: Path, data: dict[str, Any]) -> Outside:
    try:
        return check_choice(data.get("outside", "error"))
    except SpecError as error:
        raise error.located(f"{file}: data.outside") from None


def _read_reading(file: Path, model: dict[str, Any]) -> ModelReading:
    """What is said below [model] about how its file is to be read."""
    labels, external = model.get("labels"), model.get("external_data", False)
    if labels is not None and not (
        isinstance(labels, list) and all(isinstance(one, (str, int, float)) for one in labels)
    ):
        refuse_type(file, "model.labels", "a list of labels", labels)
    if not isinstance(external, bool):
        refuse_type(file, "model.external_data", "true or false", external)
    if "trust" in model:
        _refuse_trust(file, model["trust"])
    tables = read_table(file, {"model.inputs": model.get("inputs", {})}, "model.inputs", None)
    inputs = {name: _read_columns(file, name, entries) for name, entries in tables.items()}
    try:
        return ModelReading(
            inputs=inputs,
            labels=None if labels is None else tuple(labels),
            external_data=external,
            encoding=read_text(file, model, "model", "encoding"),
            threshold=model.get("threshold"),
        )
    except SpecError as error:
        raise error.located(f"{file}: model") from None


def _refuse_trust(file: Path, trust: Any) -> NoReturn:
    """Whoever writes a claim file may be whoever wrote the model."""
    listed = [name for name in trust if isinstance(name, str)] if isinstance(trust, list) else []
    names = [name for name in listed if name.replace(".", "_").isidentifier()]  # nothing else for a shell
    raise SpecError(
        f"{file}: model.trust: a claim file cannot say which types of a model file are trusted",
        hint="if you know them and trust the file, leave it out and pass "
        + (" ".join(f"--trust {name}" for name in names) or "--trust NAME"),
    )


def _read_columns(file: Path, name: str, entries: Any) -> tuple[str | LevelColumns, ...]:
    """The columns of one input: a list of features and tables of levels, or one of them."""
    key = f"model.inputs.{toml_key(name)}"
    found: list[str | LevelColumns] = []
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, str):
            found.append(entry)
            continue
        if not isinstance(entry, dict):
            refuse_type(
                file, key, 'the name of a feature, or { feature = "sex", levels = ["f", "m"] }', entry
            )
        check_keys(file, key, entry, ("feature", "levels"))
        feature, levels = read_text(file, entry, key, "feature"), entry.get("levels")
        if (
            feature is None
            or not isinstance(levels, list)
            or not all(isinstance(level, (str, int, float)) for level in levels)
        ):
            refuse(file, key, "needs feature and levels", hint='{ feature = "sex", levels = ["f", "m"] }')
        try:
            found.append(LevelColumns(feature, tuple(levels)))
        except SpecError as error:
            raise error.located(f"{file}: {key}") from None
    return tuple(found)


def _read_rules(file: Path, document: dict[str, Any]) -> list[str]:
    entries = document.get("constraints", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        refuse(
            file, "constraints", "must be tables", hint='write [[constraints]] and below it rule = "a <= b"'
        )
    rules = []
    for number, entry in enumerate(entries):
        key = f"constraints[{number}]"
        check_keys(file, key, entry, ("rule",))
        rule = read_text(file, entry, key, "rule")
        if rule is None:
            refuse(file, key, "rule is missing", hint='rule = "employed <= age - 14"')
        rules.append(rule)
    return rules


def _read_similarity(file: Path, document: dict[str, Any]) -> Similarity:
    if "similarity" not in document:
        near = next((key for key in document if suggest_name(key, ("similarity",))), None)
        refuse(
            file,
            "similarity",
            f"is missing{f' (found {near!r})' if near else ''}",
            hint='[similarity] free = ["sex"]',
        )
    table = read_table(file, document, "similarity", SIMILARITY_KEYS)
    free, within, pairs = table.get("free", []), table.get("within", {}), table.get("pairs", {})
    metric = table.get("metric")
    order, along = table.get("order", {}), table.get("along", {})
    if not isinstance(free, list):
        refuse_type(file, "similarity.free", "a list of feature names", free)
    if not isinstance(within, dict):
        refuse_type(file, "similarity.within", "a table of tolerances", within)
    if not isinstance(pairs, dict):
        refuse_type(file, "similarity.pairs", "a table of lists of pairs", pairs)
    if not isinstance(metric, dict | None):
        refuse_type(file, "similarity.metric", "a table with kind, weights and costs", metric)
    if not isinstance(order, dict):
        refuse_type(file, "similarity.order", "a table of directions", order)
    if not isinstance(along, dict) or not all(map(_tells_along, along.values())):
        refuse_type(file, "similarity.along", "tables with with, and shift, rate or table", along)
    try:
        return Similarity(
            free=free,
            within=within,
            pairs={k: _decode_missing(v) for k, v in pairs.items()},
            metric=None if metric is None else _read_metric(metric),
            radius=table.get("radius"),
            order=order,
            along={name: along_from_dict(_decode_missing(one)) for name, one in along.items()},
        )
    except SpecError as error:
        raise error.located(f"{file}: similarity") from None


def _read_metric(table: dict[str, Any]) -> Metric | Mahalanobis:
    """A metric; costs of levels are lists of two levels and a number."""
    costs = table.get("costs")
    if isinstance(costs, dict):
        table = {**table, "costs": {name: _decode_missing(given) for name, given in costs.items()}}
    return metric_from_dict(table)


def _tells_along(one: Any) -> bool:
    """Whether it is a table, or a list of them."""
    return isinstance(one, dict) or (isinstance(one, list) and all(isinstance(part, dict) for part in one))


def _decode_missing(pairs: Any) -> Any:
    """Pairs of levels with None for ``{ missing = true }``, in whatever depth the lists and tables are."""
    if isinstance(pairs, list):
        return [_decode_missing(part) for part in pairs]
    if isinstance(pairs, dict) and pairs != {"missing": True}:
        return {key: _decode_missing(value) for key, value in pairs.items()}
    return None if pairs == {"missing": True} else pairs


def _read_claimed(file: Path, document: dict[str, Any]) -> tuple[Similarity, Property]:
    """Who is similar and what they must share; a claim with a name says both."""
    named = _read_named_claim(file, document)
    if named is None:
        similar, asked = _read_similarity(file, document), _read_property(file, document)
        if not isinstance(asked, Lipschitz):
            return similar, asked
        try:
            return asked.similarity(similar), asked.beside(similar)
        except SpecError as error:
            raise error.located(f"{file}: property") from None
    try:
        return named.similarity(
            _read_similarity(file, document) if "similarity" in document else None
        ), named.property()
    except SpecError as error:
        raise error.located(f"{file}: property") from None


def _read_named_claim(file: Path, document: dict[str, Any]) -> NamedClaim | None:
    table = read_table(file, document, "property", None)
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in NAMED_KINDS:
        return None
    check_keys(file, "property", table, ("kind", *NAMED_KEYS[kind], "of", "at_most", "class_of_interest"))
    try:
        return named_claim(kind, table)
    except SpecError as error:
        raise error.located(f"{file}: property") from None


def _read_property(file: Path, document: dict[str, Any]) -> Property:
    if "property" not in document:
        return SameDecision()
    table = read_table(file, document, "property", None)
    kind = table.get("kind")
    if kind == Lipschitz.kind:
        return _read_lipschitz(file, table)
    if not isinstance(kind, str) or kind not in PROPERTY_KINDS:
        refuse(
            file,
            "property.kind",
            f"{short_repr(kind)} is no kind of property{suggest_name(kind, (*PROPERTY_KINDS, *NAMED_KINDS))}"
            if "kind" in table
            else "is missing",
            hint='"decision" (with margin), "score" or "probability" (with delta), or "lipschitz" (with constant and a metric)',
        )
    amount = "margin" if kind == "decision" else "delta"
    check_keys(file, "property", table, ("kind", amount, "class_of_interest"))
    if amount not in table and kind != "decision":
        refuse(file, "property", f"delta is missing, a property of kind {kind} needs it")
    try:
        return make_property(kind, table.get(amount, 0.0), table.get("class_of_interest"))
    except SpecError as error:
        raise error.located(f"{file}: property") from None


def _read_lipschitz(file: Path, table: dict[str, Any]) -> Lipschitz:
    check_keys(file, "property", table, ("kind", "constant", "slack", "class_of_interest", "metric"))
    if "constant" not in table:
        refuse(file, "property", "constant is missing, a property of kind lipschitz needs it")
    try:
        return Lipschitz(
            table["constant"],
            metric_from_dict(table["metric"]) if "metric" in table else None,
            slack=table.get("slack", 0.0),
            class_of_interest=table.get("class_of_interest"),
        )
    except SpecError as error:
        raise error.located(f"{file}: property") from None
