"""The pack `lipschitz` (section 21): scores that change no faster than a distance between individuals."""

from likewise_check.packs.lipschitz.affine_slopes import affine_slopes
from likewise_check.packs.lipschitz.distance import read_allowance
from likewise_check.packs.lipschitz.rules import Identical
from likewise_check.packs.lipschitz.slope import Slope

PROPERTIES = {"lipschitz": read_allowance}
SLOPES = {"affine": affine_slopes}
RULES = {"identical": Identical, "slope": Slope}
