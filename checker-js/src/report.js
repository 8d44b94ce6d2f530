/** What a checker says (section 13): the claim in words, from the data alone, and what was not covered. */

import { ONE, Rational, ZERO } from './exact/rational.js';
import { isOneWay } from './claim/similarity.js';
import { positionOf } from './claim/space.js';
import { relationWords } from './relation-words.js';
import { counted, cut, levelWords, list, printable, quoted, shown, SHOWN } from './values.js';

/**
 * @typedef {import('./check.js').Report} Report
 * @typedef {import('./claim/claim.js').Claim} Claim
 * @typedef {import('./claim/distance.js').Distance} Distance
 * @typedef {import('./claim/rate.js').Rate} Rate
 * @typedef {import('./claim/space.js').Feature} Feature
 */

/**
 * @param {Report} report
 * @param {{full?: boolean}} [options]
 * @returns {string[]} lines of text
 */
export function reportLines(report, { full = false } = {}) {
  const lines = report.claim === null ? [] : claimLines(report.claim, report.kind, full);
  if (report.answer === 'unreadable') return [`UNREADABLE: ${report.reason}`];
  if (report.answer === 'unfinished') return [...lines, `NOT FINISHED at line ${report.line}: ${report.reason}`];
  if (report.answer === 'rejected') return [...lines, `REJECTED at line ${report.line}: ${report.reason}`];
  lines.push(`ACCEPTED: the ${report.kind} holds, in exact arithmetic`);
  if (report.kind === 'witness') lines.push('so the claim is FALSE: a pair of similar individuals breaks it');
  if (report.pair !== null && report.claim !== null) lines.push(...pairLines(report.pair, report.claim, full));
  if (report.compared.length > 0) lines.push(`as was asked for: the lines ${report.compared.join(', ')}`);
  lines.push(`rules used: ${report.packs.join(', ')}`);
  if (report.kind === 'proof' && report.claim !== null) lines.push(...proofLines(report, report.claim));
  return lines;
}

/**
 * The two of a witness: where they differ, and what they have in common.
 * @param {[Rational[], Rational[]]} pair
 * @param {Claim} claim
 * @param {boolean} full
 */
function pairLines([x, other], { space: { features } }, full) {
  const words = (/** @type {Rational[]} */ codes, /** @type {number[]} */ ofFeatures) =>
    list(ofFeatures.map((k) => `${quoted(features[k].name)} ${codeWords(features[k], codes[k])}`), full);
  const places = features.map((_, k) => k);
  const differing = places.filter((k) => !x[k].equals(other[k]));
  const common = places.filter((k) => x[k].equals(other[k]));
  const lines = [`  the first:  ${words(x, differing)}`, `  the second: ${words(other, differing)}`];
  if (common.length > 0) lines.push(`  both:       ${words(x, common)}`);
  return lines;
}

/**
 * @param {Feature} feature
 * @param {Rational} code
 */
function codeWords({ levels, missing }, code) {
  if (levels !== null) return levelWords(levels[positionOf(code)]);
  return missing !== null && code.equals(missing) ? 'missing' : shown(code);
}

/**
 * Whether an accepted certificate is what was expected (section 13, "Exit codes").
 * @param {Report} report
 * @param {'fair' | 'biased'} expected
 */
export function isAsExpected(report, expected) {
  return report.kind === (expected === 'biased' ? 'witness' : 'proof');
}

/**
 * @param {Report} report
 * @param {Claim} claim
 */
function proofLines(report, claim) {
  const used = [...report.rules].map(([rule, count]) => `${count} ${rule}`).join(', ');
  const lines = [`proof: ${counted(report.nodes, 'node')}; leaves: ${used}`, `clearance: ${shown(report.clearance ?? Rational.of(0))}`];
  if (report.labelOfEverybody !== null) {
    lines.push(`everybody gets the same label: ${printable(`${claim.model.head.labels?.[report.labelOfEverybody]}`)} (number ${report.labelOfEverybody})`);
  }
  lines.push(
    report.coversFloatingPoint
      ? 'covered: the rounding of the deployed program, as far as its description in the model line is true'
      : 'not covered: the rounding of the deployed program; the proof speaks of real numbers',
  );
  lines.push('not covered: whether the model line describes the deployed model, and whether the space holds everybody it is used on');
  return lines;
}

/**
 * @param {Claim} claim
 * @param {'proof' | 'witness' | null} kind
 * @param {boolean} full
 */
export function claimLines({ space, similarity, distance, property, model }, kind, full) {
  const { features, constraints } = space;
  const mayDiffer = features.filter((_, k) => similarity[k].kind !== 'same').length;
  const start = kind === 'witness' ? 'NOT every two' : 'Every two';
  const oneWay = isOneWay(similarity);
  const lines = [
    `claim: ${start} valid individuals of the space (${counted(features.length, 'feature')}, ${counted(constraints.length, 'constraint')}) that`,
    mayDiffer === 0
      ? 'agree in all features (only equal individuals are similar) satisfy this:'
      : `agree in all features but ${mayDiffer} (below it is said how ${mayDiffer === 1 ? 'it' : 'they'} may differ) satisfy this:`,
    `  ${oneWay ? orderedPropertyWords(property, model.head) : propertyWords(property, model.head)}.`,
  ];
  if (property.rate !== null) lines.push(...rateWords(property.rate, features, full));
  if (oneWay) lines.push('  It matters who of the two is the first: nothing is said of the other order.');
  if (distance !== null) lines.push(...distanceWords(distance, features, full));
  const all = features.map((feature, k) => `  ${quoted(feature.name, full ? Infinity : undefined)}: ${featureWords(feature, full)}; ${relationWords(similarity[k], feature, features, full)}`);
  // Features that may differ, and those with one value, say most about the claim: they are shown whatever the number.
  const matters = features.map(({ lo, hi }, k) => full || similarity[k].kind !== 'same' || lo.equals(hi));
  const others = features.flatMap((_, k) => (matters[k] ? [] : [k]));
  const told = [...features.flatMap((_, k) => (matters[k] ? [k] : [])), ...others.slice(0, SHOWN)];
  lines.push(`features (${features.length}):`, ...told.map((k) => all[k]));
  if (told.length < features.length) lines.push(`  ... and ${features.length - told.length} more, in which both agree (--full shows them)`);
  lines.push(`constraints (${constraints.length})${constraints.length === 0 ? '' : ':'}`);
  const rules = constraints.map((constraint) => `  ${constraintWords(constraint, features)}`);
  lines.push(...(full ? rules : rules.slice(0, SHOWN)));
  if (!full && rules.length > SHOWN) lines.push(`  ... and ${rules.length - SHOWN} more (--full shows them)`);
  return lines;
}

/**
 * @param {Claim['property']} property
 * @param {Claim['model']['head']} head
 */
function propertyWords(property, head) {
  const { kind, margin, delta, ofClass } = property;
  const which = ofClass === undefined ? '' : ofClass === null ? ' of every class' : ` of class ${printable(`${head.labels?.[ofClass]}`)}`;
  if (kind === 'score') return `the scores${which} differ by at most ${shown(delta)}`;
  if (kind === 'lipschitz') return `the scores${which} differ by at most ${allowanceWords(property)}`;
  if (kind === 'prediction') return `the predictions exp(score) differ by at most ${shown(delta)}`;
  if (kind === 'probability') return `the probabilities${which} differ by at most ${shown(delta)}`;
  const about = ofClass === undefined || ofClass === null ? '' : `, one of them class ${printable(`${head.labels?.[ofClass]}`)}`;
  const decisions = `they do not get two different decisions${about}`;
  if (head.kind === 'classes') {
    if (margin.isZero()) return decisions;
    return `${decisions} with both leads at least ${shown(margin)}: of each class over every other one`;
  }
  const zero = `a score of 0 gives the ${head.zeroIsUpper ? 'upper' : 'lower'} label`;
  if (margin.isZero()) return `${decisions}; ${zero}`;
  const [m, negative] = [shown(margin), shown(margin.negated())];
  const sides = head.zeroIsUpper ? `one below ${negative}, the other at least ${m}` : `one above ${m}, the other at most ${negative}`;
  if (margin.sign() > 0) return `${decisions} with both scores at least ${m} from the threshold (${sides}); ${zero}`;
  return `the margin is below 0: they do not have two scores of which ${sides}, whatever their decisions; ${zero}`;
}

/**
 * What is said of the first and the second of a pair, where similarity is one-way (section 18).
 * @param {Claim['property']} property
 * @param {Claim['model']['head']} head
 */
function orderedPropertyWords(property, head) {
  const { kind, margin, delta, ofClass } = property;
  const nameOf = (/** @type {number} */ i) => printable(`${head.labels?.[i]}`);
  const which = ofClass === undefined ? '' : ofClass === null ? ' of every class' : ` of class ${nameOf(ofClass)}`;
  if (kind !== 'decision') {
    if (kind === 'lipschitz') return `the score${which} of the first is at most ${allowanceWords(property)} above that of the second`;
    const what = kind === 'prediction' ? 'prediction exp(score)' : kind;
    return `the ${what}${which} of the first is at most ${shown(delta)} above that of the second`;
  }
  if (head.kind === 'classes') {
    const leads = margin.isZero() ? '' : ` with both leads at least ${shown(margin)}`;
    return `the first does not get ${nameOf(Number(ofClass))} while the second gets another class${leads}`;
  }
  const [first, second] = head.zeroIsUpper ? [0, 1] : [1, 0];
  const names = ['lower', 'upper'];
  const label = (/** @type {number} */ i) => `the ${names[i]} label ${nameOf(i)}`;
  const far = margin.isZero() ? '' : `, both scores at least ${shown(margin)} from the threshold`;
  return `the first does not get ${label(first)} while the second gets ${label(second)}${far}; a score of 0 gives the ${names[head.zeroIsUpper ? 1 : 0]} label`;
}

/**
 * @param {Distance} distance
 * @param {Feature[]} features
 * @param {boolean} full
 * @returns {string[]}
 */
function distanceWords(distance, features, full) {
  const parts = partWords(distance, distance.power === 1 ? '' : '^2', features, full);
  return [`  Similar are those only whose distance is at most ${shown(distance.bound)}, the sum of:`, ...parts];
}

/**
 * By how much scores may differ, where that depends on how far apart the two are (section 21).
 * @param {Claim['property']} property
 */
function allowanceWords({ delta, rate }) {
  const share = `${shown(rate?.constant ?? ZERO)} times how far apart they are`;
  return delta.isZero() ? share : `${shown(delta)} and ${share}`;
}

/**
 * @param {Rate} rate
 * @param {Feature[]} features
 * @param {boolean} full
 * @returns {string[]}
 */
function rateWords(rate, features, full) {
  const parts = partWords(rate, rate.norm === 2 ? '^2' : '', features, full);
  const how = { 1: 'the sum', 2: 'the root of the sum', max: 'the largest' }[rate.norm];
  return [`  How far two are apart is ${how} of:`, ...parts];
}

/**
 * The costs of a distance and its squares of sums, one a line.
 * @param {{terms: Distance['terms'], forms: Distance['forms']}} distance
 * @param {string} squared what follows each cost
 * @param {Feature[]} features
 * @param {boolean} full
 * @returns {string[]}
 */
function partWords({ terms, forms }, squared, features, full) {
  const nameOf = (/** @type {number} */ k) => quoted(features[k].name);
  const costs = terms.map(({ feature, cost }) => {
    if (cost.kind === 'each') {
      const own = `${times(cost.cost)}|difference of ${nameOf(feature)}${features[feature].levels === null ? '' : ', in steps'}|`;
      return squared === '' ? own : `(${own})${squared}`;
    }
    if (cost.kind === 'unequal') return `${shown(cost.cost)}${squared} if ${nameOf(feature)} differs`;
    const rows = cost.rows.map((row) => `[${row.map(shown).join(', ')}]`);
    return `(cost of ${nameOf(feature)} by its two levels: ${list(rows, full)})${squared}`;
  });
  const squares = forms.map(({ weight, entries }) => {
    const parts = entries.map(({ feature, factor, amounts }) => {
      if (factor !== null) return `${times(factor)}difference of ${nameOf(feature)}`;
      return `difference of ${nameOf(feature)} with its levels counted as ${list((amounts ?? []).map(shown), full)}`;
    });
    return `${times(weight)}(${cut(parts, full).join(' + ')})^2`;
  });
  return cut([...costs, ...squares], full).map((line) => `    ${line}`);
}

/**
 * A factor before what it multiplies.
 * @param {Rational} factor
 */
function times(factor) {
  return factor.equals(ONE) ? '' : `${shown(factor)} `;
}

/**
 * @param {Feature} feature
 * @param {boolean} full
 */
function featureWords({ kind, levels, lo, lastNumber, missing }, full) {
  if (levels !== null) return `${kind}, ${list(levels.map((level) => levelWords(level, full ? Infinity : undefined)), full)}`;
  return `${kind}, ${shown(lo)} to ${shown(lastNumber)}${missing === null ? '' : ', or missing'}`;
}

/**
 * @param {Claim['space']['constraints'][number]} constraint
 * @param {Feature[]} features
 */
function constraintWords({ terms, bound }, features) {
  const parts = terms.map(({ feature, factor, amounts }) => {
    const name = quoted(features[feature].name);
    return factor !== null ? `${shown(factor)} ${name}` : `${name} as [${(amounts ?? []).map(shown).join(', ')}]`;
  });
  return `${parts.join(' + ') || '0'} <= ${shown(bound)}`;
}

/**
 * The report as plain values, for JSON.
 * @param {Report} report
 */
export function reportJson(report) {
  return {
    answer: report.answer,
    accepted: report.answer === 'accepted',
    kind: report.kind,
    line: report.line,
    reason: report.reason,
    claim: report.claim === null ? null : claimLines(report.claim, report.kind, true).join('\n'),
    digests: report.digests,
    packs: report.packs,
    nodes: report.nodes,
    clearance: report.clearance === null ? null : `${report.clearance}`,
    covers_floating_point: report.coversFloatingPoint,
    compared: report.compared,
    rules: Object.fromEntries(report.rules),
    label_of_everybody: report.labelOfEverybody,
  };
}
