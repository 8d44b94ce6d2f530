/** Whom a proof is about (section 6): narrowing, somebody and other at the end, relations that move. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { codesLeft, passesOf } from '../src/claim/narrowing.js';
import { readSimilarity } from '../src/claim/similarity.js';
import { readSpace } from '../src/claim/space.js';
import { firstDoubleFrom, lastDoubleTo, nextDouble } from '../src/exact/doubles.js';
import { Rational } from '../src/exact/rational.js';
import { parseJson } from '../src/file/json.js';
import { Clock } from '../src/limits.js';
import { isAsExpected, reportLines } from '../src/report.js';
import { Random } from '../tools/mutate.js';
import { writeCertificate } from '../tools/seal.js';

const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const random = new Random(6);
const whole = (/** @type {number} */ lo, /** @type {number} */ hi) => lo + random.below(hi - lo + 1);

const SAME = { kind: 'same' };
const FREE = { kind: 'free' };
const between = (/** @type {string} */ low, /** @type {string} */ high) => ({ kind: 'between', low, high });
const continuous = (/** @type {string} */ lo, /** @type {string} */ hi, name = 'c') => ({ name, kind: 'continuous', lo, hi });
const integer = (/** @type {string} */ lo, /** @type {string} */ hi, name = 'i') => ({ name, kind: 'integer', lo, hi });
const levels = (/** @type {number} */ count, kind = 'categorical', name = 'k') => ({ name, kind, levels: Array.from({ length: count }, (_, i) => ({ number: `${i}` })) });
const constraint = (/** @type {any[]} */ terms, /** @type {string} */ bound) => ({ text: '', terms, bound });

/**
 * A proof by `independent` about a constant score: whether it is accepted is decided by whom it is about.
 * @typedef {{features: any[], constraints?: any[], similarity?: any[], distance?: any, end?: any, nodes?: any[]}} Parts
 * @param {Parts} parts
 */
function reportOf({ features, constraints = [], similarity = features.map(() => SAME), distance, end = {}, nodes = [['independent']] }) {
  const lines = [
    { 'likewise-certificate': 1, kind: 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
    { space: { features, constraints } },
    distance === undefined ? { similarity } : { similarity, distance },
    { property: { kind: 'score', delta: '1' } },
    { model: { family: 'f', body: { kind: 'trees', bias: '0', trees: [['0']] }, head: { labels: null, zero: 'lower', link: null }, rounding: null } },
    ...nodes,
    { end: { nodes: nodes.length, clearance: '0', covers_floating_point: false, ...end, sha256: '' } },
  ];
  return checkCertificate(writeCertificate(lines.map(json)));
}

/**
 * @param {Parts} parts
 * @param {boolean} isShown
 */
function assertAccepted(parts, isShown) {
  const report = reportOf(parts);
  assert.equal(report.answer, isShown ? 'accepted' : 'rejected', `${report.reason} ${JSON.stringify(parts).slice(0, 500)}`);
  if (!isShown) assert.match(`${report.reason}`, /may be vacuous/);
}

/**
 * @param {Parts} parts
 * @param {RegExp} reason
 */
function assertRejected(parts, reason) {
  const report = reportOf(parts);
  assert.equal(report.answer, 'rejected', JSON.stringify(parts).slice(0, 500));
  assert.match(report.reason ?? '', reason);
}

const NOBODY = /narrowing: nobody satisfies/;
const NO_PAIR = /narrowing: no two individuals differ/;

test('constraints that contradict each other, over each kind of feature', () => {
  for (const feature of [continuous('0', '9'), integer('0', '9'), levels(10), levels(10, 'ordinal')]) {
    const features = [feature];
    const atMost = (/** @type {string} */ bound) => constraint([[0, '1']], bound);
    const atLeast = (/** @type {string} */ bound) => constraint([[0, '-1']], `-${bound}`);
    assertAccepted({ features, constraints: [atMost('4'), atLeast('4')] }, true);
    assertRejected({ features, constraints: [atMost('4'), atLeast('5')] }, NOBODY);
    assertRejected({ features, constraints: [atLeast('5'), atMost('4')] }, NOBODY);
    assertRejected({ features, constraints: [atLeast('10')] }, NOBODY);
    assertRejected({ features, constraints: [atMost('-1')] }, NOBODY);
    // Between two whole numbers there are doubles, but no other codes.
    const inside = { features, constraints: [atMost('17/4'), atLeast('33/8')] };
    if (feature.kind === 'continuous') assertAccepted(inside, true);
    else assertRejected(inside, NOBODY);
  }
});

test('arrays, two features, truth values', () => {
  const features = [levels(4), { name: 't', kind: 'categorical', levels: [false, true] }];
  const even = constraint([[0, ['0', '1', '0', '1']]], '0');
  assertAccepted({ features, constraints: [even] }, true);
  assertAccepted({ features, constraints: [even, constraint([[0, ['1', '1', '0', '1']]], '1/2')] }, true);
  assertRejected({ features, constraints: [even, constraint([[0, ['1', '0', '1', '0']]], '1/2')] }, NOBODY);
  // k >= 2 or t; not t; k <= 1: the first drops nothing until the others have dropped something.
  const either = constraint([[0, ['1', '1', '0', '0']], [1, '-1']], '0');
  const not = constraint([[1, '1']], '0');
  const small = constraint([[0, '1']], '1');
  assertRejected({ features, constraints: [either, not, small] }, NOBODY);
  assertAccepted({ features, constraints: [either, not] }, true);
  assertAccepted({ features, constraints: [either, small] }, true);
  // 2 i + 2 j = 9: whole numbers are dropped from both ends until none is left.
  const pair = (/** @type {string} */ hi) => [integer('0', hi), integer('0', hi, 'j')];
  const sum = (/** @type {string} */ i, /** @type {string} */ j, /** @type {string} */ bound) => constraint([[0, i], [1, j]], bound);
  assertRejected({ features: pair('9'), constraints: [sum('2', '2', '9'), sum('-2', '-2', '-9')] }, NOBODY);
  // i + j = 1 and i = j: of each feature alone no code is out of question, and nothing is seen.
  assertAccepted({ features: pair('1'), constraints: [sum('1', '1', '1'), sum('-1', '-1', '-1'), sum('1', '-1', '0'), sum('-1', '1', '0')] }, false);
});

test('a coefficient 0 drops nothing, and no term at all is a sum of 0', () => {
  for (const feature of [continuous('-1', '1'), integer('-1', '1'), levels(3)]) {
    for (const terms of [[], [[0, '0']], ...(feature.kind === 'categorical' ? [[[0, ['0', '0', '0']]]] : [])]) {
      assertAccepted({ features: [feature], constraints: [constraint(terms, '0')] }, true);
      assertRejected({ features: [feature], constraints: [constraint(terms, '-0x1p-1074')] }, NOBODY);
    }
  }
});

test('ends of intervals are doubles', () => {
  const [tenth, third] = ['0x1.999999999999ap-4', '0x1.5555555555555p-2']; // above 1/10, below 1/3
  const features = [continuous('1/10', '1/3')];
  for (const [terms, bound, isSomebody] of /** @type {[any[], string, boolean][]} */ ([
    [[[0, '1']], '1/10', false],
    [[[0, '1']], tenth, true],
    [[[0, '-1']], '-1/3', false],
    [[[0, '-1']], `-${third}`, true],
    [[[0, '-3/7']], '-1/7', false],
  ])) {
    const parts = { features, constraints: [constraint(terms, bound)] };
    if (isSomebody) assertAccepted(parts, true);
    else assertRejected(parts, NOBODY);
  }
  // c <= 1/3 leaves the double below it, and c >= 1/3 has no room then; the same the other way round.
  const both = [constraint([[0, '1']], '1/3'), constraint([[0, '-1']], '-1/3')];
  assertRejected({ features: [continuous('0', '1')], constraints: both }, NOBODY);
  assertRejected({ features: [continuous('0', '1')], constraints: [both[1], both[0]] }, NOBODY);
  assertAccepted({ features: [continuous('0', '1')], constraints: [both[0], constraint([[0, '-1']], `-${third}`)] }, true);
  // Zero is between the least doubles, and the largest double is an end as well.
  const negative = constraint([[0, '1']], '-0x1p-1075');
  assertRejected({ features: [continuous('-1', '1')], constraints: [negative, constraint([[0, '-1']], '0x1.8p-1075')] }, NOBODY);
  assertAccepted({ features: [continuous('-1', '1')], constraints: [negative, constraint([[0, '-1']], '0x1p-1074')] }, true);
  const huge = '0x1p+1024';
  assertAccepted({ features: [continuous(`-${huge}`, huge)], constraints: [constraint([[0, '-1']], '-0x1.fffffffffffffp+1023')] }, true);
  assertRejected({ features: [continuous(`-${huge}`, huge)], constraints: [constraint([[0, '-1']], '-0x1.fffffffffffff8p+1023')] }, NOBODY);
});

test('the doubles next to a number', () => {
  for (let n = 0; n < 300; n++) {
    const value = Rational.fraction(BigInt(whole(-1000, 1000)), BigInt(whole(1, 1000))).scaled(whole(-1090, 1010));
    const above = /** @type {Rational} */ (firstDoubleFrom(value));
    const below = /** @type {Rational} */ (lastDoubleTo(value));
    assert.ok(below.atMost(value) && value.atMost(above));
    assert.ok(below.equals(above) ? below.equals(value) : nextDouble(below)?.equals(above));
  }
  const huge = Rational.dyadic(1n, 1024);
  assert.equal(firstDoubleFrom(huge), null);
  assert.equal(lastDoubleTo(huge.negated()), null);
  assert.ok(lastDoubleTo(huge)?.equals(/** @type {Rational} */ (firstDoubleFrom(huge.negated())).negated()));
});

/** i < j and j < i: every pass takes two codes from each side of both. */
const chase = (/** @type {number} */ most) => ({
  features: [integer('0', `${most}`), integer('0', `${most}`, 'j')],
  constraints: [constraint([[0, '1'], [1, '-1']], '-1'), constraint([[0, '-1'], [1, '1']], '-1')],
});

test('sixteen passes, or fewer where there are many entries', () => {
  assertRejected(chase(62), NOBODY);
  assertAccepted(chase(63), false);
  // 4 + 32,768 entries: seven passes.
  const wide = (/** @type {number} */ most) => {
    const { features, constraints } = chase(most);
    return { features: [...features, levels(2 ** 15)], constraints: [...constraints, constraint([[2, '0']], '0')] };
  };
  assertRejected(wide(26), NOBODY);
  assertAccepted(wide(27), false);
  const space = (/** @type {any} */ parts) => readSpace(json({ space: parts }));
  assert.equal(passesOf(space(wide(26))), 7);
  assert.equal(passesOf(space(chase(26))), 16);
  assert.equal(passesOf(space({ features: [integer('0', '1')], constraints: [constraint([], '0')] })), 16);
});

test('2^18 entries are one pass, and one more are none', () => {
  const features = [levels(2 ** 16), integer('0', '1')];
  const full = Array.from({ length: 4 }, () => constraint([[0, '0']], '0'));
  const impossible = constraint([], '-1');
  assertRejected({ features, constraints: [...full, impossible] }, NOBODY);
  assertAccepted({ features, constraints: [...full, constraint([[1, '0']], '0'), impossible] }, false);
});

/** All codes of a feature of whole codes, or of positions. */
const codesOf = (/** @type {any} */ { lo, hi, levels: own }) =>
  own === undefined ? Array.from({ length: Number(hi) - Number(lo) + 1 }, (_, i) => Number(lo) + i) : own.map((/** @type {any} */ _, /** @type {number} */ i) => i);

/** The same by sets of codes, one after the other, as the specification says it; numbers are small multiples of 1. */
function nobodyIsLeft(/** @type {any[]} */ features, /** @type {any[]} */ constraints, /** @type {any[]} */ similarity) {
  const kept = features.map(codesOf);
  const valueOf = (/** @type {any} */ amount, /** @type {number} */ code) => (Array.isArray(amount) ? Number(amount[code]) : Number(amount) * code);
  for (let pass = 0; pass < 16; pass++) {
    for (const { terms, bound } of constraints) {
      const least = terms.map((/** @type {any} */ [k, amount]) => Math.min(...kept[k].map((/** @type {number} */ code) => valueOf(amount, code))));
      const room = Number(bound) - least.reduce((/** @type {number} */ total, /** @type {number} */ value) => total + value, 0);
      if (room < 0) return true;
      terms.forEach((/** @type {any} */ [k, amount], /** @type {number} */ n) => {
        kept[k] = kept[k].filter((/** @type {number} */ code) => valueOf(amount, code) <= least[n] + room);
      });
    }
  }
  return similarity.some(({ kind, low, high }, k) => {
    const [lo, hi] = [Math.min(...kept[k]), Math.max(...kept[k])];
    return kind === 'between' && (hi - lo < Number(low) || lo - hi > Number(high));
  });
}

/** Whether there is a pair, by looking at all. */
function hasPair(/** @type {any[]} */ features, /** @type {any[]} */ constraints, /** @type {any[]} */ similarity) {
  /** @type {number[][]} */
  let people = [[]];
  for (const feature of features) people = people.flatMap((codes) => codesOf(feature).map((/** @type {number} */ code) => [...codes, code]));
  const valid = people.filter((codes) =>
    constraints.every(({ terms, bound }) => {
      const value = terms.reduce((/** @type {number} */ total, /** @type {any} */ [k, amount]) => total + (Array.isArray(amount) ? Number(amount[codes[k]]) : Number(amount) * codes[k]), 0);
      return value <= Number(bound);
    }),
  );
  const similar = (/** @type {number[]} */ x, /** @type {number[]} */ other) =>
    similarity.every(({ kind, low, high }, k) => (kind === 'same' ? x[k] === other[k] : Number(low) <= other[k] - x[k] && other[k] - x[k] <= Number(high)));
  return valid.some((x) => valid.some((other) => similar(x, other)));
}

test('narrowing is what the specification says of sets of codes, and drops nobody', () => {
  const features = [integer('-2', '3'), integer('0', '4', 'j'), levels(4, 'ordinal'), levels(3, 'categorical', 'l')];
  const counts = new Map();
  for (let n = 0; n < 1500; n++) {
    const amount = (/** @type {number} */ k) => (k < 2 || random.below(3) === 0 ? `${whole(-2, 2)}` : codesOf(features[k]).map(() => `${whole(-2, 2)}`));
    const constraints = Array.from({ length: whole(1, 4) }, () =>
      constraint(features.flatMap((_, k) => (random.below(2) === 0 ? [] : [[k, amount(k)]])), `${whole(-5, 1)}`),
    );
    const similarity = features.map((_, k) => {
      const low = whole(-4, 3);
      return k < 3 && random.below(2) === 0 ? between(`${low}`, `${low + whole(0, 2)}`) : SAME;
    });
    const space = readSpace(json({ space: { features, constraints } }));
    const claim = { space, ...readSimilarity(json({ similarity }), space) };
    let isNobody = false;
    try {
      codesLeft(claim, new Clock(60));
    } catch {
      isNobody = true;
    }
    assert.equal(isNobody, nobodyIsLeft(features, constraints, similarity), JSON.stringify({ constraints, similarity }));
    const exists = hasPair(features, constraints, similarity);
    assert.ok(!(isNobody && exists), JSON.stringify({ constraints, similarity }));
    const key = isNobody ? 'seen' : exists ? 'somebody' : 'unseen';
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const key of ['seen', 'somebody', 'unseen']) assert.ok(counts.get(key) >= 10, `${key}: ${counts.get(key)}`);
});

test('somebody at the end', () => {
  const features = [integer('0', '9'), continuous('0', '1')];
  const claim = { features, constraints: [constraint([[0, '1'], [1, '1']], '3')], similarity: [FREE, SAME] };
  assertAccepted(claim, true);
  assertAccepted({ ...claim, constraints: [] }, true);
  assertAccepted({ ...claim, end: { somebody: ['3', '0'] } }, true);
  assertAccepted({ ...claim, end: { somebody: ['2', '0x1p-1'] } }, true);
  assertRejected({ ...claim, end: { somebody: ['3', '0x1p-1074'] } }, /somebody breaks a constraint/);
  for (const somebody of [['10', '0'], ['-1', '0'], ['1/2', '0'], ['0', '1/3'], ['0'], ['0', '0', '0'], [], null, '0', [0, 0]]) {
    assertRejected({ ...claim, end: { somebody } }, /./);
    assertRejected({ ...claim, constraints: [], end: { somebody } }, /./);
    assertRejected({ ...claim, end: { somebody: ['0', '0'], other: somebody } }, /./);
  }
  assertRejected({ ...claim, end: { somebody: ['0', '0'], anybody: ['0', '0'] } }, /./);
});

test('somebody and other are a pair, in this order', () => {
  const features = [integer('0', '9'), continuous('0', '1')];
  const claim = { features, constraints: [constraint([[0, '1'], [1, '1']], '3')], similarity: [between('1', '2'), { kind: 'within', tolerance: '1/2' }] };
  assertAccepted(claim, false);
  assertAccepted({ ...claim, end: { somebody: ['0', '0'] } }, false);
  assertAccepted({ ...claim, end: { somebody: ['0', '0'], other: ['1', '0'] } }, true);
  assertAccepted({ ...claim, end: { somebody: ['1', '0x1p-1'], other: ['3', '0'] } }, true);
  assertRejected({ ...claim, end: { somebody: ['1', '0'], other: ['0', '0'] } }, /not similar/);
  assertRejected({ ...claim, end: { somebody: ['0', '0'], other: ['0', '0'] } }, /not similar/);
  assertRejected({ ...claim, end: { somebody: ['0', '0'], other: ['3', '0'] } }, /not similar/);
  assertRejected({ ...claim, end: { somebody: ['0', '0'], other: ['1', '0x1.8p-1'] } }, /not similar/);
  assertRejected({ ...claim, end: { somebody: ['3', '0'], other: ['4', '0'] } }, /other breaks a constraint/);
  assertRejected({ ...claim, end: { somebody: ['4', '0'], other: ['3', '0'] } }, /somebody breaks a constraint/);
  assertRejected({ ...claim, end: { other: ['1', '0'] } }, /"other" without "somebody"/);
  assertRejected({ ...claim, constraints: [], similarity: [SAME, SAME], end: { other: ['1', '0'] } }, /"other" without "somebody"/);
  // Also where nothing moves, what stands there has to be right.
  const still = { features, similarity: [SAME, FREE] };
  assertAccepted({ ...still, end: { somebody: ['1', '0'], other: ['1', '1'] } }, true);
  assertRejected({ ...still, end: { somebody: ['1', '0'], other: ['2', '1'] } }, /not similar/);
  // A distance counts.
  const distance = { power: 1, terms: [{ feature: 0, each: '1' }], forms: [], bound: '1' };
  const apart = { features, similarity: [between('1', '2'), SAME], distance };
  assertAccepted({ ...apart, end: { somebody: ['1', '0'], other: ['2', '0'] } }, true);
  assertRejected({ ...apart, end: { somebody: ['1', '0'], other: ['3', '0'] } }, /not similar/);
});

test('a witness has neither', () => {
  const head = { 'likewise-certificate': 1, kind: 'witness', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } };
  const body = { kind: 'trees', bias: '0', trees: [[[0, '1', 2], '0', '3']] };
  const answerWith = (/** @type {any} */ end) => {
    const lines = [
      head,
      { space: { features: [integer('0', '9')], constraints: [] } },
      { similarity: [FREE] },
      { property: { kind: 'score', delta: '1' } },
      { model: { family: 'f', body, head: { labels: null, zero: 'lower', link: null }, rounding: null } },
      { witness: { x: ['2'], other: ['1'], scores: ['3', '0'] } },
      { end: { ...end, sha256: '' } },
    ];
    return checkCertificate(writeCertificate(lines.map(json))).answer;
  };
  assert.equal(answerWith({}), 'accepted');
  assert.equal(answerWith({ somebody: ['2'] }), 'rejected');
  assert.equal(answerWith({ somebody: ['2'], other: ['1'] }), 'rejected');
});

test('relations that move: integer and ordinal ones without constraints and distance show somebody', () => {
  const features = [integer('0', '3'), levels(4, 'ordinal'), continuous('0', '3')];
  const similar = (/** @type {any} */ i, /** @type {any} */ k, /** @type {any} */ c = SAME) => ({ features, similarity: [i, k, c] });
  assertAccepted(similar(between('1', '2'), between('-3', '-1')), true);
  assertAccepted(similar(between('3', '9'), between('-9', '-3'), FREE), true);
  assertAccepted(similar(between('0', '9'), between('-9', '0'), between('0', '9')), true);
  assertRejected(similar(between('4', '9'), SAME), NO_PAIR);
  assertRejected(similar(between('-9', '-4'), SAME), NO_PAIR);
  assertRejected(similar(SAME, between('4', '4')), NO_PAIR);
  assertRejected(similar(SAME, between('-4', '-4')), NO_PAIR);
  // A continuous one that moves needs a pair: doubles may not be so far apart.
  assertAccepted(similar(SAME, SAME, between('1', '2')), false);
  assertAccepted({ ...similar(SAME, SAME, between('1', '2')), end: { somebody: ['0', '0', '0'] } }, false);
  assertAccepted({ ...similar(SAME, SAME, between('1', '2')), end: { somebody: ['0', '0', '0'], other: ['0', '0', '1'] } }, true);
  assertAccepted(similar(between('1', '2'), SAME, between('-2', '-1')), false);
  assertRejected(similar(SAME, SAME, between('13/4', '4')), NO_PAIR);
  assertRejected(similar(between('1', '2'), SAME, between('-4', '-13/4')), NO_PAIR);
  // Constraints, or a distance: a pair has to be shown.
  const moving = similar(between('1', '2'), SAME);
  const distance = { power: 1, terms: [{ feature: 0, each: '1' }], forms: [], bound: '0' };
  const constraints = [constraint([[0, '1']], '2')];
  assertAccepted({ ...moving, distance }, false);
  assertAccepted({ ...moving, distance, end: { somebody: ['0', '0', '0'] } }, false);
  assertAccepted({ ...similar(FREE, SAME), distance }, true);
  assertAccepted({ ...moving, constraints }, false);
  assertAccepted({ ...moving, constraints, end: { somebody: ['0', '0', '0'] } }, false);
  assertAccepted({ ...moving, constraints, end: { somebody: ['0', '0', '0'], other: ['2', '0', '0'] } }, true);
});

test('what narrowing leaves is too narrow for a relation that moves', () => {
  const features = [integer('0', '9'), continuous('1/10', '1')];
  const few = [constraint([[0, '1']], '5/2')];
  assertAccepted({ features, constraints: few, similarity: [between('2', '3'), SAME] }, false);
  assertRejected({ features, constraints: few, similarity: [between('3', '3'), SAME] }, NO_PAIR);
  assertRejected({ features, constraints: few, similarity: [between('3', '3'), SAME], end: { somebody: ['0', '1'] } }, NO_PAIR);
  const levelsOnly = [levels(5, 'ordinal')];
  const middle = [constraint([[0, ['1', '0', '1', '0', '1']]], '0')];
  assertAccepted({ features: levelsOnly, constraints: middle, similarity: [between('1', '2')] }, false);
  // 1 and 3 are kept: no two of them are one apart, which narrowing does not see, and none three, which it does.
  assertAccepted({ features: levelsOnly, constraints: middle, similarity: [between('1', '1')] }, false);
  assertRejected({ features: levelsOnly, constraints: middle, similarity: [between('3', '3')] }, NO_PAIR);
  assertRejected({ features: levelsOnly, constraints: middle, similarity: [between('-4', '-3')] }, NO_PAIR);
  // The least double of [1/10, 1] is above 1/10.
  assertRejected({ features, similarity: [SAME, between('9/10', '2')] }, NO_PAIR);
  assertRejected({ features, similarity: [SAME, between('-2', '-9/10')] }, NO_PAIR);
  assertAccepted({ features, similarity: [SAME, between('89/100', '9/10')] }, false);
});

test('features that change along do not move: everybody is similar to themselves', () => {
  const features = [levels(2), integer('0', '3')];
  const along = { kind: 'along', with: 0, bands: [[0, 1, '10', '10'], [1, 0, '-10', '-10']], else: '0' };
  const nodes = [['independent'], ['independent'], ['independent']];
  const claim = { features, similarity: [FREE, along], nodes };
  assertAccepted(claim, true);
  const constraints = [constraint([[1, '1']], '2')];
  assertAccepted({ ...claim, constraints }, true);
  assertAccepted({ ...claim, constraints, end: { somebody: ['0', '1'] } }, true);
  assertRejected({ ...claim, end: { somebody: ['0', '0'], other: ['1', '3'] } }, /not similar/);
  assertAccepted({ ...claim, end: { somebody: ['0', '0'], other: ['0', '0'] } }, true);
});

test('what is missing is left aside', () => {
  const features = [{ ...integer('0', '3'), missing: true }, { ...continuous('0', '1'), missing: true }, integer('0', '3', 'j')];
  const similarity = [{ kind: 'within', tolerance: '1' }, FREE, SAME];
  const constraints = [constraint([[2, '1']], '2')];
  assertAccepted({ features, similarity, constraints, end: { somebody: ['4', '0x1.0000000000001p+0', '2'] } }, true);
  assertRejected({ features, similarity, constraints, end: { somebody: ['4', '0', '2'], other: ['3', '0', '2'] } }, /not similar/);
});
