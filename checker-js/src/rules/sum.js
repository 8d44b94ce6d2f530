/** The rule `sum` (section 17): a bound for each part of a sum, by a rule of the part's own body. */

import { SumBody } from '../bodies/sum.js';
import { dot } from '../bodies/affine.js';
import { HALF, ONE, Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { concludeFromBound } from './conclude.js';
import { lineOfChain, mostOfChain } from './link-chain.js';
import { mostOfDifference } from './link-difference.js';
import { betaAbove, betaBelow } from './link-line.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/link.js').Link} Link
 * @typedef {import('../bodies/sum.js').Part} Part
 * @typedef {import('./link-line.js').Scores} Scores
 * @typedef {import('../proof/cases.js').Line} Line
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 * @typedef {(context: LeafContext, cell: Cell, json: Json[]) => LeafResult} Rule
 */

/** The rules that are meant for each kind of body. */
const RULES_OF_BODY = Object.freeze({
  affine: ['separable'],
  rbf: ['kernel', 'chords'],
  mixed: ['mixed'],
  polynomial: ['polynomial'],
  trees: ['trees'],
  network: ['network'],
});

/** Stands where a leaf has its way: the line is known without it. */
const NO_WAY = false;

/**
 * `["sum", way, [part, ...]]`
 * @param {Map<string, Rule>} rules by name
 * @returns {Rule}
 */
export function sumRule(rules) {
  return (context, cell, json) => {
    const { body } = context.claim.model;
    if (body.kind !== 'sum') return reject('sum: not for this body');
    readArrayOf(json, 'sum', 3);
    const line = context.readLine(json[1]);
    const items = readArrayOf(json[2], 'parts of a sum', body.parts.length);
    const { here, there, bias } = context.derive(line, () => factorsOf(body, line));
    let bound = bias;
    for (let k = 0; k < items.length; k++) {
      context.clock.tick();
      const lines = new PartLines(rules, contextOfPart(context, body, k), cell, body.parts[k].body.kind);
      const own = boundOfPart(lines, body.parts[k].link, here[k], there[k], items[k]);
      if (own === null) return { clearance: null, line: null };
      bound = bound.plus(own);
    }
    return { clearance: concludeFromBound(line, bound).clearance === null ? null : context.noClearance, line };
  };
}

/**
 * c_k and d_k of all parts, and the part of B that is none of theirs.
 * @param {SumBody} body
 * @param {Line} line
 * @returns {{here: Rational[], there: Rational[], bias: Rational}}
 */
function factorsOf(body, line) {
  const a = line.a.times(line.first.sign);
  const b = line.b.times(line.second.sign);
  return {
    here: body.parts.map(({ weights }) => a.times(dot(line.first.alpha, weights))),
    there: body.parts.map(({ weights }) => b.times(dot(line.second.alpha, weights))),
    bias: a
      .times(dot(line.first.alpha, body.bias))
      .minus(b.times(dot(line.second.alpha, body.bias)))
      .plus(line.a.times(line.first.shift))
      .minus(line.b.times(line.second.shift)),
  };
}

/**
 * The context of a leaf about one part alone.
 * @param {LeafContext} context
 * @param {SumBody} body
 * @param {number} k
 * @returns {LeafContext}
 */
function contextOfPart(context, body, k) {
  return context.derive(body.parts[k], () => context.ofBody(body.parts[k].body));
}

/** The lines of one part (or of one inner body, section 24): each is a leaf of the rule of its body. */
export class PartLines {
  /**
   * @param {Map<string, Rule>} rules
   * @param {LeafContext} context
   * @param {Cell} cell
   * @param {keyof typeof RULES_OF_BODY} kind of the body
   */
  constructor(rules, context, cell, kind) {
    this.names = RULES_OF_BODY[kind];
    this.rules = rules;
    this.context = context;
    this.cell = cell;
  }

  /**
   * `[T', rule, ...]`
   * @param {Json} json
   * @param {Rational} way way'
   * @param {1 | -1} sign of h = sign s
   * @returns {Rational | null} T', which was shown; null if the cell holds no pair
   */
  shown(json, way, sign) {
    const [stated, name, ...rest] = readArray(json, 'line of a part');
    const target = readNumber(stated ?? null, 'bound of a line');
    const rule = typeof name === 'string' && this.names.includes(name) ? this.rules.get(name) : undefined;
    if (rule === undefined) return reject(`sum: a line of this part needs the rule ${this.names.join(' or ')}`);
    const score = { alpha: [ONE], sign: Rational.of(sign), shift: ZERO };
    const b = ONE.minus(way);
    /** @type {Line} */
    const line = { first: score, second: score, a: way, b, target, mayTouch: true, factors: null, reach: ONE };
    const result = rule(this.context.withLine(line), this.cell, [name, NO_WAY, ...rest]);
    return result.clearance === null ? null : target;
  }

  /**
   * What the lines bound c s(x) - d s(x') by.
   * @param {Json[]} items
   * @param {Rational} c
   * @param {Rational} d
   * @returns {Rational | null} null if the cell holds no pair
   */
  boundOf(items, c, d) {
    const pairs = c.sign() * d.sign() < 0 ? [[c, ZERO], [ZERO, d]] : c.isZero() && d.isZero() ? [] : [[c, d]];
    require(items.length === pairs.length, `sum: not ${pairs.length} lines`);
    let total = ZERO;
    for (let i = 0; i < pairs.length; i++) {
      const [own, other] = pairs[i];
      const size = own.absolute().plus(other.absolute());
      const shown = this.shown(items[i], own.absolute().over(size), own.plus(other).sign() > 0 ? 1 : -1);
      if (shown === null) return null;
      total = total.plus(size.times(shown));
    }
    return total;
  }
}

/**
 * @param {PartLines} lines
 * @param {Link | null} link
 * @param {Rational} c c_k
 * @param {Rational} d d_k
 * @param {Json} json
 * @returns {Rational | null} B_k; null if the cell holds no pair
 */
function boundOfPart(lines, link, c, d, json) {
  if (json === null) {
    require(c.isZero() && d.isZero(), 'sum: nothing is said of a part that counts');
    return ZERO;
  }
  if (Array.isArray(json) && json[0] === 'difference') return boundByDifference(lines, link, c, d, json);
  const [here, there, items] = readArrayOf(json, 'part', 3);
  if (link === null) {
    require(here === null && there === null, 'sum: a part without a link has no line at it');
    return lines.boundOf(readArray(items, 'lines of a part'), c, d);
  }
  const own = lineAtLink(lines, link, c, here, 1);
  if (own === null) return null;
  const other = lineAtLink(lines, link, d, there, -1);
  if (other === null) return null;
  const rest = lines.boundOf(readArray(items, 'lines of a part'), c.times(own.alpha).times(link.slope), d.times(other.alpha).times(link.slope));
  if (rest === null) return null;
  return rest
    .plus(c.times(own.beta.plus(own.alpha.times(link.offset))))
    .minus(d.times(other.beta.plus(other.alpha.times(link.offset))));
}

/**
 * `[low, high, slope, tangent]`: the line above or below the link that the sign of the factor asks for.
 * @param {PartLines} lines
 * @param {Link} link
 * @param {Rational} factor c_k or d_k
 * @param {Json} json
 * @param {1 | -1} side 1 at x, -1 at x'
 * @returns {{alpha: Rational, beta: Rational} | null} null if the cell holds no pair
 */
function lineAtLink(lines, link, factor, json, side) {
  if (factor.isZero()) {
    require(json === null, 'sum: a line at a link that does not count');
    return { alpha: ZERO, beta: ZERO };
  }
  const [lowJson, highJson, slopeJson, tangentJson] = readArrayOf(json, 'line at a link', 4);
  const scores = limitsOfScores(lines, lowJson, highJson, side);
  if (scores === null) return null;
  const above = factor.sign() * side > 0;
  if (link.kind === 'chain') return lineOfChain(link, slopeJson, tangentJson, scores, above);
  const alpha = readNumber(slopeJson, 'slope of a line');
  const tangent = readNumber(tangentJson, 'tangent of a line');
  require(alpha.sign() >= 0 && tangent.sign() >= 0, 'sum: a negative slope or tangent');
  return { alpha, beta: above ? betaAbove(link, alpha, tangent, scores) : betaBelow(link, alpha, tangent, scores) };
}

/**
 * The limits `low` and `high` of the score of a part, at x or at x'.
 * @param {PartLines} lines
 * @param {Json} lowJson
 * @param {Json} highJson
 * @param {1 | -1} side 1 at x, -1 at x'
 * @returns {Scores | null} null if the cell holds no pair
 */
function limitsOfScores(lines, lowJson, highJson, side) {
  // At x way' is 1, and a line shows h(x) <= T'; at x' way' is 0, and it shows -h(x') <= T'.
  const way = side === 1 ? ONE : ZERO;
  /** @type {Rational | null} */
  let low = null;
  /** @type {Rational | null} */
  let high = null;
  if (lowJson !== null) {
    const shown = lines.shown(lowJson, way, side === 1 ? -1 : 1);
    if (shown === null) return null;
    low = shown.negated();
  }
  if (highJson !== null) {
    high = lines.shown(highJson, way, side);
    if (high === null) return null;
  }
  return low !== null && high !== null && high.less(low) ? null : { low, high };
}

/**
 * `["difference", line, here, there, place]`: by what the two scores of the part differ by at most.
 * @param {PartLines} lines
 * @param {Link | null} link
 * @param {Rational} c c_k
 * @param {Rational} d d_k
 * @param {Json[]} json
 * @returns {Rational | null} B_k; null if the cell holds no pair
 */
function boundByDifference(lines, link, c, d, json) {
  if (link === null) return reject('sum: a difference of a part without a link');
  require(c.sign() * d.sign() > 0, 'sum: a difference of a part that does not count alike at both');
  const [, line, here, there, placeJson] = readArrayOf(json, 'part', 5);
  const shown = lines.shown(line, HALF, c.sign() > 0 ? 1 : -1);
  if (shown === null) return null;
  const [lowHere, highHere] = readArrayOf(here, 'limits of a score', 2);
  const own = limitsOfScores(lines, lowHere, highHere, 1);
  if (own === null) return null;
  const [lowThere, highThere] = readArrayOf(there, 'limits of a score', 2);
  const other = limitsOfScores(lines, lowThere, highThere, -1);
  if (other === null) return null;
  const most = shown.scaled(1);
  // u is the one of the two whose score counts for more: x if c_k > 0, else x'.
  const [C, E, u, v] = c.sign() > 0 ? [c, d, own, other] : [d.negated(), c.negated(), other, own];
  if (link.kind === 'chain') return mostOfChain(link, C, E, most, u, v, placeJson);
  return mostOfDifference(link, C, E, most, u, v, readNumber(placeJson, 'place of a difference'));
}
