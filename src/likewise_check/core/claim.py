"""The claim (section 2): every two similar individuals of the space have the property under the model.

pair     two valid individuals that satisfy all relations
witness  a pair that breaks the property: (g(x), g(x')) is in W; the claim says that there is none

The model line has a body that gives the scores, a head that reads them, and how the deployed program rounds. Which pack reads the body, and which the head, the registry knows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from likewise_check.core.body import Body
from likewise_check.core.fields import Reader, Rejected, anything, array_of, record, text
from likewise_check.core.head import Case, Head, Leaf, Task
from likewise_check.core.lemma import Lemma
from likewise_check.core.properties import Property
from likewise_check.core.registry import find_entry, read_body
from likewise_check.core.rounding import Rounding
from likewise_check.core.space import Relation, Space, joint_limit, read_feature


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
    bound: dict[str, Reader] = {}
    if type(content) is dict and "features" in content:
        bound = {"features": array_of(read_feature)}
    _, item, described, rounding, *features = record(
        content, "the model", family=text, body=anything, head=anything, rounding=anything, **bound
    )
    if features and tuple(features[0]) != space.features:
        raise Rejected("the features of the model are not those of the space")
    of_classes = type(described) is dict and "classes" in described
    head: Head = find_entry("HEADS", "classes" if of_classes else "labels")(described, asked)
    body = read_body(item, "the body", space, head.scores)
    if any(feature.missing is not None for feature in space.features) and not body.knows_missing:
        raise Rejected("only trees bodies know missing values")
    return Model(body=body, head=head, rounding=body.read_rounding(rounding))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a certificate proves or refutes."""

    space: Space
    similarity: tuple[Relation, ...]
    model: Model
    asked: Property

    def parts(self) -> "Iterator[Part]":
        """What a proof is a sequence of proofs of: the claim itself, unless its similarity falls into parts (section 22)."""
        limit = joint_limit(self.similarity)
        parts = None if limit is None else limit.parts()
        if parts is None:
            return iter([Part(self.similarity)])
        return (Part(similarity, n) for n, similarity in enumerate(parts))

    def lemma(self) -> Lemma:
        """The claim as a lemma about all scores of the model: what is left to show if it is not divided into cases."""
        body, head = self.model.body, self.model.head
        slope, offset = head.gauge(self.asked)
        return Lemma(
            space=self.space,
            similarity=self.similarity,
            first=body,
            second=body,
            asked=self.asked,
            slope=slope,
            offset=offset,
            outcome=head.outcome(body, self.asked),
        )


@dataclass(frozen=True, slots=True)
class Part:
    """A similarity that a proof is about, and its number where there are several."""

    similarity: tuple[Relation, ...]
    number: int | None = None

    def about(self, case: Case) -> Case:
        """A case of the whole claim, of this part."""
        return case if self.number is None else PartCase(case, self.number, self.similarity)


@dataclass(frozen=True, slots=True)
class PartCase:
    """A case of one part. Nothing is said of everybody by parts (section 14)."""

    case: Case
    number: int
    similarity: tuple[Relation, ...] = field(compare=False)

    @property
    def classes(self) -> None:
        return None

    def task(self, claim: Claim, leaf: Leaf) -> Task:
        """What a leaf has to show of the pairs of the part."""
        return self.case.task(replace(claim, similarity=self.similarity), leaf)
