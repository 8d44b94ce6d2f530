"""Which packs there are, and what of a certificate each of them knows: one line a pack.

The core finds a pack by what a certificate names (a kind of body, of column or of head, a rule) and loads it then, and only then: a proof that names
nothing of a pack runs none of its code. A pack's package holds the tables that its line names something of:

    BODIES    kinds of bodies: how they are read            HEADS    what is made of scores: how it is read
    COLUMNS   columns of affine bodies, by their own key    RULES    what a leaf may name, prepared for a lemma
    PROPERTIES    what a property may be besides those of the core: how it is read
    SIMILARITIES  what a similarity line may have besides relations: how it is read
    SLOPES    derivatives of a kind of body over boxes, for the rule `slope`
    RELATIONS  relations that depend on other features of the pair: how all of a line are read
    NODES     nodes that split a quantity of their own: what they split, and where
    MAXIMA    maxima of forms of the scores of a kind of body, for the rules of classes; SCORES: how several scores are read one by one

A rule is a class: made with a `lemma.Lemma`, called with a leaf and a cell, it returns what `bound.conclude` says. It is about g, not about the body's score:
g = slope F + offset at x, slope G + offset at x'. The slope may be NEGATIVE, and F and G may be two bodies. Whoever forgets either accepts what is not so.
"""

from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from likewise_check.core.fields import kind
from likewise_check.core.numbers import number

if TYPE_CHECKING:
    from likewise_check.core.body import Body, Family
    from likewise_check.core.space import Space

CORE = "core"

# pack: the names that belong to it, by table
PACKS: dict[str, dict[str, tuple[str, ...]]] = {
    CORE: {
        "BODIES": ("affine",),
        "HEADS": ("labels",),
        "RULES": ("separable", "empty", "enumerated", "independent"),
    },
    "pieces": {"COLUMNS": ("cuts",)},
    "kernel": {"BODIES": ("rbf",), "RULES": ("kernel", "chords"), "SLOPES": ("rbf",)},
    "polynomial": {"BODIES": ("polynomial",), "RULES": ("polynomial", "sos"), "SLOPES": ("polynomial",)},
    "trees": {"BODIES": ("trees",), "RULES": ("trees",), "MAXIMA": ("trees",)},
    "network": {
        "BODIES": ("network",),
        "RULES": ("network",),
        "NODES": ("neuron",),
        "SLOPES": ("network",),
    },
    "combined": {"BODIES": ("combined",)},
    "sums": {"BODIES": ("sum",), "RULES": ("sum",), "SLOPES": ("sum",)},
    "nested": {"BODIES": ("nested",), "RULES": ("nested",), "NODES": ("inner",)},
    "mixed": {"BODIES": ("mixed",), "RULES": ("mixed",)},
    "distance": {"SIMILARITIES": ("distance",)},
    "lipschitz": {
        "PROPERTIES": ("lipschitz",),
        "RULES": ("identical", "slope"),
        "SLOPES": ("affine",),
    },
    "along": {"RELATIONS": ("along",)},
    "classes": {
        "HEADS": ("classes",),
        "RULES": ("softmax", "odds"),
        "SCORES": ("several",),
        "MAXIMA": ("affine",),
    },
}


def known_names(table: str) -> list[str]:
    """All that certificates may name of a table."""
    return [name for tables in PACKS.values() for name in tables.get(table, ())]


def pack_of(table: str, name: str) -> str:
    """The pack that a name belongs to."""
    return next(pack for pack, tables in PACKS.items() if name in tables.get(table, ()))


def find_entry(table: str, name: str) -> Any:
    """What a name, which is one of `known_names`, stands for."""
    return getattr(_load_pack(pack_of(table, name)), table)[name]


def _load_pack(pack: str) -> ModuleType:
    """The package of a pack. Each import is written down: no name of a certificate becomes that of a module."""
    if pack == CORE:
        from likewise_check.core import rules

        return rules
    if pack == "pieces":
        from likewise_check.packs import pieces

        return pieces
    if pack == "kernel":
        from likewise_check.packs import kernel

        return kernel
    if pack == "polynomial":
        from likewise_check.packs import polynomial

        return polynomial
    if pack == "trees":
        from likewise_check.packs import trees

        return trees
    if pack == "network":
        from likewise_check.packs import network

        return network
    return _load_joining_pack(pack)


def _load_joining_pack(pack: str) -> ModuleType:
    """The same of packs that make something of several scores, of several features of a pair, or of what other packs know."""
    if pack == "along":
        from likewise_check.packs import along

        return along
    if pack == "mixed":
        from likewise_check.packs import mixed

        return mixed
    if pack == "distance":
        from likewise_check.packs import distance

        return distance
    if pack == "combined":
        from likewise_check.packs import combined

        return combined
    if pack == "lipschitz":
        from likewise_check.packs import lipschitz

        return lipschitz
    if pack == "sums":
        from likewise_check.packs import sums

        return sums
    if pack == "nested":
        from likewise_check.packs import nested

        return nested
    from likewise_check.packs import classes

    return classes


def read_body(item: object, what: str, space: "Space", scores: int | None) -> "Body":
    """The body of a model line: of one score (None), or of so many, its coefficients being arrays then."""
    family: Family = find_entry("BODIES", kind(item, what, *known_names("BODIES")))
    if scores is None:
        return family.read(item, space, number)
    read = family.read_scores or partial(find_entry("SCORES", "several"), family)
    found: Body = read(item, space, scores)
    return found
