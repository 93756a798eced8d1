// A classifier: codes in, probabilities and what every attribute adds to them out. Classes are in declared order.

import { aode, hnb, nb, tan, waode } from "./eager.js";
import { encode } from "./encoding.js";
import { iclnb, lcwnb, localBayes, lwnb } from "./lazy.js";
import { firstBest, logTotal, sum, unpack } from "./numbers.js";
import { defined, shifted } from "./shares.js";

const FORMULAS = {
  NB: nb,
  TAN: tan,
  AODE: aode,
  WAODE: waode,
  HNB: hnb,
  LWNB: lwnb,
  ICLNB: iclnb,
  LCWNB: lcwnb,
  LocalBayesClassifier: localBayes,
};

export class Classifier {
  constructor(model) {
    this.model = model;
    this.classCount = unpack(model.classCount);
    this.shift = model.shift && unpack(model.shift);
    const make = FORMULAS[model.formula.formula];
    this.formula = make(model.formula, model.sizes, model.classes.length, this.classCount);
  }

  /** Answer for the values of the controls; LCWNB also takes a kappa in place of those it was fitted with. */
  answer(values, kappa = null) {
    return this.#finished(this.formula(encode(this.model, values), kappa));
  }

  /** Probabilities for several kappas (LCWNB). */
  overKappas(values, kappas) {
    const splits = this.formula.overKappas(encode(this.model, values), kappas);
    return splits.map((split) => this.#finished(split).proba);
  }

  /**
   * { base, terms, logProba, proba, best, next }: base[y] and the sum of terms[y] are logProba[y]; best and next are
   * positions of classes, next is -1 if there is only one.
   */
  #finished(given) {
    const split = shifted(defined(given, this.classCount), this.shift, this.classCount);
    const total = logTotal(split.map(({ base, terms }) => base + sum(terms)));
    const base = split.map((part) => part.base - total);
    const terms = split.map((part) => part.terms);
    const logProba = base.map((log, y) => log + sum(terms[y]));
    const best = firstBest(logProba);
    // Impossible rivals get the smallest number, so that they rank above the class itself.
    const others = logProba.map((log, y) => (y === best ? -Infinity : Math.max(log, -Number.MAX_VALUE)));
    const next = logProba.length > 1 ? firstBest(others) : -1;
    return { base, terms, logProba, proba: logProba.map(Math.exp), best, next };
  }
}
