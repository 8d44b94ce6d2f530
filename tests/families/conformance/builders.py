"""Small random models of every family over one space, for the conformance suite. A new family adds its builder to `BUILDERS`."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

import likewise as lw
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.combined.body import combine_models
from likewise.families.kernel.body import RbfSum
from likewise.families.kernel.rounding import KernelRounding
from likewise.families.mixed.body import MixedSum
from likewise.families.mixed.rounding import MixedRounding
from likewise.families.nested.body import InnerBody, Nested
from likewise.families.nested.median import Median
from likewise.families.nested.rounding import NestedRounding
from likewise.families.network.activation import RELU
from likewise.families.network.body import Layer, Network
from likewise.families.network.dyadic import Dyadic
from likewise.families.network.rounding import NetworkRounding
from likewise.families.opaque.body import Opaque
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.registry import family_of
from likewise.families.scored_model import Model, Scores, SeparateRounding
from likewise.families.sums.body import Sum, SumPart
from likewise.families.sums.links import Link, vote_link
from likewise.families.sums.rounding import SumRounding
from likewise.families.trees.body import LEAF, Tree, TreeSum, scores_of_ensemble
from likewise.families.trees.rounding import TreeRounding
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head

SPACE = lw.Space(
    {"a": lw.Integer(0, 3), "job": lw.Categorical(["x", "y", "z"]), "sex": lw.Categorical(["f", "m"])}
)
SIMILAR = lw.Similarity(free=["sex"], within={"a": 1})
SEX = 2  # the feature that may differ freely
COLUMNS = (
    Column(feature=0, slope=Fraction(1, 2), offset=Fraction(-1)),
    *(Column(feature=1, table=tuple(Fraction(p == n) for p in range(3))) for n in range(2)),
    Column(feature=2, table=(Fraction(0), Fraction(1))),
)
Builder = Callable[[np.random.Generator, int, bool], Model]


def quarters(random: np.random.Generator, count: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(n), 4) for n in random.integers(-8, 9, count))


def joined(models: list[Model]) -> Model:
    """One model of a score a class, as an importer makes it."""
    if len(models) == 1:
        return models[0]
    embedding, bodies = family_of(models[0].body).join(models, "several")
    head = Head(labels=tuple(range(len(models))), rule="argmax")
    return Model(
        family="several",
        rounding=SeparateRounding(parts=tuple(models)),
        embedding=embedding,
        bodies=bodies,
        head=head,
    )


def one(body: object, rounding: object, embedding: tuple[Column, ...] = COLUMNS) -> Model:
    return Model(family="one", rounding=rounding, embedding=embedding, bodies=(body,), head=NUMBER_HEAD)


def affine(random: np.random.Generator, n: int, blind: bool) -> Model:
    return joined([_affine(random, blind) for _ in range(n)])


def _affine(random: np.random.Generator, blind: bool) -> Model:
    weights = quarters(random, len(COLUMNS))
    weights = tuple(Fraction(0) if blind and COLUMNS[c].feature != 1 else w for c, w in enumerate(weights))
    rounding = AffineRounding(sizes=tuple(map(abs, weights)), constant=Fraction(2), operations=10)
    return one(Affine(weights=weights, bias=quarters(random, 1)[0]), rounding)


def _columns(blind: bool) -> tuple[Column, ...]:
    """Columns that see the job only, if the model is to be blind."""
    if not blind:
        return COLUMNS
    return (
        Column(feature=0, slope=Fraction(0)),
        *COLUMNS[1:3],
        Column(feature=2, table=(Fraction(0), Fraction(0))),
    )


def kernel(random: np.random.Generator, n: int, blind: bool) -> Model:
    centres = random.integers(-2, 3, (5, len(COLUMNS))) / 2
    bodies = [
        RbfSum(gamma=0.25, bias=0.5, coefficients=random.integers(-8, 9, 5) / 4, centres=centres)
        for _ in range(n)
    ]
    return joined([one(body, KernelRounding(expanded=False), _columns(blind)) for body in bodies])


def mixed(random: np.random.Generator, n: int, blind: bool) -> Model:
    centres, columns = random.integers(-2, 3, (5, 2)) / 2, _columns(blind)
    sums = tuple((Fraction(1, 3), tuple(enumerate(quarters(random, len(columns))))) for _ in range(2))
    bodies = [
        MixedSum(
            shape="gaussian",
            gamma=0.125,
            bias=0.5,
            coefficients=random.integers(-8, 9, 5) / 4,
            centres=centres,
            sums=sums,
        )
        for _ in range(n)
    ]
    sizes = np.array([[float(abs(factor)) for _, factor in pairs] for _, pairs in sums])
    told = MixedRounding(expanded=False, sizes=sizes, constants=np.ones(2), inner=12)
    return joined([one(body, told, columns) for body in bodies])


def polynomial(random: np.random.Generator, n: int, blind: bool) -> Model:
    products = ((), (0,), (1,), (3,), (0, 0), (0, 3), (1, 3))
    bodies = [
        PolynomialSum(coefficients=quarters(random, len(products)), products=products) for _ in range(n)
    ]
    return joined([one(body, None, _columns(blind)) for body in bodies])


def trees(random: np.random.Generator, n: int, blind: bool) -> Model:
    grown = tuple(_tree(random, n, blind) for _ in range(3))
    ensemble = TreeSum(bias=quarters(random, n), trees=grown, missing={})
    head = NUMBER_HEAD if n == 1 else Head(labels=tuple(range(n)), rule="argmax")
    rounding = TreeRounding(constant=Fraction(30), operations=8)
    return Model(
        family="trees", rounding=rounding, embedding=(), bodies=scores_of_ensemble(ensemble), head=head
    )


def _tree(random: np.random.Generator, n: int, blind: bool) -> Tree:
    """The root and both its children test something: nodes 0, 1 and 4."""
    feature = np.full(7, LEAF, dtype=np.int32)
    threshold, levels = np.zeros(7), {}
    for node in (0, 1, 4):
        feature[node] = 1 if blind else random.integers(0, 3)
        if feature[node] == 0:
            threshold[node] = float(random.integers(0, 3))
        else:
            levels[node] = frozenset({int(random.integers(0, 3 if feature[node] == 1 else 2))})
    return Tree(
        feature=feature,
        threshold=threshold,
        levels=levels,
        missing_left=np.zeros(7, dtype=bool),
        right=np.array([4, 3, LEAF, LEAF, 6, LEAF, LEAF], dtype=np.int32),
        values=random.integers(-8, 9, (7, n)) / 4,
    )


def network(random: np.random.Generator, n: int, blind: bool) -> Model:
    """Each score a network of its own, so that joining puts them side by side."""
    return joined([one(_network(random), _network_rounding(), _columns(blind)) for _ in range(n)])


def _network(random: np.random.Generator) -> Network:
    sizes, hidden = (len(COLUMNS), 3, 2), []
    for width, neurons in itertools.pairwise(sizes):
        weights = Dyadic.of(random.integers(-8, 9, (neurons, width)) / 4)
        biases = Dyadic.of(random.integers(-4, 5, neurons) / 4)
        hidden.append(Layer(weights=weights, biases=biases, activation=RELU))
    return Network(hidden=tuple(hidden), weights=quarters(random, sizes[-1]), bias=quarters(random, 1)[0])


def _network_rounding() -> NetworkRounding:
    return NetworkRounding(layers=(), weights=np.ones(len(COLUMNS)), bias=1.0)


def combined(random: np.random.Generator, n: int, blind: bool) -> Model:
    models = []
    for _ in range(n):
        parts = [_affine(random, blind) for _ in range(2)]
        models.append(combine_models(parts[0], "mean", (Fraction(1, 4), Fraction(3, 4)), parts))
    return joined(models)


def sums(random: np.random.Generator, n: int, blind: bool) -> Model:
    """Every score a sum of the same parts, one through each kind of link."""
    parts = [_affine(random, blind), _affine(random, blind), trees(random, 1, blind), _affine(random, blind)]
    knots = (
        (Fraction(-1), Fraction(0), Fraction(0), Fraction(1, 4)),
        (Fraction(1), Fraction(3, 4), Fraction(1), Fraction(1)),
    )
    links = (
        Link(),
        Link(kind="logistic", slope=Fraction(1, 2), offset=Fraction(1, 4)),
        Link(kind="table", knots=knots),
        vote_link(zero_counts=False),
    )
    shared = tuple(
        SumPart(body=part.body, embedding=part.embedding, link=link)
        for part, link in zip(parts, links, strict=True)
    )
    models = []
    for _ in range(n):
        weights, (bias,) = quarters(random, len(parts)), quarters(random, 1)
        rounding = SumRounding(parts=tuple(parts), links=links, weights=weights, bias=bias)
        models.append(one(Sum(parts=shared, weights=weights, bias=bias), rounding, ()))
    return joined(models)


def nested(random: np.random.Generator, n: int, blind: bool) -> Model:
    """Trees over sums of columns and over other trees; one score is also a median of these."""
    inner = [_affine(random, blind), trees(random, 1, blind), _affine(random, blind)]
    bodies = tuple(InnerBody(body=part.body, embedding=part.embedding) for part in inner)
    if n == 1 and random.integers(2):
        weights = tuple(Fraction(int(w), 4) for w in random.integers(1, 5, len(inner)))
        rounding = NestedRounding(inner=tuple(inner), outer=None, size=Fraction(0))
        slope, offset = Fraction(-3, 2) if random.integers(2) else Fraction(1), Fraction(1, 4)
        outer = Median(weights=weights, slope=slope, offset=offset)
        return one(Nested(inner=bodies, outer=outer), rounding, ())
    grown = tuple(_number_tree(random, n) for _ in range(2))
    ensemble = TreeSum(bias=quarters(random, n), trees=grown, missing={})
    rounding = NestedRounding(
        inner=tuple(inner), outer=TreeRounding(constant=Fraction(30), operations=8), size=Fraction(40)
    )
    models = [one(Nested(inner=bodies, outer=form), rounding, ()) for form in scores_of_ensemble(ensemble)]
    if n == 1:
        return models[0]
    return Model(
        family="nested",
        rounding=SeparateRounding(parts=tuple(models)),
        embedding=(),
        bodies=tuple(model.body for model in models),
        head=Head(labels=tuple(range(n)), rule="argmax"),
    )


def _number_tree(random: np.random.Generator, n: int) -> Tree:
    """The same tests of numbers: nodes 0, 1 and 4."""
    feature, threshold = np.full(7, LEAF, dtype=np.int32), np.zeros(7)
    for node in (0, 1, 4):
        feature[node], threshold[node] = random.integers(0, 3), random.integers(-8, 9) / 4
    grown = _tree(random, n, blind=False)
    return replace(grown, feature=feature, threshold=threshold, levels={})


class AskedScores:
    """A program that answers what scores of another family are."""

    pace, asked, used_up = 1e6, 0, False

    def __init__(self, model: Model) -> None:
        self.scored = Scores(model, len(SPACE))

    def scores(self, codes):
        return self.scored.scores(codes)


def opaque(random: np.random.Generator, n: int, blind: bool) -> Model:
    behind = affine(random, n, blind)
    units = [tuple(Fraction(c == k) for k in range(n)) for c in range(n)]
    bodies = tuple(Opaque(program=AskedScores(behind), alpha=unit) for unit in units)
    return replace(behind, bodies=bodies, embedding=(), rounding=None)


BUILDERS: dict[str, Builder] = {
    "affine": affine,
    "kernel": kernel,
    "mixed": mixed,
    "polynomial": polynomial,
    "trees": trees,
    "network": network,
    "sums": sums,
    "nested": nested,
    "combined": combined,
    "opaque": opaque,
}
