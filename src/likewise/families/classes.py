"""Models of several classes: n scores f_0, ..., f_(n-1) of one family, and how they decide.

    argmax   a score a class; the class is the smallest i with f_i >= f_k for all k
    votes    a score for each pair of classes (0,1), (0,2), ..., (1,2), ...: it votes for the first one if it is > 0,
             else for the second one; the class is the smallest one among those with the most votes (libsvm)

A *form* alpha . f is a score of the same family, and all that is ever asked of a model of several classes is asked of forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.combined.score import Combined
from likewise.families.kernel.body import RbfSum
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.trees.body import TreeSum
from likewise.model.embedding import Column
from likewise.model.head import ClassHead

Number = Fraction | int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeForm:
    """alpha . f of an ensemble of n scores."""

    body: TreeSum
    alpha: tuple[Fraction, ...]

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        return dot(self.alpha, self.body.exact(codes))


Bodies = tuple[Affine, ...] | tuple[RbfSum, ...] | tuple[PolynomialSum, ...] | tuple[Combined, ...] | TreeSum
Form = Affine | RbfSum | PolynomialSum | Combined | TreeForm


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassModel:
    """What an importer makes of a fitted classifier of several classes; `family` names it for people. The bodies are one a score;
    those of sums of Gaussians share `centres` and `gamma`, so that their coefficients are rows of one array."""

    family: str
    rounding: object | None
    embedding: tuple[Column, ...]
    bodies: Bodies
    head: ClassHead

    @property
    def n_scores(self) -> int:
        return self.bodies.n_scores if isinstance(self.bodies, TreeSum) else len(self.bodies)

    def form(self, alpha: Sequence[Number]) -> Form:
        """alpha . f. Sums of Gaussians have doubles for coefficients, so for them only one score, or its negative."""
        if len(alpha) != self.n_scores:
            raise InternalError(f"a form of {self.n_scores} scores takes as many numbers, not {len(alpha)}")
        weights = tuple(Fraction(a) for a in alpha)
        if isinstance(self.bodies, TreeSum):
            return TreeForm(body=self.bodies, alpha=weights)
        first = self.bodies[0]
        if isinstance(first, Combined):
            return _one_combined(weights, [body for body in self.bodies if isinstance(body, Combined)])
        if isinstance(first, RbfSum):
            return _one_score(weights, [body for body in self.bodies if isinstance(body, RbfSum)])
        if isinstance(first, Affine):
            return _affine(weights, [body for body in self.bodies if isinstance(body, Affine)])
        return _polynomial(weights, [body for body in self.bodies if isinstance(body, PolynomialSum)])

    def exact(self, codes: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """All scores of an individual, for families whose scores are rational."""
        if isinstance(self.bodies, TreeSum):
            return self.bodies.exact(codes)
        columns = [column.exact(codes[column.feature]) for column in self.embedding]
        scores = []
        for body in self.bodies:
            if isinstance(body, (RbfSum, Combined)):
                raise InternalError("the scores of sums of Gaussians are not rational")
            scores.append(body.exact(columns))
        return tuple(scores)

    def decide(self, codes: Sequence[Fraction]) -> object:
        """The label of an individual, for families whose scores are rational."""
        return self.head.labels[self.head.decide(self.exact(codes))]


def dot(alpha: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    """sum_c alpha_c values_c."""
    return sum((a * v for a, v in zip(alpha, values, strict=True) if a), Fraction(0))


def _affine(alpha: tuple[Fraction, ...], bodies: Sequence[Affine]) -> Affine:
    columns = zip(*(body.weights for body in bodies), strict=True)
    return Affine(
        weights=tuple(dot(alpha, column) for column in columns),
        bias=dot(alpha, [body.bias for body in bodies]),
    )


def _polynomial(alpha: tuple[Fraction, ...], bodies: Sequence[PolynomialSum]) -> PolynomialSum:
    terms: dict[tuple[int, ...], Fraction] = {}
    for a, body in zip(alpha, bodies, strict=True):
        for value, product in zip(body.coefficients, body.products, strict=True):
            terms[product] = terms.get(product, Fraction(0)) + a * value
    return PolynomialSum(coefficients=tuple(terms.values()), products=tuple(terms))


def _one_combined(alpha: tuple[Fraction, ...], bodies: Sequence[Combined]) -> Combined:
    places = [i for i, a in enumerate(alpha) if a]
    if len(places) != 1 or alpha[places[0]] != 1:
        raise UnsupportedModel(
            "combined scores of several classes are not compared with each other",
            hint="ask for what no feature that may differ matters to, or about the model inside",
        )
    return bodies[places[0]]


def _one_score(alpha: tuple[Fraction, ...], bodies: Sequence[RbfSum]) -> RbfSum:
    places = [i for i, a in enumerate(alpha) if a]
    if len(places) != 1 or abs(alpha[places[0]]) != 1:
        raise InternalError("a form of sums of Gaussians is one of them, or its negative")
    body = bodies[places[0]]
    return body if alpha[places[0]] > 0 else body.negated()
