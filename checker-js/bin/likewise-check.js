#!/usr/bin/env node
/** The command: reads certificates from files and says what the checker answers. Everything else is in ../src. */

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

const USAGE = `usage: likewise-check.js [--claim FILE] [--model FILE] [--expect fair|biased] [--json] [--full] [--quiet]
                         [--seconds N] [--memory MIB] CERT [CERT ...]

Checks certificates in exact arithmetic.

  --claim FILE  the claim it must be about: the lines space, similarity, property and model
  --model FILE  the model line it must speak of
  --expect WHAT exit with 0 if it is accepted and a proof (fair) or a witness (biased); with 1 if it is accepted
                but not that
  --json        print the report as JSON, one line a certificate
  --full        print the claim in full: every feature, level, constraint and pair
  --quiet       print nothing but JSON if asked for it
  --seconds N   give up after so many seconds (default: 3600)
  --memory MIB  give up where more memory is needed (default: 1024)

Exit code: 0 an accepted proof, 1 an accepted witness (the claim is false), 4 rejected, 2 unreadable or wrong usage,
3 not finished (Ctrl-C, --seconds, --memory), 101 an error of the checker. With several certificates: the largest one.`;

const FALSE_OR_NOT_EXPECTED = 1;
const WRONG_USAGE = 2;
const NOT_FINISHED = 3;
const INTERNAL_ERROR = 101;
/** Of what is not accepted. @type {Record<string, number>} */
const EXIT_CODES = { rejected: 4, unreadable: 2, unfinished: NOT_FINISHED };

/** After Ctrl-C no further certificate is looked at. */
let interruptions = 0;

/** @returns {Promise<number>} the exit code */
async function main() {
  let options;
  try {
    options = parseArgs({
      allowPositionals: true,
      options: {
        claim: { type: 'string' },
        model: { type: 'string' },
        expect: { type: 'string' },
        json: { type: 'boolean' },
        full: { type: 'boolean' },
        quiet: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        seconds: { type: 'string', default: '3600' },
        memory: { type: 'string', default: '1024' },
      },
    });
  } catch (error) {
    console.error(`${wordsOf(error)}\n\n${USAGE}`);
    return WRONG_USAGE;
  }
  const { values, positionals } = options;
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const seconds = Number(values.seconds);
  const memory = Number(values.memory);
  const expectsKnown = values.expect === undefined || values.expect === 'fair' || values.expect === 'biased';
  if (positionals.length === 0 || !(seconds > 0) || !(memory > 0) || !expectsKnown) {
    console.error(USAGE);
    return WRONG_USAGE;
  }
  const asked = { expect: values.expect, full: values.full, seconds };
  try {
    if (values.claim !== undefined) Object.assign(asked, { claim: bytesOf(values.claim) });
    if (values.model !== undefined) Object.assign(asked, { model: bytesOf(values.model) });
  } catch (error) {
    console.error(wordsOf(error));
    return WRONG_USAGE;
  }
  let code = 0;
  for (const path of positionals) {
    code = Math.max(code, await checkFile(path, asked, memory, values));
    if (interruptions > 0) break;
  }
  return code;
}

/**
 * @param {string} path
 * @param {{seconds: number}} asked what is the same for all certificates
 * @param {number} memory in MiB
 * @param {{json?: boolean, quiet?: boolean}} options
 */
async function checkFile(path, asked, memory, { json, quiet }) {
  let certificate;
  try {
    certificate = bytesOf(path);
  } catch (error) {
    console.error(`UNREADABLE: ${wordsOf(error)}`);
    return EXIT_CODES.unreadable;
  }
  const answer = await answerOf({ ...asked, certificate }, memory);
  if (answer.kind !== 'report') {
    console.error(`${answer.kind === 'unfinished' ? 'NOT FINISHED: ' : ''}${answer.reason}`);
    if (answer.kind === 'error') throw new Error(`a defect of the checker: ${answer.reason}`);
    if (json && answer.kind === 'unfinished') {
      console.log(JSON.stringify({ file: path, answer: answer.kind, accepted: false, reason: answer.reason }));
    }
    return answer.kind === 'unfinished' ? NOT_FINISHED : WRONG_USAGE;
  }
  const { report, lines, asExpected } = answer;
  if (json) console.log(JSON.stringify({ file: path, ...report, as_expected: asExpected }));
  else if (!quiet) console.log([...lines, ...(asExpected === false ? ['BUT that is not what was expected'] : [])].join('\n'));
  if (report.answer !== 'accepted') return EXIT_CODES[report.answer];
  // A claim that was shown to be false is good news only to somebody who expects that.
  const isGood = asExpected ?? report.kind === 'proof';
  return isGood ? 0 : FALSE_OR_NOT_EXPECTED;
}

/**
 * @param {{seconds: number}} job
 * @param {number} memory in MiB
 * @returns {Promise<any>} the last message of the thread, or why there is none
 */
function answerOf(job, memory) {
  return new Promise((resolve) => {
    const thread = new Worker(new URL('./thread.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: memory },
    });
    // The thread looks at the clock itself, and says more then: this ends what does not look, such as the words of a long claim.
    const late = () => end({ kind: 'unfinished', reason: `the limit of ${job.seconds} seconds is over` });
    const timer = setTimeout(late, Math.min(1200 * job.seconds + 1000, 2 ** 31 - 1));
    const end = (/** @type {object} */ answer) => {
      clearTimeout(timer);
      process.removeListener('SIGINT', interrupted);
      resolve(answer);
      void thread.terminate();
    };
    const interrupted = () => {
      interruptions += 1;
      end({ kind: 'unfinished', reason: 'interrupted' });
    };
    process.on('SIGINT', interrupted);
    thread.on('message', (message) => {
      if (message.kind !== 'progress') end(message);
    });
    thread.on('error', (error) => {
      const outOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      end({ kind: outOfMemory ? 'unfinished' : 'error', reason: wordsOf(error) });
    });
    thread.postMessage(job);
  });
}

/** @param {string} path */
function bytesOf(path) {
  return new Uint8Array(readFileSync(path));
}

/** @param {unknown} error */
function wordsOf(error) {
  return error instanceof Error ? error.message : `${error}`;
}

// Node would exit with 1, which says that a witness is accepted.
process.on('uncaughtException', (error) => {
  try {
    console.error(`INTERNAL ERROR, neither accepted nor rejected: ${wordsOf(error)}`.slice(0, 1000));
  } finally {
    process.exit(INTERNAL_ERROR);
  }
});
process.exitCode = await main();
