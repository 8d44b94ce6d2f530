"""Data sets to try Likewise on, and to repeat the paper's experiments with.

`load_german`, `load_adult` and `load_credit` give a `Dataset`: rows as a pandas or polars frame, labels, the protected
columns, and the domain as a `Space`; `coded=True` gives the paper's column names and integer codes.
`paper_problem` gives any of the paper's four by name. Sources and terms: `data/ATTRIBUTION.md` in this folder.
"""

from likewise.datasets.loaders import Dataset, load_adult, load_credit, load_german, paper_problem

__all__ = ["Dataset", "load_adult", "load_credit", "load_german", "paper_problem"]
