/** Numbers, texts, levels and lists of them, for people. Nothing is decided by what stands here. */

import { Rational } from './exact/rational.js';

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
 * A text of the file in quotation marks; what a screen would not show as it is, is written as an escape.
 * @param {string} text
 */
export function quoted(text) {
  return printable(JSON.stringify(text));
}

/** @param {string} text */
export function printable(text) {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${/** @type {number} */ (character.codePointAt(0)).toString(16)}}`);
}

/** @param {Level | undefined} level */
export function levelWords(level) {
  if (level instanceof Rational) return shown(level);
  if (typeof level === 'string') return quoted(level);
  return level === null ? 'missing' : `${level}`;
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
