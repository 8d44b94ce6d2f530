/**
 * The whole check of a certificate: header, claim, proof or witness, end (section 1), and what it answers (section 13).
 *
 * Nothing here or below imports anything of node or of a browser: the file comes as bytes.
 */

import { claimReader, CLAIM_LINES } from './claim/claim.js';
import { goesAlong } from './claim/similarity.js';
import { parseJson } from './file/json.js';
import { readArray, readObject, readOnly, readText } from './file/fields.js';
import { checkDenominators } from './file/line-limits.js';
import { LineReader } from './file/lines.js';
import { Sha256, sha256 } from './file/sha256.js';
import { Clock } from './limits.js';
import { readEndOfProof } from './proof/end.js';
import { ProofWalk } from './proof/walk.js';
import { Rejection, reject, require, Unfinished, Unreadable } from './rejection.js';
import { checkWitness } from './witness.js';

/**
 * @typedef {import('./file/json.js').Json} Json
 * @typedef {import('./claim/claim.js').Claim} Claim
 * @typedef {import('./exact/rational.js').Rational} Rational
 */

/**
 * @typedef {object} Report
 * @property {'accepted' | 'rejected' | 'unreadable' | 'unfinished'} answer
 * @property {'proof' | 'witness' | null} kind
 * @property {Claim | null} claim as far as it was read
 * @property {string[]} packs the parts of the specification that were needed
 * @property {Record<string, string> | null} digests of the claim's lines
 * @property {number} nodes
 * @property {Map<string, number>} rules how often each was used
 * @property {Rational | null} clearance
 * @property {boolean} coversFloatingPoint
 * @property {number | null} labelOfEverybody section 14
 * @property {[Rational[], Rational[]] | null} pair x and x' of a witness
 * @property {number | null} line where it was rejected
 * @property {string | null} reason
 * @property {string[]} compared the lines that are those of the user's claim or model
 */

/**
 * @typedef {object} CheckOptions
 * @property {number} [seconds] from the first byte on; what takes longer is not finished
 * @property {(lines: number) => void} [onProgress] called after every line of a proof
 * @property {ReadonlyMap<string, string>} [expected] digests of lines of the claim, by name, that the user asks for
 */

/**
 * @param {Uint8Array} file the certificate
 * @param {CheckOptions} [options]
 * @returns {Report}
 */
export function checkCertificate(file, { seconds = 3600, onProgress, expected = new Map() } = {}) {
  const clock = new Clock(seconds);
  /** @type {Report} */
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
    // A RangeError: a number or a text larger than the engine can hold, which is a limit of memory.
    if (error instanceof Unfinished || error instanceof RangeError) report.answer = 'unfinished';
    else if (error instanceof Unreadable || error instanceof Rejection) report.answer = certificate.isKnown ? 'rejected' : 'unreadable';
    else throw error;
    report.line = certificate.lines.number;
    report.reason = error.message;
  }
  return report;
}

/** Lines of a certificate as JSON, with the digests of what was read. */
class CertificateReader {
  /**
   * @param {Uint8Array} file
   * @param {Clock} clock
   */
  constructor(file, clock) {
    this.lines = new LineReader(file, () => clock.look());
    this.tick = () => clock.tick();
    // Whether the first line was that of a certificate of version 1: from then on a file is rejected, not unreadable.
    this.isKnown = false;
    /** the digest of all bytes before the line that was read last */
    this.before = new Sha256();
    // The line that was read last.
    this.bytes = /** @type {Uint8Array} */ (new Uint8Array(0));
  }

  /** @returns {Json} */
  next() {
    const bytes = this.lines.nextBytes();
    if (bytes === null) return reject('the certificate ends too early');
    this.before.update(this.bytes);
    this.bytes = bytes;
    const text = this.lines.textOf(bytes);
    checkDenominators(text, this.tick);
    return parseJson(text, this.tick);
  }

  /** The digest of the line that was read last, without its line feed. */
  digestOfLine() {
    return sha256(this.bytes.subarray(0, this.bytes.length - 1));
  }
}

/**
 * @param {CertificateReader} certificate
 * @param {Report} report
 * @param {Clock} clock
 * @param {{onProgress?: (lines: number) => void, expected: ReadonlyMap<string, string>}} options
 */
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

/**
 * @param {CertificateReader} certificate
 * @returns {{kind: 'proof' | 'witness', digests: Record<string, string>}}
 */
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

/**
 * @param {CertificateReader} certificate
 * @param {Json} stated
 */
function checkEnd(certificate, stated) {
  require(stated === certificate.before.hexadecimal(), 'the digest at the end is not the one of the lines before it');
  require(certificate.lines.nextBytes() === null, 'something follows the end');
}

/** @param {Claim} claim */
function packsOf({ model: { body, head }, similarity, distance, property }) {
  const packs = new Set(['core', ...body.packs()]);
  if (head.kind === 'classes') packs.add('classes');
  if (distance !== null || property.rate !== null) packs.add('distance');
  if (goesAlong(similarity)) packs.add('along');
  if (property.rate !== null) packs.add('lipschitz');
  return [...packs];
}
