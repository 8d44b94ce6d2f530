"""Groups: what is known of how often each group gets the favourable decision, and of how far the groups are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import nan
from typing import Any

from likewise.analysis.intervals import clopper_pearson
from likewise.errors import SpecError
from likewise.spec.numbers import double_above, double_below
from likewise.verifying.result import plain_label
from likewise.verifying.shown import ShownResult

FOUR_FIFTHS = (
    0.8  # a group selected less than this part as often as another: the rule of thumb of US agencies
)

SELECTION, TRUE_POSITIVE, FALSE_POSITIVE = "selection_rate", "true_positive_rate", "false_positive_rate"
METRICS = (SELECTION, TRUE_POSITIVE, FALSE_POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share between lower and upper; of rows `hits` of `count`, and an interval that holds the share of the people whom the rows are a sample of."""

    lower: float
    upper: float
    method: str  # 'exact', 'certified' or 'sampled'
    hits: int | None = None
    count: int | None = None
    interval: tuple[float, float] | None = None
    share: Fraction | None = field(default=None, repr=False)  # where it is known

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Both ends, the share itself where it is known."""
        return (
            (self.share, self.share)
            if self.share is not None
            else (Fraction(self.lower), Fraction(self.upper))
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "method": self.method,
            "hits": self.hits,
            "count": self.count,
            "interval": None if self.interval is None else list(self.interval),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One group: the values that make it, its share of all people, and its rates by their names."""

    values: tuple[Any, ...]
    share: float
    rates: Mapping[str, Rate]

    @property
    def name(self) -> str:
        return ", ".join("missing" if value is None else str(value) for value in self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups(ShownResult):
    """How often each group gets the favourable decision.

    Attributes
    ----------
    by : tuple of str
        The features, or columns of the rows, that tell the groups.
    groups : tuple of Group
        The groups that are not empty, each with its share of all people and its rates: `selection_rate`,
        and with labels `true_positive_rate` and `false_positive_rate`.
    favourable : object
        The label that counts.
    over : str
        Who the rates are of.
    confidence : float or None
        With which all intervals of a sample hold at once; None where nothing was sampled.
    proved : bool
        False of a model that can only be asked. If a rate's method is 'sampled', each decision is proved,
        and the rate is known with the `confidence` only.
    reason : str or None
        Why a bracket is wider than aimed at.
    stats : dict
        Seconds and the like; `empty_groups` that the constraints leave out, and "estimated" for `shares`
        that are those of a sample.
    """

    by: tuple[str, ...]
    groups: tuple[Group, ...]
    favourable: object
    over: str
    confidence: float | None = None
    proved: bool = True
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_metric_frame(cls, frame: Any, *, favourable: Any = 1, confidence: float = 0.99) -> Groups:
        """From a `fairlearn.metrics.MetricFrame` with the metrics `selection_rate` and `count`, and if it has them `true_positive_rate` and `false_positive_rate`."""
        table = frame.by_group
        missing = [name for name in (SELECTION, "count") if name not in getattr(table, "columns", ())]
        if missing:
            raise SpecError(
                f"the MetricFrame has no metric {missing[0]!r}",
                hint="MetricFrame(metrics={'selection_rate': selection_rate, 'count': count}, ...)",
            )
        named = [name for name in METRICS if name in table.columns]
        each = 1 - (1 - confidence) / len(table)
        total, found = float(table["count"].sum()), []
        for key, line in zip(table.index.tolist(), table.to_dict("records"), strict=True):
            count = int(line["count"])
            rates = {
                name: Rate(lower=float(line[name]), upper=float(line[name]), method="exact", count=None)
                for name in named
            }
            rates[SELECTION] = rate_of_counts(round(line[SELECTION] * count), count, each)
            values = key if isinstance(key, tuple) else (key,)
            found.append(Group(values=values, share=count / total, rates=rates))
        return cls(
            by=tuple(str(name) for name in table.index.names),
            groups=tuple(found),
            favourable=favourable,
            over=f"the {total:,.0f} rows of a MetricFrame",
            confidence=confidence,
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the rates."""
        return tuple(name for name in METRICS if all(name in group.rates for group in self.groups))

    def difference(self, metric: str = SELECTION) -> tuple[float, float]:
        """Bounds of the largest rate less the smallest: of selection rates the demographic parity difference, of true positive rates that of equal opportunity."""
        return rate_difference(self._rates(metric))

    def ratio(self, metric: str = SELECTION) -> tuple[float, float]:
        """Bounds of the smallest rate divided by the largest; of selection rates the one that the four-fifths rule is about."""
        return rate_ratio(self._rates(metric))

    def _rates(self, metric: str) -> list[Rate]:
        """Of the groups in which there is somebody: a group of rows may have nobody whose label is
        favourable."""
        return [group.rates[metric] for group in self.groups if group.rates[metric].count != 0]

    @property
    def equalized_odds(self) -> tuple[float, float] | None:
        """Bounds of the larger difference of true and of false positive rates; None without labels."""
        if FALSE_POSITIVE not in self.metrics or TRUE_POSITIVE not in self.metrics:
            return None
        ends = [self.difference(metric) for metric in (TRUE_POSITIVE, FALSE_POSITIVE)]
        return max(low for low, _ in ends), max(high for _, high in ends)

    @property
    def four_fifths(self) -> bool | None:
        """Whether no group is selected less than four fifths as often as another; None where the brackets do not tell."""
        low, high = self.ratio()
        return True if low >= FOUR_FIFTHS else False if high < FOUR_FIFTHS else None

    @property
    def by_group(self) -> Any:
        """A frame with a line a group and a column a rate, as `fairlearn.metrics.MetricFrame.by_group` has them; the middle of a bracket."""
        from likewise.spec.frames import frame_from_columns

        columns: dict[str, Any] = {
            name: [group.values[n] for group in self.groups] for n, name in enumerate(self.by)
        }
        columns["share"] = [group.share for group in self.groups]
        for metric in self.metrics:
            rates = [group.rates[metric] for group in self.groups]
            columns[metric] = [(rate.lower + rate.upper) / 2 if rate.count != 0 else nan for rate in rates]
            columns[f"{metric}_lower"] = [rate.lower for rate in rates]
            columns[f"{metric}_upper"] = [rate.upper for rate in rates]
        return frame_from_columns(columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "by": list(self.by),
            "favourable": plain_label(self.favourable),
            "over": self.over,
            "groups": [
                {
                    "values": [plain_label(value) for value in group.values],
                    "share": group.share,
                    **{metric: group.rates[metric].to_dict() for metric in self.metrics},
                }
                for group in self.groups
            ],
            "differences": {metric: list(self.difference(metric)) for metric in self.metrics},
            "ratios": {metric: list(self.ratio(metric)) for metric in self.metrics},
            "equalized_odds": None if self.equalized_odds is None else list(self.equalized_odds),
            "four_fifths": self.four_fifths,
            "confidence": self.confidence,
            "proved": self.proved,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


def rate_of_counts(hits: int, count: int, confidence: float) -> Rate:
    """Exact of the rows; nothing is known where there are none."""
    if not count:
        return Rate(lower=0.0, upper=1.0, method="exact", hits=0, count=0, interval=(0.0, 1.0))
    share = Fraction(hits, count)
    return Rate(
        lower=double_below(share),
        upper=double_above(share),
        method="exact",
        hits=hits,
        count=count,
        interval=clopper_pearson(hits, count, confidence),
        share=share,
    )


def rate_difference(rates: Sequence[Rate]) -> tuple[float, float]:
    """Bounds of the largest less the smallest."""
    lows, highs = zip(*(rate.ends for rate in rates), strict=True)
    lower = max(max(lows) - min(highs), Fraction(0))
    return max(double_below(lower), 0.0), double_above(max(highs) - min(lows))


def rate_ratio(rates: Sequence[Rate]) -> tuple[float, float]:
    """Bounds of the smallest divided by the largest; 1 where nobody is selected in any group."""
    lows, highs = zip(*(rate.ends for rate in rates), strict=True)
    lower = min(lows) / max(highs) if max(highs) else Fraction(1)
    upper = min(min(highs) / max(lows), Fraction(1)) if max(lows) else Fraction(1)
    return double_below(lower), double_above(upper)
