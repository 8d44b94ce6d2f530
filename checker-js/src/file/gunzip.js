/**
 * Unpacks a gzip file of one member (RFC 1952, RFC 1951), piece by piece, so that a file that unpacks to more than it may
 * is stopped on the way.
 */

import { Unreadable } from '../rejection.js';

const WINDOW = 32 * 1024;
const PIECE = 256 * 1024;
const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** @returns {never} */
function damaged() {
  throw new Unreadable('the gzip file is damaged');
}

/** A Huffman code: how many symbols have each length, and the symbols in the order of their codes. */
class HuffmanCode {
  /**
   * @param {number[]} lengths of the codes of the symbols, 0 for none
   * @param {boolean} mayBeShort whether one code of one bit may stand alone
   */
  constructor(lengths, mayBeShort = true) {
    this.counts = new Uint16Array(16);
    for (const length of lengths) this.counts[length] += 1;
    this.counts[0] = 0;
    const starts = [0, 0];
    for (let length = 1; length < 15; length++) starts.push(starts[length] + this.counts[length]);
    this.symbols = new Uint16Array(lengths.length);
    lengths.forEach((length, symbol) => {
      if (length > 0) this.symbols[starts[length]++] = symbol;
    });
    let free = 1;
    for (let length = 1; length < 16; length++) free = 2 * free - this.counts[length];
    const used = this.counts.reduce((total, count) => total + count);
    // One code that is not complete is a sound one: of one bit, or of none.
    if (free < 0 || (free > 0 && used > 0 && !(mayBeShort && used === 1 && this.counts[1] === 1))) damaged();
  }
}

const FIXED_LITERALS = new HuffmanCode(
  Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)),
);
const FIXED_DISTANCES = new HuffmanCode(Array.from({ length: 32 }, () => 5));

class BitReader {
  /**
   * @param {Uint8Array} bytes
   * @param {number} at
   */
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
    this.held = 0;
    this.count = 0;
  }

  /** @param {number} count at most 16 */
  bits(count) {
    while (this.count < count) {
      if (this.at >= this.bytes.length) damaged();
      this.held |= this.bytes[this.at++] << this.count;
      this.count += 8;
    }
    const value = this.held & ((1 << count) - 1);
    this.held >>>= count;
    this.count -= count;
    return value;
  }

  /** @param {HuffmanCode} code */
  symbol(code) {
    let [value, first, index] = [0, 0, 0];
    for (let length = 1; length < 16; length++) {
      value |= this.bits(1);
      const count = code.counts[length];
      if (value - count < first) return code.symbols[index + value - first];
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
    return damaged();
  }

  skipToByte() {
    this.at -= this.count >> 3;
    this.held = 0;
    this.count = 0;
  }
}

/** What was unpacked: the last pieces of it, as far back as a repetition may reach. */
class Output {
  constructor() {
    this.buffer = new Uint8Array(WINDOW + PIECE);
    this.end = 0;
    this.given = 0;
    this.total = 0;
    this.crc = 0xffffffff;
  }

  isFull() {
    return this.end >= this.buffer.length - 258;
  }

  /** @param {number} byte */
  put(byte) {
    this.buffer[this.end++] = byte;
  }

  /**
   * @param {number} distance
   * @param {number} length
   */
  repeat(distance, length) {
    if (distance > this.end) damaged();
    for (let i = 0; i < length; i++, this.end++) this.buffer[this.end] = this.buffer[this.end - distance];
  }

  /** @returns {Uint8Array} what was not given yet; makes room for more */
  take() {
    const piece = this.buffer.slice(this.given, this.end);
    this.crc = crcOf(piece, this.crc);
    this.total += piece.length;
    const kept = Math.min(this.end, WINDOW);
    this.buffer.copyWithin(0, this.end - kept, this.end);
    this.end = kept;
    this.given = kept;
    return piece;
  }
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, start) => {
  let value = start;
  for (let i = 0; i < 8; i++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/**
 * @param {Uint8Array} bytes
 * @param {number} crc of what comes before, its bits inverted
 */
function crcOf(bytes, crc) {
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return crc;
}

/**
 * @param {Uint8Array} bytes a whole gzip file
 * @returns {Generator<Uint8Array, void, void>} its content
 */
export function* gunzip(bytes) {
  const reader = new BitReader(bytes, headerLength(bytes));
  const output = new Output();
  for (let last = 0; last === 0; ) {
    last = reader.bits(1);
    const kind = reader.bits(2);
    if (kind === 0) yield* storedBlock(reader, output);
    else if (kind === 1) yield* packedBlock(reader, output, FIXED_LITERALS, FIXED_DISTANCES);
    else if (kind === 2) yield* packedBlock(reader, output, ...readCodes(reader));
    else damaged();
  }
  yield output.take();
  reader.skipToByte();
  if (reader.at + 8 > bytes.length) damaged();
  const trailer = new DataView(bytes.buffer, bytes.byteOffset + reader.at, 8);
  if (trailer.getUint32(0, true) !== (output.crc ^ 0xffffffff) >>> 0) damaged();
  if (trailer.getUint32(4, true) !== output.total % 2 ** 32) damaged();
  if (reader.at + 8 !== bytes.length) throw new Unreadable('something follows the gzip member');
}

/** @param {Uint8Array} bytes */
function headerLength(bytes) {
  if (bytes.length < 18 || bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8) throw new Unreadable('not a gzip file');
  const flags = bytes[3];
  if (flags > 31) throw new Unreadable('a gzip file with reserved flags');
  let at = 10;
  if (flags & 4) at += 2 + bytes[at] + 256 * bytes[at + 1];
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    while (at < bytes.length && bytes[at] !== 0) at += 1;
    at += 1;
  }
  if (flags & 2) {
    if (((crcOf(bytes.subarray(0, at), 0xffffffff) ^ 0xffff) & 0xffff) !== bytes[at] + 256 * bytes[at + 1]) damaged();
    at += 2;
  }
  if (at >= bytes.length) damaged();
  return at;
}

/**
 * @param {BitReader} reader
 * @param {Output} output
 */
function* storedBlock(reader, output) {
  reader.skipToByte();
  const length = reader.bits(16);
  if (reader.bits(16) !== (length ^ 0xffff)) damaged();
  for (let i = 0; i < length; i++) {
    if (output.isFull()) yield output.take();
    output.put(reader.bits(8));
  }
}

/**
 * @param {BitReader} reader
 * @param {Output} output
 * @param {HuffmanCode} literals
 * @param {HuffmanCode} distances
 */
function* packedBlock(reader, output, literals, distances) {
  for (;;) {
    if (output.isFull()) yield output.take();
    const symbol = reader.symbol(literals);
    if (symbol === 256) return;
    if (symbol < 256) {
      output.put(symbol);
      continue;
    }
    if (symbol > 285) damaged();
    const length = LENGTH_BASE[symbol - 257] + reader.bits(LENGTH_BITS[symbol - 257]);
    const far = reader.symbol(distances);
    if (far > 29) damaged();
    output.repeat(DISTANCE_BASE[far] + reader.bits(DISTANCE_BITS[far]), length);
  }
}

/**
 * The codes of a block that has codes of its own.
 * @param {BitReader} reader
 * @returns {[HuffmanCode, HuffmanCode]}
 */
function readCodes(reader) {
  const literals = reader.bits(5) + 257;
  const distances = reader.bits(5) + 1;
  const count = reader.bits(4) + 4;
  if (literals > 286 || distances > 30) damaged();
  /** @type {number[]} */
  const order = new Array(19).fill(0);
  for (let i = 0; i < count; i++) order[CODE_LENGTH_ORDER[i]] = reader.bits(3);
  const code = new HuffmanCode(order, false);
  /** @type {number[]} */
  const lengths = [];
  while (lengths.length < literals + distances) {
    const symbol = reader.symbol(code);
    if (symbol < 16) {
      lengths.push(symbol);
      continue;
    }
    if (symbol === 16 && lengths.length === 0) damaged();
    const repeated = symbol === 16 ? lengths[lengths.length - 1] : 0;
    const times = symbol === 16 ? 3 + reader.bits(2) : symbol === 17 ? 3 + reader.bits(3) : 11 + reader.bits(7);
    for (let i = 0; i < times; i++) lengths.push(repeated);
  }
  if (lengths.length !== literals + distances || lengths[256] === 0) damaged();
  return [new HuffmanCode(lengths.slice(0, literals)), new HuffmanCode(lengths.slice(literals))];
}
