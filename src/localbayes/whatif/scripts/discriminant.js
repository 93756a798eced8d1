// Log odds of the classes by a linear discriminant of the numbers of a row.

// Standardised numbers and log odds beyond these are cut off; digits of log odds behind the point.
const FARTHEST = 6;
const MOST_ODDS = 12;
const UNIT = 1e9;
const FOLDS = 5n;
const WORD = (1n << 64n) - 1n;

/** Log odds of the classes, of two classes those of the first. */
export function logOdds(discriminant, values) {
  const numbers = discriminant.sources.map((i) => values[i]);
  const kind = kindOf(numbers);
  const scores = discriminant.offsets[kind].slice();
  numbers.forEach((number, i) => {
    const moved = number === null ? 0 : (number - discriminant.centre[i]) / discriminant.scale[i];
    const standard = Math.min(Math.max(moved, -FARTHEST), FARTHEST);
    for (let y = 0; y < scores.length; y++) scores[y] += standard * discriminant.slopes[kind][i][y];
  });
  const best = Math.max(...scores);
  const shares = scores.map((score) => Math.exp(score - best));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.slice(0, discriminant.scores).map((part) => {
    const share = part / total;
    const odds = Math.log(share + 1e-9) - Math.log1p(1e-9 - share);
    return Math.round(Math.min(Math.max(odds, -MOST_ODDS), MOST_ODDS) * UNIT) / UNIT;
  });
}

/** Which of five discriminants judges a row: equal rows have the same. */
function kindOf(numbers) {
  const bytes = new DataView(new ArrayBuffer(8));
  let mark = 0n;
  for (const number of numbers) {
    bytes.setFloat64(0, number === null ? 0 : number + 0);
    mark = ((mark ^ bytes.getBigUint64(0)) * 0x9e3779b97f4a7c15n) & WORD;
    mark ^= mark >> 31n;
  }
  return Number((((mark * 0xbf58476d1ce4e5b9n) & WORD) >> 33n) % FOLDS);
}
