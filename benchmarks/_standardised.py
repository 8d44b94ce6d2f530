"""Standardised data sets for kernel models: numbers through their mean and deviation, categories one-hot, folded by hand.

`SVC(C=1)` is fitted on 75% of the rows (or the first of them) with scikit-learn's gamma="scale", or a multiple of it. As
pipelines are not taken apart by the importer yet, the preprocessing becomes the model's embedding here, and `measured`
hands the result to `likewise.measure` in the importer's place.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import likewise as lw
from likewise import datasets
from likewise.importers.imported import Imported
from likewise.model.body import RbfSum
from likewise.model.embedding import Column
from likewise.model.gauge import Gauge, Scale
from likewise.model.head import Head
from likewise.model.kernel import KernelScore
from likewise.model.scored import KernelRounding, Model
from likewise.spec.features import Continuous, Integer
from likewise.verifying import preparing

Floats = NDArray[np.float64]
AGREEMENT = 1e-9  # of the folded model with the original on its own rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The fitted SVC, asked about coded individuals."""

    svc: Any
    score: KernelScore
    head: Head

    def decisions(self, codes: Floats) -> NDArray[Any]:
        return np.asarray(self.svc.predict(self.score.columns(codes)))

    def confirms(self, *_: Any) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model, who it is about and who is similar."""

    name: str
    X: Any
    space: lw.Space
    similar: lw.Similarity
    imported: Any

    @property
    def terms(self) -> int:
        return len(self.imported.model.body.coefficients)


def standardised(name: str, *, rows: int | None = None, gamma_times: float = 1.0) -> Case:
    """Train the model of a data set and fold its preprocessing; `rows` limits the training rows."""
    data = getattr(datasets, f"load_{name}")(frame="pandas")
    space = _unordered(lw.Space.from_data(data.X))
    codes = space.encode(data.X)
    target = (np.asarray(data.y) == data.positive).astype(int)
    every = np.arange(len(codes))
    train = train_test_split(every, test_size=0.25, stratify=target, random_state=42)[0][:rows]
    embedding = tuple(c for k in range(len(space)) for c in _columns(space, k, codes[train, k]))
    empty = RbfSum(gamma=1.0, bias=0.0, coefficients=np.zeros(0), centres=np.zeros((0, len(embedding))))
    Z = KernelScore(body=empty, embedding=embedding).columns(codes[train])
    svc = SVC(C=1.0, gamma=gamma_times / (Z.shape[1] * Z.var())).fit(Z, target[train])
    body = RbfSum(
        gamma=float(svc._gamma),
        bias=float(svc.intercept_[0]),
        coefficients=np.asarray(svc.dual_coef_[0], dtype=np.float64),
        centres=np.asarray(svc.support_vectors_, dtype=np.float64),
    )
    score, head = KernelScore(body=body, embedding=embedding), Head(labels=(0, 1), zero_is_upper=True)
    apart = np.abs(score.scores(codes[train]) - svc.decision_function(Z)).max()
    if apart > AGREEMENT:
        raise lw.InternalError(f"the folded model of {name} is {apart} away from its original")
    model = Model(
        family="SVC", rounding=KernelRounding(expanded=False), embedding=embedding, body=body, head=head
    )
    original: Any = Original(svc=svc, score=score, head=head)
    return Case(
        name=name,
        X=data.X,
        space=space,
        similar=lw.Similarity(free=list(data.protected)),
        imported=Imported(model=model, replay=original),
    )


def measured(
    case: Case, *, of: Scale, tolerance: float, budget: float, certify: bool = False
) -> lw.Disparity:
    """`likewise.measure` on the folded model."""
    with patch.object(preparing, "import_model", lambda *_, **__: case.imported):
        return lw.measure(
            case.imported,
            case.space,
            case.similar,
            of=of,
            tolerance=tolerance,
            budget=budget,
            X=case.X,
            certify=certify,
        )


def prepared(case: Case, *, of: Scale, budget: float) -> preparing.Prepared:
    """The problem itself, for what works on it directly."""
    question = Gauge(of=of).question(Fraction(0))
    with patch.object(preparing, "import_model", lambda *_, **__: case.imported):
        return preparing.prepare(
            case.imported, case.space, case.similar, question, of, X=case.X, budget=budget
        )


def _unordered(space: lw.Space) -> lw.Space:
    """The same with categories where there are levels: one-hot columns know no order."""
    return lw.Space(
        {
            n: f if isinstance(f, (Continuous, Integer)) else lw.Categorical(f.levels)
            for n, f in space.features.items()
        }
    )


def _columns(space: lw.Space, k: int, codes: Floats) -> list[Column]:
    feature = space[space.names[k]]
    if isinstance(feature, (Continuous, Integer)):
        deviation = codes.std()
        return [Column(feature=k, slope=Fraction(1 / deviation), offset=Fraction(-codes.mean() / deviation))]
    count = len(feature.levels)
    return [
        Column(feature=k, table=tuple(Fraction(int(i == level)) for i in range(count)))
        for level in range(count)
    ]
