/**
 * JSON as certificates have it (section 1): whole numbers only, of any length, and no key twice.
 *
 * Whole numbers become bigints and objects become Maps, so that no number is rounded and no key has a meaning of its own.
 */

import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';

/** @typedef {null | boolean | string | bigint | Json[] | Map<string, Json>} Json */

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

/**
 * @param {string} text one line, without its line feed: no white space before the value or after it
 * @param {() => void} [tick] called with every value
 * @returns {Json}
 */
export function parseJson(text, tick = () => {}) {
  const parser = new Parser(text, tick);
  const value = parser.value(0);
  require(parser.at === text.length, 'text after the JSON value');
  return value;
}

class Parser {
  /**
   * @param {string} text
   * @param {() => void} tick
   */
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

  /**
   * @param {number} depth how many arrays and objects stand around the value
   * @returns {Json}
   */
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

  /** @param {number} depth */
  checkDepth(depth) {
    require(depth < MAXIMUM.jsonDepth, `brackets nested deeper than ${MAXIMUM.jsonDepth}`);
  }

  /**
   * @template T
   * @param {string} word
   * @param {T} value
   */
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

  /**
   * @param {number} at the place after the backslash
   * @returns {[string, number]} what it stands for, and its length
   */
  escape(at) {
    const simple = ESCAPES.get(this.text[at]);
    if (simple !== undefined) return [simple, 1];
    const digits = this.text.slice(at + 1, at + 5);
    require(this.text[at] === 'u' && /^[0-9a-fA-F]{4}$/.test(digits), 'an unknown escape in a text');
    return [String.fromCharCode(parseInt(digits, 16)), 5];
  }

  /** @param {number} depth */
  array(depth) {
    /** @type {Json[]} */
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

  /** @param {number} depth */
  object(depth) {
    /** @type {Map<string, Json>} */
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

  /** @param {string} bracket the one that ends the array or object; else a comma must follow */
  endsAfterItem(bracket) {
    this.skipSpace();
    const character = this.text[this.at];
    require(character === bracket || character === ',', 'not JSON');
    this.at += 1;
    return character === bracket;
  }
}
