/**
 * The checker in a browser's Web Worker:
 *
 *     const worker = new Worker('worker.js', { type: 'module' });
 *     worker.onmessage = ({ data }) => { ... };               // {kind: 'progress', nodes}, then {kind: 'report', ...}
 *     worker.postMessage({ certificate: bytes, claim: bytes });
 *
 * What a message may hold and what comes back is said in job.js. Nothing that is imported here needs node.
 */

import { runJob } from './job.js';

self.onmessage = (/** @type {MessageEvent<import('./job.js').Job>} */ { data }) => {
  runJob(data, (message) => self.postMessage(message));
};
