import { reject } from '../rejection.js';
/** @returns {any} */
export function sos() { return reject('sos: not yet'); }
