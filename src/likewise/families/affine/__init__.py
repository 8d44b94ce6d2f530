"""Affine family: scores that are sums of one-feature terms (linear models, also behind one-hot encoding, bins and splines)."""
