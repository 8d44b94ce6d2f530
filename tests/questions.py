"""Questions of one score and their gauges, for tests that pose problems by hand."""

from fractions import Fraction

from likewise.model.cases import ScoreCase
from likewise.model.gauge import Gauge
from likewise.model.head import Head
from likewise.model.question import Question
from likewise.model.witness_set import WitnessSet


def asked(kind: str, level=0, *, slope=1, offset=0) -> Question:
    """What is asked of the score of a classifier of two labels."""
    head = Head(labels=(0, 1), link="logistic", slope=Fraction(slope), offset=Fraction(offset))
    return Question(kind=kind, level=Fraction(level), head=head)


def case_of(line: WitnessSet) -> ScoreCase:
    """The case of one score whose witness set this is."""
    return ScoreCase(kind="score", line=line, head=Head(labels=None, rule="number"))


def gauged(of: str, *, slope=1, offset=0) -> Gauge:
    """The gauge of a scale."""
    return Gauge(asked=asked("decision" if of == "margin" else of, slope=slope, offset=offset))
