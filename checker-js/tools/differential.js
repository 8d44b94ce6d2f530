#!/usr/bin/env node
/**
 * Both checkers on certificates and on mutants of them: every disagreement is a defect of one of them or of the specification.
 *
 *     node tools/differential.js --python PYTHON [--count N] [--seed N] [--keep DIR] CERT [CERT ...]
 *
 * PYTHON is an interpreter that can import `likewise`. Files that the two answer differently are kept in DIR. The same seed makes the
 * same mutants.
 */

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkCertificate } from '../src/check.js';
import { mutate, Random } from './mutate.js';
import { openCertificate, writeCertificate } from './seal.js';

const SECONDS = 20;

/** One process of the Python checker, asked about one file after the other. */
class PythonChecker {
  /** @param {string} python */
  constructor(python) {
    const script = fileURLToPath(new URL('python-checker.py', import.meta.url));
    this.process = spawn(python, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  /** @param {string} path */
  ask(path) {
    this.process.stdin.write(`${path}\n`);
    return this.lines.next().then(({ value }) => JSON.parse(value));
  }

  end() {
    this.process.stdin.end();
  }
}

/** @param {Uint8Array} file */
function answerOf(file) {
  try {
    const report = checkCertificate(file, { seconds: SECONDS });
    const { answer, kind, line, reason, packs, coversFloatingPoint, labelOfEverybody } = report;
    return { answer, kind, line, reason, packs: [...packs].sort(), clearance: `${report.clearance}`, covers: coversFloatingPoint, decided: labelOfEverybody };
  } catch (error) {
    return { answer: 'error', reason: error instanceof Error ? `${error.stack}` : `${error}` };
  }
}

/**
 * Whether two answers say the same: of what is accepted also what it is, and all that a reader relies on.
 * @param {any} own
 * @param {any} other
 */
function agree(own, other) {
  if (own.answer !== other.answer || own.answer === 'error') return false;
  if (own.answer !== 'accepted') return true;
  const same = ['kind', 'decided'].every((key) => own[key] === other[key]) && String(own.packs) === String(other.packs);
  if (!same || own.kind === 'witness') return same;
  return ['clearance', 'covers'].every((key) => own[key] === other[key]);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      python: { type: 'string', default: 'python3' },
      count: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      keep: { type: 'string' },
    },
  });
  const random = new Random(Number(values.seed));
  const originals = positionals.map((path) => ({ name: basename(path), lines: openCertificate(readFileSync(path)) }));
  const python = new PythonChecker(values.python);
  const scratch = mkdtempSync(join(tmpdir(), 'likewise-mutants-'));
  const keep = values.keep ?? join(scratch, 'kept');
  mkdirSync(keep, { recursive: true });
  /** @type {Map<string, number>} */
  const counts = new Map();
  let [disagreements, lineDifferences] = [0, 0];
  const path = join(scratch, 'mutant.likewise');
  // The originals first, as they are.
  for (let n = -originals.length; n < Number(values.count); n++) {
    if (n % 1000 === 0 && n > 0) console.error(`${n} mutants, ${disagreements} disagreements`);
    const original = originals[(n + originals.length) % originals.length];
    const { lines, seal, what } = n < 0 ? { lines: original.lines, seal: false, what: 'nothing' } : mutate(original.lines, random);
    const file = writeCertificate(lines, { seal });
    writeFileSync(path, file);
    const asked = python.ask(path); // works while we do
    const own = answerOf(file);
    const other = await asked;
    counts.set(`${own.answer} / ${other.answer}`, (counts.get(`${own.answer} / ${other.answer}`) ?? 0) + 1);
    if (own.answer === other.answer && own.line !== other.line) lineDifferences += 1;
    if (agree(own, other)) continue;
    disagreements += 1;
    const kept = join(keep, `${disagreements}-${original.name}`);
    writeFileSync(kept, file);
    console.log(JSON.stringify({ kept, what, own, other }));
  }
  python.end();
  rmSync(path);
  if (disagreements === 0 && values.keep === undefined) rmSync(scratch, { recursive: true });
  console.log(`${originals.length} certificates and ${values.count} mutants of them; ${disagreements} disagreements`);
  for (const [pair, count] of counts) console.log(`  JavaScript ${pair.replace(' / ', ', Python ')}: ${count}`);
  console.log(`  rejected at different lines: ${lineDifferences}`);
  process.exitCode = disagreements === 0 ? 0 : 1;
}

await main();
