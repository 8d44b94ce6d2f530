"""What every family of the registry must keep: bounds hold, forms are sums, judges know their error, proofs close and are accepted, pairs are pairs,
lies are refused. By brute force over a space of 24 individuals."""

import gzip
import io
import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.certificate.mutants import packed, sealed
from tests.families.conformance.builders import BUILDERS, SEX, SIMILAR, SPACE
from tests.tiers import some

import likewise as lw
from likewise.cells.enumerated import is_independent
from likewise.families.family import AffineMap
from likewise.families.judge import Judge
from likewise.families.registry import FAMILY_NAMES, bounder_of, family_of, load_family, score_judge_of
from likewise.families.scored_model import Scores, form_body, only_score
from likewise.importers.imported_model import ImportedModel
from likewise.importers.inputs import Inputs
from likewise.importers.recoding import identity_recoding
from likewise.model.head import Head
from likewise.spec.numbers import format_number
from likewise.spec.pairs import add_differences, pair_space
from likewise.spec.terms import dot
from likewise_check import check

BITS = 128
PROVED = [name for name in FAMILY_NAMES if not load_family(name).opaque]
EVERYBODY = np.array([*itertools.product(range(4), range(3), range(2))], dtype=float)
PEOPLE = [[Fraction(c) for c in row] for row in EVERYBODY.tolist()]
SEEDS = some(range(3), 1)
WAYS = ("0", "1/4", "1/2", "3/4", "1")
GRID = 2**20  # of levels: multiples of 1 / GRID can be taken off any bias without rounding


def built(name, seed, n=1, *, blind=False):
    return BUILDERS[name](np.random.default_rng(seed), n, blind)


def exact_scores(model):
    """All scores of everybody, (individuals, n)."""
    scores = Scores(model, len(SPACE))
    return [[one.middle for one in scores.enclose(person, BITS)] for person in PEOPLE]


def pairs_of(name):
    pairs = pair_space(SPACE, SIMILAR)
    return add_differences(pairs) if load_family(name).differences else pairs


def similar():
    pairs = pair_space(SPACE, SIMILAR)
    return [(i, j) for i, x in enumerate(PEOPLE) for j, y in enumerate(PEOPLE) if pairs.valid(x, y)]


def largest_gap(scores):
    return max(abs(scores[i][0] - scores[j][0]) for i, j in similar())


def test_every_family_has_a_builder():
    assert set(BUILDERS) == set(FAMILY_NAMES)
    assert all(load_family(name).name == name for name in FAMILY_NAMES)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", FAMILY_NAMES)
class TestScores:
    def test_many_rows_are_one_by_one(self, name, seed):
        model = built(name, seed, 3)
        assert family_of(model.bodies[0]).name == name
        scores, exact = Scores(model, len(SPACE)), exact_scores(model)
        assert np.allclose(scores.scores(EVERYBODY), np.array(exact, dtype=float), rtol=1e-9, atol=1e-9)
        for part, column in zip(scores.parts, zip(*exact, strict=True), strict=True):
            assert np.allclose(
                [float(v) for v in part.reference_scores(EVERYBODY)], np.array(column, dtype=float)
            )
            assert np.allclose(part.scorer()(EVERYBODY), np.array(column, dtype=float))
            negated = part.negated()
            assert [negated.enclose(p, BITS).middle for p in PEOPLE[:4]] == [-v for v in column[:4]]
            if part.rational:
                assert [part.exact(person) for person in PEOPLE] == list(column)

    def test_forms_are_sums(self, name, seed):
        model = built(name, seed, 3)
        family, scores, exact = load_family(name), Scores(model, len(SPACE)), exact_scores(model)
        alpha = (Fraction(1), Fraction(-1), Fraction(0))
        if not family.leads and family.unbounded:
            with pytest.raises(lw.UnsupportedModel):
                scores.form(alpha)
            return
        expected = [dot(alpha, row) for row in exact]
        assert np.allclose(scores.form(alpha).scores(EVERYBODY), np.array(expected, dtype=float), atol=1e-9)
        if family.leads:
            score = form_body(model, alpha).score(model.embedding, len(SPACE))
            assert [score.enclose(person, BITS).middle for person in PEOPLE] == expected

    def test_what_it_does_not_depend_on_changes_nothing(self, name, seed):
        for blind in (False, True):
            score = only_score(built(name, seed, blind=blind), len(SPACE))
            values = [score.enclose(person, BITS).middle for person in PEOPLE]
            moves = any(values[i] != values[i + 1] for i in range(0, len(values), 2))  # the two sexes
            assert score.depends(SEX) or not moves
            assert is_independent(pair_space(SPACE, SIMILAR), score) or not blind or name not in PROVED

    def test_the_judge_knows_its_error(self, name, seed):
        model = built(name, seed, 3)
        scores, exact = Scores(model, len(SPACE)), np.array(exact_scores(model)).reshape(4, 3, 2, 3)
        settings = np.array([[0.0], [1.0]])
        rows = EVERYBODY[::2]
        found = Judge(scores.parts).cross(rows, [SEX], settings)
        wanted = exact.reshape(12, 2, 3)
        for r, s, c in itertools.product(range(12), range(2), range(3)):
            assert abs(Fraction(float(found.values[r, s, c])) - wanted[r, s, c]) <= Fraction(
                float(found.error[r, c])
            )
        alone = score_judge_of(scores.parts[0]).cross(rows, [SEX], settings)
        assert np.abs(alone.values - wanted[..., 0].astype(float)).max() <= float(alone.error.max()) + 1e-12
        assert np.isfinite(found.error).all()

    def test_bounds_hold_on_every_pair_of_a_cell(self, name, seed):
        pairs, score = pairs_of(name), only_score(built(name, seed), len(SPACE))
        oracle = bounder_of(score, pairs)
        if oracle is None:
            assert load_family(name).unbounded
            return
        oracle.warm_up()
        values = [float(score.enclose(person, BITS).middle) for person in PEOPLE]
        lo = np.array([v.lo for v in pairs.variables], dtype=float)
        hi = np.array([v.hi for v in pairs.variables], dtype=float)
        for lean, job, low in itertools.product((0.0, 0.25, 0.5, 1.0), (0, 2), (0, 2)):
            cell_lo, cell_hi = lo.copy(), hi.copy()
            cell_lo[pairs.first[1]] = cell_hi[pairs.first[1]] = job
            cell_lo[pairs.first[0]] = low
            bounds = oracle.bound(cell_lo[None], cell_hi[None], np.array([lean]), np.array([0.0]))
            for i, j in similar():
                if PEOPLE[i][1] == job and PEOPLE[i][0] >= low:
                    assert (
                        lean * values[i] - (1 - lean) * values[j] <= bounds.upper[0] + bounds.noise[0] + 1e-12
                    )

    def test_a_cell_without_pairs_can_be_written_down_where_it_closes(self, name, seed):
        pairs, score = pairs_of(name), only_score(built(name, seed), len(SPACE))
        oracle, family = bounder_of(score, pairs), load_family(name)
        if oracle is None or not family.rules:
            return
        oracle.warm_up()
        lo, hi = (np.array(ends) for ends in pairs.ends)
        hi[pairs.first[0]], lo[pairs.second[0]] = lo[pairs.first[0]], hi[pairs.second[0]]  # 0 and 3
        bounds = oracle.bound(lo[None], hi[None], np.array([0.5]), np.array([-100.0]))
        if bounds.closes is not None and bounds.closes[0] and bounds.hints is not None:
            rule = oracle.rule if bounds.rules is None else bounds.rules[0]
            assert json.dumps(family.hints_line(rule, bounds.hints[0]))


# -- verdicts ----------------------------------------------------------------------------------------------------------


class ExactReplay:
    """A program that does not round."""

    stand_in = None

    def __init__(self, model):
        self.model, self.scored = model, Scores(model, len(SPACE))
        self.inputs = Inputs(recoding=identity_recoding(SPACE), columns=SPACE.names, like=None, named=True)

    def scores(self, codes):
        rows = [[Fraction(c) for c in row] for row in codes.tolist()]
        return np.array([[float(s.middle) for s in self.scored.enclose(row, BITS)] for row in rows])

    def decisions(self, codes):
        rows = [[Fraction(c) for c in row] for row in codes.tolist()]
        return np.array(
            [self.model.head.decide([s.middle for s in self.scored.enclose(row, BITS)]) for row in rows]
        )

    def confirms(self, _x, _other, _question):
        return True


def planted(monkeypatch, model):
    imported = ImportedModel(
        model=model,
        replay=ExactReplay(model),
        recoding=identity_recoding(SPACE),
        rows=np.empty((0, len(SPACE))),
    )
    monkeypatch.setattr("likewise.problem.import_model", lambda *_, **__: imported)


def verified(monkeypatch, model, delta):
    return verdict(monkeypatch, model, lw.ScoreGap(delta))


def verdict(monkeypatch, model, asked):
    planted(monkeypatch, model)
    return lw.verify(object(), SPACE, SIMILAR, asked, budget=20)


def lines_of(certificate):
    return [json.loads(line) for line in gzip.decompress(certificate.content).splitlines()]


def accepted(lines):
    return check(io.BytesIO(packed(sealed(lines)))).accepted


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PROVED)
class TestVerdicts:
    def test_planted_bias_is_found(self, name, seed, monkeypatch):
        model = built(name, seed)
        scores = exact_scores(model)
        gap = largest_gap(scores)
        if not gap:
            pytest.skip("this one is fair")
        result = verified(monkeypatch, model, float(gap) * 0.9)
        assert result.verdict == "BIASED"
        first, second = (
            PEOPLE.index([Fraction(c) for c in row]) for row in SPACE.encode(result.pair).tolist()
        )
        assert (first, second) in similar()
        assert abs(scores[first][0] - scores[second][0]) > Fraction(float(gap) * 0.9)
        assert check(io.BytesIO(result.certificate.content)).accepted

    def test_planted_fairness_is_proved(self, name, seed, monkeypatch):
        for model in (built(name, seed, blind=True), built(name, seed)):
            gap = largest_gap(exact_scores(model))
            result = verified(monkeypatch, model, float(gap) * 1.1 + 0.01)
            assert result.verdict == "FAIR"
            assert check(io.BytesIO(result.certificate.content)).accepted
        bounder = bounder_of(only_score(model, len(SPACE)), pairs_of(name))
        if bounder is not None and gap:
            rules = {line[0] for line in lines_of(result.certificate)[5:-1]}
            assert rules & {bounder.rule, *bounder.more_rules}

    def test_lies_are_refused(self, name, seed, monkeypatch):
        model = built(name, seed)
        gap = largest_gap(exact_scores(model))
        if not gap:
            pytest.skip("nothing to lie about")
        lines = lines_of(verified(monkeypatch, model, float(gap) * 1.1).certificate)
        assert accepted(lines)
        leaf = next(i for i in range(5, len(lines) - 1) if lines[i][0] not in ("split", "cases"))

        def changed(place, line):
            return [*lines[:place], line, *lines[place + 1 :]]

        smaller = {"property": {"kind": "score", "delta": format_number(gap * Fraction(9, 10))}}
        twice = AffineMap(slope=Fraction(2), offset=Fraction(0), size=Fraction(0), operations=0)
        scaled = replace(model, bodies=(model.body.rescaled(twice, "twice"),))
        body = load_family(name).line(scaled.bodies, scaled.embedding)
        lies = {
            "a smaller level": changed(3, smaller),
            "scores twice as large": changed(4, {"model": {**lines[4]["model"], "body": body}}),
            "nothing matters": changed(leaf, ["independent"]),
            "nobody is there": changed(leaf, ["empty", []]),
            "another rule": changed(leaf, ["split", 0, "1"]),
            "no leaf": [*lines[:leaf], *lines[leaf + 1 :]],
        }
        for lie, told in lies.items():
            assert not accepted(told), lie


def shifted(model, by, *, zero_is_upper):
    """A classifier that compares the score with a level."""
    down = AffineMap(slope=Fraction(1), offset=-by, size=abs(by), operations=1)
    body = model.body.rescaled(down, "a classifier")
    return replace(model, bodies=(body,), head=Head(labels=(0, 1), zero_is_upper=zero_is_upper))


def levels(scores):
    """Levels that two similar individuals are on two sides of, and those that none are; nobody is on one."""
    order = sorted({row[0] for row in scores})
    between = [(a + b) / 2 for a, b in itertools.pairwise(order)]
    found = {"FAIR": [], "BIASED": []}
    for level in (Fraction(round(level * GRID), GRID) for level in (*between, order[0] - 1, order[-1] + 1)):
        if level in order:
            continue
        split = any((scores[i][0] > level) != (scores[j][0] > level) for i, j in similar())
        found["BIASED" if split else "FAIR"].append(level)
    return found


def leaning(node, way):
    """A leaf with a line, with another way."""
    lined = node[0] != "split" and len(node) > 1 and isinstance(node[1], str)
    return [node[0], way, *node[2:]] if lined else node


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PROVED)
class TestDecisions:
    @pytest.mark.parametrize("zero_is_upper", [False, True])
    def test_of_two_labels_are_those_of_brute_force(self, name, seed, zero_is_upper, monkeypatch):
        model = built(name, seed)
        known = levels(exact_scores(model))
        models = {
            wanted: [shifted(model, level, zero_is_upper=zero_is_upper) for level in at]
            for wanted, at in known.items()
        }
        for wanted, candidates in models.items():
            for one in candidates[:2]:
                result = verdict(monkeypatch, one, lw.SameDecision())
                assert result.verdict == wanted
                assert check(io.BytesIO(result.certificate.content)).accepted
        self._refuses_lies(name, models, verdict(monkeypatch, models["FAIR"][0], lw.SameDecision()))

    def _refuses_lies(self, name, models, fair):
        """The proof of a fair level, said of one that is not, with every way at its leaves."""
        lines = lines_of(fair.certificate)
        for other, way in itertools.product(some(models["BIASED"], 3, name), WAYS):
            body = load_family(name).line(other.bodies, other.embedding)
            lie = {"model": {**lines[4]["model"], "body": body}}
            leaves = [leaning(line, way) for line in lines[5:-1]]
            assert not accepted([*lines[:4], lie, *leaves, lines[-1]])

    def test_of_three_classes_are_those_of_brute_force(self, name, seed, monkeypatch):
        model = built(name, seed, 3)
        scores = exact_scores(model)
        classes = [row.index(max(row)) for row in scores]
        wanted = "BIASED" if any(classes[i] != classes[j] for i, j in similar()) else "FAIR"
        result = verdict(monkeypatch, model, lw.SameDecision())
        if load_family(name).unbounded:
            assert result.verdict in (wanted, "UNKNOWN")
            return
        assert result.verdict == wanted
        assert check(io.BytesIO(result.certificate.content)).accepted
        gap = max(abs(scores[i][c] - scores[j][c]) for i, j in similar() for c in range(3))
        wide = verified(monkeypatch, model, float(gap) * 1.1)
        assert (wide.verdict, verified(monkeypatch, model, float(gap) * 0.9).verdict) == ("FAIR", "BIASED")
        lines = lines_of(wide.certificate)
        assert accepted(lines)
        smaller = {**lines[3]["property"], "delta": format_number(gap * Fraction(9, 10))}
        assert not accepted([*lines[:3], {"property": smaller}, *lines[4:]])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", sorted({*FAMILY_NAMES} - {*PROVED}))
def test_what_can_only_be_asked_is_never_fair(name, seed, monkeypatch):
    model = built(name, seed)
    gap = largest_gap(exact_scores(model))
    assert gap
    found = verified(monkeypatch, model, float(gap) * 0.9)
    assert (found.verdict, found.certificate) == ("BIASED", None)
    planted(monkeypatch, model)
    assert lw.verify(object(), SPACE, SIMILAR, lw.ScoreGap(float(gap) * 1.1), budget=0.2).verdict == "UNKNOWN"
    with pytest.raises(lw.UnsupportedModel, match="no parameters"):
        load_family(name).line(model.bodies, model.embedding)
