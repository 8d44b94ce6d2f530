import { reject } from '../rejection.js';
/** @returns {any} */
export function network() { return reject('network: not yet'); }
