import { reject } from '../rejection.js';
/** @returns {any} */
export function odds() { return reject('odds: not yet'); }
