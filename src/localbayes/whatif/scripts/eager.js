// Formulas over counts of values and of pairs of values: NB, TAN, AODE, WAODE and HNB.
//
// A formula is made once, from the numbers in the page. It takes the codes of a row and gives, for every class, a
// base and a term for every attribute; their sum is the log of the joint probability of the class and the row.

import { MISSING } from "./encoding.js";
import { logRatio, sum, sumOfTerms, unpack } from "./numbers.js";

/** Rows of every class, and of every class and value. Every attribute has a slot more, for values never seen. */
class Counts {
  constructor(fields, sizes, nClasses) {
    this.sizes = sizes;
    this.classes = Array.from({ length: nClasses }, (_, y) => y);
    this.ofClass = unpack(fields.classCounts);
    this.ofValue = unpack(fields.valueCounts);
    this.known = fields.knownCounts ? unpack(fields.knownCounts) : null;
    this.nRows = sum(this.ofClass);
    this.firstSlot = [0];
    for (const size of sizes) this.firstSlot.push(this.firstSlot.at(-1) + size + 1);
  }

  get nClasses() {
    return this.classes.length;
  }

  /** Slots of a row of codes. */
  slots(codes) {
    return this.sizes.map((size, i) => this.firstSlot[i] + (codes[i] < 0 ? size : Math.min(codes[i], size)));
  }

  /** n_iy: rows of class y that have the value of a slot. */
  value(slot, y) {
    return this.ofValue[slot * this.nClasses + y];
  }

  /** Rows of class y that know attribute i. */
  knowing(i, y) {
    return this.known ? this.known[i * this.nClasses + y] : this.ofClass[y];
  }
}

/** Counts of pairs of values, too. */
class PairCounts extends Counts {
  constructor(fields, sizes, nClasses) {
    super(fields, sizes, nClasses);
    this.ofPair = unpack(fields.pairCounts);
    // Attribute j has a block of (q_j + 1) rows, each with the slots of all attributes before it.
    this.firstCell = [0];
    sizes.forEach((size, j) => this.firstCell.push(this.firstCell[j] + (size + 1) * this.firstSlot[j]));
  }

  /** n_ijy: rows of class y that have the values of two slots, of attributes i and j. */
  pair(i, j, slots, y) {
    const [low, high] = i < j ? [i, j] : [j, i];
    const row = slots[high] - this.firstSlot[high];
    const cell = this.firstCell[high] + row * this.firstSlot[high] + slots[low];
    return this.ofPair[cell * this.nClasses + y];
  }
}

/** (alpha + n_y) / (alpha r + n)  *  prod_i (alpha + n_iy) / (alpha q_i + n_y) */
function naive(counts, alpha, codes) {
  const slots = counts.slots(codes);
  return counts.classes.map((y) => ({
    base: Math.log((alpha + counts.ofClass[y]) / (alpha * counts.nClasses + counts.nRows)),
    terms: counts.sizes.map((size, i) =>
      counts.known && codes[i] === MISSING
        ? 0
        : logRatio(alpha + counts.value(slots[i], y), alpha * size + counts.knowing(i, y)),
    ),
  }));
}

export function nb(fields, sizes, nClasses) {
  const counts = new Counts(fields, sizes, nClasses);
  return (codes) => naive(counts, fields.alpha, codes);
}

/** As NB, but every attribute i but the root has a parent j: (alpha + n_ijy) / (alpha q_i + n_jy). */
export function tan(fields, sizes, nClasses) {
  const counts = new Counts(fields, sizes, nClasses);
  const pairs = fields.pairs.map((pair) => pair && unpack(pair));
  const { alpha, parents } = fields;
  return (codes) => {
    const slots = counts.slots(codes);
    const values = slots.map((slot, i) => slot - counts.firstSlot[i]);
    const factor = (i, y) => {
      const j = parents[i];
      if (j < 0) return (alpha + counts.value(slots[i], y)) / (alpha * sizes[i] + counts.ofClass[y]);
      const both = pairs[i][(values[i] * (sizes[j] + 1) + values[j]) * nClasses + y];
      return (alpha + both) / (alpha * sizes[i] + counts.value(slots[j], y));
    };
    return counts.classes.map((y) => ({
      base: Math.log((alpha + counts.ofClass[y]) / (alpha * nClasses + counts.nRows)),
      terms: sizes.map((_, i) => Math.log(factor(i, y))),
    }));
  };
}

/**
 * A sum over superparents p: first(p, y) prod_i P(x_i | x_p, y), as one base and terms.
 *
 * pseudo(i) is added to the counts of attribute i. The term of p itself is log P(x_p | y), so that it says what p
 * tells of the class; the base makes up for it.
 */
function overSuperparents(counts, slots, superparents, pseudo, first) {
  return counts.classes.map((y) => {
    const parts = superparents.map((p) => {
      const n = counts.value(slots[p], y);
      const terms = counts.sizes.map((q, i) =>
        i === p
          ? Math.log((n + pseudo(p)) / (counts.ofClass[y] + q * pseudo(p)))
          : Math.log((counts.pair(p, i, slots, y) + pseudo(i)) / (n + q * pseudo(i))),
      );
      return { base: first(p, n) - terms[p], terms };
    });
    return sumOfTerms(parts);
  });
}

/** sum_p (1 + n_py) / (n + r q_p)  *  prod_{i != p} (1 + n_piy) / (q_i + n_py), over values that occur. */
export function aode(fields, sizes, nClasses) {
  const counts = new PairCounts(fields, sizes, nClasses);
  const occurs = (slot) => {
    const n = sum(counts.classes.map((y) => counts.value(slot, y)));
    return fields.minCount > 1 ? n >= fields.minCount : n > 0;
  };
  const first = (p, n) => Math.log((1 + n) / (counts.nRows + nClasses * sizes[p]));
  return (codes) => {
    const slots = counts.slots(codes);
    const superparents = sizes.map((_, p) => p).filter((p) => occurs(slots[p]));
    if (superparents.length === 0) return naive(counts, 1, codes);
    return overSuperparents(counts, slots, superparents, () => 1, first);
  };
}

/** sum_p w_p (n_py + 1 / (r q_p)) / (n + 1)  *  prod_{i != p} (n_piy + 1 / q_i) / (n_py + 1) */
export function waode(fields, sizes, nClasses) {
  const counts = new PairCounts(fields, sizes, nClasses);
  const given = Array.from(unpack(fields.weights));
  const weights = given.some((weight) => weight > 0) ? given : given.map(() => 1);
  const superparents = sizes.map((_, p) => p).filter((p) => weights[p] > 0);
  const first = (p, n) =>
    Math.log(weights[p]) + Math.log((n + 1 / (nClasses * sizes[p])) / (counts.nRows + 1));
  return (codes) => overSuperparents(counts, counts.slots(codes), superparents, (i) => 1 / sizes[i], first);
}

/** (n_y + 1 / r) / (n + 1)  *  prod_i sum_{j != i} W_ij (n_ijy + 1 / q_i) / (n_jy + 1) */
export function hnb(fields, sizes, nClasses) {
  const counts = new PairCounts(fields, sizes, nClasses);
  const m = sizes.length;
  const weights = unpack(fields.weights);
  const factor = (i, y, slots) => {
    let total = 0;
    let alone = true;
    for (let j = 0; j < m; j++) {
      const weight = weights[i * m + j];
      if (weight === 0) continue;
      alone = false;
      total += (weight * (counts.pair(i, j, slots, y) + 1 / sizes[i])) / (counts.value(slots[j], y) + 1);
    }
    return alone ? (counts.value(slots[i], y) + 1 / sizes[i]) / (counts.ofClass[y] + 1) : total;
  };
  return (codes) => {
    const slots = counts.slots(codes);
    return counts.classes.map((y) => ({
      base: Math.log((counts.ofClass[y] + 1 / nClasses) / (counts.nRows + 1)),
      terms: sizes.map((_, i) => Math.log(factor(i, y, slots))),
    }));
  };
}
