#!/usr/bin/env node
/**
 * Both checkers on mutants of certificates: every disagreement is a defect of one of them or of the specification.
 *
 *     node tools/differential.js --python PYTHON [--count N] [--seed N] [--keep DIR] CERT [CERT ...]
 *
 * PYTHON is an interpreter that can import `likewise`. Mutants that the two answer differently are kept in DIR.
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
    return { answer: report.answer, line: report.line, reason: report.reason, clearance: String(report.clearance), decided: report.labelOfEverybody, somebody: report.somebodyIsShown };
  } catch (error) {
    return { answer: 'error', reason: error instanceof Error ? `${error.stack}` : `${error}` };
  }
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
  let [disagreements, lineDifferences, ours, theirs] = [0, 0, 0, 0];
  for (let n = 0; n < Number(values.count); n++) {
    if (n % 1000 === 0 && n > 0) console.error(`${n} mutants, ${disagreements} disagreements`);
    const original = originals[n % originals.length];
    const { lines, seal, what } = mutate(original.lines, random);
    const file = writeCertificate(lines, { seal });
    const path = join(scratch, 'mutant.likewise');
    writeFileSync(path, file);
    const start = performance.now();
    const own = answerOf(file);
    const middle = performance.now();
    const other = await python.ask(path);
    ours += middle - start;
    theirs += performance.now() - middle;
    counts.set(`${own.answer} / ${other.answer}`, (counts.get(`${own.answer} / ${other.answer}`) ?? 0) + 1);
    if (own.answer === other.answer && own.line !== other.line) lineDifferences += 1;
    const sameSide = own.answer !== 'accepted' || (own.decided === other.decided && (own.somebody ?? other.somebody) === other.somebody);
    if (own.answer === other.answer && own.answer !== 'error' && sameSide) continue;
    disagreements += 1;
    const kept = join(keep, `${disagreements}-${original.name}`);
    writeFileSync(kept, file);
    console.log(JSON.stringify({ kept, what, own, other }));
  }
  python.end();
  rmSync(join(scratch, 'mutant.likewise'));
  console.log(`${values.count} mutants of ${originals.length} certificates; ${disagreements} disagreements`);
  for (const [pair, count] of counts) console.log(`  JavaScript ${pair.replace(' / ', ', Python ')}: ${count}`);
  console.log(`  rejected at different lines: ${lineDifferences}`);
  console.log(`  seconds: JavaScript ${(ours / 1000).toFixed(1)}, Python ${(theirs / 1000).toFixed(1)}`);
  process.exitCode = disagreements === 0 ? 0 : 1;
}

await main();
