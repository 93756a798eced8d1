// The probabilities of the classes, and how they move with kappa.

import { byId, drawn, element } from "./elements.js";
import { probabilityText, shortNumber } from "./texts.js";

/** Classes beyond these are shown as one, as are improbable ones behind the first few. */
const MOST_CLASSES = 10;
const FEWEST_CLASSES = 3;
const WORTH_A_BAR = 0.001;

/** More lines than these cannot be told apart. */
const MOST_LINES = 5;

/** Positions of classes by falling probability, the predicted one first. */
function byProbability(answer) {
  const others = answer.proba.map((_, y) => y).filter((y) => y !== answer.best);
  return [answer.best, ...others.sort((a, b) => answer.proba[b] - answer.proba[a] || a - b)];
}

function classBar(label, p, before, isFirst) {
  const fill = element("span", { className: "fill" });
  fill.style.width = `${100 * p}%`;
  const track = element("span", { className: "track" }, fill);
  if (before !== null) {
    const tick = element("span", { className: "tick", title: `before the changes: ${probabilityText(before)}` });
    tick.style.left = `${100 * before}%`;
    track.append(tick);
  }
  return element(
    "li",
    { className: isFirst ? "first" : "" },
    element("span", { className: "label", textContent: label, title: label }),
    track,
    element("span", { className: "figure", textContent: probabilityText(p) }),
  );
}

/** Bars of the classes; `before` is the answer without the changes, or null if there are none. */
export function showClasses(classes, answer, before) {
  const order = byProbability(answer);
  const isWorth = (y, k) => k < FEWEST_CLASSES || answer.proba[y] >= WORTH_A_BAR || before?.proba[y] >= WORTH_A_BAR;
  const worth = order.filter(isWorth).slice(0, MOST_CLASSES);
  const shown = worth.length === order.length - 1 ? order : worth;
  const rest = order.filter((y) => !shown.includes(y));
  const bars = shown.map((y) => classBar(classes[y], answer.proba[y], before && before.proba[y], y === answer.best));
  if (rest.length > 0) {
    const total = (proba) => rest.reduce((sum, y) => sum + proba[y], 0);
    const label = `${rest.length} other classes`;
    bars.push(classBar(label, total(answer.proba), before && total(before.proba), false));
  }
  byId("classes").replaceChildren(...bars);
  byId("mark-note").hidden = before === null;
}

/** The slider of kappa, from a quarter of a row to all rows, and the curves above it. */
export class KappaPanel {
  constructor(classifier, changed) {
    this.classifier = classifier;
    const { kappas } = classifier.model.formula;
    const nRows = Array.from(classifier.classCount).reduce((a, b) => a + b, 0);
    this.low = Math.log(Math.min(0.25, ...kappas));
    this.high = Math.log(Math.max(nRows, 1, ...kappas));
    this.grid = Array.from({ length: 25 }, (_, k) => Math.exp(this.low + (k / 24) * (this.high - this.low)));
    this.fitted = byId("kappa-fitted");
    this.range = byId("kappa-range");
    const middle = kappas.reduce((total, kappa, k) => total + this.#across(kappa) * this.#weight(k), 0);
    this.range.value = String(middle);
    byId("kappa").hidden = false;
    this.range.addEventListener("input", () => {
      this.fitted.checked = false;
      changed();
    });
    this.fitted.addEventListener("change", changed);
  }

  #weight(k) {
    return this.classifier.model.formula.kappaWeights[k];
  }

  #across(kappa) {
    return this.high === this.low ? 50 : (100 * (Math.log(kappa) - this.low)) / (this.high - this.low);
  }

  /** The kappa that is chosen, null for those of the classifier. */
  get kappa() {
    if (this.fitted.checked) return null;
    return Math.exp(this.low + (Number(this.range.value) / 100) * (this.high - this.low));
  }

  show(values, answer) {
    const { classes, formula } = this.classifier.model;
    const { kappas } = formula;
    const averaged = kappas.length > 1 ? `average over ${kappas.length}` : shortNumber(kappas[0]);
    byId("kappa-text").textContent = this.kappa === null ? averaged : shortNumber(this.kappa);
    this.range.setAttribute("aria-valuetext", byId("kappa-text").textContent);
    const proba = this.classifier.overKappas(values, this.grid);
    const peak = (y) => Math.max(...proba.map((p) => p[y]));
    const lines = byProbability(answer)
      .slice(0, MOST_LINES)
      .filter((y, k) => k < 2 || peak(y) >= 0.01);
    const vertical = (x, name, opacity) => drawn("line", { class: name, x1: x, x2: x, y1: 0, y2: 100, opacity });
    const most = Math.max(...kappas.map((_, k) => this.#weight(k)));
    const marks =
      this.kappa === null
        ? kappas.map((kappa, k) => vertical(this.#across(kappa), "in-use", 0.15 + (0.85 * this.#weight(k)) / most))
        : [vertical(this.#across(this.kappa), "in-use", 1)];
    const points = (y) => proba.map((p, k) => `${((100 * k) / 24).toFixed(2)},${(100 * (1 - p[y])).toFixed(2)}`);
    byId("kappa-plot").replaceChildren(
      ...[0, 50, 100].map((y) => drawn("line", { class: "grid", x1: 0, x2: 100, y1: y, y2: y })),
      ...marks,
      ...lines.map((y, k) => drawn("polyline", { class: `curve line${k + 1}`, points: points(y).join(" ") })),
    );
    byId("kappa-key").replaceChildren(
      ...lines.map((y, k) => {
        const dash = drawn("svg", { class: `dash line${k + 1}`, viewBox: "0 0 26 6", width: 26, height: 6 });
        dash.append(drawn("line", { x1: 0, y1: 3, x2: 26, y2: 3 }));
        return element("span", { className: "entry" }, dash, classes[y]);
      }),
    );
  }
}
