"""Cells of pair space, whatever the model: separable sums over them, constraints, enumeration."""
