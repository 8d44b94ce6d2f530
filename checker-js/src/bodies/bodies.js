/** All kinds of bodies: which room reads which. */

import { reject } from '../rejection.js';
import { AffineBody, readAffine } from './affine.js';
import { CombinedBody, readCombined } from './combined.js';
import { MixedBody, readMixed } from './mixed.js';
import { NestedBody, readNested } from './nested.js';
import { NetworkBody, readNetwork } from './network.js';
import { PolynomialBody, readPolynomial } from './polynomial.js';
import { RbfBody, readRbf } from './rbf.js';
import { readSum, SumBody } from './sum.js';
import { readTrees, TreesBody } from './trees.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./columns.js').BodyContext} BodyContext
 * @typedef {AffineBody | RbfBody | MixedBody | PolynomialBody | TreesBody | NetworkBody} PlainBody
 * @typedef {PlainBody | SumBody} CombinableBody
 * @typedef {CombinableBody | CombinedBody | NestedBody} Body
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
    case 'mixed':
      return readMixed(json, context);
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
  const kind = json instanceof Map ? json.get('kind') : null;
  if (kind === 'nested') return readNested(json, context, readPlainBody);
  return kind === 'combined' ? readCombined(json, context, readCombinable) : readCombinable(json, context);
}

/**
 * Any body but a combined one (section 11).
 * @param {Json} json
 * @param {BodyContext} context
 * @returns {CombinableBody}
 */
function readCombinable(json, context) {
  const isSum = json instanceof Map && json.get('kind') === 'sum';
  return isSum ? readSum(json, context, readPlainBody) : readPlainBody(json, context);
}

/**
 * How many terms with an exponential a body has, for section 4's limit of `enumerated`.
 * @param {Body} body
 * @returns {number}
 */
export function exponentialTerms(body) {
  if (body.kind === 'rbf' || body.kind === 'mixed') return body.terms.length;
  if (body.kind === 'combined') return body.bodies.reduce((total, own) => total + exponentialTerms(own), 0);
  return body.kind === 'sum' ? body.parts.reduce((total, part) => total + exponentialTerms(part.body), 0) : 0;
}

/**
 * Section 2: only trees know what to do with missing values.
 * @param {Body} body
 * @returns {boolean}
 */
export function knowsMissingValues(body) {
  if (body.kind === 'combined') return body.bodies.every(knowsMissingValues);
  if (body.kind === 'nested') return body.inner.every(knowsMissingValues);
  return body.kind === 'sum' ? body.parts.every((part) => knowsMissingValues(part.body)) : body.kind === 'trees';
}
