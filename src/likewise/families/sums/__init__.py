"""The family of sums: weighted sums of scores of other families, some of them through an increasing function."""
