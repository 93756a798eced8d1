// From the values of the controls to codes: positions in the domains of the attributes.

import { logOdds } from "./discriminant.js";

/** Codes of a value that was never seen, and of one that is not known. */
export const UNSEEN = -1;
export const MISSING = -2;

/** Number of cuts below a number: bins are closed on the right. */
export function binOf(cuts, number) {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cuts[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Code of the value of a control: a number, a code, UNSEEN, or null for a missing value. */
export function codeOf(attribute, value) {
  if (attribute.kind === "left out") return 0;
  if (value === null) return attribute.missing;
  return attribute.kind === "nominal" ? value : binOf(attribute.cuts, value);
}

/** Codes of a row: those of the attributes, and of the terms that are made of them. */
export function encode(model, values) {
  const codes = model.attributes.map((attribute, i) => codeOf(attribute, values[i]));
  const odds = model.discriminant ? logOdds(model.discriminant, values) : [];
  return codes.concat((model.terms ?? []).map((term) => termCode(term, values, codes, odds)));
}

/** Code of a term: intervals of a number, single numbers, two attributes as one, or log odds. */
function termCode(term, values, codes, odds) {
  if (term.kind === "odds") return binOf(term.cuts, odds[term.number]);
  if (term.kind === "crossed") {
    const [a, b] = [codes[term.first], codes[term.second]];
    const known = a >= 0 && a < term.sizes[0] && b >= 0 && b < term.sizes[1];
    return known ? a * term.sizes[1] + b : UNSEEN;
  }
  const number = values[term.source];
  if (term.kind === "values") return number === null ? UNSEEN : term.values.indexOf(number);
  if (number === null) return term.missing ? term.cuts.length + 1 : UNSEEN;
  return binOf(term.cuts, number);
}

/** A number in a bin, with as few digits as that takes. */
export function numberInBin(cuts, bin) {
  if (cuts.length === 0) return 0;
  const last = cuts.length - 1;
  const width = last > 0 ? (cuts[last] - cuts[0]) / last : Math.max(1, Math.abs(cuts[0]));
  const low = bin > 0 ? cuts[bin - 1] : cuts[0] - width;
  const high = bin <= last ? cuts[bin] : cuts[last] + width;
  const middle = low / 2 + high / 2;
  for (let digits = 1; digits < 17; digits++) {
    const rounded = Number(middle.toPrecision(digits));
    if (binOf(cuts, rounded) === bin && low < rounded && rounded <= high) return rounded;
  }
  return middle;
}
