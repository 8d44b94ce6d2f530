/** Certificates taken apart and put together again, for tests: lines as JSON, digests and counts made anew. */

import { gunzipSync, gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import { parseJson } from '../src/file/json.js';

/** @typedef {import('../src/file/json.js').Json} Json */

/**
 * @param {Uint8Array} file
 * @returns {Json[]} its lines
 */
export function openCertificate(file) {
  const text = gunzipSync(file).toString('utf8');
  return text.split('\n').slice(0, -1).map((line) => parseJson(line));
}

/**
 * @param {Json} json
 * @returns {string}
 */
export function writeJson(json) {
  if (typeof json === 'bigint') return `${json}`;
  if (Array.isArray(json)) return `[${json.map(writeJson).join(',')}]`;
  if (json instanceof Map) return `{${[...json].map(([key, value]) => `${JSON.stringify(key)}:${writeJson(value)}`).join(',')}}`;
  return JSON.stringify(json);
}

/** @param {string} text */
function digest(text) {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Writes lines as a certificate whose digests are right, whatever stands in them, as far as header and end are still such.
 * @param {Json[]} lines
 * @param {{seal?: boolean}} [options] seal: make the digests anew
 * @returns {Uint8Array}
 */
export function writeCertificate(lines, { seal = true } = {}) {
  const texts = lines.map(writeJson);
  if (seal) {
    const digests = lines[0] instanceof Map ? lines[0].get('digests') : null;
    if (digests instanceof Map) {
      ['space', 'similarity', 'property', 'model'].forEach((name, i) => {
        if (digests.has(name) && texts[i + 1] !== undefined) digests.set(name, digest(texts[i + 1]));
      });
      texts[0] = writeJson(lines[0]);
    }
    const last = lines[lines.length - 1];
    const end = last instanceof Map ? last.get('end') : null;
    if (end instanceof Map && end.has('sha256')) {
      end.set('sha256', digest(texts.slice(0, -1).map((text) => `${text}\n`).join('')));
      texts[texts.length - 1] = writeJson(last);
    }
  }
  return new Uint8Array(gzipSync(texts.map((text) => `${text}\n`).join(''), { level: 1 }));
}

/**
 * @param {Json} json
 * @returns {Json} a copy that shares nothing with it
 */
export function copyJson(json) {
  if (Array.isArray(json)) return json.map(copyJson);
  if (json instanceof Map) return new Map([...json].map(([key, value]) => [key, copyJson(value)]));
  return json;
}
