#!/usr/bin/env node
/**
 * Writes the checker as one script, for pages and their workers: every module becomes a function, in the order of imports.
 *
 *     node tools/bundle.js [OUT]
 *
 * The script defines `likewiseCheck = { checkCertificate, reportLines, reportJson }`. It understands just the forms of import
 * and export that the sources use, and refuses others.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = resolve(dirname(fileURLToPath(import.meta.url)), '../src');
const IMPORT = /^import \{([^}]*)\} from '([^']+)';$/gm;
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
  const body = source
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
  for (const entry of ['check.js', 'report.js']) take(join(SOURCES, entry), modules, []);
  return [
    "'use strict';\nconst likewiseCheck = (() => {\nconst modules = {};\n",
    ...modules.values(),
    'const { checkCertificate } = modules["check.js"];\nconst { reportLines, reportJson } = modules["report.js"];\n',
    'return { checkCertificate, reportLines, reportJson };\n})();\n',
  ].join('');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2];
  if (out === undefined) process.stdout.write(bundle());
  else writeFileSync(out, bundle());
}
