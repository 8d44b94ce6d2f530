/** Columns in pieces (section 4): which parts of an interval belong to which piece, and maxima over them. */

import { polynomialMaximum } from '../exact/polynomial-maximum.js';
import { larger, largerOfMaxima, ONE, Rational, smaller, ZERO } from '../exact/rational.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { pieceOf } from '../bodies/columns.js';
import { polygonMaximum } from './polygon.js';

/**
 * A function in pieces, and one of its parts within an interval.
 * @typedef {{cuts: Rational[], pieces: Rational[][]}} InPieces
 * @typedef {{piece: number, from: Rational, to: Rational}} Part
 */

/**
 * @param {Rational[]} cuts
 * @param {Rational} lo
 * @param {Rational} hi
 * @param {boolean} discrete whether the feature is an integer one
 * @returns {Part[]}
 */
export function partsOf(cuts, lo, hi, discrete) {
  /** @type {Part[]} */
  const parts = [];
  const last = pieceOf(cuts, hi);
  for (let piece = pieceOf(cuts, lo); piece <= last; piece++) {
    let from = lo;
    let to = piece < cuts.length ? smaller(hi, cuts[piece]) : hi;
    if (piece > 0) {
      const cut = cuts[piece - 1];
      from = larger(lo, discrete ? Rational.of(cut.floor()).plus(ONE) : cut);
    }
    if (discrete) to = Rational.of(to.floor());
    if (from.atMost(to)) parts.push({ piece, from, to });
  }
  return parts;
}

/**
 * @param {InPieces} phi
 * @param {Part[]} parts
 */
function maximumOverParts(phi, parts) {
  return parts.reduce(
    (/** @type {Rational | null} */ most, { piece, from, to }) => largerOfMaxima(most, polynomialMaximum(phi.pieces[piece], from, to)),
    null,
  );
}

/**
 * @param {InPieces} u
 * @param {InPieces} v with the same cuts
 * @param {Rational} lo
 * @param {Rational} hi
 * @param {boolean} discrete
 */
export function maximumOfSamePieces(u, v, lo, hi, discrete) {
  const pieces = u.pieces.map((piece, i) => addPolynomials(piece, v.pieces[i]));
  return maximumOverParts({ cuts: u.cuts, pieces }, partsOf(u.cuts, lo, hi, discrete));
}

/**
 * @param {InPieces} u
 * @param {Rational} lo
 * @param {Rational} hi
 * @param {boolean} discrete
 */
export function maximumOfPieces(u, lo, hi, discrete) {
  return maximumOverParts(u, partsOf(u.cuts, lo, hi, discrete));
}

/**
 * The maximum of u(x) + v(x') with p <= x' - x <= q.
 * @param {InPieces} u
 * @param {InPieces} v
 * @param {[Rational, Rational, Rational, Rational]} ends lo, hi, lo', hi'
 * @param {Rational} p
 * @param {Rational} q
 * @param {boolean} discrete
 */
export function maximumOfPiecesBetween(u, v, [lo, hi, otherLo, otherHi], p, q, discrete) {
  const parts = partsOf(u.cuts, lo, hi, discrete);
  const others = partsOf(v.cuts, otherLo, otherHi, discrete);
  const tops = parts.map(({ piece, from, to }) => polynomialMaximum(u.pieces[piece], from, to));
  const otherTops = others.map(({ piece, from, to }) => polynomialMaximum(v.pieces[piece], from, to));
  /** @type {Rational | null} */
  let most = null;
  let [start, count] = [0, 0];
  for (const [m, part] of parts.entries()) {
    // Both ends of parts rise, so that those that are near enough stand next to each other.
    while (start < others.length && others[start].to.minus(part.from).less(p)) start += 1;
    for (let n = start; n < others.length && !q.less(others[n].from.minus(part.to)); n++) {
      count += 1;
      require(count <= MAXIMUM.partPairs, 'separable: too many pairs of parts');
      if (most !== null && tops[m].plus(otherTops[n]).atMost(most)) continue; // these two cannot raise it
      most = largerOfMaxima(most, maximumOfParts(u.pieces[part.piece], v.pieces[others[n].piece], part, others[n], p, q));
    }
  }
  return most;
}

/**
 * @param {Rational[]} u
 * @param {Rational[]} v
 * @param {Part} part
 * @param {Part} other with some x' - x from p to q
 * @param {Rational} p
 * @param {Rational} q
 */
function maximumOfParts(u, v, part, other, p, q) {
  if (isLinear(u) && isLinear(v)) {
    const sloped = polygonMaximum(u[1] ?? ZERO, v[1] ?? ZERO, part.from, part.to, other.from, other.to, p, q);
    return sloped === null ? null : sloped.plus(u[0] ?? ZERO).plus(v[0] ?? ZERO);
  }
  const mostU = polynomialMaximum(u, larger(part.from, other.from.minus(q)), smaller(part.to, other.to.minus(p)));
  const mostV = polynomialMaximum(v, larger(other.from, part.from.plus(p)), smaller(other.to, part.to.plus(q)));
  return mostU.plus(mostV);
}

/** @param {Rational[]} coefficients */
function isLinear(coefficients) {
  return coefficients.slice(2).every((coefficient) => coefficient.isZero());
}

/**
 * @param {Rational[]} a
 * @param {Rational[]} b
 */
function addPolynomials(a, b) {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? ZERO).plus(b[i] ?? ZERO));
}
