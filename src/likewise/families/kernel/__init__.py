"""Kernel family: sums of Gaussians (RBF kernels)."""
