/** All kinds of bodies: which room reads which. */

import { reject } from '../rejection.js';
import { AffineBody, readAffine } from './affine.js';
import { CombinedBody, readCombined } from './combined.js';
import { NetworkBody, readNetwork } from './network.js';
import { PolynomialBody, readPolynomial } from './polynomial.js';
import { RbfBody, readRbf } from './rbf.js';
import { readTrees, TreesBody } from './trees.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./columns.js').BodyContext} BodyContext
 * @typedef {AffineBody | RbfBody | PolynomialBody | TreesBody | NetworkBody} PlainBody
 * @typedef {PlainBody | CombinedBody} Body
 */

/**
 * @param {Json} json
 * @param {BodyContext} context
 * @returns {PlainBody}
 */
function readPlainBody(json, context) {
  switch (json instanceof Map ? json.get('kind') : null) {
    case 'affine':
      return readAffine(json, context);
    case 'rbf':
      return readRbf(json, context);
    case 'polynomial':
      return readPolynomial(json, context);
    case 'trees':
      return readTrees(json, context);
    case 'network':
      return readNetwork(json, context);
    default:
      return reject('body: an unknown kind');
  }
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 * @returns {Body}
 */
export function readBody(json, context) {
  const combined = json instanceof Map && json.get('kind') === 'combined';
  return combined ? readCombined(json, context, readPlainBody) : readPlainBody(json, context);
}

/**
 * Section 2: only trees know what to do with missing values.
 * @param {Body} body
 * @returns {boolean}
 */
export function knowsMissingValues(body) {
  return body.kind === 'combined' ? body.bodies.every(knowsMissingValues) : body.kind === 'trees';
}
