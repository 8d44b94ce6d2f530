/** The lines of a certificate (section 1): UTF-8, each ended by one line feed, none empty. */

import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { gunzip } from './gunzip.js';
import { checkMarks } from './line-limits.js';

const LINE_FEED = 10;

/** Reads one line after the other, and remembers the number of the line that was read last. */
export class LineReader {
  /**
   * @param {Uint8Array} file the gzip file
   * @param {() => void} [look] called with every piece that is unpacked
   */
  constructor(file, look = () => {}) {
    this.look = look;
    this.pieces = gunzip(file);
    this.allowedBytes = Math.min(MAXIMUM.textBytes, 1000 * file.length + 2 ** 20);
    this.mostMarks = MAXIMUM.marksPerByte * file.length + MAXIMUM.marks;
    this.decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    this.number = 0;
    /** @type {Uint8Array} what was unpacked and not read yet */
    this.rest = new Uint8Array(0);
    this.unpacked = 0;
  }

  /** @returns {Uint8Array | null} the next line with its line feed; null after the last one */
  nextBytes() {
    /** @type {Uint8Array[]} */
    const parts = [];
    let length = 0;
    for (;;) {
      const end = this.rest.indexOf(LINE_FEED);
      const part = end < 0 ? this.rest : this.rest.subarray(0, end + 1);
      parts.push(part);
      length += part.length;
      require(length <= MAXIMUM.lineBytes, 'a line is too long');
      if (end >= 0) {
        this.rest = this.rest.subarray(end + 1);
        this.number += 1;
        return joined(parts, length);
      }
      if (!this.unpackMore()) break;
    }
    this.rest = new Uint8Array(0);
    if (length === 0) return null;
    this.number += 1;
    return reject('the last line is not ended by a line feed');
  }

  unpackMore() {
    this.look();
    const { value, done } = this.pieces.next();
    if (done || value === undefined) return false;
    this.unpacked += value.length;
    require(this.unpacked <= this.allowedBytes, 'the file unpacks to more text than is allowed');
    this.rest = value;
    return true;
  }

  /** @param {Uint8Array} bytes a line with its line feed */
  textOf(bytes) {
    require(bytes.length > 1, 'an empty line');
    checkMarks(bytes, this.mostMarks);
    try {
      return this.decoder.decode(bytes.subarray(0, bytes.length - 1));
    } catch {
      return reject('not UTF-8');
    }
  }
}

/**
 * @param {Uint8Array[]} parts
 * @param {number} length
 */
function joined(parts, length) {
  if (parts.length === 1) return parts[0];
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

