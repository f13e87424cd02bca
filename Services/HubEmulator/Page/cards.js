/**
 * The records by notification, in the order of each one's newest record: the pushes to all platforms, the reminders and
 * the withdrawal of one ID are one card. A request without an ID is alone.
 */
function notifications(all) {
  const groups = new Map();
  for (const record of all) {
    const key = record.push.id ? "id " + record.push.id + " " + (record.Tags || "") : "record " + record.Sequence;
    const group = groups.get(key) || { key, id: record.push.id || null, records: [] };
    group.records.push(record);
    // Removed and set again: the newest is the last.
    groups.delete(key);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const isTrouble = (record) => Boolean(record.Warnings.length || record.Fault || record.Outcome === "NoTargetFound"
  || Object.keys(record.Outcomes || {}).some((name) => name !== "Success"));

/** What became of a request, as coloured words. */
function fates(record) {
  const pills = [];
  if (record.Fault) pills.push(make("span", "pill bad", "fault: " + record.Fault));
  if (!isPush(record) || !record.Accepted) return pills;
  if (record.Outcome === "NoTargetFound") pills.push(make("span", "pill warn", "nobody registered"));
  if (record.Outcome === "Scheduled") pills.push(make("span", "pill", "due " + time(record.DueAt)));
  if (record.Outcome === "Cancelled") pills.push(make("span", "pill warn", "cancelled"));
  for (const [name, count] of Object.entries(record.Outcomes || {})) {
    const isGood = name === "Success";
    pills.push(make("span", "pill " + (isGood ? "good" : "bad"), isGood ? plural(count, "device") : count + " " + name));
  }
  return pills;
}

/** The kind of a push, as words; `ordinal` counts the accepted ones of its platform from 1. */
function kinds(push, ordinal) {
  const pills = [];
  if (push.isWithdrawal) pills.push(make("span", "pill warn", "withdrawal"));
  // A reminder or a repeated request: the push itself does not say which.
  if (ordinal > 1) pills.push(make("span", "pill", "again: " + ordinal + ". push"));
  if (push.isSigned) pills.push(make("span", "pill", "signed"));
  return pills;
}

function headerList(headers) {
  const list = make("dl");
  for (const name of Object.keys(headers)) list.append(make("dt", "", name), make("dd", "", headers[name]));
  return list;
}

/** The card of a notification: its ID once, and one row per request to a platform. */
function groupCard(group) {
  const first = group.records[0];
  const last = group.records[group.records.length - 1];
  const isOne = isPush(first);
  const head = make("div", "row",
    group.id ? make("code", "id", group.id) : make("b", "", isOne ? "Notification without an ID" : "Registration"),
    make("time", "time", time(last.ReceivedAt)));
  const rows = make("ul", "sends");
  const counts = new Map();
  for (const record of group.records) {
    const kind = record.Platform + " " + record.push.isWithdrawal;
    if (isPush(record) && record.Accepted) counts.set(kind, (counts.get(kind) || 0) + 1);
    rows.append(sendRow(record, group.id, record.Accepted ? counts.get(kind) : 0));
  }
  const card = make("li", "record", head, first.Tags ? make("div", "tag", first.Tags) : null, rows);
  watch(card, group.id);
  return card;
}

function sendRow(record, id, ordinal) {
  // A push that reached nobody shows no more than that: most notifications go to platforms without a device.
  const isMissed = record.Outcome === "NoTargetFound" && !record.Warnings.length && !record.Fault;
  const isDelivered = isPush(record) && record.Accepted && record.Outcome === "Completed";
  const rank = isMissed ? "" : isTrouble(record) ? " bad" : isDelivered ? " good" : "";
  const showsBody = isPush(record) && !isMissed;
  const more = make("details", "", make("summary", "", showsBody ? "Headers" : "Request",
    make("span", "visually-hidden", " of " + (record.Platform || "a device"))));
  more.dataset.key = record.Sequence;
  if (!showsBody && record.Body) more.append(withMark(record.Body, id));
  more.append(headerList({ Id: record.Id, Status: record.Status || "none", ...record.Headers }));
  const row = make("li", "send" + rank,
    make("div", "row",
      make("span", "pill platform", record.Platform || "?"),
      record.Kind === "send" ? null : make("span", "pill", record.Kind),
      ...kinds(record.push, ordinal), ...fates(record), more));
  if (showsBody) row.append(withMark(record.Body, id));
  for (const warning of record.Warnings) row.append(make("p", "warning", "⚠ " + warning));
  return row;
}
