// Formulas over training rows that are weighted by class and distance: LWNB, ICLNB, LCWNB and LocalBayesClassifier.

import { MISSING, UNSEEN } from "./encoding.js";
import { cellWeights } from "./gamma.js";
import { TrainingRows, atDistance, weightedSums } from "./matches.js";
import { logRatio, logTotal, mixTerms, sum } from "./numbers.js";
import { defined } from "./shares.js";

/** (alpha + S_y) / (alpha r + sum S)  *  prod_i (alpha + T_iy) / (alpha q_i + S_y) */
function naiveOfSums({ S, T, known }, sizes, alpha, codes) {
  const below = alpha * S.length + sum(S);
  return S.map((weight, y) => ({
    base: logRatio(alpha + weight, below),
    terms: sizes.map((q, i) =>
      codes[i] === MISSING ? 0 : logRatio(alpha + T[y][i], alpha * q + known[y][i]),
    ),
  }));
}

/** Distance of the k-th nearest row, or of the farthest if there are fewer than k. */
function kthDistance(rowsAt, k) {
  const wanted = Math.min(k, sum(rowsAt)) * (1 - 1e-12);
  let nearer = 0;
  return rowsAt.findIndex((rows) => (nearer += rows) >= wanted);
}

/** Weights 1 - d / d_k, scaled to sum to the number of rows that weigh something. */
export function lwnb(fields, sizes, nClasses) {
  const rows = new TrainingRows(fields, sizes, nClasses);
  return (codes) => {
    const counts = rows.count(codes);
    const rowsAt = atDistance(counts);
    const dk = kthDistance(rowsAt, fields.k);
    let weights = rowsAt.map((_, d) => (d < dk ? 1 - d / Math.max(dk, 1) : 0));
    const total = () => sum(weights.map((weight, d) => weight * rowsAt[d]));
    if (fields.zeroDistance === "equal" && total() === 0) weights = weights.map((_, d) => (d === dk ? 1 : 0));
    const weighing = sum(rowsAt.map((n, d) => (weights[d] > 0 ? n : 0)));
    const scale = total() > 0 ? weighing / total() : 0;
    const split = naiveOfSums(
      weightedSums(counts, (_, d) => scale * weights[d]),
      sizes,
      fields.alpha,
      codes,
    );
    if (fields.zeroDistance === "equal" || dk > 0) return split;
    // The published formula is 0 / 0 here, which declares the last class.
    return split.map((_, y) => ({
      base: y === nClasses - 1 ? 0 : Math.log(Number.EPSILON),
      terms: sizes.map(() => 0),
    }));
  };
}

/** Weights 1 + m - d up to the distance of the k-th nearest row. */
export function iclnb(fields, sizes, nClasses) {
  const rows = new TrainingRows(fields, sizes, nClasses);
  return (codes) => {
    const counts = rows.count(codes);
    const dk = kthDistance(atDistance(counts), fields.k);
    const weightOf = (_, d) => (d <= dk ? counts.D - d : 0);
    return naiveOfSums(weightedSums(counts, weightOf), sizes, fields.alpha, codes);
  };
}

/**
 * Weights rho gamma_y^d for every kappa; their probabilities are averaged and raised to a power.
 *
 * With a kappa as second argument the answer is that of this kappa alone, without the power.
 */
export function lcwnb(fields, sizes, nClasses, classCount) {
  const rows = new TrainingRows(fields, sizes, nClasses);
  const many = fields.kappas.length > 1;
  const of = (counts, codes, kappa) =>
    naiveOfSums(weightedSums(counts, cellWeights(counts, kappa)), sizes, fields.alpha, codes);
  const combined = (counts, codes) => {
    const splits = fields.kappas.map((kappa, k) => {
      let split = of(counts, codes, kappa);
      if (many || fields.temperature !== 1) split = defined(split, classCount);
      if (!many) return split;
      const total = logTotal(split.map(({ base, terms }) => base + sum(terms)));
      const share = Math.log(fields.kappaWeights[k]);
      return split.map(({ base, terms }) => ({ base: base + share - total, terms }));
    });
    return mixTerms(splits).map(({ base, terms }) => ({
      base: fields.temperature * base,
      terms: terms.map((term) => fields.temperature * term),
    }));
  };
  const formula = (codes, kappa = null) =>
    kappa === null ? combined(rows.count(codes), codes) : of(rows.count(codes), codes, kappa);
  /** Splits for several kappas from one count. */
  formula.overKappas = (codes, kappas) => {
    const counts = rows.count(codes);
    return kappas.map((kappa) => of(counts, codes, kappa));
  };
  return formula;
}

/** Added to every count of a value; rows that speak for the shares of the classes, whatever the row is. */
const HALF = 0.5;
const PRIOR_ROWS = 0.5;

/**
 * b_y + w_0 log(1 + rho S_y) + sum_i w_i log[(1/2 + rho T_iy) / (q_i / 2 + rho S_y)], averaged over kappas and the
 * shares of the classes. What terms made of attributes add belongs to the attributes.
 */
export function localBayes(fields, sizes, nClasses, classCount) {
  const rows = new TrainingRows(fields, sizes, nClasses);
  const totals = rows.valueTotals();
  const n = sum(classCount);
  const nColumns = sizes.length - fields.sources.length;
  // A nominal value that no row has counts as never seen.
  const knownCode = (code, i) =>
    code >= 0 && fields.orderedSizes[i] === 0 && totals[i][code] === 0 ? UNSEEN : code;
  const byColumn = (terms) => {
    const columns = terms.slice(0, nColumns);
    fields.sources.forEach((sources, k) => {
      for (const source of sources) columns[source] += terms[nColumns + k] / sources.length;
    });
    return columns;
  };
  const split = (counts, codes, k) => {
    const { S, T, known } = weightedSums(counts, cellWeights(counts, fields.kappas[k]));
    const w = fields.exponents[k];
    const parts = S.map((weight, y) => ({
      base: fields.biases[k][y] + w[0] * Math.log1p(weight),
      terms: sizes.map((q, i) =>
        codes[i] < 0
          ? 0
          : w[1 + i] * Math.log((HALF + T[y][i] / fields.units[i]) / (HALF * q + known[y][i])),
      ),
    }));
    const total = logTotal(parts.map(({ base, terms }) => base + sum(terms)));
    const share = Math.log((fields.kappaWeights[k] * n) / (n + PRIOR_ROWS));
    const own = parts.map(({ terms }) => byColumn(terms));
    // Averaging shrinks terms to zero, so zero must favour no class: what all classes share is base.
    const level = own[0].map((_, i) => sum(own.map((terms) => terms[i])) / own.length);
    return parts.map(({ base }, y) => ({
      base: base - total + share + sum(level),
      terms: own[y].map((term, i) => term - level[i]),
    }));
  };
  const shares = Array.from(classCount, (count) => ({
    base: Math.log((HALF + count) / (HALF * nClasses + n)) + Math.log(PRIOR_ROWS / (n + PRIOR_ROWS)),
    terms: new Array(nColumns).fill(0),
  }));
  return (given) => {
    const codes = given.map(knownCode);
    const counts = rows.count(codes);
    return mixTerms([...fields.kappas.map((_, k) => split(counts, codes, k)), shares]);
  };
}
