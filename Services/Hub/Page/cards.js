// The cards of the left list: one for each notification, with a row for each request to a platform.
import { h } from "./dom.js";
import { isPush, isTrouble } from "./state.js";
import { beginning, count, plural, pushIn, readable, time } from "./text.js";

/** Rows of one card at most, the newest ones. */
const maximumRows = 40;
/** More rows than this that are alike are one. */
const maximumAlike = 3;
/** A body is shown to this many characters, and whole in an opened card. */
const maximumBody = 600;

/** The attributes of an element `details`; `change` is called when a person opens or closes it. */
export const fold = (isOpen, change) => ({
  open: isOpen, ontoggle: ({ currentTarget: { open } }) => { if (open !== isOpen) change(open); },
});

const pill = (kind, ...words) => h("span.pill", { class: kind }, words);

/** What became of a request, as coloured words. */
function fates(record) {
  const pills = [];
  if (record.Fault) pills.push(pill("bad", "fault: ", record.Fault));
  if (!isPush(record) || !record.Accepted) return pills;
  if (record.Outcome === "NoTargetFound") pills.push(pill("warn", "nobody registered"));
  if (record.Outcome === "Scheduled") pills.push(pill("", "due ", time(record.DueAt, "time")));
  if (record.Outcome === "Cancelled") pills.push(pill("warn", "cancelled"));
  for (const [name, number] of Object.entries(record.Outcomes || {})) {
    pills.push(name === "Success" ? pill("good", plural(number, "device")) : pill("bad", `${number} ${name}`));
  }
  return pills;
}

export const withMark = (body, id, length = Infinity) => {
  const at = id ? body.indexOf(id) : -1;
  return h("pre", at < 0 || at > length ? beginning(body, length)
    : [body.slice(0, at), h("mark", id), beginning(body.slice(at + id.length), length)]);
};

/** Requests that were alike in all that a row shows. */
const kindOf = ({ record }) => JSON.stringify([
  record.Platform, record.Kind, record.Accepted, record.Body, record.Fault, record.Outcome, record.Outcomes, record.Warnings, record.DueAt,
]);

/** The rows of a group: `{ entry, ordinal, like }`. An ordinal counts the accepted pushes of a platform from 1. */
function rowsOf(entries) {
  const ordinals = new Map();
  const kinds = new Map();
  const rows = [];
  for (const entry of entries) {
    const { record, push } = entry;
    const isCounted = isPush(record) && record.Accepted;
    const name = `${record.Platform} ${push.isWithdrawal}`;
    if (isCounted) ordinals.set(name, (ordinals.get(name) ?? 0) + 1);
    const row = { entry, last: entry, like: 0, ordinal: isCounted ? ordinals.get(name) : 0 };
    const kind = kindOf(entry);
    const alike = kinds.get(kind) ?? kinds.set(kind, []).get(kind);
    if (alike.length < maximumAlike) {
      alike.push(row);
      rows.push(row);
    } else {
      alike.at(-1).like += 1;
      alike.at(-1).last = entry;
    }
  }
  return rows;
}

/** The card of a group; `toggle` is called when a person opens or closes it. */
export function groupCard(group, toggle) {
  const entries = group.records;
  const first = entries[0].record;
  const rows = rowsOf(entries);
  const shown = rows.slice(-maximumRows);
  const name = group.id ?? (isPush(first) ? "Notification without an ID" : "Registration");
  return h("li.record", { key: group.key, "data-id": group.id, class: group.isCalm && "arrives" },
    h("div.row", group.id ? h("code.id", group.id) : h("b", name), time(entries.at(-1).record.ReceivedAt)),
    first.Tags && h("div.tag", { title: first.Tags }, h("bdi", readable(first.Tags))),
    rows.length > shown.length && h("p.cut", `${plural(rows.length - shown.length, "older row")} not shown`),
    h("ul.sends", shown.map((row) => sendRow(row, group.id))),
    h("details", fold(group.isOpen ?? false, (isOpen) => toggle(group, isOpen)),
      h("summary", "Headers", h("span.visually-hidden", ` of ${name}`)),
      group.isOpen && shown.map(({ last }) => wholeRequest(last.record, group.id))));
}

function sendRow({ entry: { record, push }, last, like, ordinal }, id) {
  // A push that reached nobody shows no more than that: most notifications go to platforms without a device.
  const isMissed = record.Outcome === "NoTargetFound" && !record.Warnings.length && !record.Fault;
  const isDelivered = isPush(record) && record.Accepted && record.Outcome === "Completed";
  const showsBody = isPush(record) && !isMissed;
  return h("li.send", { key: record.Sequence, class: isMissed ? null : isTrouble(record) ? "bad" : isDelivered && "good" },
    h("div.row",
      pill("platform", record.Platform || "?"),
      record.Kind !== "send" && pill("", record.Kind),
      push.isWithdrawal && pill("warn", "withdrawal"),
      // A reminder or a repeated request: the push itself does not say which.
      ordinal > 1 && pill("", `again: ${ordinal}. push`),
      push.isSigned && pill("", "signed"),
      fates(record)),
    showsBody && withMark(record.Body, id, maximumBody),
    record.Warnings.map((warning) => h("p.warning", `⚠ ${warning}`)),
    like > 0 && h("p.cut", `+ ${count(like)} like it, the last at `, time(last.record.ReceivedAt, "time")));
}

/** All of a request: what is opened is read, so nothing is cut. */
function wholeRequest(record, id) {
  const headers = { Id: record.Id, Status: record.Status ?? "none", ...record.Headers };
  return h("div.whole", { key: record.Sequence },
    h("p.row", pill("platform", record.Platform || "?"), time(record.ReceivedAt)),
    h("dl", Object.entries(headers).map(([name, value]) => [h("dt", name), h("dd", String(value))])),
    record.Body && (!isPush(record) || record.Body.length > maximumBody || record.Outcome === "NoTargetFound")
      && withMark(record.Body, id));
}

export const idIn = (body) => pushIn(body).id;
