import { reject } from '../rejection.js';
/** @returns {any} */
export function splitAtNeuron() { return reject('neuron: not yet'); }
