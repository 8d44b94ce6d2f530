"""Forms: alpha . f of the n scores f of a model, as a body of the same family.

All that is ever asked of a model of several scores is asked of forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.combined.score import Combined
from likewise.families.kernel.body import RbfSum
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.scored import Body, Model
from likewise.families.trees.body import TreeForm
from likewise.spec.terms import dot

Number = Fraction | int


def form_of(model: Model, alpha: Sequence[Number]) -> Body:
    """alpha . f. Sums of Gaussians have doubles for coefficients, so for them only one score, or its negative."""
    if len(alpha) != model.n_scores:
        raise InternalError(f"a form of {model.n_scores} scores takes as many numbers, not {len(alpha)}")
    weights, first = tuple(Fraction(a) for a in alpha), model.bodies[0]
    if isinstance(first, TreeForm):
        return _trees(weights, [body for body in model.bodies if isinstance(body, TreeForm)])
    if isinstance(first, Combined):
        return _one_combined(weights, [body for body in model.bodies if isinstance(body, Combined)])
    if isinstance(first, RbfSum):
        return _one_score(weights, [body for body in model.bodies if isinstance(body, RbfSum)])
    if isinstance(first, Affine):
        return _affine(weights, [body for body in model.bodies if isinstance(body, Affine)])
    return _polynomial(weights, [body for body in model.bodies if isinstance(body, PolynomialSum)])


def _trees(alpha: tuple[Fraction, ...], bodies: Sequence[TreeForm]) -> TreeForm:
    columns = zip(*(body.alpha for body in bodies), strict=True)
    return TreeForm(ensemble=bodies[0].ensemble, alpha=tuple(dot(alpha, column) for column in columns))


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
