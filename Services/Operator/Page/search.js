// Finds notifications. A recipient's name is never in a URL, because URLs are logged: it is in the history's own state.
import { post } from "./api.js";
import { app, card, heading, table, tell } from "./app.js";
import { h } from "./dom.js";
import { idLink, isID, pill, plural, shown, time } from "./format.js";

let term = "";
let found = null;
let next = null;
let problem = null;

export const search = {
  enter(_path, state) {
    const asked = state?.term ?? "";
    // Back from a result: the list is still there, with the older results that were loaded.
    if (asked === term && found) return;
    term = asked;
    found = next = problem = null;
  },
  async load() {
    if (term && !found) await more();
  },
  // A recipient's name is not for the list of pages that a browser keeps.
  title: () => "Search",
  view: () => [heading(term ? `Notifications to ${term}` : "Search", {
    polls: false, aside: h("button.small", { key: "close", type: "button", onclick: close }, "Close"),
  }), card("found", title(), { isWide: true }, ...content())],
};

const title = () => (!term ? "Whose notifications?" : problem ? "The search failed" : !found ? "Searching …"
  : found.length === 0 ? "There are none" : `The newest ${next ? found.length : plural(found.length, "notification")}`);

function content() {
  if (!term) return [h("p", "Enter an ID or a recipient's name in the field above.")];
  if (problem) return [h("p", `✕ ${problem}`), h("button", { type: "button", onclick: retry }, "Try again")];
  if (!found) return [];
  if (!found.length) {
    return [h("p", "Upper and lower case differ in names: “Alice” is not “alice”. "
      + (/^…?[0-9a-f]{12}$/i.test(term) ? "The end of an ID is found only while this page has shown that ID; enter all 36 characters of it." : ""))];
  }
  return [table("Notifications", "Newest first.", ["Notification", "State", "Accepted", "Sender"], found.map((item) => ({
    key: item.Id, cells: [idLink(item.Id), pill(levels[item.Status], item.Status), time(item.CreatedAt), h("bdi", item.Sender)],
  }))), next && h("button", { key: "older", type: "button", onclick: retry }, "Show older ones")];
}

const levels = { read: "good", dispatched: "good", failed: "bad", partial: "warn", expired: "bad", revoked: "bad" };

async function retry() {
  try {
    await more();
  } catch (error) {
    app.fail(error);
  }
  app.redraw();
}

/** Asks for the newest, or for those that follow what was found. */
async function more() {
  const asked = term;
  try {
    const answer = await post("notifications/search", next ? { Recipient: asked, Before: next } : { Recipient: asked });
    if (asked !== term) return;
    found = [...(found ?? []), ...answer.Notifications];
    [next, problem] = [answer.Next ?? null, null];
    tell(`${plural(answer.Notifications.length, "notification")} found.`);
  } catch (error) {
    if (error.status === 401 || error.status === 429) throw error;
    problem = error.message;
  }
}

/** Back to where the search began. */
export function close() {
  term = "";
  found = null;
  if (history.state?.hasFormer) history.back();
  else app.go("/");
}

/** Looks for what is in the field. */
export function find(text) {
  const wanted = text.trim();
  if (isID(wanted)) return app.go(`/notifications/${wanted.toLowerCase()}`);
  const end = /^…?([0-9a-f]{12})$/i.exec(wanted)?.[1].toLowerCase();
  const known = end && [...shown].find((id) => id.endsWith(end));
  if (known) return app.go(`/notifications/${known}`);
  term = "";
  if (wanted) app.go("/search", { term: wanted });
}
