"""Random kernel models and their scores to 60 digits, from the specification alone."""

import random
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.check.builder import FREE, SAME, categorical, continuous, integer, number, ordinal, within
from tests.tiers import ALL

from likewise_check.core.cells import make_box
from likewise_check.core.claim import Claim, read_model
from likewise_check.core.lemma import Lemma
from likewise_check.core.numbers import int_if_whole
from likewise_check.core.properties import read_property
from likewise_check.core.space import read_similarity, read_space


def rbf(
    gamma, bias, columns, terms, *, labels=("no", "yes"), zero="lower", link="logistic", grouped=False
) -> dict:
    return {
        "family": "test",
        "body": {
            "kind": "rbf",
            "gamma": number(gamma),
            "bias": number(bias),
            "columns": list(columns),
            "terms": [[number(weight), [*map(number, centre)]] for weight, centre in terms],
            **({"grouped": True} if grouped else {}),
        },
        "head": {"labels": None if labels is None else list(labels), "zero": zero, "link": link},
        "rounding": None,
    }


def seeds(fast: int, count: int):
    """A property of random problems: `make test-all` tries the seeds below `count`, `make test` other `fast` of them each day."""
    tried = settings(max_examples=count if ALL else fast, phases=[Phase.generate])
    return lambda test: tried(given(seed=st.integers(0, count - 1))(test))


def sloped(feature, slope=1, offset=0) -> dict:
    return {"feature": feature, "slope": number(slope), "offset": number(offset)}


def tabled(feature, entries) -> dict:
    return {"feature": feature, "table": [number(e) for e in entries]}


def claim_of(features, relations, prop, model, constraints=()) -> Claim:
    space = read_space({"space": {"features": list(features), "constraints": list(constraints)}})
    asked = read_property({"property": prop}, space)
    return Claim(
        space=space,
        similarity=read_similarity({"similarity": list(relations)}, space),
        model=read_model({"model": model}, space, asked),
        asked=asked,
    )


def lemma_of(*args) -> Lemma:
    """What a leaf has to show of such a claim."""
    return claim_of(*args).lemma()


@dataclass
class Kernel:
    """A random model: features, relations, columns by feature, terms."""

    features: list
    relations: list
    columns: list
    terms: list
    gamma: Fraction
    bias: Fraction
    grouped: bool = False

    def model(self, **head) -> dict:
        return rbf(self.gamma, self.bias, self.columns, self.terms, grouped=self.grouped, **head)

    def values(self, codes) -> list[Fraction]:
        return [column_at(c, codes[c["feature"]]) for c in self.columns]

    def score(self, codes) -> Decimal:
        """f, to about 60 digits."""
        values = self.values(codes)
        with localcontext() as context:
            context.prec = 80
            total = decimal(self.bias)
            for weight, centre in self.terms:
                square = sum((v - Fraction(c)) ** 2 for v, c in zip(values, centre, strict=True))
                total += decimal(Fraction(weight)) * decimal(-self.gamma * square).exp()
            return +total


def column_at(column, code) -> Fraction:
    if "table" in column:
        return Fraction(column["table"][int(code)])
    return Fraction(column["offset"]) + Fraction(column["slope"]) * Fraction(code)


def decimal(value: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 80
        return Decimal(value.numerator) / Decimal(value.denominator)


def dyadic(value: float) -> Fraction:
    return Fraction(round(value * 2**20), 2**20)


def random_kernel(rng: random.Random, sorts, terms: int, *, spread=1.0, thirds=False) -> Kernel:
    """Features of these sorts: c(ontinuous), i(nteger), t(able), l(onely: no columns), h (one-hot), g(rouped); upper case: may differ."""
    features, relations, columns, starts = [], [], [], []
    sizes = {}
    for k, sort in enumerate(sorts):
        starts.append(len(columns))
        low = sort.lower()
        slope = dyadic(rng.choice([-1, 1]) * rng.uniform(0.3, 1.5) * spread)
        levels = rng.randint(2, 4)
        if low == "c":
            features.append(continuous(f"f{k}", -1, 2))
            columns.append(sloped(k, slope, dyadic(rng.uniform(-1, 1))))
            if rng.random() < 0.3:
                columns.append(sloped(k, dyadic(rng.uniform(-0.5, 0.5)), 0))
        elif low == "i":
            features.append(integer(f"f{k}", 0, 4))
            columns.append(sloped(k, slope / 2, dyadic(rng.uniform(-1, 1))))
        elif low == "l":
            features.append(rng.choice([continuous(f"f{k}"), ordinal(f"f{k}", "ab")]))
        elif low == "t":
            features.append(ordinal(f"f{k}", [str(v) for v in range(levels)]))
            columns.append(tabled(k, [dyadic(rng.uniform(-1, 1) * spread) for _ in range(levels)]))
        elif low == "g":
            levels = rng.randint(3, 5)
            features.append(categorical(f"f{k}", [str(v) for v in range(levels)]))
            sizes[k] = dyadic(rng.uniform(0.2, 0.9) * spread)
            # Levels share a column, or have none (-1); one column may be of no level of the space.
            known = rng.randint(2, levels)
            owned = [rng.randrange(-1, known) for _ in range(levels)]
            columns += [tabled(k, [sizes[k] if v == u else 0 for v in owned]) for u in range(known)]
        else:
            features.append(categorical(f"f{k}", [str(v) for v in range(levels)]))
            size = dyadic(rng.uniform(0.2, 0.9) * spread)
            known = levels + rng.randrange(2)  # maybe one that the space leaves out
            columns += [tabled(k, [size if v == u else 0 for v in range(levels)]) for u in range(known)]
        relations.append(SAME if sort == low else FREE if low in "hlg" else within(2))
    listed = []
    for _ in range(terms):
        centre = []
        for k, sort in enumerate(sorts):
            mine = [c for c in columns if c["feature"] == k]
            if sort.lower() == "g":
                place = rng.randrange(-1, len(mine))
                centre += [sizes[k] if u == place else Fraction(0) for u in range(len(mine))]
            elif sort.lower() == "h":
                place, size = rng.randrange(len(mine)), Fraction(mine[0]["table"][0])
                centre += [size if u == place else Fraction(0) for u in range(len(mine))]
            else:
                centre += [
                    Fraction(round(rng.gauss(0, 1) * 81), 81) if thirds else dyadic(rng.gauss(0, 1))
                    for _ in mine
                ]
        listed.append((dyadic(rng.gauss(0, 1)), centre))
    gamma = Fraction(rng.randint(1, 9), 10) if thirds else dyadic(rng.uniform(0.1, 0.9))
    grouped = any(sort in "gG" for sort in sorts)
    return Kernel(
        features, relations, columns, listed, gamma, dyadic(rng.uniform(-0.3, 0.3)), grouped=grouped
    )


def random_cell(rng: random.Random, kernel: Kernel, *, width=0.5):
    """One interval a variable, in feature order, as lists of (lo, hi)."""
    cell = []
    for feature, relation in zip(kernel.features, kernel.relations, strict=True):
        if "levels" in feature or feature["kind"] == "integer":
            lo = 0
            hi = len(feature["levels"]) - 1 if "levels" in feature else int(feature["hi"])
            draw = lambda lo=lo, hi=hi: Fraction(rng.randint(lo, hi))  # noqa: E731
        else:
            lo, hi = Fraction(feature["lo"]), Fraction(feature["hi"])
            draw = lambda lo=lo, hi=hi: Fraction(lo + (hi - lo) * Fraction(rng.randint(0, 96), 96))  # noqa: E731
        if relation == SAME:
            ends = sorted([draw(), draw()])
            if feature["kind"] == "continuous" and rng.random() < 0.9:
                ends[1] = min(hi, ends[0] + Fraction(width) * (hi - lo) * Fraction(rng.randint(1, 64), 64))
            cell.append([tuple(ends)])
        else:
            x, other = draw(), draw()
            while relation != FREE and abs(x - other) > Fraction(relation["tolerance"]):
                x, other = draw(), draw()
            cell.append([(x, x), (other, other)])
    return cell


def boxes(cell) -> list:
    """The cell as the checker has it; a third interval is that of the difference."""
    exactly = [[(int_if_whole(lo), int_if_whole(hi)) for lo, hi in intervals] for intervals in cell]
    return [make_box(*intervals[:2], difference=tuple(intervals[2:])) for intervals in exactly]


def discrete(feature) -> bool:
    return feature["kind"] != "continuous"


def samples(rng: random.Random, kernel: Kernel, cell, count: int):
    """Pairs of the cell: corners, the middle, and points drawn at random."""
    places = [Fraction(0), Fraction(1, 2), Fraction(1)]
    for n in range(count):
        x, other = [], []
        for feature, intervals in zip(kernel.features, cell, strict=True):
            codes = []
            for lo, hi in intervals:
                if discrete(feature):
                    codes.append(Fraction(rng.randint(int(lo), int(hi))))
                else:
                    codes.append(lo + (hi - lo) * (rng.choice(places) if n % 2 else Fraction(rng.random())))
            x.append(codes[0])
            other.append(codes[-1])
        yield x, other


def hint_count(kernel: Kernel, cell) -> int:
    """How many e a leaf has: one a numeric feature that is `same` and not fixed, three a paired one."""
    per = [sum(c["feature"] == k for c in kernel.columns) for k in range(len(kernel.features))]
    count = 0
    for k, (feature, relation) in enumerate(zip(kernel.features, kernel.relations, strict=True)):
        if any(lo != hi for lo, hi in cell[k][:2]):
            if relation == SAME:
                count += per[k] <= 1 or "levels" not in feature
            else:
                count += 0 if "levels" in feature else 3
    return count
