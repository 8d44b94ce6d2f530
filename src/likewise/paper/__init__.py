"""The paper's own algorithms, as published, to compare with.

    from likewise import paper

    finding = paper.verify_individual_bias(model, space, similar, budget=60)     # Algorithm 1
    finding.answer, finding.meaning

- `verify_individual_bias`: the meta-algorithm, with mixed-integer programs for linear models, sums of squares for
  polynomial kernels, and Find-Bias-Rbf for RBF kernels
- `find_bias_rbf`: the search over pairs of support vectors
- `random_testing`, `directed_testing`: samples, as THEMIS and AEQUITAS draw them
- `Answer`, `Finding`: what they answer, and what that is worth

They share space, similarity, model import and replay with `likewise.verify`, so BIASED means the same there and
here. Nothing else they say is a verdict: there is no proof behind it.
"""

from likewise.paper.answers import Answer, Finding
from likewise.paper.meta import verify_individual_bias
from likewise.paper.rbf import find_bias_rbf
from likewise.paper.testing import directed_testing, random_testing

__all__ = [
    "Answer",
    "Finding",
    "directed_testing",
    "find_bias_rbf",
    "random_testing",
    "verify_individual_bias",
]
