// What the pages share: the state of the system as it was last told, and the way to one another.
import { h } from "./dom.js";
import { switchTimes, time, timesLabel } from "./format.js";

export const spans = [["15m", "15 minutes"], ["1h", "1 hour"], ["24h", "24 hours"]];

export const app = {
  /** The last answer of `overview`, without the points of its latencies. */
  overview: null,
  /** The points of the latencies by name: `{ At, P50, P95, P99 }`. */
  points: new Map(),
  span: "1h",
  isPaused: false,
  /** `{ since, text }` while there is no good answer, `{ login: true }`, or `{ until }` while requests are limited. */
  outage: null,
  /** Shows another address of this page. */
  go: (_address, _state) => {},
  /** Shows what has changed since. */
  redraw: () => {},
  /** Asks for everything now; with `all`, also for what a page reads only once. */
  refresh: async (_options) => {},
  /** Tells that a request has failed. */
  fail: (_error) => {},
  /** Switches the pause on or off. */
  pause: () => {},
};

/** Tells a screen reader; the same words once more are told once more. */
export function tell(text) {
  const news = document.getElementById("news");
  news.textContent = "";
  news.textContent = text;
}

/** The heading of a page, with the switches that all pages have. */
export function heading(title, { aside = null, polls = true } = {}) {
  const asOf = polls && app.overview
    ? h("span.quiet", "As of ", time(app.overview.Time), app.isPaused ? ", paused" : "") : null;
  return h("div.title", { key: "title" },
    h("h1", { key: "h1" }, title), aside,
    h("div.tools", { key: "tools" }, asOf,
      h("button.small", {
        key: "times", type: "button", onclick: () => { switchTimes(); app.redraw(); },
        title: "Switches between local and exact times",
      }, timesLabel()),
      polls && h("button.small", { key: "pause", type: "button", class: app.isPaused && "on", onclick: app.pause },
        app.isPaused ? "Paused – go on" : "Pause")));
}

/** Stands where something will be. */
export const waiting = () => !app.outage && h("p.quiet", { key: "wait" }, "Loading …");

/** A card: a section with a heading. */
export const card = (id, title, options, ...children) => h("section.card", {
  id, key: id, class: options.isWide && "wide", "aria-labelledby": `${id}Title`,
}, h("div.head", h("h2", { id: `${id}Title` }, title), options.aside), ...children);

/**
 * A table in a box that scrolls sideways when it has to. A column is its title, `{ title, isNumber }` or an element;
 * a row is `{ key, class, cells }`, and its first cell is its heading.
 */
export function table(name, caption, columns, rows, headingAt = 0) {
  const isNumber = (index) => columns[index].isNumber && "number";
  return h("div.scroll", { key: "table", "data-name": name }, h("table",
    h("caption", caption),
    h("thead", h("tr", columns.map((column, index) => (
      h("th", { scope: "col", class: isNumber(index) }, column.title ?? column))))),
    h("tbody", rows.map((row) => h("tr", { key: row.key, class: row.class }, row.cells.map((cell, index) => (
      index === headingAt ? h("th", { scope: "row" }, cell) : h("td", { class: isNumber(index) }, cell))))))));
}

/** A box that scrolls can be scrolled by the keyboard; one that does not is no stop of it. */
export function markScrolling() {
  for (const box of document.querySelectorAll(".scroll")) {
    const scrolls = box.scrollWidth > box.clientWidth;
    if (scrolls === (box.tabIndex === 0)) continue;
    const set = (attribute, value) => (scrolls ? box.setAttribute(attribute, value) : box.removeAttribute(attribute));
    set("tabindex", "0");
    set("role", "region");
    set("aria-label", `${box.dataset.name}, a table that scrolls sideways`);
  }
}
