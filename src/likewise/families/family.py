"""Family: all that is asked of one kind of model, in one room (`families/<name>`), and the values that it is asked about.

    Body       the mathematics of one score over columns, with its exact parameters
    Score      the same over codes, evaluated exactly (one individual) or in float64 (many)
    Rounding   how the original program computes one score, and what that says about its error
    Family     what is asked of several bodies or scores together, and what bounds, judges and writes them down

A family is handed its own bodies and scores only, and asks nobody what another family is. `registry` has the list of all of them.

Whatever is done with bodies has to end in a body of the same family: multiples, also negative ones (`Body.rescaled`, `Score.negated`), and, where a model of several
classes is to be taken, sums (`Family.form`). What is no multiple or sum of its kind belongs into a wider kind: max(f, g) into differences of two maxima.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.score_judge import ScoreTable
from likewise.families.settings import fix_columns
from likewise.model.embedding import Column, join_embeddings
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.forms import FormBounder
    from likewise.families.program_rounding import ErrorBound
    from likewise.families.score_judge import ScoreJudge
    from likewise.families.scored_model import Model
    from likewise.families.settings import Setting, Settings
    from likewise.model.goal import Goal
    from likewise.spec.pairs import PairSpace
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

KeptLevels = Sequence[
    Sequence[int] | None
]  # by feature: the places of the levels that are left, None for a number


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineMap:
    """g = slope f + offset, in `operations` roundings of terms no larger than |slope| |f| + `size`."""

    slope: Fraction
    offset: Fraction
    size: Fraction
    operations: int

    def of(self, scores: Floats) -> Floats:
        """The same in float64, of the original's scores."""
        return float(self.slope) * scores + float(self.offset)


class ComputedColumn(Protocol):
    """A column as the program computes it: after `roundings` roundings, of numbers up to its size and `slack`."""

    @property
    def offset(self) -> Fraction: ...

    @property
    def roundings(self) -> int: ...

    @property
    def slack(self) -> Fraction: ...


class Score(Protocol):
    """One score over the codes of a space."""

    family: ClassVar[str]

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""

    def scorer(self) -> Callable[[Floats], Floats]:
        """`scores` for many calls: whatever can be done once is done."""

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """Many rows as well as they can be had at once: exactly, or in float64 from differences. What the original is compared with."""

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        """The score of one individual, where scores are rational."""

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """The score of one individual, to about so many bits."""

    def depends(self, feature: int) -> bool:
        """Whether the score can change with a feature: False only where it cannot."""

    def landmarks(self, space: Space) -> Floats:
        """Individuals that are worth looking at; there may be none."""

    def negated(self) -> Any:
        """The same score with the opposite sign."""

    @property
    def cost(self) -> int:
        """What a search has to pay for a row, in kernel values."""

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""

    @property
    def enclosing_work(self) -> int:
        """How many numbers an enclosure looks at; 0 where scores are rational."""


class Body(Protocol):
    """The mathematics of one score."""

    family: ClassVar[str]

    def score(self, embedding: tuple[Column, ...], n_features: int) -> Score:
        """The score over codes."""

    def rescaled(self, by: AffineMap, kind: str) -> Any:
        """slope times the body plus offset, exactly; refuses what is no body of the family, naming what asked for it."""

    def reads(self, feature: int) -> bool:
        """Whether it looks at a feature itself, besides what its columns do."""

    def restricted(self, kept: KeptLevels) -> Any:
        """The body over the levels that are left; None where it cannot be had without importing it again."""

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> int | None:
        """D such that every individual's score is a multiple of 1 / D; None where there is none."""


class Rounding(Protocol):
    """How the original program computes one score."""

    def errors(self, model: Model, codes: Floats) -> list[Fraction]:
        """About how far two programs may be apart at each row; for comparing the original with the import."""

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        """What the program's score is off by at most over the whole space; None where that is not known."""

    def certified_error(self, model: Model, space: Space) -> Fraction | None:
        """The same as a certificate states it; None where it states nothing."""

    def line(self) -> dict[str, Any] | None:
        """What the model line of a certificate says of it."""

    def rescaled(self, by: AffineMap) -> Any:
        """Of the program that also does this to the score."""

    def undescribed(self) -> Any:
        """The same without a claim to know all that the program does; None where nothing is left to say."""

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> Any:
        """Of the program that computes its columns so."""

    def of_single_columns(
        self, model: Model, space: Space, columns: Sequence[ComputedColumn], *, described: bool
    ) -> Any:
        """Of the program that is handed these columns of the model in single precision, and calculates in it where its own numbers let it; None where nothing is known of that."""


class Climber(Protocol):
    """What improves pairs of individuals, in float64."""

    def __call__(self, goal: Goal, x: Floats, other: Floats, seed: int) -> tuple[Floats, Floats]:
        """Pairs that are at least as good at a goal as these, from which it starts."""


class Family(ABC):
    """One kind of model. What is given here holds for most; a family says where it is otherwise."""

    name: ClassVar[str]
    additive: ClassVar[bool] = False  # scores are sums of one function a feature
    takes_pieces: ClassVar[bool] = False  # columns may be bins and splines of a continuous number
    differences: ClassVar[bool] = True  # pair space gets a variable for what two individuals differ by
    remembers: ClassVar[bool] = (
        False  # bounders keep something about each cell; scores have finitely many values
    )
    leads: ClassVar[bool] = False  # differences of two scores are bodies of the family, exactly
    links_rescaled: ClassVar[bool] = True  # a calibration can be worked into the body, exactly
    bounded_means: ClassVar[bool] = False  # means over settings are bodies of a family with bounds: `mean`
    rules: ClassVar[Mapping[str, str]] = MappingProxyType(
        {}
    )  # of its leaves in certificates, and what each says of a cell
    unbounded: ClassVar[str | None] = None  # why nothing bounds its scores over cells, where that is so
    softmax: ClassVar[Literal["odds", "lines"] | None] = None  # how log odds of several scores are bounded
    opaque: ClassVar[bool] = False  # it can be asked only: there is nothing that a certificate could be about
    shared_work: ClassVar[bool] = False  # all scores of an individual cost as much as one

    # -- several scores -----------------------------------------------------------------------------------------

    @abstractmethod
    def form(self, bodies: Sequence[Any], alpha: tuple[Fraction, ...]) -> Body:
        """alpha . f as a body; alpha has zeros, and numbers of either sign. A family that joins bodies and refuses some has them as scores (`form_score`)."""

    def form_score(
        self, model: Model, parts: Sequence[Any], alpha: tuple[Fraction, ...], n_features: int
    ) -> Score:
        """alpha . f as a score; `parts` are the scores made already."""
        return self.form(model.bodies, alpha).score(model.embedding, n_features)

    def join(self, models: Sequence[Model], estimator: str) -> tuple[tuple[Column, ...], tuple[Body, ...]]:
        """The bodies of models of one score each over one embedding."""
        embedding, places = join_embeddings([model.embedding for model in models])
        return embedding, self.join_bodies(
            [model.body for model in models], places, len(embedding), estimator
        )

    def join_bodies(
        self, bodies: Sequence[Any], places: Sequence[tuple[int, ...]], width: int, estimator: str
    ) -> tuple[Body, ...]:
        """The bodies over `width` columns, the own columns of each at its places among them."""
        raise UnsupportedModel(f"{estimator} holds models that have no one form")

    def rounding_of_lead(self, rounding: Rounding | None, share: Fraction) -> Rounding | None:
        """Of the program that computes two scores with this rounding each, of a share of their difference; None where that is not known."""
        return None

    def variation(self, score: Any, n_features: int) -> Fraction | None:
        """How far a score varies from one individual to another at most, exactly; None where that is not known."""
        return None if any(score.depends(k) for k in range(n_features)) else Fraction(0)

    def check(self, bodies: Sequence[Any]) -> None:
        """Refuse bodies that are not what `join` makes."""

    def restricted(self, bodies: Sequence[Any], kept: KeptLevels) -> tuple[Body, ...] | None:
        """The bodies over the levels that are left; None where they cannot be had without importing them again."""
        found = tuple(body.restricted(kept) for body in bodies)
        return None if None in found else found

    def scores(self, parts: Sequence[Any], codes: Floats) -> Floats:
        """All scores of many rows in float64, one column each."""
        return np.stack([part.scores(codes) for part in parts], axis=1)

    # -- bounders and judges ------------------------------------------------------------------------------------

    @abstractmethod
    def bounder(self, score: Any, pairs: PairSpace, second: Any = None) -> Any:
        """What bounds the score over cells of these pairs; of x' the score `second`, if that is another one. None: nothing does."""

    def shared(self, parts: Sequence[Any], pairs: PairSpace) -> Any:
        """What the bounders of all forms of several scores have in common over cells of these pairs."""
        return None

    def why_unbounded(self, scores: Sequence[Any]) -> str | None:
        """Why nothing bounds these scores over cells, where that is so."""
        return self.unbounded

    def silent(self, scores: Sequence[Any]) -> bool:
        """Whether a model that can only be asked answers no more."""
        return False

    def inner_quantities(self, bodies: Sequence[Any]) -> int:
        """How many quantities inside the model cells may be cut by."""
        return 0

    def inner_line(self, bodies: Sequence[Any], place: int) -> list[Any]:
        """How a node of a certificate names the quantity that it cuts."""
        raise InternalError(f"cells of the family {self.name} have no inner quantities")

    def codes_to_try(self, shared: Any) -> dict[int, Floats]:
        """Codes that are worth trying, by feature."""
        return {}

    def bounder_of_forms(self, here: Any, there: Any, pairs: PairSpace, shared: Any) -> Any:
        """What bounds one form at x beside another one, or the same, at x'."""
        return self.bounder(here, pairs, None if there is here else there)

    def bounder_of_log_odds(self, parts: Sequence[Any], of: int, pairs: PairSpace, shared: Any) -> Any:
        """What bounds the probabilities of a class by softmax; None where nothing does."""
        return None

    def forms(self, score: Any, pairs: PairSpace, moving: Sequence[int]) -> FormBounder | None:
        """What has linear forms of a score over boxes of individuals, for settings of the features `moving`; None where nothing does."""
        return None

    @abstractmethod
    def judge(self, score: Any) -> ScoreJudge:
        """The judge of many rows."""

    def cross(
        self, judges: Sequence[Any], rows: Floats, features: Sequence[int], settings: Floats
    ) -> ScoreTable:
        """All scores (rows, settings, n): every row with these features set to each of the settings."""
        parts = [judge.cross(rows, features, settings) for judge in judges]
        return ScoreTable(
            values=np.stack([part.values for part in parts], axis=2),
            error=np.stack([part.error[:, 0] for part in parts], axis=1),
        )

    def pace(self, judges: Sequence[Any]) -> float:
        """About how many individuals a second have all their scores."""
        pace: float = judges[0].pace / len(judges)
        return pace

    def cuts(self, judges: Sequence[Any], feature: int) -> Floats | None:
        """Codes between which all scores are constant along a feature."""
        return judges[0].cuts(feature) if len(judges) == 1 else None

    def products(self, score: Any, pairs: PairSpace) -> Callable[[], Any] | None:
        """What makes scores of a grid of discrete features products of matrices, if anything does."""
        return None

    def climber(self, parts: Sequence[Any], pairs: PairSpace) -> Callable[[], Climber] | None:
        """What makes a climber of its own over these pairs, which has to keep no constraints; None where the general one does."""
        return None

    # -- settling -----------------------------------------------------------------------------------------------

    def at_settings(self, model: Model, settings: Sequence[Setting]) -> list[Model]:
        """The model with features fixed to each of the settings; equal ones may be one."""
        return [replace(model, embedding=fix_columns(model.embedding, codes)) for codes in settings]

    def mean(self, model: Model, settings: Settings) -> Model | None:
        """The mean over settings as a model of the family; None where it is none."""
        return None

    # -- certificates -------------------------------------------------------------------------------------------

    @abstractmethod
    def line(self, bodies: Sequence[Any], embedding: tuple[Column, ...]) -> dict[str, Any]:
        """The body of the model line of a certificate: numbers for one score, arrays of n numbers in their place for several."""

    def hints_line(self, rule: str, hints: Sequence[int]) -> list[Any]:
        """What the line of a leaf has where a rule of the family takes hints; nothing where there are none."""
        return [list(hints)] if hints else []
