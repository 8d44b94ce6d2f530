/** The checker as one script, run where there is nothing of node. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { bundle } from '../tools/bundle.js';
import { goldenFolder } from './folder.js';

/**
 * @param {string} name of a golden certificate
 * @returns {any[]} what the worker posts
 */
function answersOf(name) {
  /** @type {any[]} */
  const posted = [];
  const self = { postMessage: (/** @type {any} */ message) => posted.push(message), onmessage: (/** @type {any} */ _) => {} };
  runInContext(bundle(), createContext({ TextDecoder, self }));
  self.onmessage({ data: { certificate: new Uint8Array(readFileSync(new URL(name, goldenFolder))), full: true } });
  return posted;
}

test('the bundle checks a certificate', () => {
  const [{ kind, report, lines }] = answersOf('v1-kernel-score.likewise').slice(-1);
  assert.equal(kind, 'report');
  assert.equal(report.answer, 'accepted');
  assert.match(lines.join('\n'), /^ACCEPTED: the proof holds/m);
});

test('the bundle tells how far it is', () => {
  const [first] = answersOf('v1-kernel-score.likewise');
  assert.equal(first.kind, 'progress');
  assert.ok(first.nodes >= 1);
});

test('the bundle is a plain script, without the comments that have lines of their own', () => {
  const script = bundle();
  assert.doesNotMatch(script, /^\s*(?:import|export) /m);
  assert.doesNotMatch(script.split('\n').slice(2).join('\n'), /^\s*(?:\/\/|\*)/m);
});
