/** One check as a message and its answers: the same for a browser's worker and for a thread of the command. */

import { checkCertificate } from './check.js';
import { digestsOfClaimFile, digestsOfModelFile, WrongUsage } from './claim/expected.js';
import { isAsExpected, reportJson, reportLines } from './report.js';

/** Milliseconds from one word of progress to the next. */
const PAUSE = 100;

/**
 * @typedef {object} Job
 * @property {Uint8Array | ArrayBuffer} certificate the bytes of the file
 * @property {Uint8Array | ArrayBuffer} [claim] the bytes of a claim file, if the certificate has to be about that claim
 * @property {Uint8Array | ArrayBuffer} [model] the bytes of a model file
 * @property {'fair' | 'biased'} [expect] a proof or a witness
 * @property {number} [seconds] give up after so many
 * @property {boolean} [full] say all of the claim
 */

/**
 * @typedef {{kind: 'progress', nodes: number}} Progress
 * @typedef {{kind: 'report', report: ReturnType<typeof reportJson>, lines: string[], asExpected: boolean | null}} Answer
 * @typedef {{kind: 'wrong-usage', reason: string}} Mistake the claim file or the model file is none
 * @typedef {{kind: 'error', reason: string}} Defect of this checker: nothing was accepted
 */

/**
 * @param {Job} job
 * @param {(message: Progress | Answer | Mistake | Defect) => void} post progress now and then, and one of the others at last
 */
export function runJob(job, post) {
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

/** @param {Uint8Array | ArrayBuffer} data */
function bytesOf(data) {
  return data instanceof Uint8Array ? data : new Uint8Array(data);
}
