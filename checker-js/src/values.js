/** Numbers, texts, levels and lists of them, for people. Nothing is decided by what stands here. */

import { bitLength, Rational } from './exact/rational.js';

/** @typedef {import('./claim/space.js').Level} Level */

/** Longer lists are cut in the short form. */
export const SHOWN = 12;

/**
 * @param {number} count
 * @param {string} what
 */
export function counted(count, what) {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/**
 * @param {string[]} lines
 * @param {boolean} full
 */
export function cut(lines, full) {
  return full || lines.length <= SHOWN ? lines : [...lines.slice(0, SHOWN), `... and ${lines.length - SHOWN} more (--full shows them)`];
}

/**
 * @param {string[]} items
 * @param {boolean} full
 * @param {string} [between]
 */
export function list(items, full, between = ', ') {
  if (items.length === 0) return '(none)';
  return full || items.length <= SHOWN ? items.join(between) : `${items.slice(0, SHOWN).join(between)}${between}... (${items.length - SHOWN} more)`;
}

/**
 * A text of the file in quotation marks, cut if it is long, as it may be said again and again; what a screen would not show as it is, is written as an escape.
 * @param {string} text
 * @param {number} [longest]
 */
export function quoted(text, longest = 160) {
  return printable(JSON.stringify(text.slice(0, longest))) + (text.length > longest ? '...' : '');
}

/** @param {string} text */
export function printable(text) {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${/** @type {number} */ (character.codePointAt(0)).toString(16)}}`);
}

/**
 * @param {Level | undefined} level
 * @param {number} [longest]
 */
export function levelWords(level, longest) {
  if (level instanceof Rational) return shown(level);
  if (typeof level === 'string') return quoted(level, longest);
  return level === null ? 'missing' : `${level}`;
}

/**
 * A number for people: exact if it is short, else "about" with six digits. Nothing is decided by it.
 * @param {Rational} value
 */
export function shown(value) {
  const { above, below, power: two } = value.absolute().reduced();
  const [top, bottom] = [above << BigInt(Math.max(two, 0)), below << BigInt(Math.max(-two, 0))];
  const bits = bitLength(top) - bitLength(bottom);
  if (bitLength(top) + bitLength(bottom) < 64) {
    const exact = `${value}`;
    if (exact.length <= 12) return exact;
  }
  // The first six digits: of the value times a power of ten, which the numbers of binary digits tell but for one.
  let power = 5 - Math.floor(bits / Math.log2(10));
  const digitsTimes = (/** @type {number} */ n) => (n < 0 ? top / (bottom * 10n ** BigInt(-n)) : (top * 10n ** BigInt(n)) / bottom);
  while (digitsTimes(power) < 100_000n) power += 1;
  while (digitsTimes(power) >= 1_000_000n) power -= 1;
  const digits = `${digitsTimes(power)}`;
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
