// The nomogram of naive Bayes: what every value adds does not depend on the other values, so all can be drawn.

import { UNSEEN, codeOf, numberInBin } from "./encoding.js";
import { byId, element } from "./elements.js";
import { oddsFactor, probabilityText, signed } from "./texts.js";

export class Nomogram {
  /** `choose(attribute, value)` is called when a value is clicked. */
  constructor(classifier, choose) {
    this.classifier = classifier;
    this.choose = choose;
    this.drawnFor = "";
    byId("nomogram").hidden = false;
  }

  /** Show all scales for the odds of class a against class b; they are drawn again only if these are others. */
  show(values, answer, a, b) {
    const drawnFor = [a, b, byId("scales").clientWidth].join();
    const isNew = drawnFor !== this.drawnFor;
    if (isNew) this.#draw(answer, a, b);
    this.drawnFor = drawnFor;
    byId("scales").lastElementChild.replaceWith(this.#sum(answer, a, b));
    const moved = this.scales.filter((scale) => {
      const chosen = codeOf(scale.attribute, values[scale.i]);
      const isMoved = isNew || scale.chosen !== chosen;
      scale.chosen = chosen;
      for (const { code, dot } of scale.points) dot.classList.toggle("chosen", code === chosen);
      return isMoved;
    });
    hideOverlaps([...moved.map((scale) => scale.line), byId("scales").lastElementChild]);
  }

  #draw(answer, a, b) {
    const { attributes } = this.classifier.model;
    this.scales = attributes
      .map((attribute, i) => ({ attribute, i, points: this.#choices(attribute) }))
      .filter(({ points }) => points.length > 0);
    this.#addLogOdds(a, b);
    const added = this.scales.flatMap(({ points }) => points.map((point) => point.logOdds));
    const finite = [answer.base[a] - answer.base[b], ...added].filter(Number.isFinite);
    const reach = finite.reduce((most, logOdds) => Math.max(most, Math.abs(logOdds)), 0.1);
    for (const scale of this.scales) this.#addLine(scale, reach);
    const lines = this.scales.map((scale) => scale.line);
    byId("scales").replaceChildren(this.#ruler(reach), this.#base(answer, a, b, reach), ...lines, element("div"));
  }

  /** Values of an attribute that can be chosen, with their texts. */
  #choices(attribute) {
    if (attribute.kind === "left out") return [];
    return attribute.labels
      .map((text, code) => ({
        text,
        value: attribute.kind === "nominal" ? code : numberInBin(attribute.cuts, code),
        code,
      }))
      .filter(({ code }) => code !== (attribute.own ?? UNSEEN));
  }

  /** The k-th values of all attributes are asked for together, as no value depends on another. */
  #addLogOdds(a, b) {
    const most = this.scales.reduce((longest, { points }) => Math.max(longest, points.length), 0);
    for (let k = 0; k < most; k++) {
      const codes = this.classifier.model.attributes.map(() => 0);
      for (const { i, points } of this.scales) codes[i] = points[k]?.code ?? 0;
      const split = this.classifier.formula(codes);
      for (const { i, points } of this.scales)
        if (k < points.length) points[k].logOdds = split[a].terms[i] - split[b].terms[i];
    }
  }

  #addLine(scale, reach) {
    const axis = element("span", { className: "axis" });
    for (const point of scale.points) {
      const figures = `log odds ${signed(point.logOdds)}, odds ${oddsFactor(point.logOdds)}`;
      const title = `${scale.attribute.name}: ${point.text}, ${figures}`;
      point.dot = element("button", { type: "button", className: "dot", tabIndex: -1, title });
      point.dot.ariaLabel = point.text;
      const text = element("span", { className: "dot-text", textContent: point.text });
      const at = place(point.logOdds, reach);
      for (const part of [point.dot, text]) part.style.left = `${at}%`;
      text.style.transform = `translateX(-${at}%)`; // so that no text lies beyond the ends of the axis
      point.dot.addEventListener("click", () => this.choose(scale.i, point.value));
      axis.append(point.dot, text);
    }
    const name = element("span", { className: "scale-name", textContent: scale.attribute.name });
    name.title = scale.attribute.name;
    // The same can be done with the controls above, by keyboard and with a screen reader.
    scale.line = element("div", { className: "scale", "aria-hidden": "true" }, name, axis);
  }

  #ruler(reach) {
    const axis = element("span", { className: "axis ruler" });
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200].find((size) => reach / size <= 4) ?? 500;
    for (let tick = -Math.floor(reach / step); tick <= reach / step; tick++) {
      const text = element("span", { className: "ruler-text", textContent: signed(tick * step) });
      text.style.left = `${place(tick * step, reach)}%`;
      axis.append(text);
    }
    const name = element("span", { className: "scale-name soft", textContent: "log odds" });
    return element("div", { className: "scale first-scale", "aria-hidden": "true" }, name, axis);
  }

  /** What belongs to no attribute, which nothing can change. */
  #base(answer, a, b, reach) {
    const logOdds = answer.base[a] - answer.base[b];
    const dot = element("span", { className: "dot chosen fixed", title: `log odds ${signed(logOdds)}` });
    dot.style.left = `${place(logOdds, reach)}%`;
    const name = element("span", { className: "scale-name soft", textContent: this.classifier.model.baseMeaning });
    const axis = element("span", { className: "axis" }, dot);
    return element("div", { className: "scale", "aria-hidden": "true" }, name, axis);
  }

  /** The sum of all log odds, on a scale of the probabilities between the two classes. */
  #sum(answer, a, b) {
    const total = answer.logProba[a] - answer.logProba[b];
    const reach = Math.max(7.5, Number.isFinite(total) ? 1.05 * Math.abs(total) : 0);
    const axis = element("span", { className: "axis" });
    for (const p of [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]) {
      const tick = element("span", { className: "tick-line" });
      const text = element("span", { className: "dot-text", textContent: String(p) });
      for (const part of [tick, text]) part.style.left = `${place(Math.log(p / (1 - p)), reach)}%`;
      axis.append(tick, text);
    }
    const between = probabilityText(1 / (1 + Math.exp(-total)));
    const dot = element("span", { className: "dot chosen fixed", title: `log odds ${signed(total)}, ${between}` });
    dot.style.left = `${place(total, reach)}%`;
    axis.append(dot);
    const text = `sum ${signed(total)}, probability ${between}`;
    const name = element("span", { className: "scale-name", textContent: text });
    return element("div", { className: "scale sum" }, name, axis);
  }
}

/** Where log odds are on an axis, in percent; in the middle if both classes are impossible. */
function place(logOdds, reach) {
  return Number.isNaN(logOdds) ? 50 : 50 + 50 * Math.max(-1, Math.min(1, logOdds / reach));
}

/** Hide texts that would cover others of their line; that of the chosen value stays, then those of the strongest. */
function hideOverlaps(lines) {
  const isChosen = (text) => text.previousElementSibling.classList.contains("chosen");
  const strength = (text) => Math.abs(parseFloat(text.style.left) - 50);
  const measured = lines.map((line) =>
    [...line.querySelectorAll(".dot-text")]
      .sort((one, other) => isChosen(other) - isChosen(one) || strength(other) - strength(one))
      .map((text) => ({ text, box: text.getBoundingClientRect() })),
  );
  for (const texts of measured) {
    const free = [];
    for (const { text, box } of texts) {
      const covers = free.some((other) => box.left < other.right + 6 && other.left < box.right + 6);
      text.classList.toggle("covered", covers);
      if (!covers) free.push(box);
    }
  }
}
