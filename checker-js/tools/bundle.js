#!/usr/bin/env node
/**
 * Writes src/worker.js with all that it imports as one plain script, for workers of pages: every module becomes a function, in
 * the order of imports.
 *
 *     node tools/bundle.js [OUT]
 *
 * Nothing is changed but imports and exports; comments that have lines of their own are left out, for the pages' sake. The tool
 * understands just the forms that the sources use, and refuses others.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = resolve(dirname(fileURLToPath(import.meta.url)), '../src');
const HEAD = `// The second checker of Likewise certificates, for workers: made of checker-js/src by checker-js/tools/bundle.js.
// What it takes and what it answers is said in checker-js/src/job.js.
`;
const IMPORT = /^import \{([^}]*)\} from '([^']+)';$/gm;
// Whole lines: a comment that ends before its line does has code behind it.
const COMMENT = /^[ \t]*(?:\/\/.*|\/\*\*(?:(?!\*\/)[^])*\*\/[ \t]*)\n/gm;
const EXPORT = /^export ((?:async )?function\*? |class |const )([A-Za-z_$][\w$]*)/gm;

/**
 * @param {string} path
 * @param {Map<string, string>} done modules by path, in the order in which they must run
 * @param {string[]} above the modules that led here
 */
function take(path, done, above) {
  if (done.has(path)) return;
  if (above.includes(path)) throw new Error(`imports in a circle: ${[...above, path].join(' > ')}`);
  const source = readFileSync(path, 'utf8');
  /** @type {string[]} */
  const names = [];
  // No text may look like a comment: none begins in one line and ends in another.
  const odd = source.replace(COMMENT, '').split('\n').find((line) => (line.match(/`/g)?.length ?? 0) % 2 === 1);
  if (odd !== undefined) throw new Error(`${path}: a text of several lines: ${odd}`);
  const body = source
    .replace(COMMENT, '')
    .replace(IMPORT, (_, list, from) => {
      const target = resolve(dirname(path), from);
      take(target, done, [...above, path]);
      return `const {${list}} = modules[${JSON.stringify(relative(SOURCES, target))}];`;
    })
    .replace(EXPORT, (_, kind, name) => {
      names.push(name);
      return `${kind}${name}`;
    });
  if (/^(?:import|export) /m.test(body)) throw new Error(`${path}: a form of import or export that the bundle does not know`);
  const key = JSON.stringify(relative(SOURCES, path));
  done.set(path, `modules[${key}] = (() => {\n${body}\nreturn { ${names.join(', ')} };\n})();\n`);
}

/** @returns {string} the script */
export function bundle() {
  /** @type {Map<string, string>} */
  const modules = new Map();
  take(join(SOURCES, 'worker.js'), modules, []);
  const head = `${HEAD}'use strict';\n(() => {\nconst modules = {};\n`;
  return [head, ...modules.values(), '})();\n'].join('').replace(/\n{2,}/g, '\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2];
  if (out === undefined) process.stdout.write(bundle());
  else writeFileSync(out, bundle());
}
