"""Populations: small spaces with everybody in them, as values, and as frames of every kind.

Written from the definitions in the documentation, not with the package: an individual is a tuple of Python values, `None`
stands for what is missing, and everybody is the product of the values of all features less those who break a constraint. Of a
continuous feature only a grid of values is listed (`complete` is False then), so that what is found holds in one direction.
"""

from __future__ import annotations

import itertools
import operator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from tests.fuzz.choices import Choices, chance, one_of, some_of

import likewise as lw

NAMES = ("age", "debts", "sex", "city", "grade")
WORDS = (("f", "m"), ("oslo", "bonn", "rome"), ("a", "b", "c", "d"), ("naïve", "日本", "true"))
NUMBERED = ((1, 2, 5), (0, 1), (10, 20, 30, 40), (-1, 0, 1))
MOST = 420  # individuals: all pairs of them are looked at
CONTAINERS = ("pandas", "pandas", "polars", "array")
GRID = 7
SIGNS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}
POLARS = {"int64": pl.Int64, "int32": pl.Int32, "float64": pl.Float64, "float32": pl.Float32, "bool": pl.Boolean, "string": pl.String}  # fmt: skip


@dataclass(frozen=True)
class Attribute:
    """One feature: its kind, its values in order (a grid of a continuous one), whether it may be missing, its dtype in frames."""

    name: str
    kind: str
    values: tuple[Any, ...]
    missing: bool
    dtype: str

    @property
    def all_values(self) -> tuple[Any, ...]:
        return (*self.values, None) if self.missing else self.values

    @property
    def ranged(self) -> bool:
        return self.kind in ("integer", "continuous")

    @property
    def numeric(self) -> bool:
        return self.dtype in ("int64", "int32", "float64", "float32")

    def declared(self) -> Any:
        if self.kind == "integer":
            return lw.Integer(self.values[0], self.values[-1], missing=self.missing)
        if self.kind == "continuous":
            return lw.Continuous(self.values[0], self.values[-1], missing=self.missing)
        made = lw.Categorical if self.kind == "categorical" else lw.Ordinal
        return made(list(self.all_values))


@dataclass(frozen=True)
class Linear:
    """coefficients . values (sign) bound, in whole numbers."""

    names: tuple[str, ...]
    coefficients: tuple[int, ...]
    sign: str
    bound: int

    def text(self) -> str:
        terms = " + ".join(f"{a} * {n}" for a, n in zip(self.coefficients, self.names, strict=True))
        return f"{terms} {self.sign} {self.bound}"

    def holds(self, person: dict[str, Any]) -> bool:
        total = sum(
            (a * Fraction(person[n]) for a, n in zip(self.coefficients, self.names, strict=True)), Fraction(0)
        )
        return bool(SIGNS[self.sign](total, self.bound))


@dataclass(frozen=True)
class Implied:
    """If one feature has a level, another one has not."""

    first: str
    level: Any
    second: str
    other: Any

    def text(self) -> str:
        return f'if {self.first} == "{self.level}" then {self.second} != "{self.other}"'

    def holds(self, person: dict[str, Any]) -> bool:
        return person[self.first] != self.level or person[self.second] != self.other


@dataclass(frozen=True)
class Population:
    """Everybody who is listed, in one kind of frame."""

    attributes: tuple[Attribute, ...]
    constraints: tuple[Any, ...]
    container: str
    complete: bool
    people: tuple[tuple[Any, ...], ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.attributes)

    @property
    def framed(self) -> str:
        """The kind of frame that goes with it: rows of a model that was fitted on an array come as pandas."""
        return "pandas" if self.container == "array" else self.container

    def space(self) -> Any:
        return lw.Space(
            {a.name: a.declared() for a in self.attributes}, constraints=[c.text() for c in self.constraints]
        )

    def valid(self, person: tuple[Any, ...]) -> bool:
        """Whether somebody with these values is in the space, also beside the grid."""
        for a, value in zip(self.attributes, person, strict=True):
            if value is None:
                inside = a.missing
            elif a.kind == "continuous":
                inside = a.values[0] <= value <= a.values[-1]
            else:
                inside = value in a.values and isinstance(value, bool) == isinstance(a.values[0], bool)
            if not inside:
                return False
        named = dict(zip(self.names, person, strict=True))
        return all(c.holds(named) for c in self.constraints)

    def frame(self, people: Any) -> Any:
        """These people as the user's frame has them."""
        columns = list(zip(*people, strict=True)) if len(people) else [()] * len(self.attributes)
        if self.framed == "polars":
            return pl.DataFrame([_polars_column(a, c) for a, c in zip(self.attributes, columns, strict=True)])
        return pd.DataFrame(
            {a.name: _pandas_column(a, c) for a, c in zip(self.attributes, columns, strict=True)}
        )

    def given(self, people: Any) -> Any:
        """These people as the model takes them."""
        frame = self.frame(people)
        return frame.to_numpy() if self.container == "array" else frame

    def read(self, frame: Any) -> list[tuple[Any, ...]]:
        """The people of a frame that came back."""
        columns = []
        for a in self.attributes:
            values = frame[a.name].to_list() if isinstance(frame, pl.DataFrame) else list(frame[a.name])
            columns.append([_value(a, v) for v in values])
        return list(zip(*columns, strict=True))


def _value(attribute: Attribute, value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    whole = isinstance(value, float) and value.is_integer() and attribute.kind != "continuous"
    if whole and not any(isinstance(v, float) for v in attribute.values):
        return int(value)
    return value


def _pandas_column(attribute: Attribute, values: tuple[Any, ...]) -> Any:
    if attribute.dtype == "category":
        return pd.Categorical(list(values), categories=list(attribute.values))
    if attribute.numeric:
        gone = [np.nan if v is None else v for v in values]
        whole = attribute.dtype.startswith("int") and attribute.missing
        return np.array(gone, dtype="float64" if whole else attribute.dtype)
    if attribute.dtype == "bool" and not attribute.missing:
        return np.array(values, dtype=bool)
    return pd.Series(list(values), dtype=object if attribute.dtype == "bool" else "str")


def _polars_column(attribute: Attribute, values: tuple[Any, ...]) -> Any:
    if attribute.dtype == "category":
        return pl.Series(attribute.name, list(values), dtype=pl.Enum([str(v) for v in attribute.values]))
    return pl.Series(attribute.name, list(values), dtype=POLARS[attribute.dtype])


# -- drawing -------------------------------------------------------------------------------------------


def drawn_population(
    choices: Choices, *, continuous: bool, container: str | None = None, native: bool = False
) -> Population:
    """Two to five features with at most `MOST` individuals; `native`: levels come as pandas categories."""
    container = one_of(choices, CONTAINERS) if container is None else container
    attributes: list[Attribute] = []
    size = 1
    for name in NAMES[: choices.whole(2, 5)]:
        attribute = _attribute(choices, name, container, native, continuous and not attributes)
        if size * len(attribute.all_values) > MOST:
            break
        size *= len(attribute.all_values)
        attributes.append(attribute)
    constraints = _constraints(choices, attributes) if chance(choices, 25) else []
    named = [dict(zip([a.name for a in attributes], p, strict=True)) for p in itertools.product(*(a.all_values for a in attributes))]  # fmt: skip
    kept = [p for p in named if all(c.holds(p) for c in constraints)]
    if len(kept) < 6:
        constraints, kept = [], named
    complete = all(a.kind != "continuous" or len(a.values) == 1 for a in attributes)
    return Population(
        tuple(attributes), tuple(constraints), container, complete, tuple(tuple(p.values()) for p in kept)
    )


def _attribute(choices: Choices, name: str, container: str, native: bool, continuous: bool) -> Attribute:
    kind = one_of(choices, ("integer", "categorical", "ordinal", "categorical", "integer"))
    missing = chance(choices, 15)
    if continuous:
        lo = one_of(choices, (0.0, -1.5, 10.0))
        hi = lo + one_of(choices, (1.0, 3.5, 0.1))
        grid = tuple(dict.fromkeys([*np.linspace(lo, hi, GRID).tolist()[:-1], hi]))
        return Attribute(name, "continuous", grid, False, "float64")
    if kind == "integer":
        lo = choices.whole(-2, 18)
        values = tuple(range(lo, lo + choices.whole(1, 7) + 1))
        dtypes = ("int64", "float64") if container == "array" else ("int64", "float64", "int32", "float32")
        return Attribute(name, "integer", values, missing, one_of(choices, dtypes))
    sort = one_of(choices, ("words", "numbers", "booleans", "fractions"))
    if container == "array" or (sort in ("booleans", "fractions") and native):
        sort = "numbers"
    if sort == "words":
        words = one_of(choices, WORDS)
        dtype = "category" if native or (container == "pandas" and chance(choices, 20)) else "string"
        return Attribute(name, kind, words, missing, dtype)
    if sort == "booleans":
        return Attribute(name, kind, (False, True), missing and container != "polars", "bool")
    if sort == "fractions":
        return Attribute(name, kind, (0.5, 1.0, 2.5), missing, one_of(choices, ("float64", "float32")))
    dtype = "category" if native else one_of(choices, ("int64", "float64"))
    return Attribute(name, kind, one_of(choices, NUMBERED), missing, dtype)


def _constraints(choices: Choices, attributes: list[Attribute]) -> list[Any]:
    numbers = [a for a in attributes if a.numeric and not a.missing and 2.5 not in a.values]
    words = [a for a in attributes if a.values[0] in ("f", "oslo", "a") and not a.missing]
    if len(words) > 1 and chance(choices, 50):
        first, second = some_of(choices, words, 2)
        return [
            Implied(first.name, one_of(choices, first.values), second.name, one_of(choices, second.values))
        ]
    if not numbers:
        return []
    taken = some_of(choices, numbers, choices.whole(1, 2))
    coefficients = tuple(one_of(choices, (1, -1, 2, -2)) for _ in taken)
    middle = sum(a * round(t.values[len(t.values) // 2]) for a, t in zip(coefficients, taken, strict=True))
    sign = one_of(choices, ("<=", "<=", ">=", "=="))
    if sign == "==" and any(t.kind == "continuous" for t in taken):
        sign = "<="
    return [Linear(tuple(t.name for t in taken), coefficients, sign, middle + choices.whole(-1, 1))]
