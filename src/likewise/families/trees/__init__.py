"""Trees: bounds of sums of trees over cells of pair space.

A pair (x, x') comes to one leaf with x and to one with x' in every tree. An *element* is two leaves of one tree that one pair can come
to, with the box of such pairs; for a line a s - b s', a cell's bound is

    sum over trees of  max over the elements that meet the cell of  a value(leaf) - b value(leaf'),

attained where the boxes of the maximisers have a pair in common. One idea a file:

    axes       codes as indices: between two thresholds next to each other all individuals are treated alike
    elements   all elements of an ensemble, tree by tree; `leaf_pairs` finds them, `ensemble_elements` has them once for several scores
    meeting    whether an element and a cell have a pair in common
    scanning   bounds, from elements in order of their value
    cutting    where to split a cell
    agreeing   elements of all trees that have a pair in common
    exact      the bound in rational numbers
    cells      cells of the search to those of the axes and back; `bounder` bounds lines over them
    softmax    log odds of several scores, from elements without an order (`ranking`)

Bounds are float64 with a proved limit of their rounding error; where that does not decide, they are redone exactly.
Not imported by `likewise` itself: it needs numba.
"""
