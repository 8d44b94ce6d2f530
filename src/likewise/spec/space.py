"""The space: who the individuals are.

A `Space` is an ordered set of named features and constraints between them, linear or implications; its individuals are
the assignments of one value to every feature that satisfy all constraints. It is immutable: `replace`,
`where` and `widen` return new spaces.

Behind the spec layer an individual is a row of doubles, its *codes*, one per feature in the order of
the space: numeric features by their value, levels by their position. `encode` and `decode` translate
between frames of the user's own type and codes (see `rows`); `from_data` and `widen` read kinds, bounds
and levels off a frame (see `observed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from likewise.errors import SpecError, suggest_name
from likewise.figures import count_text
from likewise.html_tables import table
from likewise.spec.constraints import Constraint, parse_constraints
from likewise.spec.features import (
    Categorical,
    Continuous,
    Feature,
    Integer,
    Level,
    Ordinal,
    is_encodable,
    level_hint,
)
from likewise.spec.numbers import python_scalar, short_repr

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from likewise.spec.neighbourhood import Neighbourhood
    from likewise.spec.outside import AdmittedRows, Outside


class Space:
    """Named features in order, with constraints: all individuals that a claim is about.

    Parameters
    ----------
    features : mapping of str to Continuous, Integer, Categorical or Ordinal
        The features by name, in the order of the model's columns.
    constraints : iterable of str
        Rules that every individual satisfies.

    Examples
    --------
    >>> from likewise import Categorical, Integer, Space
    >>> space = Space({"age": Integer(18, 75), "employed": Integer(0, 60), "sex": Categorical(["f", "m"])})
    >>> space.where("employed <= age - 14").describe()
    '3 features, 1 categorical, 1 constraint; at most 7,076 individuals'
    """

    __slots__ = ("_constraints", "_features", "_names")

    _features: dict[str, Feature]
    _constraints: tuple[Constraint, ...]
    _names: tuple[str, ...]

    def __init__(
        self, features: Mapping[str, Feature], *, constraints: Iterable[str | Constraint] = ()
    ) -> None:
        checked = _validate_features(features)
        object.__setattr__(self, "_features", checked)
        object.__setattr__(self, "_names", tuple(checked))
        object.__setattr__(self, "_constraints", _validate_constraints(checked, constraints))

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        exclude: Iterable[str] = (),
        constant: Literal["error", "keep"] = "error",
        missing: Literal["error", "include", "exclude"] = "error",
    ) -> Space:
        """The space a frame shows: kinds from its dtypes, bounds and levels from its values.

        Whole-number columns become `Integer`, other numbers `Continuous`, text and booleans
        `Categorical` with sorted levels, ordered categories (pandas) and enums (polars) `Ordinal` in
        their declared order.

        Parameters
        ----------
        X : frame
            Of pandas or polars.
        exclude : iterable of str
            Columns to leave out: the label, identifiers.
        constant : 'error' or 'keep'
            What becomes of a column with a single value.
        missing : 'error', 'include' or 'exclude'
            What becomes of missing values (None, NaN): features that may be missing, or bounds and levels
            read off the others.

        Returns
        -------
        Space
            With one feature a column.
        """
        from likewise.spec.feature_inference import infer_features

        return cls(infer_features(X, exclude=exclude, constant=constant, missing=missing))

    # -- reading ------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The feature names in order."""
        return self._names

    @property
    def features(self) -> Mapping[str, Feature]:
        """The features by name, in order, read only."""
        return MappingProxyType(self._features)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints; a chained or == text gives several."""
        return self._constraints

    @property
    def size(self) -> int | None:
        """The number of individuals, constraints ignored; None if a continuous feature has lo < hi."""
        total = 1
        for feature in self._features.values():
            if isinstance(feature, Continuous):
                if feature.lo < feature.hi:
                    return None
                total *= 1 + feature.missing
            else:
                total *= feature.size
        return total

    def __getitem__(self, name: str) -> Feature:
        if name not in self._features:
            raise KeyError(f"no feature {name!r}{suggest_name(name, self._names)}")
        return self._features[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._features

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    # -- other spaces -------------------------------------------------------------------------------

    def replace(self, mapping: Mapping[str, Feature] | None = None, /, **features: Feature) -> Space:
        """This space with some features exchanged; each keeps its place.

        Names that are no Python identifiers go into a mapping: ``space.replace({"credit-amount": ...})``.
        """
        changed = dict(mapping or {})
        for name in features:
            if name in changed:
                raise SpecError(f"feature {name!r} is replaced twice")
        changed.update(features)
        for name in changed:
            if name not in self._features:
                raise SpecError(
                    f"no feature {name!r} to replace{suggest_name(name, self._names)}",
                    hint=f"the features are {_names_text(self._names)}",
                )
        return Space({**self._features, **changed}, constraints=self._constraints)

    def where(self, *texts: str | Constraint) -> Space:
        """This space with more constraints: ``space.where("employed_years <= age - 14")``, or between levels:
        ``space.where("if housing == own then job != none")``."""
        return Space(self._features, constraints=(*self._constraints, *texts))

    def widen(self, frame: Any) -> Space:
        """This space with bounds and levels extended to cover every row of `frame`."""
        from likewise.spec.feature_inference import widen_features

        return Space(widen_features(self, frame), constraints=self._constraints)

    def near(self, rows: Any, distance: float) -> Neighbourhood:
        """Only individuals within a distance of a row of a frame: numbers within that share of their ranges, and the same levels.

        What `near` takes in the place of a space::

            lw.near(model, space.near(X, 0.05), similar)
        """
        from likewise.spec.neighbourhood import Neighbourhood

        return Neighbourhood.around(self, self.encode(rows, allow_extra=True), distance)

    # -- frames and codes ---------------------------------------------------------------------------

    def check_frame(self, frame: Any, *, allow_extra: bool = False) -> None:
        """Raise `DataError`, naming row, column and value, unless every row is an individual of the space."""
        from likewise.spec.rows import encode

        encode(self, frame, allow_extra=allow_extra)

    def encode(self, frame: Any, *, allow_extra: bool = False) -> NDArray[np.float64]:
        """The rows of `frame`, checked, as codes (N, n): numbers by value, levels by position."""
        from likewise.spec.rows import encode

        return encode(self, frame, allow_extra=allow_extra)

    def admit(self, frame: Any, outside: Outside = "ignore") -> AdmittedRows:
        """The rows of `frame` that are individuals of the space: others are left out ("ignore"), or have their numbers moved to the nearest end
        of the range ("clip"), and are counted. "error" refuses the first of them."""
        from likewise.spec.outside import admit_rows

        return admit_rows(self, frame, outside)

    def decode(self, codes: ArrayLike, *, like: Any = None) -> Any:
        """Codes (N, n) as a frame of the type of `like`, columns in the order of the space."""
        from likewise.spec.rows import decode

        return decode(self, codes, like=like)

    def value(self, index: int, code: float) -> Level:
        """What the code of feature number `index` stands for: a float, an int, the level itself, None if missing."""
        feature = self._features[self._names[index]]
        if code == feature.missing_code:
            return None
        if isinstance(feature, Continuous):
            return float(code)
        return int(code) if isinstance(feature, Integer) else feature.levels[int(code)]

    # -- value semantics ----------------------------------------------------------------------------

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Space is immutable: cannot set {name!r}; use replace, where or widen")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Space is immutable: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        mine = (*self._features.items(), *self._constraints)
        return mine == (*other._features.items(), *other._constraints)

    def __hash__(self) -> int:
        return hash((*self._features.items(), *self._constraints))

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_space, (dict(self._features), self._constraints)

    # -- for people ---------------------------------------------------------------------------------

    def describe(self) -> str:
        """One line: ``20 features, 13 categorical; about 410 trillion individuals``; at most so many where constraints exclude some."""
        kinds = [feature.kind for feature in self._features.values()]
        parts = [_plural(len(kinds), "feature")]
        parts += [f"{kinds.count(kind)} {kind}" for kind in _LEVEL_KINDS if kind in kinds]
        if self._constraints:
            parts.append(_plural(len(self.rules), "constraint"))
        at_most = "at most " if self._constraints and self.size is not None else ""
        return f"{', '.join(parts)}; {at_most}{_count_text(self.size)}"

    @property
    def rules(self) -> tuple[str, ...]:
        """The constraints as text, each text once."""
        return tuple(dict.fromkeys(constraint.text for constraint in self._constraints))

    def _table(self) -> list[tuple[str, str]]:
        rows = [(printable_text(name), feature.describe()) for name, feature in self._features.items()]
        return rows + [("where", printable_text(text)) for text in self.rules]

    def __repr__(self) -> str:
        rows = self._table()
        width = max(len(left) for left, _ in rows)
        return "\n".join(
            [f"Space: {self.describe()}", *(f"  {left:<{width}}  {right}" for left, right in rows)]
        )

    def _repr_html_(self) -> str:
        return table(self.describe(), self._table(), columns=("feature", "values"))


_LEVEL_KINDS = ("categorical", "ordinal")


def _make_space(features: dict[str, Feature], constraints: tuple[Constraint, ...]) -> Space:
    return Space(features, constraints=constraints)


def _validate_features(features: object) -> dict[str, Feature]:
    if not isinstance(features, Mapping):
        raise SpecError(
            f"features must map names to features, got {short_repr(features)}",
            hint='Space({"age": Integer(18, 75)}), or Space.from_data(frame)',
        )
    if not features:
        raise SpecError("a space needs at least one feature")
    checked: dict[str, Feature] = {}
    for given, feature in features.items():
        name = python_scalar(given)
        if not isinstance(name, str) or not name.strip() or not is_encodable(name):
            raise SpecError(
                f"{short_repr(given)} cannot be the name of a feature", hint="names are text, not blank"
            )
        if not isinstance(feature, Continuous | Integer | Categorical | Ordinal):
            raise SpecError(
                f"feature {name!r} is {short_repr(feature)}",
                hint="use Continuous(lo, hi), Integer(lo, hi), Categorical(levels) or Ordinal(levels)",
            )
        checked[name] = feature
    return checked


def _validate_constraints(
    features: Mapping[str, Feature], constraints: Iterable[str | Constraint]
) -> tuple[Constraint, ...]:
    if isinstance(constraints, str | Constraint):
        constraints = (constraints,)
    checked: list[Constraint] = []
    for given in constraints:
        found = (given,) if isinstance(given, Constraint) else parse_constraints(given, features)
        for constraint in found:
            _check_names(features, constraint)
            checked.append(constraint)
    return tuple(checked)


def _check_names(features: Mapping[str, Feature], constraint: Constraint) -> None:
    for name in constraint.names:
        if name not in features:
            raise SpecError(
                f"constraint {constraint.text!r}: no feature {name!r}{suggest_name(name, features)}",
                hint=f"the features are {_names_text(features)}",
            )
        feature = features[name]
        if feature.missing and not constraint.indicators:
            raise SpecError(
                f"constraint {constraint.text!r}: feature {name!r} may be missing, and then it has no number",
                hint="constraints are on features without missing values",
            )
        if constraint.indicators:
            _check_levels(name, feature, constraint)
        elif isinstance(feature, Categorical | Ordinal) and not feature.numeric:
            raise SpecError(
                f"constraint {constraint.text!r}: feature {name!r} has text levels, which cannot be added up",
                hint="linear constraints speak of numbers; levels that are numbers are allowed, and implications"
                " between levels: if a == b then c != d",
            )


def _check_levels(name: str, feature: Feature, constraint: Constraint) -> None:
    """That a feature has the levels that an implication speaks of."""
    if not isinstance(feature, Categorical | Ordinal):
        raise SpecError(
            f"constraint {constraint.text!r}: {name!r} is {feature.kind}, and implications are between levels",
            hint="numbers have linear constraints, such as a <= b - 14",
        )
    for condition in constraint.indicators:
        for level in sorted(condition.levels, key=str) if condition.name == name else ():
            if not feature.contains(level):
                raise SpecError(
                    f"constraint {constraint.text!r}: {name!r} has no level {short_repr(level)}"
                    f"{suggest_name(level, feature.levels)}",
                    hint=level_hint(feature.levels, level),
                )


def printable_text(text: str) -> str:
    """`text` as it is if it prints on one line, otherwise its repr."""
    return text if text.isprintable() else repr(text)


def _names_text(names: Iterable[str]) -> str:
    known = list(names)
    return ", ".join(known[:12]) + (f", ... ({len(known) - 12} more)" if len(known) > 12 else "")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _count_text(size: int | None) -> str:
    if size is None:
        return "infinitely many individuals"
    return f"{count_text(size)} individual{'' if size == 1 else 's'}"
