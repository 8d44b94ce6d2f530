/** The claim or the model that a user says the certificate has to be about (section 13, "Files of the user's"). */

import { sha256 } from '../file/sha256.js';
import { CLAIM_LINES } from './claim.js';

const LINE_FEED = 10;

/** A claim file or a model file that is none: a mistake of the user's, not of the certificate. */
export class WrongUsage extends Error {}

/** @typedef {Map<string, string>} ExpectedDigests by the names of the claim's lines */

/**
 * @param {Uint8Array} bytes a claim file: the four lines of a claim, the last one with or without its line feed
 * @returns {ExpectedDigests}
 */
export function digestsOfClaimFile(bytes) {
  const lines = linesOf(bytes);
  if (lines.length !== CLAIM_LINES.length) {
    throw new WrongUsage(`a claim file has ${CLAIM_LINES.length} lines (${CLAIM_LINES.join(', ')}), this one has ${lines.length}`);
  }
  return new Map(CLAIM_LINES.map((name, i) => [name, sha256(lines[i])]));
}

/**
 * @param {Uint8Array} bytes a model file: the model line alone, with or without its line feed
 * @returns {ExpectedDigests}
 */
export function digestsOfModelFile(bytes) {
  const lines = linesOf(bytes);
  if (lines.length !== 1) throw new WrongUsage(`a model file has one line, this one has ${lines.length}`);
  return new Map([['model', sha256(lines[0])]]);
}

/**
 * @param {Uint8Array} bytes
 * @returns {Uint8Array[]} without their line feeds
 */
function linesOf(bytes) {
  const lines = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    lines.push(bytes.subarray(start, end < 0 ? bytes.length : end));
    start = end < 0 ? bytes.length : end + 1;
  }
  return lines;
}
