"""Claims with a name of their own: who is compared and what they must share, said at once.

=====================================  =====================================================================================
name                                   two individuals are compared that
=====================================  =====================================================================================
``Monotone("income", +1)``             differ in income: whoever has more gets no lower score
``Influence("age", at_most=0.1)``      differ in age, in any way: their scores are at most 0.1 apart
``SameTreatment("sex", "f", "m")``     differ in sex, between these two levels: they get the same decision
``Rounding("age", 0.5)``               differ in age, by at most 0.5: they get the same decision
=====================================  =====================================================================================

Each stands for a `Similarity` and a property, and says nothing that these could not say: the certificate is the same. A similarity beside it adds what else may differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from likewise.errors import SpecError, suggest_name
from likewise.spec.features import Level
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.numbers import short_repr
from likewise.spec.properties import Label, Property, SameDecision, make_property
from likewise.spec.relations import Tolerance
from likewise.spec.similarity import Similarity, read_direction

Shared = Literal["decision", "score", "probability"]
SHARED = ("decision", "score", "probability")


@dataclass(frozen=True, slots=True)
class Monotone:
    """More of a feature never hurts (or, with the direction -1, less of it).

    For every two individuals that differ in this feature, and in nothing else unless a similarity says so, the one who has more of it gets no lower score: no
    lower probability, or the upper class where the other one gets it.

    Parameters
    ----------
    feature : str
        A number, or an `Ordinal`.
    direction : +1 or -1
        Whether more of it must not hurt, or less of it.
    of : 'score', 'probability' or 'decision'
        What must not fall.
    at_most : float
        How far it may fall all the same; of a decision, how clear both have to be.
    class_of_interest : label, optional
        Whose score, probability or decision it is: the upper one of two classes, if left out.

    Examples
    --------
    >>> from likewise import Monotone
    >>> Monotone("income", +1).similarity().order
    mappingproxy({'income': 'up'})
    """

    feature: str
    direction: int | str = 1
    _: KW_ONLY
    of: Shared = "score"
    at_most: float = 0.0
    class_of_interest: Label | None = None

    kind: ClassVar[str] = "monotone"

    def __post_init__(self) -> None:
        _check_shared(self.of)
        object.__setattr__(self, "direction", 1 if read_direction(self.direction) == "up" else -1)

    def similarity(self, beside: Similarity | None = None) -> Similarity:
        """Who is compared, besides those who differ as another similarity says."""
        return _added(beside, order={self.feature: read_direction(self.direction)})

    def property(self) -> Property:
        """What they must share."""
        return make_property(self.of, self.at_most, self.class_of_interest)


@dataclass(frozen=True, slots=True)
class Influence:
    """One feature, whatever it is changed to, moves the score or the probability by at most so much.

    Parameters
    ----------
    feature : str
        What may differ.
    at_most : float
        How far scores or probabilities may be apart.
    of : 'score' or 'probability'
        Which of them.
    class_of_interest : label, optional
        Whose, of more than two classes.
    """

    feature: str
    at_most: float
    _: KW_ONLY
    of: Shared = "score"
    class_of_interest: Label | None = None

    kind: ClassVar[str] = "influence"

    def __post_init__(self) -> None:
        _check_shared(self.of)

    def similarity(self, beside: Similarity | None = None) -> Similarity:
        """Who is compared, besides those who differ as another similarity says."""
        return _added(beside, free=[self.feature])

    def property(self) -> Property:
        """What they must share."""
        return make_property(self.of, self.at_most, self.class_of_interest)


@dataclass(frozen=True, slots=True)
class SameTreatment:
    """Who has the one level of a feature is treated as who has the other one.

    Parameters
    ----------
    feature : str
        A feature with levels.
    first, second : level
        The two levels.
    of : 'decision', 'score' or 'probability'
        What they must share.
    at_most : float
        How far scores or probabilities may be apart; of a decision, how clear both have to be.
    class_of_interest : label, optional
        Of more than two classes, only this one counts.
    """

    feature: str
    first: Level
    second: Level
    _: KW_ONLY
    of: Shared = "decision"
    at_most: float = 0.0
    class_of_interest: Label | None = None

    kind: ClassVar[str] = "treatment"

    def __post_init__(self) -> None:
        _check_shared(self.of)

    def similarity(self, beside: Similarity | None = None) -> Similarity:
        """Who is compared, besides those who differ as another similarity says."""
        return _added(beside, pairs={self.feature: [(self.first, self.second)]})

    def property(self) -> Property:
        """What they must share."""
        return make_property(self.of, self.at_most, self.class_of_interest)


@dataclass(frozen=True, slots=True)
class Rounding:
    """How a number was rounded does not matter.

    Parameters
    ----------
    feature : str
        A number.
    by : float or str
        How far two roundings of it may be apart; or a percentage of its range.
    of : 'decision', 'score' or 'probability'
        What they must share.
    at_most : float
        How far scores or probabilities may be apart; of a decision, how clear both have to be.
    class_of_interest : label, optional
        Of more than two classes, only this one counts.
    """

    feature: str
    by: Tolerance
    _: KW_ONLY
    of: Shared = "decision"
    at_most: float = 0.0
    class_of_interest: Label | None = None

    kind: ClassVar[str] = "rounding"

    def __post_init__(self) -> None:
        _check_shared(self.of)

    def similarity(self, beside: Similarity | None = None) -> Similarity:
        """Who is compared, besides those who differ as another similarity says."""
        return _added(beside, within={self.feature: self.by})

    def property(self) -> Property:
        """What they must share."""
        return make_property(self.of, self.at_most, self.class_of_interest)


NamedClaim = Monotone | Influence | SameTreatment | Rounding
NAMED_KINDS = ("monotone", "influence", "treatment", "rounding")


def stated_claim(
    similar: Similarity | NamedClaim | Lipschitz | None, property: Property | NamedClaim | None
) -> tuple[Similarity, Property]:
    """Who is compared and what they must share, whichever of the two says it; the same decision, where nothing else is said."""
    if isinstance(similar, NamedClaim):
        if property is not None:
            raise SpecError(
                f"{type(similar).__name__} says itself what they must share",
                hint="leave property out, or give it as property and a Similarity beside it",
            )
        return similar.similarity(), similar.property()
    if isinstance(similar, Lipschitz):
        if property is not None:
            raise SpecError(
                "Lipschitz says itself what they must share", hint="leave property out, or similar"
            )
        return similar.similarity(), similar.beside(None)
    if isinstance(property, Lipschitz):
        return property.similarity(similar), property.beside(similar)
    if isinstance(property, NamedClaim):
        return property.similarity(similar), property.property()
    if similar is None:
        raise SpecError("nothing says how similar individuals may differ", hint='Similarity(free=["sex"])')
    return similar, SameDecision() if property is None else property


def parse_named_claim(text: str) -> NamedClaim | None:
    """The claim spelled by ``monotone:income``, ``monotone:income,down,probability=0.1``, ``influence:age,score=0.5``, ``treatment:sex,f,m`` or ``rounding:age,0.5``; None where it
    begins with none of these names."""
    kind, colon, rest = text.partition(":")
    if kind.strip() not in NAMED_KINDS:
        return None
    parts = [part.strip() for part in rest.split(",")]
    if not colon or not parts[0]:
        raise SpecError(f"property {short_repr(text)} lacks its feature", hint=_SPELLINGS[kind.strip()])
    shared: dict[str, Any] = {}
    name, _, amount = parts[-1].partition("=")
    if len(parts) > 1 and name.strip() in SHARED:
        shared["of"] = name.strip()
        if amount:
            shared["at_most"] = _read_number(text, amount)
        parts.pop()
    return _spelled_claim(kind.strip(), text, parts, shared)


def _spelled_claim(kind: str, text: str, parts: list[str], shared: dict[str, Any]) -> NamedClaim:
    feature, *rest = parts
    if kind == "monotone" and len(rest) <= 1:
        return Monotone(feature, rest[0] if rest else "up", **shared)
    if kind == "influence" and not rest and "at_most" in shared:
        return Influence(feature, shared.pop("at_most"), **shared)
    if kind == "treatment" and len(rest) == 2:
        return SameTreatment(feature, rest[0], rest[1], **shared)
    if kind == "rounding" and len(rest) == 1:
        by: Tolerance = rest[0] if rest[0].endswith("%") else _read_number(text, rest[0])
        return Rounding(feature, by, **shared)
    raise SpecError(f"property {short_repr(text)} cannot be read", hint=_SPELLINGS[kind])


NAMED_KEYS: Mapping[str, tuple[str, ...]] = {
    "monotone": ("feature", "direction"),
    "influence": ("feature",),
    "treatment": ("feature", "levels"),
    "rounding": ("feature", "by"),
}


def named_claim(kind: str, table: Mapping[str, Any]) -> NamedClaim:
    """The claim that a table of a claim file says, as `NAMED_KEYS` and ``of``, ``at_most`` and ``class_of_interest``."""
    shared = {key: table[key] for key in ("of", "at_most", "class_of_interest") if key in table}
    feature = table.get("feature")
    if not isinstance(feature, str):
        raise SpecError("feature is missing", hint='feature = "income"')
    if kind == "monotone":
        return Monotone(feature, table.get("direction", "up"), **shared)
    if kind == "influence":
        if "at_most" not in shared:
            raise SpecError("at_most is missing", hint="at_most = 0.1")
        return Influence(feature, shared.pop("at_most"), **shared)
    if kind == "treatment":
        levels = table.get("levels")
        if not isinstance(levels, list) or len(levels) != 2:
            raise SpecError("levels must be two levels", hint='levels = ["f", "m"]')
        return SameTreatment(feature, levels[0], levels[1], **shared)
    if "by" not in table:
        raise SpecError("by is missing", hint="by = 0.5")
    return Rounding(feature, table["by"], **shared)


_SPELLINGS = {
    "monotone": "monotone:income, monotone:income,down or monotone:income,up,probability=0.1",
    "influence": "influence:age,score=0.5 or influence:age,probability=0.1",
    "treatment": "treatment:sex,f,m or treatment:sex,f,m,score=0.5",
    "rounding": "rounding:age,0.5 or rounding:age,0.5,probability=0.1",
}


def _read_number(text: str, number: str) -> float:
    try:
        return float(number)
    except ValueError:
        raise SpecError(f"property {short_repr(text)}: {short_repr(number)} is not a number") from None


def _check_shared(of: object) -> None:
    if of not in SHARED:
        raise SpecError(
            f"of must be 'decision', 'score' or 'probability', not {short_repr(of)}{suggest_name(of, SHARED)}"
        )


def _added(beside: Similarity | None, **changes: Any) -> Similarity:
    """A similarity with one feature more that may differ; the same feature in both is said by the claim, its order too. A metric that names it would limit what the claim says of it."""
    if beside is None:
        return Similarity(**changes)
    (more,) = changes.values()
    names = list(more)
    measured = next((n for n in names if beside.metric is not None and n in beside.metric.names), None)
    if measured is not None:
        raise SpecError(
            f"the claim says how {measured!r} may differ, and so does the metric of the similarity beside it",
            hint=f"leave {measured!r} out of the metric",
        )
    if "order" in changes:
        return beside.replace(order={**beside.order, **more})
    kept: dict[str, Any] = {
        "free": [name for name in beside.free if name not in names],
        "within": {name: t for name, t in beside.within.items() if name not in names},
        "pairs": {name: p for name, p in beside.pairs.items() if name not in names},
        "order": {name: way for name, way in beside.order.items() if name not in names},
    }
    (key,) = changes
    joined = [*kept[key], *more] if key == "free" else {**kept[key], **more}
    return beside.replace(**{**kept, key: joined})
