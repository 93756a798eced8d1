// Shares of the classes: what holds where no class is possible, and priors and class weights that were given.

import { sum } from "./numbers.js";

/** A split, or where no class has any probability, the shares of the training rows and no terms. */
export function defined(split, classCount) {
  if (split.some(({ base, terms }) => base + sum(terms) > -Infinity)) return split;
  const total = sum(classCount);
  return split.map(({ terms }, y) => ({ base: Math.log(classCount[y] / total), terms: terms.map(() => 0) }));
}

/** A split under given priors and class weights; where they exclude all possible classes, they alone count. */
export function shifted(split, shift, classCount) {
  if (shift === null) return split;
  const possible = split.some(({ base, terms }, y) => base + sum(terms) + shift[y] > -Infinity);
  if (possible) return split.map(({ base, terms }, y) => ({ base: base + shift[y], terms }));
  const below = classCount.length + sum(classCount);
  return split.map(({ terms }, y) => ({
    base: Math.log((1 + classCount[y]) / below) + shift[y],
    terms: terms.map(() => 0),
  }));
}
