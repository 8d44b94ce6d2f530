"""What the columns of the shipped data sets are: readable names, the paper's names and codes, the domains.

The paper's authors searched integer-coded data in domains wider than the data (an `age` of 1..100, a
`sex_marital_status` of 5 that no row has). A `Column` holds both readings of one feature, so that a row, a level
or a bound can be given in readable form or in the paper's:

    readable   sex-marital-status = "male-single"    Categorical(["male-divorced/separated", ...])
    coded      sex_marital_status = 3                Integer(1, 5)

Levels stand in the order of their codes, and the codes of a column are consecutive, so that the coded domain of a
column with levels is min..max of its codes. The tables are facts about the files; nothing is computed here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One feature: its readable and its coded name, and either numeric bounds or the codes of its levels."""

    name: str
    coded_name: str
    codes: Mapping[str, int] | None = None
    ordered: bool = False
    bounds: tuple[int, int] | None = None
    real: bool = False

    def feature(self, *, coded: bool) -> Feature:
        """The domain of this column: what the paper's authors searched, in readable or coded form."""
        if self.codes is not None:
            if coded:
                return Integer(min(self.codes.values()), max(self.codes.values()))
            return Ordinal(tuple(self.codes)) if self.ordered else Categorical(tuple(self.codes))
        lo, hi = self.bounds or (0, 0)
        return Continuous(lo, hi) if self.real else Integer(lo, hi)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One data set: its columns, its label (and the label's codes), the protected columns, and what it is about."""

    name: str
    columns: tuple[Column, ...]
    label: str
    coded_label: str
    label_codes: Mapping[str, int]
    protected: tuple[str, ...]
    description: str


def _level_column(name: str, coded_name: str, first: int, *levels: str, ordered: bool = False) -> Column:
    """A column whose levels have the codes first, first + 1, ..."""
    codes = {level: code for code, level in enumerate(levels, start=first)}
    return Column(name=name, coded_name=coded_name, codes=codes, ordered=ordered)


def _integer_column(name: str, coded_name: str, lo: int, hi: int) -> Column:
    return Column(name=name, coded_name=coded_name, bounds=(lo, hi))


def _real_column(name: str, coded_name: str, lo: int, hi: int) -> Column:
    """A column the authors take as real, though its values may be whole in the data."""
    return Column(name=name, coded_name=coded_name, bounds=(lo, hi), real=True)


GERMAN = Table(
    name="german",
    columns=(
        _level_column("checking-status", "salary_account_range", 1, "<0 DM", "0-200 DM", ">=200 DM", "none"),
        _integer_column("duration", "duration_months", 1, 1200),
        _level_column(
            "credit-history",
            "credit_history_status",
            0,
            "no-credits/all-paid",
            "all-paid-at-this-bank",
            "existing-paid",
            "past-delay",
            "critical/other-existing",
        ),
        # "vacation" is named in the source's documentation and occurs in no row.
        _level_column(
            "purpose",
            "purpose",
            0,
            "car-new",
            "car-used",
            "furniture",
            "radio/tv",
            "appliances",
            "repairs",
            "education",
            "vacation",
            "retraining",
            "business",
            "other",
        ),
        _real_column("credit-amount", "credit_amount", 1, 10_000_000),
        _level_column(
            "savings",
            "savings_account_range",
            1,
            "<100 DM",
            "100-500 DM",
            "500-1000 DM",
            ">=1000 DM",
            "unknown/none",
        ),
        _level_column(
            "employment",
            "employment_range",
            1,
            "unemployed",
            "<1 year",
            "1-4 years",
            "4-7 years",
            ">=7 years",
            ordered=True,
        ),
        _real_column("installment-rate", "installment_fraction", 0, 100),
        # "female-single" is named in the source's documentation and occurs in no row.
        _level_column(
            "sex-marital-status",
            "sex_marital_status",
            1,
            "male-divorced/separated",
            "female-divorced/separated/married",
            "male-single",
            "male-married/widowed",
            "female-single",
        ),
        _level_column("other-debtors", "codebtors_status", 1, "none", "co-applicant", "guarantor"),
        _real_column("residence-since", "present_residence_period", 0, 1200),
        _level_column(
            "property",
            "property_type",
            1,
            "real-estate",
            "savings-agreement/life-insurance",
            "car/other",
            "unknown/none",
        ),
        _integer_column("age", "age", 1, 100),
        _level_column("installment-plans", "other_installment_status", 1, "bank", "stores", "none"),
        _level_column("housing", "housing_type", 1, "rent", "own", "for-free"),
        _integer_column("existing-credits", "num_existing_credits", 1, 20),
        _level_column(
            "job",
            "job_status",
            1,
            "unemployed/unskilled-non-resident",
            "unskilled-resident",
            "skilled",
            "management/self-employed/highly-qualified",
            ordered=True,
        ),
        _integer_column("people-liable", "num_dependents", 1, 10),
        _level_column("telephone", "has_phone", 0, "none", "yes"),
        _level_column("foreign-worker", "is_foreign_worker", 0, "no", "yes"),
    ),
    label="credit",
    coded_label="credit_rating",
    label_codes={"good": 0, "bad": 1},
    protected=("sex-marital-status",),
    description=(
        "German Credit (Hofmann 1994, UCI, CC BY 4.0): 1000 applicants of a German bank and whether their "
        "credit turned out good or bad."
    ),
)

ADULT = Table(
    name="adult",
    columns=(
        _integer_column("age", "age", 15, 120),
        _level_column("workclass", "workclass", 0, "Other/Unknown", "Government", "Self-Employed", "Private"),
        _level_column(
            "education",
            "education",
            1,
            "School",
            "HS-grad",
            "Assoc",
            "Some-college",
            "Bachelors",
            "Prof-school",
            "Masters",
            "Doctorate",
            ordered=True,
        ),
        _level_column(
            "marital-status", "marital_status", 0, "Single", "Divorced", "Separated", "Widowed", "Married"
        ),
        _level_column(
            "occupation",
            "occupation",
            0,
            "Other/Unknown",
            "Blue-Collar",
            "Service",
            "Sales",
            "White-Collar",
            "Professional",
        ),
        _level_column("race", "race", 0, "White", "Other"),
        _level_column("sex", "sex", 0, "Female", "Male"),
        _integer_column("hours-per-week", "hours_per_week", 0, 168),
    ),
    label="income",
    coded_label="income",
    label_codes={"<=50K": 0, ">50K": 1},
    protected=("race",),
    description=(
        "Adult (Becker and Kohavi 1996, UCI, CC BY 4.0): 32561 people of the US census of 1994, reduced to eight "
        "features, and whether they earn more than 50,000 dollars a year."
    ),
)

CREDIT = Table(
    name="credit",
    columns=(
        _real_column("income", "Income", 10, 200),
        _integer_column("limit", "Limit", 800, 15000),
        _integer_column("rating", "Rating", 80, 1000),
        _integer_column("cards", "Cards", 1, 10),
        _integer_column("age", "Age", 18, 100),
        _integer_column("education", "Education", 4, 20),
        _level_column("gender", "Gender", 0, "Female", "Male"),
        _level_column("student", "Student", 0, "No", "Yes"),
        _level_column("married", "Married", 0, "No", "Yes"),
        _level_column("ethnicity", "Ethnicity", 1, "Caucasian", "Asian", "African American"),
    ),
    label="balance",
    coded_label="High-Balance",
    label_codes={"low": 0, "high": 1},
    protected=("gender", "ethnicity"),
    description=(
        "Credit (simulated, from An Introduction to Statistical Learning): 400 card holders, income in thousands "
        "of dollars, and whether their average balance is above 550 dollars."
    ),
)

CREDIT_THREE_CLASSES = replace(
    CREDIT,
    coded_label="Balance-Third",
    label_codes={"low": 0, "middle": 1, "high": 2},
    description=(
        "Credit (simulated, from An Introduction to Statistical Learning): 400 card holders, income in thousands "
        "of dollars, and in which third of them their average balance lies."
    ),
)

# The authors' insurance-fraud data come with codes only and without a licence: the columns are known here, the
# rows are not shipped.
FRAUD = Table(
    name="fraud",
    columns=(
        _integer_column("age", "age", 18, 90),
        _integer_column("gender", "gender", 0, 1),
        _integer_column("ethnicity", "ethnicity", 0, 2),
        _integer_column("incident_cause", "incident_cause", 1, 5),
        _integer_column("days_to_incident", "days_to_incident", 1, 20000),
        _integer_column("claim_area", "claim_area", 1, 2),
        _integer_column("police_report", "police_report", 0, 2),
        _integer_column("claim_type", "claim_type", 1, 3),
        _integer_column("total_policy_claims", "total_policy_claims", 1, 10),
    ),
    label="fraudulent",
    coded_label="fraudulent",
    label_codes={"0": 0, "1": 1},
    protected=("ethnicity",),
    description="Insurance claims and whether they were fraudulent, as coded by the paper's authors.",
)
