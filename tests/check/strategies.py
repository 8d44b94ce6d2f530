"""Random small claims, and random trees for them."""

from fractions import Fraction

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
        return continuous(f"f{k}", lo, lo + draw(fractions(0, 3)))
    if kind == "integer":
        lo = draw(st.integers(-2, 1))
        return integer(f"f{k}", lo, lo + draw(st.integers(0, 3)))
    levels = draw(
        st.sampled_from(
            [["a", "b"], ["a"], [worth(-1), True, worth("5/2")], [False, True], ["a", "b", True, worth(1)]]
        )
    )
    return (categorical if kind == "categorical" else ordinal)(f"f{k}", levels)


def _relation(feature: dict):
    options = [st.just(SAME), st.just(FREE)]
    if feature["kind"] == "continuous":
        options.append(texts(0, 2).filter(lambda t: t != "0").map(within))
    elif feature["kind"] != "categorical":
        options.append(st.integers(1, 2).map(within))
    return st.one_of(options)


@st.composite
def claims(draw, real: bool = False) -> dict:
    """The arguments of `proof` but for the nodes."""
    features = [draw(_feature(k, real)) for k in range(draw(st.integers(1, 3)))]
    relations = [draw(_relation(feature)) for feature in features]
    columns = []
    for k, feature in enumerate(features):
        for _ in range(draw(st.sampled_from([1, 1, 1, 0, 2]))):
            weight = draw(texts(-2, 2))
            if "levels" in feature:
                columns.append(table(k, weight, [draw(texts(-2, 2)) for _ in feature["levels"]]))
            else:
                columns.append(line(k, weight, draw(texts(-1, 1)), draw(texts(-1, 1))))
    named = [k for k, f in enumerate(features) if "a" not in f.get("levels", [])]
    constraints = []
    for _ in range(draw(st.integers(0, 2)) if named else 0):
        chosen = sorted(draw(st.sets(st.sampled_from(named))))
        constraints.append(constraint([(k, draw(texts(-2, 2))) for k in chosen], draw(texts(-1, 3))))
    prop = draw(
        st.one_of(
            texts(-1, 2).map(decision),
            st.just(decision(0)),
            texts(0, 6).map(score),
            fractions(0, 1).filter(lambda d: d < 1).map(lambda d: probability(number_text(d))),
        )
    )
    model = affine(draw(texts(-4, 4)), columns, zero=draw(st.sampled_from(["lower", "upper"])))
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
        nodes.append(["split", v, number_text(at)])
        grow([*cell[:v], (discrete, lo, at), *cell[v + 1 :]], left - 1)
        grow([*cell[:v], (discrete, at + 1 if discrete else at, hi), *cell[v + 1 :]], left - 1)

    grow(cell, most)
    return nodes
