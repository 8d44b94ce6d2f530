// The second checker of Likewise certificates, for workers: made of checker-js/src by checker-js/tools/bundle.js.
// What it takes and what it answers is said in checker-js/src/job.js.
'use strict';
(() => {
const modules = {};
modules["rejection.js"] = (() => {
const LONGEST_REASON = 1000;
class Rejection extends Error {
  constructor(reason) {
    super(reason.slice(0, LONGEST_REASON));
  }
  line = null;
}
class Unfinished extends Error {}
class Unreadable extends Error {}
function reject(reason) {
  throw new Rejection(reason);
}
function require(condition, reason) {
  if (!condition) throw new Rejection(reason);
}
return { Rejection, Unfinished, Unreadable, reject, require };
})();
modules["exact/rational.js"] = (() => {
const WORD = 64;
const WORD_BIG = 64n;
const SHORT = 1n << 384n;
function commonDivisor(a, b) {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}
function floorDivide(value, divisor) {
  const quotient = value / divisor;
  return value < 0n && quotient * divisor !== value ? quotient - 1n : quotient;
}
function bitLength(value) {
  const digits = (value < 0n ? -value : value).toString(16);
  return digits === '0' ? 0 : 4 * digits.length - Math.clz32(parseInt(digits[0], 16)) + 28;
}
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
function wholeRoot(value) {
  if (value < 2n) return value;
  let root = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
class Rational {
  constructor(top, two, odd) {
    this.top = top;
    this.two = two;
    this.odd = odd;
  }
  static make(top, two, odd) {
    if (top === 0n) return ZERO;
    while (BigInt.asUintN(WORD, top) === 0n) {
      top >>= WORD_BIG;
      two += WORD;
    }
    return odd > SHORT ? new Rational(top, two, odd).lowest() : new Rational(top, two, odd);
  }
  static of(whole) {
    return Rational.make(BigInt(whole), 0, 1n);
  }
  static dyadic(top, two) {
    return Rational.make(top, two, 1n);
  }
  static fraction(numerator, denominator) {
    const zeros = trailingZeros(denominator);
    const odd = denominator >> BigInt(zeros);
    return odd < 0n ? Rational.make(-numerator, -zeros, -odd) : Rational.make(numerator, -zeros, odd);
  }
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
  minus(other) {
    return this.plus(other.negated());
  }
  times(other) {
    const odd = this.odd === 1n ? other.odd : other.odd === 1n ? this.odd : this.odd * other.odd;
    return Rational.make(this.top * other.top, this.two + other.two, odd);
  }
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
  scaled(power) {
    return this.top === 0n ? this : new Rational(this.top, this.two + power, this.odd);
  }
  half() {
    return this.scaled(-1);
  }
  sign() {
    return this.top > 0n ? 1 : this.top < 0n ? -1 : 0;
  }
  isZero() {
    return this.top === 0n;
  }
  compare(other) {
    if (this.two === other.two && this.odd === other.odd) {
      return this.top < other.top ? -1 : this.top > other.top ? 1 : 0;
    }
    const sign = this.sign();
    if (sign !== other.sign()) return sign < other.sign() ? -1 : 1;
    return this.minus(other).sign();
  }
  less(other) {
    return this.compare(other) < 0;
  }
  atMost(other) {
    return this.compare(other) <= 0;
  }
  equals(other) {
    return this.compare(other) === 0;
  }
  lowest() {
    if (this.odd === 1n) return this;
    const common = commonDivisor(this.top, this.odd);
    return common === 1n ? this : new Rational(this.top / common, this.two, this.odd / common);
  }
  isWhole() {
    const { top, two, odd } = this.lowest();
    return odd === 1n && (two >= 0 || top === 0n || trailingZeros(top) >= -two);
  }
  floor(bits = 0) {
    const shift = this.two + bits;
    if (shift >= 0) return floorDivide(this.top << BigInt(shift), this.odd);
    return this.odd === 1n ? this.top >> BigInt(-shift) : floorDivide(this.top, this.odd << BigInt(-shift));
  }
  ceil(bits = 0) {
    return -this.negated().floor(bits);
  }
  rootBelow(bits) {
    const { above, below, power } = this.reduced();
    const [top, bottom] = [wholeRoot(above), wholeRoot(below)];
    if (power % 2 === 0 && top * top === above && bottom * bottom === below) return Rational.make(top, power / 2, bottom);
    return Rational.dyadic(wholeRoot(this.floor(2 * bits)), -bits);
  }
  reduced() {
    if (this.top === 0n) return { above: 0n, below: 1n, power: 0 };
    const { top, two, odd } = this.lowest();
    const zeros = trailingZeros(top);
    return { above: top >> BigInt(zeros), below: odd, power: two + zeros };
  }
  toString() {
    const { above, below, power } = this.reduced();
    const top = power > 0 ? above << BigInt(power) : above;
    const bottom = power < 0 ? below << BigInt(-power) : below;
    return bottom === 1n ? `${top}` : `${top}/${bottom}`;
  }
}
const ZERO = new Rational(0n, 0, 1n);
const ONE = new Rational(1n, 0, 1n);
const HALF = new Rational(1n, -1, 1n);
function smaller(a, b) {
  return b.less(a) ? b : a;
}
function larger(a, b) {
  return a.less(b) ? b : a;
}
function largest(values) {
  return values.reduce(larger);
}
function smallest(values) {
  return values.reduce(smaller);
}
function sum(values) {
  return values.reduce((total, value) => total.plus(value), ZERO);
}
function largerOfMaxima(a, b) {
  if (a === null) return b;
  return b === null ? a : larger(a, b);
}
return { commonDivisor, floorDivide, bitLength, Rational, ZERO, ONE, HALF, smaller, larger, largest, smallest, sum, largerOfMaxima };
})();
modules["limits.js"] = (() => {
const { Unfinished } = modules["rejection.js"];
const MAXIMUM = Object.freeze({
  features: 10_000,
  levels: 100_000,
  constraints: 1_000,
  constraintEntries: 2 ** 22,
  nodes: 100_000_000,
  depth: 10_000,
  lineBytes: 64 * 2 ** 20,
  textBytes: 16 * 2 ** 30,
  numberCharacters: 10_000,
  exponent: 20_000,
  intCharacters: 600,
  jsonDepth: 32,
  brackets: 2 ** 23,
  marks: 2 ** 22,
  marksPerByte: 16,
  denominatorBits: 2 ** 16,
  columns: 10_000,
  cuts: 10_000,
  scores: 1_000,
  parts: 10_000,
  partsOfProof: 10_000,
  innerBodies: 10_000,
  knots: 100_000,
  chainCuts: 1_000,
  forms: 10_000,
  positionPairs: 2 ** 20,
  termsOfLeaf: 2n ** 20n,
  trees: 100_000,
  treeNodes: 10_000_000,
  treeDepth: 10_000,
  pointsOfLeaf: 2n ** 20n,
  pointsOfCertificate: 2n ** 24n,
  partPairs: 2 ** 20,
  products: 2 ** 22,
  mixedProducts: 2 ** 24,
  oddsBoxes: 2 ** 14,
  slopeNodes: 1_000_000,
});
class Clock {
  constructor(seconds) {
    this.seconds = seconds;
    this.end = Date.now() + 1000 * seconds;
    this.ticks = 0;
  }
  tick() {
    this.ticks += 1;
    if ((this.ticks & 255) === 0) this.look();
  }
  look() {
    if (Date.now() > this.end) throw new Unfinished(`the limit of ${this.seconds} seconds is over`);
  }
}
return { MAXIMUM, Clock };
})();
modules["exact/number-syntax.js"] = (() => {
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { Rational } = modules["exact/rational.js"];
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const HEXADECIMAL = /^(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?[0-9]+)$/;
const FRACTION = /^(-?(?:0|[1-9][0-9]*))\/([1-9][0-9]*)$/;
function readNumber(json, what) {
  if (typeof json !== 'string') return reject(`${what}: a number must be written as a text`);
  require(json.length <= MAXIMUM.numberCharacters, `${what}: a number of more than ${MAXIMUM.numberCharacters} characters`);
  if (INTEGER.test(json)) return Rational.of(BigInt(json));
  const hexadecimal = HEXADECIMAL.exec(json);
  if (hexadecimal !== null) return fromHexadecimal(hexadecimal, what);
  const fraction = FRACTION.exec(json);
  if (fraction !== null) return Rational.fraction(BigInt(fraction[1]), BigInt(fraction[2]));
  return reject(`${what}: not a number: ${JSON.stringify(json.slice(0, 40))}`);
}
function fromHexadecimal([, sign, before, after = '', exponentText], what) {
  const exponent = BigInt(exponentText);
  const limit = BigInt(MAXIMUM.exponent);
  require(-limit <= exponent && exponent <= limit, `${what}: an exponent beyond ${MAXIMUM.exponent}`);
  const digits = BigInt(`0x${before}${after}`);
  return Rational.dyadic(sign === '-' ? -digits : digits, Number(exponent) - 4 * after.length);
}
return { readNumber };
})();
modules["file/fields.js"] = (() => {
const { readNumber } = modules["exact/number-syntax.js"];
const { Rational } = modules["exact/rational.js"];
const { reject, require } = modules["rejection.js"];
function readObject(json, what, keys, optional = []) {
  if (!(json instanceof Map)) return reject(`${what}: not an object`);
  for (const key of keys) require(json.has(key), `${what}: the key "${key}" is missing`);
  for (const key of json.keys()) {
    require(keys.includes(key) || optional.includes(key), `${what}: the key ${JSON.stringify(key)} does not belong here`);
  }
  return (key) => /** @type {Json} */ (json.get(key));
}
function readOnly(json, key) {
  return readObject(json, key, [key])(key);
}
function readArray(json, what) {
  return Array.isArray(json) ? json : reject(`${what}: not an array`);
}
function readArrayOf(json, what, length) {
  const items = readArray(json, what);
  require(items.length === length, `${what}: ${items.length} entries where ${length} are needed`);
  return items;
}
function readText(json, what) {
  return typeof json === 'string' ? json : reject(`${what}: not a text`);
}
function readTruth(json, what) {
  return typeof json === 'boolean' ? json : reject(`${what}: neither true nor false`);
}
function readInt(json, what, lowest, highest) {
  if (typeof json !== 'bigint') return reject(`${what}: not an int`);
  require(lowest <= json && json <= highest, `${what}: ${json} is not from ${lowest} to ${highest}`);
  return json;
}
function readIndex(json, what, count) {
  return Number(readInt(json, what, 0n, BigInt(count) - 1n));
}
function readNumbers(json, what) {
  return readArray(json, what).map((item) => readNumber(item, what));
}
function readNumbersOf(json, what, length) {
  return readArrayOf(json, what, length).map((item) => readNumber(item, what));
}
return { readObject, readOnly, readArray, readArrayOf, readText, readTruth, readInt, readIndex, readNumbers, readNumbersOf };
})();
modules["exact/doubles.js"] = (() => {
const { bitLength, Rational } = modules["exact/rational.js"];
const DIGITS = 53;
const LOWEST = -1074;
const HIGHEST = 971;
function isDouble(value) {
  if (value.isZero()) return true;
  const { above, below, power } = value.reduced();
  const length = bitLength(above);
  return below === 1n && length <= DIGITS && power >= LOWEST && length + power <= DIGITS + HIGHEST;
}
function nextDouble(value) {
  if (value.isZero()) return Rational.dyadic(1n, LOWEST);
  const { above, power } = value.reduced();
  const step = Math.max(LOWEST, power + bitLength(above) - DIGITS);
  const mantissa = above << BigInt(power - step);
  const shrinking = mantissa === -(1n << BigInt(DIGITS - 1)) && step > LOWEST;
  const next = shrinking ? Rational.dyadic(2n * mantissa + 1n, step - 1) : Rational.dyadic(mantissa + 1n, step);
  return isDouble(next) ? next : null;
}
function holdsDouble(lo, hi) {
  const first = firstDoubleFrom(lo);
  return first !== null && first.atMost(hi);
}
function firstDoubleFrom(value) {
  if (value.isZero()) return value;
  const largest = Rational.dyadic((1n << BigInt(DIGITS)) - 1n, HIGHEST);
  if (largest.less(value)) return null;
  if (value.atMost(largest.negated())) return largest.negated();
  const { above, below, power } = value.reduced();
  let magnitude = bitLength(above) - bitLength(below) + power;
  if (value.absolute().less(Rational.dyadic(1n, magnitude))) magnitude -= 1;
  const step = Math.max(LOWEST, magnitude - DIGITS + 1);
  return Rational.dyadic(value.ceil(-step), step);
}
function lastDoubleTo(value) {
  return firstDoubleFrom(value.negated())?.negated() ?? null;
}
return { isDouble, nextDouble, holdsDouble, firstDoubleFrom, lastDoubleTo };
})();
modules["claim/space.js"] = (() => {
const { holdsDouble, isDouble, nextDouble } = modules["exact/doubles.js"];
const { ONE, Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf, readIndex, readNumbersOf, readObject, readOnly, readText } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require, Unfinished } = modules["rejection.js"];
function readSpace(json) {
  const part = readObject(readOnly(json, 'space'), 'space', ['features', 'constraints']);
  const features = readFeatures(part('features'));
  const items = readArray(part('constraints'), 'constraints');
  require(items.length <= MAXIMUM.constraints, 'space: too many constraints');
  const budget = { entries: MAXIMUM.constraintEntries };
  const constraints = items.map((item) => readConstraint(item, features, budget));
  return { features, constraints };
}
function readFeatures(json) {
  const items = readArray(json, 'features');
  require(items.length > 0, 'space: no feature');
  require(items.length <= MAXIMUM.features, 'space: too many features');
  const features = items.map(readFeature);
  require(new Set(features.map((feature) => feature.name)).size === features.length, 'space: two features of one name');
  const levels = features.reduce((count, feature) => count + (feature.levels?.length ?? 0), 0);
  require(levels <= MAXIMUM.levels, 'space: too many levels');
  return features;
}
function sameFeatures(features, others) {
  return features.length === others.length && features.every((feature, k) => isSameFeature(feature, others[k]));
}
function isSameFeature(feature, other) {
  if (feature.name !== other.name || feature.kind !== other.kind) return false;
  if (feature.levels === null || other.levels === null) {
    const ends = feature.lo.equals(other.lo) && feature.lastNumber.equals(other.lastNumber);
    return ends && (feature.missing === null) === (other.missing === null);
  }
  const theirs = other.levels.map(keyOfLevel);
  return feature.levels.length === theirs.length && feature.levels.every((level, i) => keyOfLevel(level) === theirs[i]);
}
function readFeature(json) {
  const kind = json instanceof Map ? json.get('kind') : null;
  if (kind === 'continuous' || kind === 'integer') return readNumericFeature(json, kind);
  if (kind === 'categorical' || kind === 'ordinal') return readLevelsFeature(json, kind);
  return reject('space: a feature of an unknown kind');
}
function readNumericFeature(json, kind) {
  const part = readObject(json, 'feature', ['name', 'kind', 'lo', 'hi'], ['missing']);
  const name = readText(part('name'), 'name of a feature');
  const lo = readNumber(part('lo'), `lo of ${name}`);
  const hi = readNumber(part('hi'), `hi of ${name}`);
  require(lo.atMost(hi), `space: ${name} has lo > hi`);
  require(kind === 'continuous' || (lo.isWhole() && hi.isWhole()), `space: ${name} has ends that are not whole`);
  require(kind === 'integer' || holdsDouble(lo, hi), `space: no double lies between lo and hi of ${name}`);
  const missing = part('missing') === undefined ? null : missingCode(part('missing'), kind, hi, name);
  return { name, kind, lo, hi: missing ?? hi, levels: null, discrete: kind === 'integer', missing, lastNumber: hi };
}
function missingCode(json, kind, hi, name) {
  require(json === true, `space: "missing" of ${name} must be true`);
  if (kind === 'integer') return hi.plus(ONE);
  const next = isDouble(hi) ? nextDouble(hi) : null;
  return next ?? reject(`space: ${name} has missing values, but hi is not a double below the largest one`);
}
function readLevelsFeature(json, kind) {
  const part = readObject(json, 'feature', ['name', 'kind', 'levels']);
  const name = readText(part('name'), 'name of a feature');
  const levels = readArray(part('levels'), `levels of ${name}`).map((item) => readLevel(item, name));
  require(levels.length > 0, `space: ${name} has no level`);
  require(new Set(levels.map(keyOfLevel)).size === levels.length, `space: ${name} has one level twice`);
  const hi = Rational.of(levels.length - 1);
  return { name, kind, lo: ZERO, hi, levels, discrete: true, missing: null, lastNumber: hi };
}
function readLevel(json, name) {
  if (json === null || typeof json === 'string' || typeof json === 'boolean') return json;
  return readNumber(readObject(json, `level of ${name}`, ['number'])('number'), `level of ${name}`);
}
function keyOfLevel(level) {
  return level instanceof Rational ? `number ${level}` : `${typeof level} ${level}`;
}
function readConstraint(json, features, budget) {
  const part = readObject(json, 'constraint', ['text', 'terms', 'bound']);
  const text = readText(part('text'), 'text of a constraint');
  const terms = readArray(part('terms'), 'terms of a constraint').map((item) => readTerm(item, features, budget));
  for (let i = 1; i < terms.length; i++) {
    require(terms[i - 1].feature < terms[i].feature, 'constraint: features are not strictly increasing');
  }
  return { text, terms, bound: readNumber(part('bound'), 'bound of a constraint') };
}
function readTerm(json, features, budget) {
  const [indexJson, amount] = readArrayOf(json, 'term of a constraint', 2);
  const index = readIndex(indexJson, 'feature of a constraint', features.length);
  const { name, levels, missing } = features[index];
  require(missing === null, `constraint: ${name} has missing values`);
  if (Array.isArray(amount)) {
    if (levels === null) return reject(`constraint: an array for ${name}, which has no levels`);
    return { feature: index, factor: null, amounts: readNumbersOf(amount, `constraint on ${name}`, levels.length) };
  }
  const factor = readNumber(amount, `constraint on ${name}`);
  if (levels === null) return { feature: index, factor, amounts: null };
  budget.entries -= levels.length;
  if (budget.entries < 0) throw new Unfinished(`constraints on so many levels would take too much memory`);
  return { feature: index, factor: null, amounts: levels.map((level) => factor.times(numberOfLevel(level, name))) };
}
function numberOfLevel(level, name) {
  if (level instanceof Rational) return level;
  if (typeof level === 'boolean') return level ? ONE : ZERO;
  return reject(`constraint: ${name} has levels that are not numbers`);
}
function constraintValue(constraint, codes) {
  let value = constraint.bound.negated();
  for (const { feature, factor, amounts } of constraint.terms) {
    const code = codes[feature];
    value = value.plus(factor === null ? /** @type {Rational[]} */ (amounts)[positionOf(code)] : factor.times(code));
  }
  return value;
}
function positionOf(code) {
  return Number(code.floor());
}
function isValid(space, codes) {
  return space.constraints.every((constraint) => constraintValue(constraint, codes).sign() <= 0);
}
function readIndividual(space, json, what) {
  const codes = readNumbersOf(json, what, space.features.length);
  space.features.forEach((feature, k) => {
    const code = codes[k];
    require(feature.lo.atMost(code) && code.atMost(feature.hi), `${what}: the code of ${feature.name} is out of its range`);
    require(feature.discrete ? code.isWhole() : isDouble(code), `${what}: the code of ${feature.name} is not one of its values`);
  });
  return codes;
}
return { readSpace, readFeatures, sameFeatures, constraintValue, positionOf, isValid, readIndividual };
})();
modules["bodies/columns.js"] = (() => {
const { Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readIndex, readNumbers, readNumbersOf, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { positionOf } = modules["claim/space.js"];
function readCoefficient(json, what, { scores }) {
  return scores === null ? [readNumber(json, what)] : readNumbersOf(json, what, scores);
}
function readPlainColumns(json, space) {
  return readArray(json, 'columns').map((item) => {
    const column = readColumn(item, space, []);
    return column.kind === 'pieces' ? reject('a column in pieces does not belong here') : column;
  });
}
function readColumn(json, space, more) {
  if (!(json instanceof Map)) return reject('column: not an object');
  const index = readIndex(json.get('feature'), 'feature of a column', space.features.length);
  const { name, levels } = space.features[index];
  const what = `column of ${name}`;
  if (levels !== null) {
    const part = readObject(json, what, ['feature', 'table', ...more]);
    return { kind: 'table', feature: index, table: readNumbersOf(part('table'), what, levels.length) };
  }
  if (json.has('cuts')) return { feature: index, ...readPieces(json, what, more) };
  const part = readObject(json, what, ['feature', 'slope', 'offset', ...more]);
  return { kind: 'linear', feature: index, slope: readNumber(part('slope'), what), offset: readNumber(part('offset'), what) };
}
function readPieces(json, what, more) {
  const part = readObject(json, what, ['feature', 'cuts', 'pieces', ...more]);
  const cuts = readNumbers(part('cuts'), what);
  require(cuts.length <= MAXIMUM.cuts, `${what}: more than ${MAXIMUM.cuts} cuts`);
  require(cuts.every((cut, i) => i === 0 || cuts[i - 1].less(cut)), `${what}: cuts are not strictly increasing`);
  const pieces = readArray(part('pieces'), what).map((item) => readNumbers(item, what));
  require(pieces.length === cuts.length + 1, `${what}: not one piece more than cuts`);
  require(pieces.every(({ length }) => 1 <= length && length <= 6), `${what}: a piece without 1 to 6 coefficients`);
  return { kind: 'pieces', cuts, pieces };
}
function columnValue(column, code) {
  if (column.kind === 'pieces') return polynomialValue(column.pieces[pieceOf(column.cuts, code)], code);
  return column.kind === 'table' ? column.table[positionOf(code)] : column.offset.plus(column.slope.times(code));
}
function isConstantColumn(column) {
  if (column.kind === 'pieces') {
    const [[first]] = column.pieces;
    return column.pieces.every(([own, ...higher]) => own.equals(first) && higher.every((coefficient) => coefficient.isZero()));
  }
  return column.kind === 'table' ? column.table.every((entry) => entry.equals(column.table[0])) : column.slope.isZero();
}
function pieceOf(cuts, code) {
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cuts[middle].less(code)) low = middle + 1;
    else high = middle;
  }
  return low;
}
function polynomialValue(coefficients, x) {
  return coefficients.reduceRight((value, coefficient) => value.times(x).plus(coefficient), ZERO);
}
return { readCoefficient, readPlainColumns, readColumn, columnValue, isConstantColumn, pieceOf, polynomialValue };
})();
modules["bodies/affine.js"] = (() => {
const { Rational, sum, ZERO } = modules["exact/rational.js"];
const { readArray, readObject } = modules["file/fields.js"];
const { positionOf } = modules["claim/space.js"];
const { pieceOf, polynomialValue, readCoefficient, readColumn } = modules["bodies/columns.js"];
class SeparableForm {
  constructor(bias, phi) {
    this.bias = bias;
    this.phi = phi;
  }
  value(codes) {
    return this.phi.reduce((total, phi, k) => total.plus(phiValue(phi, codes[k])), this.bias);
  }
}
function phiValue(phi, code) {
  if (phi.kind === 'linear') return phi.slope.times(code);
  if (phi.kind === 'table') return phi.values[positionOf(code)];
  return polynomialValue(phi.pieces[pieceOf(phi.cuts, code)], code);
}
function isConstantPhi(phi) {
  if (phi.kind === 'linear') return phi.slope.isZero();
  if (phi.kind === 'table') return phi.values.every((value) => value.equals(phi.values[0]));
  const [first] = phi.pieces;
  return phi.pieces.every((piece) => piece[0].equals(first[0]) && piece.slice(1).every((coefficient) => coefficient.isZero()));
}
class AffineBody {
  kind = /** @type {const} */ ('affine');
  irrational = false;
  constructor(space, bias, columns, weights) {
    this.space = space;
    this.bias = bias;
    this.columns = columns;
    this.weights = weights;
    this.scores = bias.length;
    this.forms = bias.map((_, score) => this.form(unitVector(bias.length, score), ZERO));
  }
  evaluate(codes) {
    return this.forms.map((form) => form.value(codes));
  }
  isConstant(k) {
    return this.forms.every((form) => isConstantPhi(form.phi[k]));
  }
  packs() {
    return this.columns.some((column) => column.kind === 'pieces') ? ['pieces'] : [];
  }
  form(alpha, shift) {
    const weightOf = this.weights.map((weights) => dot(alpha, weights));
    let bias = shift.plus(dot(alpha, this.bias));
    const columnsOf = this.space.features.map(() => []);
    this.columns.forEach((column, c) => {
      columnsOf[column.feature].push(c);
      if (column.kind === 'linear') bias = bias.plus(weightOf[c].times(column.offset));
    });
    const phi = this.space.features.map((feature, k) => {
      const columns = columnsOf[k].map((c) => ({ column: this.columns[c], weight: weightOf[c] }));
      return feature.levels === null ? phiOfNumber(columns) : phiOfLevels(columns, feature.levels.length);
    });
    return new SeparableForm(bias, phi);
  }
}
function phiOfLevels(columns, count) {
  const values = Array.from({ length: count }, (_, position) =>
    sum(columns.map(({ column, weight }) => (column.kind === 'table' ? weight.times(column.table[position]) : ZERO))),
  );
  return { kind: 'table', values };
}
function phiOfNumber(columns) {
  const slope = sum(columns.map(({ column, weight }) => (column.kind === 'linear' ? weight.times(column.slope) : ZERO)));
  const inPieces = columns.flatMap(({ column, weight }) => (column.kind === 'pieces' ? [{ column, weight }] : []));
  if (inPieces.length === 0) return { kind: 'linear', slope };
  const cuts = mergedCuts(inPieces.map(({ column }) => column.cuts));
  const pieces = Array.from({ length: cuts.length + 1 }, (_, i) => {
    const total = [ZERO, slope];
    for (const { column, weight } of inPieces) {
      const own = i < cuts.length ? pieceOf(column.cuts, cuts[i]) : column.cuts.length;
      column.pieces[own].forEach((coefficient, power) => {
        total[power] = (total[power] ?? ZERO).plus(weight.times(coefficient));
      });
    }
    return total;
  });
  return { kind: 'pieces', cuts, pieces };
}
function mergedCuts(lists) {
  const sorted = lists.flat().sort((a, b) => a.compare(b));
  return sorted.filter((cut, i) => i === 0 || !cut.equals(sorted[i - 1]));
}
function dot(alpha, values) {
  return values.reduce((total, value, i) => (alpha[i].isZero() ? total : total.plus(alpha[i].times(value))), ZERO);
}
function unitVector(length, place) {
  return Array.from({ length }, (_, i) => Rational.of(i === place ? 1 : 0));
}
function readAffine(json, context) {
  const part = readObject(json, 'body', ['kind', 'bias', 'columns']);
  const bias = readCoefficient(part('bias'), 'bias', context);
  const items = readArray(part('columns'), 'columns');
  const columns = items.map((item) => readColumn(item, context.space, ['weight']));
  const weights = items.map((item) => readCoefficient(/** @type {Map<string, Json>} */ (item).get('weight'), 'weight', context));
  return new AffineBody(context.space, bias, columns, weights);
}
return { SeparableForm, AffineBody, mergedCuts, dot, unitVector, readAffine };
})();
modules["exact/exponential.js"] = (() => {
const { bitLength, floorDivide, Rational } = modules["exact/rational.js"];
const HALVINGS = 8;
const GUARD_BITS = 32;
function ceilDivide(a, b) {
  return -floorDivide(-a, b);
}
function ceilShift(value, bits) {
  return -(-value >> bits);
}
function artanh(top, bottom, bits) {
  let lowPower = (top << bits) / bottom;
  let highPower = ceilDivide(top << bits, bottom);
  let lo = 0n;
  let hi = 0n;
  for (let k = 1n; ; k += 2n) {
    lo += lowPower / k;
    hi += ceilDivide(highPower, k);
    if (highPower <= 1n) break;
    lowPower = (lowPower * top * top) / (bottom * bottom);
    highPower = ceilDivide(highPower * top * top, bottom * bottom);
  }
  return { lo, hi: hi + 1n };
}
const logarithmsOfTwo = new Map();
function logOfTwo(bits) {
  const known = logarithmsOfTwo.get(bits);
  if (known !== undefined) return known;
  const { lo, hi } = artanh(1n, 3n, bits);
  const bounds = { lo: 2n * lo, hi: 2n * hi };
  if (logarithmsOfTwo.size > 64) logarithmsOfTwo.clear();
  logarithmsOfTwo.set(bits, bounds);
  return bounds;
}
function expOfSmall(x, bits) {
  const y = x >> BigInt(HALVINGS);
  let term = 1n << bits;
  let lo = term;
  let terms = 0n;
  while (term > 0n) {
    terms += 1n;
    term = ((term * y) >> bits) / terms;
    lo += term;
  }
  let hi = lo + 4n * terms + 8n;
  for (let i = 0; i < HALVINGS; i++) {
    lo = (lo * lo) >> bits;
    hi = ceilShift(hi * hi, bits);
  }
  return { lo, hi };
}
function expFixed(x, bits) {
  if (x.less(Rational.of(-bits))) return { lo: 0n, hi: 1n };
  const magnitude = Number(x.ceil() > 0n ? x.ceil() : 0n);
  const work = BigInt(bits + 2 * magnitude + GUARD_BITS + 16);
  const two = logOfTwo(work);
  const point = x.floor(Number(work));
  const doublings = floorDivide(point, two.lo);
  const [nearTwo, farTwo] = doublings >= 0n ? [two.lo, two.hi] : [two.hi, two.lo];
  const lowRest = point - doublings * farTwo;
  const highRest = point + 1n - doublings * nearTwo;
  const start = lowRest > 0n ? lowRest : 0n;
  const { lo, hi } = expOfSmall(start, work);
  const drop = work - BigInt(bits) - doublings;
  const below = lowRest < 0n ? -lowRest : 0n;
  const above = ceilShift(2n * hi * (highRest - start), work);
  return { lo: shift(lo - below, drop), hi: shiftUp(hi + above, drop) };
}
function shift(value, drop) {
  return drop >= 0n ? value >> drop : value << -drop;
}
function shiftUp(value, drop) {
  return drop >= 0n ? ceilShift(value, drop) : value << -drop;
}
function logFixed(x, bits) {
  const numerator = x.two > 0 ? x.top << BigInt(x.two) : x.top;
  const denominator = x.two < 0 ? x.odd << BigInt(-x.two) : x.odd;
  const power = bitLength(numerator) - bitLength(denominator);
  const top = power < 0 ? numerator << BigInt(-power) : numerator;
  const bottom = power > 0 ? denominator << BigInt(power) : denominator;
  const work = BigInt(bits + GUARD_BITS + 32);
  const two = logOfTwo(work);
  const above = top >= bottom;
  const rest = artanh(above ? top - bottom : bottom - top, top + bottom, work);
  const logM = above ? { lo: 2n * rest.lo, hi: 2n * rest.hi } : { lo: -2n * rest.hi, hi: -2n * rest.lo };
  const times = BigInt(power);
  const lo = logM.lo + times * (times >= 0n ? two.lo : two.hi);
  const hi = logM.hi + times * (times >= 0n ? two.hi : two.lo);
  const drop = work - BigInt(bits);
  return { lo: lo >> drop, hi: ceilShift(hi, drop) };
}
return { ceilShift, expFixed, logFixed };
})();
modules["exact/interval.js"] = (() => {
const { expFixed, logFixed } = modules["exact/exponential.js"];
const { larger, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
function interval(lo, hi) {
  return { lo, hi };
}
function exactly(value) {
  return { lo: value, hi: value };
}
function add(a, b) {
  return interval(a.lo.plus(b.lo), a.hi.plus(b.hi));
}
function subtract(a, b) {
  return interval(a.lo.minus(b.hi), a.hi.minus(b.lo));
}
function multiply(a, factor) {
  const low = a.lo.times(factor);
  const high = a.hi.times(factor);
  return factor.sign() >= 0 ? interval(low, high) : interval(high, low);
}
function product(a, b) {
  const ends = [a.lo.times(b.lo), a.lo.times(b.hi), a.hi.times(b.lo), a.hi.times(b.hi)];
  return interval(ends.reduce(smaller), ends.reduce(larger));
}
function powerOf(a, n) {
  const of = (/** @type {Rational} */ v) => Array.from({ length: n }, () => v).reduce((total, factor) => total.times(factor), ONE);
  const [low, high] = [of(a.lo), of(a.hi)];
  if (n % 2 === 1 || a.lo.sign() >= 0) return interval(low, high);
  if (a.hi.sign() <= 0) return interval(high, low);
  return interval(n === 0 ? ONE : ZERO, larger(low, high));
}
function sizeOf(a) {
  return larger(a.lo.absolute(), a.hi.absolute());
}
function reciprocal(a) {
  return interval(ONE.over(a.hi), ONE.over(a.lo));
}
function roundedOut(a, bits) {
  return interval(Rational.dyadic(a.lo.floor(bits), -bits), Rational.dyadic(a.hi.ceil(bits), -bits));
}
function expOf(x, bits) {
  const { lo, hi } = expFixed(x, bits);
  return interval(Rational.dyadic(lo, -bits), Rational.dyadic(hi, -bits));
}
function expOfNear(x, slack, bits) {
  const { lo, hi } = expOf(x, bits);
  return interval(lo, hi.plus(hi.times(slack).scaled(1)));
}
function expOfInterval(x, bits) {
  if (x.lo === x.hi) return expOf(x.lo, bits);
  return interval(expOf(x.lo, bits).lo, expOf(x.hi, bits).hi);
}
function logOf(x, bits) {
  const { lo, hi } = logFixed(x, bits);
  return interval(Rational.dyadic(lo, -bits), Rational.dyadic(hi, -bits));
}
function sigmaOf(s, bits) {
  const small = expOf(s.absolute().negated(), bits);
  const denominator = interval(ONE.plus(small.lo), ONE.plus(small.hi));
  const above = roundedOut(reciprocal(denominator), bits);
  return s.sign() >= 0 ? above : subtract(exactly(ONE), above);
}
function softplusOf(t, bits) {
  const small = expOf(t.absolute().negated(), bits);
  const rest = interval(logOf(ONE.plus(small.lo), bits).lo, logOf(ONE.plus(small.hi), bits).hi);
  return t.sign() > 0 ? add(exactly(t), rest) : rest;
}
function entropyOf(weights, bits) {
  let total = exactly(ZERO);
  for (const weight of weights) {
    if (!weight.isZero()) total = subtract(total, multiply(logOf(weight, bits), weight));
  }
  return total;
}
return { interval, exactly, add, subtract, multiply, product, powerOf, sizeOf, reciprocal, roundedOut, expOf, expOfNear, expOfInterval, logOf, sigmaOf, softplusOf, entropyOf };
})();
modules["bodies/combined.js"] = (() => {
const { add, exactly, interval, multiply } = modules["exact/interval.js"];
const { larger, ONE, Rational, smaller, sum, ZERO } = modules["exact/rational.js"];
const { readArray, readNumbersOf, readObject } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const MOST_BODIES = 10_000;
class CombinedBody {
  kind = /** @type {const} */ ('combined');
  constructor(how, weights, bodies) {
    this.how = how;
    this.weights = weights;
    this.bodies = bodies;
    this.scores = bodies[0].scores;
    this.irrational = bodies.some((body) => body.irrational);
  }
  evaluate(codes) {
    const scores = this.bodies.map((body) => {
      if (!('evaluate' in body)) throw new Error('an irrational body cannot be evaluated exactly');
      return body.evaluate(codes);
    });
    return scores[0].map((_, i) => this.combine(scores.map((ofBody) => ofBody[i])));
  }
  combine(scores) {
    if (this.how === 'max') return scores.reduce(larger);
    if (this.how === 'min') return scores.reduce(smaller);
    return sum(scores.map((score, i) => score.times(this.weights[i])));
  }
  enclose(codes, bits) {
    const scores = this.bodies.map((body) => encloseScores(body, codes, bits));
    return scores[0].map((_, i) => {
      const own = scores.map((ofBody) => ofBody[i]);
      if (this.how === 'mean') return own.reduce((total, score, j) => add(total, multiply(score, this.weights[j])), exactly(ZERO));
      return interval(this.combine(own.map(({ lo }) => lo)), this.combine(own.map(({ hi }) => hi)));
    });
  }
  isConstant(k) {
    return this.bodies.every((body) => body.isConstant(k));
  }
  packs() {
    return ['combined', ...this.bodies.flatMap((body) => body.packs())];
  }
}
function encloseScores(body, codes, bits) {
  if (body.irrational && 'enclose' in body) return body.enclose(codes, bits);
  if ('evaluate' in body) return body.evaluate(codes).map(exactly);
  throw new Error('a body without scores');
}
function readCombined(json, context, readCombinable) {
  const how = json instanceof Map ? json.get('how') : null;
  if (how !== 'mean' && how !== 'max' && how !== 'min') return reject('body: an unknown way to combine');
  require(how === 'mean' || context.scores === null, 'body: several scores are combined by their mean only');
  const part = readObject(json, 'body', how === 'mean' ? ['kind', 'how', 'weights', 'of'] : ['kind', 'how', 'of']);
  const items = readArray(part('of'), 'bodies');
  require(1 <= items.length && items.length <= MOST_BODIES, 'body: not 1 to 10,000 bodies');
  const weights = how === 'mean' ? readNumbersOf(part('weights'), 'weights', items.length) : [];
  if (how === 'mean') {
    require(weights.every((weight) => weight.sign() >= 0), 'body: a negative weight');
    require(sum(weights).equals(ONE), 'body: the weights do not add up to 1');
  }
  return new CombinedBody(how, weights, items.map((item) => readCombinable(item, context)));
}
return { CombinedBody, encloseScores, readCombined };
})();
modules["bodies/bump.js"] = (() => {
const { exactly, expOfNear } = modules["exact/interval.js"];
const { ONE, Rational } = modules["exact/rational.js"];
function bumpAt(gamma, distance, work, slack, bits) {
  if (distance === 0n) return exactly(ONE);
  return expOfNear(gamma.times(Rational.dyadic(distance, -work)).negated(), slack, bits);
}
return { bumpAt };
})();
modules["bodies/mixed.js"] = (() => {
const { add, exactly, multiply } = modules["exact/interval.js"];
const { Rational, bitLength, larger, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf, readIndex, readNumbersOf, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { dot } = modules["bodies/affine.js"];
const { bumpAt } = modules["bodies/bump.js"];
const { columnValue, isConstantColumn, readCoefficient, readColumn } = modules["bodies/columns.js"];
class MixedBody {
  kind = /** @type {const} */ ('mixed');
  irrational = true;
  constructor(shape, gamma, bias, columns, sums, terms) {
    this.shape = shape;
    this.gamma = gamma;
    this.bias = bias;
    this.columns = columns;
    this.sums = sums;
    this.terms = terms;
    this.scores = bias.length;
    let size = ZERO;
    for (const { coefficients } of terms) {
      size = size.plus(coefficients.map((coefficient) => coefficient.absolute()).reduce(larger));
    }
    this.sizeBits = bitLength(size.ceil()) + 4;
    this.gammaBits = bitLength(gamma.ceil()) + bitLength(BigInt(sums.length)) + 4;
  }
  sumsAt(codes) {
    const values = this.columns.map((column) => columnValue(column, codes[column.feature]));
    return this.sums.map(({ constant, pairs }) => pairs.reduce((total, { column, factor }) => total.plus(factor.times(values[column])), constant));
  }
  enclose(codes, bits) {
    const precision = bits + this.sizeBits;
    const values = this.sumsAt(codes);
    let scores = this.bias.map(exactly);
    const work = precision + this.gammaBits;
    const slack = this.gamma.times(Rational.dyadic(BigInt(values.length), -work));
    for (const { coefficients, centre } of this.terms) {
      let distance = 0n;
      centre.forEach((number, j) => {
        const apart = values[j].minus(number);
        distance += (this.shape === 'gaussian' ? apart.squared() : apart.absolute()).ceil(work);
      });
      const bump = bumpAt(this.gamma, distance, work, slack, precision);
      scores = scores.map((score, i) => add(score, multiply(bump, coefficients[i])));
    }
    return scores;
  }
  isConstant(k) {
    return this.sums.every(({ pairs }) =>
      pairs.every(({ column }) => this.columns[column].feature !== k || isConstantColumn(this.columns[column])),
    );
  }
  packs() {
    return ['mixed', ...(this.columns.some(({ kind }) => kind === 'pieces') ? ['pieces'] : [])];
  }
  form(alpha, shift) {
    const terms = this.terms.map(({ coefficients, centre }) => ({ coefficients: [dot(alpha, coefficients)], centre }));
    return new MixedBody(this.shape, this.gamma, [dot(alpha, this.bias).plus(shift)], this.columns, this.sums, terms);
  }
}
function readMixed(json, context) {
  const part = readObject(json, 'body', ['kind', 'shape', 'gamma', 'bias', 'columns', 'sums', 'terms']);
  const shape = part('shape');
  if (shape !== 'gaussian' && shape !== 'laplacian') return reject('body: an unknown shape');
  const gamma = readNumber(part('gamma'), 'gamma');
  require(gamma.sign() > 0, 'body: gamma is not positive');
  const columns = readArray(part('columns'), 'columns').map((item) => readColumn(item, context.space, []));
  require(columns.length <= MAXIMUM.columns, 'body: too many columns');
  const sums = readArray(part('sums'), 'sums').map((item) => readSumOfColumns(item, columns.length));
  require(sums.length > 0, 'body: no sum');
  const terms = readArray(part('terms'), 'terms').map((item) => {
    const [coefficient, centre] = readArrayOf(item, 'term', 2);
    return { coefficients: readCoefficient(coefficient, 'coefficient', context), centre: readNumbersOf(centre, 'centre', sums.length) };
  });
  require(terms.length > 0, 'body: no term');
  return new MixedBody(shape, gamma, readCoefficient(part('bias'), 'bias', context), columns, sums, terms);
}
function readSumOfColumns(json, columns) {
  const [constant, items] = readArrayOf(json, 'sum of columns', 2);
  const pairs = readArray(items, 'sum of columns').map((item) => {
    const [column, factor] = readArrayOf(item, 'column of a sum', 2);
    return { column: readIndex(column, 'column of a sum', columns), factor: readNumber(factor, 'factor of a column') };
  });
  require(pairs.every(({ column }, i) => i === 0 || pairs[i - 1].column < column), 'body: the columns of a sum are not strictly increasing');
  return { constant: readNumber(constant, 'constant of a sum'), pairs };
}
return { MixedBody, readMixed };
})();
modules["bodies/trees.js"] = (() => {
const { larger, Rational } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readIndex, readInt, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { positionOf } = modules["claim/space.js"];
const { dot } = modules["bodies/affine.js"];
const { readCoefficient } = modules["bodies/columns.js"];
class TreesBody {
  kind = /** @type {const} */ ('trees');
  irrational = false;
  constructor(space, bias, trees) {
    this.space = space;
    this.bias = bias;
    this.trees = trees;
    this.scores = bias.length;
    this.tested = new Set();
    for (const tree of trees) for (const node of tree) if (!Array.isArray(node)) this.tested.add(node.feature);
  }
  evaluate(codes) {
    const scores = this.bias.slice();
    for (const tree of this.trees) {
      let at = 0;
      for (let node = tree[0]; ; node = tree[at]) {
        if (Array.isArray(node)) {
          node.forEach((value, i) => {
            scores[i] = scores[i].plus(value);
          });
          break;
        }
        at = goesLeft(node, this.space.features[node.feature], codes[node.feature]) ? at + 1 : node.right;
      }
    }
    return scores;
  }
  isConstant(k) {
    return !this.tested.has(k);
  }
  packs() {
    return ['trees'];
  }
  form(alpha, shift) {
    const trees = this.trees.map((tree) => tree.map((node) => (Array.isArray(node) ? [dot(alpha, node)] : node)));
    return new TreesBody(this.space, [dot(alpha, this.bias).plus(shift)], trees);
  }
  size() {
    const sizeOf = (/** @type {Rational[]} */ values) => values.map((value) => value.absolute()).reduce(larger);
    return this.trees.reduce((total, tree) => {
      const leaves = tree.flatMap((node) => (Array.isArray(node) ? [sizeOf(node)] : []));
      return total.plus(leaves.reduce(larger));
    }, sizeOf(this.bias));
  }
}
function goesLeft(node, feature, code) {
  if (feature.missing !== null && code.equals(feature.missing)) return node.missingLeft;
  if (node.threshold !== null) return code.atMost(node.threshold);
  return /** @type {Set<number>} */ (node.positions).has(positionOf(code));
}
function readTrees(json, context) {
  const part = readObject(json, 'body', ['kind', 'bias', 'trees']);
  const items = readArray(part('trees'), 'trees');
  require(items.length > 0, 'body: no tree');
  require(items.length <= MAXIMUM.trees, 'body: too many trees');
  let nodes = 0;
  const trees = items.map((item) => {
    const tree = readArray(item, 'tree').map((node) => readNode(node, context));
    nodes += tree.length;
    require(nodes <= MAXIMUM.treeNodes, 'body: too many nodes of trees');
    checkShape(tree);
    return tree;
  });
  return new TreesBody(context.space, readCoefficient(part('bias'), 'bias', context), trees);
}
function readNode(json, context) {
  if (!Array.isArray(json) || typeof json[0] !== 'bigint') return readCoefficient(json, 'value of a leaf', context);
  const index = readIndex(json[0], 'feature of a node', context.space.features.length);
  const feature = context.space.features[index];
  const right = Number(readInt(json[2], 'right child', 0n, BigInt(MAXIMUM.treeNodes)));
  require(json.length === (feature.missing === null ? 3 : 4), 'body: a node without the right number of entries');
  const missing = json[3];
  require(json.length === 3 || missing === 'left' || missing === 'right', 'body: "missing" is neither "left" nor "right"');
  const node = { feature: index, right, missingLeft: missing === 'left' };
  if (feature.levels === null) return { ...node, threshold: readNumber(json[1], 'test of a node'), positions: null };
  return { ...node, threshold: null, positions: readPositions(json[1], feature.levels.length) };
}
function readPositions(json, count) {
  const positions = readArray(json, 'positions').map((position) => readIndex(position, 'position', count));
  require(positions.every((position, i) => i === 0 || positions[i - 1] < position), 'body: positions are not strictly increasing');
  return new Set(positions);
}
function checkShape(tree) {
  const waiting = [];
  for (let at = 0; at < tree.length; at++) {
    const node = tree[at];
    if (!Array.isArray(node)) {
      waiting.push(node.right);
      require(waiting.length <= MAXIMUM.treeDepth, 'body: a tree is too deep');
      continue;
    }
    const next = waiting.pop();
    if (next === undefined) {
      require(at === tree.length - 1, 'body: nodes of a tree that are nobody\'s children');
      return;
    }
    require(next === at + 1, 'body: the right child of a node does not follow its left subtree');
  }
  reject('body: a tree without an end');
}
return { TreesBody, readTrees };
})();
modules["bodies/nested.js"] = (() => {
const { Rational, sum, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readNumbersOf, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { readTrees, TreesBody } = modules["bodies/trees.js"];
class Median {
  kind = /** @type {const} */ ('median');
  constructor(weights, slope, offset) {
    this.weights = weights;
    this.slope = slope;
    this.offset = offset;
    this.half = sum(weights).half();
  }
  of(values) {
    const order = [...values.keys()].sort((i, j) => values[i].compare(values[j]));
    let total = ZERO;
    for (const k of order) {
      total = total.plus(this.weights[k]);
      if (this.half.atMost(total)) return values[k];
    }
    throw new Error('a median of nothing');
  }
}
class NestedBody {
  kind = /** @type {const} */ ('nested');
  irrational = false;
  constructor(inner, outer) {
    this.inner = inner;
    this.outer = outer;
    this.scores = outer.kind === 'median' ? 1 : outer.scores;
  }
  evaluate(codes) {
    const { outer } = this;
    const values = this.inner.map((body) => body.evaluate(codes)[0]);
    return outer.kind === 'median' ? [outer.offset.plus(outer.slope.times(outer.of(values)))] : outer.evaluate(values);
  }
  isConstant(k) {
    const { outer } = this;
    return this.inner.every((body, i) => body.isConstant(k) || (outer.kind === 'trees' && outer.isConstant(i)));
  }
  packs() {
    return ['nested', ...(this.outer.kind === 'trees' ? this.outer.packs() : []), ...this.inner.flatMap((body) => body.packs())];
  }
}
function readNested(json, context, readPlainBody) {
  const part = readObject(json, 'body', ['kind', 'inner', 'outer']);
  const items = readArray(part('inner'), 'inner bodies');
  require(1 <= items.length && items.length <= MAXIMUM.innerBodies, `body: not 1 to ${MAXIMUM.innerBodies} inner bodies`);
  const inner = items.map((item) => {
    const body = readPlainBody(item, { space: context.space, scores: null });
    return !('evaluate' in body) || body.irrational ? reject('body: an inner body whose scores are irrational') : body;
  });
  return new NestedBody(inner, readOuter(part('outer'), inner.length, context.scores));
}
function readOuter(json, count, scores) {
  const kind = json instanceof Map ? json.get('kind') : null;
  if (kind === 'trees') return readTrees(json, { space: { features: Array.from({ length: count }, numberAsFeature), constraints: [] }, scores });
  if (kind !== 'median') return reject('body: neither trees nor a median of inner scores');
  require(scores === null, 'body: a median has one score');
  const part = readObject(json, 'median', ['kind', 'weights', 'slope', 'offset']);
  const weights = readNumbersOf(part('weights'), 'weights of a median', count);
  require(weights.every((weight) => weight.sign() > 0), 'body: a median with a weight that is not positive');
  const slope = readNumber(part('slope'), 'slope of a median');
  require(!slope.isZero(), 'body: the slope of a median is 0');
  return new Median(weights, slope, readNumber(part('offset'), 'offset of a median'));
}
function numberAsFeature() {
  return { name: '', kind: 'continuous', lo: ZERO, hi: ZERO, levels: null, discrete: false, missing: null, lastNumber: ZERO };
}
return { Median, NestedBody, readNested, numberAsFeature };
})();
modules["bodies/activation.js"] = (() => {
const { exactly, expOf, interval, multiply, reciprocal, roundedOut, subtract, sigmaOf } = modules["exact/interval.js"];
const { larger, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
function readActivation(json) {
  const [kind] = readArray(json, 'activation');
  const numbersOf = (/** @type {number} */ count) =>
    readArrayOf(json, 'activation', 1 + count).slice(1).map((item) => readNumber(item, 'activation'));
  switch (kind) {
    case 'relu':
      return { kind, numbers: numbersOf(0), breaks: [ZERO], slopes: [ZERO, ONE], rational: true };
    case 'leaky_relu': {
      const numbers = numbersOf(1);
      return { kind, numbers, breaks: [ZERO], slopes: [numbers[0], ONE], rational: true };
    }
    case 'clip': {
      const numbers = numbersOf(2);
      require(numbers[0].atMost(numbers[1]), 'activation: clip with lo > hi');
      return { kind, numbers, breaks: numbers, slopes: [ZERO, ONE, ZERO], rational: true };
    }
    case 'tanh':
    case 'logistic':
      return { kind, numbers: numbersOf(0), breaks: [], slopes: [], rational: false };
    case 'elu':
      return { kind, numbers: numbersOf(1), breaks: [], slopes: [], rational: false };
    default:
      return reject('activation: unknown');
  }
}
function activate({ kind, numbers }, y) {
  if (kind === 'clip') return smaller(larger(y, numbers[0]), numbers[1]);
  if (y.sign() >= 0) return y;
  return kind === 'relu' ? ZERO : numbers[0].times(y);
}
function activateClosely(activation, y, bits) {
  if (activation.rational) return exactly(activate(activation, y));
  if (activation.kind === 'logistic') return sigmaOf(y, bits);
  if (activation.kind === 'elu') {
    if (y.sign() >= 0) return exactly(y);
    return multiply(subtract(expOf(y, bits), exactly(ONE)), activation.numbers[0]);
  }
  const small = expOf(y.absolute().scaled(1).negated(), bits);
  const inverse = roundedOut(reciprocal(interval(ONE.plus(small.lo), ONE.plus(small.hi))), bits);
  const size = subtract(multiply(inverse, Rational.of(2)), exactly(ONE));
  return y.sign() >= 0 ? size : multiply(size, ONE.negated());
}
function activateInterval(activation, y, bits) {
  const points = [y.lo, y.hi];
  if (y.lo.sign() < 0 && y.hi.sign() > 0) points.push(ZERO);
  const values = points.map((point) => activateClosely(activation, point, bits));
  return interval(values.map((value) => value.lo).reduce(smaller), values.map((value) => value.hi).reduce(larger));
}
return { readActivation, activate, activateClosely, activateInterval };
})();
modules["bodies/network.js"] = (() => {
const { add, exactly, multiply, roundedOut } = modules["exact/interval.js"];
const { ONE, Rational, sum, ZERO } = modules["exact/rational.js"];
const { readArray, readArrayOf, readNumbers, readNumbersOf, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { activate, activateInterval, readActivation } = modules["bodies/activation.js"];
const { dot } = modules["bodies/affine.js"];
const { columnValue, readCoefficient, readPlainColumns } = modules["bodies/columns.js"];
const MOST_LAYERS = 32;
const MOST_NEURONS = 10_000;
const FINEST_BITS = 65_536;
class NetworkBody {
  kind = /** @type {const} */ ('network');
  constructor(space, columns, layers, weights, bias) {
    this.space = space;
    this.columns = columns;
    this.layers = layers;
    this.weights = weights;
    this.bias = bias;
    this.scores = bias.length;
    this.irrational = layers.some(({ activation }) => !activation.rational);
  }
  evaluate(codes) {
    let values = this.columns.map((column) => columnValue(column, codes[column.feature]));
    for (const { activation, biases, weights } of this.layers) {
      values = weights.map((row, i) => activate(activation, biases[i].plus(dot(row, values))));
    }
    return this.bias.map((bias, score) => bias.plus(sum(values.map((value, j) => value.times(this.weights[j][score])))));
  }
  enclose(codes, bits) {
    for (let work = bits + 64; ; work *= 2) {
      const scores = this.encloseWith(codes, work);
      if (work > FINEST_BITS || scores.every((score) => isNarrow(score, bits))) return scores;
    }
  }
  encloseWith(codes, work) {
    let values = this.columns.map((column) => exactly(columnValue(column, codes[column.feature])));
    for (const { activation, biases, weights } of this.layers) {
      values = weights.map((row, i) => roundedOut(activateInterval(activation, roundedOut(weighted(row, values, biases[i]), work), work), work));
    }
    return this.bias.map((bias, score) => weighted(this.weights.map((row) => row[score]), values, bias));
  }
  isConstant(k) {
    const counting = this.neuronsThatCount();
    return this.layers[0].weights.every((row, i) => !counting.has(i) || this.isSameAtAllCodes(row, k));
  }
  neuronsThatCount() {
    let counting = new Set(this.weights.flatMap((row, j) => (row.some((weight) => !weight.isZero()) ? [j] : [])));
    for (let l = this.layers.length - 1; l > 0; l--) {
      const before = new Set();
      for (const i of counting) {
        this.layers[l].weights[i].forEach((weight, j) => {
          if (!weight.isZero()) before.add(j);
        });
      }
      counting = before;
    }
    return counting;
  }
  isSameAtAllCodes(row, k) {
    const { levels } = this.space.features[k];
    const own = this.columns.flatMap((column, c) => (column.feature === k ? [{ column, weight: row[c] }] : []));
    if (levels === null) {
      return sum(own.map(({ column, weight }) => (column.kind === 'linear' ? weight.times(column.slope) : ZERO))).isZero();
    }
    const totals = levels.map((_, v) => sum(own.map(({ column, weight }) => weight.times(columnValue(column, Rational.of(v))))));
    return totals.every((total) => total.equals(totals[0]));
  }
  packs() {
    return ['network'];
  }
  form(alpha, shift) {
    const weights = this.weights.map((row) => [dot(alpha, row)]);
    return new NetworkBody(this.space, this.columns, this.layers, weights, [dot(alpha, this.bias).plus(shift)]);
  }
}
function weighted(row, values, bias) {
  return values.reduce((total, value, j) => add(total, multiply(value, row[j])), exactly(bias));
}
function isNarrow({ lo, hi }, bits) {
  return hi.minus(lo).atMost(ONE.plus(hi.absolute()).scaled(-bits));
}
function readNetwork(json, context) {
  const part = readObject(json, 'body', ['kind', 'columns', 'layers', 'weights', 'bias']);
  const columns = readPlainColumns(part('columns'), context.space);
  require(1 <= columns.length && columns.length <= MAXIMUM.columns, 'body: not 1 to 10,000 columns');
  const items = readArray(part('layers'), 'layers');
  require(1 <= items.length && items.length <= MOST_LAYERS, `body: not 1 to ${MOST_LAYERS} layers`);
  let width = columns.length;
  const layers = items.map((item) => {
    const layer = readLayer(item, width);
    width = layer.biases.length;
    return layer;
  });
  const weights = readArrayOf(part('weights'), 'weights', width).map((item) => readCoefficient(item, 'weight', context));
  return new NetworkBody(context.space, columns, layers, weights, readCoefficient(part('bias'), 'bias', context));
}
function readLayer(json, width) {
  const part = readObject(json, 'layer', ['activation', 'biases', 'weights']);
  const biases = readNumbers(part('biases'), 'biases');
  require(1 <= biases.length && biases.length <= MOST_NEURONS, 'layer: not 1 to 10,000 neurons');
  const weights = readArrayOf(part('weights'), 'weights', biases.length).map((row) => readNumbersOf(row, 'row of weights', width));
  return { activation: readActivation(part('activation')), biases, weights };
}
return { NetworkBody, readNetwork };
})();
modules["bodies/polynomial.js"] = (() => {
const { Rational, ZERO } = modules["exact/rational.js"];
const { readArray, readArrayOf, readIndex, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { dot } = modules["bodies/affine.js"];
const { columnValue, isConstantColumn, readCoefficient, readPlainColumns } = modules["bodies/columns.js"];
const LONGEST_PRODUCT = 16;
class PolynomialBody {
  kind = /** @type {const} */ ('polynomial');
  irrational = false;
  constructor(columns, terms) {
    this.columns = columns;
    this.terms = terms;
    this.scores = terms[0].coefficients.length;
  }
  evaluate(codes) {
    const values = this.columns.map((column) => columnValue(column, codes[column.feature]));
    const scores = this.terms[0].coefficients.map(() => ZERO);
    for (const { coefficients, factors } of this.terms) {
      const product = factors.reduce((total, c) => total.times(values[c]), Rational.of(1));
      coefficients.forEach((coefficient, i) => {
        scores[i] = scores[i].plus(coefficient.times(product));
      });
    }
    return scores;
  }
  isConstant(k) {
    return this.terms.every(
      ({ coefficients, factors }) =>
        coefficients.every((coefficient) => coefficient.isZero()) ||
        factors.every((c) => this.columns[c].feature !== k || isConstantColumn(this.columns[c])),
    );
  }
  packs() {
    return ['polynomial'];
  }
  form(alpha, shift) {
    const terms = this.terms.map(({ coefficients, factors }) => ({ coefficients: [dot(alpha, coefficients)], factors }));
    terms.push({ coefficients: [shift], factors: [] });
    return new PolynomialBody(this.columns, terms);
  }
}
function readPolynomial(json, context) {
  const part = readObject(json, 'body', ['kind', 'columns', 'terms']);
  const columns = readPlainColumns(part('columns'), context.space);
  require(columns.length <= MAXIMUM.columns, 'body: too many columns');
  const terms = readArray(part('terms'), 'terms').map((item) => {
    const [coefficient, product] = readArrayOf(item, 'term', 2);
    const factors = readArray(product, 'product').map((c) => readIndex(c, 'column of a product', columns.length));
    require(factors.length <= LONGEST_PRODUCT, `body: a product of more than ${LONGEST_PRODUCT} columns`);
    require(factors.every((c, i) => i === 0 || factors[i - 1] <= c), 'body: the columns of a product are not in order');
    return { coefficients: readCoefficient(coefficient, 'coefficient', context), factors };
  });
  require(terms.length > 0, 'body: no term');
  require(new Set(terms.map(({ factors }) => factors.join())).size === terms.length, 'body: one product twice');
  return new PolynomialBody(columns, terms);
}
return { PolynomialBody, readPolynomial };
})();
modules["bodies/rbf.js"] = (() => {
const { add, exactly, multiply } = modules["exact/interval.js"];
const { Rational, bitLength, larger, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf, readNumbersOf, readObject } = modules["file/fields.js"];
const { require } = modules["rejection.js"];
const { dot } = modules["bodies/affine.js"];
const { bumpAt } = modules["bodies/bump.js"];
const { columnValue, isConstantColumn, readCoefficient, readPlainColumns } = modules["bodies/columns.js"];
class RbfBody {
  kind = /** @type {const} */ ('rbf');
  irrational = true;
  constructor(gamma, bias, columns, terms, grouped) {
    this.gamma = gamma;
    this.bias = bias;
    this.columns = columns;
    this.terms = terms;
    this.grouped = grouped;
    this.scores = bias.length;
    let size = ZERO;
    for (const { coefficients } of terms) {
      size = size.plus(coefficients.map((coefficient) => coefficient.absolute()).reduce(larger));
    }
    this.sizeBits = bitLength(size.ceil()) + 4;
    this.gammaBits = bitLength(gamma.ceil()) + bitLength(BigInt(columns.length)) + 4;
  }
  enclose(codes, bits) {
    const precision = bits + this.sizeBits;
    const values = this.columns.map((column) => columnValue(column, codes[column.feature]));
    let scores = this.bias.map(exactly);
    const work = precision + this.gammaBits;
    const slack = this.gamma.times(Rational.dyadic(BigInt(values.length), -work));
    for (const { coefficients, centre } of this.terms) {
      let distance = 0n;
      centre.forEach((number, c) => {
        distance += values[c].minus(number).squared().ceil(work);
      });
      const bump = bumpAt(this.gamma, distance, work, slack, precision);
      scores = scores.map((score, i) => add(score, multiply(bump, coefficients[i])));
    }
    return scores;
  }
  isConstant(k) {
    return this.columns.every((column) => column.feature !== k || isConstantColumn(column));
  }
  packs() {
    return ['kernel'];
  }
  form(alpha, shift) {
    const terms = this.terms.map(({ coefficients, centre }) => ({ coefficients: [dot(alpha, coefficients)], centre }));
    return new RbfBody(this.gamma, [dot(alpha, this.bias).plus(shift)], this.columns, terms, this.grouped);
  }
}
function readRbf(json, context) {
  const part = readObject(json, 'body', ['kind', 'gamma', 'bias', 'columns', 'terms'], ['grouped']);
  const grouped = part('grouped');
  require(grouped === undefined || grouped === true, 'body: "grouped" is not true');
  const gamma = readNumber(part('gamma'), 'gamma');
  require(gamma.sign() > 0, 'body: gamma is not positive');
  const columns = readPlainColumns(part('columns'), context.space);
  const terms = readArray(part('terms'), 'terms').map((item) => {
    const [coefficient, centre] = readArrayOf(item, 'term', 2);
    return { coefficients: readCoefficient(coefficient, 'coefficient', context), centre: readNumbersOf(centre, 'centre', columns.length) };
  });
  require(terms.length > 0, 'body: no term');
  return new RbfBody(gamma, readCoefficient(part('bias'), 'bias', context), columns, terms, grouped === true);
}
return { RbfBody, readRbf };
})();
modules["bodies/link.js"] = (() => {
const { exactly, interval, sigmaOf } = modules["exact/interval.js"];
const { ONE, Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf, readNumbersOf } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
function readPartLink(json) {
  if (json === null) return null;
  if (readArray(json, 'link of a part')[0] !== 'chain') return readPlainLink(json);
  const [, innerJson, outerJson] = readArrayOf(json, 'chain of links', 3);
  const [inner, outer] = [readPlainLink(innerJson), readPlainLink(outerJson)];
  if (inner.kind !== 'logistic') return reject('link of a part: the inner link of a chain is not logistic');
  return { kind: 'chain', slope: inner.slope, offset: inner.offset, inner, outer };
}
function readPlainLink(json) {
  const [kind] = readArray(json, 'link of a part');
  if (kind === 'logistic') {
    const [, slopeJson, offsetJson] = readArrayOf(json, 'link of a part', 3);
    const slope = readNumber(slopeJson, 'slope of a link');
    require(slope.sign() > 0, 'link of a part: the slope is not positive');
    return { kind, slope, offset: readNumber(offsetJson, 'offset of a link') };
  }
  if (kind !== 'table') return reject('link of a part: unknown');
  const [, items] = readArrayOf(json, 'link of a part', 2);
  return { kind, slope: ONE, offset: ZERO, knots: readKnots(readArray(items, 'knots')) };
}
function readKnots(items) {
  require(1 <= items.length && items.length <= MAXIMUM.knots, `link of a part: not 1 to ${MAXIMUM.knots} knots`);
  const knots = items.map((item) => {
    const [place, below, at, above] = readNumbersOf(item, 'knot', 4);
    require(below.atMost(at) && at.atMost(above), 'link of a part: a knot where it falls');
    return { place, below, at, above };
  });
  for (let i = 1; i < knots.length; i++) {
    require(knots[i - 1].place.less(knots[i].place), 'link of a part: knots are not strictly increasing');
    require(knots[i - 1].above.atMost(knots[i].below), 'link of a part: it falls between knots');
  }
  return knots;
}
function tableAt(knots, t) {
  let [low, high] = [0, knots.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (knots[middle].place.less(t)) low = middle + 1;
    else high = middle;
  }
  const knot = knots[low];
  if (knot !== undefined && knot.place.equals(t)) return { value: knot.at, knot };
  if (low === 0) return { value: knots[0].below, knot: null };
  const before = knots[low - 1];
  if (low === knots.length) return { value: before.above, knot: null };
  const share = t.minus(before.place).over(knot.place.minus(before.place));
  return { value: before.above.plus(knot.below.minus(before.above).times(share)), knot: null };
}
function linkOfInterval(link, score, bits) {
  if (link === null) return score;
  if (link.kind === 'chain') return linkOfInterval(link.outer, linkOfInterval(link.inner, score, bits), bits);
  if (link.kind === 'table') {
    const low = tableAt(link.knots, score.lo).value;
    return score.lo === score.hi ? exactly(low) : interval(low, tableAt(link.knots, score.hi).value);
  }
  const low = sigmaOf(link.slope.times(score.lo).plus(link.offset), bits);
  if (score.lo === score.hi) return low;
  return interval(low.lo, sigmaOf(link.slope.times(score.hi).plus(link.offset), bits).hi);
}
return { readPartLink, tableAt, linkOfInterval };
})();
modules["bodies/sum.js"] = (() => {
const { add, exactly, multiply } = modules["exact/interval.js"];
const { ONE, Rational } = modules["exact/rational.js"];
const { readArray, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { encloseScores } = modules["bodies/combined.js"];
const { readCoefficient } = modules["bodies/columns.js"];
const { linkOfInterval, readPartLink, tableAt } = modules["bodies/link.js"];
const isIrrational = (link) => link !== null && link.kind !== 'table';
const FINEST_BITS = 65_536;
class SumBody {
  kind = /** @type {const} */ ('sum');
  constructor(bias, parts) {
    this.bias = bias;
    this.parts = parts;
    this.scores = bias.length;
    this.irrational = parts.some(({ link, body }) => isIrrational(link) || body.irrational);
  }
  evaluate(codes) {
    let scores = this.bias;
    for (const { weights, link, body } of this.parts) {
      if (!('evaluate' in body) || (link !== null && link.kind !== 'table')) throw new Error('an irrational part cannot be evaluated exactly');
      const [score] = body.evaluate(codes);
      const value = link === null ? score : tableAt(link.knots, score).value;
      scores = scores.map((total, i) => total.plus(value.times(weights[i])));
    }
    return scores;
  }
  enclose(codes, bits) {
    for (let work = bits + 32; ; work *= 2) {
      const scores = this.encloseWith(codes, work);
      const narrow = scores.every(({ lo, hi }) => hi.minus(lo).atMost(ONE.plus(hi.absolute()).scaled(-bits)));
      if (narrow || work > Math.min(FINEST_BITS, 16 * bits)) return scores;
    }
  }
  encloseWith(codes, work) {
    let scores = this.bias.map(exactly);
    for (const { weights, link, body } of this.parts) {
      const value = linkOfInterval(link, encloseScores(body, codes, work)[0], work);
      scores = scores.map((total, i) => add(total, multiply(value, weights[i])));
    }
    return scores;
  }
  isConstant(k) {
    return this.parts.every(({ weights, body }) => weights.every((weight) => weight.isZero()) || body.isConstant(k));
  }
  packs() {
    return ['sums', ...this.parts.flatMap(({ body }) => body.packs())];
  }
}
function readSum(json, context, readPlainBody) {
  const part = readObject(json, 'body', ['kind', 'bias', 'parts']);
  const bias = readCoefficient(part('bias'), 'bias', context);
  const items = readArray(part('parts'), 'parts');
  require(1 <= items.length && items.length <= MAXIMUM.parts, `body: not 1 to ${MAXIMUM.parts} parts`);
  const parts = items.map((item) => {
    const own = readObject(item, 'part', ['weight', 'link', 'body']);
    const weights = readCoefficient(own('weight'), 'weight of a part', context);
    const link = readPartLink(/** @type {Json} */ (own('link')));
    return { weights, link, body: readPlainBody(/** @type {Json} */ (own('body')), { space: context.space, scores: null }) };
  });
  return new SumBody(bias, parts);
}
return { SumBody, readSum };
})();
modules["bodies/bodies.js"] = (() => {
const { reject } = modules["rejection.js"];
const { AffineBody, readAffine } = modules["bodies/affine.js"];
const { CombinedBody, readCombined } = modules["bodies/combined.js"];
const { MixedBody, readMixed } = modules["bodies/mixed.js"];
const { NestedBody, readNested } = modules["bodies/nested.js"];
const { NetworkBody, readNetwork } = modules["bodies/network.js"];
const { PolynomialBody, readPolynomial } = modules["bodies/polynomial.js"];
const { RbfBody, readRbf } = modules["bodies/rbf.js"];
const { readSum, SumBody } = modules["bodies/sum.js"];
const { readTrees, TreesBody } = modules["bodies/trees.js"];
function readPlainBody(json, context) {
  switch (json instanceof Map ? json.get('kind') : null) {
    case 'affine':
      return readAffine(json, context);
    case 'rbf':
      return readRbf(json, context);
    case 'mixed':
      return readMixed(json, context);
    case 'polynomial':
      return readPolynomial(json, context);
    case 'trees':
      return readTrees(json, context);
    case 'network':
      return readNetwork(json, context);
    default:
      return reject('body: an unknown kind');
  }
}
function readBody(json, context) {
  const kind = json instanceof Map ? json.get('kind') : null;
  if (kind === 'nested') return readNested(json, context, readPlainBody);
  return kind === 'combined' ? readCombined(json, context, readCombinable) : readCombinable(json, context);
}
function readCombinable(json, context) {
  const isSum = json instanceof Map && json.get('kind') === 'sum';
  return isSum ? readSum(json, context, readPlainBody) : readPlainBody(json, context);
}
function exponentialTerms(body) {
  if (body.kind === 'rbf' || body.kind === 'mixed') return body.terms.length;
  if (body.kind === 'combined') return body.bodies.reduce((total, own) => total + exponentialTerms(own), 0);
  return body.kind === 'sum' ? body.parts.reduce((total, part) => total + exponentialTerms(part.body), 0) : 0;
}
function knowsMissingValues(body) {
  if (body.kind === 'combined') return body.bodies.every(knowsMissingValues);
  if (body.kind === 'nested') return body.inner.every(knowsMissingValues);
  return body.kind === 'sum' ? body.parts.every((part) => knowsMissingValues(part.body)) : body.kind === 'trees';
}
return { readBody, exponentialTerms, knowsMissingValues };
})();
modules["claim/head.js"] = (() => {
const { ONE, Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
function readHead(json) {
  return json instanceof Map && json.has('classes') ? readHeadOfClasses(json) : readHeadOfTwo(json);
}
function readHeadOfTwo(json) {
  const part = readObject(json, 'head', ['labels', 'zero', 'link']);
  const labels = part('labels') === null ? null : readArrayOf(part('labels'), 'labels', 2).map(readLabel);
  const zero = part('zero');
  require(zero === 'lower' || zero === 'upper', 'head: "zero" is neither "lower" nor "upper"');
  const exponential = part('link') === 'exponential';
  require(!exponential || labels === null, 'head: the exponential link has no labels');
  return { kind: 'two', labels, zeroIsUpper: zero === 'upper', link: exponential ? null : readLink(part('link')), exponential };
}
function readLink(json) {
  if (json === null) return null;
  if (json === 'logistic') return { slope: ONE, offset: ZERO };
  const [name, slopeJson, offset] = readArrayOf(json, 'link', 3);
  require(name === 'logistic', 'head: an unknown link');
  const slope = readNumber(slopeJson, 'slope of the link');
  require(!slope.isZero(), 'head: the slope of the link is 0');
  return { slope, offset: readNumber(offset, 'offset of the link') };
}
function readLabel(json) {
  if (typeof json === 'string') return JSON.stringify(json);
  if (typeof json === 'boolean') return `${json}`;
  if (typeof json === 'bigint') return `${Rational.of(json)}`;
  return `${readNumber(readObject(json, 'label', ['number'])('number'), 'label')}`;
}
function readHeadOfClasses(json) {
  const part = readObject(json, 'head', ['labels', 'classes', 'link']);
  const labels = readArray(part('labels'), 'labels').map(readLabel);
  require(labels.length >= 2, 'head: fewer than two labels');
  require(new Set(labels).size === labels.length, 'head: two equal labels');
  const classes = part('classes');
  const link = part('link');
  if (classes !== 'argmax' && classes !== 'votes') return reject('head: unknown "classes"');
  if (link !== null && link !== 'identity' && link !== 'softmax') return reject('head: an unknown link');
  const count = labels.length;
  if (classes === 'votes') {
    require(3 <= count && count <= 6, 'head: votes need 3 to 6 classes');
    require(link === null, 'head: votes have no link');
  }
  const scores = classes === 'argmax' ? count : (count * (count - 1)) / 2;
  require(scores <= MAXIMUM.scores, 'head: too many scores');
  return { kind: 'classes', labels, classes, link, scores };
}
return { readHead };
})();
modules["exact/polynomial-maximum.js"] = (() => {
const { larger, largest, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const ROOM_BITS = 61;
function polynomialMaximum(coefficients, from, to) {
  const own = withoutLeadingZeros(coefficients);
  const values = own.length === 0 ? [ZERO] : own;
  const shifted = shiftedAndScaled(values, from, to.minus(from));
  const room = smaller(sizeAt(larger(from.absolute(), to.absolute()), values), sizeAt(ONE, shifted)).scaled(-ROOM_BITS);
  let boxes = [bernstein(shifted)];
  let attained = larger(boxes[0][0], boxes[0][values.length - 1]);
  let bound = attained;
  while (boxes.length > 0) {
    const next = [];
    for (const box of boxes) {
      if (isMonotone(box)) continue;
      const most = largest(box);
      if (most.atMost(attained.plus(room))) {
        bound = larger(bound, most);
        continue;
      }
      const [left, right] = halves(box);
      attained = larger(attained, right[0]);
      next.push(left, right);
    }
    boxes = next;
  }
  return larger(bound, attained);
}
function withoutLeadingZeros(coefficients) {
  let length = coefficients.length;
  while (length > 0 && coefficients[length - 1].isZero()) length -= 1;
  return coefficients.slice(0, length);
}
function sizeAt(place, coefficients) {
  return coefficients.reduceRight((total, coefficient) => total.times(place).plus(coefficient.absolute()), ZERO);
}
function bernstein(shifted) {
  const degree = shifted.length - 1;
  return shifted.map((_, i) => {
    let total = ZERO;
    for (let j = 0; j <= i; j++) {
      const factor = Rational.fraction(binomial(i, j), binomial(degree, j));
      total = total.plus(factor.times(shifted[j]));
    }
    return total;
  });
}
function shiftedAndScaled(coefficients, start, width) {
  const result = coefficients.slice();
  for (let i = 0; i < result.length; i++) {
    for (let j = result.length - 2; j >= i; j--) result[j] = result[j].plus(start.times(result[j + 1]));
  }
  let power = Rational.of(1);
  return result.map((coefficient) => {
    const value = coefficient.times(power);
    power = power.times(width);
    return value;
  });
}
function binomial(n, k) {
  let value = 1n;
  for (let i = 0; i < k; i++) value = (value * BigInt(n - i)) / BigInt(i + 1);
  return value;
}
function isMonotone(box) {
  let [rises, falls] = [false, false];
  for (let i = 1; i < box.length; i++) {
    const order = box[i].compare(box[i - 1]);
    if (order > 0) rises = true;
    if (order < 0) falls = true;
  }
  return !(rises && falls);
}
function halves(box) {
  const left = [box[0]];
  const right = [box[box.length - 1]];
  let row = box;
  while (row.length > 1) {
    const previous = row;
    row = previous.slice(1).map((value, i) => value.plus(previous[i]).half());
    left.push(row[0]);
    right.unshift(row[row.length - 1]);
  }
  return [left, right];
}
return { polynomialMaximum };
})();
modules["rules/polygon.js"] = (() => {
const { larger, largerOfMaxima, Rational, smaller } = modules["exact/rational.js"];
function polygonMaximum(u, v, lo, hi, otherLo, otherHi, p, q) {
  let most = null;
  for (const x of [lo, hi]) {
    const from = larger(otherLo, x.plus(p));
    const to = smaller(otherHi, x.plus(q));
    if (to.less(from)) continue;
    for (const other of [from, to]) most = largerOfMaxima(most, u.times(x).plus(v.times(other)));
  }
  for (const other of [otherLo, otherHi]) {
    const from = larger(lo, other.minus(q));
    const to = smaller(hi, other.minus(p));
    if (to.less(from)) continue;
    for (const x of [from, to]) most = largerOfMaxima(most, u.times(x).plus(v.times(other)));
  }
  return most;
}
return { polygonMaximum };
})();
modules["rules/pieces.js"] = (() => {
const { polynomialMaximum } = modules["exact/polynomial-maximum.js"];
const { larger, largerOfMaxima, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { pieceOf } = modules["bodies/columns.js"];
const { polygonMaximum } = modules["rules/polygon.js"];
function partsOf(cuts, lo, hi, discrete) {
  const parts = [];
  const last = pieceOf(cuts, hi);
  for (let piece = pieceOf(cuts, lo); piece <= last; piece++) {
    let from = lo;
    let to = piece < cuts.length ? smaller(hi, cuts[piece]) : hi;
    if (piece > 0) {
      const cut = cuts[piece - 1];
      from = larger(lo, discrete ? Rational.of(cut.floor()).plus(ONE) : cut);
    }
    if (discrete) to = Rational.of(to.floor());
    if (from.atMost(to)) parts.push({ piece, from, to });
  }
  return parts;
}
function maximumOverParts(phi, parts) {
  return parts.reduce(
    (/** @type {Rational | null} */ most, { piece, from, to }) => largerOfMaxima(most, polynomialMaximum(phi.pieces[piece], from, to)),
    null,
  );
}
function maximumOfSamePieces(u, v, lo, hi, discrete) {
  const pieces = u.pieces.map((piece, i) => addPolynomials(piece, v.pieces[i]));
  return maximumOverParts({ cuts: u.cuts, pieces }, partsOf(u.cuts, lo, hi, discrete));
}
function maximumOfPieces(u, lo, hi, discrete) {
  return maximumOverParts(u, partsOf(u.cuts, lo, hi, discrete));
}
function maximumOfPiecesBetween(u, v, [lo, hi, otherLo, otherHi], p, q, discrete) {
  const parts = partsOf(u.cuts, lo, hi, discrete);
  const others = partsOf(v.cuts, otherLo, otherHi, discrete);
  const tops = parts.map(({ piece, from, to }) => polynomialMaximum(u.pieces[piece], from, to));
  const otherTops = others.map(({ piece, from, to }) => polynomialMaximum(v.pieces[piece], from, to));
  let most = null;
  let [start, count] = [0, 0];
  for (const [m, part] of parts.entries()) {
    while (start < others.length && others[start].to.minus(part.from).less(p)) start += 1;
    for (let n = start; n < others.length && !q.less(others[n].from.minus(part.to)); n++) {
      count += 1;
      require(count <= MAXIMUM.partPairs, 'separable: too many pairs of parts');
      if (most !== null && tops[m].plus(otherTops[n]).atMost(most)) continue; // these two cannot raise it
      most = largerOfMaxima(most, maximumOfParts(u.pieces[part.piece], v.pieces[others[n].piece], part, others[n], p, q));
    }
  }
  return most;
}
function maximumOfParts(u, v, part, other, p, q) {
  if (isLinear(u) && isLinear(v)) {
    const sloped = polygonMaximum(u[1] ?? ZERO, v[1] ?? ZERO, part.from, part.to, other.from, other.to, p, q);
    return sloped === null ? null : sloped.plus(u[0] ?? ZERO).plus(v[0] ?? ZERO);
  }
  const mostU = polynomialMaximum(u, larger(part.from, other.from.minus(q)), smaller(part.to, other.to.minus(p)));
  const mostV = polynomialMaximum(v, larger(other.from, part.from.plus(p)), smaller(other.to, part.to.plus(q)));
  return mostU.plus(mostV);
}
function isLinear(coefficients) {
  return coefficients.slice(2).every((coefficient) => coefficient.isZero());
}
function addPolynomials(a, b) {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? ZERO).plus(b[i] ?? ZERO));
}
return { partsOf, maximumOfSamePieces, maximumOfPieces, maximumOfPiecesBetween };
})();
modules["claim/rounding.js"] = (() => {
const { polynomialValue } = modules["bodies/columns.js"];
const { interval, roundedOut } = modules["exact/interval.js"];
const { larger, ONE, Rational, sum, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readInt, readNumbersOf, readObject } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { partsOf } = modules["rules/pieces.js"];
const MOST_OPERATIONS = 10_000_000n;
const FINEST_BITS = 1 << 17;
const LARGEST = Rational.dyadic(1n, 1000);
const LARGEST_OF_SINGLE = Rational.dyadic(1n, 120);
const LARGEST_IN_PIECES = Rational.dyadic(1n, 34);
const LARGEST_COEFFICIENT = Rational.dyadic(1n, 100);
function readRounding(json, body, head, space) {
  if (body.kind === 'trees' && json !== null) {
    const part = readObject(json, 'rounding', ['constant', 'operations', 'bits']);
    const bits = Number(readInt(part('bits'), 'bits', 24n, 53n));
    require(bits === 24 || bits === 53, 'rounding: neither 24 nor 53 bits');
    const size = readNumber(part('constant'), 'constant of rounding');
    const operations = readInt(part('operations'), 'operations', 0n, MOST_OPERATIONS);
    require(body.size().atMost(size), 'rounding: the constant is smaller than the terms that are added');
    require(operations >= BigInt(body.trees.length), 'rounding: fewer operations than trees');
    const fits = sumsStayFinite(size, operations, bits === 24 ? LARGEST_OF_SINGLE : LARGEST);
    return { size, operations, bits, lost: Rational.dyadic(1n, bits === 24 ? -100 : -700), fits };
  }
  if (body.kind === 'affine' && head.kind === 'two') {
    const part = readObject(json, 'rounding', ['sizes', 'constant', 'operations']);
    const sizes = readNumbersOf(part('sizes'), 'sizes of rounding', body.columns.length);
    require(sizes.every((size) => size.sign() >= 0), 'rounding: a negative size');
    const constant = readNumber(part('constant'), 'constant of rounding');
    require(constant.sign() >= 0, 'rounding: a negative constant');
    const operations = readInt(part('operations'), 'operations', 0n, MOST_OPERATIONS);
    const most = body.columns.map((column) => largestOfColumn(column, space));
    const size = most.reduce((total, value, c) => total.plus(sizes[c].times(value)), constant);
    const lost = ONE.plus(sum(sizes)).scaled(-700);
    const fits =
      body.bias[0].absolute().atMost(constant) &&
      body.weights.every(([weight], c) => weight.absolute().atMost(sizes[c])) &&
      operations >= BigInt(body.columns.length) &&
      sumsStayFinite(size, operations, LARGEST) &&
      most.every((value) => value.less(LARGEST)) &&
      space.features.every((feature) => feature.levels !== null || liesWithin(feature, LARGEST)) &&
      body.columns.every((column) => column.kind !== 'pieces' || piecesFit(column, space));
    return { size, operations, bits: 53, lost, fits };
  }
  return json === null ? null : reject('rounding: must be null for this model');
}
function sumsStayFinite(size, operations, limit) {
  return size.times(Rational.of(2n * (operations + 1n))).less(limit);
}
function liesWithin({ lo, hi }, limit) {
  return lo.absolute().less(limit) && hi.absolute().less(limit);
}
function piecesFit({ feature, pieces }, space) {
  const small = pieces.every((piece) => piece.every((coefficient) => coefficient.absolute().less(LARGEST_COEFFICIENT)));
  return small && liesWithin(space.features[feature], LARGEST_IN_PIECES);
}
function largestOfColumn(column, space) {
  const { lo, hi, discrete } = space.features[column.feature];
  if (column.kind === 'table') return column.table.map((entry) => entry.absolute()).reduce(larger);
  if (column.kind === 'linear') {
    return larger(column.offset.plus(column.slope.times(lo)).absolute(), column.offset.plus(column.slope.times(hi)).absolute());
  }
  return partsOf(column.cuts, lo, hi, discrete).reduce((most, { piece, from, to }) => {
    const size = larger(from.absolute(), to.absolute());
    const coefficients = column.pieces[piece].map((coefficient) => coefficient.absolute());
    return larger(most, polynomialValue(coefficients, size));
  }, ZERO);
}
function covers({ size, operations, bits, lost, fits }, clearance) {
  if (!fits) return false;
  const least = Rational.of(operations).times(lost);
  for (let work = 256; work <= FINEST_BITS; work *= 8) {
    const growth = powerOf(ONE.plus(Rational.dyadic(1n, -bits)), operations, work);
    const low = growth.lo.minus(ONE).times(size).plus(least);
    const high = growth.hi.minus(ONE).times(size).plus(least);
    if (high.less(clearance)) return true;
    if (clearance.atMost(low)) return false;
  }
  return reject('rounding: it cannot be told whether the clearance covers it');
}
function powerOf(base, exponent, work) {
  let result = interval(ONE, ONE);
  let square = interval(base, base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = roundedOut(interval(result.lo.times(square.lo), result.hi.times(square.hi)), work);
    square = roundedOut(interval(square.lo.times(square.lo), square.hi.times(square.hi)), work);
  }
  return result;
}
return { readRounding, covers };
})();
modules["claim/model.js"] = (() => {
const { knowsMissingValues, readBody } = modules["bodies/bodies.js"];
const { readObject, readOnly, readText } = modules["file/fields.js"];
const { require } = modules["rejection.js"];
const { readHead } = modules["claim/head.js"];
const { readRounding } = modules["claim/rounding.js"];
const { readFeatures, sameFeatures } = modules["claim/space.js"];
function readModel(json, space) {
  const part = readObject(readOnly(json, 'model'), 'model', ['family', 'body', 'head', 'rounding'], ['features']);
  const family = readText(part('family'), 'family');
  const features = part('features');
  if (features !== undefined) {
    require(sameFeatures(readFeatures(features), space.features), 'model: its features are not those of the space');
  }
  const head = readHead(part('head'));
  const body = readBody(part('body'), { space, scores: head.kind === 'classes' ? head.scores : null });
  const missing = space.features.some((feature) => feature.missing !== null);
  require(!missing || knowsMissingValues(body), 'model: only trees know what to do with missing values');
  return { family, body, head, rounding: readRounding(part('rounding'), body, head, space) };
}
return { readModel };
})();
modules["claim/distance.js"] = (() => {
const { Rational, sum, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf, readIndex, readInt, readNumbersOf, readObject } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { positionOf } = modules["claim/space.js"];
function readDistance(json, { features }) {
  const part = readObject(json, 'distance', ['power', 'terms', 'forms', 'bound']);
  const power = readInt(part('power'), 'power of the distance', 1n, 2n) === 1n ? 1 : 2;
  const { terms, forms } = readTermsAndForms(part('terms'), part('forms'), features);
  const bound = readNumber(part('bound'), 'bound of the distance');
  require(bound.sign() >= 0, 'distance: a negative bound');
  return { power, terms, forms, bound };
}
function readTermsAndForms(termsJson, formsJson, features) {
  const terms = readArray(termsJson, 'terms of the distance').map((item) => readTerm(item, features));
  requireIncreasing(terms);
  const forms = readArray(formsJson, 'forms of the distance').map((item) => readForm(item, features));
  require(forms.length <= MAXIMUM.forms, 'distance: too many forms');
  require(terms.length + forms.length > 0, 'distance: neither terms nor forms');
  return { terms, forms };
}
function requireIncreasing(items) {
  require(items.every(({ feature }, i) => i === 0 || items[i - 1].feature < feature), 'distance: features are not strictly increasing');
}
function readFeatureOf(json, features) {
  const feature = features[readIndex(json, 'feature of the distance', features.length)];
  require(feature.missing === null, 'distance: a feature with missing values');
  return feature;
}
function readTerm(json, features) {
  const what = 'term of the distance';
  const kind = ['each', 'unequal', 'table'].find((key) => json instanceof Map && json.has(key));
  if (kind === undefined) return reject(`${what}: unknown`);
  const part = readObject(json, what, ['feature', kind]);
  const feature = readFeatureOf(part('feature'), features);
  const k = features.indexOf(feature);
  if (kind === 'each') {
    require(feature.kind !== 'categorical', 'distance: "each" for a categorical feature');
    return { feature: k, cost: { kind, cost: readCost(part(kind)) } };
  }
  if (feature.levels === null) return reject('distance: a feature without levels needs "each"');
  if (kind === 'unequal') return { feature: k, cost: { kind, cost: readCost(part(kind)) } };
  const rows = readArrayOf(part(kind), what, feature.levels.length - 1).map((row, i) => readArrayOf(row, what, i + 1).map(readCost));
  return { feature: k, cost: { kind: 'table', rows } };
}
function readCost(json) {
  const cost = readNumber(json, 'cost');
  require(cost.sign() >= 0, 'distance: a negative cost');
  return cost;
}
function readForm(json, features) {
  const [weightJson, entriesJson] = readArrayOf(json, 'form of the distance', 2);
  const weight = readNumber(weightJson, 'weight of a form');
  require(weight.sign() > 0, 'distance: a form whose weight is not positive');
  const entries = readArray(entriesJson, 'form of the distance').map((item) => {
    const [featureJson, alpha] = readArrayOf(item, 'entry of a form', 2);
    const feature = readFeatureOf(featureJson, features);
    const k = features.indexOf(feature);
    if (Array.isArray(alpha)) {
      if (feature.levels === null) return reject('distance: amounts for a feature without levels');
      return { feature: k, factor: null, amounts: readNumbersOf(alpha, 'amounts of a form', feature.levels.length) };
    }
    require(feature.kind !== 'categorical', 'distance: a factor for a categorical feature');
    return { feature: k, factor: readNumber(alpha, 'factor of a form'), amounts: null };
  });
  require(entries.length > 0, 'distance: a form without entries');
  requireIncreasing(entries);
  return { weight, entries };
}
function costOf(cost, code, other) {
  if (code.equals(other)) return ZERO;
  if (cost.kind === 'each') return cost.cost.times(code.minus(other).absolute());
  if (cost.kind === 'unequal') return cost.cost;
  const [u, v] = [positionOf(code), positionOf(other)];
  return cost.rows[Math.max(u, v) - 1][Math.min(u, v)];
}
function changeOf({ factor, amounts }, code, other) {
  if (amounts === null) return /** @type {Rational} */ (factor).times(other.minus(code));
  return amounts[positionOf(other)].minus(amounts[positionOf(code)]);
}
function partsBetween({ terms, forms }, x, other) {
  return {
    costs: terms.map(({ feature, cost }) => costOf(cost, x[feature], other[feature])),
    changes: forms.map(({ entries }) => sum(entries.map((entry) => changeOf(entry, x[entry.feature], other[entry.feature])))),
  };
}
function toPower(cost, power) {
  return power === 1 ? cost : cost.squared();
}
function distanceBetween(distance, x, other) {
  const { costs, changes } = partsBetween(distance, x, other);
  const squares = changes.map((z, j) => distance.forms[j].weight.times(z.squared()));
  return sum([...costs.map((cost) => toPower(cost, distance.power)), ...squares]);
}
return { readDistance, readTermsAndForms, costOf, changeOf, partsBetween, toPower, distanceBetween };
})();
modules["claim/rate.js"] = (() => {
const { largest, Rational, sum, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readObject } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { partsBetween, readTermsAndForms } = modules["claim/distance.js"];
const ROOT_BITS = 160;
function readRate(constantJson, json, { features }) {
  const constant = readNumber(constantJson, 'constant of the property');
  require(constant.sign() >= 0, 'property: a negative constant');
  const part = readObject(json, 'distance', ['norm', 'terms', 'forms']);
  const norm = readNorm(part('norm'));
  const { terms, forms } = readTermsAndForms(part('terms'), part('forms'), features);
  require(norm === 2 || forms.length === 0, 'distance: forms need the norm 2');
  return { constant, norm, terms, forms };
}
function readNorm(json) {
  if (json === 'max') return json;
  if (json === 1n) return 1;
  return json === 2n ? 2 : reject('distance: the norm is none of 1, 2 and "max"');
}
function squareOfNorm({ norm, forms }, costs, changes) {
  if (norm === 1) return sum(costs).squared();
  if (norm === 'max') return costs.length === 0 ? ZERO : largest(costs).squared();
  return sum([...costs.map((cost) => cost.squared()), ...changes.map((z, j) => forms[j].weight.times(z.squared()))]);
}
function squareBetween(rate, x, other) {
  const { costs, changes } = partsBetween(rate, x, other);
  return squareOfNorm(rate, costs, changes);
}
function allowanceOf({ constant }, square) {
  return constant.squared().times(square).rootBelow(ROOT_BITS);
}
return { readRate, squareOfNorm, squareBetween, allowanceOf };
})();
modules["claim/property.js"] = (() => {
const { ONE, Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readIndex, readObject, readOnly } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { readRate } = modules["claim/rate.js"];
function readProperty(json, space) {
  const inner = readOnly(json, 'property');
  const kind = inner instanceof Map ? inner.get('kind') : null;
  if (kind !== 'decision' && kind !== 'score' && kind !== 'probability' && kind !== 'prediction' && kind !== 'lipschitz') {
    return reject('property: an unknown kind');
  }
  const number = kind === 'decision' ? 'margin' : 'delta';
  const ofRate = kind === 'lipschitz' ? ['constant', 'distance'] : [];
  const part = readObject(inner, 'property', ['kind', number, ...ofRate], ['class']);
  const value = readNumber(part(number), `${number} of the property`);
  if (kind !== 'decision') {
    require(value.sign() >= 0, 'property: delta is negative');
    require(kind !== 'probability' || value.less(ONE), 'property: delta of a probability is not below 1');
  }
  return {
    kind,
    margin: kind === 'decision' ? value : ZERO,
    delta: kind === 'decision' ? ZERO : value,
    ofClass: readClass(part('class')),
    rate: kind === 'lipschitz' ? readRate(part('constant'), part('distance'), space) : null,
  };
}
function readClass(json) {
  return json === null || json === undefined ? json : readIndex(json, 'class of the property', MAXIMUM.scores);
}
function checkProperty(property, head, oneWay) {
  if (oneWay && property.kind === 'decision') {
    require(property.margin.sign() >= 0, 'property: a negative margin, though similarity is one-way');
    require(property.ofClass !== null, 'property: a decision of every class, though similarity is one-way');
  }
  if (head.kind === 'two') {
    require(property.ofClass === undefined, 'property: a class, but the model has no classes');
    require(property.kind !== 'decision' || head.labels !== null, 'property: a decision needs labels');
    require(property.kind !== 'probability' || head.link !== null, 'property: a probability needs a link');
    require(property.kind !== 'prediction' || head.exponential, 'property: a prediction needs the exponential link');
    require(property.kind !== 'lipschitz' || !head.exponential, 'property: with the exponential link scores have no rate');
    return;
  }
  if (property.ofClass === undefined) reject('property: the class is missing');
  require(property.kind !== 'prediction', 'property: a model of several scores has no prediction');
  require(property.ofClass === null || property.ofClass < head.labels.length, 'property: a class that the model has not');
  if (property.kind === 'decision') {
    require(property.margin.sign() >= 0, 'property: a negative margin');
    require(head.classes === 'argmax' || property.margin.isZero(), 'property: votes with a margin');
  } else {
    require(head.classes === 'argmax', 'property: votes have no score of a class');
    require(property.kind !== 'probability' || head.link !== null, 'property: a probability needs a link');
  }
}
return { readProperty, checkProperty };
})();
modules["claim/along.js"] = (() => {
const { Rational } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf, readIndex, readInt, readObject } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const ANY = 10n ** 600n;
function readAlong(json, features, k, what) {
  const has = (/** @type {string} */ key) => json instanceof Map && json.has(key);
  const [hasCases, hasTables] = [has('cases'), has('cases') && !has('else')];
  const part = readObject(json, what, ['kind', 'with', hasCases ? 'cases' : 'bands', ...(hasTables ? [] : ['else'])]);
  const feature = features[k];
  const canChange = hasTables ? feature.levels !== null : feature.kind !== 'categorical' && feature.missing === null;
  require(canChange, `${what}: "along" for a feature that cannot change so`);
  const j = readIndex(part('with'), what, features.length);
  require(j !== k, `${what}: along with itself`);
  const place = { what, feature, other: features[j] };
  if (!hasCases) {
    const bands = readBands(part('bands'), place);
    return { with: j, byLevels: areByLevels(bands), cases: [{ where: [], bands, tables: new Map() }], otherwise: readElse(part('else'), place) };
  }
  const items = readArray(part('cases'), what);
  require(items.length > 0, `${what}: no case`);
  const cases = items.map((item) => {
    const own = readObject(item, what, ['where', hasTables ? 'tables' : 'bands']);
    const where = readConditions(own('where'), features, what);
    return { where, bands: hasTables ? new Map() : readBands(own('bands'), place), tables: hasTables ? readTables(own('tables'), place) : new Map() };
  });
  const byLevels = hasTables || areByLevels(cases[0].bands);
  require(hasTables || cases.every(({ bands }) => areByLevels(bands) === byLevels), `${what}: bands by levels and by difference`);
  return { with: j, byLevels, cases, otherwise: hasTables ? null : readElse(part('else'), place) };
}
function nameOf(byLevels, from, to) {
  return byLevels ? `${from} ${to}` : `${to}`;
}
function areByLevels(bands) {
  const [name] = bands.keys();
  return name.includes(' ');
}
function readElse(json, place) {
  const otherwise = readAmount(json, place);
  require(otherwise.sign() >= 0, `${place.what}: "else" is negative`);
  return otherwise;
}
function readAmount(json, { what, feature }) {
  const number = readNumber(json, what);
  require(!feature.discrete || number.isWhole(), `${what}: a number that is not whole`);
  return number;
}
function readBands(json, place) {
  const { what } = place;
  const items = readArray(json, what).map((item) => readArray(item, what));
  require(items.length > 0, `${what}: no band`);
  const byLevels = items[0].length === 4;
  const bands = items.map((item) => {
    const [lowJson, highJson] = readArrayOf(item, what, byLevels ? 4 : 3).slice(-2);
    const [low, high] = [readAmount(lowJson, place), readAmount(highJson, place)];
    require(low.atMost(high), `${what}: low is above high`);
    if (!byLevels) return { from: 0n, to: readInt(item[0], what, -ANY, ANY), low, high };
    return { ...readPositions(item, place), low, high };
  });
  const named = inOrder(bands, byLevels, what);
  for (const { from, to, low, high } of bands) {
    const mirror = named.get(byLevels ? nameOf(true, to, from) : nameOf(false, 0n, -to));
    const isMirrored = mirror !== undefined && mirror.low.equals(high.negated()) && mirror.high.equals(low.negated());
    require(isMirrored, `${what}: bands are not mirrored`);
  }
  return named;
}
function readTables(json, place) {
  const { what, feature } = place;
  const count = feature.levels?.length ?? 0;
  const items = readArray(json, what);
  require(items.length > 0, `${what}: no table`);
  const tables = items.map((json) => {
    const item = readArrayOf(json, what, 3);
    const pairs = readArray(item[2], what).map((pair) => {
      const [v, other] = readArrayOf(pair, what, 2).map((position) => readIndex(position, what, count));
      return /** @type {[number, number]} */ ([v, other]);
    });
    require(pairs.length > 0, `${what}: a table without pairs`);
    require(pairs.every((pair, n) => n === 0 || comesBefore(pairs[n - 1], pair)), `${what}: pairs are not strictly increasing`);
    return { ...readPositions(item, place), pairs };
  });
  const named = inOrder(tables, true, what);
  for (const { from, to, pairs } of tables) {
    const mirror = named.get(nameOf(true, to, from))?.pairs ?? [];
    const own = new Set(pairs.map(([v, other]) => `${v} ${other}`));
    const isMirrored = mirror.length === pairs.length && mirror.every(([v, other]) => own.has(`${other} ${v}`));
    require(isMirrored, `${what}: tables are not mirrored`);
  }
  return named;
}
function comesBefore([v, other], [nextV, nextOther]) {
  return v < nextV || (v === nextV && other < nextOther);
}
function readPositions(item, { what, other }) {
  if (other.levels === null) return reject(`${what}: positions of a feature without levels`);
  const [from, to] = [item[0], item[1]].map((position) => BigInt(readIndex(position, what, /** @type {unknown[]} */ (other.levels).length)));
  require(from !== to, `${what}: from a level to itself`);
  return { from, to };
}
function inOrder(items, byLevels, what) {
  items.forEach(({ from, to }, n) => {
    const before = items[n - 1];
    const increasing = before === undefined || before.from < from || (before.from === from && before.to < to);
    require(increasing, `${what}: not strictly increasing`);
  });
  return new Map(items.map((item) => [nameOf(byLevels, item.from, item.to), item]));
}
function readConditions(json, features, what) {
  const conditions = readArray(json, what).map((item) => {
    const [featureJson, intervalsJson] = readArrayOf(item, what, 2);
    const feature = readIndex(featureJson, what, features.length);
    const { discrete, missing, lo, hi } = features[feature];
    require(discrete && missing === null, `${what}: a condition on a feature that has none`);
    const intervals = readArray(intervalsJson, what).map((interval) => {
      const [from, to] = readArrayOf(interval, what, 2).map((code) => readInt(code, what, lo.floor(), hi.floor()));
      require(from <= to, `${what}: a condition with lo above hi`);
      return /** @type {[bigint, bigint]} */ ([from, to]);
    });
    require(intervals.length > 0, `${what}: a condition without an interval`);
    require(intervals.every(([from], n) => n === 0 || intervals[n - 1][1] < from), `${what}: intervals of a condition are not increasing`);
    return { feature, intervals };
  });
  require(conditions.every(({ feature }, n) => n === 0 || conditions[n - 1].feature < feature), `${what}: conditions are not strictly increasing`);
  return conditions;
}
function checkAlong(similarity, features) {
  const forms = new Map();
  for (const { along } of similarity) {
    if (along === null) continue;
    const j = along.with;
    const { kind, high } = similarity[j];
    const [other, isWithin] = [features[j], kind === 'within'];
    const fits = other.levels !== null ? kind === 'free' || kind === 'pairs' || isWithin : other.kind === 'integer' && other.missing === null && isWithin;
    require(fits, `${other.name}: nothing can go along with this feature`);
    require((forms.get(j) ?? along.byLevels) === along.byLevels, `${other.name}: bands by levels and by difference`);
    forms.set(j, along.byLevels);
    for (const { where, bands } of along.cases) {
      for (const { feature } of where) require(similarity[feature].kind === 'same', `${features[feature].name}: a condition on a feature that is not "same"`);
      if (along.byLevels) continue;
      require(isWithin && other.kind !== 'categorical', `${other.name}: bands by difference of a feature that is not within a tolerance`);
      for (const { to } of bands.values()) require(to !== 0n && Rational.of(to).absolute().atMost(high), `${other.name}: a band of a difference that there is not`);
    }
  }
  if (forms.size > 0) require(similarity.every(({ kind }) => kind !== 'between'), 'similarity: "along" and "between"');
}
function changesAlong({ with: j, byLevels, cases, otherwise }, k, x, other) {
  const counted = cases.find(({ where }) => where.every((condition) => holdsOf(condition, x[condition.feature].floor())));
  const name = byLevels ? nameOf(true, x[j], other[j]) : nameOf(false, x[j], other[j].minus(x[j]));
  const difference = other[k].minus(x[k]);
  if (otherwise === null) {
    const table = counted?.tables.get(name);
    if (table === undefined) return difference.isZero();
    return table.pairs.some(([v, w]) => x[k].equals(Rational.of(v)) && other[k].equals(Rational.of(w)));
  }
  const { low, high } = counted?.bands.get(name) ?? { low: otherwise.negated(), high: otherwise };
  return low.atMost(difference) && difference.atMost(high);
}
function holdsOf({ intervals }, code) {
  return intervals.some(([lo, hi]) => lo <= code && code <= hi);
}
return { readAlong, nameOf, checkAlong, changesAlong };
})();
modules["claim/similarity.js"] = (() => {
const { Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArrayOf, readIndex, readArray, readObject } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { changesAlong, checkAlong, readAlong } = modules["claim/along.js"];
const { distanceBetween, readDistance } = modules["claim/distance.js"];
const { positionOf } = modules["claim/space.js"];
function readSimilarity(json, space) {
  const part = readObject(json, 'similarity', ['similarity'], ['distance']);
  const items = readArrayOf(part('similarity'), 'similarity', space.features.length);
  const similarity = items.map((item, k) => readRelation(item, space.features, k));
  checkAlong(similarity, space.features);
  const distance = part('distance');
  require(distance === undefined || !goesAlong(similarity), 'similarity: "along" and a distance');
  return { similarity, distance: distance === undefined ? null : readDistance(distance, space) };
}
function readRelation(json, features, k) {
  const feature = features[k];
  const kind = json instanceof Map ? json.get('kind') : null;
  const what = `relation of ${feature.name}`;
  if (kind === 'same' || kind === 'free') {
    readObject(json, what, ['kind']);
    return { kind, low: ZERO, high: ZERO, allowed: [], along: null };
  }
  if (kind === 'within') {
    const tolerance = readNumber(readObject(json, what, ['kind', 'tolerance'])('tolerance'), what);
    require(tolerance.sign() > 0, `${what}: the tolerance is not positive`);
    require(feature.kind !== 'categorical', `${what}: "within" for a categorical feature`);
    require(!feature.discrete || tolerance.isWhole(), `${what}: the tolerance is not whole`);
    return { kind, low: tolerance.negated(), high: tolerance, allowed: [], along: null };
  }
  if (kind === 'between') {
    const part = readObject(json, what, ['kind', 'low', 'high']);
    const [low, high] = [readNumber(part('low'), what), readNumber(part('high'), what)];
    require(low.atMost(high), `${what}: low is above high`);
    require(feature.kind !== 'categorical', `${what}: "between" for a categorical feature`);
    require(feature.missing === null, `${what}: "between" for a feature with missing values`);
    require(!feature.discrete || (low.isWhole() && high.isWhole()), `${what}: limits that are not whole`);
    return { kind, low, high, allowed: [], along: null };
  }
  if (kind === 'pairs') {
    const allowed = readArray(readObject(json, what, ['kind', 'allowed'])('allowed'), what);
    return { kind, low: ZERO, high: ZERO, allowed: readAllowed(allowed, feature, what), along: null };
  }
  if (kind === 'along') return { kind, low: ZERO, high: ZERO, allowed: [], along: readAlong(json, features, k, what) };
  return reject(`${what}: unknown`);
}
function readAllowed(items, feature, what) {
  if (feature.levels === null) return reject(`${what}: "pairs" for a feature without levels`);
  const count = feature.levels.length;
  const pairs = [];
  for (const item of items) {
    const [first, second] = readArrayOf(item, what, 2).map((position) => readIndex(position, what, count));
    require(first < second, `${what}: a pair without its smaller position first`);
    const before = pairs[pairs.length - 1];
    const increasing = before === undefined || before[0] < first || (before[0] === first && before[1] < second);
    require(increasing, `${what}: pairs are not strictly increasing`);
    pairs.push([first, second]);
  }
  return pairs;
}
function isNear({ kind }) {
  return kind === 'within' || kind === 'between';
}
function isOneWay(similarity) {
  return similarity.some(({ low, high }) => !low.equals(high.negated()));
}
function moves({ low, high }) {
  return low.sign() > 0 || high.sign() < 0;
}
function goesAlong(similarity) {
  return similarity.some(({ kind }) => kind === 'along');
}
function related(feature, relation, code, other) {
  switch (relation.kind) {
    case 'free':
      return true;
    case 'same':
      return code.equals(other);
    case 'pairs':
      return code.equals(other) || isAllowed(relation, positionOf(code), positionOf(other));
    case 'along':
      throw new Error('a relation that needs the codes of another feature');
    case 'within':
    case 'between': {
      if (feature.missing !== null) {
        const missing = code.equals(feature.missing);
        if (missing !== other.equals(feature.missing)) return false;
      }
      const difference = other.minus(code);
      return relation.low.atMost(difference) && difference.atMost(relation.high);
    }
  }
}
function isAllowed(relation, position, other) {
  const [first, second] = position < other ? [position, other] : [other, position];
  return relation.allowed.some((pair) => pair[0] === first && pair[1] === second);
}
function areSimilar({ space, similarity, distance }, x, other) {
  const areRelated = similarity.every((relation, k) => {
    if (relation.along !== null) return changesAlong(relation.along, k, x, other);
    return related(space.features[k], relation, x[k], other[k]);
  });
  if (!areRelated) return false;
  return distance === null || distanceBetween(distance, x, other).atMost(distance.bound);
}
return { readSimilarity, isNear, isOneWay, moves, goesAlong, related, areSimilar };
})();
modules["claim/claim.js"] = (() => {
const { readModel } = modules["claim/model.js"];
const { checkProperty, readProperty } = modules["claim/property.js"];
const { goesAlong, isOneWay, readSimilarity } = modules["claim/similarity.js"];
const { require } = modules["rejection.js"];
const { readSpace } = modules["claim/space.js"];
const CLAIM_LINES = /** @type {const} */ (['space', 'similarity', 'property', 'model']);
function claimReader() {
  const parts = {};
  let taken = 0;
  return {
    take(json) {
      const name = CLAIM_LINES[taken++];
      if (name === 'space') parts.space = readSpace(json);
      else if (name === 'similarity') parts.similar = readSimilarity(json, /** @type {Space} */ (parts.space));
      else if (name === 'property') parts.property = readProperty(json, /** @type {Space} */ (parts.space));
      else parts.model = readModel(json, /** @type {Space} */ (parts.space));
    },
    claim() {
      const { space, similar, property, model } = parts;
      if (!space || !similar || !property || !model) throw new Error('the claim is not complete');
      const hasClearance = model.body.kind === 'affine' || model.body.kind === 'trees';
      require(property.rate === null || !goesAlong(similar.similarity), 'property: "lipschitz", though features change along');
      checkProperty(property, model.head, isOneWay(similar.similarity));
      return { space, ...similar, property, model, hasClearance };
    },
  };
}
return { CLAIM_LINES, claimReader };
})();
modules["file/json.js"] = (() => {
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const INT = /-?(?:0|[1-9][0-9]*)/y;
const ESCAPES = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
function parseJson(text, tick = () => {}) {
  const parser = new Parser(text, tick);
  const value = parser.value(0);
  require(parser.at === text.length, 'text after the JSON value');
  return value;
}
class Parser {
  constructor(text, tick) {
    this.text = text;
    this.tick = tick;
    this.at = 0;
  }
  skipSpace() {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 9 && code !== 13) return;
      this.at += 1;
    }
  }
  value(depth) {
    this.tick();
    switch (this.text[this.at]) {
      case '"':
        return this.string();
      case '[':
        this.checkDepth(depth);
        return this.array(depth);
      case '{':
        this.checkDepth(depth);
        return this.object(depth);
      case 'n':
        return this.word('null', null);
      case 't':
        return this.word('true', true);
      case 'f':
        return this.word('false', false);
      default:
        return this.int();
    }
  }
  checkDepth(depth) {
    require(depth < MAXIMUM.jsonDepth, `brackets nested deeper than ${MAXIMUM.jsonDepth}`);
  }
  word(word, value) {
    require(this.text.startsWith(word, this.at), 'not JSON');
    this.at += word.length;
    return value;
  }
  int() {
    INT.lastIndex = this.at;
    const match = INT.exec(this.text);
    if (match === null) return reject('not JSON');
    require(match[0].length <= MAXIMUM.intCharacters, `an int of more than ${MAXIMUM.intCharacters} characters`);
    this.at += match[0].length;
    require(!'.eE'.includes(this.text[this.at] ?? ' '), 'a JSON number that is not whole');
    return BigInt(match[0]);
  }
  string() {
    const start = this.at + 1;
    let end = start;
    for (; ; end++) {
      const code = this.text.charCodeAt(end);
      if (code === 34) break;
      if (code === 92) return this.stringWithEscapes();
      require(code >= 32, 'a control character in a text, or a text without an end');
    }
    this.at = end + 1;
    return this.text.slice(start, end);
  }
  stringWithEscapes() {
    const parts = [];
    let at = this.at + 1;
    for (;;) {
      const character = this.text[at];
      if (character === undefined) return reject('a text without an end');
      require(character >= ' ', 'a control character in a text');
      if (character === '"') break;
      if (character !== '\\') {
        parts.push(character);
        at += 1;
        continue;
      }
      const [meaning, length] = this.escape(at + 1);
      parts.push(meaning);
      at += 1 + length;
    }
    this.at = at + 1;
    return parts.join('');
  }
  escape(at) {
    const simple = ESCAPES.get(this.text[at]);
    if (simple !== undefined) return [simple, 1];
    const digits = this.text.slice(at + 1, at + 5);
    require(this.text[at] === 'u' && /^[0-9a-fA-F]{4}$/.test(digits), 'an unknown escape in a text');
    return [String.fromCharCode(parseInt(digits, 16)), 5];
  }
  array(depth) {
    const items = [];
    this.at += 1;
    this.skipSpace();
    if (this.text[this.at] === ']') {
      this.at += 1;
      return items;
    }
    for (;;) {
      this.skipSpace();
      items.push(this.value(depth + 1));
      if (this.endsAfterItem(']')) return items;
    }
  }
  object(depth) {
    const entries = new Map();
    this.at += 1;
    this.skipSpace();
    if (this.text[this.at] === '}') {
      this.at += 1;
      return entries;
    }
    for (;;) {
      this.skipSpace();
      require(this.text[this.at] === '"', 'a key that is not a text');
      const key = this.string();
      require(!entries.has(key), `the key ${JSON.stringify(key)} twice`);
      this.skipSpace();
      require(this.text[this.at] === ':', 'a key without a colon');
      this.at += 1;
      this.skipSpace();
      entries.set(key, this.value(depth + 1));
      if (this.endsAfterItem('}')) return entries;
    }
  }
  endsAfterItem(bracket) {
    this.skipSpace();
    const character = this.text[this.at];
    require(character === bracket || character === ',', 'not JSON');
    this.at += 1;
    return character === bracket;
  }
}
return { parseJson };
})();
modules["file/line-limits.js"] = (() => {
const { bitLength, commonDivisor } = modules["exact/rational.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const FRACTION = /"-?(?:0|[1-9][0-9]*)\/([1-9][0-9]*)"/g;
const [ARRAY, OBJECT, COMMA, QUOTE] = [0x5b, 0x7b, 0x2c, 0x22];
function checkMarks(bytes, mostMarks) {
  if (bytes.length <= Math.min(MAXIMUM.brackets, mostMarks)) return;
  let [opened, others] = [0, 0];
  for (const byte of bytes) {
    if (byte === ARRAY || byte === OBJECT) opened += 1;
    else if (byte === COMMA || byte === QUOTE) others += 1;
  }
  require(opened <= MAXIMUM.brackets, `a line with more than ${MAXIMUM.brackets} brackets`);
  require(opened + others <= mostMarks, `a line of more than ${mostMarks} brackets, commas and quotes`);
}
function checkDenominators(text, tick) {
  if (!text.includes('/')) return;
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
return { checkMarks, checkDenominators };
})();
modules["file/gunzip.js"] = (() => {
const { Unreadable } = modules["rejection.js"];
const WINDOW = 32 * 1024;
const PIECE = 256 * 1024;
const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
function damaged() {
  throw new Unreadable('the gzip file is damaged');
}
class HuffmanCode {
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
    if (free < 0 || (free > 0 && used > 0 && !(mayBeShort && used === 1 && this.counts[1] === 1))) damaged();
  }
}
const FIXED_LITERALS = new HuffmanCode(
  Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)),
);
const FIXED_DISTANCES = new HuffmanCode(Array.from({ length: 32 }, () => 5));
class BitReader {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
    this.held = 0;
    this.count = 0;
  }
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
  put(byte) {
    this.buffer[this.end++] = byte;
  }
  repeat(distance, length) {
    if (distance > this.end) damaged();
    for (let i = 0; i < length; i++, this.end++) this.buffer[this.end] = this.buffer[this.end - distance];
  }
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
function crcOf(bytes, crc) {
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return crc;
}
function* gunzip(bytes) {
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
function* storedBlock(reader, output) {
  reader.skipToByte();
  const length = reader.bits(16);
  if (reader.bits(16) !== (length ^ 0xffff)) damaged();
  for (let i = 0; i < length; i++) {
    if (output.isFull()) yield output.take();
    output.put(reader.bits(8));
  }
}
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
function readCodes(reader) {
  const literals = reader.bits(5) + 257;
  const distances = reader.bits(5) + 1;
  const count = reader.bits(4) + 4;
  if (literals > 286 || distances > 30) damaged();
  const order = new Array(19).fill(0);
  for (let i = 0; i < count; i++) order[CODE_LENGTH_ORDER[i]] = reader.bits(3);
  const code = new HuffmanCode(order, false);
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
return { gunzip };
})();
modules["file/lines.js"] = (() => {
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { gunzip } = modules["file/gunzip.js"];
const { checkMarks } = modules["file/line-limits.js"];
const LINE_FEED = 10;
class LineReader {
  constructor(file, look = () => {}) {
    this.look = look;
    this.pieces = gunzip(file);
    this.allowedBytes = Math.min(MAXIMUM.textBytes, 1000 * file.length + 2 ** 20);
    this.mostMarks = MAXIMUM.marksPerByte * file.length + MAXIMUM.marks;
    this.decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    this.number = 0;
    this.rest = new Uint8Array(0);
    this.unpacked = 0;
  }
  nextBytes() {
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
return { LineReader };
})();
modules["file/sha256.js"] = (() => {
const ROUND_CONSTANTS = fractionsOfRoots(64, 3n);
const START = fractionsOfRoots(8, 2n);
function fractionsOfRoots(count, degree) {
  const words = new Uint32Array(count);
  let found = 0;
  for (let n = 2n; found < count; n += 1n) {
    let prime = true;
    for (let d = 2n; d * d <= n; d += 1n) if (n % d === 0n) prime = false;
    if (!prime) continue;
    let root = 0n;
    for (let bit = 1n << 37n; bit > 0n; bit >>= 1n) {
      if ((root + bit) ** degree <= n << (32n * degree)) root += bit;
    }
    words[found] = Number(BigInt.asUintN(32, root));
    found += 1;
  }
  return words;
}
class Sha256 {
  constructor() {
    this.state = START.slice();
    this.block = new Uint8Array(64);
    this.filled = 0;
    this.length = 0;
    this.schedule = new Uint32Array(64);
  }
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
  copy() {
    const copy = new Sha256();
    copy.state.set(this.state);
    copy.block.set(this.block);
    copy.filled = this.filled;
    copy.length = this.length;
    return copy;
  }
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
function rotate(word, count) {
  return (word >>> count) | (word << (32 - count));
}
function sha256(bytes) {
  return new Sha256().update(bytes).hexadecimal();
}
return { Sha256, sha256 };
})();
modules["claim/narrowing.js"] = (() => {
const { firstDoubleFrom, lastDoubleTo } = modules["exact/doubles.js"];
const { Rational, ZERO } = modules["exact/rational.js"];
const { reject, require } = modules["rejection.js"];
const { isValid } = modules["claim/space.js"];
const MOST_PASSES = 16;
const MOST_ENTRIES = 2 ** 18;
class KeptInterval {
  constructor({ discrete, lo, hi }) {
    this.discrete = discrete;
    this.lo = discrete ? lo : firstDoubleFrom(lo) ?? reject('narrowing: no double is left');
    this.hi = discrete ? hi : lastDoubleTo(hi) ?? reject('narrowing: no double is left');
  }
  keepGreatest() {
    this.lo = this.hi;
  }
  least({ factor }) {
    const slope = /** @type {Rational} */ (factor);
    return slope.times(slope.sign() > 0 ? this.lo : this.hi);
  }
  drop({ factor }, room) {
    const slope = /** @type {Rational} */ (factor);
    if (slope.isZero()) return false;
    if (slope.sign() > 0) {
      const last = this.lo.plus(room.over(slope));
      if (this.hi.atMost(last)) return false;
      this.hi = this.discrete ? Rational.of(last.floor()) : /** @type {Rational} */ (lastDoubleTo(last));
      return true;
    }
    const first = this.hi.plus(room.over(slope));
    if (first.atMost(this.lo)) return false;
    this.lo = this.discrete ? Rational.of(first.ceil()) : /** @type {Rational} */ (firstDoubleFrom(first));
    return true;
  }
}
class KeptPositions {
  constructor(count) {
    this.positions = Array.from({ length: count }, (_, i) => i);
  }
  get lo() {
    return Rational.of(this.positions[0]);
  }
  get hi() {
    return Rational.of(this.positions[this.positions.length - 1]);
  }
  keepGreatest() {
    this.positions = this.positions.slice(-1);
  }
  least({ amounts }) {
    const values = /** @type {Rational[]} */ (amounts);
    let least = values[this.positions[0]];
    for (const i of this.positions) if (values[i].less(least)) least = values[i];
    return least;
  }
  drop(term, room) {
    const values = /** @type {Rational[]} */ (term.amounts);
    const most = this.least(term).plus(room);
    const left = this.positions.filter((i) => values[i].atMost(most));
    const dropped = left.length < this.positions.length;
    this.positions = left;
    return dropped;
  }
}
function codesLeft({ space, similarity }, clock) {
  const kept = space.features.map((feature) => (feature.levels === null ? new KeptInterval(feature) : new KeptPositions(feature.levels.length)));
  for (let left = passesOf(space); left > 0; left--) {
    const dropped = pass(space.constraints, kept, clock);
    require(dropped !== null, 'narrowing: nobody satisfies the constraints: a claim about nobody');
    if (!dropped) break;
  }
  similarity.forEach(({ kind, low, high }, k) => {
    if (kind !== 'between') return;
    const width = kept[k].hi.minus(kept[k].lo);
    const leavesPairs = low.atMost(width) && width.negated().atMost(high);
    require(leavesPairs, `narrowing: no two individuals differ in ${space.features[k].name} as they have to: a claim about nobody`);
  });
  return kept;
}
function isGreatestValid(space, kept, clock) {
  const named = [...new Set(space.constraints.flatMap(({ terms }) => terms.map(({ feature }) => feature)))].sort((a, b) => a - b);
  if (named.length * entriesOf(space) > MOST_ENTRIES) return false;
  for (const k of named) {
    kept[k].keepGreatest();
    if (pass(space.constraints, kept, clock) === null) return false;
  }
  return isValid(space, kept.map(({ hi }) => hi));
}
function passesOf(space) {
  return Math.min(MOST_PASSES, Math.floor(MOST_ENTRIES / Math.max(1, entriesOf(space))));
}
function entriesOf({ features, constraints }) {
  let entries = 0;
  for (const { terms } of constraints) {
    for (const { feature } of terms) entries += features[feature].levels?.length ?? 1;
  }
  return entries;
}
function pass(constraints, kept, clock) {
  let dropped = false;
  for (const { terms, bound } of constraints) {
    let least = ZERO;
    for (const term of terms) {
      clock.tick();
      least = least.plus(kept[term.feature].least(term));
    }
    const room = bound.minus(least);
    if (room.sign() < 0) return null;
    for (const term of terms) {
      clock.tick();
      if (kept[term.feature].drop(term, room)) dropped = true;
    }
  }
  return dropped;
}
return { codesLeft, isGreatestValid, passesOf };
})();
modules["claim/along-parts.js"] = (() => {
const { Rational, smaller, ZERO } = modules["exact/rational.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { nameOf } = modules["claim/along.js"];
const EQUAL = Object.freeze({ name: '', byLevels: true, from: 0, to: 0 });
function choicesOf(similarity, features, clock) {
  const leaders = [...new Set(similarity.flatMap(({ along }) => (along === null ? [] : [along.with])))].sort((a, b) => a - b);
  const followers = similarity.flatMap(({ along }, k) => (along === null ? [] : [{ k, along, names: namesOf(along) }]));
  const choices = [];
  for (const steps of combinations(leaders, leaders.map((j) => stepsOf(similarity, features, j, clock)), choices.length)) {
    const awake = followers.filter(({ along, names }) => {
      clock.tick();
      return names.has(stepOf(steps, along).name);
    });
    const cuts = segmentsOf(awake.map(({ along }) => along), features, clock);
    for (const segments of combinations([...cuts.keys()], [...cuts.values()], choices.length)) {
      const moving = awake.flatMap(({ k, along }) => {
        clock.tick();
        const table = countedCase(along, segments)?.tables.get(stepOf(steps, along).name);
        return table === undefined ? [] : [{ k, moves: movesOf(table) }];
      });
      for (const moves of combinations(moving.map(({ k }) => k), moving.map((own) => own.moves), choices.length)) choices.push({ steps, segments, moves });
    }
  }
  return choices;
}
function* combinations(keys, lists, before) {
  const count = lists.reduce((total, list) => total * list.length, 1);
  require(before + count <= MAXIMUM.partsOfProof, 'similarity: too many parts');
  for (let n = 0; n < count; n++) {
    const chosen = [];
    let rest = n;
    for (let i = lists.length - 1; i >= 0; i--) {
      chosen[i] = lists[i][rest % lists[i].length];
      rest = Math.floor(rest / lists[i].length);
    }
    yield new Map(keys.map((key, i) => [key, chosen[i]]));
  }
}
function namesOf({ cases }) {
  return new Set(cases.flatMap(({ bands, tables }) => [...bands.keys(), ...tables.keys()]));
}
function stepOf(steps, along) {
  return /** @type {Step} */ (steps.get(along.with));
}
function isAllowedPair({ kind, high }, allowed, from, to) {
  if (kind === 'free') return true;
  if (kind === 'within') return Rational.of(Math.abs(from - to)).atMost(high);
  return allowed.has(from < to ? `${from} ${to}` : `${to} ${from}`);
}
function stepsOf(similarity, features, j, clock) {
  const steps = [EQUAL];
  const byLevels = similarity.some(({ along }) => along?.with === j && along.byLevels);
  const take = (/** @type {number} */ from, /** @type {number} */ to) => {
    steps.push({ name: nameOf(byLevels, BigInt(from), BigInt(to)), byLevels, from, to });
    require(steps.length <= MAXIMUM.partsOfProof, 'similarity: too many parts');
  };
  const { levels, lo, hi } = features[j];
  if (!byLevels) {
    const most = smaller(similarity[j].high, hi.minus(lo));
    require(most.atMost(Rational.of(MAXIMUM.partsOfProof)), 'similarity: too many parts');
    const t = Number(most.floor());
    for (let d = -t; d <= t; d++) if (d !== 0) take(0, d);
    return steps;
  }
  const allowed = new Set(similarity[j].allowed.map(([from, to]) => `${from} ${to}`));
  const count = /** @type {unknown[]} */ (levels).length;
  for (let from = 0; from < count; from++) {
    clock.look();
    for (let to = 0; to < count; to++) if (from !== to && isAllowedPair(similarity[j], allowed, from, to)) take(from, to);
  }
  return steps;
}
function segmentsOf(awake, features, clock) {
  const starts = new Map();
  for (const { cases } of awake) {
    for (const { where } of cases) {
      for (const { feature, intervals } of where) {
        const own = starts.get(feature) ?? new Set([features[feature].lo.floor()]);
        starts.set(feature, own);
        for (const [lo, hi] of intervals) {
          clock.tick();
          own.add(lo);
          if (hi < features[feature].hi.floor()) own.add(hi + 1n);
        }
      }
    }
  }
  const named = [...starts].sort(([c], [d]) => c - d);
  return new Map(named.map(([c, own]) => {
    const begins = [...own].sort((a, b) => (a < b ? -1 : 1));
    return [c, begins.map((lo, n) => /** @type {Segment} */ ([lo, n + 1 < begins.length ? begins[n + 1] - 1n : features[c].hi.floor()]))];
  }));
}
function countedCase({ cases }, segments) {
  return cases.find(({ where }) =>
    where.every(({ feature, intervals }) => {
      const [lo, hi] = /** @type {Segment} */ (segments.get(feature));
      return intervals.some(([from, to]) => from <= lo && hi <= to);
    }),
  );
}
function movesOf({ pairs }) {
  const runs = [];
  const others = [];
  for (const [v, other] of pairs) {
    if (v !== other) {
      others.push({ own: [v, v], other: [other, other], isRun: false });
      continue;
    }
    const last = runs[runs.length - 1];
    const start = last !== undefined && last.own[1] === v - 1 ? last.own[0] : v;
    if (start < v) runs.pop();
    runs.push({ own: [start, v], other: [start, v], isRun: true });
  }
  return [...runs, ...others];
}
function partOf(similarity, { steps, segments, moves }) {
  const ranges = new Map();
  const keep = (/** @type {number} */ k, /** @type {[number | bigint, number | bigint]} */ own, /** @type {[number | bigint, number | bigint]} */ other) => {
    const ends = ([lo, hi] = own) => /** @type {[Rational, Rational]} */ ([Rational.of(lo), Rational.of(hi)]);
    ranges.set(k, { own: ends(own), other: ends(other) });
  };
  for (const [c, segment] of segments) keep(c, segment, segment);
  for (const [k, { own, other }] of moves) keep(k, own, other);
  const relations = similarity.map((relation, k) => {
    const step = steps.get(k);
    if (step !== undefined) {
      if (step.from === step.to) return simple('same');
      if (!step.byLevels) return simple('between', Rational.of(step.to), Rational.of(step.to));
      keep(k, [step.from, step.from], [step.to, step.to]);
      return simple('free');
    }
    if (relation.along === null) return relation;
    if (relation.along.otherwise === null) return simple(moves.get(k)?.isRun ?? true ? 'same' : 'free');
    const { low, high } = bandOf(relation.along, relation.along.otherwise, stepOf(steps, relation.along).name, segments);
    return low.isZero() && high.isZero() ? simple('same') : simple('between', low, high);
  });
  return { similarity: relations, ranges };
}
function bandOf(along, otherwise, name, segments) {
  const none = { low: otherwise.negated(), high: otherwise };
  if (!along.cases.some(({ bands }) => bands.has(name))) return none;
  return countedCase(along, segments)?.bands.get(name) ?? none;
}
function simple(kind, low = ZERO, high = ZERO) {
  return { kind, low, high, allowed: [], along: null };
}
return { choicesOf, partOf };
})();
modules["rules/independent.js"] = (() => {
const { ZERO } = modules["exact/rational.js"];
const { readArrayOf } = modules["file/fields.js"];
const { require } = modules["rejection.js"];
function independent({ similarity, model, property }, json) {
  readArrayOf(json, 'independent', 1);
  require(property.kind !== 'decision' || property.margin.sign() >= 0, 'independent: the margin is negative');
  similarity.forEach(({ kind }, k) => {
    require(kind === 'same' || model.body.isConstant(k), `independent: feature ${k} may differ, and matters`);
  });
  return { clearance: ZERO, line: null };
}
return { independent };
})();
modules["rules/neuron.js"] = (() => {
const { readNumber } = modules["exact/number-syntax.js"];
const { readArrayOf, readIndex } = modules["file/fields.js"];
const { larger, Rational, smaller } = modules["exact/rational.js"];
const { reject } = modules["rejection.js"];
function quantityKey(layer, neuron, copy) {
  return `${layer} ${neuron} ${copy}`;
}
function splitAtNeuron(body, cell, json) {
  if (body.kind !== 'network') return reject('neuron: the model is not a network');
  const [, layerJson, neuronJson, copyJson, atJson] = readArrayOf(json, 'neuron', 5);
  const layer = readIndex(layerJson, 'layer', body.layers.length);
  const neuron = readIndex(neuronJson, 'neuron', body.layers[layer].biases.length);
  const copy = readIndex(copyJson, 'copy', 3);
  const at = readNumber(atJson, 'place of a neuron');
  return cutAtQuantity(cell, quantityKey(layer, neuron, copy), at);
}
function cutAtQuantity(cell, key, at) {
  const { lo, hi } = cell.limits.get(key) ?? { lo: null, hi: null };
  const left = { lo, hi: hi === null ? at : smaller(hi, at) };
  const right = { lo: lo === null ? at : larger(lo, at), hi };
  return [withLimit(cell, key, left), withLimit(cell, key, right)];
}
function withLimit(cell, key, limit) {
  return { ...cell, limits: new Map(cell.limits).set(key, limit), depth: cell.depth + 1 };
}
return { quantityKey, splitAtNeuron, cutAtQuantity };
})();
modules["rules/inner.js"] = (() => {
const { readNumber } = modules["exact/number-syntax.js"];
const { readArrayOf, readIndex } = modules["file/fields.js"];
const { reject } = modules["rejection.js"];
const { cutAtQuantity } = modules["rules/neuron.js"];
function innerKey(k, copy) {
  return `inner ${k} ${copy}`;
}
function splitAtInner(body, cell, json) {
  if (body.kind !== 'nested') return reject('inner: the model has no inner bodies');
  const [, innerJson, copyJson, atJson] = readArrayOf(json, 'inner', 4);
  const k = readIndex(innerJson, 'inner body', body.inner.length);
  const copy = readIndex(copyJson, 'copy', 2);
  return cutAtQuantity(cell, innerKey(k, copy), readNumber(atJson, 'place of a cut'));
}
return { innerKey, splitAtInner };
})();
modules["proof/alike.js"] = (() => {
const { moves } = modules["claim/similarity.js"];
const { ONE } = modules["exact/rational.js"];
class Sides {
  constructor() {
    this.leaves = 0;
    this.allFirst = true;
    this.allSecond = true;
  }
  take({ clearance, line }) {
    if (clearance === null) return;
    this.leaves += 1;
    if (line === null || !line.a.equals(ONE)) this.allFirst = false;
    if (line === null || !line.a.isZero()) this.allSecond = false;
  }
}
function labelOfEverybody(claim, cases) {
  const { model: { head }, property } = claim;
  if (claim.similarity.some(moves)) return null;
  if (property.kind !== 'decision' || !property.margin.isZero()) return null;
  if (head.kind === 'two') {
    const [{ sides }] = cases;
    if (sides.allSecond) return head.zeroIsUpper ? 0 : 1;
    return sides.allFirst ? (head.zeroIsUpper ? 1 : 0) : null;
  }
  const left = new Set(head.labels.map((_, i) => i));
  for (const { classes, sides } of cases) {
    if (classes === null) return null;
    if (sides.allFirst) left.delete(classes[0]);
    if (sides.allSecond) left.delete(classes[1]);
  }
  return left.size === 1 ? [...left][0] : null;
}
return { Sides, labelOfEverybody };
})();
modules["proof/witness-set.js"] = (() => {
const { squareBetween } = modules["claim/rate.js"];
const { encloseScores } = modules["bodies/combined.js"];
const { add, exactly, expOf, expOfInterval, interval, logOf, multiply, sigmaOf, subtract } = modules["exact/interval.js"];
const { bitLength, larger, ONE, Rational, ZERO } = modules["exact/rational.js"];
const { reject } = modules["rejection.js"];
const FIRST_BITS = 64;
const LAST_BITS = 2048;
function decide(body, x, other, test) {
  for (let bits = FIRST_BITS; bits <= LAST_BITS; bits *= 2) {
    const answer = test(encloseScores(body, x, bits), encloseScores(body, other, bits), bits, [x, other]);
    if (answer !== null) return answer;
  }
  return reject('the scores of a pair are too near to the limit to tell on which side they lie');
}
function isAbove(value, limit) {
  if (limit.less(value.lo)) return true;
  return value.hi.atMost(limit) ? false : null;
}
function isAtLeast(value, limit) {
  if (limit.atMost(value.lo)) return true;
  return value.hi.less(limit) ? false : null;
}
function all(answers) {
  if (answers.includes(false)) return false;
  return answers.includes(null) ? null : true;
}
function breaksProperty(property, s, other, bits) {
  const { kind, margin, delta } = property;
  if (kind === 'decision') {
    const below = isAbove(other, margin.negated());
    return all([isAbove(s, margin), below === null ? null : !below]);
  }
  if (kind === 'score' || kind === 'lipschitz' || delta.isZero()) return isAbove(subtract(s, other), delta);
  if (kind === 'prediction') return isPredictedAbove(s, other, delta, bits);
  return isAbove(subtract(sigmaOfInterval(s, bits), sigmaOfInterval(other, bits)), delta);
}
function breaksRate({ rate, delta }, s, other, [x, otherCodes]) {
  const limit = rate.constant.squared().times(squareBetween(rate, x, otherCodes));
  const isBeyond = (/** @type {Rational} */ r) => r.sign() > 0 && limit.less(r.squared());
  const rest = subtract(subtract(s, other), exactly(delta));
  if (isBeyond(rest.lo)) return true;
  return isBeyond(rest.hi) ? null : false;
}
function isPredictedAbove(s, other, delta, bits) {
  if (s.hi.atMost(other.lo)) return false;
  if (s.hi.less(logOf(delta, bits).lo)) return false;
  const work = bits + Math.max(0, bitLength(ONE.over(delta).ceil()));
  const ends = [s.lo, s.hi].map((own, i) => {
    const otherEnd = i === 0 ? other.hi : other.lo;
    if (own.atMost(otherEnd)) return exactly(ONE.negated());
    if (own.sign() <= 0) return subtract(subtract(expOf(own, work), expOf(otherEnd, work)), exactly(delta));
    return subtract(subtract(exactly(ONE), expOf(otherEnd.minus(own), work)), multiply(expOf(own.negated(), work), delta));
  });
  if (ends[0].lo.sign() > 0) return true;
  return ends[1].hi.sign() <= 0 ? false : null;
}
function sigmaOfInterval(s, bits) {
  return interval(sigmaOf(s.lo, bits).lo, sigmaOf(s.hi, bits).hi);
}
function softmaxOf(scores, c, bits) {
  const top = scores.map(({ hi }) => hi).reduce(larger);
  const powers = scores.map(({ lo, hi }) => expOfInterval(interval(lo.minus(top), hi.minus(top)), bits));
  const others = powers.filter((_, k) => k !== c).reduce(add, exactly(ZERO));
  const shareOf = (/** @type {Rational} */ p, /** @type {Rational} */ rest) => (p.isZero() ? ZERO : p.over(p.plus(rest)));
  return interval(shareOf(powers[c].lo, others.hi), shareOf(powers[c].hi, others.lo));
}
function breaksSoftmax(c, delta) {
  return (scores, others, bits) => {
    if (delta.isZero() && haveSameDifferences(scores, others, c)) return false;
    return isAbove(subtract(softmaxOf(scores, c, bits), softmaxOf(others, c, bits)), delta);
  };
}
function haveSameDifferences(scores, others, c) {
  if ([...scores, ...others].some(({ lo, hi }) => !lo.equals(hi))) return false;
  const sorted = (/** @type {Interval[]} */ values) => values.map(({ lo }) => lo.minus(values[c].lo)).sort((a, b) => a.compare(b));
  const theirs = sorted(others);
  return sorted(scores).every((difference, i) => difference.equals(theirs[i]));
}
return { decide, isAbove, isAtLeast, all, breaksProperty, breaksRate, sigmaOfInterval, softmaxOf, breaksSoftmax };
})();
modules["proof/classes.js"] = (() => {
const { subtract } = modules["exact/interval.js"];
const { Rational, ZERO } = modules["exact/rational.js"];
const { all, isAbove, isAtLeast } = modules["proof/witness-set.js"];
function argmaxConditions(i, count) {
  return Array.from({ length: count }, (_, k) => k)
    .filter((k) => k !== i)
    .map((k) => ({ terms: [[i, 1], [k, -1]], strict: k < i, weight: 2 }));
}
function factorsOf({ terms }, scores, sign) {
  const alpha = Array.from({ length: scores }, () => Rational.of(0));
  for (const [score, factor] of terms) alpha[score] = Rational.of(sign * factor);
  return alpha;
}
function hasClassByArgmax(scores, i, margin) {
  return all(
    scores.map((score, k) => {
      if (k === i) return true;
      const lead = subtract(scores[i], score);
      return k < i ? isAbove(lead, margin) : isAtLeast(lead, margin);
    }),
  );
}
function votePairs(count) {
  const pairs = [];
  for (let i = 0; i < count; i++) for (let j = i + 1; j < count; j++) pairs.push([i, j]);
  return pairs;
}
function classOfVotes(votes, count) {
  const tally = new Array(count).fill(0);
  votePairs(count).forEach(([i, j], s) => {
    tally[votes[s] ? i : j] += 1;
  });
  return tally.indexOf(Math.max(...tally));
}
function hasClassByVotes(scores, i, count) {
  const votes = scores.map((score) => isAbove(score, ZERO));
  const certain = [];
  for (const vote of votes) {
    if (vote === null) return null;
    certain.push(vote);
  }
  return classOfVotes(certain, count) === i;
}
function hasClass(head, scores, i, margin) {
  return head.classes === 'argmax' ? hasClassByArgmax(scores, i, margin) : hasClassByVotes(scores, i, head.labels.length);
}
return { argmaxConditions, factorsOf, hasClassByArgmax, votePairs, classOfVotes, hasClassByVotes, hasClass };
})();
modules["proof/line.js"] = (() => {
const { add, exactly, logOf, multiply, subtract } = modules["exact/interval.js"];
const { HALF, ONE, Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { require } = modules["rejection.js"];
const BITS_OF_TARGET = 192;
function weightsOfWay(property, way) {
  const value = readNumber(way, 'way');
  const { kind, margin, delta } = property;
  if (kind === 'decision') {
    require(value.sign() >= 0 && value.atMost(ONE), 'way: not from 0 to 1');
    return { a: value, b: ONE.minus(value), target: margin, mayTouch: value.sign() > 0 };
  }
  if (kind === 'score' || kind === 'lipschitz' || delta.isZero()) {
    require(value.equals(HALF), 'way: not 1/2');
    return { a: HALF, b: HALF, target: delta.half(), mayTouch: true };
  }
  return kind === 'prediction' ? tangentOfExponential(value, delta) : tangentAt(value, delta);
}
function tangentOfExponential(w, delta) {
  require(HALF.atMost(w) && w.atMost(ONE), 'way: not from 1/2 to 1');
  const b = ONE.minus(w);
  const lean = w.scaled(1).minus(ONE);
  const logTimes = (/** @type {Rational} */ r) => (r.isZero() ? exactly(ZERO) : multiply(logOf(r, BITS_OF_TARGET), r));
  const middle = lean.isZero() ? exactly(ZERO) : multiply(logOf(delta, BITS_OF_TARGET), lean);
  const target = subtract(add(subtract(logTimes(w), logTimes(b)), middle), logTimes(lean));
  return { a: w, b, target: lean.isZero() ? ZERO : target.lo, mayTouch: true };
}
function tangentAt(p, delta) {
  require(p.sign() > 0 && p.less(ONE.minus(delta)), 'way: not above 0 and below 1 - delta');
  const q = p.plus(delta);
  const a = q.times(ONE.minus(q));
  const b = p.times(ONE.minus(p));
  if (delta.isZero()) return { a, b, target: ZERO, mayTouch: true };
  const logitOf = (/** @type {Rational} */ r) => logOf(r.over(ONE.minus(r)), BITS_OF_TARGET);
  return { a, b, target: subtract(multiply(logitOf(q), a), multiply(logitOf(p), b)).lo, mayTouch: true };
}
return { weightsOfWay, tangentAt };
})();
modules["proof/cases.js"] = (() => {
const { add, exactly, multiply } = modules["exact/interval.js"];
const { larger, ONE, Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArrayOf, readIndex } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { allowanceOf, squareBetween } = modules["claim/rate.js"];
const { unitVector } = modules["bodies/affine.js"];
const { factorsOf, hasClass } = modules["proof/classes.js"];
const { weightsOfWay } = modules["proof/line.js"];
const { all, breaksProperty, breaksRate, breaksSoftmax, sigmaOfInterval } = modules["proof/witness-set.js"];
function lineCase(name, score, property) {
  const { rate } = property;
  const valueOf = (/** @type {Interval[]} */ scores) => {
    const parts = scores.map((value, i) => multiply(value, score.alpha[i]));
    return add(multiply(parts.reduce(add), score.sign), exactly(score.shift));
  };
  return {
    name,
    kind: 'line',
    readLine(way, mayBeArray = false) {
      if (mayBeArray && Array.isArray(way)) {
        require(property.kind === 'decision', 'way: an array, but the property is not a decision');
        return lineOfAxes(way, score, score, property.margin);
      }
      const weights = weightsOfWay(property, way);
      return { first: score, second: score, ...weights, factors: null, reach: weights.a.plus(weights.b) };
    },
    rate,
    isWitness(scores, others, bits, pair) {
      const [s, other] = [valueOf(scores), valueOf(others)];
      return rate === null ? breaksProperty(property, s, other, bits) : breaksRate({ ...property, rate }, s, other, pair);
    },
    equalMayBreak: property.kind === 'decision' && property.margin.sign() < 0,
    clearance(scores, others, [x, other]) {
      const own = clearanceOfPair(property, valueOf(scores.map(exactly)).lo, valueOf(others.map(exactly)).lo);
      return rate === null ? own : own.plus(allowanceOf(rate, squareBetween(rate, x, other)).half());
    },
  };
}
function clearanceOfPair({ kind, margin, delta }, s, other) {
  if (kind === 'decision') return larger(margin.minus(s), other.plus(margin));
  if (kind === 'score' || kind === 'lipschitz') return delta.minus(s.minus(other)).half();
  if (kind === 'prediction') return ZERO;
  const bits = 256;
  const apart = sigmaOfInterval(exactly(s), bits).hi.minus(sigmaOfInterval(exactly(other), bits).lo);
  return larger(ZERO, delta.minus(apart).scaled(1));
}
function lineOfAxes(numbers, first, second, target) {
  const factors = numbers.map((item) => readNumber(item, 'way'));
  require(factors.length > 0, 'way: an empty array');
  return { first, second, a: ZERO, b: ZERO, target, mayTouch: false, factors, reach: ZERO };
}
function classesCase(head, margin, [i, j], conditions, otherConditions) {
  return {
    name: `classes ${head.labels[i]} and ${head.labels[j]}`,
    kind: 'classes',
    readLine(way, mayBeArray = false) {
      const [place, otherPlace, lambda] = readArrayOf(way, 'way', 3);
      const condition = conditions[readIndex(place, 'condition of a way', conditions.length)];
      const other = otherConditions[readIndex(otherPlace, 'condition of a way', otherConditions.length)];
      const first = { alpha: factorsOf(condition, head.scores, 1), sign: ONE, shift: ZERO };
      const second = { alpha: factorsOf(other, head.scores, -1), sign: ONE, shift: ZERO };
      if (mayBeArray && Array.isArray(lambda)) return lineOfAxes(lambda, first, second, margin);
      const a = readNumber(lambda, 'way');
      require(a.sign() >= 0 && a.atMost(ONE), 'way: not from 0 to 1');
      const b = ONE.minus(a);
      const mayTouch = (a.sign() > 0 && condition.strict) || (b.sign() > 0 && other.strict);
      const reach = a.times(Rational.of(condition.weight)).plus(b.times(Rational.of(other.weight)));
      return { first, second, a, b, target: margin, mayTouch, factors: null, reach };
    },
    rate: null,
    isWitness: (scores, others) => all([hasClass(head, scores, i, margin), hasClass(head, others, j, margin)]),
    equalMayBreak: false,
    clearance: () => ZERO,
  };
}
function softmaxCase(head, c, delta) {
  return {
    name: `probability of ${head.labels[c]}`,
    kind: 'softmax',
    ofClass: c,
    delta,
    readLine: () => reject('this rule does not apply to probabilities by softmax'),
    rate: null,
    isWitness: breaksSoftmax(c, delta),
    equalMayBreak: false,
    clearance: () => ZERO,
  };
}
function scoreOfTwo(head, property) {
  if (property.kind === 'decision' && head.zeroIsUpper) return { alpha: [ONE], sign: ONE.negated(), shift: ZERO };
  if (property.kind === 'probability' && head.link !== null) return { alpha: [ONE], sign: head.link.slope, shift: head.link.offset };
  return { alpha: [ONE], sign: ONE, shift: ZERO };
}
function scoreOfClass(scores, c) {
  return { alpha: unitVector(scores, c), sign: ONE, shift: ZERO };
}
return { lineCase, classesCase, softmaxCase, scoreOfTwo, scoreOfClass };
})();
modules["proof/case-list.js"] = (() => {
const { readArray, readArrayOf, readIndex, readTruth } = modules["file/fields.js"];
const { require } = modules["rejection.js"];
const { classesCase, lineCase, scoreOfClass, scoreOfTwo, softmaxCase } = modules["proof/cases.js"];
const { argmaxConditions, classOfVotes } = modules["proof/classes.js"];
function caseOfTwo({ model: { head }, property }) {
  if (head.kind !== 'two') throw new Error('a model of several scores has other cases');
  return [{ case: lineCase('', scoreOfTwo(head, property), property), classes: null }];
}
function casesOfClasses({ model: { head }, property }, node) {
  if (head.kind !== 'classes') throw new Error('a model of one score has no cases');
  if (property.kind === 'decision' && head.classes === 'votes') return casesOfVotes(head, property, node);
  readArrayOf(node, 'cases', 1);
  if (property.kind === 'decision') {
    const conditions = head.labels.map((_, i) => argmaxConditions(i, head.labels.length));
    return classPairs(head, property).map(([i, j]) => ({
      case: classesCase(head, property.margin, [i, j], conditions[i], conditions[j]),
      classes: [i, j],
    }));
  }
  const classes = property.ofClass === null ? head.labels.map((_, c) => c) : [/** @type {number} */ (property.ofClass)];
  return classes.map((c) => ({ case: caseOfClass(head, property, c), classes: null }));
}
function caseOfClass(head, property, c) {
  if (property.kind === 'probability' && head.link === 'softmax') return softmaxCase(head, c, property.delta);
  return lineCase(`score of ${head.labels[c]}`, scoreOfClass(head.scores, c), { ...property, kind: 'score' });
}
function classPairs(head, property) {
  const count = head.labels.length;
  const pairs = [];
  for (let i = 0; i < count; i++) {
    if (property.ofClass !== null && i !== property.ofClass) continue;
    for (let j = 0; j < count; j++) {
      if (property.ofClass === null ? i < j : i !== j) pairs.push([i, j]);
    }
  }
  return pairs;
}
function casesOfVotes(head, property, node) {
  const count = head.labels.length;
  const [, json] = readArrayOf(node, 'cases', 2);
  const cubes = readArrayOf(json, 'cubes', count).map((ofClass) =>
    readArray(ofClass, 'cubes of a class').map((item) => readCube(item, head.scores)),
  );
  checkCubes(cubes, head);
  return classPairs(head, property).flatMap(([i, j]) =>
    cubes[i].flatMap((cube) =>
      cubes[j].map((other) => ({
        case: classesCase(head, property.margin, [i, j], conditionsOf(cube), conditionsOf(other)),
        classes: null,
      })),
    ),
  );
}
function readCube(json, scores) {
  const cube = new Map();
  let before = -1;
  for (const item of readArray(json, 'cube')) {
    const [scoreJson, up] = readArrayOf(item, 'condition of a cube', 2);
    const score = readIndex(scoreJson, 'score of a cube', scores);
    require(before < score, 'cases: the scores of a cube are not strictly increasing');
    before = score;
    cube.set(score, readTruth(up, 'condition of a cube'));
  }
  return cube;
}
function checkCubes(cubes, head) {
  for (let way = 0; way < 2 ** head.scores; way++) {
    const votes = Array.from({ length: head.scores }, (_, s) => ((way >> s) & 1) === 1);
    const own = cubes[classOfVotes(votes, head.labels.length)];
    const met = own.some((cube) => [...cube].every(([score, up]) => votes[score] === up));
    require(met, 'cases: a way of giving votes is in no cube of its class');
  }
}
function conditionsOf(cube) {
  return [...cube].map(([score, up]) => ({ terms: [[score, up ? 1 : -1]], strict: up, weight: 1 }));
}
return { caseOfTwo, casesOfClasses, caseOfClass, classPairs };
})();
modules["proof/cell.js"] = (() => {
const { isDouble, nextDouble } = modules["exact/doubles.js"];
const { ONE, Rational } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readIndex } = modules["file/fields.js"];
const { require } = modules["rejection.js"];
const { isNear } = modules["claim/similarity.js"];
class Geometry {
  constructor(space, similarity, distance = null, ranges = new Map()) {
    this.ranges = ranges;
    this.space = space;
    this.similarity = similarity;
    this.distance = distance;
    this.variables = [];
    this.first = [];
    this.second = [];
    this.difference = space.features.map(() => -1);
    space.features.forEach(({ discrete }, k) => {
      this.first.push(this.variables.length);
      this.variables.push({ feature: k, role: 'code', discrete });
      if (similarity[k].kind !== 'same') this.variables.push({ feature: k, role: 'code', discrete });
      this.second.push(this.variables.length - 1);
    });
    space.features.forEach(({ discrete, levels }, k) => {
      if (!isNear(similarity[k]) || levels !== null) return;
      this.difference[k] = this.variables.length;
      this.variables.push({ feature: k, role: 'difference', discrete });
    });
  }
  root() {
    const lo = this.variables.map(({ feature, role }) =>
      role === 'code' ? this.space.features[feature].lo : this.similarity[feature].low,
    );
    const hi = this.variables.map(({ feature, role }) =>
      role === 'code' ? this.space.features[feature].hi : this.similarity[feature].high,
    );
    for (const [k, { own, other }] of this.ranges) {
      [lo[this.first[k]], hi[this.first[k]]] = own;
      [lo[this.second[k]], hi[this.second[k]]] = other;
    }
    return { lo, hi, limits: new Map(), depth: 0 };
  }
  isFixed(k, cell) {
    const [first, second] = [this.first[k], this.second[k]];
    return cell.lo[first].equals(cell.hi[first]) && cell.lo[second].equals(cell.hi[second]);
  }
}
function splitCell(geometry, cell, json) {
  const parts = readArray(json, 'split');
  require(parts.length === 3 || parts.length === 4, 'split: not three or four entries');
  const v = readIndex(parts[1], 'variable of a split', geometry.variables.length);
  const at = readNumber(parts[2], 'place of a split');
  const { discrete, role } = geometry.variables[v];
  const [lo, hi] = [cell.lo[v], cell.hi[v]];
  if (parts.length === 4) {
    require(!discrete && role === 'code', 'split: a gap in a variable that is not a continuous code');
    const after = readNumber(parts[3], 'place of a split');
    require(isDouble(at) && isDouble(after), 'split: a gap not between doubles');
    require(lo.atMost(at) && at.less(after) && after.atMost(hi), 'split: a gap outside the cell');
    require(nextDouble(at)?.equals(after) ?? false, 'split: a double lies in the gap');
    return [withInterval(cell, v, lo, at), withInterval(cell, v, after, hi)];
  }
  if (discrete) {
    require(at.isWhole(), 'split: not at a whole number');
    require(lo.atMost(at) && at.less(hi), 'split: outside the cell');
    return [withInterval(cell, v, lo, at), withInterval(cell, v, at.plus(ONE), hi)];
  }
  require(lo.less(at) && at.less(hi), 'split: outside the cell');
  return [withInterval(cell, v, lo, at), withInterval(cell, v, at, hi)];
}
function withInterval(cell, v, lo, hi) {
  const [los, his] = [cell.lo.slice(), cell.hi.slice()];
  los[v] = lo;
  his[v] = hi;
  return { lo: los, hi: his, limits: cell.limits, depth: cell.depth + 1 };
}
return { Geometry, splitCell };
})();
modules["exact/falling-exponential.js"] = (() => {
const { expFixed } = modules["exact/exponential.js"];
const { Rational } = modules["exact/rational.js"];
const FALLING_BITS = 96;
const UNIT_SHIFT = BigInt(FALLING_BITS);
const WORK_BITS = 128;
const WORK_SHIFT = BigInt(WORK_BITS);
const GUARD_SHIFT = WORK_SHIFT - UNIT_SHIFT;
const ONE = 1n << WORK_SHIFT;
const NOTHING_LEFT = 67n << UNIT_SHIFT;
const STEPS = Object.freeze([0, 8, 16, 24]);
const REST = (1n << (UNIT_SHIFT - 24n)) - 1n;
const ERROR_OF_ENTRY = 4n;
const ERROR_OF_REST = 8n;
const ERROR = 4n * ERROR_OF_ENTRY + 2n * ERROR_OF_REST + 4n;
const tables = STEPS.map(() => []);
function entry(table, steps) {
  const known = tables[table][steps];
  if (known !== undefined) return known;
  const { lo, hi } = expFixed(Rational.dyadic(BigInt(-steps), -STEPS[table]), WORK_BITS);
  if (hi - lo > ERROR_OF_ENTRY) throw new Error('bounds of an exponential that are too far apart');
  const made = lo < ONE ? lo : ONE;
  tables[table][steps] = made;
  return made;
}
function fallingExponential(x) {
  if (x >= NOTHING_LEFT) return { lo: 0n, hi: 1n };
  let product = entry(0, Number(x >> UNIT_SHIFT));
  for (let table = 1; table < STEPS.length; table++) {
    const steps = Number((x >> (UNIT_SHIFT - BigInt(STEPS[table]))) & 255n);
    if (steps !== 0) product = (product * entry(table, steps)) >> WORK_SHIFT;
  }
  const t = (x & REST) << GUARD_SHIFT;
  const square = (t * t) >> WORK_SHIFT;
  const cube = (square * t) >> WORK_SHIFT;
  const fourth = (cube * t) >> WORK_SHIFT;
  const rest = ONE - t + square / 2n - cube / 6n + fourth / 24n - ERROR_OF_REST;
  const lo = (product * rest) >> WORK_SHIFT;
  return { lo: lo >> GUARD_SHIFT, hi: ((lo + ERROR) >> GUARD_SHIFT) + 1n };
}
return { FALLING_BITS, fallingExponential };
})();
modules["rules/kernel-groups.js"] = (() => {
const { larger, Rational } = modules["exact/rational.js"];
function groupsOf(columns, levels) {
  const groups = new Map();
  return Array.from({ length: levels }, (_, position) => {
    const entries = columns.map(({ column }) => {
      if (column.kind !== 'table') throw new Error('a slope on a levels kind');
      return `${column.table[position]}`;
    });
    const key = entries.join(' ');
    const group = groups.get(key) ?? groups.size;
    groups.set(key, group);
    return group;
  });
}
function groupingOf(groupOf, distances) {
  const count = new Set(groupOf).size;
  if (count < 2) return null;
  const rows = Array.from({ length: count }, (_, q) => distances(Rational.of(groupOf.indexOf(q))));
  const without = withoutGround(rows);
  if (without !== null) return { groupOf, ground: null, ...without };
  for (let ground = 0; ground < count; ground++) {
    const found = withGround(rows, ground);
    if (found !== null) return { groupOf, ground, ...found };
  }
  return null;
}
function withoutGround(rows) {
  const beta = rows.reduce((most, row) => most.map((value, t) => larger(value, row[t])));
  const own = beta.map(() => -1);
  let distance = null;
  for (let q = 0; q < rows.length; q++) {
    for (let t = 0; t < beta.length; t++) {
      const less = beta[t].minus(rows[q][t]);
      if (less.isZero()) continue;
      if (own[t] >= 0 || (distance !== null && !distance.equals(less))) return null;
      own[t] = q;
      distance = less;
    }
  }
  return distance === null ? null : { beta, own, distance };
}
function withGround(rows, ground) {
  const beta = rows[ground];
  const own = beta.map(() => -1);
  let half = null;
  for (let q = 0; q < rows.length; q++) {
    if (q === ground) continue;
    for (let t = 0; t < beta.length; t++) {
      const more = rows[q][t].minus(beta[t]);
      if (more.isZero() || (half !== null && !half.equals(more.absolute()))) return null;
      half = more.absolute();
      if (more.sign() > 0) continue;
      if (own[t] >= 0) return null;
      own[t] = q;
    }
  }
  return half === null ? null : { beta, own, distance: half.scaled(1) };
}
return { groupsOf, groupingOf };
})();
modules["rules/kernel-features.js"] = (() => {
const { RbfBody } = modules["bodies/rbf.js"];
const { columnValue } = modules["bodies/columns.js"];
const { Rational, sum, ZERO } = modules["exact/rational.js"];
const { groupingOf, groupsOf } = modules["rules/kernel-groups.js"];
function kernelFeatures(body, space) {
  return space.features.map((feature, k) => {
    const columns = body.columns.flatMap((column, c) => (column.feature === k ? [{ column, c }] : []));
    const known = new Map();
    const distances = (/** @type {Rational} */ code) => {
      const key = `${code}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const values = columns.map(({ column }) => columnValue(column, code));
      const made = body.terms.map(({ centre }) => sum(columns.map(({ c }, n) => values[n].minus(centre[c]).squared())));
      if (known.size > 1000) known.clear();
      known.set(key, made);
      return made;
    };
    const none = { A: ZERO, B: body.terms.map(() => ZERO), C: body.terms.map(() => ZERO), table: null, distance: ZERO, own: [], grouping: null };
    if (feature.levels !== null && columns.length > 1) {
      const found = oneHot(feature.levels.length, distances);
      const grouping = found.sort === 'other' && body.grouped ? groupingOf(groupsOf(columns, feature.levels.length), distances) : null;
      return { ...none, distances, ...(grouping === null ? found : { sort: 'grouped', grouping }) };
    }
    return { ...none, sort: 'numeric', distances, ...quadratic(body, columns) };
  });
}
function quadratic(body, columns) {
  const parts = columns.map(({ column, c }) => {
    const [slope, offset] = column.kind === 'linear' ? [column.slope, column.offset] : [Rational.of(1), ZERO];
    return { slope, offset, c };
  });
  const [only] = columns;
  return {
    A: sum(parts.map(({ slope }) => slope.squared())),
    B: body.terms.map(({ centre }) => sum(parts.map(({ slope, offset, c }) => slope.times(centre[c].minus(offset))))),
    C: body.terms.map(({ centre }) => sum(parts.map(({ offset, c }) => centre[c].minus(offset).squared()))),
    table: only !== undefined && only.column.kind === 'table' ? only.column.table : null,
  };
}
function oneHot(count, distances) {
  const rows = Array.from({ length: count }, (_, v) => distances(Rational.of(v)));
  let common = null;
  const own = rows[0].map(() => -1);
  for (let v = 0; v < count; v++) {
    for (let t = 0; t < own.length; t++) {
      const distance = rows[v][t];
      if (distance.isZero()) {
        if (own[t] >= 0) return { sort: 'other' };
        own[t] = v;
      } else if (common === null) {
        common = distance;
      } else if (!common.equals(distance)) {
        return { sort: 'other' };
      }
    }
  }
  return { sort: 'one-hot', distance: common ?? ZERO, own };
}
return { kernelFeatures };
})();
modules["rules/chord-features.js"] = (() => {
const { bitLength, larger, Rational } = modules["exact/rational.js"];
const { FALLING_BITS } = modules["exact/falling-exponential.js"];
const { kernelFeatures } = modules["rules/kernel-features.js"];
const ERROR_OF_SUMS = 3n;
const ERROR_OF_VALUE = 8n;
const REMEMBERED = 2 ** 22;
class ChordNumber {
  constructor({ A, B, C }, { lo, hi }, gamma) {
    this.square = gamma.times(A);
    this.codeBits = bitLength(larger(lo.absolute(), hi.absolute()).ceil());
    const slopes = B.map((b) => gamma.times(b));
    this.B = slopes.map((slope) => slope.floor(FALLING_BITS + this.codeBits));
    this.C = C.map((c) => gamma.times(c).floor(FALLING_BITS));
    this.gridBits = FALLING_BITS + bitLength(slopes.map((slope) => slope.absolute()).reduce(larger).scaled(1).ceil());
    this.isConstant = A.isZero();
    this.turns = this.isConstant ? [] : B.map((b) => b.over(A).floor(this.gridBits));
    this.least = this.isConstant ? [] : B.map((b, t) => gamma.times(C[t].minus(b.squared().over(A))).floor(FALLING_BITS));
  }
  valuesAt(z) {
    const square = this.square.times(z).times(z).floor(FALLING_BITS);
    const place = z.scaled(1).floor(this.gridBits);
    const drop = BigInt(this.codeBits + this.gridBits);
    return this.B.map((b, t) => square - ((b * place) >> drop) + this.C[t]);
  }
  ranges(lo, hi) {
    const [atLo, atHi] = [this.valuesAt(lo), lo.equals(hi) ? null : this.valuesAt(hi)];
    if (atHi === null) return { least: atLo.map((value) => value - ERROR_OF_VALUE), most: atLo.map((value) => value + ERROR_OF_VALUE) };
    const most = atLo.map((value, t) => (value > atHi[t] ? value : atHi[t]) + ERROR_OF_VALUE);
    const [from, to] = [lo.floor(this.gridBits), hi.floor(this.gridBits)];
    const least = atLo.map((value, t) => {
      const end = (value < atHi[t] ? value : atHi[t]) - ERROR_OF_VALUE;
      const isInside = !this.isConstant && from <= this.turns[t] && this.turns[t] <= to;
      return isInside && this.least[t] < end ? this.least[t] : end;
    });
    return { least, most };
  }
  weighted(S) {
    let [total, slope, constant] = [0n, 0n, 0n];
    for (let t = 0; t < S.length; t++) {
      const own = S[t];
      if (own === 0n) continue;
      total += own;
      slope += own * this.B[t];
      constant += own * this.C[t];
    }
    return {
      square: Rational.dyadic(total, -FALLING_BITS).times(this.square),
      slope: Rational.dyadic(-slope, 1 - 2 * FALLING_BITS - this.codeBits),
      constant: Rational.dyadic(constant, -2 * FALLING_BITS),
    };
  }
}
class ChordLevels {
  constructor(feature, gamma) {
    this.feature = feature;
    this.gamma = gamma;
    this.step = gamma.times(feature.distance).floor(FALLING_BITS);
    this.rows = new Map();
  }
  row(position) {
    const known = this.rows.get(position);
    if (known !== undefined) return known;
    const made = this.feature.distances(Rational.of(position)).map((distance) => this.gamma.times(distance).floor(FALLING_BITS));
    if ((this.rows.size + 1) * made.length > REMEMBERED) this.rows.clear();
    this.rows.set(position, made);
    return made;
  }
  ranges(first, last) {
    const [least, most] = [this.row(first).slice(), this.row(first).slice()];
    for (let v = first + 1; v <= last; v++) {
      const row = this.row(v);
      for (let t = 0; t < row.length; t++) {
        if (row[t] < least[t]) least[t] = row[t];
        else if (row[t] > most[t]) most[t] = row[t];
      }
    }
    return { least, most: most.map((value) => value + 1n) };
  }
  sumsByLevel(S) {
    const { own } = this.feature;
    const apart = [];
    let total = 0n;
    for (let t = 0; t < S.length; t++) {
      total += S[t];
      if (own[t] >= 0) apart[own[t]] = (apart[own[t]] ?? 0n) + S[t];
    }
    return [total, apart];
  }
  weighted(S, first, last) {
    const sums = [];
    if (this.feature.sort === 'one-hot') {
      const [total, apart] = this.sumsByLevel(S);
      for (let v = first; v <= last; v++) sums[v] = Rational.dyadic((total - (apart[v] ?? 0n)) * this.step, -2 * FALLING_BITS);
      return sums;
    }
    for (let v = first; v <= last; v++) {
      const row = this.row(v);
      let total = 0n;
      for (let t = 0; t < S.length; t++) if (S[t] !== 0n) total += S[t] * row[t];
      sums[v] = Rational.dyadic(total, -2 * FALLING_BITS);
    }
    return sums;
  }
}
function chordFeatures(body, space) {
  const kernel = kernelFeatures(body, space);
  const features = kernel.map((feature, k) => {
    const own = space.features[k];
    return own.levels === null ? new ChordNumber(feature, own, body.gamma) : new ChordLevels(feature, body.gamma);
  });
  return { kernel, features };
}
return { ERROR_OF_SUMS, ChordNumber, ChordLevels, chordFeatures };
})();
modules["rules/chord-lines.js"] = (() => {
const { ceilShift } = modules["exact/exponential.js"];
const { FALLING_BITS, fallingExponential } = modules["exact/falling-exponential.js"];
const SHIFT = BigInt(FALLING_BITS);
const SIX = 6n << SHIFT;
const TWELVE = 12n << SHIFT;
class LineAbove {
  constructor() {
    this.S = 0n;
    this.constant = 0n;
  }
  chord(c, least, most) {
    const e = fallingExponential(most).hi;
    const rise = fallingExponential(least).hi - e;
    const slope = rise <= 0n || most === least ? 0n : (c * rise - 1n) / (most - least) + 1n;
    this.S = -slope;
    this.constant = c * e + slope * most;
  }
  tangent(size, least, most) {
    const width = most - least;
    const p = least + (SIX * width) / (TWELVE + width);
    const { lo, hi } = fallingExponential(p);
    const n = (size * lo) >> SHIFT;
    const lost = size * hi - (n << SHIFT);
    this.S = n;
    this.constant = ceilShift(lost * (most - p), SHIFT) - (n << SHIFT) - n * p;
  }
  flat(size, most) {
    this.S = 0n;
    this.constant = -size * fallingExponential(most).lo;
  }
}
function linesAbove(factors, least, most, widest, tick) {
  const line = new LineAbove();
  const S = [];
  let constant = 0n;
  for (let t = 0; t < factors.length; t++) {
    tick();
    const c = factors[t];
    if (c === 0n) {
      S.push(0n);
      continue;
    }
    if (c > 0n) line.chord(c, least[t], most[t]);
    else if (most[t] - least[t] <= widest) line.tangent(-c, least[t], most[t]);
    else line.flat(-c, most[t]);
    S.push(line.S);
    constant += line.constant;
  }
  return { S, constant };
}
return { linesAbove };
})();
modules["rules/cost-maximum.js"] = (() => {
const { larger, largerOfMaxima, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { costOf, toPower } = modules["claim/distance.js"];
const { related } = modules["claim/similarity.js"];
const { positionOf } = modules["claim/space.js"];
const { polygonMaximum } = modules["rules/polygon.js"];
function maximumWithCost(geometry, cell, k, charge, u, v, withoutCost) {
  if (u.kind === 'table' && v.kind === 'table') return maximumOfLevels(geometry, cell, k, charge, u.values, v.values);
  const { cost, power, lambda } = charge;
  const codes = codesOf(geometry, cell, k);
  if (codes === null) return null;
  if (cost.kind !== 'each') throw new Error('a cost that does not fit its feature');
  if (u.kind === 'linear' && v.kind === 'linear') {
    if (power === 1) return maximumOfSlopes(u.slope, v.slope, codes, lambda.times(cost.cost));
    return maximumOfParabolas(u.slope, v.slope, codes, lambda.times(cost.cost.squared()));
  }
  const most = withoutCost();
  if (most === null) return null;
  return most.minus(lambda.times(toPower(costOf(cost, ZERO, leastDifference(codes)), power)));
}
function codesOf({ first, second, difference }, cell, k) {
  const [i, j, d] = [first[k], second[k], difference[k]];
  const [lo, hi, otherLo, otherHi] = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
  let [p, q] = [otherLo.minus(hi), otherHi.minus(lo)];
  if (d >= 0) [p, q] = [larger(p, cell.lo[d]), smaller(q, cell.hi[d])];
  return q.less(p) ? null : { lo, hi, otherLo, otherHi, p, q };
}
function leastDifference({ p, q }) {
  return p.sign() > 0 ? p : q.sign() < 0 ? q : ZERO;
}
function maximumOfSlopes(u, v, { lo, hi, otherLo, otherHi, p, q }, c) {
  const above = polygonMaximum(u.plus(c), v.minus(c), lo, hi, otherLo, otherHi, larger(p, ZERO), q);
  const below = polygonMaximum(u.minus(c), v.plus(c), lo, hi, otherLo, otherHi, p, smaller(q, ZERO));
  return above === null ? below : largerOfMaxima(below, above);
}
function maximumOfParabolas(u, v, { lo, hi, otherLo, otherHi, p, q }, c) {
  const slope = u.plus(v);
  const upwards = slope.sign() >= 0;
  const meeting = upwards ? otherHi.minus(hi) : otherLo.minus(lo);
  const valueAt = (/** @type {Rational} */ d) => {
    const x = upwards ? smaller(hi, otherHi.minus(d)) : larger(lo, otherLo.minus(d));
    return slope.times(x).plus(v.times(d)).minus(c.times(d.squared()));
  };
  const places = [p, q, meeting];
  if (c.sign() > 0) for (const linear of [v, v.minus(slope)]) places.push(linear.over(c.scaled(1)));
  return places.map((d) => valueAt(smaller(larger(d, p), q))).reduce(larger);
}
function* positionsOf({ space, similarity, first, second }, cell, k) {
  const [lo, hi, otherLo, otherHi] = [cell.lo[first[k]], cell.hi[first[k]], cell.lo[second[k]], cell.hi[second[k]]].map(positionOf);
  const relation = similarity[k];
  if (relation.kind === 'pairs') {
    const isInside = (/** @type {number} */ i, /** @type {number} */ j) => lo <= i && i <= hi && otherLo <= j && j <= otherHi;
    for (let i = Math.max(lo, otherLo); i <= Math.min(hi, otherHi); i++) yield [Rational.of(i), Rational.of(i)];
    for (const [i, j] of relation.allowed) {
      if (isInside(i, j)) yield [Rational.of(i), Rational.of(j)];
      if (isInside(j, i)) yield [Rational.of(j), Rational.of(i)];
    }
    return;
  }
  require((hi - lo + 1) * (otherHi - otherLo + 1) <= MAXIMUM.positionPairs, 'too many pairs of positions for one feature');
  for (let i = lo; i <= hi; i++) {
    for (let j = otherLo; j <= otherHi; j++) {
      const [code, other] = [Rational.of(i), Rational.of(j)];
      if (related(space.features[k], relation, code, other)) yield [code, other];
    }
  }
}
function maximumOfLevels(geometry, cell, k, { cost, power, lambda }, u, v) {
  let most = null;
  for (const [code, other] of positionsOf(geometry, cell, k)) {
    const own = lambda.times(toPower(costOf(cost, code, other), power));
    most = largerOfMaxima(most, u[positionOf(code)].plus(v[positionOf(other)]).minus(own));
  }
  return most;
}
return { maximumWithCost, codesOf, leastDifference, positionsOf };
})();
modules["rules/fixed-point.js"] = (() => {
const { expOfNear } = modules["exact/interval.js"];
const { bitLength, Rational } = modules["exact/rational.js"];
const FIXED_BITS = 128;
const FIXED_SHIFT = BigInt(FIXED_BITS);
const EXPONENT_BITS = 256;
function fixedProduct(factor, exponent, roundings) {
  if (factor.isZero()) return { value: 0n, error: 0n };
  const bits = FIXED_BITS + bitLength(factor.ceil()) + bitLength(factor.floor()) + 4;
  const slack = Rational.dyadic(BigInt(roundings), -EXPONENT_BITS);
  const { lo, hi } = expOfNear(Rational.dyadic(exponent, -EXPONENT_BITS), slack, bits);
  const [one, other] = [lo.times(factor), hi.times(factor)];
  const [low, high] = factor.sign() > 0 ? [one, other] : [other, one];
  const value = low.floor(FIXED_BITS);
  return { value, error: high.ceil(FIXED_BITS) - value };
}
function towardsZero(value) {
  return value.sign() >= 0 ? value.floor(FIXED_BITS) : value.ceil(FIXED_BITS);
}
function absolute(value) {
  return value < 0n ? -value : value;
}
function wholeAbove(value) {
  return (absolute(value) >> FIXED_SHIFT) + 1n;
}
return { FIXED_BITS, FIXED_SHIFT, EXPONENT_BITS, fixedProduct, towardsZero, absolute, wholeAbove };
})();
modules["rules/form-maximum.js"] = (() => {
const { largest, largerOfMaxima, Rational, ZERO } = modules["exact/rational.js"];
const { isNear } = modules["claim/similarity.js"];
const { positionOf } = modules["claim/space.js"];
const { SeparableForm } = modules["bodies/affine.js"];
const { maximumWithCost } = modules["rules/cost-maximum.js"];
const { maximumOfPieces, maximumOfPiecesBetween, maximumOfSamePieces } = modules["rules/pieces.js"];
const { polygonMaximum } = modules["rules/polygon.js"];
const NO_CHARGES = new Map();
function maximumOfForms(geometry, cell, first, second, charges = NO_CHARGES) {
  let total = first.bias.plus(second.bias);
  for (let k = 0; k < first.phi.length; k++) {
    const [u, v] = [first.phi[k], second.phi[k]];
    const withoutCost = () => maximumOfFeature(geometry, cell, k, u, v);
    const charge = geometry.similarity[k].kind === 'same' ? undefined : charges.get(k);
    const most = charge === undefined ? withoutCost() : maximumWithCost(geometry, cell, k, charge, u, v, withoutCost);
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}
function maximumOfFeature(geometry, cell, k, u, v) {
  const [i, j] = [geometry.first[k], geometry.second[k]];
  const ends = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
  const relation = geometry.similarity[k];
  if (u.kind === 'table' && v.kind === 'table') return maximumOfTables(u.values, v.values, ends.map(positionOf), relation);
  if (u.kind === 'linear' && v.kind === 'linear') return maximumOfSlopes(u.slope, v.slope, ends, relation);
  if (u.kind === 'pieces' && v.kind === 'pieces') {
    const { discrete } = geometry.space.features[k];
    const [lo, hi, otherLo, otherHi] = ends;
    if (relation.kind === 'same') return maximumOfSamePieces(u, v, lo, hi, discrete);
    if (isNear(relation)) return maximumOfPiecesBetween(u, v, ends, relation.low, relation.high, discrete);
    const most = maximumOfPieces(u, lo, hi, discrete);
    const otherMost = maximumOfPieces(v, otherLo, otherHi, discrete);
    return most === null || otherMost === null ? null : most.plus(otherMost);
  }
  throw new Error('forms of different kinds');
}
function maximumOfSlopes(u, v, [lo, hi, otherLo, otherHi], relation) {
  if (relation.kind === 'same') {
    const slope = u.plus(v);
    return slope.times(slope.sign() > 0 ? hi : lo);
  }
  if (relation.kind === 'free') return u.times(u.sign() > 0 ? hi : lo).plus(v.times(v.sign() > 0 ? otherHi : otherLo));
  return polygonMaximum(u, v, lo, hi, otherLo, otherHi, relation.low, relation.high);
}
function maximumOfTables(u, v, [lo, hi, otherLo, otherHi], relation) {
  if (relation.kind === 'free') return largest(u.slice(lo, hi + 1)).plus(largest(v.slice(otherLo, otherHi + 1)));
  let most = null;
  const look = (/** @type {number} */ i, /** @type {number} */ j) => {
    if (i < lo || i > hi || j < otherLo || j > otherHi) return;
    most = largerOfMaxima(most, u[i].plus(v[j]));
  };
  if (isNear(relation)) {
    const [p, q] = [Number(relation.low.floor()), Number(relation.high.floor())];
    for (let i = lo; i <= hi; i++) for (let j = Math.max(otherLo, i + p); j <= Math.min(otherHi, i + q); j++) look(i, j);
    return most;
  }
  for (let i = lo; i <= hi; i++) look(i, i);
  for (const [i, j] of relation.allowed) {
    look(i, j);
    look(j, i);
  }
  return most;
}
function scaledForm(form, factor) {
  const scale = (/** @type {Rational[]} */ values) => values.map((value) => value.times(factor));
  const phi = form.phi.map((/** @type {Phi} */ own) => {
    if (own.kind === 'linear') return { kind: own.kind, slope: own.slope.times(factor) };
    if (own.kind === 'table') return { kind: own.kind, values: scale(own.values) };
    return { kind: own.kind, cuts: own.cuts, pieces: own.pieces.map(scale) };
  });
  return new SeparableForm(form.bias.times(factor), /** @type {Phi[]} */ (phi));
}
function zeroForm(space) {
  const phi = space.features.map(({ levels }) =>
    levels === null ? { kind: /** @type {const} */ ('linear'), slope: ZERO } : { kind: /** @type {const} */ ('table'), values: levels.map(() => ZERO) },
  );
  return new SeparableForm(ZERO, phi);
}
function lessConstraints(form, constraints, multipliers) {
  let { bias } = form;
  const phi = form.phi.slice();
  constraints.forEach(({ terms, bound }, j) => {
    const multiplier = multipliers[j];
    if (multiplier.isZero()) return;
    bias = bias.plus(multiplier.times(bound));
    for (const { feature, factor, amounts } of terms) phi[feature] = lessTerm(phi[feature], multiplier, factor, amounts);
  });
  return new SeparableForm(bias, phi);
}
function lessDistanceForms(form, forms, multipliers) {
  const phi = form.phi.slice();
  forms.forEach(({ entries }, j) => {
    const multiplier = multipliers[j];
    if (multiplier.isZero()) return;
    for (const { feature, factor, amounts } of entries) {
      const own = phi[feature];
      const steps = own.kind === 'table' && factor !== null ? own.values.map((_, i) => factor.times(Rational.of(i))) : amounts;
      phi[feature] = lessTerm(own, multiplier, factor, steps);
    }
  });
  return new SeparableForm(form.bias, phi);
}
function lessTerm(phi, multiplier, factor, amounts) {
  if (phi.kind === 'table' && amounts !== null) {
    return { kind: 'table', values: phi.values.map((value, i) => value.minus(multiplier.times(amounts[i]))) };
  }
  const slope = multiplier.times(/** @type {Rational} */ (factor));
  if (phi.kind === 'linear') return { kind: 'linear', slope: phi.slope.minus(slope) };
  if (phi.kind !== 'pieces') throw new Error('a constraint that does not fit its feature');
  const pieces = phi.pieces.map((piece) => [piece[0], (piece[1] ?? ZERO).minus(slope), ...piece.slice(2)]);
  return { kind: 'pieces', cuts: phi.cuts, pieces };
}
return { maximumOfForms, maximumOfTables, scaledForm, zeroForm, lessConstraints, lessDistanceForms };
})();
modules["rules/parabola.js"] = (() => {
const { larger, largerOfMaxima, Rational, smaller } = modules["exact/rational.js"];
function valueAt({ square, slope, constant }, z) {
  return square.times(z).plus(slope).times(z).plus(constant);
}
function peakOf({ square, slope }) {
  return square.sign() < 0 ? slope.over(square.scaled(1)).negated() : null;
}
function valueAtPeak({ square, slope, constant }) {
  return constant.minus(slope.squared().over(square.scaled(2)));
}
function sumOfParabolas(a, b) {
  return { square: a.square.plus(b.square), slope: a.slope.plus(b.slope), constant: a.constant.plus(b.constant) };
}
function shifted(parabola, by) {
  const { square, slope } = parabola;
  return { square, slope: slope.plus(square.times(by).scaled(1)), constant: valueAt(parabola, by) };
}
function maximumOnInterval(parabola, lo, hi) {
  if (hi.less(lo)) return null;
  const peak = peakOf(parabola);
  if (peak !== null && lo.less(peak) && peak.less(hi)) return valueAtPeak(parabola);
  return larger(valueAt(parabola, lo), valueAt(parabola, hi));
}
function maximumOnPolygon(u, v, { lo, hi, otherLo, otherHi, p, q }) {
  let most = null;
  const [peak, otherPeak] = [peakOf(u), peakOf(v)];
  if (peak !== null && otherPeak !== null) {
    const difference = otherPeak.minus(peak);
    const inside = lo.atMost(peak) && peak.atMost(hi) && otherLo.atMost(otherPeak) && otherPeak.atMost(otherHi) && p.atMost(difference) && difference.atMost(q);
    if (inside) return valueAtPeak(u).plus(valueAtPeak(v));
  }
  const take = (/** @type {Rational | null} */ alongEdge, /** @type {Rational | null} */ across) => {
    if (alongEdge !== null && across !== null) most = largerOfMaxima(most, alongEdge.plus(across));
  };
  for (const x of [lo, hi]) take(maximumOnInterval(v, larger(otherLo, x.plus(p)), smaller(otherHi, x.plus(q))), valueAt(u, x));
  for (const other of [otherLo, otherHi]) take(maximumOnInterval(u, larger(lo, other.minus(q)), smaller(hi, other.minus(p))), valueAt(v, other));
  for (const difference of [p, q]) {
    const own = sumOfParabolas(u, shifted(v, difference));
    most = largerOfMaxima(most, maximumOnInterval(own, larger(lo, otherLo.minus(difference)), smaller(hi, otherHi.minus(difference))));
  }
  if (most === null) throw new Error('a polygon without a point');
  return most;
}
return { maximumOnInterval, maximumOnPolygon };
})();
modules["rules/chords.js"] = (() => {
const { FALLING_BITS } = modules["exact/falling-exponential.js"];
const { ceilShift } = modules["exact/exponential.js"];
const { larger, largest, Rational, smaller } = modules["exact/rational.js"];
const { readArrayOf, readInt } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { related } = modules["claim/similarity.js"];
const { positionOf } = modules["claim/space.js"];
const { ChordLevels, ChordNumber, chordFeatures, ERROR_OF_SUMS } = modules["rules/chord-features.js"];
const { linesAbove } = modules["rules/chord-lines.js"];
const { codesOf } = modules["rules/cost-maximum.js"];
const { absolute, EXPONENT_BITS, FIXED_BITS, fixedProduct } = modules["rules/fixed-point.js"];
const { maximumOfTables } = modules["rules/form-maximum.js"];
const { maximumOnInterval, maximumOnPolygon } = modules["rules/parabola.js"];
const LARGEST_R = 1024n;
const SHIFT = BigInt(FALLING_BITS);
const ERROR_OF_WIDTH = 32n;
const REMEMBERED_SETTINGS = 64;
const known = new WeakMap();
class Terms {
  constructor(body, space) {
    const { kernel, features } = chordFeatures(body, space);
    this.kernel = kernel;
    this.features = features;
    this.gamma = body.gamma;
    this.count = body.terms.length;
    this.last = [[], []];
  }
  rangesOf(copy, k, lo, hi) {
    for (const own of [this.last[copy][k], this.last[1 - copy][k]]) {
      if (own !== undefined && own.lo.equals(lo) && own.hi.equals(hi)) {
        this.last[copy][k] = own;
        return own.ranges;
      }
    }
    const feature = this.features[k];
    const ranges = feature instanceof ChordNumber ? feature.ranges(lo, hi) : feature.ranges(positionOf(lo), positionOf(hi));
    this.last[copy][k] = { lo, hi, ranges };
    return ranges;
  }
}
function chords(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'rbf') return reject('chords: not for this body');
  readArrayOf(json, 'chords', 3);
  const line = context.readLine(json[1]);
  const r = readInt(json[2], 'r', 0n, LARGEST_R);
  const terms = known.get(body) ?? new Terms(body, context.claim.space);
  known.set(body, terms);
  const place = placeOf(context.geometry, cell);
  if (place === null) return { clearance: null, line: null };
  const scores = context.derive(line, () => new LineScores(body, line), 'chords'); // `kernel` has its own of the same line
  const factors = place.twoCopies ? scores.factorsOfBoth : [scores.factorsOfOne(terms, place)];
  let constant = 0n;
  const slopes = factors.map((own, copy) => {
    const { least, most } = exponentRanges(terms, place, /** @type {0 | 1} */ (copy));
    const widest = (r << SHIFT) + ERROR_OF_WIDTH * BigInt(place.counted.length);
    const lines = linesAbove(own, least, most, widest, () => context.clock.tick());
    constant += lines.constant;
    return lines.S;
  });
  const moved = slopes.flat().reduce((total, own) => total + absolute(own), 0n);
  constant += ERROR_OF_SUMS * BigInt(place.counted.length) * moved;
  const together = slopes[0].map((own, t) => own + (slopes[1]?.[t] ?? 0n));
  for (const k of place.counted) {
    const own = isSame(place, k) ? maximumOfSame(terms, place, k, together) : maximumOfBoth(terms, place, k, slopes);
    if (own === null) return { clearance: null, line: null };
    constant += own.ceil(2 * FALLING_BITS);
  }
  const bound = Rational.dyadic(constant, -2 * FALLING_BITS).plus(scores.kappa);
  require(bound.less(line.target), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}
class LineScores {
  constructor(body, { a, b, first, second }) {
    const [own, other] = [scoreBody(body, first), scoreBody(body, second)];
    this.kappa = a.times(own.bias[0]).minus(b.times(other.bias[0]));
    this.own = own.terms.map(({ coefficients }) => coefficients[0].times(a));
    this.other = other.terms.map(({ coefficients }) => coefficients[0].times(b));
    this.factorsOfBoth = [this.own.map((factor) => factor.ceil(FALLING_BITS)), this.other.map((factor) => factor.negated().ceil(FALLING_BITS))];
    this.settings = new Map();
  }
  factorsOfOne(terms, { geometry, cell, differing }) {
    const codes = [geometry.first, geometry.second].map((variables) => differing.map((k) => cell.lo[variables[k]]));
    const key = codes.flat().join(' ');
    const before = this.settings.get(key);
    if (before !== undefined) return before;
    const [own, other] = codes.map((fixed) => exponentsAt(terms, differing, fixed));
    const made = this.own.map((factor, t) => {
      const plus = fixedProduct(factor, own[t], differing.length);
      const minus = fixedProduct(this.other[t], other[t], differing.length);
      return ceilShift(plus.value + plus.error - minus.value, BigInt(FIXED_BITS - FALLING_BITS));
    });
    if (this.settings.size >= REMEMBERED_SETTINGS) this.settings.clear();
    this.settings.set(key, made);
    return made;
  }
}
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
function exponentsAt({ kernel, gamma, count }, features, codes) {
  const exponents = Array.from({ length: count }, () => 0n);
  features.forEach((k, n) => {
    kernel[k].distances(codes[n]).forEach((distance, t) => {
      exponents[t] += gamma.times(distance).negated().floor(EXPONENT_BITS);
    });
  });
  return exponents;
}
function placeOf(geometry, cell) {
  const { space: { features }, similarity, first, second } = geometry;
  const all = features.map((_, k) => k);
  const differing = all.filter((k) => similarity[k].kind !== 'same');
  const twoCopies = differing.some((k) => !geometry.isFixed(k, cell));
  const codes = new Map();
  for (const k of differing) {
    if (features[k].levels === null) {
      const own = codesOf(geometry, cell, k);
      if (own === null) return null;
      codes.set(k, own);
    }
    if (!twoCopies && !related(features[k], similarity[k], cell.lo[first[k]], cell.lo[second[k]])) return null;
  }
  return { geometry, cell, twoCopies, differing, counted: twoCopies ? all : all.filter((k) => similarity[k].kind === 'same'), codes };
}
function intervalOf({ geometry, cell, codes }, k, copy) {
  const v = (copy === 0 ? geometry.first : geometry.second)[k];
  const own = codes.get(k);
  if (own === undefined) return [cell.lo[v], cell.hi[v]];
  const { lo, hi, otherLo, otherHi, p, q } = own;
  if (copy === 0) return [larger(lo, otherLo.minus(q)), smaller(hi, otherHi.minus(p))];
  return [larger(otherLo, lo.plus(p)), smaller(otherHi, hi.plus(q))];
}
function exponentRanges(terms, place, copy) {
  const least = Array.from({ length: terms.count }, () => 0n);
  const most = least.slice();
  for (const k of place.counted) {
    const own = terms.rangesOf(copy, k, ...intervalOf(place, k, copy));
    for (let t = 0; t < least.length; t++) {
      least[t] += own.least[t];
      most[t] += own.most[t];
    }
  }
  return { least: least.map((value) => (value < 0n ? 0n : value)), most };
}
function isSame({ geometry }, k) {
  return geometry.first[k] === geometry.second[k];
}
function maximumOfSame({ features }, { geometry, cell }, k, S) {
  const feature = features[k];
  const [lo, hi] = [cell.lo[geometry.first[k]], cell.hi[geometry.first[k]]];
  if (feature instanceof ChordLevels) return largest(feature.weighted(S, positionOf(lo), positionOf(hi)).slice(positionOf(lo)));
  return /** @type {Rational} */ (maximumOnInterval(feature.weighted(S), lo, hi));
}
function maximumOfBoth({ features }, { geometry, cell, codes }, k, [S, other]) {
  const feature = features[k];
  if (feature instanceof ChordNumber) return maximumOnPolygon(feature.weighted(S), feature.weighted(other), /** @type {Codes} */ (codes.get(k)));
  const [v, w] = [geometry.first[k], geometry.second[k]];
  const ends = [cell.lo[v], cell.hi[v], cell.lo[w], cell.hi[w]].map(positionOf);
  return maximumOfTables(feature.weighted(S, ends[0], ends[1]), feature.weighted(other, ends[2], ends[3]), ends, geometry.similarity[k]);
}
return { chords };
})();
modules["rules/conclude.js"] = (() => {
const { Rational } = modules["exact/rational.js"];
const { require } = modules["rejection.js"];
function concludeFromBound(line, bound) {
  if (bound === null) return { clearance: null, line: null };
  const order = bound.compare(line.target);
  require(order < 0 || (order === 0 && line.mayTouch), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: line.target.minus(bound).over(line.reach), line };
}
return { concludeFromBound };
})();
modules["rules/rate.js"] = (() => {
const { larger, ONE, Rational, smaller, sum, ZERO } = modules["exact/rational.js"];
const { readNumbersOf } = modules["file/fields.js"];
const { require } = modules["rejection.js"];
const { changeOf, costOf } = modules["claim/distance.js"];
const { isNear } = modules["claim/similarity.js"];
const { squareOfNorm } = modules["claim/rate.js"];
const { codesOf, leastDifference, positionsOf } = modules["rules/cost-maximum.js"];
function leastSquare(geometry, cell, rate) {
  const costs = [];
  for (const { feature, cost } of rate.terms) {
    const least = leastCost(geometry, cell, feature, cost);
    if (least === null) return null;
    costs.push(least);
  }
  const changes = [];
  for (const { entries } of rate.forms) {
    let [p, q] = [ZERO, ZERO];
    for (const entry of entries) {
      const range = changesOf(geometry, cell, entry);
      if (range === null) return null;
      [p, q] = [p.plus(range.lo), q.plus(range.hi)];
    }
    changes.push(p.sign() > 0 ? p : q.sign() < 0 ? q : ZERO);
  }
  return squareOfNorm(rate, costs, changes);
}
function leastCost(geometry, cell, k, cost) {
  if (geometry.similarity[k].kind === 'same') return ZERO;
  if (geometry.space.features[k].levels === null) {
    const codes = codesOf(geometry, cell, k);
    return codes === null ? null : costOf(cost, ZERO, leastDifference(codes));
  }
  const steps = stepsOf(geometry, cell, k);
  if (steps !== null && cost.kind !== 'table') return isEmptyRange(steps) ? null : costOf(cost, ZERO, leastDifference(steps));
  let least = null;
  for (const [code, other] of positionsOf(geometry, cell, k)) {
    const own = costOf(cost, code, other);
    least = least === null ? own : smaller(least, own);
  }
  return least;
}
function stepsOf({ similarity, first, second }, cell, k) {
  const [i, j] = [first[k], second[k]];
  const [p, q] = [cell.lo[j].minus(cell.hi[i]), cell.hi[j].minus(cell.lo[i])];
  const relation = similarity[k];
  if (relation.kind === 'free') return { p, q };
  return isNear(relation) ? { p: larger(p, relation.low), q: smaller(q, relation.high) } : null;
}
function isEmptyRange({ p, q }) {
  return q.less(p);
}
function changesOf(geometry, cell, entry) {
  const k = entry.feature;
  if (geometry.similarity[k].kind === 'same') return { lo: ZERO, hi: ZERO };
  if (geometry.space.features[k].levels === null) {
    const codes = codesOf(geometry, cell, k);
    if (codes === null) return null;
    const ends = [changeOf(entry, ZERO, codes.p), changeOf(entry, ZERO, codes.q)];
    return { lo: ends.reduce(smaller), hi: ends.reduce(larger) };
  }
  const steps = stepsOf(geometry, cell, k);
  if (steps !== null && entry.factor !== null) {
    if (isEmptyRange(steps)) return null;
    const ends = [changeOf(entry, ZERO, steps.p), changeOf(entry, ZERO, steps.q)];
    return { lo: ends.reduce(smaller), hi: ends.reduce(larger) };
  }
  let range = null;
  for (const [code, other] of positionsOf(geometry, cell, k)) {
    const own = changeOf(entry, code, other);
    range = range === null ? { lo: own, hi: own } : { lo: smaller(range.lo, own), hi: larger(range.hi, own) };
  }
  return range;
}
function readToll({ constant, norm, terms, forms }, json) {
  const numbers = readNumbersOf(json, 'multipliers of the rate', terms.length + forms.length);
  const [ofTerms, ofForms] = [numbers.slice(0, terms.length), numbers.slice(terms.length)];
  require(ofTerms.every((y) => y.sign() >= 0), 'separable: a negative multiplier of a cost');
  const isInBall =
    norm === 1
      ? ofTerms.every((y) => y.atMost(ONE))
      : norm === 'max'
        ? sum(ofTerms).atMost(ONE)
        : sum([...ofTerms.map((y) => y.squared()), ...ofForms.map((y, j) => y.squared().over(forms[j].weight))]).atMost(ONE);
  require(isInBall, 'separable: the multipliers of the rate are too large');
  const half = constant.half();
  const charges = new Map();
  terms.forEach(({ feature, cost }, i) => {
    const lambda = half.times(ofTerms[i]);
    if (!lambda.isZero()) charges.set(feature, { cost, power: 1, lambda });
  });
  const costly = terms.flatMap(({ feature }, i) => (ofTerms[i].isZero() ? [] : [feature]));
  return { forms, factors: ofForms.map((y) => half.times(y)), costly, charges };
}
return { leastSquare, readToll };
})();
modules["rules/separable.js"] = (() => {
const { AffineBody, SeparableForm } = modules["bodies/affine.js"];
const { Rational, sum, ZERO } = modules["exact/rational.js"];
const { readArray, readArrayOf, readNumbersOf } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { concludeFromBound } = modules["rules/conclude.js"];
const { readToll } = modules["rules/rate.js"];
const { lessConstraints, lessDistanceForms, maximumOfForms, scaledForm, zeroForm } = modules["rules/form-maximum.js"];
function separable(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'affine') return reject('separable: not for this body');
  const { rate } = context.case;
  const ofRate = rate !== null && context.knownLine === null && json.length === 4;
  require(ofRate || json.length === 2 || json.length === 3, 'separable: not two or three entries');
  const line = ofRate ? context.readLineAside(json[1]) : context.readLine(json[1]);
  const { first, second } = context.derive(line, () => ({
    first: scaledForm(formOf(body, line.first), line.a),
    second: scaledForm(formOf(body, line.second), line.b.negated()),
  }));
  const multipliers = json.length === 2 || (ofRate && isEmpty(json[2])) ? null : readMultipliersWithDistance(context, json[2]);
  const toll = ofRate ? readToll(rate, json[3]) : null;
  return concludeFromBound(line, maximumWithMultipliers(context, cell, first, second, multipliers, toll));
}
function empty(context, cell, json) {
  readArrayOf(json, 'empty', 2);
  const zero = zeroForm(context.claim.space);
  const bound = maximumWithMultipliers(context, cell, zero, zero, readMultipliersWithDistance(context, json[1]));
  require(bound === null || bound.sign() < 0, 'empty: the multipliers do not show that the cell is empty');
  return { clearance: null, line: null };
}
function isEmpty(json) {
  return Array.isArray(json) && json.length === 0;
}
function formOf(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
function readMultipliersWithDistance(context, json) {
  const { space, distance } = context.claim;
  const count = 2 * space.constraints.length;
  const items = readArray(json, 'multipliers');
  if (distance === null || items.length === count) return readMultipliers(context, json);
  const [lambda, ...forms] = readNumbersOf(items.slice(count), 'multipliers of the distance', 1 + distance.forms.length);
  require(lambda.sign() >= 0, 'a negative multiplier');
  return { ...readMultipliers(context, items.slice(0, count)), lambda, forms };
}
function readMultipliers(context, json) {
  const multipliers = readNumbersOf(json, 'multipliers', 2 * context.claim.space.constraints.length);
  require(multipliers.every((multiplier) => multiplier.sign() >= 0), 'a negative multiplier');
  const half = multipliers.length / 2;
  return { here: multipliers.slice(0, half), there: multipliers.slice(half), lambda: ZERO, forms: [] };
}
function maximumWithMultipliers({ geometry }, cell, first, second, multipliers, toll = null) {
  let [own, other, constant] = [first, second, ZERO];
  let charges = new Map();
  if (multipliers !== null) {
    const { constraints } = geometry.space;
    own = lessConstraints(own, constraints, multipliers.here);
    other = lessConstraints(other, constraints, multipliers.there);
    const { lambda, forms } = multipliers;
    const { distance } = geometry;
    if (distance !== null && !lambda.isZero()) {
      const factors = distance.forms.map(({ weight }, j) => lambda.times(weight).times(forms[j]));
      [own, other] = lessForms(own, other, distance.forms, factors.map((factor) => factor.scaled(1)));
      constant = sum([lambda.times(distance.bound), ...factors.map((factor, j) => factor.times(forms[j]))]);
      charges = new Map(distance.terms.map(({ feature, cost }) => [feature, { cost, power: distance.power, lambda }]));
    }
  }
  if (toll !== null) {
    [own, other] = lessForms(own, other, toll.forms, toll.factors);
    require(toll.costly.every((feature) => !charges.has(feature)), 'separable: one feature with costs of two distances');
    for (const [feature, charge] of toll.charges) charges.set(feature, charge);
  }
  const most = maximumOfForms(geometry, cell, own, other, charges);
  return most === null ? null : most.plus(constant);
}
function lessForms(own, other, forms, factors) {
  return [lessDistanceForms(own, forms, factors.map((factor) => factor.negated())), lessDistanceForms(other, forms, factors)];
}
return { separable, empty, formOf, readMultipliers, maximumWithMultipliers };
})();
modules["rules/enumerated.js"] = (() => {
const { ONE, Rational, smaller } = modules["exact/rational.js"];
const { readArrayOf } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { areSimilar } = modules["claim/similarity.js"];
const { isValid } = modules["claim/space.js"];
const { exponentialTerms } = modules["bodies/bodies.js"];
const { decide } = modules["proof/witness-set.js"];
function enumerated(context, cell, json) {
  readArrayOf(json, 'enumerated', 1);
  const { space } = context.claim;
  countPoints(context, cell);
  let clearance = null;
  for (const [x, other] of pointsOf(context, cell)) {
    context.clock.tick();
    if (!areSimilar(context.claim, x, other) || !isValid(space, x) || !isValid(space, other)) continue;
    const own = clearanceOfPoint(context, x, other);
    clearance = clearance === null ? own : smaller(clearance, own);
  }
  return { clearance, line: null };
}
function countPoints(context, cell) {
  let points = 1n;
  context.geometry.variables.forEach(({ role, discrete }, v) => {
    if (role === 'difference') return;
    if (discrete) points *= cell.hi[v].minus(cell.lo[v]).floor() + 1n;
    else require(cell.lo[v].equals(cell.hi[v]), 'enumerated: a continuous variable that is not fixed');
  });
  require(points <= MAXIMUM.pointsOfLeaf, 'enumerated: too many points in one leaf');
  const { body } = context.claim.model;
  const terms = body.irrational ? points * BigInt(exponentialTerms(body) * body.scores) : 0n;
  require(terms <= MAXIMUM.termsOfLeaf, 'enumerated: too many terms in one leaf');
  context.budget.points += points;
  require(context.budget.points <= MAXIMUM.pointsOfCertificate, 'enumerated: too many points in the certificate');
}
function* pointsOf({ geometry }, cell) {
  const codes = geometry.variables.flatMap(({ role }, v) => (role === 'code' ? [v] : []));
  const values = cell.lo.slice();
  for (;;) {
    yield [geometry.first.map((v) => values[v]), geometry.second.map((v) => values[v])];
    let last = codes.length - 1;
    while (last >= 0 && values[codes[last]].equals(cell.hi[codes[last]])) {
      values[codes[last]] = cell.lo[codes[last]];
      last -= 1;
    }
    if (last < 0) return;
    values[codes[last]] = values[codes[last]].plus(ONE);
  }
}
function clearanceOfPoint(context, x, other) {
  const { body } = context.claim.model;
  const own = context.case;
  const equal = x.every((code, k) => code.equals(other[k]));
  if (body.irrational || !('evaluate' in body)) {
    if (equal && !own.equalMayBreak) return context.noClearance;
    require(!decide(body, x, other, own.isWitness), 'enumerated: a pair of the cell breaks the property');
    return context.noClearance;
  }
  const broken = (!equal || own.equalMayBreak) && decide(body, x, other, own.isWitness);
  require(!broken, 'enumerated: a pair of the cell breaks the property');
  return context.claim.hasClearance ? own.clearance(body.evaluate(x), body.evaluate(other), [x, other]) : context.noClearance;
}
return { enumerated };
})();
modules["rules/identical.js"] = (() => {
const { readArrayOf } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
function identical({ claim, geometry }, cell, json) {
  readArrayOf(json, 'identical', 1);
  if (claim.property.rate === null) return reject('identical: the property is not "lipschitz"');
  const { first, second, difference } = geometry;
  geometry.similarity.forEach(({ kind }, k) => {
    if (kind === 'same') return;
    const d = difference[k];
    const isZero = d >= 0 && cell.lo[d].isZero() && cell.hi[d].isZero();
    const isOneCode = geometry.isFixed(k, cell) && cell.lo[first[k]].equals(cell.lo[second[k]]);
    require(isZero || isOneCode, `identical: feature ${k} may differ in the cell`);
  });
  return { clearance: claim.property.delta.half(), line: null };
}
return { identical };
})();
modules["rules/paired.js"] = (() => {
const { largest, Rational, smallest, larger, smaller } = modules["exact/rational.js"];
function spanOf(lo, hi) {
  return { middle: lo.plus(hi).half(), width: hi.minus(lo).half() };
}
function pairedSpans(geometry, cell, k) {
  const [i, j, difference] = [geometry.first[k], geometry.second[k], geometry.difference[k]];
  const [lo, hi, otherLo, otherHi] = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
  let p = otherLo.minus(hi);
  let q = otherHi.minus(lo);
  if (difference >= 0) {
    p = larger(p, cell.lo[difference]);
    q = smaller(q, cell.hi[difference]);
  }
  if (q.less(p)) return null;
  const [halfP, halfQ] = [p.half(), q.half()];
  const from = largest([lo.plus(otherLo).half(), lo.plus(halfP), otherLo.minus(halfQ)]);
  const to = smallest([hi.plus(otherHi).half(), hi.plus(halfQ), otherHi.minus(halfP)]);
  return { u: spanOf(from, to), d: spanOf(halfP, halfQ) };
}
return { spanOf, pairedSpans };
})();
modules["rules/kernel-axes.js"] = (() => {
const { larger, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { reject } = modules["rejection.js"];
const { related } = modules["claim/similarity.js"];
const { positionOf } = modules["claim/space.js"];
const { EXPONENT_BITS, towardsZero } = modules["rules/fixed-point.js"];
const { pairedSpans, spanOf } = modules["rules/paired.js"];
const MOST_VALUES = 1024;
class KernelAxes {
  constructor(terms) {
    this.numeric = [];
    this.oneHot = [];
    this.exponents = [Array.from({ length: terms }, () => 0n), Array.from({ length: terms }, () => 0n)];
    this.roundings = 0;
    this.hints = 0;
    this.twoCopies = false;
    this.holdsNoPair = false;
  }
  addExponents(copy, amountOf) {
    const exponents = this.exponents[copy];
    this.roundings += 1;
    for (let t = 0; t < exponents.length; t++) exponents[t] += amountOf(t).floor(EXPONENT_BITS);
  }
}
function kernelAxes(geometry, cell, features, gamma, terms) {
  const axes = new KernelAxes(terms);
  const place = { geometry, cell, gamma, axes };
  features.forEach((feature, k) => {
    if (geometry.similarity[k].kind === 'same') addSame(place, feature, k);
  });
  features.forEach((feature, k) => {
    if (geometry.similarity[k].kind === 'same') return;
    if (geometry.isFixed(k, cell)) addFixed(place, feature, k);
    else addPaired(place, feature, k);
  });
  return axes;
}
function addSame(place, feature, k) {
  const { geometry, cell, gamma, axes } = place;
  const v = geometry.first[k];
  const fixed = cell.lo[v].equals(cell.hi[v]);
  if (feature.sort === 'one-hot') addOneHot(place, feature, v);
  else if (feature.grouping !== null && !fixed) addGrouped(place, feature, feature.grouping, v);
  else if (feature.sort === 'numeric' && !fixed) addNumeric(place, feature, k, v);
  else if (fixed) {
    const distances = feature.distances(cell.lo[v]);
    for (const copy of /** @type {const} */ ([0, 1])) axes.addExponents(copy, (t) => gamma.times(distances[t]).negated());
  } else reject('kernel: a feature that is neither numeric nor one-hot, and not fixed in the cell');
}
function addNumeric({ geometry, cell, gamma, axes }, feature, k, v) {
  const hint = axes.hints;
  axes.hints += 1;
  const { levels, discrete } = geometry.space.features[k];
  let taus = null;
  if (levels !== null) taus = (feature.table ?? levels.map(() => ZERO)).slice(positionOf(cell.lo[v]), positionOf(cell.hi[v]) + 1);
  const { middle, width } = taus === null ? spanOf(cell.lo[v], cell.hi[v]) : spanOf(taus.reduce(smaller), taus.reduce(larger));
  const { A, B, C } = feature;
  const atMiddle = A.times(middle.squared());
  for (const copy of /** @type {const} */ ([0, 1])) {
    axes.addExponents(copy, (t) => gamma.times(atMiddle.minus(B[t].times(middle).scaled(1)).plus(C[t])).negated());
  }
  if (width.isZero() || A.isZero()) return;
  if (taus === null && discrete && width.scaled(1).floor() < BigInt(MOST_VALUES)) {
    taus = Array.from({ length: Number(width.scaled(1).floor()) + 1 }, (_, i) => cell.lo[v].plus(Rational.of(i)));
  }
  const few = taus !== null && taus.length <= MOST_VALUES;
  const values = few ? /** @type {Rational[]} */ (taus).map((tau) => tau.minus(middle).over(width)) : null;
  const factor = gamma.times(width).scaled(1).negated();
  const loads = B.map((b) => factor.times(A.times(middle).minus(b)));
  axes.numeric.push({ square: A.times(width.squared()), hint, values, product: null, loads: [loads, loads] });
}
function addOneHot({ cell, gamma, axes }, feature, v) {
  const [first, last] = [positionOf(cell.lo[v]), positionOf(cell.hi[v])];
  const zeta = gamma.times(feature.distance);
  const active = last > first;
  const isInside = (/** @type {number} */ t) => first <= feature.own[t] && feature.own[t] <= last;
  for (const copy of /** @type {const} */ ([0, 1])) {
    axes.addExponents(copy, (t) => (!isInside(t) ? zeta.negated() : active ? zeta.half().negated() : ZERO));
  }
  if (!active) return;
  axes.oneHot.push({
    zeta: 2n * towardsZero(zeta.half()),
    positions: Array.from({ length: last - first + 1 }, (_, i) => first + i),
    own: feature.own.map((own, t) => (isInside(t) ? own - first : -1)),
    squares: Array.from({ length: last - first + 1 }, () => ZERO),
  });
}
function addGrouped({ cell, gamma, axes }, feature, { groupOf, ground, beta, own, distance }, v) {
  const inside = new Set(groupOf.slice(positionOf(cell.lo[v]), positionOf(cell.hi[v]) + 1));
  const groups = [...inside].sort((a, b) => a - b);
  const active = groups.length > 1;
  const atOne = feature.distances(cell.lo[v]);
  const half = distance.half();
  const raised = ground !== null && !inside.has(ground) ? half : ZERO;
  const exponentOf = (/** @type {number} */ t) => {
    if (!active) return atOne[t];
    return beta[t].plus(raised).minus(inside.has(own[t]) ? half : ZERO);
  };
  for (const copy of /** @type {const} */ ([0, 1])) axes.addExponents(copy, (t) => gamma.times(exponentOf(t)).negated());
  if (!active) return;
  axes.oneHot.push({
    zeta: 2n * towardsZero(gamma.times(half)),
    positions: groups,
    own: own.map((group) => groups.indexOf(group)),
    squares: groups.map((group) => (ground === null || !inside.has(ground) || group === ground ? ZERO : half)),
  });
}
function addFixed({ geometry, cell, gamma, axes }, feature, k) {
  const [code, other] = [cell.lo[geometry.first[k]], cell.lo[geometry.second[k]]];
  if (!related(geometry.space.features[k], geometry.similarity[k], code, other)) axes.holdsNoPair = true;
  const v = geometry.difference[k];
  if (v >= 0) {
    const difference = other.minus(code);
    if (difference.less(cell.lo[v]) || cell.hi[v].less(difference)) axes.holdsNoPair = true;
  }
  [code, other].forEach((own, copy) => {
    const distances = feature.distances(own);
    axes.addExponents(/** @type {0 | 1} */ (copy), (t) => gamma.times(distances[t]).negated());
  });
}
function addPaired({ geometry, cell, gamma, axes }, feature, k) {
  if (geometry.space.features[k].levels !== null) reject('kernel: a levels kind that may differ and is not fixed in the cell');
  axes.twoCopies = true;
  const hint = axes.hints;
  axes.hints += 3;
  const spans = pairedSpans(geometry, cell, k);
  if (spans === null) {
    axes.holdsNoPair = true;
    return;
  }
  const { u, d } = spans;
  const { A, B, C } = feature;
  const centres = [u.middle.minus(d.middle), u.middle.plus(d.middle)];
  centres.forEach((x, copy) => {
    const square = A.times(x.squared());
    axes.addExponents(/** @type {0 | 1} */ (copy), (t) => gamma.times(square.minus(B[t].times(x).scaled(1)).plus(C[t])).negated());
  });
  if (A.isZero()) return;
  const twice = gamma.scaled(1);
  const slopes = centres.map((x) => B.map((b) => twice.times(A.times(x).minus(b))));
  const scaled = (/** @type {Rational[]} */ values, /** @type {Rational} */ factor) => values.map((value) => value.times(factor));
  const uAxis = axes.numeric.length;
  if (u.width.sign() > 0) {
    const loads = /** @type {[Rational[], Rational[]]} */ (slopes.map((own) => scaled(own, u.width.negated())));
    axes.numeric.push({ square: A.times(u.width.squared()), hint, values: null, product: null, loads });
  }
  const dAxis = axes.numeric.length;
  if (d.width.sign() > 0) {
    const loads = [scaled(slopes[0], d.width), scaled(slopes[1], d.width.negated())];
    axes.numeric.push({ square: A.times(d.width.squared()), hint: hint + 1, values: null, product: null, loads });
  }
  if (u.width.sign() > 0 && d.width.sign() > 0) {
    const load = twice.times(A).times(u.width).times(d.width);
    const loads = [B.map(() => load), B.map(() => load.negated())];
    axes.numeric.push({ square: ZERO, hint: hint + 2, values: null, product: [uAxis, dAxis], loads });
  }
}
return { KernelAxes, kernelAxes };
})();
modules["rules/kernel-cubics.js"] = (() => {
const { add, exactly, expOf, interval, multiply, subtract } = modules["exact/interval.js"];
const { ONE, Rational } = modules["exact/rational.js"];
const { FIXED_BITS } = modules["rules/fixed-point.js"];
const WORK_BITS = FIXED_BITS + 160;
const known = new Map();
function cubicsFor(h1024) {
  const before = known.get(h1024);
  if (before !== undefined) return before;
  const made = h1024 === 0n ? cubicsAtZero() : makeCubics(Rational.dyadic(h1024, -10));
  if (known.size > 4096) known.clear();
  known.set(h1024, made);
  return made;
}
function cubicsAtZero() {
  const series = [1n, 1n, 2n, 6n].map((n) => Rational.fraction(1n, n).floor(FIXED_BITS));
  return { upper: series, lower: series, middle: [0n, ...series.slice(1)], slack: 0n, size: 1n, powers: 1n };
}
function makeCubics(h) {
  const whole = h.ceil();
  const { slack, middle } = chebyshev(h);
  return {
    upper: upperCubic(h).map(nearest),
    lower: lowerCubic(h).map(nearest),
    middle: middle.map(nearest),
    slack: slack.hi.ceil(FIXED_BITS),
    size: expOf(h, WORK_BITS).hi.ceil(),
    powers: 1n + 2n * whole + 4n * whole ** 2n + 8n * whole ** 3n,
  };
}
function nearest({ lo }) {
  return (lo.floor(FIXED_BITS + 1) + 1n) >> 1n;
}
function hyperbolic(h) {
  const up = expOf(h, WORK_BITS);
  const down = expOf(h.negated(), WORK_BITS);
  const half = Rational.dyadic(1n, -1);
  return { cosh: multiply(add(up, down), half), sinh: multiply(subtract(up, down), half) };
}
function upperCubic(h) {
  const { cosh, sinh } = hyperbolic(h);
  const inverse = ONE.over(h);
  return [
    exactly(ONE),
    exactly(ONE),
    multiply(subtract(cosh, exactly(ONE)), inverse.squared()),
    multiply(subtract(sinh, exactly(h)), inverse.squared().times(inverse)),
  ];
}
function lowerCubic(h) {
  const a = h.half();
  const { cosh, sinh } = hyperbolic(a);
  const inverse = ONE.over(a);
  const half = inverse.half();
  return [
    subtract(cosh, multiply(sinh, a.half())),
    multiply(subtract(multiply(sinh, Rational.of(3)), multiply(cosh, a)), half),
    multiply(sinh, half),
    multiply(subtract(multiply(cosh, a), sinh), half.times(inverse.squared())),
  ];
}
function chebyshev(h) {
  const [i0, i1, i2] = [0, 1, 2].map((order) => besselOf(order, h));
  const inverse = ONE.over(h);
  const two = Rational.of(2);
  const middle = [
    exactly(Rational.of(0)),
    subtract(i0, multiply(i2, two)),
    multiply(i1, inverse),
    multiply(i2, Rational.fraction(4n, 3n).times(inverse.squared())),
  ];
  const series = add(i0, multiply(add(i1, i2), two));
  return { middle, slack: subtract(expOf(h, WORK_BITS), series) };
}
function besselOf(order, h) {
  const quarter = h.half().squared();
  let term = Rational.of(1);
  for (let n = 1; n <= order; n++) term = term.times(h.half()).over(Rational.of(n));
  let low = term.floor(WORK_BITS);
  let high = term.ceil(WORK_BITS);
  let [lo, hi] = [0n, 0n];
  for (let k = 1n; ; k += 1n) {
    lo += low;
    hi += high;
    const ratio = quarter.over(Rational.of(k * (k + BigInt(order))));
    if (ratio.scaled(1).atMost(ONE) && high <= 1n) return interval(Rational.dyadic(lo, -WORK_BITS), Rational.dyadic(hi + high, -WORK_BITS));
    low = Rational.of(low).times(ratio).floor();
    high = Rational.of(high).times(ratio).ceil();
  }
}
return { cubicsFor };
})();
modules["rules/kernel-expansion.js"] = (() => {
const { Rational } = modules["exact/rational.js"];
const { require } = modules["rejection.js"];
const { absolute, FIXED_SHIFT, fixedProduct, towardsZero, wholeAbove } = modules["rules/fixed-point.js"];
const { KernelAxes } = modules["rules/kernel-axes.js"];
const { cubicsFor } = modules["rules/kernel-cubics.js"];
const LARGEST_H = 64n * 1024n;
class Expansions {
  constructor(axes, firstFactors, secondFactors) {
    this.axes = axes;
    this.axisCount = BigInt(axes.numeric.length + axes.oneHot.length);
    this.terms = [];
    this.error = 0n;
    this.constant = 0n;
    firstFactors.forEach((factor, t) => {
      if (axes.twoCopies) this.addTwoCopies(t, factor, secondFactors[t]);
      else this.addOneCopy(t, factor, secondFactors[t]);
    });
  }
  factor(t, copy, weight) {
    return fixedProduct(weight, this.axes.exponents[copy][t], this.axes.roundings);
  }
  expansion(t, copy, { value, error }) {
    const loads = this.axes.numeric.map((axis) => towardsZero(axis.loads[copy][t]));
    const own = this.axes.oneHot.map((axis) => axis.own[t]);
    const shift = -this.axes.oneHot.reduce((total, axis) => total + (axis.own[t] < 0 ? 0n : axis.zeta / 2n), 0n);
    const moves = this.axes.numeric.some((axis) => !axis.loads[copy][t].isZero()) || own.some((place) => place >= 0);
    const inexact = moves ? this.axisCount : 0n;
    const size = loads.reduce((total, load) => total + absolute(load), absolute(shift)) + inexact;
    const h1024 = -((-size * 1024n) >> FIXED_SHIFT);
    require(h1024 <= LARGEST_H, 'kernel: an exponent that moves by more than 64');
    const { size: exponential } = cubicsFor(h1024);
    this.error += error * exponential + wholeAbove(value) * this.axisCount * exponential;
    return { factor: value, error, loads, own, shift, h1024 };
  }
  addOneCopy(t, first, second) {
    const plus = this.factor(t, 0, first);
    const minus = this.factor(t, 1, second);
    const expansion = this.expansion(t, 0, { value: plus.value - minus.value, error: plus.error + minus.error });
    this.addCubic(expansion, expansion.factor, 0n, 0n);
  }
  addTwoCopies(t, firstFactor, secondFactor) {
    const first = this.expansion(t, 0, this.factor(t, 0, firstFactor));
    const second = this.expansion(t, 1, this.factor(t, 1, secondFactor));
    const h1024 = first.h1024 > second.h1024 ? first.h1024 : second.h1024;
    const gap = first.loads.reduce((total, load, f) => total + absolute(load - second.loads[f]), 0n);
    const near = 2n * gap * 1024n <= h1024 << FIXED_SHIFT;
    const shared = near ? commonPart(first.factor, second.factor) : 0n;
    const { slack } = cubicsFor(h1024);
    this.constant += ((absolute(shared) * slack * gap) >> (2n * FIXED_SHIFT)) + 1n;
    this.addCubic(first, first.factor - shared, shared, h1024);
    this.addCubic(second, shared - second.factor, -shared, h1024);
  }
  addCubic({ loads, own, shift, h1024 }, factor, shared, sharedH1024) {
    const { upper, lower, powers } = cubicsFor(h1024);
    const oneSided = factor > 0n ? upper : lower;
    const { middle, powers: sharedPowers } = cubicsFor(sharedH1024);
    const cubic = oneSided.map((coefficient, j) => (factor * coefficient + shared * middle[j]) >> FIXED_SHIFT);
    const most = powers > sharedPowers ? powers : sharedPowers;
    this.error += (wholeAbove(factor) + wholeAbove(shared) + 2n) * most;
    this.terms.push({ q: shifted(cubic, shift), loads, own });
  }
}
function commonPart(a, b) {
  if (a > 0n !== b > 0n || a === 0n || b === 0n) return 0n;
  return absolute(a) < absolute(b) ? a : b;
}
function shifted([c0, c1, c2, c3], k) {
  const s = FIXED_SHIFT;
  return [
    c0 + ((((c1 << (2n * s)) + (c2 * k << s) + c3 * k * k) * k) >> (3n * s)),
    c1 + (((2n * c2 << s) + 3n * c3 * k) * k >> (2n * s)),
    c2 + ((3n * c3 * k) >> s),
    c3,
  ];
}
return { Expansions };
})();
modules["rules/kernel-amounts.js"] = (() => {
const { floorDivide } = modules["exact/rational.js"];
const { absolute, FIXED_SHIFT } = modules["rules/fixed-point.js"];
const { KernelAxes } = modules["rules/kernel-axes.js"];
class KernelAmounts {
  constructor(axes, terms, tick) {
    this.axes = axes;
    this.terms = terms;
    this.tick = tick;
    this.roundings = 0n;
    const numeric = axes.numeric.length;
    this.constant = terms.reduce((total, { q }) => total + q[0], 0n);
    this.n1 = zeros(numeric);
    this.n2 = zeros(numeric);
    this.n3 = zeros(numeric);
    this.tables = axes.oneHot.map(({ positions }) => zeros(positions.length));
    this.takenLater = axes.oneHot.map(({ positions }) => zeros(positions.length));
    this.products = new Map();
    this.first = axes.oneHot.map(({ positions }) => axes.numeric.map(() => zeros(positions.length)));
    this.second = axes.oneHot.map(({ positions }) => axes.numeric.map(() => zeros(positions.length)));
    this.pairs = axes.oneHot.map((a, i) =>
      axes.oneHot.map((b, j) => (i < j ? a.positions.map(() => zeros(b.positions.length)) : [])),
    );
    this.addNumericProducts();
    this.addOneHotProducts();
    this.addMixedProducts();
  }
  rounded(amount, scale) {
    if (amount === 0n) return 0n;
    this.roundings += 1n;
    return amount >> (FIXED_SHIFT * (scale - 1n));
  }
  addNumericProducts() {
    const count = this.axes.numeric.length;
    for (let f = 0; f < count; f++) {
      this.tick();
      let [one, two, three] = [0n, 0n, 0n];
      for (const { q, loads } of this.terms) {
        const load = loads[f];
        if (load === 0n) continue;
        one += q[1] * load;
        const square = load * load;
        two += q[2] * square;
        three += q[3] * square * load;
      }
      this.n1[f] += this.rounded(one, 2n);
      this.n2[f] += this.rounded(two, 3n);
      this.n3[f] += this.rounded(three, 4n);
    }
    for (let f = 0; f < count; f++) for (let l = f + 1; l < count; l++) this.addPairOfNumeric(f, l);
  }
  addPairOfNumeric(f, l) {
    this.tick();
    const count = this.axes.numeric.length;
    let [product, ffl, fll] = [0n, 0n, 0n];
    const triples = zeros(count);
    for (const { q, loads } of this.terms) {
      const both = loads[f] * loads[l];
      if (both === 0n) continue;
      product += q[2] * both;
      const cubic = q[3] * both;
      ffl += cubic * loads[f];
      fll += cubic * loads[l];
      for (let o = l + 1; o < count; o++) triples[o] += cubic * loads[o];
    }
    this.addProduct(f, l, this.rounded(2n * product, 3n));
    this.addSquareTimes(l, this.rounded(3n * ffl, 4n));
    this.addSquareTimes(f, this.rounded(3n * fll, 4n));
    for (let o = l + 1; o < count; o++) {
      const third = absolute(this.rounded(6n * triples[o], 4n)) / 3n + 1n;
      for (const axis of [f, l, o]) this.n2[axis] += third;
    }
  }
  addSquareTimes(l, amount) {
    this.n1[l] += amount >> 1n;
    this.constant += (absolute(amount) >> 1n) + 2n;
  }
  addProduct(f, l, amount) {
    const [low, high] = f < l ? [f, l] : [l, f];
    const key = low * this.axes.numeric.length + high;
    this.products.set(key, (this.products.get(key) ?? 0n) + amount);
  }
  addOneHotProducts() {
    const { oneHot } = this.axes;
    oneHot.forEach(({ zeta }, i) => {
      this.tick();
      const sums = this.sumsOver([i], ({ q }) => (q[1] << (2n * FIXED_SHIFT)) + (q[2] * zeta << FIXED_SHIFT) + q[3] * zeta * zeta);
      sums.forEach((sum, v) => (this.tables[i][v] += this.rounded(sum * zeta, 4n)));
    });
    for (let i = 0; i < oneHot.length; i++) {
      for (let j = i + 1; j < oneHot.length; j++) {
        this.tick();
        const [a, b] = [oneHot[i].zeta, oneHot[j].zeta];
        const width = oneHot[j].positions.length;
        const sums = this.sumsOver([i, j], ({ q }) => (2n * q[2] << FIXED_SHIFT) + 3n * q[3] * (a + b));
        sums.forEach((sum, at) => (this.pairs[i][j][Math.floor(at / width)][at % width] += this.rounded(sum * a * b, 4n)));
        for (let k = j + 1; k < oneHot.length; k++) this.addTriple(i, j, k);
      }
    }
  }
  sumsOver(axes, amountOf) {
    const sizes = axes.map((i) => this.axes.oneHot[i].positions.length);
    const sums = zeros(sizes.reduce((product, size) => product * size, 1));
    for (const term of this.terms) {
      let at = 0;
      for (let n = 0; n < axes.length && at >= 0; n++) {
        const own = term.own[axes[n]];
        at = own < 0 ? -1 : at * sizes[n] + own;
      }
      if (at >= 0) sums[at] += amountOf(term);
    }
    return sums;
  }
  addTriple(i, j, k) {
    this.tick();
    const { oneHot } = this.axes;
    const factor = 6n * oneHot[i].zeta * oneHot[j].zeta * oneHot[k].zeta;
    const [nv, nu, nw] = [i, j, k].map((axis) => oneHot[axis].positions.length);
    const g = this.sumsOver([i, j, k], ({ q }) => q[3]).map((sum) => this.rounded(sum * factor, 4n));
    const at = (/** @type {number} */ v, /** @type {number} */ u, /** @type {number} */ w) => (v * nu + u) * nw + w;
    for (let u = 0; u < nu; u++) {
      for (let w = 0; w < nw; w++) {
        const mean = meanOf(range(nv).map((v) => g[at(v, u, w)]));
        this.pairs[j][k][u][w] += mean;
        for (let v = 0; v < nv; v++) g[at(v, u, w)] -= mean;
      }
    }
    for (let v = 0; v < nv; v++) {
      for (let w = 0; w < nw; w++) {
        const mean = meanOf(range(nu).map((u) => g[at(v, u, w)]));
        this.pairs[i][k][v][w] += mean;
        for (let u = 0; u < nu; u++) g[at(v, u, w)] -= mean;
      }
      for (let u = 0; u < nu; u++) this.pairs[i][j][v][u] += largestOf(range(nw).map((w) => g[at(v, u, w)]));
    }
  }
  addMixedProducts() {
    const { numeric, oneHot } = this.axes;
    oneHot.forEach(({ zeta }, i) => {
      numeric.forEach((_, f) => {
        this.tick();
        const one = this.sumsOver([i], ({ q, loads }) => loads[f] * ((2n * q[2] << FIXED_SHIFT) + 3n * q[3] * zeta));
        one.forEach((sum, v) => (this.first[i][f][v] += this.rounded(sum * zeta, 4n)));
        const two = this.sumsOver([i], ({ q, loads }) => q[3] * loads[f] * loads[f]);
        two.forEach((sum, v) => (this.second[i][f][v] += this.rounded(3n * sum * zeta, 4n)));
        for (let l = f + 1; l < numeric.length; l++) this.addNumericPairOnOneHot(f, l, i);
        for (let j = i + 1; j < oneHot.length; j++) this.addNumericOnTwoOneHot(f, i, j);
      });
    });
  }
  addNumericPairOnOneHot(f, l, i) {
    const factor = 6n * this.axes.oneHot[i].zeta;
    const g = this.sumsOver([i], ({ q, loads }) => q[3] * loads[f] * loads[l]).map((sum) => this.rounded(sum * factor, 4n));
    const mean = meanOf(g);
    this.addProduct(f, l, mean);
    g.forEach((amount, v) => (this.tables[i][v] += absolute(amount - mean)));
  }
  addNumericOnTwoOneHot(f, i, j) {
    const { oneHot } = this.axes;
    const factor = 6n * oneHot[i].zeta * oneHot[j].zeta;
    const [nv, nu] = [oneHot[i].positions.length, oneHot[j].positions.length];
    const g = this.sumsOver([i, j], ({ q, loads }) => q[3] * loads[f]).map((sum) => this.rounded(sum * factor, 4n));
    for (let v = 0; v < nv; v++) {
      const mean = meanOf(g.slice(v * nu, (v + 1) * nu));
      this.first[i][f][v] += mean;
      for (let u = 0; u < nu; u++) g[v * nu + u] -= mean;
    }
    for (let u = 0; u < nu; u++) {
      const mean = meanOf(range(nv).map((v) => g[v * nu + u]));
      this.first[j][f][u] += mean;
      for (let v = 0; v < nv; v++) this.pairs[i][j][v][u] += absolute(g[v * nu + u] - mean);
    }
  }
}
function zeros(count) {
  return Array.from({ length: count }, () => 0n);
}
function range(count) {
  return Array.from({ length: count }, (_, i) => i);
}
function largestOf(values) {
  return values.reduce((a, b) => (a > b ? a : b));
}
function meanOf(values) {
  return floorDivide(values.reduce((a, b) => a + b, 0n), BigInt(values.length));
}
return { KernelAmounts, largestOf, meanOf };
})();
modules["rules/kernel-majorant.js"] = (() => {
const { polynomialMaximum } = modules["exact/polynomial-maximum.js"];
const { polynomialValue } = modules["bodies/columns.js"];
const { ONE, Rational, ZERO } = modules["exact/rational.js"];
const { absolute } = modules["rules/fixed-point.js"];
const { KernelAmounts, largestOf, meanOf } = modules["rules/kernel-amounts.js"];
function kernelMaximum(amounts, hints) {
  closeMixed(amounts);
  closePairs(amounts);
  closeProducts(amounts, hints);
  const tables = amounts.tables.reduce((total, table, i) => total + largestOf(table.map((amount, v) => amount - amounts.takenLater[i][v])), 0n);
  const numeric = amounts.axes.numeric.reduce((total, _, f) => total + maximumOnAxis(amounts, f), 0n);
  return amounts.constant + tables + numeric + amounts.roundings;
}
function closeMixed({ axes, first, second, tables, n1, n2 }) {
  axes.oneHot.forEach((_, i) => {
    axes.numeric.forEach((__, f) => {
      const [one, two] = [first[i][f], second[i][f]];
      const [meanOne, meanTwo] = [meanOf(one), meanOf(two)];
      n1[f] += meanOne;
      n2[f] += meanTwo;
      one.forEach((amount, v) => (tables[i][v] += quadraticMaximum(amount - meanOne, two[v] - meanTwo)));
    });
  });
}
function closePairs({ tables, pairs }) {
  for (let i = 0; i < tables.length; i++) {
    for (let j = i + 1; j < tables.length; j++) {
      const sums = tables[i].map((a, v) => tables[j].map((b, u) => pairs[i][j][v][u] + a + b));
      tables[i] = sums.map((row) => halfUp(largestOf(row)));
      tables[j] = tables[j].map((_, u) => halfUp(largestOf(sums.map((row) => row[u]))));
    }
  }
}
function closeProducts(amounts, hints) {
  const { numeric } = amounts.axes;
  const { n1, n2 } = amounts;
  numeric.forEach(({ product }, p) => {
    if (product === null) return;
    amounts.addProduct(product[0], product[1], n1[p]);
    n1[p] = 0n;
  });
  for (const [key, amount] of amounts.products) {
    const [f, l] = [Math.floor(key / numeric.length), key % numeric.length];
    const size = absolute(amount);
    const sigma = amount >= 0n ? 1n : -1n;
    const tau64 = hints[numeric[f].hint] - sigma * hints[numeric[l].hint];
    n2[f] += halfUp(size);
    n2[l] += halfUp(size);
    n1[f] -= (size * tau64) >> 6n;
    n1[l] += sigma * ((size * tau64) >> 6n);
    amounts.constant += ((size * tau64 * tau64) >> 13n) + 3n;
  }
}
function maximumOnAxis({ axes, n1, n2, n3 }, f) {
  const cubic = [ZERO, Rational.of(n1[f]), Rational.of(n2[f]), Rational.of(n3[f])];
  const { values } = axes.numeric[f];
  if (values === null) return polynomialMaximum(cubic, ONE.negated(), ONE).ceil();
  return largestOf(values.map((y) => polynomialValue(cubic, y).ceil()));
}
function halfUp(value) {
  return -(-value >> 1n);
}
function quadraticMaximum(a, b) {
  const size = absolute(a);
  if (b < 0n && size <= -2n * b) return (size * size) / (-4n * b) + 1n;
  return size + b;
}
return { kernelMaximum };
})();
modules["rules/kernel.js"] = (() => {
const { RbfBody } = modules["bodies/rbf.js"];
const { expOf } = modules["exact/interval.js"];
const { largest, ONE, Rational, sum } = modules["exact/rational.js"];
const { readArrayOf, readInt } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { FIXED_BITS } = modules["rules/fixed-point.js"];
const { kernelAxes, KernelAxes } = modules["rules/kernel-axes.js"];
const { Expansions } = modules["rules/kernel-expansion.js"];
const { kernelFeatures } = modules["rules/kernel-features.js"];
const { KernelAmounts } = modules["rules/kernel-amounts.js"];
const { kernelMaximum } = modules["rules/kernel-majorant.js"];
const LARGEST_HINT = 64n;
const LARGEST_R = 1n << 20n;
const LARGEST_EXPONENT = Rational.of(1025);
function kernel(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'rbf') return reject('kernel: not for this body');
  readArrayOf(json, 'kernel', 4);
  const line = context.readLine(json[1]);
  const features = context.derive(body, () => kernelFeatures(body, context.claim.space));
  const axes = kernelAxes(context.geometry, cell, features, body.gamma, body.terms.length);
  const hints = readArrayOf(json[2], 'hints', axes.hints).map((hint) => readInt(hint, 'hint', -LARGEST_HINT, LARGEST_HINT));
  const r = readInt(json[3], 'r', 0n, LARGEST_R);
  if (axes.holdsNoPair) return { clearance: null, line: null };
  const { first, second } = context.derive(line, () => ({ first: scoreBody(body, line.first), second: scoreBody(body, line.second) }));
  const kappa = line.a.times(first.bias[0]).minus(line.b.times(second.bias[0]));
  const expansions = new Expansions(axes, factorsOf(first, line.a), factorsOf(second, line.b));
  const amounts = new KernelAmounts(axes, expansions.terms, () => context.clock.tick());
  subtractPsi(amounts, axes, line.target.minus(kappa), body.gamma, r);
  const bound = kernelMaximum(amounts, hints) + expansions.constant + expansions.error;
  require(bound < 0n, 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
function factorsOf(body, weight) {
  return body.terms.map(({ coefficients }) => coefficients[0].times(weight));
}
function subtractPsi(amounts, axes, U, gamma, r) {
  const { constant, slope } = U.sign() >= 0 ? tangent(U, gamma, r) : secant(U, gamma, largestSquares(axes));
  amounts.constant -= constant.floor(FIXED_BITS);
  axes.numeric.forEach(({ square }, f) => {
    amounts.n2[f] -= slope.times(square).floor(FIXED_BITS);
  });
  amounts.takenLater = axes.oneHot.map(({ squares }) => squares.map((nu) => slope.times(nu).floor(FIXED_BITS)));
}
function largestSquares({ numeric, oneHot }) {
  return sum([...numeric.map(({ square }) => square), ...oneHot.map(({ squares }) => largest(squares))]);
}
function tangent(U, gamma, r) {
  const exponent = Rational.dyadic(r, -10);
  const scaled = U.times(expOf(exponent, 2 * FIXED_BITS).lo);
  return { constant: scaled.times(ONE.minus(exponent)), slope: scaled.times(gamma) };
}
function secant(U, gamma, squares) {
  if (squares.isZero()) return { constant: U, slope: Rational.of(0) };
  const exponent = gamma.times(squares);
  require(exponent.less(LARGEST_EXPONENT), 'kernel: the squares of the cell are too large');
  const growth = expOf(exponent, 2 * FIXED_BITS).hi.minus(ONE);
  return { constant: U, slope: U.times(growth).over(squares) };
}
return { kernel };
})();
modules["exact/axes-polynomial.js"] = (() => {
const { Rational, ZERO } = modules["exact/rational.js"];
function axisProduct(axis) {
  return String.fromCharCode(axis);
}
function multiplyProducts(a, b) {
  if (a === '') return b;
  if (b === '') return a;
  if (a[a.length - 1] <= b[0]) return a + b;
  return [...(a + b)].sort(byCode).join('');
}
function byCode(a, b) {
  return a.charCodeAt(0) - b.charCodeAt(0);
}
function axesOf(product) {
  return Array.from({ length: product.length }, (_, i) => product.charCodeAt(i));
}
class AxesPolynomial {
  constructor() {
    this.terms = new Map();
  }
  static constant(value) {
    return new AxesPolynomial().addTerm('', value);
  }
  static affine(constant, slopes) {
    const result = AxesPolynomial.constant(constant);
    for (const [axis, slope] of slopes) result.addTerm(axisProduct(axis), slope);
    return result;
  }
  addTerm(product, coefficient) {
    const total = (this.terms.get(product) ?? ZERO).plus(coefficient);
    if (total.isZero()) this.terms.delete(product);
    else this.terms.set(product, total);
    return this;
  }
  addMultiple(other, factor) {
    if (!factor.isZero()) for (const [product, coefficient] of other.terms) this.addTerm(product, coefficient.times(factor));
    return this;
  }
  times(other) {
    const result = new AxesPolynomial();
    for (const [product, coefficient] of this.terms) {
      for (const [otherProduct, otherCoefficient] of other.terms) {
        result.addTerm(multiplyProducts(product, otherProduct), coefficient.times(otherCoefficient));
      }
    }
    return result;
  }
  value(valueOf) {
    let total = ZERO;
    for (const [product, coefficient] of this.terms) {
      total = total.plus(axesOf(product).reduce((value, axis) => value.times(valueOf(axis)), coefficient));
    }
    return total;
  }
}
return { axisProduct, multiplyProducts, axesOf, AxesPolynomial };
})();
modules["rules/cube-pieces.js"] = (() => {
const { AxesPolynomial } = modules["exact/axes-polynomial.js"];
const { larger, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { mergedCuts } = modules["bodies/affine.js"];
const { pieceOf, polynomialValue } = modules["bodies/columns.js"];
const { spanOf } = modules["rules/paired.js"];
const { partsOf } = modules["rules/pieces.js"];
function piecesOn(cube, columns, { lo, hi, discrete }, code, copies) {
  const local = columns.map(({ column, c }) => ({ column, c, parts: partsOf(column.cuts, lo, hi, discrete).map((part) => localPart(column, part)) }));
  const place = (/** @type {number} */ c, /** @type {AxesPolynomial} */ value) => {
    for (const copy of copies) cube.columns[copy][c] = value;
  };
  const havePlaces = local.every(({ parts }) => parts.every((part) => reachOf(part).isZero()));
  const moving = [];
  for (const { column, c, parts } of local) {
    const { middle, width } = rangeOf(parts);
    if (parts.length === 1) place(c, onePart(cube, parts[0], code));
    else if (width.isZero()) place(c, AxesPolynomial.constant(middle));
    else if (havePlaces) moving.push({ column, c, middle, width });
    else place(c, AxesPolynomial.affine(middle, [[cube.addGroup(1, null), width]]));
  }
  if (moving.length === 0) return;
  const places = partsOf(mergedCuts(columns.map(({ column }) => column.cuts)), lo, hi, discrete).map(({ to }) =>
    moving.map(({ column, middle, width }) => polynomialValue(column.pieces[pieceOf(column.cuts, to)], to).minus(middle).over(width)),
  );
  const axis = cube.addGroup(moving.length, places);
  moving.forEach(({ c, middle, width }, n) => place(c, AxesPolynomial.affine(middle, [[axis + n, width]])));
}
function localPart(column, { piece, from, to }) {
  const { middle, width } = spanOf(from, to);
  const coefficients = column.pieces[piece].slice();
  for (let i = 0; i < coefficients.length; i++) {
    for (let j = coefficients.length - 2; j >= i; j--) coefficients[j] = coefficients[j].plus(middle.times(coefficients[j + 1]));
  }
  return { middle, width, coefficients };
}
function sizesOf({ width, coefficients }) {
  let power = ONE;
  return coefficients.map((coefficient) => {
    const size = coefficient.absolute().times(power);
    power = power.times(width);
    return size;
  });
}
function reachOf(part) {
  return sizesOf(part).slice(1).reduce((total, size) => total.plus(size), ZERO);
}
function rangeOf(parts) {
  const ends = parts.map((part) => ({ middle: part.coefficients[0], reach: reachOf(part) }));
  return spanOf(
    ends.map(({ middle, reach }) => middle.minus(reach)).reduce(smaller),
    ends.map(({ middle, reach }) => middle.plus(reach)).reduce(larger),
  );
}
function onePart(cube, part, code) {
  const { middle, coefficients } = part;
  let [v, u] = [ZERO, ZERO];
  sizesOf(part).forEach((size, i) => {
    if (i < 2) return;
    if (i % 2 === 1) {
      u = u.plus(size);
    } else {
      u = u.plus(size.half());
      v = coefficients[i].sign() > 0 ? v.plus(size.half()) : v.minus(size.half());
    }
  });
  const slope = coefficients[1] ?? ZERO;
  const constant = coefficients[0].minus(slope.times(middle)).plus(v);
  const rest = AxesPolynomial.affine(constant, u.isZero() ? [] : [[cube.addGroup(1, null), u]]);
  return rest.addMultiple(code, slope);
}
return { piecesOn };
})();
modules["rules/cube.js"] = (() => {
const { AxesPolynomial } = modules["exact/axes-polynomial.js"];
const { larger, ONE, Rational, smaller } = modules["exact/rational.js"];
const { isNear, related } = modules["claim/similarity.js"];
const { positionOf } = modules["claim/space.js"];
const { piecesOn } = modules["rules/cube-pieces.js"];
const { pairedSpans, spanOf } = modules["rules/paired.js"];
const MOST_PLACES = 1024n;
class Cube {
  constructor() {
    this.axes = 0;
    this.groups = [];
    this.groupOf = [];
    this.columns = [[], []];
    this.codes = [new Map(), new Map()];
  }
  addGroup(count, places) {
    const first = this.axes;
    const axes = Array.from({ length: count }, (_, i) => first + i);
    for (const axis of axes) this.groupOf[axis] = this.groups.length;
    this.groups.push({ axes, places });
    this.axes += count;
    return first;
  }
}
function cubeOf(geometry, cell, columns) {
  const cube = new Cube();
  for (let k = 0; k < geometry.space.features.length; k++) {
    const own = columns.flatMap((column, c) => (column.feature === k ? [{ column, c }] : []));
    const isNumeric = geometry.space.features[k].levels === null;
    const possible = isNumeric ? addNumeric(cube, geometry, cell, k) : addLevels(cube, geometry, cell, k, own);
    if (!possible) return null;
    if (!isNumeric) continue;
    for (const copy of /** @type {const} */ ([0, 1])) {
      const code = /** @type {AxesPolynomial} */ (cube.codes[copy].get(k));
      for (const { column, c } of own) {
        if (column.kind === 'table') throw new Error('a table on a numeric feature');
        if (column.kind === 'linear') cube.columns[copy][c] = AxesPolynomial.constant(column.offset).addMultiple(code, column.slope);
      }
    }
    addPieces(cube, geometry, cell, k, own.flatMap(({ column, c }) => (column.kind === 'pieces' ? [{ column, c }] : [])));
  }
  return cube;
}
function addPieces(cube, { space, similarity, first, second }, cell, k, columns) {
  if (columns.length === 0) return;
  const { discrete } = space.features[k];
  const on = (/** @type {number} */ v, /** @type {(0 | 1)[]} */ copies) => {
    const code = /** @type {AxesPolynomial} */ (cube.codes[copies[0]].get(k));
    piecesOn(cube, columns, { lo: cell.lo[v], hi: cell.hi[v], discrete }, code, copies);
  };
  on(first[k], similarity[k].kind === 'same' ? [0, 1] : [0]);
  if (similarity[k].kind !== 'same') on(second[k], [1]);
}
function addNumeric(cube, geometry, cell, k) {
  const { kind } = geometry.similarity[k];
  if (isNear(geometry.similarity[k])) {
    const spans = pairedSpans(geometry, cell, k);
    if (spans === null) return false;
    const { u, d } = spans;
    const slopes = [];
    if (u.width.sign() > 0) slopes.push([cube.addGroup(1, null), u.width]);
    const uSlopes = slopes.slice();
    if (d.width.sign() > 0) slopes.push([cube.addGroup(1, null), d.width]);
    const dSlopes = slopes.slice(uSlopes.length);
    const middle = AxesPolynomial.affine(u.middle, uSlopes);
    const half = AxesPolynomial.affine(d.middle, dSlopes);
    cube.codes[0].set(k, new AxesPolynomial().addMultiple(middle, ONE).addMultiple(half, ONE.negated()));
    cube.codes[1].set(k, new AxesPolynomial().addMultiple(middle, ONE).addMultiple(half, ONE));
    return true;
  }
  const code = codeOn(cube, geometry, cell, k, geometry.first[k]);
  cube.codes[0].set(k, code);
  cube.codes[1].set(k, kind === 'same' ? code : codeOn(cube, geometry, cell, k, geometry.second[k]));
  return true;
}
function codeOn(cube, geometry, cell, k, v) {
  const { middle, width } = spanOf(cell.lo[v], cell.hi[v]);
  if (width.isZero()) return AxesPolynomial.constant(middle);
  const count = width.scaled(1).floor() + 1n;
  let places = null;
  if (geometry.space.features[k].discrete && count <= MOST_PLACES) {
    places = Array.from({ length: Number(count) }, (_, i) => [cell.lo[v].plus(Rational.of(i)).minus(middle).over(width)]);
  }
  return AxesPolynomial.affine(middle, [[cube.addGroup(1, places), width]]);
}
function addLevels(cube, geometry, cell, k, columns) {
  const relation = geometry.similarity[k];
  const [i, j] = [geometry.first[k], geometry.second[k]];
  if (relation.kind !== 'same' && geometry.isFixed(k, cell)) {
    if (!related(geometry.space.features[k], relation, cell.lo[i], cell.lo[j])) return false;
  }
  columnsOn(cube, cell, i, columns, relation.kind === 'same' ? [0, 1] : [0]);
  if (relation.kind !== 'same') columnsOn(cube, cell, j, columns, [1]);
  return true;
}
function columnsOn(cube, cell, v, columns, copies) {
  const [first, last] = [positionOf(cell.lo[v]), positionOf(cell.hi[v])];
  const moving = [];
  for (const { column, c } of columns) {
    if (column.kind !== 'table') throw new Error('a slope on a levels kind');
    const entries = column.table.slice(first, last + 1);
    const { middle, width } = spanOf(entries.reduce(smaller), entries.reduce(larger));
    if (width.isZero()) for (const copy of copies) cube.columns[copy][c] = AxesPolynomial.constant(middle);
    else moving.push({ c, entries, middle, width });
  }
  if (moving.length === 0) return;
  const places = Array.from({ length: last - first + 1 }, (_, place) =>
    moving.map(({ entries, middle, width }) => entries[place].minus(middle).over(width)),
  );
  const axis = cube.addGroup(moving.length, places);
  moving.forEach(({ c, middle, width }, n) => {
    for (const copy of copies) cube.columns[copy][c] = AxesPolynomial.affine(middle, [[axis + n, width]]);
  });
}
return { Cube, cubeOf };
})();
modules["rules/majorant.js"] = (() => {
const { axesOf, axisProduct, AxesPolynomial } = modules["exact/axes-polynomial.js"];
const { polynomialMaximum } = modules["exact/polynomial-maximum.js"];
const { largest, ONE, Rational, ZERO } = modules["exact/rational.js"];
const { Cube } = modules["rules/cube.js"];
function majorantMaximum(cube, polynomial, hints) {
  const majorant = new Majorant(cube, hints);
  for (const [product, coefficient] of polynomial.terms) majorant.take(product, coefficient);
  return cube.groups.reduce((total, group, g) => total.plus(maximumOfGroup(group, majorant.functions[g])), majorant.constant);
}
class Majorant {
  constructor(cube, hints) {
    this.cube = cube;
    this.hints = hints;
    this.constant = ZERO;
    this.functions = cube.groups.map(() => new AxesPolynomial());
  }
  take(product, coefficient) {
    const axes = axesOf(product);
    if (axes.length === 0) {
      this.constant = this.constant.plus(coefficient);
      return;
    }
    const groups = new Set(axes.map((axis) => this.cube.groupOf[axis]));
    if (groups.size === 1) this.functions[[...groups][0]].addTerm(product, coefficient);
    else if (axes.length === 2) this.takeProductOfTwo(axes[0], axes[1], coefficient);
    else this.takeLongProduct(axes, coefficient);
  }
  add(axis, power, coefficient) {
    this.functions[this.cube.groupOf[axis]].addTerm(axisProduct(axis).repeat(power), coefficient);
  }
  takeProductOfTwo(f, l, coefficient) {
    const size = coefficient.absolute();
    const sigma = coefficient.sign() >= 0 ? ONE : ONE.negated();
    const tau = Rational.of(this.hints[f]).minus(sigma.times(Rational.of(this.hints[l]))).scaled(-6);
    this.add(f, 2, size.half());
    this.add(l, 2, size.half());
    this.add(f, 1, size.times(tau).negated());
    this.add(l, 1, size.times(tau).times(sigma));
    this.constant = this.constant.plus(size.times(tau.squared()).half());
  }
  takeLongProduct(axes, coefficient) {
    const powers = new Map();
    for (const axis of axes) powers.set(axis, (powers.get(axis) ?? 0) + 1);
    const odd = [...powers].filter(([, power]) => power % 2 === 1).map(([axis]) => axis);
    if (odd.length === 1) {
      this.add(odd[0], 1, coefficient.half());
      this.constant = this.constant.plus(coefficient.absolute().half());
      return;
    }
    if (odd.length === 0 && coefficient.sign() < 0) return;
    const shared = odd.length === 0 ? [...powers.keys()] : odd;
    const share = coefficient.absolute().over(Rational.of(shared.length));
    for (const axis of shared) this.add(axis, 2, share);
  }
}
function maximumOfGroup(group, own) {
  if (own.terms.size === 0) return ZERO;
  const { places } = group;
  if (places !== null) return largest(places.map((place) => own.value((axis) => place[axis - group.axes[0]])));
  return maximumOnAxis(own);
}
function maximumOnAxis(own) {
  const cubic = [ZERO, ZERO, ZERO, ZERO];
  for (const [product, coefficient] of own.terms) {
    const power = product.length;
    if (power <= 3) {
      cubic[power] = cubic[power].plus(coefficient);
    } else if (power % 2 === 0) {
      if (coefficient.sign() > 0) cubic[2] = cubic[2].plus(coefficient);
    } else {
      cubic[1] = cubic[1].plus(coefficient.half());
      cubic[0] = cubic[0].plus(coefficient.absolute().half());
    }
  }
  const [constant, ...rest] = cubic;
  return constant.plus(polynomialMaximum([ZERO, ...rest], ONE.negated(), ONE));
}
return { majorantMaximum };
})();
modules["rules/mixed-terms.js"] = (() => {
const { AxesPolynomial, axesOf, axisProduct } = modules["exact/axes-polynomial.js"];
const { ceilShift } = modules["exact/exponential.js"];
const { ONE, Rational } = modules["exact/rational.js"];
const { absolute, FIXED_BITS, FIXED_SHIFT, fixedProduct, towardsZero, wholeAbove } = modules["rules/fixed-point.js"];
const UNIT = 1n << FIXED_SHIFT;
const ROOM = 1n << 64n;
function copyOf({ shape, gamma, sums }, columns, axes) {
  let off = 0n;
  const alpha = [];
  const slopes = sums.map(({ constant, pairs }, j) => {
    alpha[j] = constant.floor(FIXED_BITS);
    off += 2n; // of the constant and of a centre
    const own = new Map();
    for (const { column, factor } of pairs) {
      for (const [product, coefficient] of columns[column].terms) {
        const amount = factor.times(coefficient).floor(FIXED_BITS);
        off += 1n;
        if (product === '') alpha[j] += amount;
        else own.set(axesOf(product)[0], (own.get(axesOf(product)[0]) ?? 0n) + amount);
      }
    }
    return own;
  });
  const reach = slopes.map((own) => [...own.values()].reduce((total, slope) => total + absolute(slope), 0n));
  const { squares, rho } = shape === 'gaussian' ? squaresOf(gamma, slopes, axes) : { squares: [], rho: 0n };
  return { alpha, slopes, reach, off, squares, rho };
}
function squaresOf(gamma, slopes, axes) {
  const exact = Array.from({ length: axes }, () => new Map());
  for (const own of slopes) {
    for (const [i, slope] of own) {
      for (const [l, other] of own) {
        if (l >= i) exact[i].set(l, (exact[i].get(l) ?? 0n) + (l > i ? 2n : 1n) * slope * other);
      }
    }
  }
  let rho = 0n;
  const squares = exact.map(
    (row) =>
      new Map(
        [...row].map(([l, amount]) => {
          const value = gamma.times(Rational.dyadic(amount, -2 * FIXED_BITS)).floor(FIXED_BITS);
          rho += absolute(value) + 1n;
          return [l, value];
        }),
      ),
  );
  return { squares, rho };
}
class TermBounds {
  constructor(shape, gamma, axes, r) {
    this.shape = shape;
    this.gamma = gamma;
    this.axes = axes;
    this.limit = (r << (FIXED_SHIFT - 4n)) + ROOM;
    this.constant = 0n;
    this.error = 0n;
    this.linear = Array.from({ length: axes }, () => 0n);
    this.square = Array.from({ length: axes }, () => new Map());
  }
  add(copy, c, centre) {
    if (c.isZero()) return;
    this.error += c.absolute().times(this.gamma.plus(ONE)).ceil() * copy.off;
    const d = copy.alpha.map((value, j) => value - centre[j]);
    const { lambda, fall, extra, least, most } = this.shape === 'gaussian' ? gaussian(d, copy.reach) : laplacian(d, copy.reach);
    const sums = new Map();
    copy.slopes.forEach((own, j) => {
      for (const [i, slope] of own) sums.set(i, (sums.get(i) ?? 0n) + lambda[j] * slope);
    });
    const load = new Map([...sums].map(([i, total]) => [i, this.times(-total).floor(FIXED_BITS)]));
    const h = [...load.values()].reduce((total, l) => total + absolute(l) + 1n, 0n);
    const { rho } = copy;
    if (c.sign() > 0) {
      if (h > this.limit) return this.addConstant(c, least);
      if (this.shape === 'gaussian') {
        const drop = this.times(fall - least).ceil(FIXED_BITS);
        const g = boundsOfG(drop < h ? drop : h).hi;
        const kappa = UNIT - ceilShift(g * (2n * h + rho), FIXED_SHIFT);
        if (kappa >= -ROOM) return this.addBracket(copy, c, fall, load, g, kappa);
      }
      return this.addBracket(copy, c, fall, load, boundsOfG(h).hi, 0n);
    }
    if (h + rho > this.limit) return this.addConstant(c, most);
    const { lo } = boundsOfG(-(h + rho));
    const g = lo > 0n ? lo : 0n;
    return this.addBracket(copy, c, fall + extra, load, g, UNIT + ceilShift(2n * h * g, FIXED_SHIFT));
  }
  times(amount) {
    return this.gamma.times(Rational.dyadic(amount, -2 * FIXED_BITS));
  }
  exponential(c, distance) {
    return fixedProduct(c, this.times(-distance).floor(2 * FIXED_BITS), 1);
  }
  addConstant(c, distance) {
    const { value, error } = this.exponential(c, distance);
    this.constant += value;
    this.error += error;
  }
  addBracket(copy, c, distance, load, g, kappa) {
    const { value: K, error } = this.exponential(c, distance);
    this.error += 128n * error;
    const loads = [...load];
    const n = BigInt(loads.length);
    const m = copy.squares.reduce((total, row) => total + BigInt(row.size), 0n);
    this.error += wholeAbove(K) * (64n * n + 8n * m) + n + n * n + m + 32n;
    this.constant += K;
    const [ofSquare, ofR] = [(K * g) >> FIXED_SHIFT, (K * kappa) >> FIXED_SHIFT];
    loads.forEach(([i, l], place) => {
      this.linear[i] += (K * l) >> FIXED_SHIFT;
      const own = ofSquare * l;
      for (const [other, load2] of loads.slice(place)) {
        this.addSquare(i, other, ((other === i ? own : 2n * own) * load2) >> (2n * FIXED_SHIFT));
      }
    });
    if (kappa === 0n) return;
    copy.squares.forEach((row, i) => {
      for (const [l, amount] of row) this.addSquare(i, l, -((ofR * amount) >> FIXED_SHIFT));
    });
  }
  addSquare(i, l, amount) {
    const [first, second] = i <= l ? [i, l] : [l, i];
    this.square[first].set(second, (this.square[first].get(second) ?? 0n) + amount);
  }
  polynomial() {
    const exactly = (/** @type {bigint} */ value) => Rational.dyadic(value, -FIXED_BITS);
    const result = AxesPolynomial.affine(exactly(this.constant + this.error), this.linear.map((value, i) => [i, exactly(value)]));
    this.square.forEach((row, i) => {
      for (const [l, value] of row) result.addTerm(axisProduct(i) + axisProduct(l), exactly(value));
    });
    return result;
  }
}
function gaussian(d, reach) {
  let [fall, least, most] = [0n, 0n, 0n];
  d.forEach((own, j) => {
    const [near, far] = [absolute(own) - reach[j], absolute(own) + reach[j]];
    fall += own * own;
    if (near > 0n) least += near * near;
    most += far * far;
  });
  return { lambda: d.map((own) => 2n * own), fall, extra: 0n, least, most };
}
function laplacian(d, reach) {
  let [fall, extra, least, most] = [0n, 0n, 0n, 0n];
  const lambda = d.map((own, j) => {
    const r = reach[j];
    const size = absolute(own) > r ? absolute(own) : r;
    const slope = size === 0n ? 0n : towardsZero(Rational.fraction(own, size));
    const above = (/** @type {bigint} */ v) => (absolute(v) << FIXED_SHIFT) - slope * v;
    const [left, right] = [above(own - r), above(own + r)];
    fall += slope * own;
    extra += left > right ? left : right;
    if (absolute(own) > r) least += (absolute(own) - r) << FIXED_SHIFT;
    most += (absolute(own) + r) << FIXED_SHIFT;
    return slope;
  });
  return { lambda, fall, extra, least, most };
}
function boundsOfG(x) {
  const size = absolute(x);
  let [lo, hi] = [0n, 0n];
  let [lowTerm, highTerm] = [UNIT / 2n, UNIT / 2n];
  for (let k = 0n; ; k += 1n) {
    const isTaken = x < 0n && k % 2n === 1n;
    lo += isTaken ? -highTerm : lowTerm;
    hi += isTaken ? -lowTerm : highTerm;
    if (k >= 8n && highTerm <= 1n) break;
    lowTerm = (lowTerm * size) / ((k + 3n) << FIXED_SHIFT);
    highTerm = (highTerm * size) / ((k + 3n) << FIXED_SHIFT) + 1n;
  }
  return { lo: lo - 2n, hi: hi + 2n };
}
return { copyOf, TermBounds, boundsOfG };
})();
modules["rules/mixed.js"] = (() => {
const { readArrayOf, readInt } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { cubeOf } = modules["rules/cube.js"];
const { FIXED_BITS } = modules["rules/fixed-point.js"];
const { majorantMaximum } = modules["rules/majorant.js"];
const { copyOf, TermBounds } = modules["rules/mixed-terms.js"];
const LARGEST_HINT = 64n;
const LARGEST_R = 64n;
function mixed(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'mixed') return reject('mixed: not for this body');
  require(context.case.rate === null || context.knownLine !== null, 'mixed: not for the property "lipschitz"');
  readArrayOf(json, 'mixed', 4);
  const cube = cubeOf(context.geometry, cell, body.columns);
  if (cube === null) return { clearance: null, line: null };
  const line = context.readLine(json[1]);
  const hints = readArrayOf(json[2], 'hints', cube.axes).map((hint) => readInt(hint, 'hint', -LARGEST_HINT, LARGEST_HINT));
  const r = readInt(json[3], 'r', 0n, LARGEST_R);
  const { axes } = cube;
  const products = 2 * (body.terms.length * (body.sums.length * axes + axes * axes) + axes * axes * body.sums.length);
  require(products <= MAXIMUM.mixedProducts, 'mixed: too many products in one leaf');
  const { first, second } = context.derive(line, () => ({ first: scoreBody(body, line.first), second: scoreBody(body, line.second) }));
  const centres = context.derive(body, () => body.terms.map(({ centre }) => centre.map((number) => number.floor(FIXED_BITS))));
  const bounds = new TermBounds(body.shape, body.gamma, axes, r);
  const [here, there] = cube.columns.map((columns) => copyOf(body, columns, axes));
  centres.forEach((centre, t) => {
    context.clock.tick();
    bounds.add(here, line.a.times(first.terms[t].coefficients[0]), centre);
    bounds.add(there, line.b.times(second.terms[t].coefficients[0]).negated(), centre);
  });
  const excess = bounds.polynomial();
  excess.addTerm('', constantOf(line, first, second));
  require(majorantMaximum(cube, excess, hints).sign() < 0, 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
function constantOf({ a, b, target }, first, second) {
  return a.times(first.bias[0]).minus(b.times(second.bias[0])).minus(target);
}
return { mixed };
})();
modules["rules/link-difference.js"] = (() => {
const { exactly, multiply, product, reciprocal, sigmaOf, subtract } = modules["exact/interval.js"];
const { larger, largerOfMaxima, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { require } = modules["rejection.js"];
const { tableAt } = modules["bodies/link.js"];
const BITS = 320;
const FARTHEST = Rational.of(40);
function rangeOfDifference(D, u, v) {
  const p = largerOfMaxima(v.low, u.low === null ? null : u.low.minus(D));
  const shifted = u.high === null ? null : u.high.minus(D);
  const least = v.high === null ? shifted : shifted === null ? v.high : smaller(v.high, shifted);
  return { low: p, high: least === null || p === null ? least : larger(p, least) };
}
function mostOfDifference(link, C, E, D, u, v, place) {
  const { low: p, high: q } = rangeOfDifference(D, u, v);
  return link.kind === 'table' ? mostOfTable(link.knots, C, E, D, p, q) : mostOfLogistic(link, C, E, D, p, q, place);
}
function mostOfLogistic({ slope, offset }, C, E, D, p, q, tau) {
  const e = slope.times(D);
  const ends = [p, q].map((t) => (t === null ? null : slope.times(t).plus(offset)));
  if (e.sign() <= 0) {
    const values = ends.map((r, i) => {
      if (r === null) return i === 0 ? ZERO : C.minus(E);
      return subtract(multiply(sigmaOf(r.plus(e), BITS), C), multiply(sigmaOf(r, BITS), E)).hi;
    });
    return values.reduce(larger);
  }
  require(tau.absolute().atMost(FARTHEST), 'sum: a place of a difference that is too far away');
  const touched = sigmaOf(tau, BITS);
  const raised = sigmaOf(tau.plus(e), BITS);
  const m = product(steepness(raised), reciprocal(steepness(touched)));
  const rise = subtract(multiply(m, C), exactly(E));
  const values = ends.map((r, i) => {
    const y = r === null ? exactly(i === 0 ? ZERO : ONE) : sigmaOf(r, BITS);
    return product(rise, subtract(y, touched)).hi;
  });
  return subtract(multiply(raised, C), multiply(touched, E)).hi.plus(values.reduce(larger));
}
function steepness(sigma) {
  return product(sigma, subtract(exactly(ONE), sigma));
}
function mostOfTable(knots, C, E, D, p, q) {
  const isInside = (/** @type {Rational} */ t) => (p === null || p.atMost(t)) && (q === null || t.atMost(q));
  const places = knots.flatMap(({ place }) => [place, place.minus(D)]).filter(isInside);
  for (const t of [p, q]) if (t !== null) places.push(t);
  const values = places.map((t) => {
    const [upper, lower] = [tableAt(knots, t.plus(D)), tableAt(knots, t)];
    const above = upper.knot === null ? upper.value : upper.knot.above;
    const below = lower.knot === null ? lower.value : lower.knot.below;
    return C.times(above).minus(E.times(below));
  });
  if (p === null) values.push(C.minus(E).times(knots[0].below));
  if (q === null) values.push(C.minus(E).times(knots[knots.length - 1].above));
  return values.reduce(larger);
}
return { rangeOfDifference, mostOfDifference };
})();
modules["rules/link-line.js"] = (() => {
const { add, exactly, multiply, product, sigmaOf, subtract } = modules["exact/interval.js"];
const { larger, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { reject, require } = modules["rejection.js"];
const { tableAt } = modules["bodies/link.js"];
const BITS = 192;
function betaAbove(link, alpha, tangent, { low, high }) {
  return link.kind === 'table' ? betaOfTable(link.knots, alpha, low, high) : betaOfLogistic(link, alpha, tangent, low, high);
}
function betaBelow(link, alpha, tangent, { low, high }) {
  const turned = { low: high === null ? null : high.negated(), high: low === null ? null : low.negated() };
  const whole = link.kind === 'logistic' ? ONE : ZERO;
  return whole.minus(betaAbove(turnedLink(link), alpha, tangent, turned));
}
function turnedLink(link) {
  if (link.kind === 'logistic') return { ...link, offset: link.offset.negated() };
  const knots = link.knots.map(({ place, below, at, above }) => ({
    place: place.negated(),
    below: above.negated(),
    at: at.negated(),
    above: below.negated(),
  }));
  return { ...link, knots: knots.reverse() };
}
function betaOfLogistic({ slope, offset }, alpha, tangent, low, high) {
  const U = high === null ? null : slope.times(high).plus(offset);
  if (alpha.isZero()) return U === null ? ONE : sigmaOf(U, BITS).hi;
  if (low === null) return reject('sum: a rising line above a link needs a lower limit of the score');
  const L = slope.times(low).plus(offset);
  const values = [];
  if (L.sign() <= 0) {
    const end = U === null ? ZERO : smaller(U, ZERO);
    for (const r of [L, end]) values.push(sigmaOf(r, BITS).hi.minus(alpha.times(r)));
  }
  if (U === null || U.sign() > 0) {
    const sigma = sigmaOf(tangent, BITS);
    const steepness = product(sigma, subtract(exactly(ONE), sigma));
    const valueAt = (/** @type {Rational} */ r) => add(sigma, multiply(steepness, r.minus(tangent))).hi.minus(alpha.times(r));
    values.push(valueAt(larger(L, ZERO)));
    if (U === null) require(steepness.hi.atMost(alpha), 'sum: the tangent of a link rises more than the line');
    else values.push(valueAt(U));
  }
  return values.reduce(larger);
}
function betaOfTable(knots, alpha, low, high) {
  if (alpha.sign() > 0 && low === null) return reject('sum: a rising line above a link needs a lower limit of the score');
  const values = [];
  for (const t of [low, high]) {
    if (t === null) continue;
    const { value, knot } = tableAt(knots, t);
    values.push((knot === null ? value : knot.above).minus(alpha.times(t)));
  }
  for (const { place, above } of knots) {
    if ((low === null || low.atMost(place)) && (high === null || place.atMost(high))) values.push(above.minus(alpha.times(place)));
  }
  if (low === null) values.push(knots[0].below);
  if (high === null) {
    const last = knots[knots.length - 1];
    const start = low === null ? last.place : larger(last.place, low);
    values.push(last.above.minus(alpha.times(start)));
  }
  return values.reduce(larger);
}
return { betaAbove, betaBelow, turnedLink };
})();
modules["rules/link-chain.js"] = (() => {
const { exactly, interval, sigmaOf } = modules["exact/interval.js"];
const { HALF, larger, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readNumbersOf } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { tableAt } = modules["bodies/link.js"];
const { rangeOfDifference } = modules["rules/link-difference.js"];
const { betaAbove, turnedLink } = modules["rules/link-line.js"];
const BITS = 192;
const QUARTER = HALF.times(HALF);
function lineOfChain(link, slopeJson, tangentJson, { low, high }, above) {
  const alphas = readNumbersOf(slopeJson, 'slopes of a line', 2);
  const tangents = readNumbersOf(tangentJson, 'tangents of a line', 2);
  require([...alphas, ...tangents].every((one) => one.sign() >= 0), 'sum: a negative slope or tangent');
  if (above) return lineAboveChain(link.inner, link.outer, alphas, tangents, { low, high });
  const { alpha, beta } = lineAboveChain(turnedLink(link.inner), mirroredLink(link.outer), alphas, tangents, {
    low: high === null ? null : high.negated(),
    high: low === null ? null : low.negated(),
  });
  return { alpha, beta: (link.outer.kind === 'logistic' ? ONE : ZERO).minus(beta) };
}
function lineAboveChain(inner, outer, alphas, tangents, scores) {
  const first = betaAbove(inner, alphas[0], tangents[0], scores);
  const values = {
    low: scores.low === null ? ZERO : sigmaAt(inner, scores.low).lo,
    high: scores.high === null ? ONE : sigmaAt(inner, scores.high).hi,
  };
  const second = betaAbove(outer, alphas[1], tangents[1], values);
  const carried = outer.slope.times(first).plus(outer.offset).times(alphas[1]);
  return { alpha: alphas[1].times(outer.slope).times(alphas[0]), beta: carried.plus(second) };
}
function mirroredLink(outer) {
  const turned = turnedLink(outer);
  if (turned.kind === 'logistic') return { ...turned, offset: turned.offset.minus(turned.slope) };
  return { ...turned, knots: turned.knots.map((knot) => ({ ...knot, place: knot.place.plus(ONE) })) };
}
function sigmaAt({ slope, offset }, t) {
  return sigmaOf(slope.times(t).plus(offset), BITS);
}
function mostOfChain(link, C, E, D, u, v, placeJson) {
  const cuts = readArray(placeJson, 'cuts of a difference').map((cut) => readNumber(cut, 'cut of a difference'));
  require(cuts.length <= MAXIMUM.chainCuts, `sum: more than ${MAXIMUM.chainCuts} cuts of a difference`);
  require(cuts.every((cut, i) => i === 0 || cuts[i - 1].less(cut)), 'sum: cuts of a difference that do not rise');
  const { low: p, high: q } = rangeOfDifference(D, u, v);
  const between = cuts.filter((cut) => (p === null || p.less(cut)) && (q === null || cut.less(q)));
  const places = [p, ...between, q];
  const own = places.map((t, i) => pointOf(link, t, i === 0));
  const moved = places.map((t, i) => pointOf(link, t === null ? null : t.plus(D), i === 0));
  let most = mostOfPiece(link, C, E, own, moved, 0);
  for (let i = 1; i + 1 < places.length; i++) most = larger(most, mostOfPiece(link, C, E, own, moved, i));
  return most;
}
function pointOf({ inner, outer }, place, isFirst) {
  const value = place === null ? exactly(isFirst ? ZERO : ONE) : sigmaAt(inner, place);
  if (outer.kind === 'logistic') return { place, inner: value, least: sigmaAt(outer, value.lo).lo, most: sigmaAt(outer, value.hi).hi };
  const [low, high] = [tableAt(outer.knots, value.lo), tableAt(outer.knots, value.hi)];
  return { place, inner: value, least: low.knot === null ? low.value : low.knot.below, most: high.knot === null ? high.value : high.knot.above };
}
function mostOfPiece(link, C, E, own, moved, i) {
  const bound = C.times(moved[i + 1].most).minus(E.times(own[i].least));
  const [a, b] = [own[i].place, own[i + 1].place];
  if (a === null || b === null) return bound;
  const [slopes, raised] = [slopesOf(link, own[i], own[i + 1]), slopesOf(link, moved[i], moved[i + 1])];
  if (slopes === null || raised === null) return bound;
  const least = C.times(raised.lo).minus(E.times(slopes.hi));
  const most = C.times(raised.hi).minus(E.times(slopes.lo));
  const [first, last] = [i, i + 1].map((k) => C.times(moved[k].most).minus(E.times(own[k].least)));
  if (most.sign() <= 0) return smaller(bound, first);
  if (least.sign() >= 0) return smaller(bound, last);
  const step = last.minus(first).minus(least.times(b.minus(a)));
  return smaller(bound, first.plus(most.times(step).over(most.minus(least))));
}
function slopesOf({ inner, outer }, first, last) {
  const values = interval(first.inner.lo, last.inner.hi);
  const ofOuter = outer.kind === 'table' ? slopesOfTable(outer, values) : scaled(bellOf(interval(first.least, last.most)), outer.slope);
  if (ofOuter === null) return null;
  const ofInner = scaled(bellOf(values), inner.slope);
  return interval(ofInner.lo.times(ofOuter.lo), ofInner.hi.times(ofOuter.hi));
}
function scaled({ lo, hi }, factor) {
  return interval(lo.times(factor), hi.times(factor));
}
function bellOf({ lo, hi }) {
  const [low, high] = [lo.times(ONE.minus(lo)), hi.times(ONE.minus(hi))];
  return interval(smaller(low, high), lo.atMost(HALF) && HALF.atMost(hi) ? QUARTER : larger(low, high));
}
function slopesOfTable({ knots }, { lo, hi }) {
  const first = countWhere(knots, ({ place }) => place.less(lo));
  const last = countWhere(knots, ({ place }) => place.atMost(hi));
  const slopes = first === 0 || last === knots.length ? [ZERO] : [];
  for (let i = Math.max(first - 1, 0); i < last; i++) {
    const [from, to] = [knots[i], knots[i + 1]];
    if (i >= first && !from.below.equals(from.above)) return null;
    if (to !== undefined) slopes.push(to.below.minus(from.above).over(to.place.minus(from.place)));
  }
  return interval(slopes.reduce(smaller), slopes.reduce(larger));
}
function countWhere(knots, holds) {
  let [low, high] = [0, knots.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(knots[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
return { lineOfChain, mostOfChain };
})();
modules["rules/sum.js"] = (() => {
const { SumBody } = modules["bodies/sum.js"];
const { dot } = modules["bodies/affine.js"];
const { HALF, ONE, Rational, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { concludeFromBound } = modules["rules/conclude.js"];
const { lineOfChain, mostOfChain } = modules["rules/link-chain.js"];
const { mostOfDifference } = modules["rules/link-difference.js"];
const { betaAbove, betaBelow } = modules["rules/link-line.js"];
const RULES_OF_BODY = Object.freeze({
  affine: ['separable'],
  rbf: ['kernel', 'chords'],
  mixed: ['mixed'],
  polynomial: ['polynomial'],
  trees: ['trees'],
  network: ['network'],
});
const NO_WAY = false;
function sumRule(rules) {
  return (context, cell, json) => {
    const { body } = context.claim.model;
    if (body.kind !== 'sum') return reject('sum: not for this body');
    readArrayOf(json, 'sum', 3);
    const line = context.readLine(json[1]);
    const items = readArrayOf(json[2], 'parts of a sum', body.parts.length);
    const { here, there, bias } = context.derive(line, () => factorsOf(body, line));
    let bound = bias;
    for (let k = 0; k < items.length; k++) {
      context.clock.tick();
      const lines = new PartLines(rules, contextOfPart(context, body, k), cell, body.parts[k].body.kind);
      const own = boundOfPart(lines, body.parts[k].link, here[k], there[k], items[k]);
      if (own === null) return { clearance: null, line: null };
      bound = bound.plus(own);
    }
    return { clearance: concludeFromBound(line, bound).clearance === null ? null : context.noClearance, line };
  };
}
function factorsOf(body, line) {
  const a = line.a.times(line.first.sign);
  const b = line.b.times(line.second.sign);
  return {
    here: body.parts.map(({ weights }) => a.times(dot(line.first.alpha, weights))),
    there: body.parts.map(({ weights }) => b.times(dot(line.second.alpha, weights))),
    bias: a
      .times(dot(line.first.alpha, body.bias))
      .minus(b.times(dot(line.second.alpha, body.bias)))
      .plus(line.a.times(line.first.shift))
      .minus(line.b.times(line.second.shift)),
  };
}
function contextOfPart(context, body, k) {
  return context.derive(body.parts[k], () => context.ofBody(body.parts[k].body));
}
class PartLines {
  constructor(rules, context, cell, kind) {
    this.names = RULES_OF_BODY[kind];
    this.rules = rules;
    this.context = context;
    this.cell = cell;
  }
  shown(json, way, sign) {
    const [stated, name, ...rest] = readArray(json, 'line of a part');
    const target = readNumber(stated ?? null, 'bound of a line');
    const rule = typeof name === 'string' && this.names.includes(name) ? this.rules.get(name) : undefined;
    if (rule === undefined) return reject(`sum: a line of this part needs the rule ${this.names.join(' or ')}`);
    const score = { alpha: [ONE], sign: Rational.of(sign), shift: ZERO };
    const b = ONE.minus(way);
    const line = { first: score, second: score, a: way, b, target, mayTouch: true, factors: null, reach: ONE };
    const result = rule(this.context.withLine(line), this.cell, [name, NO_WAY, ...rest]);
    return result.clearance === null ? null : target;
  }
  boundOf(items, c, d) {
    const pairs = c.sign() * d.sign() < 0 ? [[c, ZERO], [ZERO, d]] : c.isZero() && d.isZero() ? [] : [[c, d]];
    require(items.length === pairs.length, `sum: not ${pairs.length} lines`);
    let total = ZERO;
    for (let i = 0; i < pairs.length; i++) {
      const [own, other] = pairs[i];
      const size = own.absolute().plus(other.absolute());
      const shown = this.shown(items[i], own.absolute().over(size), own.plus(other).sign() > 0 ? 1 : -1);
      if (shown === null) return null;
      total = total.plus(size.times(shown));
    }
    return total;
  }
}
function boundOfPart(lines, link, c, d, json) {
  if (json === null) {
    require(c.isZero() && d.isZero(), 'sum: nothing is said of a part that counts');
    return ZERO;
  }
  if (Array.isArray(json) && json[0] === 'difference') return boundByDifference(lines, link, c, d, json);
  const [here, there, items] = readArrayOf(json, 'part', 3);
  if (link === null) {
    require(here === null && there === null, 'sum: a part without a link has no line at it');
    return lines.boundOf(readArray(items, 'lines of a part'), c, d);
  }
  const own = lineAtLink(lines, link, c, here, 1);
  if (own === null) return null;
  const other = lineAtLink(lines, link, d, there, -1);
  if (other === null) return null;
  const rest = lines.boundOf(readArray(items, 'lines of a part'), c.times(own.alpha).times(link.slope), d.times(other.alpha).times(link.slope));
  if (rest === null) return null;
  return rest
    .plus(c.times(own.beta.plus(own.alpha.times(link.offset))))
    .minus(d.times(other.beta.plus(other.alpha.times(link.offset))));
}
function lineAtLink(lines, link, factor, json, side) {
  if (factor.isZero()) {
    require(json === null, 'sum: a line at a link that does not count');
    return { alpha: ZERO, beta: ZERO };
  }
  const [lowJson, highJson, slopeJson, tangentJson] = readArrayOf(json, 'line at a link', 4);
  const scores = limitsOfScores(lines, lowJson, highJson, side);
  if (scores === null) return null;
  const above = factor.sign() * side > 0;
  if (link.kind === 'chain') return lineOfChain(link, slopeJson, tangentJson, scores, above);
  const alpha = readNumber(slopeJson, 'slope of a line');
  const tangent = readNumber(tangentJson, 'tangent of a line');
  require(alpha.sign() >= 0 && tangent.sign() >= 0, 'sum: a negative slope or tangent');
  return { alpha, beta: above ? betaAbove(link, alpha, tangent, scores) : betaBelow(link, alpha, tangent, scores) };
}
function limitsOfScores(lines, lowJson, highJson, side) {
  const way = side === 1 ? ONE : ZERO;
  let low = null;
  let high = null;
  if (lowJson !== null) {
    const shown = lines.shown(lowJson, way, side === 1 ? -1 : 1);
    if (shown === null) return null;
    low = shown.negated();
  }
  if (highJson !== null) {
    high = lines.shown(highJson, way, side);
    if (high === null) return null;
  }
  return low !== null && high !== null && high.less(low) ? null : { low, high };
}
function boundByDifference(lines, link, c, d, json) {
  if (link === null) return reject('sum: a difference of a part without a link');
  require(c.sign() * d.sign() > 0, 'sum: a difference of a part that does not count alike at both');
  const [, line, here, there, placeJson] = readArrayOf(json, 'part', 5);
  const shown = lines.shown(line, HALF, c.sign() > 0 ? 1 : -1);
  if (shown === null) return null;
  const [lowHere, highHere] = readArrayOf(here, 'limits of a score', 2);
  const own = limitsOfScores(lines, lowHere, highHere, 1);
  if (own === null) return null;
  const [lowThere, highThere] = readArrayOf(there, 'limits of a score', 2);
  const other = limitsOfScores(lines, lowThere, highThere, -1);
  if (other === null) return null;
  const most = shown.scaled(1);
  const [C, E, u, v] = c.sign() > 0 ? [c, d, own, other] : [d.negated(), c.negated(), other, own];
  if (link.kind === 'chain') return mostOfChain(link, C, E, most, u, v, placeJson);
  return mostOfDifference(link, C, E, most, u, v, readNumber(placeJson, 'place of a difference'));
}
return { sumRule, PartLines };
})();
modules["rules/regions.js"] = (() => {
const { larger, ONE, Rational, smaller } = modules["exact/rational.js"];
const { positionOf } = modules["claim/space.js"];
function wholeBox(feature) {
  const positions = feature.levels === null ? null : new Set(feature.levels.keys());
  return { above: null, upTo: null, missing: true, positions, seen: [null, null] };
}
function regionOf(feature, box, lo, hi, openBelow = false) {
  if (box.positions !== null) {
    const [first, last] = [positionOf(lo), positionOf(hi)];
    const positions = new Set([...box.positions].filter((position) => first <= position && position <= last));
    return { from: lo, to: hi, open: false, numbers: positions.size > 0, missing: false, positions };
  }
  const missing = box.missing && feature.missing !== null && hi.equals(feature.missing);
  const last = smaller(hi, feature.lastNumber);
  let to = box.upTo === null ? last : smaller(last, box.upTo);
  const tested = box.above !== null && lo.atMost(box.above);
  let open = tested || openBelow;
  let from = tested ? /** @type {Rational} */ (box.above) : lo;
  if (feature.discrete) {
    to = Rational.of(to.floor());
    from = open ? Rational.of(from.floor()).plus(ONE) : from;
    open = false;
  }
  return { from, to, open, numbers: open ? from.less(to) : from.atMost(to), missing, positions: null };
}
function commonRegion(region, other) {
  if (region.positions !== null && other.positions !== null) {
    const theirs = other.positions;
    const positions = new Set([...region.positions].filter((position) => theirs.has(position)));
    return positions.size === region.positions.size ? region : { ...region, numbers: positions.size > 0, positions };
  }
  const missing = region.missing && other.missing;
  if (!region.numbers || !other.numbers) return region.numbers || missing !== region.missing ? { ...region, numbers: false, missing } : region;
  const order = region.from.compare(other.from);
  const from = order >= 0 ? region.from : other.from;
  const open = order > 0 ? region.open : order < 0 ? other.open : region.open || other.open;
  const to = smaller(region.to, other.to);
  if (from === region.from && open === region.open && to === region.to && missing === region.missing) return region;
  return { from, to, open, numbers: open ? from.less(to) : from.atMost(to), missing, positions: null };
}
function isEmptyRegion({ numbers, missing }) {
  return !numbers && !missing;
}
function canBeRelated(relation, region, other) {
  if (isEmptyRegion(region) || isEmptyRegion(other)) return false;
  if (relation.kind === 'free' || (relation.kind === 'same' && region === other)) return true;
  if (region.positions !== null && other.positions !== null) return canPositionsBeRelated(relation, region.positions, other.positions);
  if (region.missing && other.missing) return true;
  if (!region.numbers || !other.numbers) return false;
  if (relation.kind === 'between') return canDifferBetween(relation, region, other);
  if (relation.kind === 'within') {
    const apart = larger(other.from.minus(region.to), region.from.minus(other.to));
    return apart.atMost(relation.high);
  }
  const order = region.from.compare(other.from);
  const from = order >= 0 ? region.from : other.from;
  const open = order > 0 ? region.open : order < 0 ? other.open : region.open || other.open;
  const to = smaller(region.to, other.to);
  return open ? from.less(to) : from.atMost(to);
}
function canDifferBetween({ low, high }, region, other) {
  const most = other.to.minus(region.from).compare(low);
  const least = other.from.minus(region.to).compare(high);
  return (most > 0 || (most === 0 && !region.open)) && (least < 0 || (least === 0 && !other.open));
}
function canPositionsBeRelated({ kind, low, high, allowed }, positions, others) {
  if (kind === 'within' || kind === 'between') {
    const [p, q] = [Number(low.floor()), Number(high.floor())];
    for (const i of positions) for (const j of others) if (p <= j - i && j - i <= q) return true;
    return false;
  }
  for (const position of positions) if (others.has(position)) return true;
  return allowed.some(([i, j]) => (positions.has(i) && others.has(j)) || (positions.has(j) && others.has(i)));
}
return { wholeBox, regionOf, commonRegion, isEmptyRegion, canBeRelated };
})();
modules["rules/tree-maximum.js"] = (() => {
const { TreesBody } = modules["bodies/trees.js"];
const { larger, Rational } = modules["exact/rational.js"];
const { canBeRelated, regionOf, wholeBox } = modules["rules/regions.js"];
function shapesOf(body, clock) {
  return body.trees.map((tree) => {
    const nodes = [];
    const features = new Set();
    tree.forEach((node, at) => {
      clock.tick();
      const own = nodes[at] ?? { parent: null, feature: -1, box: null, children: null };
      nodes[at] = own;
      if (Array.isArray(node)) return;
      const { feature } = node;
      features.add(feature);
      const before = boxOf(own, feature) ?? wholeBox(body.space.features[feature]);
      own.children = [at + 1, node.right];
      nodes[at + 1] = { parent: own, feature, box: boxOfTest(before, node, true), children: null };
      nodes[node.right] = { parent: own, feature, box: boxOfTest(before, node, false), children: null };
    });
    return { nodes, features: [...features], last: null, lastOfGroup: null };
  });
}
function boxOfTest(before, node, left) {
  const after = { ...before, seen: [null, null] };
  if (node.threshold !== null) {
    const { threshold } = node;
    if (left && (before.upTo === null || threshold.less(before.upTo))) after.upTo = threshold;
    if (!left && (before.above === null || before.above.less(threshold))) after.above = threshold;
    after.missing = before.missing && node.missingLeft === left;
  } else {
    const inside = /** @type {Set<number>} */ (node.positions);
    after.positions = new Set([.../** @type {Set<number>} */ (before.positions)].filter((position) => inside.has(position) === left));
  }
  return after;
}
function boxOf(node, k) {
  for (let own = node; own.parent !== null; own = own.parent) if (own.feature === k) return own.box;
  return null;
}
function treeFormOf(body, factor) {
  const values = body.trees.map((tree) => {
    const most = [];
    for (let at = tree.length - 1; at >= 0; at--) {
      const node = tree[at];
      most[at] = Array.isArray(node) ? node[0].times(factor) : larger(most[at + 1], most[node.right]);
    }
    return most;
  });
  return { bias: body.bias[0].times(factor), values };
}
function maximumOfTrees(geometry, cell, shapes, first, second, clock) {
  const view = new CellView(geometry, cell);
  if (!view.isPossible) return null;
  let total = first.bias.plus(second.bias);
  for (let t = 0; t < shapes.length; t++) {
    clock.tick();
    const most = maximumOfTree(view, shapes[t], first.values[t], second.values[t], clock);
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}
class CellView {
  constructor(geometry, cell) {
    this.geometry = geometry;
    this.cell = cell;
    this.whole = geometry.space.features.map(wholeBox);
    this.isPossible = this.whole.every((box, k) => this.canMeet(k, box, box));
  }
  region(k, box, copy) {
    const { first, second } = this.geometry;
    const v = copy === 0 ? first[k] : second[k];
    const slot = first[k] === second[k] ? 0 : copy;
    const lo = this.cell.lo[v];
    const hi = this.cell.hi[v];
    const seen = box.seen[slot];
    const open = this.cell.open?.[v] ?? false;
    if (seen !== null && seen.lo === lo && seen.hi === hi && seen.open === open) return seen.region;
    const region = regionOf(this.geometry.space.features[k], box, lo, hi, open);
    box.seen[slot] = { lo, hi, open, region };
    return region;
  }
  canMeet(k, box, other) {
    return canBeRelated(this.geometry.similarity[k], this.region(k, box, 0), this.region(k, other, 1));
  }
  isSame(k) {
    return this.geometry.similarity[k].kind === 'same';
  }
  areTogetherPossible(k, node, other) {
    return this.canMeet(k, boxOf(node, k) ?? this.whole[k], boxOf(other, k) ?? this.whole[k]);
  }
  isLike(features, before) {
    const { lo, hi } = this.cell;
    const isSame = (/** @type {number} */ v) => lo[v] === before.lo[v] && hi[v] === before.hi[v];
    return features.every((k) => isSame(this.geometry.first[k]) && isSame(this.geometry.second[k]));
  }
}
function maximumOfTree(view, shape, values, otherValues, clock) {
  const { last, features } = shape;
  if (last !== null && last.values === values && last.otherValues === otherValues && view.isLike(features, last.cell)) return last.most;
  const most = maximumOfLeaves(view, shape.nodes, values, otherValues, clock);
  shape.last = { values, otherValues, cell: view.cell, most };
  return most;
}
function maximumOfLeaves(view, nodes, values, otherValues, clock) {
  let most = null;
  const waiting = [{ at: 0, other: 0, value: null }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    clock.tick();
    if (most !== null && valueOf(next, values, otherValues).atMost(most)) continue;
    const { children } = nodes[next.at];
    const { children: otherChildren } = nodes[next.other];
    if (children === null && otherChildren === null) {
      most = valueOf(next, values, otherValues);
      continue;
    }
    const both = next.at === next.other;
    const down = both || otherChildren === null || (children !== null && next.at < next.other);
    const firsts = down && children !== null ? children : [next.at];
    const seconds = (both || !down) && otherChildren !== null ? otherChildren : [next.other];
    const found = [];
    for (const at of firsts) {
      for (const other of seconds) {
        const tested = firsts.length > 1 ? nodes[at].feature : nodes[other].feature;
        if (both && at !== other && view.isSame(tested)) continue;
        if (view.areTogetherPossible(tested, nodes[at], nodes[other])) found.push({ at, other, value: null });
      }
    }
    if (found.length > 1) found.sort((a, b) => valueOf(a, values, otherValues).compare(valueOf(b, values, otherValues)));
    for (const pair of found) waiting.push(pair);
  }
  return most;
}
function valueOf(pair, values, otherValues) {
  pair.value ??= values[pair.at].plus(otherValues[pair.other]);
  return pair.value;
}
return { shapesOf, treeFormOf, maximumOfTrees, CellView, maximumOfTree };
})();
modules["rules/nested.js"] = (() => {
const { larger, Rational, smaller, sum, ZERO } = modules["exact/rational.js"];
const { readArrayOf } = modules["file/fields.js"];
const { reject } = modules["rejection.js"];
const { numberAsFeature } = modules["bodies/nested.js"];
const { Geometry } = modules["proof/cell.js"];
const { concludeFromBound } = modules["rules/conclude.js"];
const { innerKey } = modules["rules/inner.js"];
const { PartLines } = modules["rules/sum.js"];
const { maximumOfTrees, shapesOf, treeFormOf } = modules["rules/tree-maximum.js"];
const LINES = /** @type {const} */ ([
  { name: 'low', halves: 2, sign: -1 },
  { name: 'high', halves: 2, sign: 1 },
  { name: 'lowThere', halves: 0, sign: 1 },
  { name: 'highThere', halves: 0, sign: -1 },
  { name: 'fall', halves: 1, sign: 1 },
  { name: 'rise', halves: 1, sign: -1 },
]);
const NO_PAIR = Object.freeze({ clearance: null, line: null });
function nestedRule(rules) {
  return (context, cell, json) => {
    const { body } = context.claim.model;
    if (body.kind !== 'nested') return reject('nested: not for this body');
    readArrayOf(json, 'nested', 3);
    const line = context.readLine(json[1]);
    const items = readArrayOf(json[2], 'limits of inner scores', body.inner.length);
    const shown = items.map((item, k) => {
      context.clock.tick();
      const inner = body.inner[k];
      const own = context.derive(inner, () => context.ofBody(inner));
      return shownBy(new PartLines(rules, own, cell, inner.kind), item);
    });
    if (shown.includes(null)) return NO_PAIR;
    const limits = [];
    for (let k = 0; k < shown.length; k++) {
      const own = limitsOf(cell, k, /** @type {Shown} */ (shown[k]));
      if (own === null) return NO_PAIR;
      limits.push(own);
    }
    const { outer } = body;
    if (outer.kind === 'median') return concludeFromBound(line, boundOfMedian(outer, line, limits));
    return concludeFromBound(line, boundOfTrees(context, outer, line, limits));
  };
}
function shownBy(lines, json) {
  const items = readArrayOf(json, 'limits of an inner score', LINES.length);
  let holdsNoPair = false;
  const entries = LINES.map(({ name, halves, sign }, i) => {
    if (items[i] === null) return [name, null];
    const target = lines.shown(items[i], Rational.of(halves).half(), sign);
    if (target === null) holdsNoPair = true;
    return [name, target];
  });
  return holdsNoPair ? null : Object.fromEntries(entries);
}
function limitsOf(cell, k, shown) {
  const [fall, rise] = [shown.fall, shown.rise].map((target) => (target === null ? null : target.scaled(1)));
  if (fall !== null && rise !== null && rise.less(fall.negated())) return null;
  const here = limitsAt(cell, innerKey(k, 0), shown.low, shown.high);
  if (here === null) return null;
  const there = limitsAt(cell, innerKey(k, 1), shown.lowThere, shown.highThere);
  return there === null ? null : { here, there, fall, rise };
}
function limitsAt(cell, key, low, high) {
  const own = cell.limits.get(key) ?? { lo: null, hi: null };
  const least = low === null ? null : low.negated();
  const open = own.lo !== null && (least === null || least.atMost(own.lo));
  const lo = open ? own.lo : least;
  const hi = own.hi === null ? high : high === null ? own.hi : smaller(high, own.hi);
  if (lo === null || hi === null) return reject('nested: an inner score without a limit');
  return hi.less(lo) || (open && hi.equals(lo)) ? null : { lo, hi, open };
}
function boundOfTrees(context, outer, line, limits) {
  const shapes = context.derive(outer, () => shapesOf(outer, context.clock));
  for (const shape of shapes) shape.last = null;
  const { first, second } = context.derive(line, () => ({
    first: treeFormOf(scoreBody(outer, line.first), line.a),
    second: treeFormOf(scoreBody(outer, line.second), line.b.negated()),
  }));
  const { geometry, cell } = cellOfLimits(limits);
  return maximumOfTrees(geometry, cell, shapes, first, second, context.clock);
}
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
function cellOfLimits(limits) {
  const features = limits.map(({ here, there }) => {
    const hi = larger(here.hi, there.hi);
    return { ...numberAsFeature(), lo: smaller(here.lo, there.lo), hi, lastNumber: hi };
  });
  const similarity = limits.map(({ fall, rise }) =>
    fall !== null && rise !== null
      ? { kind: 'between', low: fall.negated(), high: rise, allowed: [], along: null }
      : { kind: 'free', low: ZERO, high: ZERO, allowed: [], along: null },
  );
  const geometry = new Geometry({ features, constraints: [] }, similarity);
  const root = geometry.root();
  const [lo, hi, open] = [root.lo.slice(), root.hi.slice(), root.lo.map(() => false)];
  limits.forEach(({ here, there }, k) => {
    const [i, j] = [geometry.first[k], geometry.second[k]];
    [lo[i], hi[i], open[i]] = [here.lo, here.hi, here.open];
    [lo[j], hi[j], open[j]] = [there.lo, there.hi, there.open];
  });
  return { geometry, cell: { ...root, lo, hi, open } };
}
function boundOfMedian(median, { first: { sign, shift }, a, b }, limits) {
  const [l, u] = [limits.map(({ here }) => here.lo), limits.map(({ here }) => here.hi)];
  const [lThere, uThere] = [limits.map(({ there }) => there.lo), limits.map(({ there }) => there.hi)];
  const [least, most] = [median.of(l), median.of(u)];
  const [leastThere, mostThere] = [median.of(lThere), median.of(uThere)];
  const [A, C] = [smaller(least, leastThere), larger(most, mostThere)];
  const clipped = (/** @type {Rational} */ t) => smaller(larger(t, A), C);
  const change = (/** @type {Rational[]} */ from, /** @type {Rational[]} */ to, /** @type {(Rational | null)[]} */ limit) =>
    from.map((value, k) => {
      const own = clipped(value).minus(clipped(to[k]));
      const known = limit[k];
      return known === null ? own : smaller(own, larger(ZERO, known));
    }).reduce(larger);
  const S = sign.times(median.slope);
  const m = smaller(a, b);
  const [restHere, restThere] = [a.minus(m), b.minus(m)];
  const constant = a.minus(b).times(sign.times(median.offset).plus(shift));
  if (S.sign() > 0) {
    const E = smaller(most.minus(leastThere), change(u, lThere, limits.map(({ fall }) => fall)));
    return constant.plus(S.times(sum([m.times(E), restHere.times(most), restThere.times(leastThere).negated()])));
  }
  const E = smaller(mostThere.minus(least), change(uThere, l, limits.map(({ rise }) => rise)));
  return constant.minus(S.times(sum([m.times(E), restThere.times(mostThere), restHere.times(least).negated()])));
}
return { nestedRule };
})();
modules["rules/network-smooth.js"] = (() => {
const { activateClosely } = modules["bodies/activation.js"];
const { exactly, expOf, interval, logOf, multiply, product, subtract } = modules["exact/interval.js"];
const { larger, ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const BITS = 144;
const PLACE_BITS = 64;
function slopeAt(activation, y) {
  if (activation.kind === 'elu') {
    return y.sign() > 0 ? exactly(ONE) : multiply(expOf(y, BITS), activation.numbers[0]);
  }
  const value = activateClosely(activation, y, BITS);
  if (activation.kind === 'logistic') return product(value, subtract(exactly(ONE), value));
  const square = product(value, value);
  return subtract(exactly(ONE), interval(larger(square.lo, ZERO), square.hi));
}
function slopesBetween(activation, from, to) {
  const slopes = [slopeAt(activation, from), slopeAt(activation, to)];
  if (from.sign() <= 0 && to.sign() >= 0) {
    slopes.push(slopeAt(activation, ZERO));
    if (activation.kind === 'elu') slopes.push(exactly(ONE));
  }
  return interval(slopes.map(({ lo }) => lo).reduce(smaller), slopes.map(({ hi }) => hi).reduce(larger));
}
function maximumOfSmoothNeuron(activation, limits, difference, bits, { A, C, alpha, gamma }) {
  const { lo, hi, otherLo, otherHi, p, q } = limits;
  const apart = maximumOfOne(activation, A, alpha, lo, hi).plus(maximumOfOne(activation, C, gamma, otherLo, otherHi));
  const [both, load] = [A.plus(C), alpha.plus(gamma)];
  const ends = { p, q, ...difference };
  const fromFirst = maximumOfOne(activation, both, load, lo, hi).plus(maximumOfDifference(C, gamma, ends, bits));
  const fromSecond = maximumOfOne(activation, both, load, otherLo, otherHi).plus(
    maximumOfDifference(A.negated(), alpha.negated(), ends, bits),
  );
  return [apart, fromFirst, fromSecond].reduce(smaller);
}
function maximumOfOne(activation, A, a, lo, hi) {
  const bounds = [];
  if (lo.sign() <= 0) bounds.push(maximumOnSide(activation, A, a, lo, smaller(hi, ZERO), -1));
  if (hi.sign() >= 0) bounds.push(maximumOnSide(activation, A, a, larger(lo, ZERO), hi, 1));
  return bounds.reduce(larger);
}
function maximumOnSide(activation, A, a, u, v, side) {
  if (!isConcave(activation, A, side)) return larger(upperAt(activation, A, a, u), upperAt(activation, A, a, v));
  if (u.equals(v)) return upperAt(activation, A, a, u);
  const t = placeOfTangent(activation, A, a, u, v, side);
  const slope = subtract(multiply(slopeAt(activation, t), A), exactly(a));
  const rise = larger(slope.hi.times(v.minus(t)), slope.lo.times(u.minus(t)));
  return upperAt(activation, A, a, t).plus(larger(rise, ZERO));
}
function isConcave({ kind, numbers }, A, side) {
  if (kind === 'elu') return side < 0 && A.sign() * numbers[0].sign() < 0;
  return A.sign() * side > 0;
}
function upperAt(activation, A, a, y) {
  return multiply(activateClosely(activation, y, BITS), A).hi.minus(a.times(y));
}
function placeOfTangent({ kind, numbers }, A, a, u, v, side) {
  const factor = kind === 'elu' ? A.times(numbers[0]) : A;
  const ratio = a.over(factor);
  if (ratio.sign() <= 0) return factor.sign() > 0 ? v : u;
  if (kind === 'elu') return clamped(logOf(ratio, PLACE_BITS + 8).lo, u, v);
  const scaled = kind === 'logistic' ? ratio.scaled(2) : ratio;
  if (ONE.atMost(scaled)) return factor.sign() > 0 ? u : v;
  const root = squareRoot(ONE.minus(scaled));
  const distance = logOf(ONE.plus(root).squared().over(scaled), PLACE_BITS + 8).lo;
  const place = kind === 'tanh' ? distance.half() : distance;
  return clamped(side > 0 ? place : place.negated(), u, v);
}
function clamped(place, u, v) {
  return smaller(larger(Rational.dyadic(place.floor(PLACE_BITS), -PLACE_BITS), u), v);
}
function squareRoot(value) {
  const wanted = value.floor(192);
  let root = 0n;
  for (let bit = 1n << 96n; bit > 0n; bit >>= 1n) {
    const next = root + bit;
    if (next * next <= wanted) root = next;
  }
  return Rational.dyadic(root, -96);
}
function maximumOfDifference(c, g, { p, q, e, E, r, R }, bits) {
  const up = c.sign() > 0;
  const end = up ? E : e;
  const bestAt = (/** @type {Rational} */ d) => {
    const [one, two] = [r.times(d), R.times(d)];
    return up ? smaller(E, larger(one, two)) : larger(e, smaller(one, two));
  };
  const places = [p, q];
  if (p.sign() < 0 && q.sign() > 0) places.push(ZERO);
  const values = places.map((d) => c.times(bestAt(d)).minus(g.times(d)));
  for (const slope of [r, R]) {
    if (slope.isZero() || c.isZero()) continue;
    const place = end.over(slope);
    if (place.less(p) || q.less(place)) continue;
    for (const units of [place.floor(bits), place.ceil(bits)]) values.push(c.times(end).minus(g.times(Rational.dyadic(units, -bits))));
  }
  return values.reduce(larger);
}
return { slopesBetween, maximumOfSmoothNeuron };
})();
modules["rules/network-limits.js"] = (() => {
const { activate, activateInterval } = modules["bodies/activation.js"];
const { floorDivide, larger, Rational, smaller } = modules["exact/rational.js"];
const { positionOf } = modules["claim/space.js"];
const { slopesBetween } = modules["rules/network-smooth.js"];
const { quantityKey } = modules["rules/neuron.js"];
const LIMIT_BITS = 60;
const VALUE_BITS = 144;
function closedCodes({ lo, hi, otherLo, otherHi, p, q }) {
  const p1 = larger(p, otherLo.minus(hi));
  const q1 = smaller(q, otherHi.minus(lo));
  const otherLo1 = larger(otherLo, lo.plus(p1));
  const otherHi1 = smaller(otherHi, hi.plus(q1));
  const lo1 = larger(lo, otherLo1.minus(q1));
  const hi1 = smaller(hi, otherHi1.minus(p1));
  if (hi1.less(lo1) || otherHi1.less(otherLo1) || q1.less(p1)) return null;
  return { lo: lo1, hi: hi1, otherLo: otherLo1, otherHi: otherHi1, p: p1, q: q1 };
}
function closedLimits({ lo, hi, otherLo, otherHi, p, q }) {
  p = most(p, otherLo - hi);
  q = least(q, otherHi - lo);
  otherLo = most(otherLo, lo + p);
  otherHi = least(otherHi, hi + q);
  lo = most(lo, otherLo - q);
  hi = least(hi, otherHi - p);
  return lo > hi || otherLo > otherHi || p > q ? null : { lo, hi, otherLo, otherHi, p, q };
}
function most(a, b) {
  return a > b ? a : b;
}
function least(a, b) {
  return a < b ? a : b;
}
function closedIntervals(geometry, cell) {
  const closed = new Map();
  for (let k = 0; k < geometry.space.features.length; k++) {
    if (geometry.space.features[k].levels !== null || geometry.similarity[k].kind === 'same') continue;
    const [i, j, d] = [geometry.first[k], geometry.second[k], geometry.difference[k]];
    const [lo, hi, otherLo, otherHi] = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
    const p = d >= 0 ? cell.lo[d] : otherLo.minus(hi);
    const q = d >= 0 ? cell.hi[d] : otherHi.minus(lo);
    const ends = closedCodes({ lo, hi, otherLo, otherHi, p, q });
    if (ends === null) return null;
    closed.set(k, ends);
  }
  return closed;
}
function limitsOfSums(geometry, cell, body, shape, closed) {
  const limits = [];
  for (let l = 0; l < body.layers.length; l++) {
    const found = l === 0 ? firstLayer(geometry, cell, shape, closed) : nextLayer(shape.layers[l], body.layers[l - 1].activation, limits[l - 1]);
    const met = [];
    for (let i = 0; i < found.length; i++) {
      const own = closedLimits(metByCell(cell, l, i, found[i]));
      if (own === null) return null;
      met.push(own);
    }
    limits.push(met);
  }
  return limits;
}
function metByCell(cell, layer, neuron, found) {
  if (cell.limits.size === 0) return found;
  const ends = { ...found };
  const names = [['lo', 'hi'], ['otherLo', 'otherHi'], ['p', 'q']];
  names.forEach(([low, high], copy) => {
    const limit = cell.limits.get(quantityKey(layer, neuron, copy));
    if (limit === undefined) return;
    if (limit.lo !== null) ends[low] = most(ends[low], limit.lo.floor(LIMIT_BITS));
    if (limit.hi !== null) ends[high] = least(ends[high], limit.hi.ceil(LIMIT_BITS));
  });
  return ends;
}
function firstLayer(geometry, cell, shape, closed) {
  return shape.base.map((base, i) => {
    const [down, up] = [base.floor(LIMIT_BITS), base.ceil(LIMIT_BITS)];
    const total = { lo: down, hi: up, otherLo: down, otherHi: up, p: 0n, q: 0n };
    shape.contributions.forEach(({ slopes, tables }, k) => {
      const [first, second] = [geometry.first[k], geometry.second[k]];
      const ends = closed.get(k);
      let own, other;
      if (tables !== null) {
        own = rangeOf(tables[i].slice(positionOf(cell.lo[first]), positionOf(cell.hi[first]) + 1));
        other = rangeOf(tables[i].slice(positionOf(cell.lo[second]), positionOf(cell.hi[second]) + 1));
      } else {
        const slope = /** @type {Rational[]} */ (slopes)[i];
        own = rangeOf([slope.times(ends?.lo ?? cell.lo[first]), slope.times(ends?.hi ?? cell.hi[first])]);
        other = rangeOf([slope.times(ends?.otherLo ?? cell.lo[second]), slope.times(ends?.otherHi ?? cell.hi[second])]);
      }
      total.lo += own.down;
      total.hi += own.up;
      total.otherLo += other.down;
      total.otherHi += other.up;
      if (geometry.similarity[k].kind === 'same') return;
      if (tables !== null) {
        total.p += other.down - own.up;
        total.q += other.up - own.down;
      } else if (ends !== undefined) {
        const slope = /** @type {Rational[]} */ (slopes)[i];
        const difference = rangeOf([slope.times(ends.p), slope.times(ends.q)]);
        total.p += difference.down;
        total.q += difference.up;
      }
    });
    return total;
  });
}
function rangeOf(values) {
  return { down: values.reduce(smaller).floor(LIMIT_BITS), up: values.reduce(larger).ceil(LIMIT_BITS) };
}
function nextLayer(layer, activation, before) {
  const given = before.map((ends) => activated(activation, ends));
  const scale = 1n << BigInt(LIMIT_BITS);
  return layer.weights.map((row, i) => {
    const bias = layer.biases[i] * scale;
    const total = { lo: bias, hi: bias, otherLo: bias, otherHi: bias, p: 0n, q: 0n };
    row.forEach((weight, j) => {
      if (weight === 0n) return;
      const { lo, hi, otherLo, otherHi, p, q } = given[j];
      const up = weight > 0n;
      total.lo += weight * (up ? lo : hi);
      total.hi += weight * (up ? hi : lo);
      total.otherLo += weight * (up ? otherLo : otherHi);
      total.otherHi += weight * (up ? otherHi : otherLo);
      total.p += weight * (up ? p : q);
      total.q += weight * (up ? q : p);
    });
    const down = (/** @type {bigint} */ value) => floorDivide(value, layer.denominator);
    const above = (/** @type {bigint} */ value) => -floorDivide(-value, layer.denominator);
    return {
      lo: down(total.lo),
      hi: above(total.hi),
      otherLo: down(total.otherLo),
      otherHi: above(total.otherHi),
      p: down(total.p),
      q: above(total.q),
    };
  });
}
function activated(activation, ends) {
  const own = activatedRange(activation, ends.lo, ends.hi);
  const other = activatedRange(activation, ends.otherLo, ends.otherHi);
  const { r, R } = slopesOn(activation, least(ends.lo, ends.otherLo), most(ends.hi, ends.otherHi));
  const [p, q] = [Rational.dyadic(ends.p, -LIMIT_BITS), Rational.dyadic(ends.q, -LIMIT_BITS)];
  const difference = rangeOf([r.times(p), R.times(p), r.times(q), R.times(q)]);
  return {
    lo: own.down,
    hi: own.up,
    otherLo: other.down,
    otherHi: other.up,
    p: most(difference.down, other.down - own.up),
    q: least(difference.up, other.up - own.down),
    r,
    R,
  };
}
function activatedRange(activation, lo, hi) {
  const [from, to] = [Rational.dyadic(lo, -LIMIT_BITS), Rational.dyadic(hi, -LIMIT_BITS)];
  if (!activation.rational) {
    const { lo: low, hi: high } = activateInterval(activation, { lo: from, hi: to }, VALUE_BITS);
    return { down: low.floor(LIMIT_BITS), up: high.ceil(LIMIT_BITS) };
  }
  const places = [from, to, ...activation.breaks.filter((place) => from.less(place) && place.less(to))];
  return rangeOf(places.map((place) => activate(activation, place)));
}
function slopesOn(activation, lo, hi) {
  const [from, to] = [Rational.dyadic(lo, -LIMIT_BITS), Rational.dyadic(hi, -LIMIT_BITS)];
  if (!activation.rational) {
    const found = slopesBetween(activation, from, to);
    return { r: Rational.dyadic(found.lo.floor(LIMIT_BITS), -LIMIT_BITS), R: Rational.dyadic(found.hi.ceil(LIMIT_BITS), -LIMIT_BITS) };
  }
  return slopesOfPieces(activation, from, to);
}
function slopesOfPieces({ breaks, slopes }, from, to) {
  const met = slopes.filter((_, piece) => {
    const start = piece === 0 ? from : larger(from, breaks[piece - 1]);
    const end = piece === breaks.length ? to : smaller(to, breaks[piece]);
    return start.less(end);
  });
  const counting = met.length > 0 ? met : slopes;
  return { r: counting.reduce(smaller), R: counting.reduce(larger) };
}
return { LIMIT_BITS, closedCodes, closedIntervals, limitsOfSums, activated, slopesOfPieces };
})();
modules["rules/network-shape.js"] = (() => {
const { NetworkBody } = modules["bodies/network.js"];
const { Rational, sum, ZERO } = modules["exact/rational.js"];
function networkShape(body) {
  const [first] = body.layers;
  const base = first.weights.map((row, i) =>
    body.columns.reduce(
      (total, column, c) => (column.kind === 'linear' ? total.plus(row[c].times(column.offset)) : total),
      first.biases[i],
    ),
  );
  const contributions = body.space.features.map(({ levels }, k) => {
    const own = body.columns.flatMap((column, c) => (column.feature === k ? [{ column, c }] : []));
    if (levels === null) return { slopes: first.weights.map((row) => slopeOf(own, row)), tables: null };
    return { slopes: null, tables: first.weights.map((row) => levels.map((_, v) => entryOf(own, row, v))) };
  });
  return { base, contributions, layers: body.layers.map(wholeLayer) };
}
function slopeOf(columns, row) {
  return sum(columns.map(({ column, c }) => (column.kind === 'linear' ? row[c].times(column.slope) : ZERO)));
}
function entryOf(columns, row, v) {
  return sum(columns.map(({ column, c }) => (column.kind === 'table' ? row[c].times(column.table[v]) : ZERO)));
}
function wholeLayer({ biases, weights }) {
  const numbers = [...biases, ...weights.flat()].map((number) => number.lowest());
  const power = numbers.reduce((least, { two }) => Math.min(least, two), 0);
  const odd = numbers.reduce((common, number) => leastCommonMultiple(common, number.odd), 1n);
  const whole = (/** @type {Rational} */ number) => {
    const { top, two, odd: own } = number.lowest();
    return (top << BigInt(two - power)) * (odd / own);
  };
  return { denominator: odd << BigInt(-power), biases: biases.map(whole), weights: weights.map((row) => row.map(whole)) };
}
function leastCommonMultiple(a, b) {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return (a / x) * b;
}
return { networkShape };
})();
modules["rules/network.js"] = (() => {
const { activate } = modules["bodies/activation.js"];
const { NetworkBody } = modules["bodies/network.js"];
const { larger, ONE, Rational, smaller, sum, ZERO } = modules["exact/rational.js"];
const { readArrayOf, readInt } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { positionOf } = modules["claim/space.js"];
const { maximumOfTables } = modules["rules/form-maximum.js"];
const { activated, closedIntervals, limitsOfSums, LIMIT_BITS } = modules["rules/network-limits.js"];
const { networkShape } = modules["rules/network-shape.js"];
const { maximumOfSmoothNeuron } = modules["rules/network-smooth.js"];
const { polygonMaximum } = modules["rules/polygon.js"];
const MOST_BITS = 1000n;
const LARGEST_MULTIPLIER = 2n ** 256n - 1n;
const NO_PAIR = Object.freeze({ clearance: null, line: null });
function network(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'network') return reject('network: not for this body');
  readArrayOf(json, 'network', 5);
  const line = json[1] === null ? null : context.readLine(json[1]);
  const bits = Number(readInt(json[2], 'bits', 0n, MOST_BITS));
  const alpha = readMultipliers(json[3], body);
  const gamma = readMultipliers(json[4], body);
  const shape = context.derive(body, () => networkShape(body));
  const closed = closedIntervals(context.geometry, cell);
  if (closed === null) return NO_PAIR;
  const limits = limitsOfSums(context.geometry, cell, body, shape, closed);
  if (limits === null) return NO_PAIR;
  const ends = lastRow(context, body, line);
  const inputs = maximumOfInputs(context.geometry, cell, shape, closed, alpha[0], gamma[0], bits);
  if (inputs === null) return NO_PAIR;
  const neurons = sumOfNeurons(body, shape, limits, { alpha, gamma, bits, ...ends });
  return conclude(context, line, ends.bias.plus(inputs).plus(neurons));
}
function readMultipliers(json, body) {
  const count = body.layers.reduce((total, { biases }) => total + biases.length, 0);
  const items = readArrayOf(json, 'multipliers', count).map((item) => readInt(item, 'multiplier', -LARGEST_MULTIPLIER, LARGEST_MULTIPLIER));
  let at = 0;
  return body.layers.map(({ biases }) => {
    at += biases.length;
    return items.slice(at - biases.length, at);
  });
}
function lastRow(context, body, line) {
  if (line === null) {
    const zeros = body.weights.map(() => ZERO);
    return { first: zeros, second: zeros, bias: ZERO };
  }
  return context.derive(line, () => {
    const [F, G] = [body.form(line.first.alpha, ZERO), body.form(line.second.alpha, ZERO)];
    const total = line.a.plus(line.b);
    const s = line.first.sign.sign() > 0 ? ONE : ONE.negated();
    const a = s.times(line.a).over(total);
    const b = s.times(line.b).over(total).negated();
    return {
      first: F.weights.map(([weight]) => weight.times(a)),
      second: G.weights.map(([weight]) => weight.times(b)),
      bias: F.bias[0].times(a).plus(G.bias[0].times(b)),
    };
  });
}
function conclude(context, line, bound) {
  if (line === null) {
    require(bound.sign() < 0, 'network: the multipliers do not show that the cell is empty');
    return NO_PAIR;
  }
  const { sign, shift } = line.first;
  const total = sign.absolute().times(line.a.plus(line.b)).times(bound).plus(line.a.minus(line.b).times(shift));
  const order = total.compare(line.target);
  require(order < 0 || (order === 0 && line.mayTouch), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}
function maximumOfInputs(geometry, cell, shape, closed, alpha, gamma, bits) {
  const weigh = (/** @type {bigint[]} */ multipliers, /** @type {(i: number) => Rational} */ valueOf) =>
    sum(multipliers.flatMap((multiplier, i) => (multiplier === 0n ? [] : [valueOf(i).times(Rational.of(multiplier))]))).scaled(-bits);
  let total = weigh(alpha, (i) => shape.base[i]).plus(weigh(gamma, (i) => shape.base[i]));
  for (let k = 0; k < shape.contributions.length; k++) {
    const { slopes, tables } = shape.contributions[k];
    const [i, j] = [geometry.first[k], geometry.second[k]];
    const codes = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
    let most;
    if (slopes !== null) {
      const [u, v] = [weigh(alpha, (n) => slopes[n]), weigh(gamma, (n) => slopes[n])];
      const ends = closed.get(k);
      if (ends !== undefined) most = polygonMaximum(u, v, ends.lo, ends.hi, ends.otherLo, ends.otherHi, ends.p, ends.q);
      else most = u.plus(v).times(u.plus(v).sign() > 0 ? codes[1] : codes[0]);
    } else {
      const rows = /** @type {Rational[][]} */ (tables);
      const tableOf = (/** @type {bigint[]} */ multipliers) => rows[0].map((_, position) => weigh(multipliers, (n) => rows[n][position]));
      most = maximumOfTables(tableOf(alpha), tableOf(gamma), codes.map(positionOf), geometry.similarity[k]);
    }
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}
function sumOfNeurons(body, shape, limits, { alpha, gamma, bits, first, second }) {
  let total = ZERO;
  body.layers.forEach(({ activation, biases }, l) => {
    const last = l === body.layers.length - 1;
    const A = last ? first : pulledBack(shape.layers[l + 1], alpha[l + 1], bits);
    const C = last ? second : pulledBack(shape.layers[l + 1], gamma[l + 1], bits);
    biases.forEach((bias, i) => {
      const own = { A: A[i], C: C[i], alpha: Rational.dyadic(alpha[l][i], -bits), gamma: Rational.dyadic(gamma[l][i], -bits) };
      const maximumOf = activation.rational ? maximumOfNeuron : maximumOfSmooth;
      total = total.plus(maximumOf(activation, limits[l][i], own));
      if (l > 0) total = total.plus(own.alpha.plus(own.gamma).times(bias));
    });
  });
  return total;
}
function pulledBack(layer, multipliers, bits) {
  return layer.weights[0].map((_, j) => {
    let total = 0n;
    multipliers.forEach((multiplier, i) => {
      if (multiplier !== 0n) total += multiplier * layer.weights[i][j];
    });
    return Rational.fraction(total, layer.denominator).scaled(-bits);
  });
}
function maximumOfSmooth(activation, limits, own) {
  const real = (/** @type {bigint} */ units) => Rational.dyadic(units, -LIMIT_BITS);
  const ends = {
    lo: real(limits.lo),
    hi: real(limits.hi),
    otherLo: real(limits.otherLo),
    otherHi: real(limits.otherHi),
    p: real(limits.p),
    q: real(limits.q),
  };
  const { p, q, r, R } = activated(activation, limits);
  return maximumOfSmoothNeuron(activation, ends, { e: real(p), E: real(q), r, R }, LIMIT_BITS, own);
}
function maximumOfNeuron(activation, limits, { A, C, alpha, gamma }) {
  const real = (/** @type {bigint} */ units) => Rational.dyadic(units, -LIMIT_BITS);
  const [lo, hi, otherLo, otherHi] = [limits.lo, limits.hi, limits.otherLo, limits.otherHi].map(real);
  const [p, q] = [real(limits.p), real(limits.q)];
  const candidates = [otherLo.minus(p), otherHi.minus(q)];
  for (const place of activation.breaks) candidates.push(place, place.minus(p), place.minus(q));
  const places = [lo, hi, ...candidates.filter((y) => lo.less(y) && y.less(hi))];
  let most = null;
  for (const y of places) {
    const base = A.times(activate(activation, y)).minus(alpha.times(y));
    const [from, to] = [larger(otherLo, y.plus(p)), smaller(otherHi, y.plus(q))];
    const others = [from, to, ...activation.breaks.filter((place) => from.less(place) && place.less(to))];
    for (const other of others) {
      const value = base.plus(C.times(activate(activation, other))).minus(gamma.times(other));
      if (most === null || most.less(value)) most = value;
    }
  }
  return /** @type {Rational} */ (most);
}
return { network };
})();
modules["rules/class-forms.js"] = (() => {
const { ONE, Rational, ZERO } = modules["exact/rational.js"];
const { reject } = modules["rejection.js"];
const { maximumWithMultipliers } = modules["rules/separable.js"];
const { maximumOfTrees, shapesOf, treeFormOf } = modules["rules/tree-maximum.js"];
class ClassForms {
  constructor(context, cell, ofClass) {
    const { body } = context.claim.model;
    if (body.kind !== 'affine' && body.kind !== 'trees') reject('this rule is not for this body');
    this.context = context;
    this.cell = cell;
    this.ofClass = ofClass;
    this.count = body.scores - 1;
    this.zero = Array.from({ length: this.count }, () => ZERO);
  }
  alphaOf(factors) {
    const alpha = factors.slice();
    const total = factors.reduce((sum, factor) => sum.plus(factor), ZERO);
    alpha.splice(this.ofClass, 0, total.negated());
    return alpha;
  }
  maximum(first, second, multipliers = null) {
    const { context, cell } = this;
    const { body } = context.claim.model;
    const [alpha, otherAlpha] = [this.alphaOf(first), this.alphaOf(second)];
    if (body.kind === 'affine') {
      return maximumWithMultipliers(context, cell, body.form(alpha, ZERO), body.form(otherAlpha, ZERO), multipliers);
    }
    if (body.kind !== 'trees') return reject('this rule is not for this body');
    const shapes = context.derive(body, () => shapesOf(body, context.clock));
    const forms = [alpha, otherAlpha].map((factors) => treeFormOf(body.form(factors, ZERO), ONE));
    return maximumOfTrees(context.geometry, cell, shapes, forms[0], forms[1], context.clock);
  }
}
return { ClassForms };
})();
modules["rules/softmax.js"] = (() => {
const { entropyOf, softplusOf } = modules["exact/interval.js"];
const { larger, ONE, Rational, sum, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArrayOf, readNumbersOf } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { tangentAt } = modules["proof/line.js"];
const { ClassForms } = modules["rules/class-forms.js"];
const { readMultipliers } = modules["rules/separable.js"];
const BITS = 160;
function softmax(context, cell, json) {
  const { ofClass, delta } = softmaxOfCase(context, 'softmax');
  const forms = new ClassForms(context, cell, ofClass);
  require(json.length === 4 || json.length === 5, 'softmax: not four or five entries');
  const { a, b, target } = tangentAt(readNumber(json[1], 'way'), delta);
  const weights = readMean(json[2], forms.count);
  const steps = readArrayOf(json[3], 'steps', forms.count - 1).map((item, r) => readStep(item, r + 1));
  const multipliers = json.length === 5 ? readMultipliersFor(context, json[4]) : null;
  const upper = upperFormOf(forms, steps);
  if (upper === null) return { clearance: null, line: null };
  const first = weights.map((weight) => weight.times(a).negated());
  const second = upper.factors.map((factor) => factor.times(b));
  const most = forms.maximum(first, second, multipliers);
  if (most === null) return { clearance: null, line: null };
  const numbers = b.times(upper.number).minus(a.times(entropyOf(weights, BITS).lo));
  require(most.plus(numbers).atMost(target), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line: null };
}
function softmaxOfCase(context, rule) {
  const own = context.case;
  if (own.kind !== 'softmax' || !('ofClass' in own) || !('delta' in own)) return reject(`${rule}: not a probability by softmax`);
  return { ofClass: /** @type {number} */ (own.ofClass), delta: /** @type {Rational} */ (own.delta) };
}
function readMultipliersFor(context, json) {
  if (context.claim.model.body.kind === 'affine') return readMultipliers(context, json);
  readArrayOf(json, 'multipliers', 0);
  return null;
}
function readMean(json, length) {
  const weights = readNumbersOf(json, 'weights of a mean', length);
  require(weights.every((weight) => weight.sign() >= 0), 'softmax: a negative weight');
  require(sum(weights).equals(ONE), 'softmax: weights that do not add up to 1');
  return weights;
}
function readStep(json, length) {
  const [slopeJson, mean] = readArrayOf(json, 'step', 2);
  const slope = readNumber(slopeJson, 'slope');
  require(slope.sign() >= 0 && slope.atMost(ONE), 'softmax: a slope that is not from 0 to 1');
  return { slope, mean: readMean(mean, length) };
}
function upperFormOf(forms, steps) {
  let factors = forms.zero.map((_, r) => (r === 0 ? ONE : ZERO));
  let number = ZERO;
  for (let r = 0; r < steps.length; r++) {
    const { slope, mean } = steps[r];
    const next = r + 1;
    const aboveMean = forms.zero.map((_, i) => (i === next ? ONE : i <= r ? mean[i].negated() : ZERO));
    const high = forms.maximum(forms.zero, aboveMean);
    const belowForm = factors.map((factor, i) => (i === next ? factor.minus(ONE) : factor));
    const low = forms.maximum(forms.zero, belowForm);
    if (high === null || low === null) return null;
    const to = high.minus(entropyOf(mean, BITS).lo);
    const from = low.plus(number).negated();
    const lift = larger(heightAt(from, slope), heightAt(to, slope));
    const keep = ONE.minus(slope);
    factors = factors.map((factor, i) => (i === next ? slope : factor.times(keep)));
    number = number.times(keep).plus(lift);
  }
  return { factors, number };
}
function heightAt(t, slope) {
  return softplusOf(t, BITS).hi.minus(slope.times(t));
}
return { softmax, softmaxOfCase };
})();
modules["rules/odds.js"] = (() => {
const { expOf, sigmaOf } = modules["exact/interval.js"];
const { larger, ONE, Rational, ZERO } = modules["exact/rational.js"];
const { readArray, readArrayOf, readNumbersOf } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { require } = modules["rejection.js"];
const { ClassForms } = modules["rules/class-forms.js"];
const { softmaxOfCase } = modules["rules/softmax.js"];
const BITS = 128;
const LARGEST = Rational.of(64);
function odds(context, cell, json) {
  const { ofClass, delta } = softmaxOfCase(context, 'odds');
  const forms = new ClassForms(context, cell, ofClass);
  const [, listed] = readArrayOf(json, 'odds', 2);
  const directions = readArray(listed, 'directions').map((item) => readNumbersOf(item, 'direction', forms.count));
  const bounds = boundsOf(forms, directions);
  if (bounds === null) return { clearance: null, line: null };
  const { box, gains, limits } = bounds;
  if (gains.every((gain) => gain.sign() <= 0)) return { clearance: context.noClearance, line: null };
  require(gains.every((gain) => gain.atMost(LARGEST)), 'odds: a difference that grows by more than 64');
  const test = new BoxTest(gains, limits, delta);
  const waiting = [box];
  let looked = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    context.clock.tick();
    looked += 1;
    require(looked <= MAXIMUM.oddsBoxes, 'odds: too many boxes');
    if (!test.isDone(next)) waiting.push(...halves(next));
  }
  return { clearance: context.noClearance, line: null };
}
function endAt(at) {
  const power = expOf(at.atMost(LARGEST) ? at : LARGEST, BITS);
  return { at, expLow: power.lo, expHigh: power.hi, sigma: sigmaOf(at, BITS).lo };
}
function boundsOf(forms, directions) {
  const unit = (/** @type {number} */ r, /** @type {Rational} */ value) => forms.zero.map((zero, i) => (i === r ? value : zero));
  const box = { lo: [], hi: [] };
  const gains = [];
  for (let r = 0; r < forms.count; r++) {
    const gain = forms.maximum(unit(r, ONE.negated()), unit(r, ONE));
    const most = forms.maximum(unit(r, ONE), forms.zero);
    const least = forms.maximum(unit(r, ONE.negated()), forms.zero);
    if (gain === null || most === null || least === null) return null;
    gains.push(gain);
    box.hi.push(endAt(most));
    box.lo.push(endAt(least.negated()));
  }
  const limits = [];
  for (const factors of directions) {
    const limit = forms.maximum(factors, forms.zero);
    if (limit === null) return null;
    limits.push({ factors, limit });
  }
  return { box, gains, limits };
}
class BoxTest {
  constructor(gains, limits, delta) {
    this.limits = limits;
    this.delta = delta;
    this.growth = gains.map((gain) => expOf(gain, BITS).hi);
    this.order = gains.map((_, r) => r).sort((a, b) => gains[b].compare(gains[a]));
  }
  isDone(box) {
    return this.isOutside(box) || this.isSmall(box);
  }
  isOutside({ lo, hi }) {
    return this.limits.some(({ factors, limit }) => {
      const least = factors.reduce((total, factor, r) => total.plus(factor.times((factor.sign() > 0 ? lo : hi)[r].at)), ZERO);
      return limit.less(least);
    });
  }
  isSmall({ lo, hi }) {
    const { delta } = this;
    const bounded = hi.every(({ at }) => at.atMost(LARGEST));
    const R = bounded ? this.ratio(lo, hi) : this.growth.reduce(larger);
    const B = R.minus(ONE).minus(delta.times(ONE.plus(R)));
    if (B.sign() <= 0 || B.squared().atMost(delta.squared().times(R).scaled(2))) return true;
    const q = (/** @type {Rational} */ S) => delta.times(R).times(S.squared()).minus(B.times(S)).plus(delta);
    const slope = (/** @type {Rational} */ S) => delta.times(R).times(S).scaled(1);
    const S1 = lo.reduce((total, { expLow }) => total.plus(expLow), ZERO);
    if (q(S1).sign() >= 0 && B.atMost(slope(S1))) return true;
    if (!bounded) return false;
    const S2 = hi.reduce((total, { expHigh }) => total.plus(expHigh), ZERO);
    return q(S2).sign() >= 0 && slope(S2).atMost(B);
  }
  ratio(lo, hi) {
    const { order, growth } = this;
    let top = ZERO;
    let bottom = ZERO;
    for (const r of order) {
      top = top.plus(lo[r].expLow.times(growth[r]));
      bottom = bottom.plus(lo[r].expLow);
    }
    let best = null;
    for (const r of order) {
      const more = hi[r].expHigh.minus(lo[r].expLow);
      top = top.plus(more.times(growth[r]));
      bottom = bottom.plus(more);
      if (best === null || best.top.times(bottom).less(top.times(best.bottom))) best = { top, bottom };
    }
    const { top: t, bottom: s } = /** @type {{top: Rational, bottom: Rational}} */ (best);
    return Rational.dyadic(t.over(s).ceil(BITS), -BITS);
  }
}
function halves({ lo, hi }) {
  let widest = 0;
  const width = (/** @type {number} */ r) => hi[r].sigma.minus(lo[r].sigma);
  for (let r = 1; r < lo.length; r++) if (width(widest).less(width(r))) widest = r;
  const middle = endAt(lo[widest].at.plus(hi[widest].at).half());
  const replaced = (/** @type {End[]} */ ends) => ends.map((end, r) => (r === widest ? middle : end));
  return [{ lo, hi: replaced(hi) }, { lo: replaced(lo), hi }];
}
return { odds };
})();
modules["rules/polynomial.js"] = (() => {
const { PolynomialBody } = modules["bodies/polynomial.js"];
const { AxesPolynomial } = modules["exact/axes-polynomial.js"];
const { ONE, Rational } = modules["exact/rational.js"];
const { readArrayOf, readInt } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { Cube, cubeOf } = modules["rules/cube.js"];
const { majorantMaximum } = modules["rules/majorant.js"];
function polynomial(context, cell, json) {
  const body = polynomialBody(context);
  readArrayOf(json, 'polynomial', 3);
  const cube = cubeOf(context.geometry, cell, body.columns);
  if (cube === null) return { clearance: null, line: null };
  const line = context.readLine(json[1]);
  const hints = readArrayOf(json[2], 'hints', cube.axes).map((hint) => readInt(hint, 'hint', -64n, 64n));
  const excess = excessOf(context, body, cube, line);
  return concludeFromExcess(context, line, majorantMaximum(cube, excess, hints));
}
function polynomialBody(context) {
  const { body } = context.claim.model;
  return body.kind === 'polynomial' ? body : reject('polynomial: not for this body');
}
function excessOf(context, body, cube, line) {
  const forms = context.derive(line, () => ({ first: scoreBody(body, line.first), second: scoreBody(body, line.second) }));
  const first = scoreOnCube(context, forms.first, cube, 0);
  const second = scoreOnCube(context, forms.second, cube, 1);
  const excess = AxesPolynomial.constant(line.target.negated());
  if (line.factors === null) return excess.addMultiple(first, line.a).addMultiple(second, line.b.negated());
  const [constant, ...slopes] = readFactors(line.factors, cube);
  const a = AxesPolynomial.affine(constant, slopes.map((slope, axis) => [axis, slope]));
  const b = AxesPolynomial.constant(ONE).addMultiple(a, ONE.negated());
  return excess.addMultiple(a.times(first), ONE).addMultiple(b.times(second), ONE.negated());
}
function readFactors(factors, cube) {
  require(factors.length === cube.axes + 1, 'way: not one number more than there are axes');
  const reach = factors.slice(1).reduce((total, factor) => total.plus(factor.absolute().scaled(1)), factors[0].scaled(1).minus(ONE).absolute());
  require(reach.atMost(ONE), 'way: a is not in [0, 1] on the cell');
  return factors;
}
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
function scoreOnCube({ clock }, body, cube, copy) {
  const columns = cube.columns[copy];
  const total = new AxesPolynomial();
  const known = new Map([['', AxesPolynomial.constant(ONE)]]);
  const productOf = (factors) => {
    const key = factors.join();
    const before = known.get(key);
    if (before !== undefined) return before;
    clock.tick();
    const made = productOf(factors.slice(0, -1)).times(columns[factors[factors.length - 1]]);
    known.set(key, made);
    return made;
  };
  for (const { coefficients, factors } of body.terms) {
    if (!coefficients[0].isZero()) total.addMultiple(productOf(factors), coefficients[0]);
  }
  return total;
}
function concludeFromExcess(context, line, bound) {
  const sign = bound.sign();
  require(sign < 0 || (sign === 0 && line.mayTouch), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}
return { polynomial, polynomialBody, excessOf, concludeFromExcess };
})();
modules["rules/slopes.js"] = (() => {
const { activateInterval } = modules["bodies/activation.js"];
const { dot } = modules["bodies/affine.js"];
const { add, exactly, expOf, interval, multiply, powerOf, product, roundedOut } = modules["exact/interval.js"];
const { larger, ONE, Rational, smaller, sum, ZERO } = modules["exact/rational.js"];
const { reject, require } = modules["rejection.js"];
const { positionOf } = modules["claim/space.js"];
const { kernelFeatures } = modules["rules/kernel-features.js"];
const { slopesOfPieces } = modules["rules/network-limits.js"];
const BITS = 96;
const NOTHING = exactly(ZERO);
const QUARTER = ONE.scaled(-2);
function slopesOfBody(body, space, alpha) {
  switch (body.kind) {
    case 'affine':
      return slopesOfAffine(body, alpha);
    case 'polynomial':
      return slopesOfPolynomial(body, alpha);
    case 'rbf':
      return slopesOfRbf(body, space, alpha);
    case 'network':
      return slopesOfNetwork(body, alpha);
    case 'sum':
      return slopesOfSum(body, space, alpha);
    default:
      return reject('slope: not for this body');
  }
}
function slopeOf(column) {
  return column.kind === 'linear' ? column.slope : ZERO;
}
function slopesOfAffine({ columns, weights }, alpha) {
  require(columns.every(({ kind }) => kind !== 'pieces'), 'slope: not for columns in pieces');
  return (_, features) => {
    const slopeAt = (/** @type {number} */ k) =>
      sum(columns.map((column, c) => (column.feature === k ? slopeOf(column).times(dot(alpha, weights[c])) : ZERO)));
    return new Map(features.map((k) => [k, exactly(slopeAt(k))]));
  };
}
function rangesOf(columns, box) {
  return columns.map((column) => {
    const { lo, hi } = box[column.feature];
    if (column.kind === 'linear') return add(exactly(column.offset), multiply(box[column.feature], column.slope));
    const entries = column.table.slice(positionOf(lo), positionOf(hi) + 1);
    return interval(entries.reduce(smaller), entries.reduce(larger));
  });
}
function slopesOfPolynomial({ columns, terms }, alpha) {
  return (box, features) => {
    const ranges = rangesOf(columns, box);
    const slopes = new Map(features.map((k) => [k, NOTHING]));
    for (const { coefficients, factors } of terms) {
      const coefficient = dot(alpha, coefficients);
      const powers = new Map();
      for (const c of factors) powers.set(c, (powers.get(c) ?? 0) + 1);
      for (const [c, n] of powers) {
        const before = slopes.get(columns[c].feature);
        if (before === undefined) continue;
        let part = exactly(coefficient.times(slopeOf(columns[c])).times(Rational.of(n)));
        for (const [d, own] of powers) part = product(part, powerOf(ranges[d], d === c ? own - 1 : own));
        slopes.set(columns[c].feature, add(before, part));
      }
    }
    return slopes;
  };
}
function slopesOfRbf(body, space, alpha) {
  const kernel = kernelFeatures(body, space);
  const factors = body.terms.map(({ coefficients }) => dot(alpha, coefficients).times(body.gamma).scaled(1).negated());
  return (box, features) => {
    const distances = kernel.map((feature, k) => distancesOn(feature, box[k], space.features[k].levels === null));
    const slopes = new Map(features.map((k) => [k, NOTHING]));
    factors.forEach((factor, t) => {
      if (factor.isZero()) return;
      const far = distances.reduce((total, ranges) => add(total, ranges[t]), NOTHING);
      const nearness = interval(expOf(body.gamma.times(far.hi).negated(), BITS).lo, expOf(body.gamma.times(far.lo).negated(), BITS).hi);
      for (const [k, before] of slopes) {
        const { A, B } = kernel[k];
        const inner = add(multiply(box[k], A), exactly(B[t].negated()));
        slopes.set(k, roundedOut(add(before, multiply(product(nearness, inner), factor)), BITS));
      }
    });
    return slopes;
  };
}
function distancesOn({ A, B, distances }, range, isNumber) {
  const codes = isNumber ? [range.lo, range.hi] : positionsIn(range);
  const atCodes = codes.map(distances);
  return B.map((b, t) => {
    const values = atCodes.map((ofTerms) => ofTerms[t]);
    if (isNumber && A.sign() > 0) {
      const lowest = b.over(A);
      if (range.lo.less(lowest) && lowest.less(range.hi)) values.push(distances(lowest)[t]);
    }
    return interval(values.reduce(smaller), values.reduce(larger));
  });
}
function positionsIn({ lo, hi }) {
  const start = positionOf(lo);
  return Array.from({ length: positionOf(hi) - start + 1 }, (_, i) => Rational.of(start + i));
}
function slopesOfNetwork(body, alpha) {
  const lastRow = body.weights.map((weights) => exactly(dot(alpha, weights)));
  const rounded = (/** @type {Interval} */ range) => (body.irrational ? roundedOut(range, BITS) : range);
  return (box, features) => {
    let values = rangesOf(body.columns, box);
    const slopesOfLayers = body.layers.map(({ activation, biases, weights }) => {
      const sums = weights.map((row, i) => rounded(row.reduce((total, weight, j) => add(total, multiply(values[j], weight)), exactly(biases[i]))));
      values = sums.map((range) => rounded(activateInterval(activation, range, BITS)));
      return sums.map((range) => slopesOfActivation(activation, range));
    });
    let back = lastRow;
    for (let l = body.layers.length - 1; l >= 0; l--) {
      const { weights } = body.layers[l];
      const own = back.map((range, i) => product(range, slopesOfLayers[l][i]));
      back = weights[0].map((_, j) => rounded(own.reduce((total, range, i) => add(total, multiply(range, weights[i][j])), NOTHING)));
    }
    const slopes = new Map(features.map((k) => [k, NOTHING]));
    body.columns.forEach((column, c) => {
      const before = slopes.get(column.feature);
      if (before !== undefined) slopes.set(column.feature, add(before, multiply(back[c], slopeOf(column))));
    });
    return slopes;
  };
}
function slopesOfActivation(activation, sums) {
  if (activation.rational) {
    const { r, R } = slopesOfPieces(activation, sums.lo, sums.hi);
    return interval(r, R);
  }
  if (activation.kind === 'elu') return interval(smaller(ZERO, activation.numbers[0]), larger(ONE, activation.numbers[0]));
  return interval(ZERO, activation.kind === 'tanh' ? ONE : QUARTER);
}
function slopesOfSum({ parts }, space, alpha) {
  const ofParts = parts.flatMap(({ weights, link, body }) => {
    const weight = dot(alpha, weights);
    if (weight.isZero()) return [];
    require(link === null || link.kind === 'logistic', 'slope: not for links that are tables or chains');
    const factor = link === null ? exactly(weight) : multiply(interval(ZERO, link.slope.times(QUARTER)), weight);
    return [{ factor, slopesOn: slopesOfBody(body, space, [ONE]) }];
  });
  return (box, features) => {
    const slopes = new Map(features.map((k) => [k, NOTHING]));
    for (const { factor, slopesOn } of ofParts) {
      for (const [k, range] of slopesOn(box, features)) slopes.set(k, add(slopes.get(k) ?? NOTHING, product(range, factor)));
    }
    return slopes;
  };
}
return { slopesOfBody };
})();
modules["rules/slope.js"] = (() => {
const { sizeOf } = modules["exact/interval.js"];
const { larger, ONE, Rational, smaller, sum, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArray, readArrayOf, readIndex } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { slopesOfBody } = modules["rules/slopes.js"];
function slope(context, cell, json) {
  const [, nodesJson] = readArrayOf(json, 'slope', 2);
  const { rate } = context.case;
  if (rate === null) return reject('slope: the property is not "lipschitz"');
  const { geometry, claim } = context;
  const { body } = claim.model;
  const { features } = geometry.space;
  const moving = features.flatMap(({ levels }, k) => (levels === null && geometry.similarity[k].kind !== 'same' ? [k] : []));
  const { first: score } = context.readLineAside(HALF_WAY);
  const slopesOn = context.derive(rate, () => slopesOfBody(body, geometry.space, score.alpha));
  const waiting = [firstBox(geometry, cell)];
  const nodes = readArray(nodesJson, 'nodes of a slope');
  require(nodes.length <= MAXIMUM.slopeNodes, 'slope: too many nodes');
  for (const node of nodes) {
    context.clock.tick();
    const box = waiting.pop();
    if (box === undefined) return reject('slope: a node after the end of the tree');
    if (node === 0n) {
      const slopes = new Map(moving.map((k) => [k, ZERO]));
      for (const [k, range] of slopesOn(box, moving)) slopes.set(k, sizeOf(range));
      require(isWithinRate(rate, slopes), 'slope: a slope is larger than the rate allows');
    } else {
      const [left, right] = cutBox(features, box, node);
      waiting.push(right, left);
    }
  }
  require(waiting.length === 0, 'slope: the tree is not complete');
  return { clearance: body.kind === 'affine' ? claim.property.delta.half() : context.noClearance, line: null };
}
const HALF_WAY = '1/2';
function firstBox({ space, similarity, first, second }, cell) {
  return space.features.map(({ levels }, k) => {
    const [i, j] = [first[k], second[k]];
    const box = { lo: smaller(cell.lo[i], cell.lo[j]), hi: larger(cell.hi[i], cell.hi[j]) };
    const mayMove = similarity[k].kind === 'same' || levels === null;
    require(mayMove || box.lo.equals(box.hi), 'slope: levels that may differ and are not fixed to one position');
    return box;
  });
}
function cutBox(features, box, json) {
  const [feature, place] = readArrayOf(json, 'node of a slope', 2);
  const k = readIndex(feature, 'feature of a cut', features.length);
  const at = readNumber(place, 'place of a cut');
  const { lo, hi } = box[k];
  const isOfLevels = features[k].levels !== null;
  require(isOfLevels ? at.isWhole() && lo.atMost(at) : lo.less(at), 'slope: a cut outside the box');
  require(at.less(hi), 'slope: a cut outside the box');
  const withInterval = (/** @type {Interval} */ own) => box.map((range, i) => (i === k ? own : range));
  return [withInterval({ lo, hi: at }), withInterval({ lo: isOfLevels ? at.plus(ONE) : at, hi })];
}
function isWithinRate({ constant, norm, terms }, slopes) {
  const shares = [];
  for (const [k, size] of slopes) {
    if (size.isZero()) continue;
    const cost = terms.find(({ feature }) => feature === k)?.cost;
    if (cost === undefined || cost.kind !== 'each' || cost.cost.isZero()) return false;
    shares.push(size.over(cost.cost));
  }
  if (norm === 1) return shares.every((share) => share.atMost(constant));
  if (norm === 'max') return sum(shares).atMost(constant);
  return sum(shares.map((share) => share.squared())).atMost(constant.squared());
}
return { slope };
})();
modules["rules/sos.js"] = (() => {
const { AxesPolynomial, axisProduct, multiplyProducts } = modules["exact/axes-polynomial.js"];
const { ONE, Rational } = modules["exact/rational.js"];
const { readArray, readArrayOf, readIndex, readInt } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { positionOf } = modules["claim/space.js"];
const { Cube, cubeOf } = modules["rules/cube.js"];
const { majorantMaximum } = modules["rules/majorant.js"];
const { concludeFromExcess, excessOf, polynomialBody } = modules["rules/polynomial.js"];
const MOST_BITS = 200n;
const MOST_FACTORS = 8;
const HIGHEST_DEGREE = 8;
const ANY = 10n ** BigInt(MAXIMUM.intCharacters);
function sos(context, cell, json) {
  const body = polynomialBody(context);
  readArrayOf(json, 'sos', 4);
  const cube = cubeOf(context.geometry, cell, body.columns);
  if (cube === null) return { clearance: null, line: null };
  const line = context.readLine(json[1], true);
  const bits = Number(readInt(json[2], 'bits', 0n, MOST_BITS));
  const bounded = excessOf(context, body, cube, line);
  for (const item of readArray(json[3], 'generators')) {
    context.clock.look();
    const [factors, mu, squares] = readArrayOf(item, 'generator', 3);
    const multiplier = readMultiplier(mu, squares, bits, cube);
    const generator = readGenerator(context, cell, cube, factors);
    require(generator.terms.size * multiplier.terms.size <= MAXIMUM.products, 'sos: too many products');
    bounded.addMultiple(generator.times(multiplier), ONE);
  }
  const noHints = Array.from({ length: cube.axes }, () => 0n);
  const { clearance } = concludeFromExcess(context, line, majorantMaximum(cube, bounded, noHints));
  return { clearance, line: null };
}
function readMultiplier(muJson, squaresJson, bits, cube) {
  const mu = readInt(muJson, 'mu', 0n, ANY);
  const squares = readArray(squaresJson, 'squares').map((square) =>
    readArray(square, 'square').map((item) => readInt(item, 'coefficient of a square', -ANY, ANY)),
  );
  const longest = squares.reduce((most, square) => Math.max(most, square.length), 0);
  require(squares.length * longest * longest <= MAXIMUM.products, 'sos: too many products');
  const products = productsInGradedOrder(cube.axes, longest);
  const total = AxesPolynomial.constant(Rational.dyadic(mu, -2 * bits));
  for (let i = 0; i < longest; i++) {
    for (let j = i; j < longest; j++) {
      let factor = 0n;
      for (const square of squares) if (j < square.length) factor += square[i] * square[j];
      if (factor !== 0n) total.addTerm(multiplyProducts(products[i], products[j]), Rational.dyadic(i === j ? factor : 2n * factor, -2 * bits));
    }
  }
  return total;
}
function productsInGradedOrder(axes, count) {
  const products = [''];
  let degree = [''];
  for (let d = 1; d <= HIGHEST_DEGREE && products.length < count; d++) {
    const next = [];
    for (const product of degree) {
      if (products.length + next.length >= count) break;
      const last = product === '' ? 0 : product.charCodeAt(product.length - 1);
      for (let axis = last; axis < axes; axis++) next.push(product + axisProduct(axis));
    }
    products.push(...next);
    degree = next;
  }
  require(count <= products.length, 'sos: a square has more coefficients than there are products of degree 8');
  return products.slice(0, Math.max(count, 1));
}
function readGenerator(context, cell, cube, json) {
  const factors = readArray(json, 'generator');
  require(factors.length <= MOST_FACTORS, `sos: a generator of more than ${MOST_FACTORS} factors`);
  return factors.reduce((/** @type {AxesPolynomial} */ product, item) => {
    const factor = readFactor(context, cell, cube, item);
    require(product.terms.size * factor.terms.size <= MAXIMUM.products, 'sos: too many products');
    return product.times(factor);
  }, AxesPolynomial.constant(ONE));
}
function readFactor(context, cell, cube, json) {
  if (typeof json === 'bigint') {
    const size = json < 0n ? -json : json;
    const axis = readIndex(size - 1n, 'axis of a factor', cube.axes);
    return AxesPolynomial.affine(ONE, [[axis, json > 0n ? ONE : ONE.negated()]]);
  }
  const [i, j] = readArrayOf(json, 'factor', 2);
  if (i === -1n) {
    const index = readIndex(j, 'constraint of a factor', 2 * context.claim.space.constraints.length);
    return constraintFactor(context, cell, cube, index);
  }
  return gapFactor(cube, readIndex(i, 'axis of a factor', cube.axes), j);
}
function gapFactor(cube, axis, json) {
  const { axes, places } = cube.groups[cube.groupOf[axis]];
  if (places === null) return reject('sos: a gap on an axis without places');
  const sorted = places.map((place) => place[axis - axes[0]]).sort((a, b) => a.compare(b));
  const values = sorted.filter((value, n) => n === 0 || !value.equals(sorted[n - 1]));
  const j = readIndex(json, 'gap of a factor', values.length - 1);
  const left = AxesPolynomial.affine(values[j].negated(), [[axis, ONE]]);
  return left.times(AxesPolynomial.affine(values[j + 1].negated(), [[axis, ONE]]));
}
function constraintFactor({ geometry }, cell, cube, index) {
  const { constraints } = geometry.space;
  const copy = index < constraints.length ? 0 : 1;
  const { terms, bound } = constraints[index % constraints.length];
  const total = AxesPolynomial.constant(bound);
  for (const { feature, factor, amounts } of terms) {
    if (factor !== null) {
      total.addMultiple(/** @type {AxesPolynomial} */ (cube.codes[copy].get(feature)), factor.negated());
      continue;
    }
    const v = copy === 0 ? geometry.first[feature] : geometry.second[feature];
    require(cell.lo[v].equals(cell.hi[v]), 'sos: a constraint on levels that are not fixed in the cell');
    const amount = /** @type {Rational[]} */ (amounts)[positionOf(cell.lo[v])];
    total.addTerm('', amount.negated());
  }
  return total;
}
return { sos };
})();
modules["rules/tree-groups.js"] = (() => {
const { Rational, ZERO } = modules["exact/rational.js"];
const { readArray, readIndex } = modules["file/fields.js"];
const { require } = modules["rejection.js"];
const { canBeRelated, commonRegion, isEmptyRegion } = modules["rules/regions.js"];
const { CellView, maximumOfTree } = modules["rules/tree-maximum.js"];
const FEWEST = 2;
const MOST = 4;
function readGroups(json, count) {
  const items = readArray(json, 'groups of trees');
  require(items.length > 0, 'trees: no group');
  const grouped = new Set();
  return items.map((item) => {
    const places = readArray(item, 'group of trees');
    require(FEWEST <= places.length && places.length <= MOST, `trees: a group of ${places.length} trees`);
    const group = places.map((place) => readIndex(place, 'place of a tree', count));
    group.forEach((t, i) => {
      require(i === 0 || group[i - 1] < t, 'trees: places of a group are not strictly increasing');
      require(!grouped.has(t), 'trees: a tree is in two groups');
      grouped.add(t);
    });
    return group;
  });
}
function maximumWithGroups(geometry, cell, shapes, first, second, groups, clock) {
  const view = new CellView(geometry, cell);
  if (!view.isPossible) return null;
  const regions = regionsOf(view);
  let total = first.bias.plus(second.bias);
  const grouped = new Set(groups.flat());
  const alone = [...shapes.keys()].filter((t) => !grouped.has(t)).map((t) => [t]);
  for (const group of [...groups, ...alone]) {
    clock.tick();
    const most = maximumOfGroup(view, regions, shapes, first, second, group, clock);
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}
function regionsOf(view) {
  const { first, second } = view.geometry;
  const regions = [];
  view.whole.forEach((box, k) => {
    regions[first[k]] = view.region(k, box, 0);
    regions[second[k]] = view.region(k, box, 1);
  });
  return regions;
}
function maximumOfGroup(view, regions, shapes, first, second, group, clock) {
  if (group.length === 1) return maximumOfTree(view, shapes[group[0]], first.values[group[0]], second.values[group[0]], clock);
  const shape = shapes[group[0]];
  const last = shape.lastOfGroup;
  if (last !== null && isFoundAlready(view, shapes, first, second, group, last)) return last.most;
  const pairs = [];
  for (const t of group) {
    const node = liveTree(view, shapes[t], first.values[t], 0, clock);
    const other = liveTree(view, shapes[t], second.values[t], 1, clock);
    if (node === null || other === null) return null;
    pairs.push([node, other]);
  }
  const most = new Descent(view, regions, pairs, clock).maximum();
  shape.lastOfGroup = { values: group.map((t) => first.values[t]), otherValues: group.map((t) => second.values[t]), cell: view.cell, most };
  return most;
}
function isFoundAlready(view, shapes, first, second, group, last) {
  return (
    last.values.length === group.length &&
    group.every(
      (t, i) =>
        last.values[i] === first.values[t] &&
        last.otherValues[i] === second.values[t] &&
        view.isLike(shapes[t].features, last.cell),
    )
  );
}
function liveTree(view, { nodes }, values, copy, clock) {
  const places = [0];
  const regions = [null];
  const begins = [];
  for (let i = 0; i < places.length; i++) {
    clock.tick();
    begins.push(places.length);
    const { children } = nodes[places[i]];
    if (children === null) continue;
    for (const child of children) {
      const { feature, box } = nodes[child];
      const region = view.region(feature, /** @type {Box} */ (box), copy);
      if (isEmptyRegion(region)) continue;
      places.push(child);
      regions.push(region);
    }
  }
  begins.push(places.length);
  const live = places.map(() => null);
  for (let i = places.length - 1; i >= 0; i--) {
    const at = places[i];
    const { children } = nodes[at];
    const ways = [];
    for (let j = begins[i]; j < begins[i + 1]; j++) {
      const to = live[j];
      if (to !== null) ways.push({ region: /** @type {Region} */ (regions[j]), to });
    }
    if (children === null) live[i] = { at, most: values[at], feature: -1, ways };
    else if (ways.length === 1) live[i] = ways[0].to;
    else if (ways.length === 2) live[i] = inner(at, nodes[children[0]].feature, ways);
  }
  return live[0];
}
function inner(at, feature, [way, other]) {
  const ways = other.to.most.less(way.to.most) ? [other, way] : [way, other];
  return { at, most: ways[1].to.most, feature, ways };
}
class Descent {
  constructor(view, regions, pairs, clock) {
    this.geometry = view.geometry;
    this.regions = regions;
    this.pairs = pairs;
    this.clock = clock;
    this.rests = [...pairs, null].map(() => ZERO);
    this.before = [];
    this.waiting = [];
    this.most = null;
  }
  maximum() {
    for (let tree = this.pairs.length - 1; tree >= 0; tree--) {
      const most = this.maximumFrom(tree);
      if (most === null) return null;
      this.rests[tree] = most;
    }
    return this.rests[0];
  }
  maximumFrom(start) {
    const { pairs, waiting } = this;
    const [root, otherRoot] = pairs[start];
    this.most = null;
    this.begin(start, ZERO, this.rests[start + 1].plus(root.most).plus(otherRoot.most));
    for (let stand = waiting.pop(); stand !== undefined; stand = waiting.pop()) {
      this.clock.tick();
      if (!this.isAbove(stand.bound)) continue;
      this.goBack(stand.steps);
      if (stand.step !== null) this.take(stand.step);
      const { tree, node, other } = stand;
      if (node.feature !== -1 || other.feature !== -1) this.goOn(stand);
      else if (tree + 1 === pairs.length) this.most = stand.bound;
      else this.begin(tree + 1, stand.sum.plus(node.most).plus(other.most), stand.bound);
    }
    this.goBack(0);
    return this.most;
  }
  isAbove(bound) {
    return this.most === null || this.most.less(bound);
  }
  begin(tree, sum, bound) {
    const [node, other] = this.pairs[tree];
    this.waiting.push({ tree, node, other, sum, bound, steps: this.before.length, step: null });
  }
  goOn({ tree, node, other, sum }) {
    const isFirst = other.feature === -1 || (node.feature !== -1 && node.at <= other.at);
    const [moving, staying] = isFirst ? [node, other] : [other, node];
    const { first, second } = this.geometry;
    const k = moving.feature;
    const v = isFirst ? first[k] : second[k];
    const rest = sum.plus(this.rests[tree + 1]).plus(staying.most);
    for (const { region, to } of moving.ways) {
      const bound = rest.plus(to.most);
      if (!this.isAbove(bound)) continue;
      const left = commonRegion(this.regions[v], region);
      if (!this.isPossible(k, isFirst ? left : this.regions[first[k]], isFirst ? this.regions[second[k]] : left, left)) continue;
      const steps = this.before.length;
      const stand = { tree, node: isFirst ? to : node, other: isFirst ? other : to, sum, bound, steps, step: { v, region: left } };
      this.waiting.push(stand);
    }
  }
  isPossible(k, here, there, changed) {
    const { first, second, similarity } = this.geometry;
    return first[k] === second[k] ? !isEmptyRegion(changed) : canBeRelated(similarity[k], here, there);
  }
  take({ v, region }) {
    this.before.push({ v, region: this.regions[v] });
    this.regions[v] = region;
  }
  goBack(steps) {
    while (this.before.length > steps) {
      const { v, region } = /** @type {Step} */ (this.before.pop());
      this.regions[v] = region;
    }
  }
}
return { readGroups, maximumWithGroups };
})();
modules["rules/trees.js"] = (() => {
const { reject, require } = modules["rejection.js"];
const { concludeFromBound } = modules["rules/conclude.js"];
const { maximumWithGroups, readGroups } = modules["rules/tree-groups.js"];
const { maximumOfTrees, shapesOf, treeFormOf } = modules["rules/tree-maximum.js"];
function trees(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'trees') return reject('trees: not for this body');
  require(json.length === 2 || json.length === 3, `trees: ${json.length} entries where 2 or 3 are needed`);
  const groups = json.length === 2 ? null : readGroups(json[2], body.trees.length);
  const line = context.readLine(json[1]);
  const shapes = context.derive(body, () => shapesOf(body, context.clock));
  const { first, second } = context.derive(line, () => ({
    first: treeFormOf(scoreBody(body, line.first), line.a),
    second: treeFormOf(scoreBody(body, line.second), line.b.negated()),
  }));
  const { geometry, clock } = context;
  if (groups === null) return concludeFromBound(line, maximumOfTrees(geometry, cell, shapes, first, second, clock));
  return concludeFromBound(line, maximumWithGroups(geometry, cell, shapes, first, second, groups, clock));
}
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
return { trees };
})();
modules["proof/leaf.js"] = (() => {
const { Rational, ZERO } = modules["exact/rational.js"];
const { allowanceOf } = modules["claim/rate.js"];
const { Clock } = modules["limits.js"];
const { reject } = modules["rejection.js"];
const { chords } = modules["rules/chords.js"];
const { empty, separable } = modules["rules/separable.js"];
const { enumerated } = modules["rules/enumerated.js"];
const { identical } = modules["rules/identical.js"];
const { independent } = modules["rules/independent.js"];
const { kernel } = modules["rules/kernel.js"];
const { mixed } = modules["rules/mixed.js"];
const { nestedRule } = modules["rules/nested.js"];
const { network } = modules["rules/network.js"];
const { odds } = modules["rules/odds.js"];
const { polynomial } = modules["rules/polynomial.js"];
const { leastSquare } = modules["rules/rate.js"];
const { slope } = modules["rules/slope.js"];
const { softmax } = modules["rules/softmax.js"];
const { sos } = modules["rules/sos.js"];
const { sumRule } = modules["rules/sum.js"];
const { trees } = modules["rules/trees.js"];
class NoPair extends Error {}
const REMEMBERED = 2000;
class LeafContext {
  constructor(claim, geometry, ownCase, clock, budget) {
    this.claim = claim;
    this.geometry = geometry;
    this.case = ownCase;
    this.clock = clock;
    this.budget = budget;
    this.noClearance = ZERO;
    this.knownLine = null;
    this.cell = null;
    this.origins = new WeakMap();
    this.memory = new Map();
    this.derived = new Map();
  }
  ofBody(body) {
    const { model } = this.claim;
    const claim = { ...this.claim, model: { ...model, body } };
    return new LeafContext(claim, this.geometry, this.case, this.clock, this.budget);
  }
  withLine(line) {
    this.knownLine = line;
    return this;
  }
  readLine(way, mayBeArray = false) {
    if (this.knownLine !== null) return this.knownLine;
    const line = this.readLineAside(way, mayBeArray);
    const { rate } = this.case;
    if (rate === null || this.cell === null) return line;
    const least = leastSquare(this.geometry, this.cell, rate);
    if (least === null) throw new NoPair();
    const own = { ...line, target: line.target.plus(allowanceOf(rate, least).half()) };
    this.origins.set(own, line);
    return own;
  }
  readLineAside(way, mayBeArray = false) {
    const key = keyOf(way);
    if (key === null) return this.case.readLine(way, mayBeArray);
    return this.remember(`line ${key}`, () => this.case.readLine(way, mayBeArray));
  }
  remember(key, make) {
    const known = this.memory.get(key);
    if (known !== undefined) return known;
    if (this.memory.size >= REMEMBERED) this.memory.clear();
    const made = make();
    this.memory.set(key, made);
    return made;
  }
  derive(object, make, purpose = '') {
    const origin = this.origins.get(object) ?? object;
    const ofPurpose = this.derived.get(purpose) ?? new WeakMap();
    this.derived.set(purpose, ofPurpose);
    const known = ofPurpose.get(origin);
    if (known !== undefined) return known;
    const made = make();
    ofPurpose.set(origin, made);
    return made;
  }
}
function keyOf(way) {
  if (typeof way === 'string') return way;
  if (!Array.isArray(way) || way.length !== 3 || typeof way[0] !== 'bigint' || typeof way[2] !== 'string') return null;
  return way.join(' ');
}
const RULES = new Map([
  ['separable', separable],
  ['empty', empty],
  ['enumerated', enumerated],
  ['independent', (context, _, json) => independent(context.claim, json)],
  ['kernel', kernel],
  ['chords', chords],
  ['mixed', mixed],
  ['polynomial', polynomial],
  ['sos', sos],
  ['trees', trees],
  ['softmax', softmax],
  ['odds', odds],
  ['network', network],
  ['identical', identical],
  ['slope', slope],
]);
RULES.set('sum', sumRule(RULES));
RULES.set('nested', nestedRule(RULES));
function checkLeaf(context, cell, json) {
  const rule = RULES.get(typeof json[0] === 'string' ? json[0] : '');
  if (rule === undefined) return reject('a node of an unknown kind');
  context.cell = cell;
  try {
    return rule(context, cell, json);
  } catch (error) {
    if (error instanceof NoPair) return { clearance: null, line: null };
    throw error;
  }
}
return { LeafContext, checkLeaf };
})();
modules["proof/walk.js"] = (() => {
const { choicesOf, partOf } = modules["claim/along-parts.js"];
const { goesAlong } = modules["claim/similarity.js"];
const { Rational, smaller } = modules["exact/rational.js"];
const { readArray } = modules["file/fields.js"];
const { Clock, MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { independent } = modules["rules/independent.js"];
const { splitAtInner } = modules["rules/inner.js"];
const { splitAtNeuron } = modules["rules/neuron.js"];
const { labelOfEverybody, Sides } = modules["proof/alike.js"];
const { caseOfTwo, casesOfClasses } = modules["proof/case-list.js"];
const { Geometry, splitCell } = modules["proof/cell.js"];
const { checkLeaf, LeafContext } = modules["proof/leaf.js"];
class ProofWalk {
  constructor(claim, clock) {
    this.claim = claim;
    this.clock = clock;
    this.parts = choicesOf(claim.similarity, claim.space.features, clock);
    this.partNumber = -1;
    this.partClaim = claim;
    this.geometry = new Geometry(claim.space, partOf(claim.similarity, this.parts[0]).similarity, claim.distance);
    this.nodes = 0;
    this.rules = new Map();
    this.clearance = null;
    this.budget = { points: 0n };
    this.cases = [];
    this.waiting = [];
    this.caseNumber = -1;
    this.finished = false;
    this.context = null;
    this.beginNextPart();
  }
  beginNextPart() {
    this.partNumber += 1;
    if (this.partNumber === this.parts.length) {
      this.finished = true;
      return;
    }
    const { similarity, ranges } = partOf(this.claim.similarity, this.parts[this.partNumber]);
    this.partClaim = { ...this.claim, similarity };
    this.geometry = new Geometry(this.claim.space, similarity, this.claim.distance, ranges);
    this.caseNumber = -1;
    this.context = null;
    if (this.claim.model.head.kind === 'two') this.begin(caseOfTwo(this.claim));
  }
  begin(cases) {
    this.cases = cases.map((listed) => ({ ...listed, sides: new Sides() }));
    this.beginNextCase();
  }
  beginNextCase() {
    this.caseNumber += 1;
    if (this.caseNumber === this.cases.length) {
      this.beginNextPart();
      return;
    }
    this.context = new LeafContext(this.partClaim, this.geometry, this.cases[this.caseNumber].case, this.clock, this.budget);
    this.waiting = [this.geometry.root()];
  }
  take(json) {
    require(!this.finished, 'a node after the end of the proof');
    this.nodes += 1;
    require(this.nodes <= MAXIMUM.nodes, 'too many nodes');
    const node = readArray(json, 'node');
    if (this.context === null) this.takeFirstNode(node);
    else this.takeNode(node, this.context);
  }
  takeFirstNode(node) {
    if (node[0] === 'independent') {
      this.takeResult('independent', independent(this.partClaim, node));
      this.beginNextPart();
    } else if (node[0] === 'cases') {
      this.begin(casesOfClasses(this.claim, node));
    } else {
      reject('the first node of a proof about classes is neither "cases" nor "independent"');
    }
  }
  takeNode(node, context) {
    this.clock.tick();
    const cell = /** @type {Cell} */ (this.waiting.pop());
    if (node[0] === 'split') return this.descend(splitCell(this.geometry, cell, node));
    if (node[0] === 'neuron') return this.descend(splitAtNeuron(this.claim.model.body, cell, node));
    if (node[0] === 'inner') return this.descend(splitAtInner(this.claim.model.body, cell, node));
    const result = checkLeaf(context, cell, node);
    this.cases[this.caseNumber].sides.take(result);
    this.takeResult(String(node[0]), result);
    if (this.waiting.length === 0) this.beginNextCase();
  }
  descend([left, right]) {
    require(left.depth <= MAXIMUM.depth, 'the tree is too deep');
    this.waiting.push(right, left);
  }
  takeResult(rule, { clearance }) {
    this.rules.set(rule, (this.rules.get(rule) ?? 0) + 1);
    if (clearance === null) return;
    const counted = this.claim.hasClearance ? clearance : Rational.of(0);
    this.clearance = this.clearance === null ? counted : smaller(this.clearance, counted);
  }
  labelOfEverybody() {
    return this.cases.length === 0 || goesAlong(this.claim.similarity) ? null : labelOfEverybody(this.claim, this.cases);
  }
}
return { ProofWalk };
})();
modules["proof/end.js"] = (() => {
const { codesLeft, isGreatestValid } = modules["claim/narrowing.js"];
const { covers } = modules["claim/rounding.js"];
const { areSimilar, moves } = modules["claim/similarity.js"];
const { Rational } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { isValid, readIndividual } = modules["claim/space.js"];
const { readInt, readObject, readTruth } = modules["file/fields.js"];
const { MAXIMUM } = modules["limits.js"];
const { reject, require } = modules["rejection.js"];
const { ProofWalk } = modules["proof/walk.js"];
function readEndOfProof(json, walk, claim) {
  const part = readObject(json, 'end', ['nodes', 'clearance', 'covers_floating_point', 'sha256'], ['somebody', 'other']);
  const nodes = readInt(part('nodes'), 'nodes', 0n, BigInt(MAXIMUM.nodes));
  const clearance = readNumber(part('clearance'), 'clearance');
  const stated = readTruth(part('covers_floating_point'), 'covers_floating_point');
  require(walk.finished, 'the proof ends before all of its cells are closed');
  require(nodes === BigInt(walk.nodes), `the end counts ${nodes} nodes where there are ${walk.nodes}`);
  if (walk.clearance === null) return reject('no leaf has a pair in its cell: a claim about nobody');
  require(clearance.sign() >= 0, 'the clearance is negative');
  require(clearance.atMost(walk.clearance), 'the clearance is larger than that of a leaf');
  require(stated === isCovered(claim, clearance), 'covers_floating_point is not as the clearance and the description of rounding say');
  checkSomebody(claim, part('somebody'), part('other'), walk.clock);
  return { clearance, coversFloatingPoint: stated, sha256: part('sha256') };
}
function checkSomebody(claim, somebodyJson, otherJson, clock) {
  const { space, similarity, distance } = claim;
  require(otherJson === undefined || somebodyJson !== undefined, 'end: "other" without "somebody"');
  const somebody = somebodyJson === undefined ? null : readValid(space, somebodyJson, 'somebody');
  if (somebody !== null && otherJson !== undefined) {
    require(areSimilar(claim, somebody, readValid(space, otherJson, 'other')), 'end: somebody and other are not similar');
    return;
  }
  const kept = codesLeft(claim, clock);
  const isFree = space.constraints.length === 0;
  const moving = space.features.filter((_, k) => moves(similarity[k]));
  if (moving.length === 0) {
    const isShown = isFree || somebody !== null || isGreatestValid(space, kept, clock);
    require(isShown, 'no individual is shown who satisfies the constraints: the claim may be vacuous');
    return;
  }
  const isShown = isFree && distance === null && moving.every(({ kind }) => kind === 'integer' || kind === 'ordinal');
  require(isShown, 'no pair is shown that satisfies the constraints: the claim may be vacuous');
}
function readValid(space, json, who) {
  const codes = readIndividual(space, json, who);
  require(isValid(space, codes), `end: ${who} breaks a constraint`);
  return codes;
}
function isCovered({ model, property }, clearance) {
  if (model.rounding === null) return false;
  const identity = model.head.kind === 'classes' && model.head.link === 'identity';
  if (property.kind === 'prediction' || (property.kind === 'probability' && !identity)) return false;
  return covers(model.rounding, clearance);
}
return { readEndOfProof };
})();
modules["witness.js"] = (() => {
const { encloseScores } = modules["bodies/combined.js"];
const { areSimilar, isOneWay } = modules["claim/similarity.js"];
const { isValid, readIndividual } = modules["claim/space.js"];
const { exactly } = modules["exact/interval.js"];
const { ONE, Rational, smaller, ZERO } = modules["exact/rational.js"];
const { readNumber } = modules["exact/number-syntax.js"];
const { readArrayOf, readNumbersOf, readObject, readOnly } = modules["file/fields.js"];
const { reject, require } = modules["rejection.js"];
const { caseOfClass, caseOfTwo, classPairs } = modules["proof/case-list.js"];
const { classesCase } = modules["proof/cases.js"];
const { decide } = modules["proof/witness-set.js"];
const BITS_OF_SCORES = 140;
const BITS_OF_ROOM = 130;
function checkWitness(claim, json) {
  const { space, model } = claim;
  const part = readObject(readOnly(json, 'witness'), 'witness', ['x', 'other', 'scores']);
  const x = readIndividual(space, part('x'), 'x');
  const other = readIndividual(space, part('other'), 'other');
  require(isValid(space, x), 'witness: x breaks a constraint');
  require(isValid(space, other), 'witness: other breaks a constraint');
  require(areSimilar(claim, x, other), 'witness: the two are not similar');
  const [scores, others] = readArrayOf(part('scores'), 'scores', 2);
  checkScores(claim, x, scores);
  checkScores(claim, other, others);
  const equal = x.every((code, k) => code.equals(other[k]));
  const broken = waysToBreak(claim).some((own) => (!equal || own.equalMayBreak) && decide(model.body, x, other, own.isWitness));
  require(broken, 'witness: the pair does not break the property');
  return [x, other];
}
function checkScores({ model: { body, head } }, codes, json) {
  const items = head.kind === 'two' ? [json] : readArrayOf(json, 'scores', head.scores);
  const stated = items.map((item) => (body.irrational ? readEnclosure(item) : exactly(readNumber(item, 'score'))));
  const own = encloseScores(body, codes, BITS_OF_SCORES);
  stated.forEach(({ lo, hi }, i) => {
    const room = body.irrational ? ONE.plus(smaller(own[i].lo.absolute(), own[i].hi.absolute())).scaled(-BITS_OF_ROOM) : ZERO;
    const meets = lo.atMost(own[i].hi.plus(room)) && own[i].lo.minus(room).atMost(hi);
    require(meets, 'witness: a stated score is not the one of the model');
  });
}
function readEnclosure(json) {
  const [lo, hi] = readNumbersOf(json, 'enclosure of a score', 2);
  require(lo.atMost(hi), 'witness: an enclosure with its ends the wrong way round');
  return { lo, hi };
}
function waysToBreak(claim) {
  const { model, property, similarity } = claim;
  const { head } = model;
  if (head.kind === 'two') return caseOfTwo(claim).map((listed) => listed.case);
  if (property.kind === 'decision') {
    const pairs = classPairs(head, property).flatMap(([i, j]) => (isOneWay(similarity) ? [[i, j]] : [[i, j], [j, i]]));
    return pairs.map(([i, j]) => classesCase(head, property.margin, [i, j], [], []));
  }
  if (property.ofClass === undefined) return reject('property: no class');
  const classes = property.ofClass === null ? head.labels.map((_, c) => c) : [property.ofClass];
  return classes.map((c) => caseOfClass(head, property, c));
}
return { checkWitness };
})();
modules["check.js"] = (() => {
const { claimReader, CLAIM_LINES } = modules["claim/claim.js"];
const { goesAlong } = modules["claim/similarity.js"];
const { parseJson } = modules["file/json.js"];
const { readArray, readObject, readOnly, readText } = modules["file/fields.js"];
const { checkDenominators } = modules["file/line-limits.js"];
const { LineReader } = modules["file/lines.js"];
const { Sha256, sha256 } = modules["file/sha256.js"];
const { Clock } = modules["limits.js"];
const { readEndOfProof } = modules["proof/end.js"];
const { ProofWalk } = modules["proof/walk.js"];
const { Rejection, reject, require, Unfinished, Unreadable } = modules["rejection.js"];
const { checkWitness } = modules["witness.js"];
function checkCertificate(file, { seconds = 3600, onProgress, expected = new Map() } = {}) {
  const clock = new Clock(seconds);
  const report = {
    answer: 'unreadable',
    kind: null,
    claim: null,
    packs: [],
    digests: null,
    nodes: 0,
    rules: new Map(),
    clearance: null,
    coversFloatingPoint: false,
    labelOfEverybody: null,
    pair: null,
    line: null,
    reason: null,
    compared: [],
  };
  const certificate = new CertificateReader(file, clock);
  try {
    readCertificate(certificate, report, clock, { onProgress, expected });
    report.answer = 'accepted';
  } catch (error) {
    if (error instanceof Unfinished || error instanceof RangeError) report.answer = 'unfinished';
    else if (error instanceof Unreadable || error instanceof Rejection) report.answer = certificate.isKnown ? 'rejected' : 'unreadable';
    else throw error;
    report.line = certificate.lines.number;
    report.reason = error.message;
  }
  return report;
}
class CertificateReader {
  constructor(file, clock) {
    this.lines = new LineReader(file, () => clock.look());
    this.tick = () => clock.tick();
    this.isKnown = false;
    this.before = new Sha256();
    this.bytes = /** @type {Uint8Array} */ (new Uint8Array(0));
  }
  next() {
    const bytes = this.lines.nextBytes();
    if (bytes === null) return reject('the certificate ends too early');
    this.before.update(this.bytes);
    this.bytes = bytes;
    const text = this.lines.textOf(bytes);
    checkDenominators(text, this.tick);
    return parseJson(text, this.tick);
  }
  digestOfLine() {
    return sha256(this.bytes.subarray(0, this.bytes.length - 1));
  }
}
function readCertificate(certificate, report, clock, { onProgress, expected }) {
  const { kind, digests } = readHeader(certificate);
  report.kind = kind;
  report.digests = digests;
  for (const [name, digest] of expected) {
    require(digests[name] === digest, `the ${name} line is not the one that was asked for: the certificate is about something else`);
    report.compared.push(name);
  }
  const reader = claimReader();
  for (const name of CLAIM_LINES) {
    const json = certificate.next();
    require(digests[name] === certificate.digestOfLine(), `the digest of the ${name} line is not the one of the header`);
    reader.take(json);
    clock.look();
  }
  report.claim = reader.claim();
  report.packs = packsOf(report.claim);
  if (kind === 'witness') {
    const pair = checkWitness(report.claim, certificate.next());
    const part = readObject(readOnly(certificate.next(), 'end'), 'end', ['sha256']);
    checkEnd(certificate, part('sha256'));
    report.pair = pair;
    return;
  }
  const walk = new ProofWalk(report.claim, clock);
  report.rules = walk.rules;
  for (;;) {
    const json = certificate.next();
    if (json instanceof Map) {
      const end = readEndOfProof(readOnly(json, 'end'), walk, report.claim);
      checkEnd(certificate, end.sha256);
      report.clearance = end.clearance;
      report.coversFloatingPoint = end.coversFloatingPoint;
      report.labelOfEverybody = walk.labelOfEverybody();
      return;
    }
    walk.take(readArray(json, 'node'));
    report.nodes = walk.nodes;
    onProgress?.(walk.nodes);
  }
}
function readHeader(certificate) {
  const json = certificate.next();
  const version = json instanceof Map ? json.get('likewise-certificate') : undefined;
  if (version !== 1n) throw new Unreadable('not a Likewise certificate of version 1');
  certificate.isKnown = true;
  const part = readObject(json, 'header', ['likewise-certificate', 'kind', 'tool', 'words', 'digests']);
  readText(part('tool'), 'tool');
  readText(part('words'), 'words');
  const kind = part('kind');
  if (kind !== 'proof' && kind !== 'witness') return reject('header: neither a proof nor a witness');
  const digestOf = readObject(part('digests'), 'digests', [...CLAIM_LINES]);
  const digests = Object.fromEntries(CLAIM_LINES.map((name) => [name, readText(digestOf(name), 'digest')]));
  return { kind, digests };
}
function checkEnd(certificate, stated) {
  require(stated === certificate.before.hexadecimal(), 'the digest at the end is not the one of the lines before it');
  require(certificate.lines.nextBytes() === null, 'something follows the end');
}
function packsOf({ model: { body, head }, similarity, distance, property }) {
  const packs = new Set(['core', ...body.packs()]);
  if (head.kind === 'classes') packs.add('classes');
  if (distance !== null || property.rate !== null) packs.add('distance');
  if (goesAlong(similarity)) packs.add('along');
  if (property.rate !== null) packs.add('lipschitz');
  return [...packs];
}
return { checkCertificate };
})();
modules["claim/expected.js"] = (() => {
const { sha256 } = modules["file/sha256.js"];
const { CLAIM_LINES } = modules["claim/claim.js"];
const LINE_FEED = 10;
class WrongUsage extends Error {}
function digestsOfClaimFile(bytes) {
  const lines = linesOf(bytes);
  if (lines.length !== CLAIM_LINES.length) {
    throw new WrongUsage(`a claim file has ${CLAIM_LINES.length} lines (${CLAIM_LINES.join(', ')}), this one has ${lines.length}`);
  }
  return new Map(CLAIM_LINES.map((name, i) => [name, sha256(lines[i])]));
}
function digestsOfModelFile(bytes) {
  const lines = linesOf(bytes);
  if (lines.length !== 1) throw new WrongUsage(`a model file has one line, this one has ${lines.length}`);
  return new Map([['model', sha256(lines[0])]]);
}
function linesOf(bytes) {
  const lines = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    lines.push(bytes.subarray(start, end < 0 ? bytes.length : end));
    start = end < 0 ? bytes.length : end + 1;
  }
  return lines;
}
return { WrongUsage, digestsOfClaimFile, digestsOfModelFile };
})();
modules["values.js"] = (() => {
const { bitLength, Rational } = modules["exact/rational.js"];
const SHOWN = 12;
function counted(count, what) {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
function cut(lines, full) {
  return full || lines.length <= SHOWN ? lines : [...lines.slice(0, SHOWN), `... and ${lines.length - SHOWN} more (--full shows them)`];
}
function list(items, full, between = ', ') {
  if (items.length === 0) return '(none)';
  return full || items.length <= SHOWN ? items.join(between) : `${items.slice(0, SHOWN).join(between)}${between}... (${items.length - SHOWN} more)`;
}
function quoted(text, longest = 160) {
  return printable(JSON.stringify(text.slice(0, longest))) + (text.length > longest ? '...' : '');
}
function printable(text) {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${/** @type {number} */ (character.codePointAt(0)).toString(16)}}`);
}
function levelWords(level, longest) {
  if (level instanceof Rational) return shown(level);
  if (typeof level === 'string') return quoted(level, longest);
  return level === null ? 'missing' : `${level}`;
}
function shown(value) {
  const { above, below, power: two } = value.absolute().reduced();
  const [top, bottom] = [above << BigInt(Math.max(two, 0)), below << BigInt(Math.max(-two, 0))];
  const bits = bitLength(top) - bitLength(bottom);
  if (bitLength(top) + bitLength(bottom) < 64) {
    const exact = `${value}`;
    if (exact.length <= 12) return exact;
  }
  let power = 5 - Math.floor(bits / Math.log2(10));
  const digitsTimes = (/** @type {number} */ n) => (n < 0 ? top / (bottom * 10n ** BigInt(-n)) : (top * 10n ** BigInt(n)) / bottom);
  while (digitsTimes(power) < 100_000n) power += 1;
  while (digitsTimes(power) >= 1_000_000n) power -= 1;
  const digits = `${digitsTimes(power)}`;
  const number = `${digits[0]}.${digits.slice(1)}e${digits.length - 1 - power}`;
  return `about ${value.sign() < 0 ? '-' : ''}${plain(number)}`;
}
function plain(scientific) {
  const [mantissa, exponentText] = scientific.split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent > 9) return scientific;
  const digits = mantissa.replace('.', '');
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const padded = digits.padEnd(exponent + 1, '0');
  return exponent + 1 >= padded.length ? padded : `${padded.slice(0, exponent + 1)}.${padded.slice(exponent + 1)}`;
}
return { SHOWN, counted, cut, list, quoted, printable, levelWords, shown };
})();
modules["relation-words.js"] = (() => {
const { Rational } = modules["exact/rational.js"];
const { levelWords, list, quoted, shown, SHOWN } = modules["values.js"];
function relationWords({ kind, low, high, allowed, along }, feature, features, full) {
  const steps = stepsWord(feature);
  if (kind === 'same') return 'both agree';
  if (kind === 'free') return 'may differ in any way';
  if (along !== null) return alongWords(along, feature, features, full);
  if (kind === 'within') return `may differ by at most ${shown(high)}${steps}`;
  if (kind === 'between') return `may differ: the second is ${betweenWords(low, high, steps)} the first`;
  const pairs = allowed.map(([i, j]) => `${levelWords(feature.levels?.[i])} with ${levelWords(feature.levels?.[j])}`);
  return `may differ in these ways only: ${list(pairs, full)}`;
}
function stepsWord({ levels }) {
  return levels === null ? '' : ' steps';
}
function betweenWords(low, high, steps) {
  const size = (/** @type {Rational} */ value) => shown(value.absolute());
  if (low.equals(high)) return low.isZero() ? 'equal to' : `${size(low)}${steps} ${low.sign() > 0 ? 'above' : 'below'}`;
  if (low.isZero()) return `not below and at most ${size(high)}${steps} above`;
  if (high.isZero()) return `not above and at most ${size(low)}${steps} below`;
  if (low.sign() > 0) return `from ${size(low)} to ${size(high)}${steps} above`;
  if (high.sign() < 0) return `from ${size(high)} to ${size(low)}${steps} below`;
  return `at most ${size(low)}${steps} below and at most ${size(high)}${steps} above`;
}
function alongWords({ with: j, byLevels, cases, otherwise }, feature, features, full) {
  const start = `changes along with ${quoted(features[j].name)}`;
  const rest = otherwise === null ? 'both agree' : `it differs by at most ${shown(otherwise)}${stepsWord(feature)}`;
  const changes = cases.map(({ bands, tables }) => {
    const where = (/** @type {Band | Table} */ item) => `where that changes ${changeWords(item, byLevels, features[j])}`;
    if (otherwise === null) return list([...tables.values()].map((table) => `${where(table)}, ${tableWords(table, feature, full)}`), full, '; ');
    return list([...bands.values()].map((band) => `${where(band)}, the second is ${betweenWords(band.low, band.high, stepsWord(feature))} the first`), full);
  });
  if (cases.length === 1 && cases[0].where.length === 0) return `${start}: ${changes[0]}; else ${rest}`;
  const told = cases.map(({ where }, n) => `${conditionsWords(where, n === 0, features, full)}: ${changes[n]}`);
  const order = cases.length === 1 ? '' : '; of these cases the first one that holds counts';
  return `${start}${order}; ${list(told, full, '; ')}; wherever none of this applies, ${rest}`;
}
function changeWords({ from, to }, byLevels, { levels }) {
  return byLevels ? `from ${levelWords(levels?.[Number(from)])} to ${levelWords(levels?.[Number(to)])}` : `by ${to}`;
}
function tableWords({ pairs }, { levels }, full) {
  const becomes = new Map();
  for (const [v, other] of pairs) {
    const others = becomes.get(v);
    if (others === undefined) becomes.set(v, [other]);
    else others.push(other);
  }
  const wordsOf = (/** @type {number} */ v) => levelWords(levels?.[v]);
  const stay = new Set([...becomes].flatMap(([v, others]) => (others.length === 1 && others[0] === v ? [v] : [])));
  const lost = (levels?.length ?? 0) - becomes.size;
  const places = lost > SHOWN ? [...becomes.keys()] : (levels ?? []).map((_, v) => v);
  const words = places.flatMap((v) => {
    const others = becomes.get(v)?.map(wordsOf);
    return stay.has(v) ? [] : [`${wordsOf(v)} ${others === undefined ? 'has no counterpart' : `becomes ${either(others, full)}`}`];
  });
  if (lost > SHOWN) words.push(`${lost} levels have no counterpart`);
  if (words.length === 0) return 'all levels stay the same';
  return `${list(words, full)}${stay.size === 0 ? '' : ', and all others stay the same'}`;
}
function conditionsWords(where, isFirst, features, full) {
  if (where.length === 0) return isFirst ? 'always' : 'for all others';
  return `if ${where.map((condition) => conditionWords(condition, features[condition.feature], full)).join(' and ')}`;
}
function conditionWords({ intervals }, { name, levels }, full) {
  const codes = intervals.flatMap(([lo, hi]) => {
    if (levels === null) return [lo === hi ? `${lo}` : `from ${lo} to ${hi}`];
    const [from, to] = [Number(lo), Number(hi)];
    if (to - from >= SHOWN) return [`one of ${to - from + 1} levels from ${levelWords(levels[from])} to ${levelWords(levels[to])}`];
    return levels.slice(from, to + 1).map((level) => levelWords(level));
  });
  return `${quoted(name)} is ${either(codes, full)}`;
}
function either(items, full) {
  if (items.length === 1) return items[0];
  if (!full && items.length > SHOWN) return `one of ${list(items, full)}`;
  return `${items.slice(0, -1).join(', ')} or ${items[items.length - 1]}`;
}
return { relationWords };
})();
modules["report.js"] = (() => {
const { ONE, Rational, ZERO } = modules["exact/rational.js"];
const { isOneWay } = modules["claim/similarity.js"];
const { positionOf } = modules["claim/space.js"];
const { relationWords } = modules["relation-words.js"];
const { counted, cut, levelWords, list, printable, quoted, shown, SHOWN } = modules["values.js"];
function reportLines(report, { full = false } = {}) {
  const lines = report.claim === null ? [] : claimLines(report.claim, report.kind, full);
  if (report.answer === 'unreadable') return [`UNREADABLE: ${report.reason}`];
  if (report.answer === 'unfinished') return [...lines, `NOT FINISHED at line ${report.line}: ${report.reason}`];
  if (report.answer === 'rejected') return [...lines, `REJECTED at line ${report.line}: ${report.reason}`];
  lines.push(`ACCEPTED: the ${report.kind} holds, in exact arithmetic`);
  if (report.kind === 'witness') lines.push('so the claim is FALSE: a pair of similar individuals breaks it');
  if (report.pair !== null && report.claim !== null) lines.push(...pairLines(report.pair, report.claim, full));
  if (report.compared.length > 0) lines.push(`as was asked for: the lines ${report.compared.join(', ')}`);
  lines.push(`rules used: ${report.packs.join(', ')}`);
  if (report.kind === 'proof' && report.claim !== null) lines.push(...proofLines(report, report.claim));
  return lines;
}
function pairLines([x, other], { space: { features } }, full) {
  const words = (/** @type {Rational[]} */ codes, /** @type {number[]} */ ofFeatures) =>
    list(ofFeatures.map((k) => `${quoted(features[k].name)} ${codeWords(features[k], codes[k])}`), full);
  const places = features.map((_, k) => k);
  const differing = places.filter((k) => !x[k].equals(other[k]));
  const common = places.filter((k) => x[k].equals(other[k]));
  const lines = [`  the first:  ${words(x, differing)}`, `  the second: ${words(other, differing)}`];
  if (common.length > 0) lines.push(`  both:       ${words(x, common)}`);
  return lines;
}
function codeWords({ levels, missing }, code) {
  if (levels !== null) return levelWords(levels[positionOf(code)]);
  return missing !== null && code.equals(missing) ? 'missing' : shown(code);
}
function isAsExpected(report, expected) {
  return report.kind === (expected === 'biased' ? 'witness' : 'proof');
}
function proofLines(report, claim) {
  const used = [...report.rules].map(([rule, count]) => `${count} ${rule}`).join(', ');
  const lines = [`proof: ${counted(report.nodes, 'node')}; leaves: ${used}`, `clearance: ${shown(report.clearance ?? Rational.of(0))}`];
  if (report.labelOfEverybody !== null) {
    lines.push(`everybody gets the same label: ${printable(`${claim.model.head.labels?.[report.labelOfEverybody]}`)} (number ${report.labelOfEverybody})`);
  }
  lines.push(
    report.coversFloatingPoint
      ? 'covered: the rounding of the deployed program, as far as its description in the model line is true'
      : 'not covered: the rounding of the deployed program; the proof speaks of real numbers',
  );
  lines.push('not covered: whether the model line describes the deployed model, and whether the space holds everybody it is used on');
  return lines;
}
function claimLines({ space, similarity, distance, property, model }, kind, full) {
  const { features, constraints } = space;
  const mayDiffer = features.filter((_, k) => similarity[k].kind !== 'same').length;
  const start = kind === 'witness' ? 'NOT every two' : 'Every two';
  const oneWay = isOneWay(similarity);
  const lines = [
    `claim: ${start} valid individuals of the space (${counted(features.length, 'feature')}, ${counted(constraints.length, 'constraint')}) that`,
    mayDiffer === 0
      ? 'agree in all features (only equal individuals are similar) satisfy this:'
      : `agree in all features but ${mayDiffer} (below it is said how ${mayDiffer === 1 ? 'it' : 'they'} may differ) satisfy this:`,
    `  ${oneWay ? orderedPropertyWords(property, model.head) : propertyWords(property, model.head)}.`,
  ];
  if (property.rate !== null) lines.push(...rateWords(property.rate, features, full));
  if (oneWay) lines.push('  It matters who of the two is the first: nothing is said of the other order.');
  if (distance !== null) lines.push(...distanceWords(distance, features, full));
  const all = features.map((feature, k) => `  ${quoted(feature.name, full ? Infinity : undefined)}: ${featureWords(feature, full)}; ${relationWords(similarity[k], feature, features, full)}`);
  const matters = features.map(({ lo, hi }, k) => full || similarity[k].kind !== 'same' || lo.equals(hi));
  const others = features.flatMap((_, k) => (matters[k] ? [] : [k]));
  const told = [...features.flatMap((_, k) => (matters[k] ? [k] : [])), ...others.slice(0, SHOWN)];
  lines.push(`features (${features.length}):`, ...told.map((k) => all[k]));
  if (told.length < features.length) lines.push(`  ... and ${features.length - told.length} more, in which both agree (--full shows them)`);
  lines.push(`constraints (${constraints.length})${constraints.length === 0 ? '' : ':'}`);
  const rules = constraints.map((constraint) => `  ${constraintWords(constraint, features)}`);
  lines.push(...(full ? rules : rules.slice(0, SHOWN)));
  if (!full && rules.length > SHOWN) lines.push(`  ... and ${rules.length - SHOWN} more (--full shows them)`);
  return lines;
}
function propertyWords(property, head) {
  const { kind, margin, delta, ofClass } = property;
  const which = ofClass === undefined ? '' : ofClass === null ? ' of every class' : ` of class ${printable(`${head.labels?.[ofClass]}`)}`;
  if (kind === 'score') return `the scores${which} differ by at most ${shown(delta)}`;
  if (kind === 'lipschitz') return `the scores${which} differ by at most ${allowanceWords(property)}`;
  if (kind === 'prediction') return `the predictions exp(score) differ by at most ${shown(delta)}`;
  if (kind === 'probability') return `the probabilities${which} differ by at most ${shown(delta)}`;
  const about = ofClass === undefined || ofClass === null ? '' : `, one of them class ${printable(`${head.labels?.[ofClass]}`)}`;
  const decisions = `they do not get two different decisions${about}`;
  if (head.kind === 'classes') {
    if (margin.isZero()) return decisions;
    return `${decisions} with both leads at least ${shown(margin)}: of each class over every other one`;
  }
  const zero = `a score of 0 gives the ${head.zeroIsUpper ? 'upper' : 'lower'} label`;
  if (margin.isZero()) return `${decisions}; ${zero}`;
  const [m, negative] = [shown(margin), shown(margin.negated())];
  const sides = head.zeroIsUpper ? `one below ${negative}, the other at least ${m}` : `one above ${m}, the other at most ${negative}`;
  if (margin.sign() > 0) return `${decisions} with both scores at least ${m} from the threshold (${sides}); ${zero}`;
  return `the margin is below 0: they do not have two scores of which ${sides}, whatever their decisions; ${zero}`;
}
function orderedPropertyWords(property, head) {
  const { kind, margin, delta, ofClass } = property;
  const nameOf = (/** @type {number} */ i) => printable(`${head.labels?.[i]}`);
  const which = ofClass === undefined ? '' : ofClass === null ? ' of every class' : ` of class ${nameOf(ofClass)}`;
  if (kind !== 'decision') {
    if (kind === 'lipschitz') return `the score${which} of the first is at most ${allowanceWords(property)} above that of the second`;
    const what = kind === 'prediction' ? 'prediction exp(score)' : kind;
    return `the ${what}${which} of the first is at most ${shown(delta)} above that of the second`;
  }
  if (head.kind === 'classes') {
    const leads = margin.isZero() ? '' : ` with both leads at least ${shown(margin)}`;
    return `the first does not get ${nameOf(Number(ofClass))} while the second gets another class${leads}`;
  }
  const [first, second] = head.zeroIsUpper ? [0, 1] : [1, 0];
  const names = ['lower', 'upper'];
  const label = (/** @type {number} */ i) => `the ${names[i]} label ${nameOf(i)}`;
  const far = margin.isZero() ? '' : `, both scores at least ${shown(margin)} from the threshold`;
  return `the first does not get ${label(first)} while the second gets ${label(second)}${far}; a score of 0 gives the ${names[head.zeroIsUpper ? 1 : 0]} label`;
}
function distanceWords(distance, features, full) {
  const parts = partWords(distance, distance.power === 1 ? '' : '^2', features, full);
  return [`  Similar are those only whose distance is at most ${shown(distance.bound)}, the sum of:`, ...parts];
}
function allowanceWords({ delta, rate }) {
  const share = `${shown(rate?.constant ?? ZERO)} times how far apart they are`;
  return delta.isZero() ? share : `${shown(delta)} and ${share}`;
}
function rateWords(rate, features, full) {
  const parts = partWords(rate, rate.norm === 2 ? '^2' : '', features, full);
  const how = { 1: 'the sum', 2: 'the root of the sum', max: 'the largest' }[rate.norm];
  return [`  How far two are apart is ${how} of:`, ...parts];
}
function partWords({ terms, forms }, squared, features, full) {
  const nameOf = (/** @type {number} */ k) => quoted(features[k].name);
  const costs = terms.map(({ feature, cost }) => {
    if (cost.kind === 'each') {
      const own = `${times(cost.cost)}|difference of ${nameOf(feature)}${features[feature].levels === null ? '' : ', in steps'}|`;
      return squared === '' ? own : `(${own})${squared}`;
    }
    if (cost.kind === 'unequal') return `${shown(cost.cost)}${squared} if ${nameOf(feature)} differs`;
    const rows = cost.rows.map((row) => `[${row.map(shown).join(', ')}]`);
    return `(cost of ${nameOf(feature)} by its two levels: ${list(rows, full)})${squared}`;
  });
  const squares = forms.map(({ weight, entries }) => {
    const parts = entries.map(({ feature, factor, amounts }) => {
      if (factor !== null) return `${times(factor)}difference of ${nameOf(feature)}`;
      return `difference of ${nameOf(feature)} with its levels counted as ${list((amounts ?? []).map(shown), full)}`;
    });
    return `${times(weight)}(${cut(parts, full).join(' + ')})^2`;
  });
  return cut([...costs, ...squares], full).map((line) => `    ${line}`);
}
function times(factor) {
  return factor.equals(ONE) ? '' : `${shown(factor)} `;
}
function featureWords({ kind, levels, lo, lastNumber, missing }, full) {
  if (levels !== null) return `${kind}, ${list(levels.map((level) => levelWords(level, full ? Infinity : undefined)), full)}`;
  return `${kind}, ${shown(lo)} to ${shown(lastNumber)}${missing === null ? '' : ', or missing'}`;
}
function constraintWords({ terms, bound }, features) {
  const parts = terms.map(({ feature, factor, amounts }) => {
    const name = quoted(features[feature].name);
    return factor !== null ? `${shown(factor)} ${name}` : `${name} as [${(amounts ?? []).map(shown).join(', ')}]`;
  });
  return `${parts.join(' + ') || '0'} <= ${shown(bound)}`;
}
function reportJson(report) {
  return {
    answer: report.answer,
    accepted: report.answer === 'accepted',
    kind: report.kind,
    line: report.line,
    reason: report.reason,
    claim: report.claim === null ? null : claimLines(report.claim, report.kind, true).join('\n'),
    digests: report.digests,
    packs: report.packs,
    nodes: report.nodes,
    clearance: report.clearance === null ? null : `${report.clearance}`,
    covers_floating_point: report.coversFloatingPoint,
    compared: report.compared,
    rules: Object.fromEntries(report.rules),
    label_of_everybody: report.labelOfEverybody,
  };
}
return { reportLines, isAsExpected, claimLines, reportJson };
})();
modules["job.js"] = (() => {
const { checkCertificate } = modules["check.js"];
const { digestsOfClaimFile, digestsOfModelFile, WrongUsage } = modules["claim/expected.js"];
const { isAsExpected, reportJson, reportLines } = modules["report.js"];
const PAUSE = 100;
function runJob(job, post) {
  let next = 0;
  try {
    const { certificate, claim, model, expect, seconds, full } = job;
    const expected = new Map([
      ...(claim === undefined ? [] : digestsOfClaimFile(bytesOf(claim))),
      ...(model === undefined ? [] : digestsOfModelFile(bytesOf(model))),
    ]);
    if (claim !== undefined && model !== undefined && digestsOfClaimFile(bytesOf(claim)).get('model') !== expected.get('model')) {
      throw new WrongUsage('the claim file and the model file have two different models');
    }
    const onProgress = (/** @type {number} */ nodes) => {
      if (Date.now() < next) return;
      next = Date.now() + PAUSE;
      post({ kind: 'progress', nodes });
    };
    const report = checkCertificate(bytesOf(certificate), { seconds, onProgress, expected });
    const asExpected = expect === undefined || report.answer !== 'accepted' ? null : isAsExpected(report, expect);
    post({ kind: 'report', report: reportJson(report), lines: reportLines(report, { full }), asExpected });
  } catch (error) {
    const reason = error instanceof Error ? error.message : `${error}`;
    post(error instanceof WrongUsage ? { kind: 'wrong-usage', reason } : { kind: 'error', reason });
  }
}
function bytesOf(data) {
  return data instanceof Uint8Array ? data : new Uint8Array(data);
}
return { runJob };
})();
modules["worker.js"] = (() => {
const { runJob } = modules["job.js"];
self.onmessage = (/** @type {MessageEvent<import('./job.js').Job>} */ { data }) => {
  runJob(data, (message) => self.postMessage(message));
};
return {  };
})();
})();
