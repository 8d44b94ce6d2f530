"""Sub-spaces around rows of German, where a kernel pipeline is proved to be fair by more than a thousand cells."""

import numpy as np
import pytest
from benchmarks._standardised import standardised

import likewise as lw
from likewise.spec.features import Continuous, Integer


def around(space, row, random, fixed):
    """Numbers within 10% of their range around a row, about such a share of the categories fixed to its own."""
    features = {}
    for name, feature in space.features.items():
        value = row[name]
        if isinstance(feature, (Continuous, Integer)):
            reach = 0.1 * (feature.hi - feature.lo)
            lo, hi = max(feature.lo, value - reach), min(feature.hi, value + reach)
            whole = isinstance(feature, Integer)
            features[name] = (
                lw.Integer(int(np.floor(lo)), int(np.ceil(hi))) if whole else lw.Continuous(lo, hi)
            )
        elif name != "sex-marital-status" and random.random() < fixed:
            features[name] = lw.Categorical([value])
        else:
            features[name] = feature
    return lw.Space(features)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("near", "fixed", "gamma_times"), [({}, 0.2, 4.0), ({"age": 2}, 0.3, 2.0)], ids=["same", "within"]
)
def test_fair_parts_of_german_come_with_accepted_proofs(near, fixed, gamma_times):
    """At the default gamma fewer cells do, however close the question is to the truth."""
    case, random = standardised("german", gamma_times=gamma_times), np.random.default_rng(4)
    similar = lw.Similarity(free=["sex-marital-status"], within=near)
    cells = []
    for index in random.permutation(len(case.X))[:2]:
        space = around(case.space, case.X.iloc[int(index)], random, fixed)
        bound = lw.measure(case.model, space, similar, tolerance=1e-4, budget=300, certify=True)
        assert bound.certificate is not None
        assert bound.upper - bound.lower < 2e-4
        result = lw.verify(case.model, space, similar, lw.ScoreGap(bound.lower + 5e-5), budget=300)
        assert result.verdict == "FAIR"
        cells.append(result.stats["cells"])
    assert max(cells) >= 1000
