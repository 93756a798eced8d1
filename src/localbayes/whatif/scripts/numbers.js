// Arrays that were packed into the page, and sums of numbers that are given by their logarithms.

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };

/** Scores that differ by no more than this are a tie; the class declared first wins. */
const TIE = 1e-9;

/** The array that was written as { kind, data }: a type of number, and the bytes in base64. */
export function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = text.charCodeAt(k);
  return new KINDS[packed.kind](bytes.buffer);
}

export function sum(numbers) {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

/** Log of the sum of exponentials. */
export function logTotal(logs) {
  let best = -Infinity;
  for (const log of logs) best = Math.max(best, log);
  if (best === -Infinity) return best;
  let total = 0;
  for (const log of logs) total += Math.exp(log - best);
  return best + Math.log(total);
}

/** Log of a relative frequency; 0 / 0 counts as probability zero. */
export function logRatio(above, below) {
  const ratio = Math.log(above / below);
  return Number.isNaN(ratio) ? -Infinity : ratio;
}

/** Position of the first score that ties with the best. */
export function firstBest(scores) {
  const best = Math.max(...scores);
  return scores.findIndex((score) => score >= best - TIE);
}

/**
 * The log of a sum of products, as one base and one term for every attribute.
 *
 * With s_k the share of product k in the sum,
 *   log sum_k exp(base_k + sum_i term_ki)  =  sum_k s_k (base_k - log s_k)  +  sum_i sum_k s_k term_ki.
 *
 * parts: [{ base, terms }], numbers of one class; the result has the same form.
 */
export function sumOfTerms(parts) {
  const logs = parts.map((part) => part.base + sum(part.terms));
  const total = logTotal(logs);
  const terms = new Array(parts[0].terms.length).fill(0);
  let base = 0;
  parts.forEach((part, k) => {
    // In a sum of zero no product has a share; equal shares keep the sum at zero.
    const logShare = total === -Infinity ? -Math.log(parts.length) : logs[k] - total;
    const share = Math.exp(logShare);
    if (share === 0) return;
    base += share * (part.base - logShare);
    part.terms.forEach((term, i) => (terms[i] += share * term));
  });
  return { base, terms };
}

/**
 * The same for all classes: a list of splits, each a list of { base, terms } by class, as one split.
 */
export function mixTerms(splits) {
  return splits[0].map((_, y) => sumOfTerms(splits.map((split) => split[y])));
}
