/** Reading parts of JSON values, each of the kind that the specification gives it and nothing else. */

import { readNumber } from '../exact/number-syntax.js';
import { Rational } from '../exact/rational.js';
import { reject, require } from '../rejection.js';

/** @typedef {import('./json.js').Json} Json */

/**
 * The values of an object that has exactly these keys (the optional ones may be left out, and are then undefined).
 * @param {Json | undefined} json
 * @param {string} what
 * @param {string[]} keys
 * @param {string[]} [optional]
 * @returns {(key: string) => Json}
 */
export function readObject(json, what, keys, optional = []) {
  if (!(json instanceof Map)) return reject(`${what}: not an object`);
  for (const key of keys) require(json.has(key), `${what}: the key "${key}" is missing`);
  for (const key of json.keys()) {
    require(keys.includes(key) || optional.includes(key), `${what}: the key ${JSON.stringify(key)} does not belong here`);
  }
  return (key) => /** @type {Json} */ (json.get(key));
}

/**
 * The value of an object with one key.
 * @param {Json} json
 * @param {string} key
 */
export function readOnly(json, key) {
  return readObject(json, key, [key])(key);
}

/**
 * @param {Json | undefined} json
 * @param {string} what
 * @returns {Json[]}
 */
export function readArray(json, what) {
  return Array.isArray(json) ? json : reject(`${what}: not an array`);
}

/**
 * @param {Json | undefined} json
 * @param {string} what
 * @param {number} length
 */
export function readArrayOf(json, what, length) {
  const items = readArray(json, what);
  require(items.length === length, `${what}: ${items.length} entries where ${length} are needed`);
  return items;
}

/**
 * @param {Json | undefined} json
 * @param {string} what
 * @returns {string}
 */
export function readText(json, what) {
  return typeof json === 'string' ? json : reject(`${what}: not a text`);
}

/**
 * @param {Json | undefined} json
 * @param {string} what
 * @returns {boolean}
 */
export function readTruth(json, what) {
  return typeof json === 'boolean' ? json : reject(`${what}: neither true nor false`);
}

/**
 * @param {Json | undefined} json
 * @param {string} what
 * @param {bigint} lowest
 * @param {bigint} highest
 * @returns {bigint}
 */
export function readInt(json, what, lowest, highest) {
  if (typeof json !== 'bigint') return reject(`${what}: not an int`);
  require(lowest <= json && json <= highest, `${what}: ${json} is not from ${lowest} to ${highest}`);
  return json;
}

/**
 * @param {Json | undefined} json
 * @param {string} what
 * @param {number} count
 * @returns {number} an int from 0 to count - 1
 */
export function readIndex(json, what, count) {
  return Number(readInt(json, what, 0n, BigInt(count) - 1n));
}

/**
 * @param {Json | undefined} json
 * @param {string} what
 * @returns {Rational[]}
 */
export function readNumbers(json, what) {
  return readArray(json, what).map((item) => readNumber(item, what));
}

/**
 * @param {Json | undefined} json
 * @param {string} what
 * @param {number} length
 * @returns {Rational[]}
 */
export function readNumbersOf(json, what, length) {
  return readArrayOf(json, what, length).map((item) => readNumber(item, what));
}
