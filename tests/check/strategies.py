"""Random small claims, and random trees for them."""

from fractions import Fraction
from math import inf, nextafter

from hypothesis import strategies as st
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    constraint,
    continuous,
    decision,
    integer,
    line,
    ordinal,
    pairs,
    pieces,
    probability,
    score,
    table,
    within,
    worth,
)


def number_text(value: Fraction) -> str:
    return str(Fraction(value))


def fractions(lo: int, hi: int) -> st.SearchStrategy[Fraction]:
    return st.fractions(min_value=lo, max_value=hi, max_denominator=6)


def texts(lo: int, hi: int) -> st.SearchStrategy[str]:
    return fractions(lo, hi).map(number_text)


@st.composite
def _feature(draw, k: int, real: bool):
    kind = draw(st.sampled_from(["integer", "categorical", "ordinal", *(["continuous"] if real else [])]))
    if kind == "continuous":
        lo = draw(fractions(-2, 1))
        hi = lo + draw(fractions(0, 3))
        if hi == lo:  # somebody needs a double
            lo = hi = Fraction(float(lo))
        return continuous(f"f{k}", lo, hi)
    if kind == "integer":
        lo = draw(st.integers(-2, 1))
        return integer(f"f{k}", lo, lo + draw(st.integers(0, 3)))
    levels = draw(
        st.sampled_from(
            [
                ["a", "b"],
                ["a"],
                [worth(-1), True, worth("5/2")],
                [False, True],
                ["a", "b", True, worth(1)],
                [None, worth(1)],
            ]
        )
    )
    return (categorical if kind == "categorical" else ordinal)(f"f{k}", levels)


def _relation(feature: dict):
    options = [st.just(SAME), st.just(FREE)]
    if feature["kind"] == "continuous":
        options.append(texts(0, 2).filter(lambda t: t != "0").map(within))
    elif feature["kind"] != "categorical":
        options.append(st.integers(1, 2).map(within))
    if "levels" in feature:
        every = [(i, j) for j in range(len(feature["levels"])) for i in range(j)]
        options.append(
            st.sets(st.sampled_from(every) if every else st.nothing()).map(lambda s: pairs(*sorted(s)))
        )
    return st.one_of(options)


@st.composite
def _pieces(draw, k: int, weight: str, degree: int) -> dict:
    cuts = sorted(draw(st.sets(fractions(-2, 3), max_size=2)))
    return pieces(
        k,
        weight,
        cuts,
        [draw(st.lists(fractions(-1, 1), min_size=1, max_size=degree + 1)) for _ in [0, *cuts]],
    )


@st.composite
def claims(draw, real: bool = False, degree: int = 3) -> dict:
    """The arguments of `proof` but for the nodes; columns in pieces have this degree at most."""
    features = [draw(_feature(k, real)) for k in range(draw(st.integers(1, 3)))]
    relations = [draw(_relation(feature)) for feature in features]
    columns = []
    for k, feature in enumerate(features):
        for _ in range(draw(st.sampled_from([1, 1, 1, 0, 2]))):
            weight = draw(texts(-2, 2))
            if "levels" in feature:
                columns.append(table(k, weight, [draw(texts(-2, 2)) for _ in feature["levels"]]))
            elif draw(st.booleans()):
                columns.append(draw(_pieces(k, weight, degree)))
            else:
                columns.append(line(k, weight, draw(texts(-1, 1)), draw(texts(-1, 1))))
    words = [
        k
        for k, f in enumerate(features)
        if {"a", None} & {x for x in f.get("levels", []) if type(x) is not dict}
    ]
    listed = [k for k, f in enumerate(features) if "levels" in f]
    constraints = []
    for _ in range(draw(st.integers(0, 2))):
        terms = []
        for k in sorted(draw(st.sets(st.sampled_from(range(len(features)))))):
            if k in words or (k in listed and draw(st.booleans())):
                terms.append((k, [draw(texts(-2, 2)) for _ in features[k]["levels"]]))
            else:
                terms.append((k, draw(texts(-2, 2))))
        constraints.append(constraint(terms, draw(texts(-1, 3))))
    prop = draw(
        st.one_of(
            texts(-1, 2).map(decision),
            st.just(decision(0)),
            texts(0, 6).map(score),
            fractions(0, 1).filter(lambda d: d < 1).map(lambda d: probability(number_text(d))),
        )
    )
    slope = draw(fractions(-2, 2).filter(bool))
    link = draw(st.sampled_from(["logistic", ["logistic", number_text(slope), draw(texts(-2, 2))]]))
    zero = draw(st.sampled_from(["lower", "upper"]))
    model = affine(draw(texts(-4, 4)), columns, zero=zero, link=link)
    return {
        "features": features,
        "relations": relations,
        "prop": prop,
        "model": model,
        "constraints": constraints,
    }


@st.composite
def trees(draw, claim: dict, most: int = 4) -> list:
    """Nodes of a random tree over the claim: well formed, but its leaves may or may not hold."""
    cell = []
    for feature, relation in zip(claim["features"], claim["relations"], strict=True):
        if "levels" in feature:
            ends = [Fraction(0), Fraction(len(feature["levels"]) - 1)]
        else:
            ends = [Fraction(feature["lo"]), Fraction(feature["hi"])]
        cell += [(feature["kind"] != "continuous", *ends)] * (1 if relation["kind"] == "same" else 2)
    many = 2 * len(claim["constraints"])
    nodes: list = []

    def leaf():
        rule = draw(st.sampled_from(["separable"] * 4 + ["enumerated"] * 3 + ["independent", "empty"]))
        multipliers = [draw(texts(0, 2)) for _ in range(many)]
        if rule == "separable":
            prop = claim["prop"]
            if prop["kind"] == "score" or prop.get("delta") == "0":
                way = "1/2"
            else:
                way = number_text(
                    draw(st.sampled_from([Fraction(0), Fraction(1), None])) or draw(fractions(0, 1))
                )
            return [rule, way, *([multipliers] if draw(st.booleans()) else [])]
        return [rule, multipliers] if rule == "empty" else [rule]

    def grow(cell, left):
        open_variables = [v for v, (_, lo, hi) in enumerate(cell) if lo < hi]
        if not left or not open_variables or draw(st.booleans()):
            nodes.append(leaf())
            return
        v = draw(st.sampled_from(open_variables))
        discrete, lo, hi = cell[v]
        at = Fraction(draw(st.integers(int(lo), int(hi) - 1))) if discrete else (lo + hi) / 2
        after = at + 1 if discrete else at
        node = ["split", v, number_text(at)]
        place = float(at)
        beyond = nextafter(place, inf)
        if not discrete and lo <= place and beyond <= hi and draw(st.booleans()):
            at, after = Fraction(place), Fraction(beyond)
            node = ["split", v, place.hex(), beyond.hex()]
        nodes.append(node)
        grow([*cell[:v], (discrete, lo, at), *cell[v + 1 :]], left - 1)
        grow([*cell[:v], (discrete, after, hi), *cell[v + 1 :]], left - 1)

    grow(cell, most)
    return nodes
