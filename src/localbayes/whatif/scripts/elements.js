// Elements of the page. Text from data becomes text nodes, never markup.

/** A new element with properties, attributes (those with a dash) and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/** A new element of a drawing. */
export function drawn(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

/** A bar to either side of the middle; length is from -1 to 1. */
export function setSplitBar(fill, length) {
  fill.className = length < 0 ? "fill against" : "fill for";
  fill.style.width = `${50 * Math.min(1, Math.abs(length))}%`;
}

/** Names of classes as options of a select, the first one chosen by the page. */
export function fillWithClasses(select, first, classes) {
  select.replaceChildren(
    element("option", { value: "", textContent: first }),
    ...classes.map((label, y) => element("option", { value: String(y), textContent: label })),
  );
}
