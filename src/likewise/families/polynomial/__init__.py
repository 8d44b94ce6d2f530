"""Polynomial models over cells of pair space, by the separable majorant of spec/certificate-v1.md, section 8.

coordinates   what both copies' columns are affine in, feature by feature; a cell is a box of them
tables        both copies as polynomials in the coordinates, exactly, and the tables the bound runs on
hot           the bound itself, compiled
bounder       the `Bounder` made of these
"""
