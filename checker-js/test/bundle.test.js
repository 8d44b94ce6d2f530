/** The checker as one script, run where there is nothing of node. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { bundle } from '../tools/bundle.js';
import { goldenFolder } from './folder.js';

test('the bundle checks a certificate', () => {
  const context = createContext({ TextDecoder, file: new Uint8Array(readFileSync(new URL('v1-kernel-score.likewise', goldenFolder))) });
  const answer = runInContext(`${bundle()}\nlikewiseCheck.reportJson(likewiseCheck.checkCertificate(file)).answer`, context);
  assert.equal(answer, 'accepted');
});
