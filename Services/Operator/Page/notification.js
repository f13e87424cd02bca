// One notification: its state, its events in the order of their times, and its deliveries.
import { ask } from "./actions.js";
import { get } from "./api.js";
import { card, heading, table, tell, waiting } from "./app.js";
import { h } from "./dom.js";
import { count, facts, pill, shortID, time } from "./format.js";

let id = "";
let life = null;
let problem = null;

export const notification = {
  polls: true,
  enter(path) {
    id = decoded(path.slice("/notifications/".length));
    life = problem = null;
  },
  async load() {
    const asked = id;
    try {
      const answer = await get(`notifications/${encodeURIComponent(asked)}`);
      if (asked !== id) return;
      if (life && life.Status !== answer.Status) tell(`The notification is now ${answer.Status}.`);
      [life, problem] = [answer, null];
    } catch (error) {
      if (asked === id && error.status === 404) [life, problem] = [null, error];
      else throw error;
    }
  },
  title: () => (life ? `${life.Status} · ${shortID(life.Id)}` : problem ? "No such notification" : null),
  view() {
    if (problem) {
      return [heading("No such notification", { polls: false }), h("div.card", { key: "none" },
        h("p", "There is no notification ", h("code", id), "."),
        h("p.quiet", "An ID may have a mistake, or its notification is so old that it was deleted. The field above finds "
          + "notifications by their ID, or by their recipient."),
        h("p", h("a.back", { href: "/" }, "Back to the overview")))];
    }
    if (!life) return [heading("Notification"), waiting()];
    return [heading(`Notification ${shortID(life.Id)}`, { aside: pill(life.Verdict?.Level, life.Status) }),
      summary(), timeline(), deliveries()];
  },
};

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function summary() {
  const exactly = (iso) => time(iso, { withZone: true });
  return card("facts", life.Verdict?.Text ?? life.Status, {
    isWide: true, aside: life.CanResend && h("button", { key: "send", type: "button", onclick: sendAgain }, "Send again where it failed"),
  }, facts([
    ["ID", h("code", life.Id)], ["Recipient", h("bdi", life.Recipient)], ["Sender", h("bdi", life.Sender)],
    ["Accepted", exactly(life.CreatedAt)], life.NotBefore && ["Not before", exactly(life.NotBefore)],
    [life.Status === "expired" ? "Expired" : "Expires", exactly(life.ExpiresAt)], ["Outbox", life.OutboxText],
    life.Answer && ["Answer", h("bdi", life.Answer)],
    ["Claims by dispatchers", count(life.Claims)],
  ].filter(Boolean)));
}

function sendAgain() {
  ask({
    title: "Send again", verb: "Send again", path: `notifications/${life.Id}/resend`, body: {},
    text: "Send this notification again to the platforms where it failed, and remove its dead letter?",
  });
}

const levels = {
  sent: "good", read: "good", shown: "good", answered: "good", "answer-failed": "bad", dead: "bad", revoked: "bad", expired: "bad", retrying: "warn", waiting: "warn",
  pending: "warn",
};
const signs = { good: "✓", bad: "✕", warn: "…" };

function timeline() {
  return card("timeline", "Timeline", { isWide: true }, h("ol.timeline", life.Events.map((event) => {
    const level = event.IsAhead ? "ahead" : levels[event.Kind];
    return h("li", { class: level }, h("span.mark", { "aria-hidden": "true" }, signs[levels[event.Kind]] ?? "•"),
      h("p", h("b", event.IsAhead && event.Kind === "expired" ? "expires" : event.Kind), event.Platform && ` ${event.Platform}`,
        h("span.at", event.At ? time(event.At, { isPrecise: true }) : "at an unknown time", event.IsAhead && " (not yet)"),
        h("bdi.text", event.Text)));
  })));
}

function deliveries() {
  if (!life.Deliveries.length) return card("deliveries", "Deliveries", { isWide: true }, h("p.quiet", "There are none."));
  const number = (title) => ({ title, isNumber: true });
  return card("deliveries", "Deliveries", { isWide: true },
    table("Deliveries", "One for each platform. The hub may have accepted requests that it did not answer.",
      ["Platform", "State", number("Attempts"), number("Unanswered"), "Last change", "Hub message", "Outcome", "Error"],
      life.Deliveries.map((delivery) => ({
        key: delivery.Platform, cells: [
          delivery.Platform, pill(levels[delivery.State], delivery.State), count(delivery.Attempts), count(delivery.Unanswered ?? 0),
          time(delivery.UpdatedAt), h("bdi.long", delivery.HubMessageId ?? "–"), h("bdi", delivery.Outcome ?? "–"),
          h("bdi.long", delivery.Error ?? "–"),
        ],
      }))));
}
