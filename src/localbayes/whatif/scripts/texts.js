// Numbers as people read them.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A probability to three digits that never pretends to be certain. */
export function probabilityText(p) {
  if (p === 0 || p === 1) return String(p);
  if (p < 0.001) return "<0.001";
  return p > 0.999 ? ">0.999" : p.toFixed(3);
}

/** A number with its sign. */
export function signed(number) {
  if (Number.isNaN(number)) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "+∞" : "−∞";
  if (Math.abs(number) < 0.005) return "0.00";
  return (number > 0 ? "+" : "−") + Math.abs(number).toFixed(2);
}

/** What log odds do to the odds: × 2.5, ÷ 40, × 12,000. */
export function oddsFactor(logOdds) {
  if (Number.isNaN(logOdds)) return "–";
  const sign = logOdds < 0 ? "÷" : "×";
  const size = Math.abs(logOdds);
  if (size === Infinity) return `${sign} ∞`;
  if (size < Math.log(9.95)) return size > 0.0488 ? `${sign} ${Math.exp(size).toFixed(1)}` : "× 1.0";
  if (size < Math.log(999.5)) return `${sign} ${Math.exp(size).toFixed(0)}`;
  let power = Math.floor(size / Math.LN10);
  let mantissa = Number(Math.exp(size - power * Math.LN10).toFixed(1));
  if (mantissa >= 10) [power, mantissa] = [power + 1, mantissa / 10];
  if (power < 6) return `${sign} ${Math.round(mantissa * 10 ** power).toLocaleString("en-US")}`;
  return `${sign} ${mantissa}·10${[...String(power)].map((digit) => SUPERSCRIPTS[digit]).join("")}`;
}

/** A number in a few digits. */
export function shortNumber(number) {
  return Number(number.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 4 });
}
