"""verify against measure: a claim that leaves a twentieth above the upper end of a bracket is proved, whichever family the model is of."""

import pytest
from tests.analysis.test_known_rows import FREE, MODELS, PROPERTIES, SPACE, X, fitted

import likewise as lw

__all__ = ["fitted"]  # the fixture

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
ROOM = 1.05
CLAIMS = [(name, next(of for of in scales if of != "margin")) for name, (_, _, scales) in MODELS.items()]


@pytest.mark.parametrize(("name", "of"), CLAIMS)
def test_a_claim_with_room_is_proved(fitted, name, of):
    model = fitted(name)
    found = lw.measure(model, SPACE, FREE, of=of, X=X, tolerance=1e-3, budget=60)
    level = ROOM * found.upper
    if of == "probability" and level >= 1:
        pytest.skip("no two probabilities are further apart")
    result = lw.verify(model, SPACE, FREE, PROPERTIES[of](level), X=X, budget=120)
    assert result.verdict == "FAIR", result.reason
    assert result.certificate is not None
