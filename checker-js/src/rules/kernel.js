import { reject } from '../rejection.js';
/** @returns {any} */
export function kernel() { return reject('kernel: not yet'); }
