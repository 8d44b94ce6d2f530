"""Fitted results of statsmodels, with scikit-learn's verbs: `params` times the columns of a design matrix.

    OLS, WLS, GLS, RLM, QuantReg                 predict the sum
    Logit; GLM of the binomial family with logit   the probability of 1 is sigma of the sum, and 1 is decided where the sum is above 0
    Probit; GLM with probit                      decided likewise; the probability is another function of the sum, which is refused
    Poisson; GLM with a logarithmic link         predict exp of the sum (`exponents`)
    GLM with the identity                        predicts the sum

Results of arrays and frames take their columns as they are, less the constant that `add_constant` has put there. Results of formulas make columns of features: `FormulaColumns` is the transformer that does, for terms of one feature each.
Terms of several (`age:sex`, `age * sex`) are products of columns of one feature each, which `FormulaFactors` makes; `mixing` multiplies them.
"""

from __future__ import annotations

import ast
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.scored_model import Model
from likewise.importers.exponents import EXPONENTIAL_HEAD
from likewise.importers.score_models import ScoreModels
from likewise.importers.transformers.traced_columns import (
    UNCHANGED,
    Action,
    Step,
    TableFunction,
    TracedColumn,
    derive_column,
)
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head

LINES = ("OLS", "WLS", "GLS", "RLM", "QuantReg")
BINARY_LINKS = {"Logit": "logistic", "Probit": None}
CONSTANTS = ("const", "intercept")
SUPPORTED = "OLS, WLS, GLS, RLM, QuantReg, Logit, Probit, Poisson, and GLM with the links identity, log, logit and probit"
OF_NUMPY = re.compile(r"(?:np|numpy)\.(\w+)\(\s*(\w+)\s*\)")


class FittedResults:
    """The results with verbs of scikit-learn; a model of 0 and 1 decides by the sign of the sum."""

    def __init__(self, results: Any) -> None:
        self._results = getattr(results, "_results", results)
        model = self._results.model
        self.name = type(model).__name__
        self.head = _head_of(model, self.name)
        for offset in ("offset", "exposure"):
            if np.any(getattr(model, offset, None) is not None):
                raise UnsupportedModel(
                    f"{self.name} was fitted with an {offset}, which is another number a row",
                    hint=f"fit it without {offset}, or with a column in its place",
                )
        self.params = np.asarray(self._results.params, dtype=np.float64)
        self._formula = FormulaColumns(self._results) if hasattr(model, "formula") else None
        names = list(model.exog_names)
        places = [i for i, name in enumerate(names) if str(name).lower() in CONSTANTS]
        self.constant = places[0] if places else None
        if self.params.shape != (len(names),):
            raise UnsupportedModel(
                f"{self.name} has {self.params.size} parameters for {len(names)} columns",
                hint=f"supported: {SUPPORTED}",
            )
        if self.head.labels is not None:
            self.classes_ = np.array([0, 1])
        self._learn_columns(model, [name for i, name in enumerate(names) if i != self.constant])

    def _learn_columns(self, model: Any, names: list[str]) -> None:
        self.value = 1.0 if self.constant is None else float(model.exog[0, self.constant])
        if self._formula is not None:
            names = list(self._formula.variables)
        self.n_features_in_ = len(names)
        if self._formula is not None or hasattr(model.data.orig_exog, "columns"):
            self.feature_names_in_ = np.array(names, dtype=object)

    @property
    def steps(self) -> tuple[tuple[str, Any], ...]:
        """What makes columns of features."""
        return () if self._formula is None else (("formula", self._formula),)

    def _design(self, rows: Any) -> Any:
        if self._formula is not None:
            return self._formula.design(rows)
        matrix = np.asarray(_as_pandas(rows), dtype=np.float64)
        return matrix if self.constant is None else np.insert(matrix, self.constant, self.value, axis=1)

    def linear_predictor(self, rows: Any) -> Any:
        """The sums."""
        more = {} if self.name in LINES else {"which": "linear"}
        return np.asarray(self._results.predict(self._design(rows), transform=False, **more))

    decision_function = linear_predictor

    def predict(self, rows: Any) -> Any:
        """Labels, or numbers."""
        if self.head.labels is not None:
            return (self.linear_predictor(rows) > 0).astype(int)
        return np.asarray(self._results.predict(self._design(rows), transform=False))

    def predict_proba(self, rows: Any) -> Any:
        """The probability of 0 and of 1."""
        upper = np.asarray(self._results.predict(self._design(rows), transform=False))
        return np.stack([1 - upper, upper], axis=1)


def _head_of(model: Any, name: str) -> Head:
    link = name
    if name == "GLM":
        link = type(model.family.link).__name__
        if link in ("Identity", "Log"):
            return NUMBER_HEAD if link == "Identity" else EXPONENTIAL_HEAD
        if type(model.family).__name__ != "Binomial":
            link = f"{type(model.family).__name__} with the link {link}"
    if name in LINES:
        return NUMBER_HEAD
    if name == "Poisson":
        return EXPONENTIAL_HEAD
    if link not in BINARY_LINKS:
        raise UnsupportedModel(
            f"statsmodels' {name}{f' ({link})' if name == 'GLM' else ''} is not supported",
            hint=f"supported: {SUPPORTED}",
        )
    unlinked = (
        None
        if link == "Logit"
        else "a probit's probability is the normal distribution of its score, not logistic"
    )
    return Head(labels=(0, 1), link="logistic" if link == "Logit" else None, unlinked=unlinked)


def import_results(estimator: FittedResults, embedding: tuple[Column, ...]) -> ScoreModels:
    """The exact affine model of fitted results on these columns."""
    if not np.isfinite(estimator.params).all():
        raise UnsupportedModel(
            f"{estimator.name} has a parameter that is not a finite number", hint="its training diverged"
        )
    weights = [Fraction(value) for value in estimator.params.tolist()]
    bias = Fraction(0)
    if estimator.constant is not None:
        bias = weights.pop(estimator.constant) * Fraction(estimator.value)
    if len(weights) != len(embedding):
        raise UnsupportedModel(f"{estimator.name} has {len(weights)} weights for {len(embedding)} columns")
    rounding = AffineRounding(
        sizes=tuple(map(abs, weights)), constant=abs(bias), operations=2 * len(weights) + 4
    )
    body = Affine(weights=tuple(weights), bias=bias)
    return ScoreModels.of(
        Model(
            family=estimator.name, rounding=rounding, embedding=embedding, bodies=(body,), head=estimator.head
        )
    )


# -- formulas -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaTerm:
    """Some columns of a design matrix: of which features, by which text, and whether that is the number itself."""

    text: str
    features: tuple[str, ...]
    width: int
    number: bool


class FormulaColumns:
    """The design matrix of a formula, less its constant, as a transformer."""

    def __init__(self, results: Any) -> None:
        self._results = results
        self._known = {str(name) for name in results.model.data.frame.columns}
        spec = results.model.data.model_spec
        parts = _formulaic_terms(spec) if hasattr(spec, "structure") else _patsy_terms(spec)
        self.terms = tuple(self.term(codes, width, number) for codes, width, number in parts if codes)
        self.variables = tuple(dict.fromkeys(name for term in self.terms for name in term.features))

        self.factors = _factors_of(spec, self) if any(len(term.features) > 1 for term in self.terms) else None

    def term(self, codes: Sequence[str], width: int, number: bool) -> FormulaTerm:
        """What is said of some columns."""
        features = tuple(dict.fromkeys(name for code in codes for name in self._names_in(code)))
        text = ":".join(codes)
        return FormulaTerm(text=text, features=features, width=width, number=number and features == (text,))

    def _names_in(self, code: str) -> Iterator[str]:
        if code in self._known:
            yield code
            return
        quoted = re.findall(r"Q\(['\"](.*?)['\"]\)", code)
        yield from (name for name in quoted if name in self._known)
        try:
            tree = ast.parse(code, mode="eval")
        except SyntaxError:
            return
        yield from (
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in self._known
        )

    def design(self, rows: Any) -> Any:
        """The whole matrix, by the formula itself."""
        made = self._results._transform_predict_exog(_as_pandas(rows), transform=True)
        return np.asarray(made[0] if isinstance(made, tuple) else made, dtype=np.float64)

    def transform(self, rows: Any) -> Any:
        """The matrix without its constant."""
        names = [str(name).lower() for name in self._results.model.exog_names]
        return self.design(rows)[:, [i for i, name in enumerate(names) if name not in CONSTANTS]]

    def trace(self, columns: Sequence[TracedColumn], step: Step) -> tuple[TracedColumn, ...]:
        """What the columns are of."""
        return trace_terms(self.terms, columns, step)


def trace_terms(
    terms: Sequence[FormulaTerm], columns: Sequence[TracedColumn], step: Step
) -> tuple[TracedColumn, ...]:
    """The columns of terms of one feature each."""
    by_name = {column.name: column for column in columns}
    made = []
    for term in terms:
        if len(term.features) != 1:
            step.refuse(
                f"has the term {term.text!r}, which is of {len(term.features)} features"
                if term.features
                else f"has the term {term.text!r}, whose feature is not found in the frame",
                hint="terms of one feature each are read, and by patsy their products: age + C(sex) + age:sex + np.log1p(income)",
            )
        column = derive_column(by_name[term.features[0]], _action_of(term), step)
        made += [column] * term.width
    return tuple(made)


class FormulaFactors:
    """The columns of one feature each whose products are those of a formula of patsy, less its constant: `products` has the places of the factors of each column."""

    def __init__(self, spec: Any, formula: FormulaColumns) -> None:
        from patsy import DesignInfo, SubtermInfo, Term

        self._designs: list[Any] = []
        self.terms: list[FormulaTerm] = []
        known: dict[Any, range] = {}
        self.products: list[tuple[int, ...]] = []
        for part in (one for codings in spec.term_codings.values() for one in codings if one.factors):
            places = []
            for factor in part.factors:
                info, contrast = spec.factor_infos[factor], part.contrast_matrices.get(factor)
                width = info.num_columns if contrast is None else contrast.matrix.shape[1]
                key = (factor, None if contrast is None else contrast.matrix.tobytes())
                if key not in known:
                    start = sum(term.width for term in self.terms)
                    known[key] = range(start, start + width)
                    chosen = {} if contrast is None else {factor: contrast}
                    coding = OrderedDict({Term([factor]): [SubtermInfo([factor], chosen, width)]})
                    names = [f"{factor.name()}[{i}]" for i in range(width)]
                    self._designs.append(DesignInfo(names, {factor: info}, coding))
                    self.terms.append(formula.term([factor.name()], width, info.type == "numerical"))
                places.append(known[key])
            # patsy lets the first factor of a term run through its columns first.
            self.products += [tuple(reversed(one)) for one in product(*reversed(places))]

    def transform(self, rows: Any) -> Any:
        """All columns of the factors."""
        from patsy import build_design_matrices

        made = build_design_matrices(self._designs, _as_pandas(rows), NA_action="raise")
        return np.concatenate([np.asarray(one, dtype=np.float64) for one in made], axis=1)

    def trace(self, columns: Sequence[TracedColumn], step: Step) -> tuple[TracedColumn, ...]:
        """What the columns are of."""
        return trace_terms(self.terms, columns, step)


def _factors_of(spec: Any, formula: FormulaColumns) -> FormulaFactors | None:
    """None of a formula of another engine than patsy."""
    return FormulaFactors(spec, formula) if hasattr(spec, "term_codings") else None


def _action_of(term: FormulaTerm) -> Action:
    if term.number:
        return UNCHANGED
    found = OF_NUMPY.fullmatch(term.text)
    function = getattr(np, found[1], None) if found else None
    known = function if isinstance(function, np.ufunc) else None
    return TableFunction(
        does=f"makes {term.text!r} of it", settled=known is None and "(" not in term.text, function=known
    )


def _patsy_terms(spec: Any) -> Iterator[tuple[list[str], int, bool]]:
    for codings in spec.term_codings.values():
        for part in codings:
            factors = list(part.factors)
            numbers = all(spec.factor_infos[factor].type == "numerical" for factor in factors)
            yield [factor.name() for factor in factors], part.num_columns, numbers


def _formulaic_terms(spec: Any) -> Iterator[tuple[list[str], int, bool]]:
    for part in spec.structure:
        codes = [factor.expr for factor in part.term.factors if factor.expr != "1"]
        numbers = not any(
            "categorical" in str(spec.encoder_state.get(code, ("",))[0]).lower() for code in codes
        )
        yield codes, len(part.columns), numbers


def _as_pandas(rows: Any) -> Any:
    if isinstance(rows, np.ndarray):
        return rows
    import narwhals.stable.v2 as nw

    return nw.from_native(rows, eager_only=True).to_pandas()
