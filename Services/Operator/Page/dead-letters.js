// The dead letters: read once at each visit, because other readers find the queue empty while it is read.
import { ask } from "./actions.js";
import { get } from "./api.js";
import { app, card, heading, table } from "./app.js";
import { h } from "./dom.js";
import { count, idLink, plural, time } from "./format.js";
import { replayAll } from "./overview.js";

const limit = 100;
let report = null;
let readAt = null;
let problem = null;
let isReading = false;
/** What is missing for the button that was pressed last. */
let told = "";
const selected = new Set();

export const deadLetters = {
  enter() {
    report = problem = null;
    told = "";
    selected.clear();
  },
  async load() {
    isReading = true;
    app.redraw();
    try {
      report = await get(`dead-letters?Limit=${limit}`);
      problem = null;
      const listed = new Set(report.DeadLetters.map((letter) => letter.Id));
      for (const id of selected) if (!listed.has(id)) selected.delete(id);
    } catch (error) {
      if (error.status === 401 || error.status === 429) throw error;
      [report, problem] = [null, error.message];
    } finally {
      isReading = false;
      readAt = new Date().toISOString();
    }
  },
  title: () => (report?.Total ? plural(report.Total, "dead letter") : "Dead letters"),
  view: () => [heading("Dead letters", {
    polls: false, aside: h("button.small", { key: "again", type: "button", "aria-disabled": isReading && "true", onclick: again }, "Read again"),
  }), content()],
};

async function again() {
  if (!isReading) await app.refresh({ all: true });
}

function content() {
  const note = h("p.quiet", { key: "note" }, "Reading removes nothing. While this page reads the queue, other readers find it empty. "
    + "Therefore it does not refresh by itself", readAt && report ? [": these are the letters of ", time(readAt)] : "", ".");
  if (problem) {
    return card("letters", "The queue was not read", { isWide: true }, h("p", { key: "problem" }, `✕ ${problem}`), note);
  }
  if (!report) return card("letters", "Reading the queue …", { isWide: true }, note);
  if (!report.Total) return card("letters", "No dead letters", { isWide: true }, h("p", { key: "none" }, "✓ The queue is empty."), note);
  const rows = report.DeadLetters;
  const letters = rows.reduce((sum, letter) => sum + (letter.Letters ?? 1), 0);
  const title = `${plural(letters, "dead letter")} of ${plural(rows.length, "notification")}`;
  return card("letters", title, { isWide: true }, note,
    report.Total > letters && h("p", { key: "more" }, `These are the oldest of ${count(report.Total)}.`),
    h("div.actions.start", { key: "actions" },
      h("button", { key: "selected", type: "button", onclick: replaySelected },
        selected.size ? `Replay the ${selected.size} selected` : "Replay the selected"),
      h("button", { key: "all", type: "button", onclick: () => replayAll(report.Total, again) }, `Replay all ${count(report.Total)}`),
      h("span.told", { key: "told", role: "status" }, told)),
    table("Dead letters", "An unreadable letter can only be purged, with securepush dead-letters purge.",
      [selectAll(rows), "Notification", "Recipient", "Dead since", "Accepted", "Reason", "Platforms",
        { title: "Letters", isNumber: true }, { title: "Bytes", isNumber: true }], rows.map(row), 1));
}

function row(letter, index) {
  const { Id: id } = letter;
  return {
    key: id ?? `unreadable ${index}`, cells: [
      id && h("label.box", h("input", {
        type: "checkbox", checked: selected.has(id), "aria-label": `Select ${id}`, onchange: (event) => select([id], event.target.checked),
      })),
      id ? idLink(id) : "unreadable", h("bdi", letter.Recipient ?? "–"), time(letter.DiedAt), time(letter.AcceptedAt),
      h("bdi.long", letter.Reason), letter.Platforms?.join(", ") ?? (id ? "all that are owed" : "–"), count(letter.Letters ?? 1),
      count(letter.Bytes),
    ],
  };
}

function selectAll(rows) {
  const ids = rows.map((letter) => letter.Id).filter(Boolean);
  const chosen = ids.filter((id) => selected.has(id)).length;
  return h("label.box", h("input", {
    type: "checkbox", "aria-label": "Select all", checked: ids.length > 0 && chosen === ids.length,
    indeterminate: chosen > 0 && chosen < ids.length, disabled: ids.length === 0,
    onchange: (event) => select(ids, event.target.checked),
  }));
}

function select(ids, isSelected) {
  for (const id of ids) {
    if (isSelected) selected.add(id);
    else selected.delete(id);
  }
  told = "";
  app.redraw();
}

async function replaySelected() {
  if (!selected.size) {
    // The same words are told once more when the button is pressed once more.
    told = "";
    app.redraw();
    told = "Select at least one letter first.";
    return app.redraw();
  }
  ask({
    title: "Replay dead letters", verb: "Replay", path: "dead-letters/replay", body: { Ids: [...selected] }, after: again,
    text: `Dispatch the letters of ${plural(selected.size, "selected notification")} again?`,
  });
}
