"""Telling: to whom an answer is told, which decides what it suggests and how much of what is long it shows.

Next steps are questions that follow from an answer. The answer names the question and what is new about it; a `StepWriter` says it so that
it can be pasted: from Python as a call with the arguments by their names, on the command line as a command that repeats every flag which
the claim or the model needs (`cli.steps`). A speaker that has no way to say it gives None, and the step is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from likewise.answers.answer import Step
from likewise.answers.texts import ValueFormatter
from likewise.figures import bound_text
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap

WITH_PROPERTY = ("verify", "audit", "share", "radius", "near", "regions", "compare", "repair")
DIGITS = 3  # of a limit that is suggested
LEAST_LIMIT = 1e-6
LONGER_FACTOR = 10  # times the budget, where it was too short


class StepWriter(Protocol):
    """How a question is said: its name, and the options that are new."""

    def __call__(self, question: str, **options: Any) -> str | None: ...


def python_call(question: str, **options: Any) -> str | None:
    """A call of the library, with the names that its functions give their arguments."""
    if "output" in options or "model" in options:
        return None  # files are the command line's
    values = ["model", "space", "similar"]
    claimed = options.pop("property", None)
    if claimed is not None and claimed != SameDecision() and question in WITH_PROPERTY:
        values.append(_property_call(claimed))
    if question in ("audit", "near"):
        values.append("X=X")
    values += [f"{name}={value!r}" for name, value in options.items()]
    return f"likewise.{question}({', '.join(values)})"


def suggest_nothing(question: str, **options: Any) -> None:
    """Where no next question is said: on a page."""


def _property_call(claimed: Property) -> str:
    """A property as a call."""
    limit = claimed.margin if isinstance(claimed, SameDecision) else claimed.delta
    label = claimed.class_of_interest
    one_class = "" if label is None else f", class_of_interest={label!r}"
    return f"likewise.{type(claimed).__name__}({limit!r}{one_class})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """To whom an answer is told: how next questions are said, and what is known of how it was asked.

    `rest` says where the features are that are left out, `same` how many of a pair are shown although they are the same (None: all of
    them), `shown` how values of features read, `boxes` how many regions of a kind are listed (None: all), `rows` whether there are rows
    of data to ask about, `repairs` whether this model can be repaired, `budget` the seconds that there were, `certify` what has a certificate made, `proof` the file that it is in.
    """

    speak: StepWriter = python_call
    rest: str = ".pair has them"
    same: int | None = 3
    shown: ValueFormatter | None = None
    boxes: int | None = 10
    rows: bool = False
    repairs: bool = True
    budget: float | None = None
    certify: str | None = "certify=True"
    proof: str | None = None

    @property
    def pair(self) -> dict[str, Any]:
        """What `pair_answer` takes of it."""
        return {"rest": self.rest, "most": self.same, "shown": self.shown}

    def steps(self, *wanted: tuple[str, str, dict[str, Any]]) -> tuple[Step, ...]:
        """What for, which question, and what is new about it; those that can be said."""
        said = [(why, self.speak(question, **options)) for why, question, options in wanted]
        shell = self.speak is not python_call
        return tuple(Step(why=why, how=how, shell=shell) for why, how in said if how is not None)

    def longer(self, question: str, **options: Any) -> tuple[Step, ...]:
        """The same question with more time, where it is known how much there was."""
        if self.budget is None:
            return ()
        return self.steps(("search longer", question, {**options, "budget": LONGER_FACTOR * self.budget}))


PYTHON_AUDIENCE = Audience()


def limit_above(of: str, upper: float, label: Any = None) -> Property | None:
    """A limit a little above what was measured, to be proved; None where there is none below 1."""
    room = 1 + 10.0**-DIGITS
    limit = float(bound_text(max(upper * room, LEAST_LIMIT), up=True, digits=DIGITS))
    if of == "probability":
        return ProbabilityGap(limit, class_of_interest=label) if limit < 1 else None
    return ScoreGap(limit, class_of_interest=label)
