/**
 * What a leaf of a tree and a cell leave of the codes of one feature (section 9): an interval of numbers, open or closed
 * below, with or without the missing code, or a set of positions.
 */

import { larger, ONE, Rational, smaller } from '../exact/rational.js';
import { positionOf } from '../claim/space.js';

/**
 * @typedef {import('../claim/space.js').Feature} Feature
 * @typedef {import('../claim/similarity.js').Relation} Relation
 */

/**
 * The tests above a leaf, of one feature: numbers above `above` and up to `upTo` (null: no limit), missing or not; positions.
 * @typedef {object} Box
 * @property {Rational | null} above
 * @property {Rational | null} upTo
 * @property {boolean} missing
 * @property {Set<number> | null} positions
 * @property {[Seen | null, Seen | null]} seen what was left of it last, at x and at x'
 */

/** @typedef {{lo: Rational, hi: Rational, open: boolean, region: Region}} Seen */

/**
 * @typedef {object} Region
 * @property {Rational} from
 * @property {Rational} to
 * @property {boolean} open whether `from` itself does not belong to it
 * @property {boolean} numbers whether there are any
 * @property {boolean} missing
 * @property {Set<number> | null} positions of a levels kind, which uses nothing else
 */

/**
 * @param {Feature} feature
 * @returns {Box}
 */
export function wholeBox(feature) {
  const positions = feature.levels === null ? null : new Set(feature.levels.keys());
  return { above: null, upTo: null, missing: true, positions, seen: [null, null] };
}

/**
 * @param {Feature} feature
 * @param {Box} box
 * @param {Rational} lo of the cell
 * @param {Rational} hi
 * @param {boolean} [openBelow] whether lo itself is left out, of a continuous feature
 * @returns {Region}
 */
export function regionOf(feature, box, lo, hi, openBelow = false) {
  if (box.positions !== null) {
    const [first, last] = [positionOf(lo), positionOf(hi)];
    const positions = new Set([...box.positions].filter((position) => first <= position && position <= last));
    return { from: lo, to: hi, open: false, numbers: positions.size > 0, missing: false, positions };
  }
  const missing = box.missing && feature.missing !== null && hi.equals(feature.missing);
  const last = smaller(hi, feature.lastNumber);
  let to = box.upTo === null ? last : smaller(last, box.upTo);
  const tested = box.above !== null && lo.atMost(box.above);
  let open = tested || openBelow;
  let from = tested ? /** @type {Rational} */ (box.above) : lo;
  if (feature.discrete) {
    to = Rational.of(to.floor());
    from = open ? Rational.of(from.floor()).plus(ONE) : from;
    open = false;
  }
  return { from, to, open, numbers: open ? from.less(to) : from.atMost(to), missing, positions: null };
}

/**
 * What two regions of one variable in one cell have in common.
 * @param {Region} region
 * @param {Region} other
 * @returns {Region} the first one itself if it lies in the other
 */
export function commonRegion(region, other) {
  if (region.positions !== null && other.positions !== null) {
    const theirs = other.positions;
    const positions = new Set([...region.positions].filter((position) => theirs.has(position)));
    return positions.size === region.positions.size ? region : { ...region, numbers: positions.size > 0, positions };
  }
  const missing = region.missing && other.missing;
  if (!region.numbers || !other.numbers) return region.numbers || missing !== region.missing ? { ...region, numbers: false, missing } : region;
  const order = region.from.compare(other.from);
  const from = order >= 0 ? region.from : other.from;
  const open = order > 0 ? region.open : order < 0 ? other.open : region.open || other.open;
  const to = smaller(region.to, other.to);
  if (from === region.from && open === region.open && to === region.to && missing === region.missing) return region;
  return { from, to, open, numbers: open ? from.less(to) : from.atMost(to), missing, positions: null };
}

/** @param {Region} region */
export function isEmptyRegion({ numbers, missing }) {
  return !numbers && !missing;
}

/**
 * Whether there are codes c of the first and c' of the second region that are as the relation asks.
 * @param {Relation} relation
 * @param {Region} region
 * @param {Region} other
 * @returns {boolean}
 */
export function canBeRelated(relation, region, other) {
  if (isEmptyRegion(region) || isEmptyRegion(other)) return false;
  if (relation.kind === 'free' || (relation.kind === 'same' && region === other)) return true;
  if (region.positions !== null && other.positions !== null) return canPositionsBeRelated(relation, region.positions, other.positions);
  if (region.missing && other.missing) return true;
  if (!region.numbers || !other.numbers) return false;
  if (relation.kind === 'between') return canDifferBetween(relation, region, other);
  if (relation.kind === 'within') {
    const apart = larger(other.from.minus(region.to), region.from.minus(other.to));
    return apart.atMost(relation.high);
  }
  const order = region.from.compare(other.from);
  const from = order >= 0 ? region.from : other.from;
  const open = order > 0 ? region.open : order < 0 ? other.open : region.open || other.open;
  const to = smaller(region.to, other.to);
  return open ? from.less(to) : from.atMost(to);
}

/**
 * Open ends count: a largest difference that is reached at an open end alone is not reached (section 18).
 * @param {Relation} relation `between`
 * @param {Region} region with numbers
 * @param {Region} other with numbers
 */
function canDifferBetween({ low, high }, region, other) {
  const most = other.to.minus(region.from).compare(low);
  const least = other.from.minus(region.to).compare(high);
  return (most > 0 || (most === 0 && !region.open)) && (least < 0 || (least === 0 && !other.open));
}

/**
 * @param {Relation} relation
 * @param {Set<number>} positions
 * @param {Set<number>} others
 */
function canPositionsBeRelated({ kind, low, high, allowed }, positions, others) {
  if (kind === 'within' || kind === 'between') {
    // Whole numbers, however large.
    const [p, q] = [Number(low.floor()), Number(high.floor())];
    for (const i of positions) for (const j of others) if (p <= j - i && j - i <= q) return true;
    return false;
  }
  for (const position of positions) if (others.has(position)) return true;
  return allowed.some(([i, j]) => (positions.has(i) && others.has(j)) || (positions.has(j) && others.has(i)));
}
