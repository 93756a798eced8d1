// One line for every attribute: its name, a control, and a bar for what its value adds.

import { UNSEEN, binOf, codeOf, numberInBin } from "./encoding.js";
import { element, setSplitBar } from "./elements.js";
import { oddsFactor, signed } from "./texts.js";

const OTHER = "other";
const NONE = "missing";

/** What is done with a missing value, in words. */
function missingText(attribute) {
  const { missing, own, labels } = attribute;
  if (missing === -2) return "left unknown";
  if (missing < 0) return "never seen";
  return missing === own || missing >= labels.length ? "a value of its own" : `taken as ${labels[missing]}`;
}

/** The line of an attribute. `changed(value)` is called when the user gives another value. */
export class AttributeLine {
  constructor(attribute, number, changed) {
    this.attribute = attribute;
    this.number = number;
    this.changed = changed;
    this.id = `value-${number}`;
    this.fill = element("span", { className: "fill" });
    this.figure = element("span", { className: "figure", id: `${this.id}-figure` });
    this.reading = element("span", { className: "reading", id: `${this.id}-reading` });
    const { name } = attribute;
    const isBase = attribute.kind === "base";
    this.name = element(isBase ? "span" : "label", { className: "name", textContent: name, title: name });
    if (!isBase) this.name.htmlFor = this.id;
    this.item = element(
      "li",
      {},
      this.name,
      element("span", { className: `control ${attribute.kind}` }, ...this.#controls(), this.reading),
      element("span", { className: "track split" }, this.fill),
      this.figure,
    );
    // What the value adds is read aloud with it.
    this.input?.setAttribute("aria-describedby", `${this.id}-reading ${this.id}-figure`);
  }

  #controls() {
    const { kind } = this.attribute;
    if (kind === "nominal") return [(this.input = this.#select())];
    if (kind === "base") return [];
    if (kind === "left out") {
      this.input = element("output", { id: this.id, textContent: `left out (${this.attribute.reason})` });
      return [this.input];
    }
    const type = kind === "date" ? "datetime-local" : "number";
    this.input = element("input", { type, id: this.id, step: kind === "date" ? "1" : "any", placeholder: NONE });
    this.input.addEventListener("input", () => this.changed(this.#given()));
    const bins = this.attribute.labels.length;
    if (bins < 2) return [this.input];
    this.slider = element("input", { type: "range", min: "0", max: String(bins - 1), step: "1" });
    this.slider.setAttribute("aria-label", `${this.attribute.name}, bins`);
    this.slider.addEventListener("input", () => {
      const number = numberInBin(this.attribute.cuts, Number(this.slider.value));
      this.changed(number);
    });
    return [this.input, this.slider];
  }

  #select() {
    const { labels, own } = this.attribute;
    const select = element("select", { id: this.id });
    labels.forEach((label, code) => {
      if (code !== own) select.append(element("option", { value: String(code), textContent: label }));
    });
    select.append(
      element("option", { value: OTHER, textContent: "(another value, never seen)" }),
      element("option", { value: NONE, textContent: `(missing: ${missingText(this.attribute)})` }),
    );
    select.addEventListener("change", () => this.changed(this.#given()));
    return select;
  }

  /** The value that the user has given. */
  #given() {
    const text = this.input.value;
    if (this.attribute.kind === "nominal")
      return text === NONE ? null : text === OTHER ? UNSEEN : Number(text);
    if (text === "") return null;
    return this.attribute.kind === "date" ? Date.parse(`${text}Z`) / 1000 : Number(text);
  }

  /** Show a value. While a number is typed, its text stays as it is. */
  show(value, isChanged) {
    const { kind } = this.attribute;
    this.item.classList.toggle("changed", isChanged);
    if (kind === "nominal") this.input.value = value === null ? NONE : value === UNSEEN ? OTHER : String(value);
    if (kind !== "number" && kind !== "date") return;
    if (this.#given() !== value) this.input.value = value === null ? "" : this.#text(value);
    const code = codeOf(this.attribute, value);
    const label = this.attribute.labels[code] ?? "";
    this.reading.textContent = value === null ? `missing, ${missingText(this.attribute)}` : label;
    if (this.slider) {
      this.slider.value = String(value === null ? Math.max(0, code) : binOf(this.attribute.cuts, value));
      this.slider.setAttribute("aria-valuetext", this.reading.textContent);
    }
  }

  #text(value) {
    return this.attribute.kind === "date" ? new Date(value * 1000).toISOString().slice(0, 19) : String(value);
  }

  /** Show what the value adds to the log odds, with a bar whose length is from -1 to 1. */
  showReason(logOdds, length) {
    this.strength = Math.abs(logOdds);
    setSplitBar(this.fill, length);
    this.figure.textContent = oddsFactor(logOdds);
    this.item.title = `log odds ${signed(logOdds)}`;
  }

  /** Whether a text is in the name or in the value. */
  mentions(text) {
    const shown =
      this.attribute.kind === "nominal" ? this.input.selectedOptions[0]?.textContent : this.reading.textContent;
    return `${this.attribute.name} ${shown ?? ""}`.toLowerCase().includes(text.toLowerCase());
  }
}
