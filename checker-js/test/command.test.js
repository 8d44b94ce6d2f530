/** The command: claim files, model files, what is expected, exit codes; and the worker of a page. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync, existsSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { openCertificate, writeCertificate } from '../tools/seal.js';
import { goldenFolder } from './folder.js';

const command = fileURLToPath(new URL('../bin/likewise-check.js', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'likewise-js-'));
const pathOf = (/** @type {string} */ name) => fileURLToPath(new URL(`${name}.likewise`, goldenFolder));
const linesOf = (/** @type {string} */ name) => gunzipSync(readFileSync(pathOf(name))).toString('utf8').split('\n');

/** @param {string[]} options */
function run(...options) {
  const { status, stdout } = spawnSync(process.execPath, [command, ...options], { encoding: 'utf8' });
  return { status, stdout };
}

/**
 * @param {string} name
 * @param {string} text
 */
function written(name, text) {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
}

test('a claim file and a model file', () => {
  const own = linesOf('v1-within').slice(1, 5);
  const other = linesOf('v1-regression').slice(1, 5);
  assert.equal(run('--claim', written('own', `${own.join('\n')}\n`), pathOf('v1-within')).status, 0);
  assert.equal(run('--claim', written('own2', own.join('\n')), pathOf('v1-within')).status, 0);
  assert.equal(run('--model', written('model', own[3]), pathOf('v1-within')).status, 0);
  assert.equal(run('--model', written('model2', other[3]), pathOf('v1-within')).status, 4);
  for (let i = 0; i < 4; i++) {
    const mixed = own.map((line, at) => (at === i ? `${line.slice(0, -1)} }` : line));
    const { status, stdout } = run('--claim', written('mixed', mixed.join('\n')), pathOf('v1-within'));
    assert.equal(status, 4);
    assert.match(stdout, new RegExp(['space', 'similarity', 'property', 'model'][i]));
  }
  for (const text of ['', own.slice(0, 3).join('\n'), `${own.join('\n')}\n\n`, [...own, own[3]].join('\n')]) {
    assert.equal(run('--claim', written('wrong', text), pathOf('v1-within')).status, 2);
  }
  assert.equal(run('--model', written('wrong', own.join('\n')), pathOf('v1-within')).status, 2);
  assert.equal(run('--claim', join(scratch, 'absent'), pathOf('v1-within')).status, 2);
});

test('exit codes without anything expected', () => {
  const [proof, witness] = [pathOf('v1-within'), pathOf('v1-witness-score')];
  assert.equal(run(proof).status, 0);
  const { status, stdout } = run(witness);
  assert.equal(status, 1);
  assert.match(stdout, /ACCEPTED[^]*the claim is FALSE/);
  assert.equal(run('--json', witness).status, 1);
  assert.equal(run('--quiet', witness).status, 1);
  // A proof in which nobody is shown is one all the same.
  assert.equal(run(pathOf('v1-constrained')).status, 0);
  const lines = openCertificate(readFileSync(witness));
  /** @type {any} */ (lines[5]).get('witness').set('scores', ['0', '0']);
  const wrong = join(scratch, 'wrong.likewise');
  writeFileSync(wrong, writeCertificate(lines));
  assert.equal(run(wrong).status, 4);
  assert.equal(run('--expect', 'biased', wrong).status, 4);
  assert.equal(run('--expect', 'fair', wrong).status, 4);
  // The largest one of several.
  assert.equal(run('--quiet', proof, witness, proof).status, 1);
  assert.equal(run('--quiet', witness, join(scratch, 'absent')).status, 2);
  assert.equal(run('--quiet', wrong, witness).status, 4);
  assert.equal(run('--quiet', '--expect', 'biased', witness, witness).status, 0);
  assert.equal(run('--quiet', '--expect', 'biased', witness, proof).status, 1);
});

test('what is expected', () => {
  assert.equal(run('--expect', 'fair', pathOf('v1-within')).status, 0);
  assert.equal(run('--expect', 'biased', pathOf('v1-within')).status, 1);
  assert.equal(run('--expect', 'biased', pathOf('v1-witness-score')).status, 0);
  assert.equal(run('--expect', 'fair', pathOf('v1-witness-score')).status, 1);
  assert.equal(run('--expect', 'something', pathOf('v1-within')).status, 2);
});

test('an error of the command itself has an exit code of its own', { skip: !existsSync('/dev/full') }, () => {
  const { status, stderr } = spawnSync(process.execPath, [command, pathOf('v1-score-bound')], { stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'], encoding: 'utf8' });
  assert.match(`${stderr}`, /INTERNAL ERROR/);
  assert.equal(status, 101);
});

test('nobody is shown, or somebody is', () => {
  assert.equal(run('--expect', 'fair', pathOf('v1-constrained')).status, 0);
  for (const [somebody, code] of /** @type {[string[], number][]} */ ([
    [['4', '0', '0', '0'], 4],
    [['5', '0', '1', '0'], 0],
    [['5', '0', '1', '2'], 4],
    [['5', '0', '1'], 4],
  ])) {
    const lines = openCertificate(readFileSync(pathOf('v1-constrained')));
    /** @type {any} */ (lines[lines.length - 1]).get('end').set('somebody', somebody);
    const path = join(scratch, 'somebody.likewise');
    writeFileSync(path, writeCertificate(lines));
    assert.equal(run('--expect', 'fair', path).status, code, somebody.join());
  }
});

test('not finished', () => {
  assert.equal(run('--seconds', '0.0001', pathOf('v1-svc')).status, 3);
  const { status, stdout } = run('--memory', '1', '--json', pathOf('v1-svc'));
  assert.equal(status, 3);
  assert.equal(JSON.parse(stdout).answer, 'unfinished');
});

test('the worker of a page', async (context) => {
  const shim = `
    import { parentPort, workerData } from 'node:worker_threads';
    globalThis.self = { postMessage: (message) => parentPort.postMessage(message) };
    await import(workerData);
    parentPort.on('message', (data) => self.onmessage({ data }));`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(shim)}`), {
    workerData: new URL('../src/worker.js', import.meta.url).href,
  });
  context.after(() => worker.terminate());
  const ask = (/** @type {object} */ job) =>
    new Promise((resolve) => {
      worker.on('message', (message) => {
        if (message.kind !== 'progress') resolve(message);
      });
      worker.postMessage(job);
    });
  const certificate = new Uint8Array(readFileSync(pathOf('v1-within')));
  const claim = new TextEncoder().encode(linesOf('v1-within').slice(1, 5).join('\n'));
  const answer = /** @type {any} */ (await ask({ certificate, claim, expect: 'fair' }));
  assert.equal(answer.kind, 'report');
  assert.equal(answer.report.answer, 'accepted');
  assert.deepEqual(answer.report.compared, ['space', 'similarity', 'property', 'model']);
  assert.equal(answer.asExpected, true);
  const mistake = /** @type {any} */ (await ask({ certificate, claim: claim.subarray(0, 10) }));
  assert.equal(mistake.kind, 'wrong-usage');
});

test('nothing under src imports what a browser has not', () => {
  const sources = new URL('../src/', import.meta.url);
  const files = readdirSync(sources, { recursive: true }).map(String).filter((name) => name.endsWith('.js'));
  assert.ok(files.length > 50);
  for (const name of files) {
    const text = readFileSync(new URL(name, sources), 'utf8');
    for (const [, from] of text.matchAll(/^(?:import|export)[^;]*from '([^']+)'/gm)) assert.match(from, /^\.\.?\//, name);
    assert.doesNotMatch(text, /\b(?:process|require\('|Buffer)\./, name);
  }
});
