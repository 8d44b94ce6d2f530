"""``likewise demo``: a tour on German Credit, shipped with the package.

A logistic regression that sees the applicant's sex and marital status, the pair it treats differently, how
large the gap can be; then the same model without that attribute, and the proof that it is fair. The models
work on the paper's integer codes; the codes of levels are shown by the levels' names.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.answers.answer import Answer
    from likewise.answers.audience import Audience
    from likewise.answers.texts import ValueFormatter
    from likewise.spec.space import Space

WIDTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicants:
    """German Credit for the demo: coded rows under readable names, and how to read the codes."""

    X: Any
    y: Any
    space: Space
    protected: str
    shown: ValueFormatter

    def masked(self) -> Any:
        """The rows with the protected attribute set to 0."""
        import narwhals.stable.v2 as nw

        rows = nw.from_native(self.X, eager_only=True)
        return rows.with_columns(nw.lit(0).alias(self.protected)).to_native()


def demo(all_features: bool) -> None:
    """A tour on German Credit: a biased model, and a fair one.

    Trains two small models on data shipped with Likewise; needs no network, writes no files.
    """
    from likewise.cli.output import emit, emit_answer

    _say(
        "A bank has trained a model on 1000 applicants to predict whether their credit turns out good "
        "or bad. Does it treat applicants alike who differ only in their sex and marital status?",
        title="likewise demo: German Credit",
    )
    applicants = load_applicants()
    model = train_model(applicants.X, applicants.y)
    _say("Every similar pair is searched, not a sample of them.", title="1  Is the model fair?")
    emit_answer(_verify_answer(model, applicants, all_features))
    _say(
        "One applicant asks twice, and only the attribute that should not matter has changed. How large "
        "can the effect be? The bracket holds for all similar pairs, the pair below attains it.",
        title="2  How unfair can it be?",
    )
    emit_answer(_measure_answer(model, applicants, all_features))
    _say(
        "The same model, trained with that attribute set to 0 for everyone, so that it cannot be used.",
        title="3  And without the attribute?",
    )
    emit_answer(_verify_answer(train_model(applicants.masked(), applicants.y), applicants, all_features))
    _say(
        f"No pair exists: leaving out {applicants.protected} is enough for this claim. It says nothing "
        "about other features that may stand in for it: name them with --free, too.",
    )
    _say("On your own model and data:", title="Next")
    emit(
        "  likewise init data.csv --model model.skops --label y -o claim.toml\n"
        "  likewise verify claim.toml       is it fair?\n"
        "  likewise measure claim.toml      how unfair can it be?\n"
        "  likewise verify --help           all flags, and the exit codes for scripts"
    )


def load_applicants() -> Applicants:
    """The shipped rows, coded, under their readable names and with readable labels."""
    import narwhals.stable.v2 as nw

    from likewise.datasets import load_german
    from likewise.datasets.tables import GERMAN
    from likewise.spec.space import Space

    coded, readable = load_german(coded=True), load_german()
    names = {column.coded_name: column.name for column in GERMAN.columns}
    X = nw.from_native(coded.X, eager_only=True).rename(names).to_native()
    levels = {
        column.name: {code: level for level, code in column.codes.items()}
        for column in GERMAN.columns
        if column.codes is not None
    }

    def shown(name: str, value: Any) -> str:
        return levels[name][int(value)] if name in levels else f"{value:g}"

    return Applicants(
        X=X, y=readable.y, space=Space.from_data(X), protected=readable.protected[0], shown=shown
    )


def train_model(X: Any, y: Any) -> Any:
    """A logistic regression; liblinear leaves the weight of a column of zeros at exactly 0."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="liblinear").fit(X, y)


def _verify_answer(model: Any, applicants: Applicants, all_features: bool) -> Answer:
    from likewise.answers.verdict import verdict_answer
    from likewise.spec.similarity import Similarity
    from likewise.verifying import verify

    result = verify(model, applicants.space, Similarity(free=[applicants.protected]), X=applicants.X)
    return verdict_answer(result, _demo_audience(applicants, all_features), steps=False)


def _measure_answer(model: Any, applicants: Applicants, all_features: bool) -> Answer:
    from likewise.analysis.measure import measure
    from likewise.answers.disparity import disparity_answer
    from likewise.spec.properties import SameDecision
    from likewise.spec.similarity import Similarity
    from likewise.verifying.result import StatedClaim

    space, similar = applicants.space, Similarity(free=[applicants.protected])
    disparity = measure(model, space, similar, of="probability", X=applicants.X)
    about = StatedClaim(space=space, similarity=similar, property=SameDecision(), family=type(model).__name__)
    told = disparity_answer(disparity, about, _demo_audience(applicants, all_features))
    return replace(told, steps=())


def _demo_audience(applicants: Applicants, all_features: bool) -> Audience:
    from likewise.answers.audience import Audience

    same = None if all_features else Audience().same
    return Audience(rest="--all shows them", same=same, shown=applicants.shown)


def _say(text: str, *, title: str | None = None) -> None:
    from likewise.cli.output import emit

    emit("" if title is None else f"\n{title}\n{'-' * len(title)}")
    emit(textwrap.fill(text, WIDTH))
    if title is not None and title[:1].isdigit():
        emit("")
