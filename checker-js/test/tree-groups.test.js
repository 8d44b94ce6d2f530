/** Groups of trees that are looked at together (section 9): against all codes, and in certificates written by hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { readBody } from '../src/bodies/bodies.js';
import { readSimilarity, related } from '../src/claim/similarity.js';
import { readSpace } from '../src/claim/space.js';
import { HALF, largerOfMaxima, ONE, Rational, sum, ZERO } from '../src/exact/rational.js';
import { parseJson } from '../src/file/json.js';
import { Clock } from '../src/limits.js';
import { Geometry } from '../src/proof/cell.js';
import { Rejection } from '../src/rejection.js';
import { maximumWithGroups, readGroups } from '../src/rules/tree-groups.js';
import { maximumOfTrees, shapesOf, treeFormOf } from '../src/rules/tree-maximum.js';
import { Random } from '../tools/mutate.js';
import { writeCertificate } from '../tools/seal.js';

const random = new Random(9);
const clock = new Clock(600);
const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const whole = (/** @type {number} */ lo, /** @type {number} */ hi) => lo + random.below(hi - lo + 1);
const SAME = { kind: 'same' };
const FREE = { kind: 'free' };
const QUARTER = Rational.fraction(1n, 4n);

/** Kinds of features: `within` and `between` have whole limits, so that codes that are quarters stand for all real ones. */
const KINDS = [
  { kind: 'integer', lo: '-1', hi: '3' },
  { kind: 'integer', lo: '0', hi: '2', missing: true },
  { kind: 'categorical', levels: ['a', 'b', 'c', 'd'] },
  { kind: 'ordinal', levels: ['a', 'b', 'c', 'd'] },
  { kind: 'continuous', lo: '0', hi: '2' },
  { kind: 'continuous', lo: '0', hi: '1', missing: true },
];

function randomRelation(/** @type {any} */ { kind, missing }) {
  const low = whole(-2, 1);
  const choices = [SAME, FREE];
  if (kind === 'categorical') choices.push({ kind: 'pairs', allowed: [[0, 2], [1, 3]] }, { kind: 'pairs', allowed: [] });
  else choices.push({ kind: 'within', tolerance: '1' });
  if (kind === 'ordinal') choices.push({ kind: 'pairs', allowed: [[0, 3]] });
  if (kind !== 'categorical' && !missing) choices.push({ kind: 'between', low: `${low}`, high: `${low + whole(0, 1)}` });
  return random.pick(choices);
}

/** The nodes of a tree of some depth; values are small, so that sums are often equal. */
function randomTree(/** @type {any[]} */ features, /** @type {number} */ depth) {
  /** @type {any[]} */
  const nodes = [];
  const build = (/** @type {number} */ left) => {
    const at = nodes.push(null) - 1;
    if (left === 0 || random.below(6) === 0) {
      nodes[at] = [`${whole(-3, 3)}`, `${whole(-3, 3)}/3`];
      return;
    }
    const k = random.below(features.length);
    const { levels, missing } = features[k];
    const test = levels === undefined ? `${whole(-2, 6)}/2` : levels.flatMap((/** @type {any} */ _, /** @type {number} */ i) => (random.below(2) === 0 ? [i] : []));
    build(left - 1);
    nodes[at] = [k, test, nodes.length, ...(missing ? [random.pick(['left', 'right'])] : [])];
    build(left - 1);
  };
  build(depth);
  return nodes;
}

/** A forest of two scores, as something that is asked about at x and something else at x'. */
function randomForest(/** @type {any[]} */ kinds) {
  const features = kinds.map((kind, k) => ({ name: `${k}`, ...kind }));
  const space = readSpace(json({ space: { features, constraints: [] } }));
  const { similarity } = readSimilarity(json({ similarity: features.map(randomRelation) }), space);
  const trees = Array.from({ length: whole(2, 4) }, () => randomTree(features, whole(1, 2)));
  const body = /** @type {any} */ (readBody(json({ kind: 'trees', bias: ['1', '-1/2'], trees }), { space, scores: 2 }));
  const [here, there] = random.below(2) === 0 ? [[ONE, ZERO], [ONE, ZERO]] : [[ONE, ONE.negated()], [HALF, ONE]];
  const a = Rational.fraction(BigInt(whole(0, 4)), 4n);
  const forms = { first: treeFormOf(body.form(here, ZERO), a), second: treeFormOf(body.form(there, ZERO), ONE.minus(a).negated()) };
  const geometry = new Geometry(space, similarity);
  return { space, similarity, geometry, body, shapes: shapesOf(body, clock), here, there, a, ...forms, none: treeFormOf(body.form(there, ZERO), ZERO) };
}

/** @typedef {ReturnType<typeof randomForest>} Forest */

/** All codes of a feature that lie in an interval, of continuous ones the quarters. */
function codesIn(/** @type {any} */ { discrete, lo, hi, missing, lastNumber }, /** @type {Rational} */ from, /** @type {Rational} */ to) {
  /** @type {Rational[]} */
  const codes = missing === null ? [] : [missing];
  for (let code = lo; code.atMost(missing === null ? hi : lastNumber); code = code.plus(discrete ? ONE : QUARTER)) codes.push(code);
  return codes.filter((code) => from.atMost(code) && code.atMost(to));
}

function randomCell(/** @type {Forest} */ { geometry, space }, /** @type {any} */ before) {
  const [lo, hi] = [before.lo.slice(), before.hi.slice()];
  geometry.variables.forEach(({ feature, role }, v) => {
    if (role !== 'code' || random.below(3) > 0) return;
    const { lo: least, hi: most } = space.features[feature];
    const codes = codesIn(space.features[feature], least, most);
    const [one, other] = [random.pick(codes), random.pick(codes)];
    [lo[v], hi[v]] = one.less(other) ? [one, other] : [other, one];
  });
  return { ...before, lo, hi };
}

/** @returns {any[][]} all ways of taking one of each */
const product = (/** @type {any[][]} */ lists) => lists.reduce((/** @type {any[][]} */ all, list) => all.flatMap((items) => list.map((item) => [...items, item])), [[]]);

/** The largest a F(x) - b G(x') over the pairs of a cell, of some trees alone and without the bias; null if there is none. */
function trueMaximum(/** @type {Forest} */ forest, /** @type {any} */ cell, /** @type {number[]} */ places) {
  const { space, similarity, geometry, body, here, there, a } = forest;
  const pairs = space.features.map((feature, k) => {
    const [v, w] = [geometry.first[k], geometry.second[k]];
    const others = codesIn(feature, cell.lo[w], cell.hi[w]);
    return codesIn(feature, cell.lo[v], cell.hi[v]).flatMap((code) => others.filter((other) => related(feature, similarity[k], code, other)).map((other) => [code, other]));
  });
  const alone = Object.assign(Object.create(Object.getPrototypeOf(body)), body, { bias: [ZERO, ZERO], trees: places.map((t) => body.trees[t]) });
  /** @type {Map<string, Rational[]>} */
  const known = new Map();
  const scores = (/** @type {Rational[]} */ codes) => {
    const key = codes.map((code) => `${code.top} ${code.two}`).join();
    if (!known.has(key)) known.set(key, alone.evaluate(codes));
    return /** @type {Rational[]} */ (known.get(key));
  };
  const dot = (/** @type {Rational[]} */ alpha, /** @type {Rational[]} */ f) => alpha[0].times(f[0]).plus(alpha[1].times(f[1]));
  /** @type {Rational | null} */
  let most = null;
  for (const pair of product(pairs)) {
    const [x, other] = [0, 1].map((i) => pair.map((/** @type {Rational[]} */ codes) => codes[i]));
    most = largerOfMaxima(most, a.times(dot(here, scores(x))).minus(ONE.minus(a).times(dot(there, scores(other)))));
  }
  return most;
}

const boundOf = (/** @type {Forest} */ { geometry, shapes, first, second }, /** @type {any} */ cell, /** @type {number[][]} */ groups) =>
  groups.length === 0 ? maximumOfTrees(geometry, cell, shapes, first, second, clock) : maximumWithGroups(geometry, cell, shapes, first, second, groups, clock);

/** Trees into groups of at least two, and those that are left. */
function randomGroups(/** @type {number} */ count) {
  const places = Array.from({ length: count }, (_, t) => ({ t, key: random.below(1000) })).sort((p, q) => p.key - q.key).map(({ t }) => t);
  const size = whole(2, count);
  const groups = [places.slice(0, size)];
  if (count - size >= 2 && random.below(2) === 0) groups.push(places.splice(size));
  return { groups: groups.map((group) => group.sort((s, t) => s - t)), alone: places.slice(size) };
}

/** Compares bounds with all codes, of many forests and cells; returns how often it was sharper than without groups. */
function compare(/** @type {any[]} */ kinds, /** @type {(forest: Forest) => boolean} */ isExact, /** @type {number} */ rounds) {
  const counts = { sharper: 0, empty: 0, exact: 0, above: 0 };
  for (let n = 0; n < rounds; n++) {
    const forest = randomForest(Array.from({ length: whole(1, 2) }, () => random.pick(kinds)));
    const count = forest.body.trees.length;
    const all = [...forest.body.trees.keys()];
    const bias = forest.first.bias.plus(forest.second.bias);
    let cell = forest.geometry.root();
    // One forest, and cells that have some intervals in common: what was found before may be used again.
    for (let m = 0; m < 6; m++, cell = randomCell(forest, cell)) {
      const most = trueMaximum(forest, cell, all);
      const plain = boundOf(forest, cell, []);
      const together = boundOf(forest, cell, [all]);
      const { groups, alone } = randomGroups(count);
      const some = boundOf(forest, cell, groups);
      assert.equal(together === null, plain === null);
      assert.equal(some === null, plain === null);
      if (together === null || some === null || plain === null) {
        assert.equal(most, null);
        counts.empty += 1;
        continue;
      }
      assert.ok(together.atMost(some) && some.atMost(plain));
      // What is found of one line is not taken for another one's.
      const other = random.below(2) === 0 ? { ...forest, second: forest.none } : { ...forest, first: forest.none };
      assert.equal(`${boundOf(other, cell, groups)}`, `${boundOf({ ...other, shapes: shapesOf(forest.body, clock) }, cell, groups)}`);
      assert.ok(most === null || most.plus(bias).atMost(together), `${most?.plus(bias)} above ${together}`);
      if (together.less(plain)) counts.sharper += 1;
      if (!isExact(forest)) {
        counts.above += 1;
        continue;
      }
      counts.exact += 1;
      assert.equal(`${together}`, `${most?.plus(bias)}`);
      const parts = [...groups, ...alone.map((t) => [t])].map((places) => /** @type {Rational} */ (trueMaximum(forest, cell, places)));
      assert.equal(`${some}`, `${sum(parts).plus(bias)}`);
    }
  }
  return counts;
}

test('discrete features: a group has its true maximum, whatever the relations', () => {
  const counts = compare(KINDS.slice(0, 4), () => true, 120);
  assert.ok(counts.sharper > 100 && counts.empty > 10, JSON.stringify(counts));
});

test('continuous features: the true maximum over real codes, and near ends at most with "within"', () => {
  const counts = compare(KINDS, ({ similarity, space }) => similarity.every(({ kind }, k) => kind !== 'within' || space.features[k].discrete), 120);
  assert.ok(counts.sharper > 100 && counts.exact > 200 && counts.above > 50, JSON.stringify(counts));
});

test('deep trees are gone down without a stack that overflows', () => {
  const space = readSpace(json({ space: { features: [{ name: 'c', kind: 'continuous', lo: '0', hi: '10000' }], constraints: [] } }));
  const { similarity } = readSimilarity(json({ similarity: [SAME] }), space);
  const depth = 5000;
  const chain = [...Array.from({ length: depth }, (_, i) => [[0, `${i}`, 2 * i + 2], `${i}`]).flat(), `${depth}`];
  const body = /** @type {any} */ (readBody(json({ kind: 'trees', bias: '0', trees: [chain, chain] }), { space, scores: null }));
  const geometry = new Geometry(space, similarity);
  const form = treeFormOf(body, ONE);
  const none = treeFormOf(body, ZERO);
  const bound = maximumWithGroups(geometry, geometry.root(), shapesOf(body, clock), form, none, [[0, 1]], clock);
  assert.equal(`${bound}`, `${2 * depth}`);
});

const STEP = { name: 'i', kind: 'integer', lo: '0', hi: '3' };
/** Two trees that go up and down at the same place: 1 up to 1, 3 above. */
const TREES = { kind: 'trees', bias: '0', trees: [[[0, '1', 2], '0', '3'], [[0, '1', 2], '1', '0'], ['7']] };
const HEAD = { labels: null, zero: 'lower', link: null };
const LEAF = ['trees', '1/2', [[0, 1]]];

/** @param {any} claim */
function answerOf({ features = [STEP], similarity = [FREE], property = { kind: 'score', delta: '2' }, body = TREES, head = HEAD, nodes, clearance = '0' }) {
  const lines = [
    { 'likewise-certificate': 1, kind: 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
    { space: { features, constraints: [] } },
    { similarity },
    { property },
    { model: { family: 'f', body, head, rounding: null } },
    ...nodes,
    { end: { nodes: nodes.length, clearance, covers_floating_point: false, sha256: '' } },
  ];
  const { answer, reason } = checkCertificate(writeCertificate(lines.map(json)));
  return answer === 'accepted' ? answer : `${answer}: ${reason}`;
}

test('a leaf that holds thanks to its groups alone', () => {
  assert.equal(answerOf({ nodes: [LEAF] }), 'accepted');
  assert.equal(answerOf({ nodes: [['trees', '1/2', [[0, 1, 2]]]] }), 'accepted');
  assert.match(answerOf({ nodes: [['trees', '1/2']] }), /^rejected: .*does not separate/);
  // A group that does not have both of them is no better than none.
  assert.match(answerOf({ nodes: [['trees', '1/2', [[0, 2]]]] }), /^rejected: .*does not separate/);
  const score = (/** @type {string} */ delta) => ({ kind: 'score', delta });
  assert.equal(answerOf({ property: score('4'), nodes: [['trees', '1/2']] }), 'accepted');
  assert.match(answerOf({ property: score('1'), nodes: [LEAF] }), /^rejected: .*does not separate/);
  assert.match(answerOf({ property: score(`${2n ** 61n - 1n}/${2n ** 60n}`), nodes: [LEAF] }), /^rejected: .*does not separate/);
  // Its clearance is T - B = 2 - 1.
  assert.equal(answerOf({ property: score('4'), nodes: [LEAF], clearance: '1' }), 'accepted');
  assert.match(answerOf({ property: score('4'), nodes: [LEAF], clearance: '1025/1024' }), /^rejected/);
});

test('groups with each kind of relation, one unit above and below', () => {
  const missing = { ...STEP, missing: true };
  const other = { name: 'k', kind: 'categorical', levels: ['a', 'b', 'c'] };
  const withMissing = { ...TREES, trees: [[[0, '1', 2, 'right'], '0', '3'], [[0, '1', 2, 'left'], '1', '0']] };
  const levels = { ...TREES, trees: [[[0, [0], 2], '0', '3'], [[0, [0, 1], 2], '1', '0'], [[0, [2], 2], '0', '-1']] };
  const all = ['trees', '1/2', [[0, 1, 2]]];
  for (const [claim, delta] of /** @type {[any, number][]} */ ([
    [{ similarity: [SAME], nodes: [LEAF] }, 0],
    [{ similarity: [{ kind: 'within', tolerance: '1' }], nodes: [LEAF] }, 2],
    [{ similarity: [{ kind: 'between', low: '-2', high: '-1' }], nodes: [LEAF] }, 2],
    [{ similarity: [{ kind: 'between', low: '1', high: '2' }], nodes: [LEAF] }, 0],
    // Numbers up to 1 have 1, larger ones 3, missing ones 4.
    [{ features: [missing], body: withMissing, nodes: [LEAF] }, 3],
    [{ features: [missing], similarity: [{ kind: 'within', tolerance: '3' }], body: withMissing, nodes: [LEAF] }, 2],
    // a, b and c have 0, 3, 3 by the first tree, 1, 1, 0 by the second, and -1, -1, 0 by the third.
    [{ features: [other], body: levels, nodes: [all] }, 3],
    [{ features: [other], similarity: [{ kind: 'pairs', allowed: [[1, 2]] }], body: levels, nodes: [all] }, 0],
  ])) {
    assert.equal(answerOf({ ...claim, property: { kind: 'score', delta: `${delta}` } }), 'accepted', JSON.stringify(claim));
    if (delta > 0) assert.match(answerOf({ ...claim, property: { kind: 'score', delta: `${delta - 1}` } }), /^rejected/, JSON.stringify(claim));
  }
});

/** What is no array of groups of three trees, and what a checker says of it. */
const MALFORMED = /** @type {[any, RegExp][]} */ ([
  [null, /not an array/],
  [0, /not an array/],
  [{}, /not an array/],
  [[], /no group/],
  [[0, 1], /not an array/],
  [[[]], /a group of 0/],
  [[[0]], /a group of 1/],
  [[[0, 1], [2]], /a group of 1/],
  [[[0, 1, 2, 3, 4]], /a group of 5/],
  [[[0, 3]], /from 0 to 2/],
  [[[-1, 0]], /from 0 to 2/],
  [[[1, 0]], /not strictly increasing/],
  [[[0, 0]], /not strictly increasing/],
  [[[0, 1], [1, 2]], /in two groups/],
  [[[0, 1], [0, 1]], /in two groups/],
  [[['0', '1']], /not an int/],
  [[[0, true]], /not an int/],
  [[[0, null]], /not an int/],
]);

test('malformed groups are refused, also where the cell holds no pair', () => {
  const near = [{ kind: 'within', tolerance: '1' }];
  const nodesWith = (/** @type {any} */ leaf) => [['split', 0, '0'], ['split', 1, '1'], LEAF, leaf, LEAF];
  assert.equal(answerOf({ similarity: near, nodes: nodesWith(LEAF) }), 'accepted');
  for (const [groups, reason] of MALFORMED) {
    const leaf = ['trees', '1/2', groups];
    assert.throws(() => readGroups(json(groups), 3), (error) => error instanceof Rejection && reason.test(error.message), JSON.stringify(groups));
    assert.match(answerOf({ property: { kind: 'score', delta: '9' }, nodes: [leaf] }), reason);
    assert.match(answerOf({ similarity: near, nodes: nodesWith(leaf) }), reason);
  }
  assert.match(answerOf({ nodes: [[...LEAF, []]] }), /^rejected: .*4 entries/);
  assert.match(answerOf({ nodes: [[...LEAF, [[0, 1]]]] }), /^rejected: .*4 entries/);
  assert.match(answerOf({ nodes: [['trees']] }), /^rejected: .*1 entries/);
  // A place that is a number with a fraction is no JSON of a certificate at all.
  assert.throws(() => parseJson('[[0, 1.5]]'), Rejection);
  assert.deepEqual(readGroups(json([[1, 2]]), 3), [[1, 2]]);
  assert.deepEqual(readGroups(json([[2, 3], [0, 1]]), 4), [[2, 3], [0, 1]]);
});

test('groups for a pair of classes', () => {
  const trees = [[[0, '1', 2], ['0', '0'], ['0', '-3']], [[0, '1', 2], ['1', '0'], ['0', '0']]];
  const claim = { body: { kind: 'trees', bias: ['0', '0'], trees }, head: { labels: ['a', 'b'], classes: 'argmax', link: null } };
  const decision = (/** @type {string} */ margin) => ({ kind: 'decision', margin, class: null });
  const leaf = ['trees', [0, 0, '1/2'], [[0, 1]]];
  // The difference of both scores is 1 up to 1 and 3 above, half of 3 - 1 is the margin, and one of the conditions is strict.
  assert.equal(answerOf({ ...claim, property: decision('1'), nodes: [['cases'], leaf] }), 'accepted');
  assert.match(answerOf({ ...claim, property: decision('1'), nodes: [['cases'], leaf.slice(0, 2)] }), /^rejected: .*does not separate/);
  assert.match(answerOf({ ...claim, property: decision('1023/1024'), nodes: [['cases'], leaf] }), /^rejected: .*does not separate/);
});

test('groups in lines of parts of a sum', () => {
  const stump = { kind: 'trees', bias: '0', trees: [[[0, '1', 2], '0', '1']] };
  const body = { kind: 'sum', bias: '0', parts: [{ weight: '1', link: null, body: TREES }, { weight: '0', link: null, body: stump }] };
  const leafWith = (/** @type {any[]} */ ...line) => [['sum', '1/2', [[null, null, [line]], null]]];
  assert.equal(answerOf({ body, nodes: leafWith('1', 'trees', [[0, 1]]) }), 'accepted');
  assert.match(answerOf({ body, nodes: leafWith('1', 'trees') }), /^rejected: .*does not separate/);
  assert.match(answerOf({ body, nodes: leafWith('1023/1024', 'trees', [[0, 1]]) }), /^rejected: .*does not separate/);
  assert.match(answerOf({ body, nodes: leafWith('1', 'trees', [[0, 1]], []) }), /^rejected: .*4 entries/);
  for (const [groups, reason] of MALFORMED) assert.match(answerOf({ body, nodes: leafWith('9', 'trees', groups) }), reason);
  // The places are those of the part's own trees.
  const both = { ...body, parts: [{ weight: '1', link: null, body: stump }, { weight: '1', link: null, body: TREES }] };
  const parts = [[null, null, [['1/2', 'trees']]], [null, null, [['1', 'trees', [[0, 1]]]]]];
  assert.equal(answerOf({ body: both, property: { kind: 'score', delta: '3' }, nodes: [['sum', '1/2', parts]] }), 'accepted');
  const swapped = [[null, null, [['1', 'trees', [[0, 1]]]]], parts[1]];
  assert.match(answerOf({ body: both, property: { kind: 'score', delta: '9' }, nodes: [['sum', '1/2', swapped]] }), /^rejected: .*not from 0 to 0/);
});

test('groups in lines of inner trees, and none for outer ones', () => {
  const body = { kind: 'nested', inner: [TREES], outer: { kind: 'trees', bias: '0', trees: [[[0, '9', 2], '0', '1'], [[0, '9', 2], '0', '1']] } };
  const line = (/** @type {string} */ bound) => [bound, 'trees', [[0, 1]]];
  const limits = [[line('-8'), line('10'), line('-8'), line('10'), null, null]];
  assert.equal(answerOf({ body, nodes: [['nested', '1/2', limits]] }), 'accepted');
  assert.match(answerOf({ body, nodes: [['nested', '1/2', [[['-8', 'trees'], ...limits[0].slice(1), null].slice(0, 6)]]] }), /^rejected/);
  assert.match(answerOf({ body, nodes: [['nested', '1/2', limits, [[0, 1]]]] }), /^rejected/);
});
