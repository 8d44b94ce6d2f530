/** The claim of a certificate: its four lines after the header (section 2). */

import { readModel } from './model.js';
import { checkProperty, readProperty } from './property.js';
import { goesAlong, isOneWay, readSimilarity } from './similarity.js';
import { require } from '../rejection.js';
import { readSpace } from './space.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./space.js').Space} Space
 * @typedef {import('./similarity.js').Relation} Relation
 * @typedef {import('./distance.js').Distance} Distance
 * @typedef {import('./property.js').Property} Property
 * @typedef {import('./model.js').Model} Model
 */

/**
 * @typedef {object} Claim
 * @property {Space} space
 * @property {Relation[]} similarity
 * @property {Distance | null} distance that a pair may have at most (section 19)
 * @property {Property} property
 * @property {Model} model
 * @property {boolean} hasClearance whether leaves have clearances of their own; else all count as 0 (sections 7, 8, 11, 15)
 */

/** The names of the claim's lines, in order. */
export const CLAIM_LINES = /** @type {const} */ (['space', 'similarity', 'property', 'model']);

/**
 * Takes the claim's lines one by one, so that an error is told with its line.
 * @returns {{take: (json: Json) => void, claim: () => Claim}}
 */
export function claimReader() {
  /** @type {Partial<{space: Space, similar: {similarity: Relation[], distance: Distance | null}, property: Property, model: Model}>} */
  const parts = {};
  let taken = 0;
  return {
    take(json) {
      const name = CLAIM_LINES[taken++];
      if (name === 'space') parts.space = readSpace(json);
      else if (name === 'similarity') parts.similar = readSimilarity(json, /** @type {Space} */ (parts.space));
      else if (name === 'property') parts.property = readProperty(json, /** @type {Space} */ (parts.space));
      else parts.model = readModel(json, /** @type {Space} */ (parts.space));
    },
    claim() {
      const { space, similar, property, model } = parts;
      if (!space || !similar || !property || !model) throw new Error('the claim is not complete');
      const hasClearance = model.body.kind === 'affine' || model.body.kind === 'trees';
      require(property.rate === null || !goesAlong(similar.similarity), 'property: "lipschitz", though features change along');
      checkProperty(property, model.head, isOneWay(similar.similarity));
      return { space, ...similar, property, model, hasClearance };
    },
  };
}
