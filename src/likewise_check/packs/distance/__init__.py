"""The pack `distance` (section 19): pairs whose features together differ by no more than a bound."""

from likewise_check.packs.distance.limit import read_distance

SIMILARITIES = {"distance": read_distance}
