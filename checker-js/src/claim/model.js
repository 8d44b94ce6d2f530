/** The model line (section 2, "Model"): body, head, rounding and features, as far as they fit each other and the space. */

import { knowsMissingValues, readBody } from '../bodies/bodies.js';
import { readObject, readOnly, readText } from '../file/fields.js';
import { require } from '../rejection.js';
import { readHead } from './head.js';
import { readRounding } from './rounding.js';
import { readFeatures, sameFeatures } from './space.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/bodies.js').Body} Body
 * @typedef {import('./head.js').Head} Head
 * @typedef {import('./rounding.js').Rounding} Rounding
 * @typedef {import('./space.js').Space} Space
 */

/**
 * @typedef {object} Model
 * @property {string} family
 * @property {Body} body
 * @property {Head} head
 * @property {Rounding | null} rounding
 */

/**
 * @param {Json} json
 * @param {Space} space
 * @returns {Model}
 */
export function readModel(json, space) {
  const part = readObject(readOnly(json, 'model'), 'model', ['family', 'body', 'head', 'rounding'], ['features']);
  const family = readText(part('family'), 'family');
  const features = part('features');
  if (features !== undefined) {
    require(sameFeatures(readFeatures(features), space.features), 'model: its features are not those of the space');
  }
  const head = readHead(part('head'));
  const body = readBody(part('body'), { space, scores: head.kind === 'classes' ? head.scores : null });
  const missing = space.features.some((feature) => feature.missing !== null);
  require(!missing || knowsMissingValues(body), 'model: only trees know what to do with missing values');
  return { family, body, head, rounding: readRounding(part('rounding'), body, head, space) };
}
