"""Models fitted on `pandas.get_dummies` of the rows: `pandas.get_dummies(rows).reindex(columns=names,
fill_value=0)`, where `names` are the columns of the model.

Nothing but these names says what the columns are. A column is a feature of the space by its own name, or
the category of one:

    name = head + text of the category        head: the feature and a separator, or another prefix; "nan" is the text of what is missing

`recognise` looks for heads such that every column is of a category, and refuses if there are none, if there
are several, or if a column may then be of two categories. Which columns are missing (`drop_first`, a category
never seen) and their order make no difference: a category without a column is 0 in all of them.
`DummyColumns` makes the columns of raw rows, in front of the model as the first step of a pipeline.
It is compared with pandas itself, on the rows and on every category of every feature, and the model's
`predict` on both frames.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.errors import DataError, MismatchedModel, UnsupportedModel
from likewise.importers.inputs import known_names
from likewise.importers.registry import is_black_box, is_torch_module
from likewise.importers.transformers.encoders import ONE_HOT
from likewise.importers.transformers.traced_columns import (
    MOST_CODES,
    Step,
    TracedColumn,
    derive_column,
    listable_values,
)
from likewise.importers.unfold import unfold
from likewise.spec.columns import as_table, read_column
from likewise.spec.features import Integer, Level, is_missing
from likewise.spec.model_reading import GET_DUMMIES, check_encoding
from likewise.spec.space import Space

if TYPE_CHECKING:
    from likewise.importers.unfold import UnfoldedEstimator

MISSING_TEXT = "nan"
ASKED = ("predict", "predict_proba", "decision_function")
MOST_ROWS = 256  # of the user's, that are compared with pandas
RENAME_HINT = "call get_dummies with a prefix of its own for each column, or put OneHotEncoder into a Pipeline, and fit again"
Heads = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DummyColumn:
    """A column of the model: of one category of a feature (None is what is missing) with the text at the
    end of its name; or a feature as it stands, without a text."""

    name: str
    feature: str
    level: Level = None
    text: str | None = None

    @property
    def head(self) -> str:
        """What stands before the text."""
        return self.name[: len(self.name) - len(self.text or "")]


@dataclass(frozen=True, slots=True)
class DummyColumns:
    """The columns of a model, in its order, of raw rows; with what a step of a pipeline has."""

    columns: tuple[DummyColumn, ...]
    features: tuple[str, ...]
    confirmed: int | None = None  # rows that pandas itself was asked about; None without pandas
    unseen: tuple[tuple[str, Level], ...] = ()  # categories without a column

    @property
    def feature_names_in_(self) -> Any:
        return np.array(self.features, dtype=object)

    @property
    def n_features_in_(self) -> int:
        return len(self.features)

    @property
    def encoded(self) -> list[str]:
        """The features that have columns of their categories."""
        return list(dict.fromkeys(one.feature for one in self.columns if one.text is not None))

    def fit(self, X: Any, y: Any = None) -> DummyColumns:  # noqa: ARG002 - as steps of pipelines have it
        return self

    def transform(self, X: Any) -> Any:
        """The frame that the model takes."""
        import narwhals.stable.v2 as nw

        table = as_table(X)
        values = {name: read_column(table, name).values() for name in self.encoded}
        codes = {name: dict.fromkeys(seen) for name, seen in values.items()}
        for seen in codes.values():
            seen.update({level: float(i) for i, level in enumerate(seen)})
        places = {
            name: np.array([codes[name][value] for value in seen], dtype=np.float64)
            for name, seen in values.items()
        }
        made = [
            nw.new_series(
                one.name,
                (places[one.feature] == codes[one.feature].get(one.level, -1.0)).astype(np.float64),
                backend=table.implementation,
            )
            for one in self.columns
            if one.text is not None
        ]
        return table.with_columns(*made).select([one.name for one in self.columns]).to_native()

    def trace(self, columns: Sequence[TracedColumn], step: Step) -> tuple[TracedColumn, ...]:
        """What is known of each column (`transformers.composition`)."""
        by_name = {one.name: one for one in columns}
        return tuple(
            by_name[one.feature] if one.text is None else derive_column(by_name[one.feature], ONE_HOT, step)
            for one in self.columns
        )

    @property
    def stats(self) -> dict[str, Any]:
        """What an answer tells of it."""
        return {
            "kind": GET_DUMMIES,
            "features": self.encoded,
            "columns": sum(one.text is not None for one in self.columns),
            "rows_compared": self.confirmed,
            "without_column": [[feature, level] for feature, level in self.unseen],
        }


class EncodedModel:
    """The model of raw rows, taken apart like a pipeline (`unfold`): it says of rows what the model says of
    their columns."""

    def __init__(self, columns: DummyColumns, model: Any) -> None:
        self.steps = [(GET_DUMMIES, columns), ("model", model)]
        self.feature_names_in_, self.n_features_in_ = columns.feature_names_in_, len(columns.features)

    def __getattr__(self, name: str) -> Any:
        """What the model has; whoever asks for a method must be able to tell whether it is there."""
        if name.startswith("__") or name == "steps":
            raise AttributeError(name)
        (_, columns), (_, model) = self.steps
        found = getattr(model, name)
        return (lambda rows: found(columns.transform(rows))) if name in ASKED else found


def encoded_features(model: Any, frame: Any, columns: Sequence[str]) -> list[str] | None:
    """The columns of a frame, of these, that a model was fitted on behind get_dummies; None where its
    columns are not named like categories of theirs. Columns that no name begins with are left out, unless
    all prefixes are other ones."""
    unfolded = unfold(model)
    names = known_names(model, unfolded, Space(dict.fromkeys(columns, Integer(0, 1))))
    if names is None or set(names) <= set(columns):
        return None
    blanks = _writes_blanks(unfolded, names)
    begun = [one for one in columns if any(name.startswith(_written(one, blanks)) for name in names)]
    refusal: DataError | None = None
    for some in filter(None, (begun, list(columns))):
        space = Space.from_data(as_table(frame).select(some).to_native(), constant="keep", missing="include")
        try:
            recognise(names, space, blanks=blanks)
        except DataError as error:
            refusal = refusal or (error if looks_encoded(names, space) else None)
        else:
            return some
    if refusal is not None:
        raise refusal
    return None


def with_encoding(model: Any, space: Space, encoding: str | None, rows: Any) -> Any:
    """The model of raw rows: behind its encoding, if it has one. A model that takes the features as they
    are stays what it is."""
    if encoding is None:
        return model
    check_encoding(encoding)
    if is_black_box(model) or is_torch_module(model):
        raise UnsupportedModel(
            f"encoding={GET_DUMMIES!r} needs the names of the columns, and {type(model).__name__} has none",
            hint="call get_dummies inside the function: BlackBox(lambda rows: ...)",
        )
    from likewise.importers.imported_model import as_estimator

    model = as_estimator(model, space)
    unfolded = unfold(model)
    names = known_names(model, unfolded, space)
    if names is None:
        raise UnsupportedModel(
            f"encoding={GET_DUMMIES!r} needs the names of the columns, and the model was fitted on an array without names",
            hint="fit it on the frame that get_dummies returned, not on its values",
        )
    if set(names) == set(space.names):
        return model
    blanks = _writes_blanks(unfolded, names)
    columns = recognise(names, space, blanks=blanks)
    step = _confirmed(DummyColumns(columns, space.names), model, space, rows, blanks=blanks)
    return EncodedModel(step, model)


def _writes_blanks(unfolded: UnfoldedEstimator, names: Sequence[str]) -> bool:
    """Whether the model has underscores in the place of blanks, as LightGBM writes them."""
    return "lightgbm" in type(unfolded.final).__module__ and not any(" " in name for name in names)


def _written(text: str, blanks: bool) -> str:
    return text.replace(" ", "_") if blanks else text


def encoding_of(model: Any) -> DummyColumns | None:
    """The step that was put in front of a model."""
    return model.steps[0][1] if isinstance(model, EncodedModel) else None


def looks_encoded(names: Sequence[str], space: Space) -> tuple[str, str] | None:
    """A column of a model that is named like a category of a feature of the space, and that feature; None
    where there is none, or the space has all columns."""
    for name in names:
        for feature in () if name in space else space.names:
            texts = () if feature in names else _texts(space, feature)
            if name.startswith(feature) and any(name[i:] in texts for i in range(len(feature), len(name))):
                return name, feature
    return None


# -- which column is which category -----------------------------------------------------------------------


def recognise(names: Sequence[str], space: Space, *, blanks: bool = False) -> tuple[DummyColumn, ...]:
    """What each column is. `blanks`: the library writes underscores in the place of blanks."""
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise DataError(f"the model was fitted on two columns named {twice[0]!r}", hint=RENAME_HINT)
    given = [name for name in names if name not in space]
    texts = {name: _texts(space, name, blanks=blanks) for name in space.names if name not in names}
    shown = {name: _written(name, blanks) for name in texts}
    heads = [
        chosen
        for separator in sorted(_common_separators(given, texts, shown))
        if _explains(chosen := {name: shown[name] + separator for name in texts}, given, texts)
    ] or _other_heads(given, texts, shown)
    if not heads:
        _refuse_names(given, texts, {name: f"{shown[name]}_" for name in texts}, space)
    first, *more = (_cover(given, texts, chosen) for chosen in heads)
    for some in (some for found in (first, *more) for some in found.values() if len(some) > 1):
        _refuse_two(*some[:2])
    for one, other in ((first[n][0], other[n][0]) for other in more for n in given if first[n] != other[n]):
        _refuse_two(one, other)
    for name, some in _cover([name for name in names if name in space], texts, heads[0]).items():
        if some:
            _refuse_two(DummyColumn(name, name), some[0])
    if len({(some[0].feature, some[0].level) for some in first.values()}) < len(given):
        raise DataError("two columns of the model are of one category", hint=RENAME_HINT)
    return tuple(DummyColumn(name, name) if name in space else first[name][0] for name in names)


def _texts(space: Space, name: str, *, blanks: bool = False) -> dict[str, list[Level]]:
    """The categories of a feature by the text that pandas writes for them; also what is missing, where
    nothing is: it is 0 for everybody."""
    feature = space[name]
    if isinstance(feature, Integer) and feature.size > MOST_CODES:
        return {}
    found: dict[str, list[Level]] = {}
    for level in dict.fromkeys((*(listable_values(feature) or ()), None)):
        for text in _spellings(level):
            if level is not None or feature.missing or text not in found:
                found.setdefault(_written(text, blanks), []).append(level)
    return found if len(found) > 1 else {}


def _spellings(level: Level) -> tuple[str, ...]:
    """How pandas writes a category: whole numbers also as floats, as which they come where some are
    missing."""
    if level is None:
        return (MISSING_TEXT,)
    if isinstance(level, (bool, str)):
        return (str(level),)
    whole = (str(int(level)),) if float(level).is_integer() else ()
    return tuple(dict.fromkeys((*whole, str(float(level)))))


Texts = Mapping[str, Mapping[str, Sequence[Level]]]


def _cover(given: Sequence[str], texts: Texts, heads: Heads) -> dict[str, list[DummyColumn]]:
    """The categories that each column may be of, by these heads."""
    return {
        name: [
            DummyColumn(name, feature, level, name[len(head) :])
            for feature, head in heads.items()
            if name.startswith(head)
            for level in texts[feature].get(name[len(head) :], ())
        ]
        for name in given
    }


def _explains(heads: Heads, given: Sequence[str], texts: Texts) -> bool:
    """Whether each column may be a category of some feature, and each feature have a column."""
    found = _cover(given, texts, heads)
    return all(found.values()) and {one.feature for some in found.values() for one in some} == set(texts)


def _common_separators(given: Sequence[str], texts: Texts, shown: Mapping[str, str]) -> set[str]:
    """What may stand between every feature's name and its categories."""
    found: set[str] | None = None
    for feature, title in shown.items():
        mine = {
            name[len(title) : i]
            for name in given
            if name.startswith(title)
            for i in range(len(title), len(name) + 1)
            if name[i:] in texts[feature]
        }
        found = mine if found is None else found & mine
    return found or set()


def _other_heads(given: Sequence[str], texts: Texts, shown: Mapping[str, str]) -> list[Heads]:
    """The heads that explain the columns, if each feature can have only one. A feature whose name begins some
    column has no head of another beginning."""
    features = list(texts)
    heads = [
        sorted({name[:i] for name in given for i in range(len(name) + 1) if name[i:] in texts[feature]})
        for feature in features
    ]
    for k, feature in enumerate(features):
        if any(name.startswith(shown[feature]) for name in given):
            heads[k] = [head for head in heads[k] if head.startswith(shown[feature])]
    several = next((k for k, some in enumerate(heads) if len(some) > 1), None)
    if several is not None:  # the space may lack a category that would tell which one is right
        one, other = heads[several][:2]
        raise DataError(
            f"the columns of {features[several]!r} may be those that begin with {one!r}, or with {other!r}: each may be the category of two features",
            hint=RENAME_HINT,
        )
    chosen = {feature: some[0] for feature, some in zip(features, heads, strict=True) if some}
    return [chosen] if len(chosen) == len(features) and _explains(chosen, given, texts) else []


def _refuse_names(given: Sequence[str], texts: Texts, heads: Heads, space: Space) -> NoReturn:
    """Where the names of pandas' default prefixes do not come out."""
    found = _cover(given, texts, heads)
    strange = next((name for name in given if not found[name]), None)
    if strange is not None:
        near = max((f for f in texts if strange.startswith(heads[f])), key=len, default=None)
        text = "" if near is None else strange[len(heads[near]) :]
        raise DataError(
            f"the model was fitted on column {strange!r}, which is neither a feature of the space nor the category of one",
            hint=f"name the features of the space as in the frame that get_dummies was given: {', '.join(space.names)}"
            if near is None
            else f"if {text!r} is a category of {near!r}, declare it: space.replace({{{near!r}: Categorical([..., {text!r}])}})",
        )
    for some in found.values():
        if len(some) > 1:
            _refuse_two(some[0], some[1])
    idle = next((one for one in texts if all(some[0].feature != one for some in found.values())), None)
    if idle is not None:
        raise DataError(
            f"no column of the model is of the feature {idle!r}",
            hint="leave it out of the space (Space.from_data(X, exclude=[...])): the model never sees it",
        )
    raise DataError("two columns of the model are of one category", hint=RENAME_HINT)


def _refuse_two(one: DummyColumn, other: DummyColumn) -> NoReturn:
    first = "the feature itself" if one.text is None else f"the category {one.level!r} of {one.feature!r}"
    raise DataError(
        f"column {one.name!r} of the model may be {first}, or {other.level!r} of {other.feature!r}",
        hint=RENAME_HINT,
    )


# -- compared with pandas ---------------------------------------------------------------------------------


def _confirmed(columns: DummyColumns, model: Any, space: Space, rows: Any, *, blanks: bool) -> DummyColumns:
    """The same, once pandas has made the same of the rows, and of every category of every feature, and the
    model says the same of both frames."""
    known = {(one.feature, one.level): one.text for one in columns.columns}
    levels = {name: listable_values(space[name]) or () for name in columns.encoded}
    unseen = tuple((name, one) for name, some in levels.items() for one in some if (name, one) not in known)
    columns = replace(columns, unseen=unseen)
    if find_spec("pandas") is None:
        return columns
    count = 0
    if rows is not None and len(rows):
        table = as_table(rows)
        count = min(len(table), MOST_ROWS)
        places = np.linspace(0, len(table) - 1, count).astype(int).tolist()
        given = table.select(list(space.names))[places]
        _compare(columns, model, given, _as_pandas(given), blanks=blanks)
    given = as_table(space.decode(_each_category(space, columns.encoded), like=rows))
    frame = _as_pandas(given)
    for name in columns.encoded:
        texts = {one: known.get((name, one)) or _spellings(one)[0] for one in levels[name]}
        frame[name] = [None if one is None else texts[one] for one in read_column(given, name).values()]
    _compare(columns, model, given, frame, blanks=blanks)
    return replace(columns, confirmed=count)


def _as_pandas(table: Any) -> Any:
    """The same rows in pandas, with its own dtypes where they come from it."""
    import pandas as pd

    if table.implementation.is_pandas():
        return table.to_native().copy()
    return pd.DataFrame({name: read_column(table, name).values() for name in table.columns})


def _each_category(space: Space, encoded: Collection[str]) -> Any:
    """An individual for each category of the features that are encoded, and with either end of each other
    one; of all others it has the lowest code."""
    starts = [float(feature.code_range[0]) for feature in space.features.values()]
    rows = [starts]
    for k, (name, feature) in enumerate(space.features.items()):
        lo, hi = map(float, feature.code_range)
        codes = np.arange(lo, hi + 1).tolist() if name in encoded else [hi]
        rows += [[*starts[:k], code, *starts[k + 1 :]] for code in codes]
    return np.array(rows)


def _compare(columns: DummyColumns, model: Any, given: Any, frame: Any, *, blanks: bool) -> None:
    """Refuse where pandas makes other columns of the rows, or the model says something else of them."""
    import pandas as pd

    written = [one.name for one in columns.columns if one.text is not None]
    marked = any(
        one.text is not None and one.level is None for one in columns.columns
    )  # then whole numbers are written as floats
    heads = {one.feature: one.head for one in columns.columns if one.text is not None}
    made = pd.get_dummies(
        frame, columns=list(heads), prefix=list(heads.values()), prefix_sep="", dummy_na=marked
    )
    names = [one.name for one in columns.columns]
    made.columns = [_written(str(name), blanks) for name in made.columns]
    made = made.loc[:, made.columns.isin(names)].reindex(columns=names, fill_value=0)
    ours = columns.transform(given.to_native())
    for name in names if heads else ():
        theirs, mine = made[name].tolist(), as_table(ours).get_column(name).to_list()
        place = next((i for i, both in enumerate(zip(mine, theirs, strict=True)) if not _same(*both)), None)
        if place is not None:
            raise DataError(
                f"row {place} of those compared: pandas.get_dummies gives {theirs[place]!r} in column {name!r}, and its name says {mine[place]!r}",
                hint="hand over the rows with the dtypes that the model was fitted on: whole numbers that may be missing are floats there",
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = np.asarray(model.predict(made))
        except (TypeError, ValueError):  # it takes no truth values, only numbers such as ours
            theirs = np.asarray(model.predict(made.astype(dict.fromkeys(written, float))))
        same = np.array_equal(np.asarray(model.predict(ours)), theirs)
    if not same:
        raise MismatchedModel(
            "the model says something else of the frame that pandas.get_dummies makes than of the same numbers",
            hint="fit it again on columns of floats, not of truth values",
        )


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or (is_missing(one) and is_missing(other))
