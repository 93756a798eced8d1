(() => {
  "use strict";
  const root = document.documentElement;

  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-pressed", String(isDark()));
    theme.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  };
  try {
    const kept = localStorage.getItem("localbayes-theme");
    if (kept) root.dataset.theme = kept;
  } catch { /* a page opened from a file may not be allowed to keep anything */ }
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("localbayes-theme", root.dataset.theme); } catch { /* as above */ }
    label();
  });
  system.addEventListener("change", label);
  label();

  const table = document.getElementById("big");
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, i) => {
    const text = row.cells[i].dataset.sort;
    return i === 0 ? text : text === "" ? NaN : Number(text);
  };
  const order = (i, sign) => (a, b) => {
    const x = key(a, i), y = key(b, i);
    if (i === 0) return sign * (x < y ? -1 : x > y ? 1 : 0);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return sign * (x - y);
  };
  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => {
    // Figures are sorted with the best on top first, names and constants in ascending order.
    const turns = i > 3 ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
    const next = turns[(turns.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", next);
    const rows = next === "none" ? original : [...original].sort(order(i, next === "ascending" ? 1 : -1));
    body.append(...rows);
  }));

  const published = document.getElementById("show-published");
  if (published) published.addEventListener("change", () => table.classList.toggle("with-published", published.checked));
  const spread = document.getElementById("show-sd");
  spread.addEventListener("change", () => table.classList.toggle("without-sd", !spread.checked));

  const tip = document.getElementById("tip");
  const hide = () => { tip.hidden = true; };
  const show = (cell) => {
    if (!cell || !cell.dataset.tip) return hide();
    tip.textContent = cell.dataset.tip;
    tip.hidden = false;
    const at = cell.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const below = at.bottom + 8 + size.height < innerHeight;
    tip.style.top = `${below ? at.bottom + 8 : Math.max(4, at.top - size.height - 8)}px`;
    tip.style.left = `${Math.max(4, Math.min(at.left, innerWidth - size.width - 8))}px`;
  };
  for (const cell of body.querySelectorAll("td[title]")) {
    cell.dataset.tip = cell.title;
    cell.removeAttribute("title");
    cell.tabIndex = -1;
    cell.setAttribute("aria-describedby", "tip");
  }
  const first = body.querySelector("td[data-tip]");
  if (first) first.tabIndex = 0;
  const cellOf = (event) => event.target.closest("td[data-tip]");
  body.addEventListener("mouseover", (event) => show(cellOf(event)));
  body.addEventListener("mouseleave", hide);
  body.addEventListener("focusin", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    for (const other of body.querySelectorAll('td[tabindex="0"]')) other.tabIndex = -1;
    cell.tabIndex = 0;
    show(cell);
  });
  body.addEventListener("focusout", hide);
  addEventListener("scroll", hide, { passive: true, capture: true });
  body.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    if (event.key === "Escape") return hide();
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const rows = [...body.rows];
    let y = rows.indexOf(cell.parentElement) + step[0], x = cell.cellIndex + step[1];
    while (rows[y] && rows[y].cells[x] && !rows[y].cells[x].dataset.tip) { y += step[0]; x += step[1]; }
    const next = rows[y] && rows[y].cells[x];
    if (next && next.dataset.tip) {
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
      show(next);
    }
  });
})();
