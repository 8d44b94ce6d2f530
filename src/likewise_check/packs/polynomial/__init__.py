"""The pack `polynomial`: models that are polynomials of their columns (section 8).

`body` is the body; `rule` the rule `polynomial` and `squares` the rule `sos`. Both see a cell as a `cube`, what a witness exceeds as a polynomial in its axes (`excess`,
with the arithmetic of `monomials`), and bound that by functions of one group of axes each (`decoupling`).
"""

from likewise_check.core.body import Family
from likewise_check.packs.polynomial.body import read_polynomial
from likewise_check.packs.polynomial.rule import Polynomials
from likewise_check.packs.polynomial.slopes import polynomial_slopes
from likewise_check.packs.polynomial.squares import Squares

BODIES = {"polynomial": Family(read_polynomial)}
RULES = {"polynomial": Polynomials, "sos": Squares}
SLOPES = {"polynomial": polynomial_slopes}
