"""Small random ensembles over spaces of all kinds, and their answers by exhaustion: exact, and independent of the oracle."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

import likewise as lw
from likewise.families.oracles import Oracles
from likewise.families.scored_model import Model
from likewise.families.trees.body import Tree, TreeScore, TreeSum, scores_of_ensemble
from likewise.families.trees.bounder import TreeBounder
from likewise.families.trees.rounding import TreeRounding
from likewise.importers.recoding import identity_recoding
from likewise.model.gauge import Gauge
from likewise.model.head import Head
from likewise.model.question import Question
from likewise.search.budget import Budget
from likewise.search.task import SearchTask
from likewise.spec.pairs import PairSpace, pair_space
from likewise.verifying.posed_problem import PosedProblem

FEATURES = {
    "age": lambda: lw.Integer(-2, 3),
    "gap": lambda: lw.Integer(0, 3, missing=True),
    "income": lambda: lw.Continuous(0.0, 1.0),
    "debt": lambda: lw.Continuous(-1.0, 1.0, missing=True),
    "job": lambda: lw.Categorical(["a", "b", "c", "d"]),
    "school": lambda: lw.Ordinal(["x", "y", "z"]),
    "sex": lambda: lw.Categorical(["f", "m"]),
}
RELATIONS = {
    "age": ["same", "free", {"within": 1}, {"within": 2}],
    "gap": ["same", "free", {"within": 1}],
    "income": ["same", "free", {"within": 0.25}, {"within": 0.3}],
    "debt": ["same", "free", {"within": 0.5}],
    "job": ["same", "free", {"pairs": [("a", "c"), ("b", "c")]}],
    "school": ["same", "free", {"within": 1}],
    "sex": ["free"],
}
CONSTRAINTS = ("age + 2*gone <= 4", "age >= gone - 3", "3*age + 2*gone == 4")


@dataclass(frozen=True, kw_only=True)
class Case:
    space: lw.Space
    similar: lw.Similarity
    body: TreeSum

    @property
    def pairs(self) -> PairSpace:
        return pair_space(self.space, self.similar)

    @property
    def score(self) -> TreeScore:
        return TreeScore(body=self.body)


def random_case(
    seed: int, *, features: int = 4, trees: int = 4, depth: int = 3, constrained: bool = False
) -> Case:
    """A space of some kinds, a similarity of some relations, and trees with values that often tie."""
    random = np.random.default_rng(seed)
    names = [*random.permutation(list(FEATURES)[:-1])[: features - 1], "sex"]
    if constrained:
        names = ["age", "gone", "sex", "job"][:features]
    made = {name: FEATURES[name]() if name != "gone" else lw.Integer(0, 4) for name in names}
    space = lw.Space(made)
    if constrained:
        space = space.where(*random.choice(CONSTRAINTS, random.integers(1, 3), replace=False).tolist())
    free, within, pairs = [], {}, {}
    moving = 0
    for name in names:
        relation = random.choice(
            np.array([*RELATIONS.get(name, ["same", "free", {"within": 1}])], dtype=object)
        )
        if relation == "free" or (name == "sex" and not moving):
            free.append(name)
        elif relation != "same" and moving < 2:
            ((kind, value),) = relation.items()
            (within if kind == "within" else pairs)[name] = value
        moving += relation != "same"
    similar = lw.Similarity(free=free, within=within, pairs=pairs)
    missing = {
        k: Fraction(f.missing_code)
        for k, f in enumerate(made.values())
        if getattr(f, "missing_code", None) is not None
    }
    grown = tuple(random_tree(random, list(made.values()), depth) for _ in range(trees))
    return Case(
        space=space, similar=similar, body=TreeSum(bias=(Fraction(1, 8),), trees=grown, missing=missing)
    )


def random_tree(
    random: np.random.Generator, features: list, depth: int, factor: Fraction = Fraction(1)
) -> Tree:
    feature, threshold, right, values, missing_left, levels = [], [], [], [], [], {}

    def grow(left: int) -> None:
        node = len(feature)
        leaf = left == 0 or random.uniform() < 0.15
        k = -1 if leaf else int(random.integers(len(features)))
        feature.append(k)
        values.append([random.integers(-4, 5) / 4 if leaf else 0.0])
        missing_left.append(bool(random.integers(2)))
        right.append(-1)
        threshold.append(0.0)
        if leaf:
            return
        if isinstance(features[k], lw.Continuous):
            threshold[node] = float(random.choice([-0.5, 0.0, 0.25, 0.5, 0.55, 0.75, 2.0]))
        elif isinstance(features[k], lw.Integer):
            threshold[node] = float(random.integers(-3, 5)) + float(random.choice([0.0, 0.5]))
        else:
            size = features[k].size
            levels[node] = frozenset(np.flatnonzero(random.integers(0, 2, size)).tolist())
        grow(left - 1)
        right[node] = len(feature)
        grow(left - 1)

    grow(depth)
    return Tree(
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold),
        levels=levels,
        missing_left=np.array(missing_left),
        right=np.array(right, dtype=np.int32),
        values=np.array(values),
        factor=factor,
    )


# -- by exhaustion ----------------------------------------------------------------------------------------


def cells(case: Case, k: int) -> list[tuple[float, float]]:
    """Codes of a feature that no test tells apart, as first and last code; every code by itself if it is discrete."""
    name = case.space.names[k]
    feature = case.space[name]
    if not isinstance(feature, lw.Continuous):
        variable = case.pairs.variables[case.pairs.first[k]]
        return [(float(c), float(c)) for c in range(int(variable.lo), int(variable.hi) + 1)]
    cuts = sorted(
        {
            float(t)
            for tree in case.body.trees
            for t, f in zip(tree.threshold, tree.feature, strict=True)
            if f == k
        }
    )
    ends = [*(t for t in cuts if feature.lo <= t < feature.hi), feature.hi]
    starts = [feature.lo, *(math.nextafter(t, math.inf) for t in ends[:-1])]
    gone = [] if feature.missing_code is None else [(feature.missing_code,) * 2]
    return [*zip(starts, ends, strict=True), *gone]


def similar_codes(case: Case, k: int) -> list[tuple[float, float]]:
    """One pair of similar codes for every two cells of a feature that have one."""
    relation, found = case.pairs.relations[k], []
    for (lo, hi), (lo2, hi2) in itertools.product(cells(case, k), repeat=2):
        if relation.kind == "same":
            closest = (hi, hi) if (lo, hi) == (lo2, hi2) else None
        elif hi < lo2:
            closest = hi, lo2
        elif hi2 < lo:
            closest = lo, hi2
        else:
            closest = max(lo, lo2), max(lo, lo2)
        if closest is not None and relation.allows(*map(Fraction, closest)):
            found.append(closest)
    return found


def all_scores(case: Case):
    """(x, x', score, score') of one pair for every way in which the tests can treat a similar pair of valid individuals."""
    known: dict = {}

    def score(codes):
        if codes not in known:
            known[codes] = case.body.exact([Fraction(c) for c in codes])[0]
        return known[codes]

    checked = bool(case.space.constraints)
    for codes in itertools.product(*(similar_codes(case, k) for k in range(len(case.space.names)))):
        x, other = tuple(c for c, _ in codes), tuple(c for _, c in codes)
        if checked and not case.pairs.valid([Fraction(c) for c in x], [Fraction(c) for c in other]):
            continue
        yield x, other, score(x), score(other)


# -- by the search ----------------------------------------------------------------------------------------


class Agreeing:
    """A replay that has nothing to say against a pair."""

    def confirms(self, *_):
        return True


def problem_of(case: Case, question: Question, *, budget: float = 120) -> SearchTask:
    score, pairs = case.score, case.pairs
    return SearchTask(
        pairs=pairs,
        oracles=Oracles(score, pairs, TreeBounder(score, pairs)),
        question=question,
        scores=score.scores,
        replay=Agreeing(),
        budget=Budget(budget),
        random=np.random.default_rng(0),
        rows=score.landmarks(case.space),
        cost=score.cost,
    )


def prepared_of(case: Case, gauge: Gauge, question: Question, *, described: bool = True) -> PosedProblem:
    """As `prepare` would leave it, had the ensemble been imported."""
    size = sum(
        (max(abs(v) for leaf in range(len(t.values)) for v in t.exact(leaf)) for t in case.body.trees),
        abs(case.body.bias[0]),
    )
    rounding = (
        TreeRounding(constant=size, operations=len(case.body.trees) + 1, bits=24) if described else None
    )
    model = Model(
        family="trees",
        rounding=rounding,
        embedding=(),
        bodies=scores_of_ensemble(case.body),
        head=Head(labels=(0, 1), link="logistic"),
    )
    imported = SimpleNamespace(
        model=model, replay=Agreeing(), space=case.space, recoding=identity_recoding(case.space), rows=None
    )
    problem = problem_of(case, question)
    return PosedProblem(
        imported=imported,
        pairs=problem.pairs,
        task=problem,
        mirrored=False,
        gauge=gauge,
        like=None,
    )
