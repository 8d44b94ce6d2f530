"""Bodies of n scores at once (section 10): each coefficient is an array, one number a score.

For numbers alpha_c the form alpha . f = sum_c alpha_c f_c is the score of a body of the same kind, whose coefficients are those sums. The bodies of all scores
share everything else: columns in pieces have one and the same cuts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from likewise_check.core.affine import Affine, read_affine
from likewise_check.core.fields import Reader, Rejected, anything, array_of, kind
from likewise_check.core.numbers import Exact, common_scale, exact, number
from likewise_check.core.space import Space
from likewise_check.packs.classes.head import Classes, Form
from likewise_check.packs.combined.body import Combined, Scored, Simple, enclosed, rational, read_combined
from likewise_check.packs.kernel.body import Rbf, read_rbf
from likewise_check.packs.pieces.columns import MOST_COEFFICIENTS, Pieces, trimmed
from likewise_check.packs.polynomial.body import Polynomial, Product, polynomial_of, read_polynomial
from likewise_check.packs.trees.body import Trees, Values, read_trees

_KEPT = 1 << 22  # numbers of forms that are kept; dropped beyond, which changes nothing but time


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """The bodies of the scores, all of one kind, or the one body of trees for all; and the classes that are made of the scores."""

    bodies: tuple[Scored, ...]
    classes: Classes
    _forms: dict[Form, Scored] = field(default_factory=dict, repr=False, compare=False)

    def form(self, alpha: Form) -> Scored:
        """The body whose score is alpha . f."""
        if alpha not in self._forms:
            made = self._made(alpha)
            if len(self._forms) * _size(made) > _KEPT:
                self._forms.clear()
            self._forms[alpha] = made
        return self._forms[alpha]

    def _made(self, alpha: Form) -> Scored:
        first = self.bodies[0]
        if isinstance(first, Trees):
            return first.form(_factors(alpha, self.classes.scores))
        if not isinstance(first, Combined):
            return _form([b for b in self.bodies if not isinstance(b, Combined)], alpha)
        rows = zip(*(b.bodies for b in self.bodies if isinstance(b, Combined)), strict=True)
        return replace(first, bodies=tuple(_form(bodies, alpha) for bodies in rows))

    def steady(self, k: int) -> bool:
        """Whether no score depends on this feature."""
        return all(body.steady(k) for body in self.bodies)

    def ends(self, codes: Sequence[Fraction], bits: int) -> list[tuple[Fraction, Fraction]]:
        """All scores, each enclosed by two rationals at most 2^-bits apart; the two are equal where scores are rational."""
        if isinstance(self.bodies[0], Trees):
            return [(score, score) for score in self.bodies[0].scores(codes)]
        return [enclosed(body, codes, bits) for body in self.bodies]

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return rational(self.bodies[0])


def _form(bodies: Sequence[Simple], alpha: Form) -> Simple:
    first = bodies[0]
    if isinstance(first, Affine):
        return _affine_form([b for b in bodies if isinstance(b, Affine)], alpha)
    if isinstance(first, Rbf):
        return _rbf_form([b for b in bodies if isinstance(b, Rbf)], alpha)
    if isinstance(first, Trees):
        return _trees_form([b for b in bodies if isinstance(b, Trees)], alpha)
    return _polynomial_form([b for b in bodies if isinstance(b, Polynomial)], alpha)


def example(body: Scored | Several) -> Scored:
    """The body itself, or one of its kind."""
    return body.bodies[0] if isinstance(body, Several) else body


def _size(body: Scored) -> int:
    """About how many numbers a form of this body keeps."""
    if isinstance(body, Trees):
        return sum(map(len, body.values))
    if isinstance(body, Affine):
        return sum(map(len, body.tables))
    if isinstance(body, Combined):
        return sum(map(_size, body.bodies))
    return len(body.coefficients if isinstance(body, Rbf) else body.terms)


def _factors(alpha: Form, scores: int) -> list[Fraction]:
    """alpha with its zeros."""
    known = dict(alpha)
    return [known.get(c, Fraction(0)) for c in range(scores)]


def _trees_form(bodies: Sequence[Trees], alpha: Form) -> Trees:
    """The same of bodies of one score each, on the same trees."""
    scale = common_scale([Fraction(1, body.scale) for body in bodies])

    def joined(entries: Sequence[Values]) -> Values:
        scaled = (exact(one[0] * (scale // body.scale)) for one, body in zip(entries, bodies, strict=True))
        return tuple(scaled) if entries[0] else ()

    trees = zip(*(body.values for body in bodies), strict=True)
    whole = replace(
        bodies[0],
        several=True,
        scale=scale,
        bias=joined([body.bias for body in bodies]),
        values=tuple(tuple(map(joined, zip(*values, strict=True))) for values in trees),
    )
    return whole.form(_factors(alpha, len(bodies)))


def _blend(alpha: Form, rows: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """The sum of alpha_c times row c, entry by entry."""
    total = [Fraction(0)] * len(rows[0])
    for c, factor in alpha:
        total = [old + factor * entry for old, entry in zip(total, rows[c], strict=True)]
    return total


def _affine_form(bodies: Sequence[Affine], alpha: Form) -> Affine:
    first = bodies[0]
    tables = tuple(
        tuple(_blend(alpha, [body.tables[k] for body in bodies])) for k in range(len(first.tables))
    )
    pieces = tuple(
        found and _pieces_form([(factor, bodies[c].pieces[k]) for c, factor in alpha], found)
        for k, found in enumerate(first.pieces)
    )
    (constant,) = _blend(alpha, [[body.constant] for body in bodies])
    return replace(first, constant=constant, tables=tables, pieces=pieces)


def _pieces_form(parts: Sequence[tuple[Fraction, Pieces | None]], like: Pieces) -> Pieces:
    """The sum of factor * pieces; all have the cuts of the last argument."""
    polys = []
    for i in range(len(like.polys)):
        total: list[Exact] = [0] * MOST_COEFFICIENTS
        for factor, pieces in parts:
            for n, c in enumerate(pieces.polys[i] if pieces else ()):
                total[n] = exact(total[n] + factor * c)
        polys.append(trimmed(total))
    return replace(like, polys=tuple(polys))


def _rbf_form(bodies: Sequence[Rbf], alpha: Form) -> Rbf:
    bias, *coefficients = _blend(alpha, [[body.bias, *body.coefficients] for body in bodies])
    return replace(bodies[0], bias=bias, coefficients=tuple(coefficients))


def _polynomial_form(bodies: Sequence[Polynomial], alpha: Form) -> Polynomial:
    weights: dict[Product, Fraction] = {}
    for c, factor in alpha:
        for weight, product in bodies[c].terms:
            weights[product] = weights.get(product, Fraction(0)) + factor * weight
    return polynomial_of(bodies[0].columns, ((weight, product) for product, weight in weights.items()))


def read_several(item: object, space: Space, classes: Classes) -> Several:
    """The body of a model line, of as many scores as the classes need."""
    sort = kind(item, "the body", "trees", "combined", *_READERS)
    if sort == "trees":
        trees = read_trees(item, space)
        if len(trees.bias) != classes.scores:
            raise Rejected(f"the body must have {classes.scores} scores")
        return Several(bodies=(trees,), classes=classes)
    if sort == "combined":
        found = [_score_of_combined(item, space, c, classes.scores) for c in range(classes.scores)]
        return Several(bodies=tuple(_joined(found)), classes=classes)
    bodies = [_READERS[sort](item, space, _entry(c, classes.scores)) for c in range(classes.scores)]
    return Several(bodies=tuple(_joined(bodies)), classes=classes)


def _joined(bodies: Sequence[Scored]) -> Sequence[Scored]:
    """The same bodies with what they have in common; combined ones, each of the bodies in them."""
    combined = [body for body in bodies if isinstance(body, Combined)]
    if not combined:
        return _shared([body for body in bodies if not isinstance(body, Combined)])
    if combined[0].how != "mean":
        raise Rejected("a combined body of several scores must be a mean")
    rows = zip(*(_shared(row) for row in zip(*(b.bodies for b in combined), strict=True)), strict=True)
    return [replace(body, bodies=tuple(row)) for body, row in zip(combined, rows, strict=True)]


def _score_of_combined(item: object, space: Space, c: int, scores: int) -> Combined:
    def one(trees: Trees) -> Trees:
        if len(trees.bias) != scores or not trees.several:
            raise Rejected(f"the body must have {scores} scores")
        return trees.form([Fraction(k == c) for k in range(scores)])

    return read_combined(item, space, _entry(c, scores), one)


def _entry(c: int, scores: int) -> Reader:
    """Reads an array of numbers, one a score, and keeps that of score c."""

    def read(value: object, what: str) -> Fraction:
        return number(array_of(anything, scores)(value, what)[c], f"{what}, of score {c}")

    return read


def _shared(bodies: Sequence[Simple]) -> Sequence[Simple]:
    """The same bodies with what they have in common."""
    affine = [body for body in bodies if isinstance(body, Affine)]
    kernels = [body for body in bodies if isinstance(body, Rbf)]
    if kernels:
        return [replace(kernels[0], bias=body.bias, coefficients=body.coefficients) for body in kernels]
    if not affine:
        return bodies
    cuts = [
        sorted({cut for pieces in found if pieces for cut in pieces.cuts})
        for found in zip(*(body.pieces for body in affine), strict=True)
    ]
    return [
        replace(
            body,
            pieces=tuple(found and found.refined(own) for found, own in zip(body.pieces, cuts, strict=True)),
        )
        for body in affine
    ]


_READERS: dict[str, Callable[[object, Space, Reader], Scored]] = {
    "affine": read_affine,
    "rbf": read_rbf,
    "polynomial": read_polynomial,
}
