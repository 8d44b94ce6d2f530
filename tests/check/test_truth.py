"""Soundness, by brute force: whatever the tree, no certificate is accepted against a witness."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.check.builder import checked, proof
from tests.check.strategies import claims, trees
from tests.check.truth import Claim
from tests.tiers import ALL


@pytest.mark.some_days
def test_no_random_proof_is_accepted_against_a_witness():
    seen: Counter[bool] = Counter()

    @settings(max_examples=2000 if ALL else 40, suppress_health_check=list(HealthCheck), database=None)
    @given(st.data())
    def run(data):
        claim = data.draw(claims(real=True))
        values = proof(**claim, nodes=data.draw(trees(claim)))
        report = checked(values, refusals=100)
        seen[report.accepted] += 1
        if report.accepted:
            truth = Claim(values)
            assert truth.witness() is None
            smallest = truth.smallest_clearance()
            assert smallest is None or smallest >= 0

    run()
    assert min(seen[True], seen[False]) > (10 if ALL else 0)
