#!/usr/bin/env node
/** The command: reads certificates from files and says what the checker answers. Everything else is in ../src. */

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkCertificate } from '../src/check.js';
import { reportJson, reportLines } from '../src/report.js';

const USAGE = `usage: likewise-check.js [--json] [--full] [--quiet] [--seconds N] CERT [CERT ...]

Checks certificates in exact arithmetic.

  --json       print the report as JSON, one line a certificate
  --full       print the claim in full: every feature, level, constraint and pair
  --quiet      print nothing but JSON if asked for it
  --seconds N  reject what takes longer (default: 3600)

Exit code: 0 accepted, 4 rejected, 2 unreadable or wrong usage. With several certificates: the largest one.`;

const EXIT_CODES = { accepted: 0, rejected: 4, unreadable: 2 };

/** @returns {number} the exit code */
function main() {
  let options;
  try {
    options = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        full: { type: 'boolean' },
        quiet: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        seconds: { type: 'string', default: '3600' },
      },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = options;
  const seconds = Number(values.seconds);
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (positionals.length === 0 || !(seconds > 0)) {
    console.error(USAGE);
    return 2;
  }
  return Math.max(...positionals.map((path) => checkFile(path, seconds, values)));
}

/**
 * @param {string} path
 * @param {number} seconds
 * @param {{json?: boolean, full?: boolean, quiet?: boolean}} options
 */
function checkFile(path, seconds, { json, full, quiet }) {
  let file;
  try {
    file = new Uint8Array(readFileSync(path));
  } catch (error) {
    console.error(`UNREADABLE: ${error instanceof Error ? error.message : error}`);
    return EXIT_CODES.unreadable;
  }
  const report = checkCertificate(file, { seconds });
  if (json) console.log(JSON.stringify({ file: path, ...reportJson(report) }));
  else if (!quiet) console.log(reportLines(report, { full }).join('\n'));
  return EXIT_CODES[report.answer];
}

process.exitCode = main();
