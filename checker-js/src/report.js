/** What a checker says (section 13): the claim in words, from the data alone, and what was not covered. */

import { Rational } from './exact/rational.js';

/**
 * @typedef {import('./check.js').Report} Report
 * @typedef {import('./claim/claim.js').Claim} Claim
 * @typedef {import('./claim/similarity.js').Relation} Relation
 * @typedef {import('./claim/space.js').Feature} Feature
 * @typedef {import('./claim/space.js').Level} Level
 */

/** Longer lists are cut in the short form. */
const SHOWN = 12;

/**
 * @param {Report} report
 * @param {{full?: boolean}} [options]
 * @returns {string[]} lines of text
 */
export function reportLines(report, { full = false } = {}) {
  const lines = report.claim === null ? [] : claimLines(report.claim, report.kind, full);
  if (report.answer === 'unreadable') return [`UNREADABLE: ${report.reason}`];
  if (report.answer === 'rejected') return [...lines, `REJECTED at line ${report.line}: ${report.reason}`];
  lines.push(`ACCEPTED: the ${report.kind} holds, in exact arithmetic`, `rules used: ${report.packs.join(', ')}`);
  if (report.kind === 'proof' && report.claim !== null) lines.push(...proofLines(report, report.claim));
  return lines;
}

/**
 * @param {Report} report
 * @param {Claim} claim
 */
function proofLines(report, claim) {
  const used = [...report.rules].map(([rule, count]) => `${count} ${rule}`).join(', ');
  const lines = [`proof: ${report.nodes} nodes; leaves: ${used}`, `clearance: ${shown(report.clearance ?? Rational.of(0))}`];
  if (report.labelOfEverybody !== null) {
    lines.push(`everybody gets the same label: ${claim.model.head.labels?.[report.labelOfEverybody]} (number ${report.labelOfEverybody})`);
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
export function claimLines({ space, similarity, property, model }, kind, full) {
  const cut = (/** @type {string[]} */ items) =>
    full || items.length <= SHOWN ? items : [...items.slice(0, SHOWN), `... (${items.length - SHOWN} more)`];
  const differing = space.features.flatMap((feature, k) =>
    similarity[k].kind === 'same' ? [] : [`  ${JSON.stringify(feature.name)} ${relationWords(similarity[k], feature, full)}`],
  );
  const start = kind === 'witness' ? 'Some two valid individuals' : 'Every two valid individuals';
  const end = kind === 'witness' ? 'break this' : 'satisfy this';
  return [
    `claim: ${start} that agree in all features but these:`,
    ...cut(differing.length === 0 ? ['  (none: only equal individuals are similar)'] : differing),
    `${end}: ${propertyWords(property, model.head)}.`,
    `features (${space.features.length}):`,
    ...cut(space.features.map((feature) => `  ${JSON.stringify(feature.name)}: ${featureWords(feature, full)}`)),
    `constraints (${space.constraints.length})${space.constraints.length === 0 ? '' : ':'}`,
    ...cut(space.constraints.map((constraint) => `  ${constraintWords(constraint, space.features)}`)),
  ];
}

/**
 * @param {Claim['property']} property
 * @param {Claim['model']['head']} head
 */
function propertyWords({ kind, margin, delta, ofClass }, head) {
  const which = ofClass === undefined ? '' : ofClass === null ? ' of every class' : ` of class ${head.labels?.[ofClass]}`;
  if (kind === 'score') return `the scores${which} differ by at most ${shown(delta)}`;
  if (kind === 'probability') return `the probabilities${which} differ by at most ${shown(delta)}`;
  const zero = head.kind === 'two' ? `; a score of 0 gives the ${head.zeroIsUpper ? 'upper' : 'lower'} label` : '';
  const about = ofClass === undefined || ofClass === null ? '' : `, one of them class ${head.labels?.[ofClass]}`;
  if (margin.isZero()) return `they do not get two different decisions${about}${zero}`;
  const side = margin.sign() > 0 ? 'beyond' : 'down to';
  return `they do not get two different decisions${about} with both scores ${side} a margin of ${shown(margin)}${zero}`;
}

/**
 * @param {Relation} relation
 * @param {Feature} feature
 * @param {boolean} full
 */
function relationWords({ kind, tolerance, allowed }, feature, full) {
  if (kind === 'free') return 'may differ in any way';
  if (kind === 'within') return `may differ by at most ${shown(tolerance)}${feature.levels === null ? '' : ' steps'}`;
  const pairs = allowed.map(([i, j]) => `${levelWords(feature.levels?.[i])} with ${levelWords(feature.levels?.[j])}`);
  return `may differ in these ways only: ${list(pairs, full)}`;
}

/**
 * @param {Feature} feature
 * @param {boolean} full
 */
function featureWords({ kind, levels, lo, lastNumber, missing }, full) {
  if (levels !== null) return `${kind}, ${list(levels.map(levelWords), full)}`;
  return `${kind}, ${shown(lo)} to ${shown(lastNumber)}${missing === null ? '' : ', or missing'}`;
}

/**
 * @param {Claim['space']['constraints'][number]} constraint
 * @param {Feature[]} features
 */
function constraintWords({ terms, bound }, features) {
  const parts = terms.map(({ feature, factor, amounts }) => {
    const name = JSON.stringify(features[feature].name);
    return factor !== null ? `${shown(factor)} ${name}` : `${name} as [${(amounts ?? []).map(shown).join(', ')}]`;
  });
  return `${parts.join(' + ') || '0'} <= ${shown(bound)}`;
}

/**
 * @param {string[]} items
 * @param {boolean} full
 */
function list(items, full) {
  if (items.length === 0) return '(none)';
  return full || items.length <= SHOWN ? items.join(', ') : `${items.slice(0, SHOWN).join(', ')}, ... (${items.length - SHOWN} more)`;
}

/** @param {Level | undefined} level */
function levelWords(level) {
  if (level instanceof Rational) return shown(level);
  return level === null ? 'missing' : JSON.stringify(level);
}

/**
 * A number for people: exact if it is short, else "about" with six digits. Nothing is decided by it.
 * @param {Rational} value
 */
export function shown(value) {
  const exact = `${value}`;
  if (exact.length <= 12) return exact;
  // The first digits of the value times a power of ten that makes them whole.
  let power = 0;
  let size = value.absolute();
  const [low, high, ten] = [Rational.of(100_000), Rational.of(1_000_000), Rational.of(10)];
  while (size.less(low) && power < 400) [size, power] = [size.times(ten), power + 1];
  while (high.atMost(size) && power > -6200) [size, power] = [size.over(ten), power - 1];
  const digits = `${size.floor()}`;
  const number = `${digits[0]}.${digits.slice(1)}e${digits.length - 1 - power}`;
  return `about ${value.sign() < 0 ? '-' : ''}${plain(number)}`;
}

/**
 * @param {string} scientific
 * @returns {string} without an exponent if it is a small one
 */
function plain(scientific) {
  const [mantissa, exponentText] = scientific.split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent > 9) return scientific;
  const digits = mantissa.replace('.', '');
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const padded = digits.padEnd(exponent + 1, '0');
  return exponent + 1 >= padded.length ? padded : `${padded.slice(0, exponent + 1)}.${padded.slice(exponent + 1)}`;
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
    label_of_everybody: report.labelOfEverybody,
  };
}
