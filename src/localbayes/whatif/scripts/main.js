// The page: values of the controls in, probabilities and reasons out.

import { Classifier } from "./classifier.js";
import { AttributeLine } from "./controls.js";
import { byId, element, fillWithClasses } from "./elements.js";
import { Nomogram } from "./nomogram.js";
import { KappaPanel, showClasses } from "./panels.js";
import { oddsFactor, probabilityText, signed } from "./texts.js";

/** From so many attributes on, the strongest come first. */
const MANY = 20;

class Page {
  constructor(model) {
    this.model = model;
    this.classifier = new Classifier(model);
    this.values = [...this.#beginning()];
    this.lines = model.attributes.map((attribute, i) => new AttributeLine(attribute, i, (value) => this.set(i, value)));
    this.kappaPanel = model.hasKappas ? new KappaPanel(this.classifier, () => this.showAll()) : null;
    const isNaive = model.formula.formula === "NB" && model.classes.length > 1;
    this.nomogram = isNaive ? new Nomogram(this.classifier, (i, value) => this.set(i, value)) : null;
    this.base = new AttributeLine({ kind: "base", name: model.baseMeaning, labels: [], cuts: [] }, "base", () => {});
    this.#tools();
    this.showAll();
  }

  #tools() {
    const { presets, classes, attributes } = this.model;
    const names = presets.map((_, k) => element("option", { value: String(k), textContent: `row ${k}` }));
    byId("preset").replaceChildren(...names, element("option", { value: "", textContent: "commonest values" }));
    byId("preset-tool").hidden = presets.length === 0;
    byId("preset").addEventListener("change", () => this.begin());
    byId("undo").addEventListener("click", () => this.begin());
    fillWithClasses(byId("for-class"), "predicted", classes);
    fillWithClasses(byId("against-class"), "next best", classes);
    for (const id of ["for-class", "against-class"]) byId(id).addEventListener("change", () => this.showAll());
    byId("order").value = attributes.length > MANY ? "strength" : "table";
    byId("order").addEventListener("change", () => this.#arrange());
    // While an attribute is edited all stay where they are; then the strongest come first again.
    byId("list").addEventListener("focusout", (event) => {
      if (!byId("list").contains(event.relatedTarget)) this.#arrange();
    });
    byId("search").addEventListener("input", () => this.#filter());
    byId("attributes").hidden = classes.length < 2 && attributes.length === 0;
    globalThis.addEventListener("resize", () => this.#showNomogram());
  }

  /** Values to begin with: those of the chosen row, or the commonest. */
  #beginning() {
    const chosen = byId("preset").value;
    const { presets, start } = this.model;
    if (byId("preset").options.length === 0) return presets[0] ?? start;
    return chosen === "" ? start : presets[Number(chosen)];
  }

  /** The answer for these values. */
  #before() {
    const values = this.#beginning();
    if (this.first?.values !== values) this.first = { values, answer: this.classifier.answer(values) };
    return this.first.answer;
  }

  /** Take the values to begin with. */
  begin() {
    this.values = [...this.#beginning()];
    this.showAll();
  }

  /** Give an attribute another value. */
  set(i, value) {
    this.values[i] = Number.isNaN(value) ? null : value;
    this.show();
  }

  get changed() {
    const before = this.#beginning();
    return this.values.map((value, i) => value !== before[i]);
  }

  /** Show everything, and put the attributes in order. */
  showAll() {
    this.show();
    this.#arrange();
  }

  show() {
    const { classes } = this.model;
    const changed = this.changed;
    const isChanged = changed.includes(true);
    this.answer = this.classifier.answer(this.values, this.kappaPanel?.kappa ?? null);
    const moved = isChanged || (this.kappaPanel?.kappa ?? null) !== null;
    showClasses(classes, this.answer, moved ? this.#before() : null);
    this.lines.forEach((line, i) => line.show(this.values[i], changed[i]));
    byId("undo").disabled = !isChanged;
    this.#showReasons();
    this.kappaPanel?.show(this.values, this.answer);
    this.#showNomogram();
  }

  /** The two classes whose odds are shown. */
  get pair() {
    const { best, next } = this.answer;
    const chosen = (id) => (byId(id).value === "" ? -1 : Number(byId(id).value));
    const rivalOf = (y) => (y === best ? next : best);
    let [a, b] = [chosen("for-class"), chosen("against-class")];
    if (a < 0) a = b === best ? next : best;
    if (b < 0 || b === a) b = rivalOf(a);
    return [a, b];
  }

  #showReasons() {
    const { classes } = this.model;
    const { best, proba, base, terms, logProba } = this.answer;
    const name = (y) => classes[y];
    if (classes.length < 2) {
      byId("lead").textContent = `Predicted ${name(best)}, the only class that the model knows.`;
      byId("attributes").hidden = true;
      return;
    }
    const [a, b] = this.pair;
    const { next } = this.answer;
    byId("lead").textContent =
      `Predicted ${name(best)} with probability ${probabilityText(proba[best])}, ` +
      `ahead of ${name(next)} with ${probabilityText(proba[next])}.`;
    for (const place of [byId("for-name"), ...document.querySelectorAll(".for-name")]) place.textContent = name(a);
    for (const place of [byId("against-name"), ...document.querySelectorAll(".against-name")])
      place.textContent = name(b);
    const reasons = this.lines.map((_, i) => terms[a][i] - terms[b][i]);
    const start = base[a] - base[b];
    const sizes = [start, ...reasons].map(Math.abs).filter(Number.isFinite);
    const reach = Math.max(0.1, ...sizes);
    this.lines.forEach((line, i) => line.showReason(reasons[i], reasons[i] / reach));
    this.base.showReason(start, start / reach);
    const total = logProba[a] - logProba[b];
    byId("total").textContent =
      `Together: odds ${oddsFactor(total)} for ${name(a)} against ${name(b)} (log odds ${signed(total)}).`;
  }

  #showNomogram() {
    if (this.nomogram) this.nomogram.show(this.values, this.answer, ...this.pair);
  }

  #arrange() {
    const byStrength = byId("order").value === "strength";
    const order = [...this.lines];
    if (byStrength) order.sort((one, other) => other.strength - one.strength || one.number - other.number);
    const items = [this.base.item, ...order.map((line) => line.item)];
    if (items.some((item, k) => byId("list").children[k] !== item)) byId("list").replaceChildren(...items);
    this.#filter();
  }

  #filter() {
    const text = byId("search").value.trim();
    for (const line of this.lines) line.item.hidden = text !== "" && !line.mentions(text);
    const hidden = this.lines.filter((line) => line.item.hidden).length;
    const others = `${hidden} other${hidden === 1 ? "" : "s"} not shown, which count, too.`;
    byId("not-shown").textContent = hidden < this.lines.length ? others : "No attribute or value is called so.";
    byId("not-shown").hidden = hidden === 0;
  }
}

// For scripts and the browser's console: whatIf.values, whatIf.set(i, value), whatIf.answer.
globalThis.whatIf = new Page(JSON.parse(byId("model").textContent));
