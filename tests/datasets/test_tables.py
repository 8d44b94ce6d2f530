"""The code tables against the rules they claim to follow."""

import pytest

from likewise.datasets.tables import ADULT, CREDIT, FRAUD, GERMAN
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal

TABLES = [GERMAN, ADULT, CREDIT, FRAUD]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_names_are_distinct_and_protected_columns_exist(table):
    names = [column.name for column in table.columns]
    coded = [column.coded_name for column in table.columns]
    assert len(set(names)) == len(names)
    assert len(set(coded)) == len(coded)
    assert set(table.protected) <= set(names)
    assert table.label not in names
    assert sorted(table.label_codes.values()) == [0, 1]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_column_has_levels_or_bounds(table):
    for column in table.columns:
        assert (column.codes is None) != (column.bounds is None)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_readable_and_coded_features_have_the_same_number_of_values(table):
    for column in table.columns:
        readable, coded = column.feature(coded=False), column.feature(coded=True)
        assert readable.size == coded.size
        if column.codes is not None:
            assert isinstance(readable, Categorical | Ordinal)
            assert [column.codes[level] for level in readable.levels] == list(range(coded.lo, coded.hi + 1))


def test_domains_wider_than_the_data():
    kinds = {column.coded_name: column.feature(coded=True) for column in GERMAN.columns}
    assert kinds["sex_marital_status"] == Integer(1, 5)
    assert kinds["purpose"] == Integer(0, 10)
    assert kinds["credit_amount"] == Continuous(1, 1e7)
    assert kinds["installment_fraction"] == Continuous(0, 100)
    assert kinds["present_residence_period"] == Continuous(0, 1200)
    assert kinds["duration_months"] == Integer(1, 1200)
