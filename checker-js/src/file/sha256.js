/** SHA-256 (FIPS 180-4), fed piece by piece. Workers of pages that were opened from a disk have no other one. */

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes, from whole numbers. */
const ROUND_CONSTANTS = fractionsOfRoots(64, 3n);
const START = fractionsOfRoots(8, 2n);

/**
 * @param {number} count
 * @param {bigint} degree 2 or 3
 */
function fractionsOfRoots(count, degree) {
  const words = new Uint32Array(count);
  let found = 0;
  for (let n = 2n; found < count; n += 1n) {
    let prime = true;
    for (let d = 2n; d * d <= n; d += 1n) if (n % d === 0n) prime = false;
    if (!prime) continue;
    // The largest w with w^degree <= n 2^(32 degree) is the root of n in units of 2^-32.
    let root = 0n;
    for (let bit = 1n << 37n; bit > 0n; bit >>= 1n) {
      if ((root + bit) ** degree <= n << (32n * degree)) root += bit;
    }
    words[found] = Number(BigInt.asUintN(32, root));
    found += 1;
  }
  return words;
}

export class Sha256 {
  constructor() {
    this.state = START.slice();
    this.block = new Uint8Array(64);
    this.filled = 0;
    this.length = 0;
    this.schedule = new Uint32Array(64);
  }

  /** @param {Uint8Array} bytes */
  update(bytes) {
    this.length += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(64 - this.filled, bytes.length - at);
      this.block.set(bytes.subarray(at, at + count), this.filled);
      this.filled += count;
      at += count;
      if (this.filled === 64) {
        this.digestBlock();
        this.filled = 0;
      }
    }
    return this;
  }

  /** @returns {Sha256} */
  copy() {
    const copy = new Sha256();
    copy.state.set(this.state);
    copy.block.set(this.block);
    copy.filled = this.filled;
    copy.length = this.length;
    return copy;
  }

  /** @returns {string} the digest of all bytes so far, in lower-case hexadecimal; more may follow */
  hexadecimal() {
    const copy = this.copy();
    const padding = new Uint8Array((this.filled < 56 ? 64 : 128) - this.filled);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.length - 8, 8n * BigInt(this.length));
    copy.update(padding);
    return [...copy.state].map((word) => word.toString(16).padStart(8, '0')).join('');
  }

  digestBlock() {
    const { schedule: w, state } = this;
    const view = new DataView(this.block.buffer);
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(4 * i);
    for (let i = 16; i < 64; i++) {
      const s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + w[i]) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] += word;
    });
  }
}

/**
 * @param {number} word
 * @param {number} count
 */
function rotate(word, count) {
  return (word >>> count) | (word << (32 - count));
}

/** @param {Uint8Array} bytes */
export function sha256(bytes) {
  return new Sha256().update(bytes).hexadecimal();
}
