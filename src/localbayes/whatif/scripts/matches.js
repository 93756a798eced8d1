// Match counts: how many training rows of a class lie at each distance from a row, and on what they agree with it.

import { MISSING } from "./encoding.js";
import { unpack } from "./numbers.js";

/** Training rows. A cell holds a code plus two; one stands for a value outside its domain, zero for a missing one. */
export class TrainingRows {
  constructor(fields, sizes, nClasses) {
    this.sizes = sizes;
    this.nClasses = nClasses;
    this.nDistances = fields.nDistances;
    this.mayMiss = fields.mayMiss;
    this.cells = unpack(fields.cells);
    this.classOf = unpack(fields.classes);
    this.weights = fields.rowWeights && unpack(fields.rowWeights);
    this.ignoresUnseen = fields.distance?.ignoresUnseen ?? false;
    // Hamming's distance is one for every attribute that differs.
    const attributes = fields.distance?.attributes ?? sizes.map(() => ({ far: 1 }));
    this.measures = attributes.map((attribute) =>
      attribute.table
        ? { table: unpack(attribute.table), agreement: unpack(attribute.agreement) }
        : { far: attribute.far },
    );
  }

  /** How many rows have each value of every attribute. */
  valueTotals() {
    const m = this.sizes.length;
    const totals = this.sizes.map((size) => new Array(size).fill(0));
    this.cells.forEach((cell, at) => {
      if (cell >= 2) totals[at % m][cell - 2] += 1;
    });
    return totals;
  }

  /**
   * Counts of a row of codes: V[y D + d] rows of class y at distance d, and C[(y D + d) m + i] of them that agree on
   * attribute i. Where values may be missing, known[...] counts those that know it. D is the number of distances.
   * The counts of the last row are kept: another kappa needs no others.
   */
  count(codes) {
    const key = codes.join();
    if (this.counted?.key !== key) this.counted = { key, counts: this.#count(codes) };
    return this.counted.counts;
  }

  #count(codes) {
    const [m, D] = [this.sizes.length, this.nDistances];
    const V = new Float64Array(this.nClasses * D);
    const C = new Float64Array(this.nClasses * D * m);
    const known = this.mayMiss ? new Float64Array(C.length) : null;
    const look = codes.map((code, i) => this.#lookup(i, code));
    for (let row = 0, first = 0; row < this.classOf.length; row++, first += m) {
      const weight = this.weights ? this.weights[row] : 1;
      let distance = 0;
      for (let i = 0; i < m; i++) distance += look[i].distance[this.cells[first + i]];
      const at = this.classOf[row] * D + distance;
      V[at] += weight;
      for (let i = 0; i < m; i++) {
        const cell = this.cells[first + i];
        C[at * m + i] += weight * look[i].agreement[cell];
        if (known && cell > 0) known[at * m + i] += weight;
      }
    }
    return { V, C, known, nClasses: this.nClasses, D, m };
  }

  /** Distance and agreement of a value of attribute i with every cell that a training row can have. */
  #lookup(i, code) {
    const size = this.sizes[i];
    const { far, table, agreement } = this.measures[i];
    const farthest = table ? table.reduce((a, b) => Math.max(a, b), 0) : far;
    const found = { distance: new Array(size + 2).fill(0), agreement: new Array(size + 2).fill(0) };
    if (code === MISSING) return found;
    const unlike = code < 0 && this.ignoresUnseen ? 0 : farthest;
    found.distance.fill(unlike, 1);
    if (code < 0) return found;
    for (let value = 0; value < size; value++) {
      const same = value === code;
      found.distance[value + 2] = table ? table[code * size + value] : same ? 0 : far;
      found.agreement[value + 2] = table ? agreement[code * size + value] : same ? 1 : 0;
    }
    return found;
  }
}

/** Sums over rows of weights w(y, d): S[y] of all of them, T[y][i] of agreement, known[y][i] of those that know i. */
export function weightedSums(counts, weightOf) {
  const { V, C, known, nClasses, D, m } = counts;
  const S = new Array(nClasses).fill(0);
  const rows = () => S.map(() => new Array(m).fill(0));
  const [T, knowing] = [rows(), known && rows()];
  for (let y = 0; y < nClasses; y++) {
    for (let d = 0; d < D; d++) {
      const at = y * D + d;
      if (V[at] === 0) continue;
      const weight = weightOf(y, d);
      if (weight === 0) continue;
      S[y] += weight * V[at];
      for (let i = 0; i < m; i++) T[y][i] += weight * C[at * m + i];
      if (known) for (let i = 0; i < m; i++) knowing[y][i] += weight * known[at * m + i];
    }
  }
  return { S, T, known: knowing ?? S.map((total) => new Array(m).fill(total)) };
}

/** Rows of all classes by distance. */
export function atDistance(counts) {
  const total = new Array(counts.D).fill(0);
  counts.V.forEach((n, at) => (total[at % counts.D] += n));
  return total;
}
