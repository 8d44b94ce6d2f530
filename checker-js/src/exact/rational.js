/**
 * Exact rational numbers.
 *
 * A value is top * 2^two / odd, odd a positive odd integer. Certificates are full of doubles, whose denominators are powers
 * of 2: for them odd is 1 and no greatest common divisor is ever needed. Other denominators are reduced when they get long.
 */

const WORD = 64;
const WORD_BIG = 64n;
/** Denominators up to this size are left as they are. */
const SHORT = 1n << 384n;

/**
 * @param {bigint} a
 * @param {bigint} b
 * @returns {bigint} the greatest common divisor, positive unless both are 0
 */
export function commonDivisor(a, b) {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/**
 * @param {bigint} value
 * @param {bigint} divisor positive
 * @returns {bigint} the largest integer up to value / divisor
 */
export function floorDivide(value, divisor) {
  const quotient = value / divisor;
  return value < 0n && quotient * divisor !== value ? quotient - 1n : quotient;
}

/**
 * @param {bigint} value
 * @returns {number} the number of bits of the absolute value; 0 for 0
 */
export function bitLength(value) {
  const digits = (value < 0n ? -value : value).toString(16);
  return digits === '0' ? 0 : 4 * digits.length - Math.clz32(parseInt(digits[0], 16)) + 28;
}

/**
 * @param {bigint} value not 0
 * @returns {number} how often 2 divides it
 */
function trailingZeros(value) {
  let count = 0;
  let rest = value;
  while (BigInt.asUintN(WORD, rest) === 0n) {
    rest >>= WORD_BIG;
    count += WORD;
  }
  const low = BigInt.asUintN(WORD, rest);
  return count + bitLength(low & -low) - 1;
}

/**
 * @param {bigint} value not negative
 * @returns {bigint} the largest integer whose square is not larger
 */
function wholeRoot(value) {
  if (value < 2n) return value;
  // Newton's method from above.
  let root = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

export class Rational {
  /**
   * Only the functions of this file call it: the parts must be in the form said above.
   * @param {bigint} top
   * @param {number} two
   * @param {bigint} odd
   */
  constructor(top, two, odd) {
    this.top = top;
    this.two = two;
    this.odd = odd;
  }

  /**
   * top * 2^two / odd for any top, any two and any odd (positive and odd) denominator.
   * @param {bigint} top
   * @param {number} two
   * @param {bigint} odd
   */
  static make(top, two, odd) {
    if (top === 0n) return ZERO;
    while (BigInt.asUintN(WORD, top) === 0n) {
      top >>= WORD_BIG;
      two += WORD;
    }
    return odd > SHORT ? new Rational(top, two, odd).lowest() : new Rational(top, two, odd);
  }

  /** @param {bigint | number} whole */
  static of(whole) {
    return Rational.make(BigInt(whole), 0, 1n);
  }

  /**
   * @param {bigint} top
   * @param {number} two
   */
  static dyadic(top, two) {
    return Rational.make(top, two, 1n);
  }

  /**
   * @param {bigint} numerator
   * @param {bigint} denominator not 0
   */
  static fraction(numerator, denominator) {
    const zeros = trailingZeros(denominator);
    const odd = denominator >> BigInt(zeros);
    return odd < 0n ? Rational.make(-numerator, -zeros, -odd) : Rational.make(numerator, -zeros, odd);
  }

  /** @param {Rational} other */
  plus(other) {
    if (this.top === 0n) return other;
    if (other.top === 0n) return this;
    let left = this.top;
    let right = other.top;
    let two = this.two;
    if (this.two > other.two) {
      two = other.two;
      left <<= BigInt(this.two - two);
    } else if (other.two > two) {
      right <<= BigInt(other.two - two);
    }
    if (this.odd === other.odd) return Rational.make(left + right, two, this.odd);
    return Rational.make(left * other.odd + right * this.odd, two, this.odd * other.odd);
  }

  /** @param {Rational} other */
  minus(other) {
    return this.plus(other.negated());
  }

  /** @param {Rational} other */
  times(other) {
    const odd = this.odd === 1n ? other.odd : other.odd === 1n ? this.odd : this.odd * other.odd;
    return Rational.make(this.top * other.top, this.two + other.two, odd);
  }

  /** @param {Rational} other not 0 */
  over(other) {
    if (other.top === 0n) throw new Error('division by zero');
    const zeros = trailingZeros(other.top);
    const odd = other.top >> BigInt(zeros);
    const top = this.top * other.odd;
    return Rational.make(odd < 0n ? -top : top, this.two - other.two - zeros, this.odd * (odd < 0n ? -odd : odd));
  }

  negated() {
    return new Rational(-this.top, this.two, this.odd);
  }

  absolute() {
    return this.top < 0n ? this.negated() : this;
  }

  squared() {
    return this.times(this);
  }

  /** @param {number} power of 2 */
  scaled(power) {
    return this.top === 0n ? this : new Rational(this.top, this.two + power, this.odd);
  }

  half() {
    return this.scaled(-1);
  }

  /** @returns {-1 | 0 | 1} */
  sign() {
    return this.top > 0n ? 1 : this.top < 0n ? -1 : 0;
  }

  isZero() {
    return this.top === 0n;
  }

  /**
   * @param {Rational} other
   * @returns {-1 | 0 | 1}
   */
  compare(other) {
    if (this.two === other.two && this.odd === other.odd) {
      return this.top < other.top ? -1 : this.top > other.top ? 1 : 0;
    }
    const sign = this.sign();
    if (sign !== other.sign()) return sign < other.sign() ? -1 : 1;
    return this.minus(other).sign();
  }

  /** @param {Rational} other */
  less(other) {
    return this.compare(other) < 0;
  }

  /** @param {Rational} other */
  atMost(other) {
    return this.compare(other) <= 0;
  }

  /** @param {Rational} other */
  equals(other) {
    return this.compare(other) === 0;
  }

  /** The same value without a common factor of top and odd. */
  lowest() {
    if (this.odd === 1n) return this;
    const common = commonDivisor(this.top, this.odd);
    return common === 1n ? this : new Rational(this.top / common, this.two, this.odd / common);
  }

  isWhole() {
    const { top, two, odd } = this.lowest();
    return odd === 1n && (two >= 0 || top === 0n || trailingZeros(top) >= -two);
  }

  /**
   * @param {number} [bits]
   * @returns {bigint} the largest integer up to value * 2^bits
   */
  floor(bits = 0) {
    const shift = this.two + bits;
    if (shift >= 0) return floorDivide(this.top << BigInt(shift), this.odd);
    return this.odd === 1n ? this.top >> BigInt(-shift) : floorDivide(this.top, this.odd << BigInt(-shift));
  }

  /**
   * @param {number} [bits]
   * @returns {bigint} the smallest integer from value * 2^bits on
   */
  ceil(bits = 0) {
    return -this.negated().floor(bits);
  }

  /**
   * @param {number} bits
   * @returns {Rational} the root, if it is rational; else the largest multiple of 2^-bits below it
   */
  rootBelow(bits) {
    const { above, below, power } = this.reduced();
    const [top, bottom] = [wholeRoot(above), wholeRoot(below)];
    if (power % 2 === 0 && top * top === above && bottom * bottom === below) return Rational.make(top, power / 2, bottom);
    return Rational.dyadic(wholeRoot(this.floor(2 * bits)), -bits);
  }

  /** The odd parts of numerator and denominator, in lowest terms, and the power of 2 between them. */
  reduced() {
    if (this.top === 0n) return { above: 0n, below: 1n, power: 0 };
    const { top, two, odd } = this.lowest();
    const zeros = trailingZeros(top);
    return { above: top >> BigInt(zeros), below: odd, power: two + zeros };
  }

  /** As a fraction in lowest terms. */
  toString() {
    const { above, below, power } = this.reduced();
    const top = power > 0 ? above << BigInt(power) : above;
    const bottom = power < 0 ? below << BigInt(-power) : below;
    return bottom === 1n ? `${top}` : `${top}/${bottom}`;
  }
}

export const ZERO = new Rational(0n, 0, 1n);
export const ONE = new Rational(1n, 0, 1n);
export const HALF = new Rational(1n, -1, 1n);

/**
 * @param {Rational} a
 * @param {Rational} b
 */
export function smaller(a, b) {
  return b.less(a) ? b : a;
}

/**
 * @param {Rational} a
 * @param {Rational} b
 */
export function larger(a, b) {
  return a.less(b) ? b : a;
}

/** @param {Rational[]} values at least one */
export function largest(values) {
  return values.reduce(larger);
}

/** @param {Rational[]} values at least one */
export function smallest(values) {
  return values.reduce(smaller);
}

/** @param {Rational[]} values */
export function sum(values) {
  return values.reduce((total, value) => total.plus(value), ZERO);
}

/**
 * A maximum that may be over nothing: null stands for minus infinity.
 * @param {Rational | null} a
 * @param {Rational | null} b
 */
export function largerOfMaxima(a, b) {
  if (a === null) return b;
  return b === null ? a : larger(a, b);
}
