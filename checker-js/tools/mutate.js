/** Mutants of certificates: one or two small changes of parsed lines, by a random generator with a seed. */

import { copyJson } from './seal.js';

/** @typedef {import('../src/file/json.js').Json} Json */

/** A small random generator (mulberry32), so that a run can be repeated. */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** @param {number} count */
  below(count) {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % count;
  }

  /**
   * @template T
   * @param {T[]} items
   * @returns {T}
   */
  pick(items) {
    return items[this.below(items.length)];
  }
}

/** Where a value stands: set replaces it, remove takes it out. */
/** @typedef {{value: Json, set: (value: Json) => void, remove: () => void, key: string | number}} Slot */

const HEAD_LINES = 5;
const NUMBER = /^-?(?:[0-9]+|0x[0-9a-f]+(?:\.[0-9a-f]+)?p[+-]?[0-9]+|[0-9]+\/[0-9]+)$/;
const STRANGE = [null, true, '', '1', '0', '-1', '1/0', '01', '0x1p1', '1.5', '1e3', 'NaN', '+1', 0n, -1n, 1n, 10n ** 30n];
const LEAVES = [
  ['enumerated'],
  ['independent'],
  ['empty', []],
  ['separable', '0x1p-1'],
  ['separable', '0'],
  ['separable', '1'],
  ['trees', '0x1p-1'],
  ['trees', '1'],
  ['odds', []],
  ['kernel', '0x1p-1', [], 0n],
  ['mixed', '0x1p-1', [], 64n],
  ['polynomial', '0x1p-1', []],
  ['sos', '0x1p-1', 0n, []],
  ['cases'],
  ['sum', '0x1p-1', [null, null]],
  ['sum', '0x1p-1', [[null, null, []]]],
  ['network', null, 0n, [], []],
  ['identical'],
  ['nested', '0x1p-1', [[null, null, null, null, null, null]]],
  ['inner', 0n, 0n, '0'],
  ['slope', [0n]],
  ['separable', '0x1p-1', [], ['1']],
];

/**
 * @param {Json[]} lines of a certificate
 * @param {Random} random
 * @returns {{lines: Json[], seal: boolean, what: string}}
 */
export function mutate(lines, random) {
  const copy = lines.map(copyJson);
  const changes = random.below(8) === 0 ? 2 : 1;
  const what = [];
  for (let i = 0; i < changes; i++) what.push(change(copy, random));
  if (random.below(4) !== 0) countNodes(copy);
  return { lines: copy, seal: random.below(40) !== 0, what: what.join('; ') };
}

/**
 * @param {Json[]} lines changed in place
 * @param {Random} random
 * @returns {string} what was done
 */
function change(lines, random) {
  const body = lines.length - 1 - HEAD_LINES;
  const way = random.below(10);
  if (way === 0 && body > 0) return changeLines(lines, random, body);
  if (way === 1 && body > 0) {
    const at = HEAD_LINES + random.below(body);
    lines[at] = copyJson(/** @type {Json} */ (random.pick(LEAVES)));
    return `line ${at + 1} becomes ${lines[at]}`;
  }
  // The model line is long: every line gets its turn.
  const at = way < 4 ? random.below(lines.length) : way < 8 && body > 0 ? HEAD_LINES + random.below(body) : 1 + random.below(4);
  const slots = slotsOf(lines[at]);
  if (slots.length === 0) return 'nothing';
  const slot = random.pick(slots);
  return `line ${at + 1}, ${slot.key}: ${changeSlot(slot, slots, random)}`;
}

/**
 * @param {Json[]} lines
 * @param {Random} random
 * @param {number} body how many lines it has
 */
function changeLines(lines, random, body) {
  const at = HEAD_LINES + random.below(body);
  const other = HEAD_LINES + random.below(body);
  switch (random.below(4)) {
    case 0:
      lines.splice(at, 1);
      return `line ${at + 1} dropped`;
    case 1:
      lines.splice(at, 0, copyJson(lines[other]));
      return `line ${other + 1} copied to ${at + 1}`;
    case 2:
      lines[at] = copyJson(lines[other]);
      return `line ${at + 1} becomes line ${other + 1}`;
    default:
      [lines[at], lines[other]] = [lines[other], lines[at]];
      return `lines ${at + 1} and ${other + 1} swapped`;
  }
}

/**
 * @param {Json} json
 * @param {Slot[]} [slots]
 * @returns {Slot[]} of all values in it
 */
function slotsOf(json, slots = []) {
  if (Array.isArray(json)) {
    json.forEach((value, i) => {
      slots.push({ value, key: i, set: (next) => (json[i] = next), remove: () => json.splice(i, 1) });
      slotsOf(value, slots);
    });
  } else if (json instanceof Map) {
    for (const [key, value] of json) {
      slots.push({ value, key, set: (next) => json.set(key, next), remove: () => json.delete(key) });
      slotsOf(value, slots);
    }
  }
  return slots;
}

/**
 * @param {Slot} slot
 * @param {Slot[]} slots of the same line
 * @param {Random} random
 */
function changeSlot(slot, slots, random) {
  const { value } = slot;
  const way = random.below(20);
  if (way === 0) {
    slot.remove();
    return 'removed';
  }
  if (way === 1) {
    const strange = /** @type {Json} */ (random.pick(STRANGE));
    slot.set(strange);
    return `becomes ${strange}`;
  }
  if (way === 2) {
    const other = random.pick(slots);
    slot.set(copyJson(other.value));
    return `becomes ${other.key}`;
  }
  const next = changed(value, random);
  slot.set(next);
  return `${typeof value === 'object' ? '...' : value} becomes ${typeof next === 'object' ? '...' : next}`;
}

/**
 * @param {Json} value
 * @param {Random} random
 * @returns {Json}
 */
function changed(value, random) {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'bigint') return random.pick([value + 1n, value - 1n, -value, 2n * value, 0n, value / 2n]);
  if (typeof value === 'string') return NUMBER.test(value) ? changedNumber(value, random) : `${value}x`;
  if (Array.isArray(value)) return changedArray(value, random);
  return value;
}

/**
 * @param {string} value
 * @param {Random} random
 */
function changedNumber(value, random) {
  switch (random.below(8)) {
    case 0:
      return value.startsWith('-') ? value.slice(1) : `-${value}`;
    case 1:
      return '0';
    case 2:
      return random.pick(['1', '-1', '2', '1/2', '1/3', '0x1p-60', '0x1p-1074', '1000000']);
    default:
      return nearby(value, random);
  }
}

/**
 * @param {string} value
 * @param {Random} random
 * @returns {string} a number near to it, or of another size
 */
function nearby(value, random) {
  const hexadecimal = /^(-?)0x([0-9a-f]+)p([+-]?[0-9]+)$/.exec(value);
  if (hexadecimal !== null) {
    const [, sign, digits, exponent] = hexadecimal;
    const whole = BigInt(`0x${digits}`);
    const steps = [1n, -1n, whole / 1000n, -whole / 1000n, whole / 4n, -whole / 4n, whole, 16n * whole];
    const next = whole + random.pick(steps);
    return `${sign}0x${(next < 0n ? 0n : next).toString(16)}p${exponent}`;
  }
  const fraction = /^(-?[0-9]+)\/([0-9]+)$/.exec(value);
  if (fraction !== null) return `${BigInt(fraction[1]) + random.pick([1n, -1n, BigInt(fraction[2])])}/${fraction[2]}`;
  if (!/^-?[0-9]+$/.test(value)) return '1';
  return `${BigInt(value) + random.pick([1n, -1n, 2n, BigInt(value)])}`;
}

/**
 * @param {Json[]} value
 * @param {Random} random
 * @returns {Json[]}
 */
function changedArray(value, random) {
  if (value.length === 0) return [random.pick(['1', 0n, []])];
  const [i, j] = [random.below(value.length), random.below(value.length)];
  const next = value.slice();
  switch (random.below(3)) {
    case 0:
      next.splice(i, 1);
      break;
    case 1:
      next.splice(i, 0, copyJson(value[j]));
      break;
    default:
      [next[i], next[j]] = [next[j], next[i]];
  }
  return next;
}

/**
 * Makes the end count the lines of the proof, so that a mutant is not rejected for that alone.
 * @param {Json[]} lines
 */
function countNodes(lines) {
  const last = lines[lines.length - 1];
  const end = last instanceof Map ? last.get('end') : null;
  if (end instanceof Map && end.has('nodes')) end.set('nodes', BigInt(lines.length - 1 - HEAD_LINES));
}
