/** The checker in a thread of the command, so that it can be interrupted and its memory limited. */

import { parentPort } from 'node:worker_threads';
import { runJob } from '../src/job.js';

parentPort?.on('message', (job) => runJob(job, (message) => parentPort?.postMessage(message)));
