"""What the paper printed: its two tables of results, and the settings of its 24 models.

John, Vijaykeerthy, Saha: Verifying Individual Fairness in Machine Learning Models (UAI 2020). Facts only,
nothing is computed here. Models are named as in the paper (`GC_Rbf2`) and, on the command line, by data set
and kind (`german-rbf2`). Kinds ending in 1 are fitted plainly, those in 2 with the protected columns set to
zero in training. The paper's "No" and "No Bias" are the same answer; it says "Possible" where its bound was
negative but no pair was found.
"""

from __future__ import annotations

from dataclasses import dataclass

SAMPLES = 50_000  # of its random testing


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One row of the paper's Table 1, and of its Table 2 where it has one; times as printed."""

    title: str
    data: str
    kind: str
    train: float
    test: float
    bias: str
    time: str
    testing_time: str | None = None
    testing: str | None = None

    @property
    def key(self) -> str:
        """The name on the command line: german-rbf2."""
        return f"{self.data}-{self.kind}"

    @property
    def family(self) -> str:
        """linear, poly or rbf."""
        return self.kind[:-1]

    @property
    def masked(self) -> bool:
        """Whether the protected columns were set to zero in training."""
        return self.kind.endswith("2")


_TITLES = {"german": "GC", "adult": "AD", "fraud": "FD", "credit": "CR"}

_TABLE_1 = """
german linear1 0.767 0.76  Yes      226.2s
german linear2 0.756 0.748 No       229.0s
german poly1   0.650 0.704 No       78.4m
german poly2   0.658 0.7   No       77.3m
german rbf1    0.992 0.664 Yes      9.5s
german rbf2    1.0   0.7   No       27.7m
adult  linear1 0.822 0.821 Yes      47.3s
adult  linear2 0.823 0.821 No       48.7s
adult  poly1   0.826 0.824 Possible 10.4s
adult  poly2   0.826 0.823 Possible 10.9s
adult  rbf1    0.828 0.827 Yes      114.5s
adult  rbf2    0.905 0.811 Yes      546.8s
fraud  linear1 0.660 0.654 Yes      0.163s
fraud  linear2 0.660 0.654 No       0.101s
fraud  poly1   0.602 0.610 Possible 18.1s
fraud  poly2   0.590 0.607 Possible 17.1s
fraud  rbf1    0.928 0.669 Yes      16.1s
fraud  rbf2    1.0   0.665 Yes      32.7s
credit linear1 0.943 0.86  Yes      106.8s
credit linear2 0.953 0.88  No       79.1s
credit poly1   0.906 0.93  No       33.8s
credit poly2   0.863 0.9   No       31.8s
credit rbf1    1.0   0.85  Yes      9.2s
credit rbf2    1.0   0.56  No       389.4s
"""

_TABLE_2 = {
    "german-linear1": "1.812m",
    "german-linear2": "2.088m",
    "german-poly1": "1.756m",
    "german-poly2": "1.646m",
    "german-rbf1": "4.039m",
    "german-rbf2": "4.737m",
}


def _parse_row(line: str) -> Published:
    data, kind, train, test, bias, time = line.split()
    testing_time = _TABLE_2.get(f"{data}-{kind}")
    return Published(
        title=f"{_TITLES[data]}_{kind.capitalize()}",
        data=data,
        kind=kind,
        train=float(train),
        test=float(test),
        bias=bias,
        time=time,
        testing_time=testing_time,
        testing=None if testing_time is None else "not found",
    )


ROWS: tuple[Published, ...] = tuple(_parse_row(line) for line in _TABLE_1.strip().splitlines())


def estimator_settings(row: Published) -> tuple[str, dict[str, object]]:
    """The estimator's name in scikit-learn and its parameters."""
    if row.family == "linear":
        return "LogisticRegression", {"solver": "liblinear"}
    if row.family == "poly":
        return "SVC", {
            "kernel": "poly",
            "degree": 2,
            "C": 1.0,
            "gamma": 0.001,
            "coef0": 0.0,
            "max_iter": 10_000,
        }
    if row.masked:
        return "SVC", {"C": 1.0, "gamma": 0.5}
    return "SVC", {"C": 1000.0, "gamma": 1e-4}
