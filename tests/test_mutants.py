"""The list of mistakes that `make mutants` makes still fits the sources."""

from tests.mutants import ROOT, read_mutants


def test_every_mistake_can_still_be_made():
    mutants = read_mutants()
    assert len(mutants) >= 70
    for mutant in mutants:
        assert mutant.text()
        assert mutant.tests
        assert all((ROOT / "tests" / path).exists() for path in mutant.tests)
