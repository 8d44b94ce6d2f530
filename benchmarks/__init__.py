"""Benchmarks: every figure in the documentation comes from one of these. `python -m benchmarks NAME`."""
