"""Models with columns in pieces, handed to the engine without any importer."""

from fractions import Fraction

import numpy as np

from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.scored_model import Model
from likewise.importers.imported_model import ImportedModel
from likewise.importers.inputs import Inputs
from likewise.importers.recoding import identity_recoding
from likewise.model.embedding import Column
from likewise.model.head import Head
from likewise.spec.pieces import make_piecewise


class ExactReplay:
    """What a program would say that does not round."""

    stand_in = None

    def __init__(self, model, space):
        self.model = model
        self.inputs = Inputs(recoding=identity_recoding(space), columns=space.names, like=None, named=True)

    def scores(self, codes):
        return np.array([[float(s) for s in self.model.exact([Fraction(c) for c in row])] for row in codes])

    def decisions(self, codes):
        labels = [self.model.decide([Fraction(c) for c in row]) for row in codes]
        return np.array(labels)

    def probabilities(self, codes):
        upper = 1 / (1 + np.exp(-self.scores(codes)))
        return np.hstack([1 - upper, upper])

    def confirms(self, _x, _other, _question):
        return True


def in_pieces(feature, cuts, polynomials):
    return Column(
        feature=feature,
        pieces=make_piecewise(
            [Fraction(c) for c in cuts], [[Fraction(c) for c in polynomial] for polynomial in polynomials]
        ),
    )


def planted(monkeypatch, space, columns, weights=None, bias=0, *, zero_is_upper=False):
    """Have verify and measure take this model, whatever they are handed."""
    weights = [Fraction(1)] * len(columns) if weights is None else [Fraction(w) for w in weights]
    model = Model(
        family="planted",
        rounding=AffineRounding(sizes=tuple(map(abs, weights)), constant=Fraction(1), operations=8),
        embedding=tuple(columns),
        bodies=(Affine(weights=tuple(weights), bias=Fraction(bias)),),
        head=Head(labels=("no", "yes"), link="logistic", zero_is_upper=zero_is_upper),
    )
    imported = ImportedModel(
        model=model,
        replay=ExactReplay(model, space),
        recoding=identity_recoding(space),
        rows=np.empty((0, len(space))),
    )
    monkeypatch.setattr("likewise.problem.import_model", lambda *_, **__: imported)
    return model
