"""The pack `pieces`: columns of affine bodies that are polynomials between cuts (sections 2 and 4, "Columns in pieces").

`columns` has the functions and their reader, `curves` the maximum of one feature, `maximum` that of one polynomial.
"""

from likewise_check.packs.pieces.columns import read_pieces

COLUMNS = {"cuts": read_pieces}
