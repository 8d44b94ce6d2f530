/**
 * The three ways in which a certificate is not accepted (specification, section 13).
 * Any other error that leaves the checker is a defect of the checker, and counts as "not accepted" too.
 */

const LONGEST_REASON = 1000;

/** The file is readable, but does not prove what it claims, or exceeds a limit of this checker. */
export class Rejection extends Error {
  /** @param {string} reason which may hold a number of the file, however long */
  constructor(reason) {
    super(reason.slice(0, LONGEST_REASON));
  }

  /** @type {number | null} the line of the certificate, from 1 */
  line = null;
}

/** A limit of time or of memory was reached: nothing is said about the certificate. */
export class Unfinished extends Error {}

/** The file is no certificate of a version that this checker knows. */
export class Unreadable extends Error {}

/**
 * @param {string} reason
 * @returns {never}
 */
export function reject(reason) {
  throw new Rejection(reason);
}

/**
 * @param {boolean} condition
 * @param {string} reason what is wrong if the condition does not hold
 * @returns {asserts condition}
 */
export function require(condition, reason) {
  if (!condition) throw new Rejection(reason);
}
