"""Bounds of scores over cells of pair space: in float64 to steer the search, in rationals to decide."""
