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
/** Counts the changes, so that a list knows which of its entries are outdated. */
let revision = 0;

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

/** Pointing at one side, or moving the focus there, shows the same notification on the other. */
function watch(element, id) {
  if (!id) return;
  element.dataset.id = id;
  for (const name of ["mouseenter", "focusin"]) element.addEventListener(name, () => highlight(id));
  for (const name of ["mouseleave", "focusout"]) element.addEventListener(name, () => highlight(null));
}

function highlight(id) {
  for (const element of document.querySelectorAll("[data-id], .device")) {
    const ids = (element.dataset.ids || element.dataset.id || "").split(" ");
    element.classList.toggle("same", id !== null && ids.includes(id));
  }
}

const matches = (value) => !wordFilter || JSON.stringify(value).toLowerCase().includes(wordFilter);

/**
 * Brings a list to these entries, each `{ key, version, build }`. An element stays if its version is the same: so what a
 * person reads, selects or has focused does not vanish while other entries arrive.
 */
function show(list, entries, emptyText) {
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const place = focused && { entry: focused.closest("[data-entry]")?.dataset.entry, key: keyOf(focused) };
  const present = new Map([...list.children].map((element) => [element.dataset.entry, element]));
  const wanted = entries.length || emptyText === null ? entries : [{
    key: "empty", version: emptyText, build: () => make("li", "empty", emptyText),
  }];
  let next = list.firstElementChild;
  for (const { key, version, build } of wanted) {
    let element = present.get(key);
    present.delete(key);
    if (!element || element.dataset.version !== String(version)) {
      const old = element;
      element = build();
      element.dataset.entry = key;
      element.dataset.version = version;
      if (old) {
        if (old === next) next = element;
        keepFolds(old, element);
        old.replaceWith(element);
      }
    }
    if (element === next) next = next.nextElementSibling;
    else list.insertBefore(element, next);
  }
  for (const element of present.values()) element.remove();
  // An element that was moved or replaced has lost the focus.
  if (focused && !list.contains(document.activeElement)) focusAgain(list, focused, place);
}

const keyOf = (element) => element.closest("[data-key]")?.dataset.key;

/** What was unfolded stays so in the entry that takes the place of an old one. */
function keepFolds(old, element) {
  const folds = new Map([...old.querySelectorAll("details")].map((item) => [item.dataset.key, item.open]));
  for (const item of element.querySelectorAll("details:not([data-fold])")) {
    if (folds.has(item.dataset.key)) item.open = folds.get(item.dataset.key);
  }
}

function focusAgain(list, focused, place) {
  if (list.contains(focused)) return focused.focus({ preventScroll: true });
  const entry = [...list.children].find((element) => element.dataset.entry === place.entry);
  const same = entry && [...entry.querySelectorAll("[data-key]")].find((item) => item.dataset.key === place.key);
  if (same) (same.tagName === "DETAILS" ? same.firstElementChild : same).focus({ preventScroll: true });
}

/** `200 newest of 1,234 notifications` */
function newest(shown, all, word, isMore = false) {
  if (!all) return "";
  const total = isMore ? all.toLocaleString() + "+ " + word + "s" : plural(all, word);
  return shown < all ? shown.toLocaleString() + " newest of " + total : total;
}

/** Draws what changed, at most once a frame however fast events come. */
function draw() {
  isDrawing = false;
  const groups = notifications(records.values());
  const found = groups.filter((group) => matches(group.records) && (!onlyTrouble || group.records.some(isTrouble)));
  const shown = found.slice(-maximumShown).reverse();
  show(byID("records"), shown.map((group) => ({
    key: group.key, version: group.records.map((record) => record.revision).join(), build: () => groupCard(group),
  })), records.size
    ? "Nothing matches the filter." : "Nothing yet. Send a notification, and what the hub gets to see of it appears here.");
  const kept = [...devices.values()].filter(matches)
    .sort((a, b) => (b.Connected - a.Connected) || a.Handle.localeCompare(b.Handle));
  show(byID("devices"), kept.slice(0, maximumShown).map((device) => ({
    key: device.Handle, version: device.revision, build: () => deviceCard(device),
  })), devices.size
    ? "Nothing matches the filter." : "No devices yet. They appear when they register or open their stream.");
  const word = groups.every((group) => isPush(group.records[0])) ? "notification" : "entry";
  byID("recordCount").textContent = newest(shown.length, found.length, word, records.size >= maximumKept)
    .replace("entrys", "entries");
  byID("deviceCount").textContent = kept.length > maximumShown
    ? maximumShown + " of " + plural(kept.length, "device") : kept.length ? plural(kept.length, "device") : "";
  byID("recordsTab").textContent = "Hub" + (found.length ? " (" + found.length.toLocaleString() + ")" : "");
  byID("devicesTab").textContent = "Devices" + (kept.length ? " (" + kept.length.toLocaleString() + ")" : "");
  drawFaults();
  announce(groups.length);
  markScrolling();
}

/** What scrolls can be scrolled by the keyboard; what does not is no stop of it. */
function markScrolling() {
  for (const box of document.querySelectorAll(".scroll, .screen")) {
    const scrolls = box.scrollHeight > box.clientHeight && getComputedStyle(box).overflowY !== "visible";
    if (scrolls === (box.tabIndex === 0)) continue;
    const attributes = { tabindex: "0", role: "region", "aria-label": box.dataset.name };
    for (const name in attributes) {
      if (scrolls) box.setAttribute(name, attributes[name]);
      else box.removeAttribute(name);
    }
  }
}

function redraw() {
  if (isDrawing || isPaused) return;
  isDrawing = true;
  requestAnimationFrame(draw);
}

/** A screen reader hears how many came, at most every five seconds. */
let announced = null;
let announcement = null;
function announce(count) {
  if (announced === null) announced = count;
  if (announcement !== null || count <= announced) {
    if (count < announced) announced = count;
    return;
  }
  announcement = setTimeout(() => {
    announcement = null;
    const now = notifications(records.values()).length;
    if (now > announced) byID("announcer").textContent = plural(now - announced, "new entry").replace("entrys", "entries") + ".";
    announced = now;
  }, 5000);
}

function addRecord(record) {
  if (!records.has(record.Sequence)) {
    for (const fault of faults) if ((record.FaultIds || []).includes(fault.Id)) fault.Hits += 1;
  }
  keepRecord(record);
  if (record.Hub && connection && !connection.Hubs.includes(record.Hub.toLowerCase())) loadConnection();
}

function keepRecord(record) {
  record.revision = ++revision;
  record.push = isPush(record) ? pushIn(record.Body) : {};
  records.set(record.Sequence, record);
  if (records.size > maximumKept) records.delete(records.keys().next().value);
}

function keepDevice(device) {
  device.revision = ++revision;
  devices.set(device.Handle.toLowerCase(), device);
}

function addDisplay(display) {
  const device = devices.get(display.Handle.toLowerCase()) || {
    Handle: display.Handle, Tags: [], Received: [], Displays: [], Connected: false, Waiting: false,
  };
  // A text takes the place of an earlier one of the same notification.
  device.Displays = device.Displays.filter((other) => display.Id ? other.Id !== display.Id
    : other.Text !== display.Text || other.ShownAt !== display.ShownAt);
  device.Displays.push(display);
  keepDevice(device);
}
