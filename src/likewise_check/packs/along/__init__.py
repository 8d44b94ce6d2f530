"""The pack `along` (sections 22 and 26): pairs whose features change along, that is the relation `along`, and the parts that a proof about such pairs has."""

from likewise_check.packs.along.reading import read_along

RELATIONS = {"along": read_along}
