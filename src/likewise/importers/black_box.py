"""Black boxes: models that are asked and not read. Pairs are looked for in their own answers; nothing is ever FAIR.

`BlackBox` wraps any function that answers for rows: a remote service, a module, a lambda. Estimators with `predict` that nothing reads are asked in the same way (`import_black_box`).

What the program answers becomes scores, the first of these that it has and that agree with its `predict`:

    probabilities   a score a class (`predict_proba`), the largest decides
    threshold       of a model that decides by one: the probability of the upper class, less the threshold
    decision        `decision_function`: one score by sign, or a score a class
    labels          1 for the class that `predict` gives, 0 for the others: no gap is larger or smaller than another, so there is nothing to climb
    numbers         what a regressor predicts

Decisions are always those of `predict`: where a tie or the last digit makes the scores say otherwise they are moved by as much, and where they differ by more than that the labels are the scores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.errors import DataError, LikewiseError, MismatchedModel, SpecError, UnsupportedModel
from likewise.families.opaque.body import Opaque
from likewise.families.program_rounding import UNDESCRIBED
from likewise.families.scored_model import Model
from likewise.importers.heads import probability_cut
from likewise.importers.imported_model import ImportedModel
from likewise.importers.inputs import Inputs, fitted_columns
from likewise.importers.recoding import identity_recoding
from likewise.importers.registry import is_black_box, is_booster, is_network_file, is_settled, is_torch_module
from likewise.importers.replay import Replay, ask_part
from likewise.importers.self_check import check_column_order, sample_codes
from likewise.importers.unfold import UnfoldedEstimator, unfold
from likewise.importers.xgboost.category_names import frame_categories
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

LARGEST_NUDGE = 1e-9  # relative: that scores may be moved by to agree with `predict`
FEWEST_TIMED = 0.001  # seconds: no call is taken to be faster
FEWEST_PACED = 16  # rows: a call about fewer tells little of what a row takes
MOST_OVERHEAD = 15 / 16  # of a call's time that is taken to be that of any call
REMEMBERED = 4096  # individuals whose answers are kept
A_BLACK_BOX = UnsupportedModel(
    "it is a black box", hint="hand over the fitted model itself, if it is one that is read"
)
Kind = Literal["threshold", "probabilities", "decision", "labels", "numbers"]


class BlackBox:
    """A model that can only be asked: any function from rows to labels or numbers.

    Nothing is proved about it. `verify` is BIASED where a pair was found and replayed, else UNKNOWN; `measure` has a lower end alone; `audit` looks at every row with all that may
    differ, where that can be listed; `share` is a sample.

    Parameters
    ----------
    predict : callable
        Takes a frame with the columns of the space, and gives one label or number a row.
    predict_proba : callable, optional
        Takes the same, and gives a probability a label, in the order of `labels`.
    labels : sequence, optional
        All labels that `predict` gives. Without them it gives numbers, if what it says of the rows are numbers; else those labels that turn up there.
    batch_size : int
        Rows that it is asked about at a time.
    calls_per_second : float, optional
        No more calls than that.
    max_calls : int, optional
        A search ends when it has been called so often; the pair that was found is asked about a few times more.

    Examples
    --------
    >>> import likewise as lw
    >>> space = lw.Space({"age": lw.Integer(18, 80), "sex": lw.Categorical(["f", "m"])})
    >>> def premium(people):
    ...     return 300 + 4 * people["age"] + 25 * (people["sex"] == "m")
    >>> found = lw.verify(lw.BlackBox(premium), space, lw.Similarity(free=["sex"]), lw.ScoreGap(20), budget=5)
    >>> print(found.verdict)
    BIASED
    """

    def __init__(
        self,
        predict: Callable[[Any], Any],
        *,
        predict_proba: Callable[[Any], Any] | None = None,
        labels: Sequence[Any] | None = None,
        batch_size: int = 10_000,
        calls_per_second: float | None = None,
        max_calls: int | None = None,
    ) -> None:
        if not callable(predict) or not (predict_proba is None or callable(predict_proba)):
            raise SpecError("a black box needs a function that takes rows", hint="BlackBox(model.predict)")
        if predict_proba is not None and labels is None:
            raise SpecError(
                "probabilities need labels: which class is in which column?",
                hint='labels=["no", "yes"], in the order of the columns',
            )
        for name, given in (
            ("batch_size", batch_size),
            ("calls_per_second", calls_per_second),
            ("max_calls", max_calls),
        ):
            if given is not None and not (isinstance(given, (int, float)) and given > 0):
                raise SpecError(f"{name} must be a positive number, not {given!r}")
        self._predict, self._predict_proba = predict, predict_proba
        if labels is not None:
            self.classes_ = list(labels)
        self.batch_size, self.max_calls = int(batch_size), max_calls
        self.calls_per_second = calls_per_second
        self.calls = 0
        self._next_call = 0.0

    def predict(self, rows: Any) -> Any:
        """Labels or numbers of rows."""
        return self._call(self._predict, rows)

    def __getattr__(self, name: str) -> Any:
        """`predict_proba`, where there is one: whoever asks for it must be able to tell."""
        if name == "predict_proba" and self.__dict__.get("_predict_proba") is not None:
            return lambda rows: self._call(self._predict_proba, rows)
        raise AttributeError(name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copies would count apart from each other."""
        if self.max_calls is not None or self.calls_per_second is not None:
            raise TypeError("a black box whose calls are limited is asked by one process")
        return super().__reduce_ex__(protocol)

    def _call(self, function: Any, rows: Any) -> Any:
        if self.calls_per_second is not None:
            wait = self._next_call - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            self._next_call = time.monotonic() + 1 / self.calls_per_second
        self.calls += 1
        return function(rows)


# -- what is asked ----------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class AskedProgram:
    """The program behind opaque scores: answers for coded individuals, in batches, each individual asked about once as long as it is remembered."""

    estimator: Any
    inputs: Inputs
    kind: Kind
    labels: tuple[Any, ...] | None
    cut: float = 0.0  # of the probability of the upper class, where a threshold decides
    pace: float = 1e6  # rows a second, besides what any call takes
    overhead: float = 0.0  # seconds of a call about one row
    asked: int = 0  # individuals
    used_up: bool = False  # no more calls
    _known: dict[bytes, Floats] = field(default_factory=dict)

    def scores(self, codes: Floats) -> Floats:
        """All scores."""
        codes = np.ascontiguousarray(codes, dtype=np.float64)
        if len(codes) == 1:
            key = codes.tobytes()
            if key not in self._known:
                if len(self._known) >= REMEMBERED:
                    self._known.clear()
                self._known[key] = self._ask(codes)
            return self._known[key]
        size = getattr(self.estimator, "batch_size", 10_000)
        parts = [self._ask(codes[start : start + size]) for start in range(0, len(codes), size)]
        return np.concatenate(parts) if parts else np.empty((0, self.n_scores))

    @property
    def n_scores(self) -> int:
        if self.labels is None or (self.kind in ("decision", "threshold") and len(self.labels) == 2):
            return 1
        return len(self.labels)

    def _ask(self, codes: Floats) -> Floats:
        check_clock()
        if self.used_up or self._no_more_calls():
            self.used_up = True
            raise OutOfTime
        began = time.perf_counter()
        answered = self.of_inputs(self.inputs.of(codes), len(codes))
        self._learn_pace(len(codes), time.perf_counter() - began)
        self.asked += len(codes)
        return answered

    def _learn_pace(self, count: int, seconds: float) -> None:
        """Pipelines take milliseconds for a call, however few rows it is about: batches by how long a row takes with its share of that would stay small for ever."""
        seconds = max(seconds, FEWEST_TIMED)
        found = count / max(seconds - self.overhead, (1 - MOST_OVERHEAD) * seconds)
        if not self.asked:
            self.pace = found
        elif count >= FEWEST_PACED:
            self.pace = 0.5 * (self.pace + found)

    def learn_overhead(self, codes: Floats) -> None:
        """What a call takes, by one about one row; the calls so far are then taken to have taken that."""
        taken = self.asked / self.pace
        began = time.perf_counter()
        self.of_inputs(self.inputs.of(codes[:1]), 1)
        self.overhead = time.perf_counter() - began
        before, self.asked = self.asked, 0
        self._learn_pace(before, taken)
        self.asked = before + 1

    def _no_more_calls(self) -> bool:
        most = getattr(self.estimator, "max_calls", None)
        return most is not None and self.estimator.calls >= most

    def own_scores(self, inputs: Any, count: int) -> tuple[Floats, list[int]]:
        """All scores of rows in the program's own kind of input, as it gives them, and which of the labels each gets."""
        said = np.asarray(ask_part(self.estimator, "predict", inputs))
        if said.shape != (count,):
            raise UnsupportedModel(
                f"predict gives an answer of the shape {said.shape} for {count} rows, not one a row",
                hint="let predict give one label or number a row; of several outputs ask about one at a time",
            )
        if self.labels is None:
            return _finite(said, "predict").reshape(-1, 1), []
        places = self._places(said.tolist())
        if self.kind == "labels":
            return np.eye(len(self.labels))[places], places
        method = self._method
        scores = _finite(ask_part(self.estimator, method, inputs), method).reshape(count, -1)
        if self.kind == "threshold":
            scores = scores[:, 1:] - self.cut
        if scores.shape[1] != self.n_scores:
            raise UnsupportedModel(
                f"{method} gives {scores.shape[1]} numbers a row, for {len(self.labels)} labels",
                hint="labels= names one label a column of predict_proba, in their order",
            )
        return scores, places

    @property
    def _method(self) -> str:
        return "decision_function" if self.kind == "decision" else "predict_proba"

    def of_inputs(self, inputs: Any, count: int) -> Floats:
        """The same, with the label that each gets in the lead."""
        scores, places = self.own_scores(inputs, count)
        if self.kind in ("labels", "numbers"):
            return scores
        nudged = _agree_by_sign(scores, places) if self.n_scores == 1 else _agree(scores, places)
        moved = np.abs(nudged - scores).max(initial=0.0)
        if moved > LARGEST_NUDGE * max(1.0, np.abs(scores).max(initial=0.0)):
            raise Disagreement(
                f"the model's predict and its {self._method} do not agree",
                hint="ask about its decisions alone: BlackBox(model.predict, labels=[...])",
            )
        return nudged

    def _places(self, said: list[Any]) -> list[int]:
        known = {label: place for place, label in enumerate(self.labels or ())}
        strange = next((label for label in said if label not in known), None)
        if strange is not None:
            _refuse_label(strange, list(known))
        return [known[label] for label in said]


def _refuse_label(strange: Any, known: Sequence[Any]) -> NoReturn:
    raise DataError(
        f"predict gives the label {strange!r}, which is none of {list(known)}",
        hint="name all labels: BlackBox(predict, labels=[...])",
    )


class Disagreement(UnsupportedModel):
    """Scores and decisions of a program are not of one kind."""


def _finite(given: Any, method: str) -> Floats:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnsupportedModel(
            f"{method} gives no numbers", hint="name the labels: BlackBox(predict, labels=[...])"
        ) from None
    if not np.isfinite(numbers).all():
        raise DataError(
            f"the model's own {method} gives {numbers[~np.isfinite(numbers)].ravel()[0]} for an individual of the space"
        )
    return numbers


def _agree(scores: Floats, places: Sequence[int]) -> Floats:
    """The scores with the class that was given in the lead, of ties by the last digit: a search sees no decision in a lead of nothing."""
    rows, chosen = np.arange(len(scores)), np.array(places, dtype=np.intp)
    largest = scores.max(axis=1, keepdims=True)
    led = (scores.argmax(axis=1) == chosen) & ((scores == largest).sum(axis=1) == 1)
    nudged = scores.copy()
    nudged[rows[~led], chosen[~led]] = np.nextafter(largest[~led, 0], np.inf)
    return nudged


def _agree_by_sign(scores: Floats, places: Sequence[int]) -> Floats:
    upper = np.array(places, dtype=bool)
    nudged = scores.copy()
    nudged[upper & (scores[:, 0] <= 0), 0] = np.finfo(np.float64).tiny
    nudged[~upper & (scores[:, 0] > 0), 0] = 0.0
    return nudged


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedReplay(Replay):
    """The same program, asked again: its scores as it gives them."""

    program: AskedProgram

    def scores_of(self, inputs: Any) -> Floats:
        return self.program.own_scores(inputs, len(inputs))[0]


# -- importing --------------------------------------------------------------------------------------------


def can_be_asked(estimator: Any) -> bool:
    """Whether it takes rows of the space as they are and answers for them. What has inputs of its own (a
    Booster, models and networks in files) or was made here is read, or nothing."""
    if isinstance(estimator, type) or not callable(getattr(estimator, "predict", None)):
        return False
    try:
        final = unfold(estimator).final
    except UnsupportedModel:
        return True
    handle = is_booster(final) and not hasattr(final, "get_params")  # no estimator of scikit-learn's kind
    return not (handle or is_settled(final) or is_network_file(final) or is_torch_module(final))


def import_black_box(estimator: Any, space: Space, *, rows: Floats, like: Any = None) -> ImportedModel:
    """A model that is nothing but the program's own answers."""
    columns, named = _columns(estimator, space)
    if not named:
        check_column_order(columns, like)
    levels = frame_categories(like) if named and is_booster(estimator) else {}
    inputs = Inputs(recoding=identity_recoding(space), columns=columns, like=like, named=named, levels=levels)
    codes = sample_codes(space, rows)
    family = type(estimator).__name__
    program = _find_program(estimator, inputs, codes)
    if not is_black_box(estimator):  # whose calls are counted
        program.learn_overhead(codes)
    head = _head_of(program)
    width = program.n_scores
    units = [tuple(Fraction(n == k) for k in range(width)) for n in range(width)]
    model = Model(
        family=family,
        rounding=None,
        embedding=(),
        bodies=tuple(Opaque(program=program, alpha=unit) for unit in units),
        head=head,
    )
    replay = AskedReplay(estimator=estimator, inputs=inputs, head=head, asked=estimator, program=program)
    return ImportedModel(
        model=model,
        replay=replay,
        recoding=inputs.recoding,
        rows=inputs.recoding.coded(rows),
        program=UNDESCRIBED,
    )


def _columns(estimator: Any, space: Space) -> tuple[tuple[str, ...], bool]:
    """Those that it was fitted on, where it knows; else all of the space, by name."""
    if not hasattr(estimator, "n_features_in_"):
        return space.names, True
    alone = UnfoldedEstimator(steps=(), final=estimator, wrappers=(), before=(), asked=estimator)
    return fitted_columns(estimator, alone, space)


def _find_program(estimator: Any, inputs: Inputs, codes: Floats) -> AskedProgram:
    """The program with the first kind of scores that agrees with its labels."""
    labels = _labels_of(estimator, inputs, codes)
    kinds: list[Kind] = ["numbers"] if labels is None else ["probabilities", "decision", "labels"]
    cut = None if labels is None else probability_cut(estimator, labels)
    if cut is not None:
        kinds = ["threshold", *kinds]
    for kind in kinds:
        method = {
            "probabilities": "predict_proba",
            "threshold": "predict_proba",
            "decision": "decision_function",
        }.get(kind)
        if method is not None and not callable(getattr(estimator, method, None)):
            continue
        program = AskedProgram(estimator=estimator, inputs=inputs, kind=kind, labels=labels, cut=cut or 0.0)
        try:
            program.scores(codes)
        except (Disagreement, DataError):
            if kind in ("labels", "numbers"):
                raise
            continue
        return program
    raise UnsupportedModel(
        f"{type(estimator).__name__} gives no answers",
        hint="wrap what answers: BlackBox(model.predict, labels=[...])",
    )


def _labels_of(estimator: Any, inputs: Inputs, codes: Floats) -> tuple[Any, ...] | None:
    """The labels of a classifier, None for a program that gives numbers."""
    known = getattr(estimator, "classes_", None)
    said = np.asarray(ask_part(estimator, "predict", inputs.of(codes)))
    if said.ndim != 1:
        raise UnsupportedModel(
            f"{type(estimator).__name__} gives several answers a row", hint="ask about one of them at a time"
        )
    if known is not None and not isinstance(known, str):
        found = np.asarray(known)
        if found.ndim == 1 and set(said.tolist()) <= set(found.tolist()):
            return tuple(found.tolist()) if len(found) > 1 else None
        if is_black_box(estimator):
            strange = next(label for label in said.tolist() if label not in set(found.tolist()))
            _refuse_label(strange, found.tolist())
    if said.dtype.kind in "iuf":
        return None
    seen = sorted(set(said.tolist()), key=str)
    return tuple(seen) if len(seen) > 1 else (*seen, _other(seen))


def _other(seen: Sequence[Any]) -> Any:
    """A label beside the only one that turned up."""
    if not seen:
        raise DataError("the model gives no answers")
    return (not seen[0]) if isinstance(seen[0], bool) else f"not {seen[0]}"


def _head_of(program: AskedProgram) -> Head:
    if program.labels is None:
        return NUMBER_HEAD
    if program.kind == "probabilities":
        return Head(labels=program.labels, rule="argmax", link="identity")
    if program.kind == "threshold":
        return Head(labels=program.labels, link="identity", offset=Fraction(program.cut))
    if program.n_scores == 1:
        return Head(
            labels=program.labels, rule="sign", unlinked="it gives none that agree with its decisions"
        )
    return Head(labels=program.labels, rule="argmax", unlinked="it gives none that agree with its decisions")


MOST_LETTERS = 300  # of what a program says where it fails


def ask_instead(
    estimator: Any, space: Space, refusal: UnsupportedModel, *, rows: Floats, like: Any = None
) -> ImportedModel:
    """What was refused, asked instead of read; raises the refusal where it cannot be asked either, and says so where its own program fails on rows of the space."""
    if isinstance(refusal, MismatchedModel) or not can_be_asked(estimator):
        raise refusal
    try:
        return import_black_box(estimator, space, rows=rows, like=like)
    except DataError as error:
        raise UnsupportedModel(
            f"{refusal.message}; it cannot be asked instead either: {' '.join(error.message.split())[:MOST_LETTERS]}",
            hint=(not is_booster(estimator) and error.hint)
            or refusal.hint,  # boosters have a hint of their own
        ) from error
    except LikewiseError as error:
        raise refusal from error
