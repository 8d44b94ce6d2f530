"""Mixed columns: what pipelines make of several columns at once, as a graph over *base columns*, each of which is a function of one feature.

    Base(i)                 base column i
    Sum(parts, weights)     bias + sum of weight * part, by stored doubles
    Computed(part, op)      one operation with a stored double: + m, * s, / s
    Product(parts)

A node is a polynomial of base columns, exactly (`expand`). How the program that goes through the nodes rounds: with u = 2^-53, what it has is a sum of products of base columns and stored numbers, each with at most
`roundings` factors 1 + d or 1 / (1 + d), |d| <= u, so that it is off by at most ((1 + u)^roundings - 1) times the same sum of absolute values (`sizes`).

    Sum         2 n + 2 roundings, in any order; stored means may be subtracted from the parts or, multiplied, from the sum
    Computed    1, for a quotient 2
    Product     those of all parts together, and one for each

A result that is denormal loses at most 2^-1074 more: `DENORMAL_SIZE` in the size of every node is more than that after one rounding.

Sums of many quotients have long denominators, the product of all divisors. From `MOST_QUOTIENTS` of them on x / s is taken as x times the double next to 1 / s: (1 + d) / (1 + d') times that, the two roundings of a quotient.

A graph without products is a list of layers that do not bend (`layers`), which networks take in. Layers hold doubles, so that quotients are taken in the same way there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import TypeVar

import numpy as np

from likewise.clock import check_clock
from likewise.errors import UnsupportedModel
from likewise.families.network.activation import IDENTITY
from likewise.families.network.body import Layer
from likewise.families.network.dyadic import Dyadic
from likewise.families.program_rounding import OUTWARD_FACTOR, double_beyond
from likewise.importers.expansion import HIGHEST_DEGREE, MOST_PRODUCTS
from likewise.importers.transformers.traced_columns import Operation

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, Fraction]
Sizes = dict[Monomial, float]
Number = TypeVar("Number", Fraction, float)
DENORMAL_SIZE = 2.0**-1000
MOST_QUOTIENTS = 32  # of different divisors, with 53 bits each
MOST_MULTIPLICATIONS = 3_000_000  # of coefficients: about ten seconds


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A column of one feature."""

    index: int
    depth: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """bias + sum of weight * part."""

    parts: tuple[Node, ...]
    weights: tuple[float, ...]
    bias: float = 0.0
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max((part.depth for part in self.parts), default=0))


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """One operation with a stored double; `often` is how much more its number counts, where the program has that from numbers in single precision."""

    part: Node
    operation: Operation
    often: int = 1
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + self.part.depth)


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """Parts multiplied with each other, one for each time."""

    parts: tuple[Node, ...]
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max((part.depth for part in self.parts), default=0))


Node = Base | Sum | Computed | Product


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandedColumn:
    """A node multiplied out: its polynomial, that of the absolute values, and the most roundings of a term."""

    polynomial: Polynomial
    sizes: Sizes
    roundings: int


def has_products(nodes: Sequence[Node]) -> bool:
    """Whether anything is multiplied with anything else."""
    return any(isinstance(node, Product) for node in _all_nodes(nodes))


def _all_nodes(nodes: Sequence[Node]) -> list[Node]:
    """The nodes and all that they are made of, parts first."""
    found: dict[Node, None] = {}
    waiting = [(node, False) for node in reversed(nodes)]
    while waiting:
        node, done = waiting.pop()
        if done:
            found.setdefault(node)
        elif node not in found:
            waiting.append((node, True))
            waiting += [(part, False) for part in _parts(node)]
    return list(found)


def _parts(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Base):
        return ()
    return (node.part,) if isinstance(node, Computed) else node.parts


# -- multiplied out ---------------------------------------------------------------------------------------


def expand(nodes: Sequence[Node]) -> tuple[ExpandedColumn, ...]:
    """Every node as a polynomial of base columns."""
    work = _Work()
    known: dict[Node, ExpandedColumn] = {}
    everything = _all_nodes(nodes)
    divisors = {
        one.operation.number
        for one in everything
        if isinstance(one, Computed) and one.operation.kind == "over"
    }
    for node in everything:
        check_clock()
        known[node] = _expanded(node, known, work, rounded=len(divisors) > MOST_QUOTIENTS)
    return tuple(known[node] for node in nodes)


def expand_polynomial(coefficients: Sequence[Fraction], column: ExpandedColumn) -> ExpandedColumn:
    """A polynomial of a column, c_0 + c_1 x + c_2 x^2 + ..."""
    work = _Work()
    powers = [_product([column] * k, work) for k in range(len(coefficients))]
    sizes = [double_beyond(abs(c)) for c in coefficients]
    return ExpandedColumn(
        polynomial=weighted_sum([one.polynomial for one in powers], coefficients, Fraction(0)),
        sizes=weighted_sizes([one.sizes for one in powers], sizes, DENORMAL_SIZE),
        roundings=max((one.roundings for one in powers), default=0),
    )


class _Work:
    """Counts multiplications."""

    def __init__(self) -> None:
        self.done = 0

    def spend(self, count: int) -> None:
        self.done += count
        if self.done > MOST_MULTIPLICATIONS:
            raise UnsupportedModel(
                f"the pipeline multiplies sums of columns with each other, more than {MOST_MULTIPLICATIONS:,} terms in all",
                hint="use a smaller degree or fewer components",
            )


def _expanded(node: Node, known: dict[Node, ExpandedColumn], work: _Work, *, rounded: bool) -> ExpandedColumn:
    if isinstance(node, Base):
        return ExpandedColumn(
            polynomial={(node.index,): Fraction(1)}, sizes={(node.index,): 1.0}, roundings=0
        )
    if isinstance(node, Computed):
        return _computed(known[node.part], node, rounded=rounded)
    if isinstance(node, Product):
        return _product([known[part] for part in node.parts], work)
    parts = [known[part] for part in node.parts]
    work.spend(sum(len(part.polynomial) for part in parts))
    weights = [Fraction(weight) for weight in node.weights]
    return ExpandedColumn(
        polynomial=weighted_sum([part.polynomial for part in parts], weights, Fraction(node.bias)),
        sizes=weighted_sizes(
            [part.sizes for part in parts], [abs(w) for w in node.weights], abs(node.bias) + DENORMAL_SIZE
        ),
        roundings=max((part.roundings for part in parts), default=0) + 2 * len(parts) + 2,
    )


def weighted_sum(parts: Sequence[Polynomial], weights: Sequence[Fraction], bias: Fraction) -> Polynomial:
    """bias + sum of weight * polynomial; the constant term comes first."""
    total: Polynomial = {(): bias}
    for part, weight in zip(parts, weights, strict=True):
        for monomial, value in part.items():
            total[monomial] = total.get(monomial, Fraction(0)) + weight * value
    return {monomial: value for monomial, value in total.items() if value or not monomial}


def weighted_sizes(parts: Sequence[Sizes], weights: Sequence[float], constant: float) -> Sizes:
    """The same of sizes, rounded up."""
    total: Sizes = {(): constant}
    for part, weight in zip(parts, weights, strict=True):
        for monomial, value in part.items():
            total[monomial] = total.get(monomial, 0.0) + weight * value
    return {monomial: value * OUTWARD_FACTOR for monomial, value in total.items()}


def _computed(part: ExpandedColumn, node: Computed, *, rounded: bool) -> ExpandedColumn:
    operation = node.operation
    number, size = operation.number, node.often * abs(float(operation.number))
    if operation.kind == "plus":
        return ExpandedColumn(
            polynomial=weighted_sum([part.polynomial], [Fraction(1)], number),
            sizes=weighted_sizes([part.sizes], [1.0], size + DENORMAL_SIZE),
            roundings=part.roundings + 1,
        )
    factor = number if operation.kind == "times" else Fraction(1 / float(number)) if rounded else 1 / number
    return ExpandedColumn(
        polynomial=weighted_sum([part.polynomial], [factor], Fraction(0)),
        sizes=weighted_sizes([part.sizes], [size if operation.kind == "times" else 1 / size], DENORMAL_SIZE),
        roundings=part.roundings + (1 if operation.kind == "times" else 2),
    )


def _product(parts: Sequence[ExpandedColumn], work: _Work) -> ExpandedColumn:
    polynomial: Polynomial = {(): Fraction(1)}
    sizes: Sizes = {(): 1.0}
    for part in parts:
        work.spend(2 * len(polynomial) * len(part.polynomial))
        polynomial = _multiplied(polynomial, part.polynomial, Fraction(0))
        sizes = {key: value * OUTWARD_FACTOR for key, value in _multiplied(sizes, part.sizes, 0.0).items()}
    sizes[()] = sizes.get((), 0.0) + DENORMAL_SIZE
    return ExpandedColumn(
        polynomial=polynomial, sizes=sizes, roundings=sum(part.roundings for part in parts) + len(parts)
    )


def substitute(
    coefficients: Sequence[Fraction], products: Sequence[Monomial], columns: Sequence[Polynomial]
) -> Polynomial:
    """A sum of products of columns that are polynomials themselves."""
    work = _Work()
    known: dict[Monomial, Polynomial] = {(): {(): Fraction(1)}}
    total: Polynomial = {(): Fraction(0)}
    for coefficient, factors in sorted(zip(coefficients, products, strict=True), key=lambda one: one[1]):
        check_clock()
        for length in range(1, len(factors) + 1):
            if factors[:length] not in known:
                before, last = known[factors[: length - 1]], columns[factors[length - 1]]
                work.spend(len(before) * len(last))
                known[factors[:length]] = _multiplied(before, last, Fraction(0))
        for monomial, value in known[factors].items():
            total[monomial] = total.get(monomial, Fraction(0)) + coefficient * value
    return {monomial: value for monomial, value in total.items() if value or not monomial}


def check_products(polynomial: Polynomial) -> None:
    """Refuse what is too large to be proved about."""
    highest = max(map(len, polynomial))
    if len(polynomial) > MOST_PRODUCTS or highest > HIGHEST_DEGREE:
        raise UnsupportedModel(
            f"the model multiplied out has {len(polynomial):,} products of up to {highest} columns",
            hint=f"at most {MOST_PRODUCTS:,} products of {HIGHEST_DEGREE} columns are taken: use a smaller degree, or fewer columns",
        )


def _joined(left: Monomial, right: Monomial) -> Monomial:
    return tuple(sorted(left + right))


def _multiplied(
    one: dict[Monomial, Number], other: dict[Monomial, Number], nothing: Number
) -> dict[Monomial, Number]:
    total: dict[Monomial, Number] = {}
    for pair in product(one, other):
        value = one[pair[0]] * other[pair[1]]
        if value:
            both = _joined(*pair)
            total[both] = total.get(both, nothing) + value
    return total


# -- layers -----------------------------------------------------------------------------------------------


def layers(nodes: Sequence[Node], width: int) -> tuple[Layer, ...]:
    """Layers that make these nodes of `width` base columns; none where they are the base columns."""
    if [node.index if isinstance(node, Base) else None for node in nodes] == list(range(width)):
        return ()
    found: list[Layer] = []
    given = list(nodes)
    for depth in range(max(1, *(node.depth for node in nodes)), 0, -1):
        taken = list(
            dict.fromkeys(
                part for node in given for part in (_parts(node) if node.depth == depth else (node,))
            )
        )
        if depth == 1:
            places: dict[Node, int] = {node: node.index for node in taken if isinstance(node, Base)}
            found.append(_layer(given, depth, places, width))
        else:
            found.append(_layer(given, depth, {node: i for i, node in enumerate(taken)}, len(taken)))
        given = taken
    return tuple(reversed(found))


def _layer(nodes: Sequence[Node], depth: int, places: dict[Node, int], width: int) -> Layer:
    weights, biases = np.zeros((len(nodes), width)), np.zeros(len(nodes))
    for i, node in enumerate(nodes):
        if node.depth < depth or isinstance(node, Base | Product):
            weights[i, places[node]] = 1.0
        elif isinstance(node, Sum):
            # A part that occurs twice would need a sum of two doubles, which is none: `mixing` makes no such nodes.
            weights[i, [places[part] for part in node.parts]] = node.weights
            biases[i] = node.bias
        else:
            number, kind = float(node.operation.number), node.operation.kind
            weights[i, places[node.part]] = (
                number if kind == "times" else 1 / number if kind == "over" else 1.0
            )
            biases[i] = number if kind == "plus" else 0.0
    return Layer(weights=Dyadic.of(weights), biases=Dyadic.of(biases), activation=IDENTITY)
