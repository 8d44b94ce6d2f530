#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { checkCertificate } from '../src/check.js';
const r = checkCertificate(new Uint8Array(readFileSync(process.argv[2])));
console.log(r.answer, r.kind, r.packs.join(), r.line, r.reason, String(r.clearance), r.labelOfEverybody);
