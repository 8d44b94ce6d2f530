"""Kernel models of mixed columns: sums of Gaussian or Laplacian bumps in sums z of columns, which may be in pieces. Bounds are quadratics in the coordinates of a cell (specification, section 23)."""
