// The weights rho gamma^d of the lazy cell-weighted naive Bayes.

/**
 * Log of gamma in sum_d V[d] gamma^d = kappa; minus infinity and zero (gamma 0 and 1) where that is out of reach.
 *
 * In u = log gamma the log of the sum is increasing and convex. So Newton's method comes down to the root from
 * u = 0 without ever passing it.
 */
export function logGamma(V, kappa) {
  let n = 0;
  for (const rows of V) n += rows;
  if (V[0] >= kappa && n > 0) return -Infinity;
  if (kappa >= n) return 0;
  let u = 0;
  for (let step = 0; step < 500; step++) {
    let total = 0;
    let slope = 0;
    for (let d = 0; d < V.length; d++) {
      if (V[d] === 0) continue;
      const part = V[d] * Math.exp(d * u);
      total += part;
      slope += d * part;
    }
    const next = u - (Math.log(total / kappa) * total) / slope;
    if (!(next < u)) break; // rounding is all that is left
    u = next;
  }
  return u;
}

/** Weight of a row by class and distance: rho gamma_y^d, for the match counts of a row. */
export function cellWeights(counts, kappa) {
  const { V, nClasses, D } = counts;
  const powers = new Float64Array(nClasses * D);
  let total = 0;
  let squares = 0;
  for (let y = 0; y < nClasses; y++) {
    const u = logGamma(V.subarray(y * D, (y + 1) * D), kappa);
    for (let d = 0; d < D; d++) {
      const power = d === 0 ? 1 : Math.exp(d * u);
      powers[y * D + d] = power;
      total += V[y * D + d] * power;
      squares += V[y * D + d] * power * power;
    }
  }
  // rho makes the total weight the effective number of rows.
  const rho = squares > 0 ? total / squares : 1;
  return (y, d) => rho * powers[y * D + d];
}
