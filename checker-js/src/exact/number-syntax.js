/** Numbers as a certificate writes them (section 1, "A number"). */

import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { Rational } from './rational.js';

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const HEXADECIMAL = /^(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?[0-9]+)$/;
const FRACTION = /^(-?(?:0|[1-9][0-9]*))\/([1-9][0-9]*)$/;

/**
 * @param {unknown} json
 * @param {string} what what the number is, for messages
 * @returns {Rational}
 */
export function readNumber(json, what) {
  if (typeof json !== 'string') return reject(`${what}: a number must be written as a text`);
  require(json.length <= MAXIMUM.numberCharacters, `${what}: a number of more than ${MAXIMUM.numberCharacters} characters`);
  if (INTEGER.test(json)) return Rational.of(BigInt(json));
  const hexadecimal = HEXADECIMAL.exec(json);
  if (hexadecimal !== null) return fromHexadecimal(hexadecimal, what);
  const fraction = FRACTION.exec(json);
  if (fraction !== null) return Rational.fraction(BigInt(fraction[1]), BigInt(fraction[2]));
  return reject(`${what}: not a number: ${JSON.stringify(json.slice(0, 40))}`);
}

/**
 * @param {RegExpExecArray} parts sign, digits before the point, digits after it, exponent
 * @param {string} what
 */
function fromHexadecimal([, sign, before, after = '', exponentText], what) {
  const exponent = BigInt(exponentText);
  const limit = BigInt(MAXIMUM.exponent);
  require(-limit <= exponent && exponent <= limit, `${what}: an exponent beyond ${MAXIMUM.exponent}`);
  const digits = BigInt(`0x${before}${after}`);
  return Rational.dyadic(sign === '-' ? -digits : digits, Number(exponent) - 4 * after.length);
}
