"""The model line (section 2): a body that gives the scores, a head that reads them, and how the deployed program rounds.

Which pack reads the body, and which the head, the registry knows.
"""

from dataclasses import dataclass

from likewise_check.core.body import Body
from likewise_check.core.fields import Rejected, anything, record, text
from likewise_check.core.head import Head
from likewise_check.core.properties import Property
from likewise_check.core.registry import find, read_body
from likewise_check.core.rounding import Rounding
from likewise_check.core.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The scores, what is made of them, the rounding of the deployed program as far as it is described."""

    body: Body
    head: Head
    rounding: Rounding | None = None

    @property
    def packs(self) -> frozenset[str]:
        """Whose code it takes."""
        return self.body.packs | self.head.packs


def read_model(line: object, space: Space, asked: Property) -> Model:
    """The model of a certificate's fifth line; it must have what the property speaks of."""
    (content,) = record(line, "the line", model=anything)
    _, item, described, rounding = record(
        content, "the model", family=text, body=anything, head=anything, rounding=anything
    )
    of_classes = type(described) is dict and "classes" in described
    head: Head = find("HEADS", "classes" if of_classes else "labels")(described, asked)
    body = read_body(item, "the body", space, head.scores)
    if any(feature.missing is not None for feature in space.features) and not body.knows_missing:
        raise Rejected("only trees bodies know missing values")
    return Model(body=body, head=head, rounding=body.read_rounding(rounding))
