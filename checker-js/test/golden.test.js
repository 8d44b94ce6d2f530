/** Every golden certificate gets the verdict that is written down beside it. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { reportLines } from '../src/report.js';
import { comingFolder, goldenFolder, laterFolder, newestFolder, steepFolder } from './folder.js';

// A folder may be gone when its certificates have moved to another one.
const cases = [goldenFolder, laterFolder, newestFolder, comingFolder, steepFolder].filter((folder) => existsSync(folder)).flatMap((folder) => {
  const verdicts = JSON.parse(readFileSync(new URL('verdicts.json', folder), 'utf8'));
  return Object.entries(verdicts).map(([name, verdict]) => ({ name, verdict, path: new URL(name, folder) }));
});

for (const { name, verdict, path } of cases) {
  test(name, () => {
    const report = checkCertificate(new Uint8Array(readFileSync(path)));
    assert.equal(report.answer === 'accepted', verdict.accepted, report.reason ?? '');
    assert.equal(report.kind, verdict.kind);
    assert.deepEqual(report.digests, verdict.digests);
    if (verdict.kind === 'proof') {
      assert.equal(report.nodes, verdict.cells);
      assert.equal(`${report.clearance}`, verdict.clearance);
    }
    assert.match(reportLines(report).join('\n'), verdict.accepted ? /ACCEPTED/ : /REJECTED/);
  });
}
