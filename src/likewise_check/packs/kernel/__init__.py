"""The pack `kernel`: models with a radial kernel (sections 7, 20 and 25).

`body` is the body `rbf`, `rule` the rule `kernel`, step by step; the steps it takes: `axes` and `couples` (coordinates), `cubics` and `expansion` (from exponentials
to cubics), `majorant` (from sums of cubics to one function an axis), `choices` and `lanes` (its sums, many at a time). `chords` is the rule `chords`, for large cells, with `parabolas` for its maxima.
"""

from likewise_check.core.body import Family
from likewise_check.packs.kernel.body import read_rbf
from likewise_check.packs.kernel.chords import Chords
from likewise_check.packs.kernel.rule import Kernel
from likewise_check.packs.kernel.slopes import kernel_slopes

BODIES = {"rbf": Family(read_rbf)}
RULES = {"kernel": Kernel, "chords": Chords}
SLOPES = {"rbf": kernel_slopes}
