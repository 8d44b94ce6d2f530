/**
 * Limits against hostile files. Section 13 says which sizes a checker must allow; a clock ends what takes too long
 * (that is neither accepted nor rejected, but not finished).
 */

import { Unfinished } from './rejection.js';

export const MAXIMUM = Object.freeze({
  features: 10_000,
  levels: 100_000,
  constraints: 1_000,
  constraintEntries: 2 ** 22,
  nodes: 100_000_000,
  depth: 10_000,
  lineBytes: 64 * 2 ** 20,
  textBytes: 16 * 2 ** 30,
  numberCharacters: 10_000,
  exponent: 20_000,
  intCharacters: 600,
  jsonDepth: 32,
  brackets: 2 ** 23,
  marks: 2 ** 22,
  marksPerByte: 16,
  denominatorBits: 2 ** 16,
  columns: 10_000,
  cuts: 10_000,
  scores: 1_000,
  parts: 10_000,
  partsOfProof: 10_000,
  innerBodies: 10_000,
  knots: 100_000,
  chainCuts: 1_000,
  forms: 10_000,
  positionPairs: 2 ** 20,
  termsOfLeaf: 2n ** 20n,
  trees: 100_000,
  treeNodes: 10_000_000,
  treeDepth: 10_000,
  pointsOfLeaf: 2n ** 20n,
  pointsOfCertificate: 2n ** 24n,
  partPairs: 2 ** 20,
  products: 2 ** 22,
  mixedProducts: 2 ** 24,
  oddsBoxes: 2 ** 14,
  slopeNodes: 1_000_000,
});

/** Ends a check that takes longer than it may. `tick` is called in every loop that a file can make long. */
export class Clock {
  /** @param {number} seconds */
  constructor(seconds) {
    this.seconds = seconds;
    this.end = Date.now() + 1000 * seconds;
    this.ticks = 0;
  }

  /** Looks at the time at every 256th call. */
  tick() {
    this.ticks += 1;
    if ((this.ticks & 255) === 0) this.look();
  }

  look() {
    if (Date.now() > this.end) throw new Unfinished(`the limit of ${this.seconds} seconds is over`);
  }
}
