import { reject } from '../rejection.js';
/** @returns {any} */
export function polynomial() { return reject('polynomial: not yet'); }
