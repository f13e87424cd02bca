"use strict";
const maximumShown = 200;
const maximumKept = 2000;
const byID = (id) => document.getElementById(id);
const records = new Map();
const devices = new Map();
let faults = [];
let wordFilter = "";
let onlyTrouble = false;
let isPaused = false;
let isDrawing = false;

const platforms = ["apple", "fcmv1", "gcm", "windows", "windowsphone", "adm", "baidu", "browser", "xiaomi", "template"];
const operations = ["send", "direct", "batch", "schedule", "cancel", "register", "installation", "hub", "telemetry"];
const outcomes = ["BadChannel", "ExpiredChannel", "Dropped", "Throttled", "WrongToken", "InvalidCredentials",
  "PnsUnavailable", "PnsUnreachable", "PnsServerError", "AbandonedNotificationMessages", "UnknownError"];
const presets = [
  ["503 for 10 s", { Status: 503, For: "10s" }], ["429, Retry-After 5", { Status: 429, RetryAfter: 5, Count: 1 }],
  ["Lose 10 %", { Swallow: true, Rate: 0.1 }], ["Cut after accepting, 20 %", { Reset: true, Accept: true, Rate: 0.2 }],
  ["Slow, 2 s", { LatencyMs: 2000, For: "30s" }], ["Expired handles", { Outcome: "ExpiredChannel", For: "30s" }],
];

/** Makes an element; text goes in as text and never as markup. */
function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  for (const child of children) if (child !== null && child !== undefined && child !== "") element.append(child);
  return element;
}

const time = (text) => {
  const date = new Date(text);
  return isNaN(date) ? "" : date.toLocaleTimeString([], { hour12: false });
};
const plural = (count, word) => count.toLocaleString() + " " + word + (count === 1 ? "" : "s");
const isPush = (record) => record.Kind !== "register" && record.Kind !== "unregister";

/** A push in the forms of SecurePush: its ID, and whether it is a withdrawal and has a signature (not checked here). */
function pushIn(body) {
  const named = /"secureId"\s*:\s*"([^"]+)"/.exec(body);
  if (named) return { id: named[1], isWithdrawal: /"withdraw"\s*:\s*"1"/.test(body), isSigned: /"sig"\s*:\s*"/.test(body) };
  const raw = /^([0-9A-Za-z-]{1,64})( withdraw)?( [0-9]{1,12} [0-9A-Za-z_-]{86})?$/.exec(body.trim());
  return { id: raw && raw[1], isWithdrawal: Boolean(raw && raw[2]), isSigned: Boolean(raw && raw[3]) };
}

const idIn = (body) => pushIn(body).id;

function withMark(body, id) {
  const block = make("pre");
  const at = id ? body.indexOf(id) : -1;
  if (at < 0) block.append(body);
  else block.append(body.slice(0, at), make("mark", "", id), body.slice(at + id.length));
  return block;
}

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

function headerList(headers) {
  const list = make("dl");
  for (const name of Object.keys(headers)) list.append(make("dt", "", name), make("dd", "", headers[name]));
  return list;
}

/** By a record's sequence: which accepted push of its notification to its platform it is, from 1. */
function ordinals(all) {
  const [counts, result] = [new Map(), new Map()];
  for (const record of all) {
    if (!isPush(record) || !record.Accepted) continue;
    const push = pushIn(record.Body);
    if (!push.id) continue;
    const key = [record.Platform, record.Tags, push.id, push.isWithdrawal].join(" ");
    counts.set(key, (counts.get(key) || 0) + 1);
    result.set(record.Sequence, counts.get(key));
  }
  return result;
}

/** The kind of a push, as words. */
function kinds(push, ordinal) {
  const pills = [];
  if (push.isWithdrawal) pills.push(make("span", "pill warn", "withdrawal"));
  // A reminder or a repeated request: the push itself does not say which.
  if (ordinal > 1) pills.push(make("span", "pill", "again: " + ordinal + ". push"));
  if (push.isSigned) pills.push(make("span", "pill", "signed"));
  return pills;
}

function recordCard(record, ordinal) {
  const push = isPush(record) ? pushIn(record.Body) : {};
  const id = push.id || null;
  const card = make("li", "record",
    make("div", "row",
      make("span", "pill platform", record.Platform || "?"), make("span", "pill", record.Kind),
      ...kinds(push, ordinal), ...fates(record),
      make("time", "time", time(record.ReceivedAt))),
    record.Tags ? make("div", "tag", record.Tags) : null);
  if (isPush(record)) card.append(withMark(record.Body, id));
  for (const warning of record.Warnings) card.append(make("p", "warning", "⚠ " + warning));
  const more = make("details", "", make("summary", "", isPush(record) ? "Headers" : "Document and headers"));
  more.dataset.key = record.Sequence;
  if (!isPush(record) && record.Body) more.append(make("pre", "", record.Body));
  more.append(headerList({ Id: record.Id, Status: record.Status || "none", ...record.Headers }));
  card.append(more);
  watch(card, id);
  return card;
}

/** Pointing at one side shows the same notification on the other. */
function watch(element, id) {
  if (!id) return;
  element.dataset.id = id;
  element.addEventListener("mouseenter", () => highlight(id));
  element.addEventListener("mouseleave", () => highlight(null));
}

function highlight(id) {
  for (const element of document.querySelectorAll("[data-id], .device")) {
    const ids = (element.dataset.ids || element.dataset.id || "").split(" ");
    element.classList.toggle("same", id !== null && ids.includes(id));
  }
}

function note(display) {
  const isPrompt = display.Kind === "prompt";
  const element = make("div", "note" + (isPrompt ? " prompt" : ""),
    make("div", "from", make("span", "", isPrompt ? "Generic text" : "Fetched"),
      make("time", "", time(display.ShownAt))),
    make("div", "text", display.Text));
  watch(element, display.Id || null);
  return element;
}

/** What a device shows: what it says it shows, or else what it got. */
function screen(device) {
  const element = make("div", "screen", make("div", "island"));
  for (const display of device.Displays.slice(-6).reverse()) element.append(note(display));
  if (!device.Displays.length) {
    const got = device.Received.length ? "Woken " + device.Received.length + " times. Shows nothing." : "Nothing shown yet";
    element.append(make("div", "note quiet", device.Connected ? got : device.Waiting ? "Off. One push waits." : "Off"));
  }
  return element;
}

function deviceCard(device) {
  const dot = make("span", device.Connected ? "dot on" : "dot");
  const user = device.Tags.find((tag) => tag.toLowerCase().startsWith("username:"));
  const who = make("div", "who",
    make("div", "name", dot, make("span", "visually-hidden", device.Connected ? "connected" : "not connected"),
      user ? user.slice(9) : "Device", make("span", "pill platform", device.Platform || "?")),
    make("div", "handle", device.Handle.length > 44 ? device.Handle.slice(0, 42) + "…" : device.Handle));
  if (device.Received.length) {
    const raw = make("details", "", make("summary", "", "Received raw (" + device.Received.length + ")"));
    raw.dataset.key = device.Handle;
    for (const push of device.Received.slice().reverse()) raw.append(withMark(push.Body, idIn(push.Body)));
    who.append(raw);
  }
  const card = make("article", "device", make("div", "phone", screen(device)), who);
  card.setAttribute("aria-label", "Device " + (user ? "of " + user.slice(9) : device.Handle));
  card.dataset.ids = device.Received.map((push) => idIn(push.Body) || "").join(" ");
  return card;
}

const isTrouble = (record) => Boolean(record.Warnings.length || record.Fault || record.Outcome === "NoTargetFound"
  || Object.keys(record.Outcomes || {}).some((name) => name !== "Success"));
const matches = (value) => !wordFilter || JSON.stringify(value).toLowerCase().includes(wordFilter);

/** Replaces what a list shows; what was unfolded stays so. */
function show(list, cards, words) {
  const open = new Set([...list.querySelectorAll("details[open]")].map((item) => item.dataset.key));
  for (const card of cards) {
    const more = card.querySelector("details");
    if (more) more.open = open.has(more.dataset.key);
  }
  list.replaceChildren(...(cards.length ? cards : [make(list.tagName === "OL" ? "li" : "p", "empty", words)]));
}

/** Draws what changed, at most once a frame however fast events come. */
function draw() {
  isDrawing = false;
  const crossed = [...records.values()].filter((record) => matches(record) && (!onlyTrouble || isTrouble(record)));
  const nth = ordinals(records.values());
  const cards = crossed.slice(-maximumShown).reverse().map((record) => recordCard(record, nth.get(record.Sequence)));
  show(byID("records"), cards, records.size
    ? "Nothing matches the filter." : "Nothing yet. Send a notification, and what the hub gets to see of it appears here.");
  const visible = [...devices.values()].filter(matches)
    .sort((a, b) => (b.Connected - a.Connected) || a.Handle.localeCompare(b.Handle)).slice(0, maximumShown);
  show(byID("devices"), visible.map(deviceCard), devices.size
    ? "Nothing matches the filter." : "No devices yet. They appear when they register or open their stream.");
  byID("recordCount").textContent = records.size ? plural(crossed.length, "request") : "";
  byID("deviceCount").textContent = devices.size ? plural(devices.size, "device") : "";
  drawFaults();
}

function drawFaults() {
  byID("faultsButton").textContent = faults.length ? "Faults (" + faults.length + ")" : "Faults";
  byID("faultList").replaceChildren(...faults.map((fault) => {
    const off = make("button", "", "✕");
    off.type = "button";
    off.setAttribute("aria-label", "Switch off " + effect(fault));
    off.addEventListener("click", () => fetch("emulator/faults/" + fault.Id, { method: "DELETE" }));
    return make("li", "chip", make("b", "", effect(fault)), scope(fault), off);
  }));
}

/** What a fault does. */
function effect(fault) {
  const words = [];
  if (fault.LatencyMs) words.push(fault.LatencyMs + " ms late");
  if (fault.Tier) words.push("throttle like " + fault.Tier);
  else if (fault.Status) words.push(fault.Status + (fault.RetryAfter !== undefined ? ", Retry-After " + fault.RetryAfter : ""));
  if (fault.Reset) words.push("cut");
  if (fault.TimeoutMs) words.push("silent " + fault.TimeoutMs + " ms");
  if (fault.Swallow) words.push("lost");
  if (fault.Outcome) words.push(fault.Outcome);
  return words.join(" and ") + (fault.Accept ? " after accepting" : "");
}

/** Which requests it is for, and how often it has hit. */
function scope(fault) {
  const words = [fault.Platform || "every platform"];
  if (fault.Operation) words.push(fault.Operation);
  if (fault.Tag) words.push(fault.Tag);
  if (fault.Rate < 1) words.push(Math.round(fault.Rate * 100) + " %");
  if (fault.Count !== undefined) words.push(fault.Count + " left");
  if (fault.ForMs) words.push("for " + fault.ForMs / 1000 + " s");
  words.push("hit " + fault.Hits);
  return words.join(" · ");
}

function redraw() {
  if (isDrawing || isPaused) return;
  isDrawing = true;
  requestAnimationFrame(draw);
}

function addRecord(record) {
  if (!records.has(record.Sequence)) {
    for (const fault of faults) if ((record.FaultIds || []).includes(fault.Id)) fault.Hits += 1;
  }
  records.set(record.Sequence, record);
  if (records.size > maximumKept) records.delete(records.keys().next().value);
}

function addDisplay(display) {
  const device = devices.get(display.Handle.toLowerCase()) || {
    Handle: display.Handle, Tags: [], Received: [], Displays: [], Connected: false, Waiting: false,
  };
  // A text takes the place of an earlier one of the same notification.
  if (display.Id) device.Displays = device.Displays.filter((other) => other.Id !== display.Id);
  device.Displays.push(display);
  devices.set(display.Handle.toLowerCase(), device);
}
