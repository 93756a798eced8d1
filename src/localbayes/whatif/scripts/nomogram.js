// The nomogram of naive Bayes: what every value adds does not depend on the other values, so all can be drawn.

import { UNSEEN, codeOf, numberInBin } from "./encoding.js";
import { byId, element } from "./elements.js";
import { oddsFactor, probabilityText, signed } from "./texts.js";

export class Nomogram {
  /** `choose(attribute, value)` is called when a value is clicked. */
  constructor(classifier, choose) {
    this.classifier = classifier;
    this.choose = choose;
    byId("nomogram").hidden = false;
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

  /** Draw all scales for the odds of class a against class b. */
  show(values, answer, a, b) {
    const { attributes } = this.classifier.model;
    const added = (i, value) => {
      const { terms } = this.classifier.answer(values.map((own, k) => (k === i ? value : own)));
      return terms[a][i] - terms[b][i];
    };
    const scales = attributes.map((attribute, i) => ({
      attribute,
      i,
      points: this.#choices(attribute).map((choice) => ({ ...choice, logOdds: added(i, choice.value) })),
    }));
    const finite = scales.flatMap(({ points }) => points.map((point) => point.logOdds).filter(Number.isFinite));
    const start = Math.abs(answer.base[a] - answer.base[b]);
    const least = Number.isFinite(start) ? Math.max(start, 0.1) : 0.1;
    const reach = finite.reduce((most, logOdds) => Math.max(most, Math.abs(logOdds)), least);
    const lines = scales.filter(({ points }) => points.length > 0).map((scale) => this.#line(scale, values, reach));
    const sum = this.#sum(answer, a, b);
    byId("scales").replaceChildren(this.#ruler(reach), this.#base(answer, a, b, reach), ...lines, sum);
    for (const line of [...lines, sum]) hideOverlaps(line);
  }

  #line({ attribute, i, points }, values, reach) {
    const chosen = codeOf(attribute, values[i]);
    const axis = element("span", { className: "axis" });
    for (const point of points) {
      const dot = element("button", {
        type: "button",
        className: point.code === chosen ? "dot chosen" : "dot",
        tabIndex: -1,
        title: `${attribute.name}: ${point.text}, log odds ${signed(point.logOdds)}, odds ${oddsFactor(point.logOdds)}`,
        "aria-label": point.text,
      });
      const text = element("span", { className: "dot-text", textContent: point.text });
      const at = place(point.logOdds, reach);
      for (const part of [dot, text]) part.style.left = `${at}%`;
      text.style.transform = `translateX(-${at}%)`; // so that no text lies beyond the ends of the axis
      dot.addEventListener("click", () => this.choose(i, point.value));
      axis.append(dot, text);
    }
    const name = element("span", { className: "scale-name", textContent: attribute.name });
    // The same can be done with the controls above, by keyboard and with a screen reader.
    return element("div", { className: "scale", "aria-hidden": "true" }, name, axis);
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

/** Where log odds are on an axis, in percent. */
function place(logOdds, reach) {
  return 50 + 50 * Math.max(-1, Math.min(1, logOdds / reach));
}

/** Hide texts that would cover others, first of all that of the chosen value. */
function hideOverlaps(line) {
  const texts = [...line.querySelectorAll(".dot-text")];
  const isChosen = (text) => text.previousElementSibling.classList.contains("chosen");
  const free = [];
  for (const text of texts.sort((one, other) => isChosen(other) - isChosen(one))) {
    const box = text.getBoundingClientRect();
    const covers = free.some((other) => box.left < other.right + 6 && other.left < box.right + 6);
    text.classList.toggle("covered", covers);
    if (!covers) free.push(box);
  }
}
