/** Limits of one line before it is read (section 1): its brackets, and the denominators of its fractions. */

import { bitLength, commonDivisor } from '../exact/rational.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';

const FRACTION = /"-?(?:0|[1-9][0-9]*)\/([1-9][0-9]*)"/g;
const [ARRAY, OBJECT, COMMA, QUOTE] = [0x5b, 0x7b, 0x2c, 0x22];

/**
 * @param {Uint8Array} bytes a line: it may open 2^23 brackets, those in its texts counted
 * @param {number} mostMarks as many brackets, commas and quotes it may have: values take memory
 */
export function checkMarks(bytes, mostMarks) {
  if (bytes.length <= Math.min(MAXIMUM.brackets, mostMarks)) return;
  let [opened, others] = [0, 0];
  for (const byte of bytes) {
    if (byte === ARRAY || byte === OBJECT) opened += 1;
    else if (byte === COMMA || byte === QUOTE) others += 1;
  }
  require(opened <= MAXIMUM.brackets, `a line with more than ${MAXIMUM.brackets} brackets`);
  require(opened + others <= mostMarks, `a line of more than ${mostMarks} brackets, commas and quotes`);
}

/**
 * The least common multiple of all denominators, as they are written, has at most 2^16 bits. It at least doubles with every
 * denominator that does not divide it, so that there are not many steps.
 * @param {string} text a line
 * @param {() => void} tick
 */
export function checkDenominators(text, tick) {
  if (!text.includes('/')) return;
  /** @type {Set<string>} */
  const known = new Set();
  let common = 1n;
  for (const [, digits] of text.matchAll(FRACTION)) {
    if (known.has(digits)) continue;
    tick();
    require(digits.length <= MAXIMUM.numberCharacters, `a number of more than ${MAXIMUM.numberCharacters} characters`);
    known.add(digits);
    const denominator = BigInt(digits);
    if (common % denominator === 0n) continue;
    common *= denominator / commonDivisor(common, denominator);
    require(bitLength(common) <= MAXIMUM.denominatorBits, 'the denominators of a line have too long a common multiple');
  }
}
