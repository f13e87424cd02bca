// The hub emulator's page: what it asks for and when it draws.
import { groupCard } from "./cards.js";
import { loadConnection, noteHub } from "./connection.js";
import "./controls.js";
import { deviceCard, goneCard, isGone } from "./devices.js";
import { h, show } from "./dom.js";
import { drawFaults } from "./faults.js";
import { announce, ask, fail, noteDisplay } from "./news.js";
import {
  addDisplay, clear, contains, devices, groups, isPush, isTrouble, keepDevice, keepRecord, maximumKept, records, state,
} from "./state.js";
import { count, plural } from "./text.js";

const maximumShown = 200;
/** Cards that one drawing makes at most: so a long list comes in several short tasks. */
const maximumMade = 30;
/** The time between two drawings, in milliseconds, and while more than `few` requests come in a second. */
const calm = 250;
const busy = 1000;
const longest = 2000;
const few = 20;

const byID = (id) => document.getElementById(id);
let filter = "";
let isTroubleOnly = false;
let isPaused = false;
/** The requests that came during the pause. */
let held = 0;
/** The requests since the last drawing, and whether many come. */
let arrived = 0;
let isBusy = false;

// MARK: Drawing

let timer = null;
/** Whether a frame is drawn now. */
let isDrawing = false;
/** Whether something has changed since the last drawing began. */
let isChanged = false;
/** The end of the rest after the last drawing. */
let restUntil = 0;
/** The begin of the last drawing, and whether it has left out what the next one adds. */
let begun = 0;
let isComplete = true;

/** Draws soon. */
function redraw() {
  isChanged = true;
  if (timer === null && !isDrawing) timer = setTimeout(redrawNow, restUntil - performance.now());
}

/** Draws in the next frame, for what a person does. */
function redrawNow() {
  isChanged = true;
  clearTimeout(timer);
  timer = null;
  if (isDrawing) restUntil = 0;
  else requestAnimationFrame(draw);
  isDrawing = true;
}

/** Draws, and rests twenty times as long as that took: so drawing never takes the machine from what is tested. */
function draw() {
  const begin = performance.now();
  if (isComplete) {
    isBusy = arrived > few * Math.max(calm, begin - begun) / 1000;
    arrived = 0;
    begun = begin;
  }
  restUntil = begun + (isBusy ? busy : calm);
  isChanged = false;
  if (!waiting) for (const handle of newer.keys()) readDevice(handle);
  isComplete = [drawRecords(), drawDevices()].every(Boolean);
  drawFaults();
  announce();
  // After the frame, so that style, layout and painting count.
  setTimeout(() => {
    const end = performance.now();
    isDrawing = false;
    if (!isComplete) restUntil = 0;
    else if (restUntil > 0) restUntil = Math.max(restUntil, Math.min(end + 20 * (end - begin), end + longest));
    if (isChanged || !isComplete) redraw();
  });
}

/** The keys of what a list shows. */
const shownKeys = new WeakMap();

/** Shows entries, each `{ key, card }`, but makes only some of those that are new. Tells whether all are shown. */
function fill(list, entries, emptyText) {
  const before = shownKeys.get(list) ?? new Set();
  let made = 0;
  const now = entries.filter(({ key }) => before.has(key) || (made += 1) <= maximumMade);
  shownKeys.set(list, new Set(now.map(({ key }) => key)));
  show(list, now.length ? now.map(({ card }) => card()) : h("li.empty", { key: "empty" }, emptyText));
  return now.length === entries.length;
}

const emptyText = (isKnown, text) => (!state.isLoaded ? "Loading …" : isKnown ? "Nothing matches the filter." : text);

function drawRecords() {
  const found = [...groups.values()].filter((group) => (!isTroubleOnly || group.records.some(({ record }) => isTrouble(record)))
    && (!filter || group.records.some(({ record }) => contains(record, filter))));
  const shown = found.slice(-maximumShown).reverse();
  const isWhole = fill(byID("records"), shown.map((group) => ({ key: group.key, card: () => cardOf(group) })),
    emptyText(groups.size, "Nothing yet. Send a notification, and what the hub gets to see of it appears here."));
  const words = found.every((group) => isPush(group.records[0].record)) ? ["notification", "notifications"] : ["entry", "entries"];
  // More than are kept match only if all do.
  const isMore = records.size >= maximumKept && !filter && !isTroubleOnly;
  const total = isMore ? `${count(found.length)}+ ${words[1]}` : plural(found.length, ...words);
  byID("recordCount").textContent = [
    found.length && (shown.length < found.length ? `${shown.length} newest of ${total}` : total),
    isPaused && `paused, ${plural(held, "request")} since`,
  ].filter(Boolean).join(" · ");
  byID("recordsTab").textContent = found.length ? `Hub (${count(found.length)})` : "Hub";
  return isWhole;
}

/** A card is described once, until its group changes. */
function cardOf(group) {
  group.card ??= groupCard(group, (changed, isOpen) => {
    changed.isOpen = isOpen;
    changed.card = null;
    redrawNow();
  });
  return group.card;
}

const deviceCards = new WeakMap();

function cardOfDevice(device) {
  if (!deviceCards.has(device)) {
    deviceCards.set(device, deviceCard(device, (changed) => {
      deviceCards.delete(changed);
      redrawNow();
    }));
  }
  return deviceCards.get(device);
}

function drawDevices() {
  const found = [...devices.values()].filter((device) => !filter || contains(device, filter))
    .sort((a, b) => (b.Connected - a.Connected) || (a.Handle < b.Handle ? -1 : 1));
  const gone = found.filter(isGone);
  const kept = found.filter((device) => !isGone(device));
  const entries = kept.slice(0, maximumShown).map((device) => ({ key: device.Handle, card: () => cardOfDevice(device) }));
  if (gone.length) entries.push({ key: "gone", card: () => goneCard(gone, redrawNow) });
  const isWhole = fill(byID("devices"), entries,
    emptyText(devices.size, "No devices yet. They appear when they register or open their stream."));
  byID("deviceCount").textContent = kept.length > maximumShown ? `${maximumShown} of ${plural(kept.length, "device")}`
    : kept.length ? plural(kept.length, "device") : "";
  byID("devicesTab").textContent = kept.length ? `Devices (${count(kept.length)})` : "Devices";
  return isWhole;
}

// MARK: Asking

/** Changes that come while everything is loaded; they may be newer than what is loaded, so they follow it. */
let waiting = null;

async function load() {
  const mine = [];
  waiting = mine;
  newer.clear();
  try {
    const [all, known, faults] = await Promise.all(
      [`emulator/messages?Limit=${maximumKept}`, "emulator/devices", "emulator/faults"].map((path) => (
        fetch(path).then((answer) => answer.json()))));
    // A later load has begun.
    if (waiting !== mine) return;
    const opened = new Set([...groups.values()].filter((group) => group.isOpen).map((group) => group.key));
    clear();
    state.faults = faults;
    all.forEach(keepRecord);
    state.start = state.newest;
    for (const key of opened) if (groups.has(key)) groups.get(key).isOpen = true;
    known.forEach(keepDevice);
    state.isLoaded = true;
    held = 0;
  } catch {
    // The emulator is gone. When it is back, the stream opens again and everything is loaded.
  }
  if (waiting !== mine) return;
  waiting = null;
  for (const act of mine) act();
  redrawNow();
  loadConnection();
}

/** The newest state of devices by handle, in JSON. Each says all of a device, so only the last one is read. */
const newer = new Map();

function readDevice(handle) {
  if (newer.has(handle)) keepDevice(JSON.parse(newer.get(handle)));
  newer.delete(handle);
}

function addRecord(record) {
  if (!records.has(record.Sequence)) {
    arrived += 1;
    for (const fault of state.faults) if ((record.FaultIds ?? []).includes(fault.Id)) fault.Hits += 1;
  }
  const group = keepRecord(record);
  // Cards that come one by one may move.
  if (group.records.length === 1) group.isCalm = !isBusy && arrived <= 2;
  noteHub(record.Hub);
}

function listen() {
  const events = new EventSource("emulator/events");
  const on = (name, act, { isHeld = true } = {}) => events.addEventListener(name, (event) => {
    if (isHeld && isPaused) {
      if (name === "record") held += 1;
      return redraw();
    }
    const data = JSON.parse(event.data);
    if (waiting) return waiting.push(() => act(data));
    act(data);
    redraw();
  });
  on("record", addRecord);
  events.addEventListener("device", ({ data }) => {
    const handle = /"Handle":("(?:[^"\\]|\\.)*")/.exec(data)?.[1];
    if (!handle || isPaused) return;
    newer.set(JSON.parse(handle).toLowerCase(), data);
    redraw();
  });
  on("display", (display) => {
    readDevice(display.Handle.toLowerCase());
    addDisplay(display);
    noteDisplay();
  });
  on("faults", (faults) => { state.faults = faults; }, { isHeld: false });
  events.addEventListener("cleared", load);
  // The page was too slow: what it missed is loaded again, after a pause.
  events.addEventListener("dropped", () => { if (!isPaused) load(); });
  const connected = (isOn) => {
    byID("dot").classList.toggle("on", isOn);
    byID("state").textContent = isOn ? "live" : "not connected";
  };
  events.onopen = () => {
    connected(true);
    if (!isPaused) load();
  };
  events.onerror = () => connected(false);
}

// MARK: What a person does

byID("filter").addEventListener("input", (event) => {
  filter = event.target.value.trim().toLowerCase();
  redrawNow();
});

byID("warned").addEventListener("click", ({ currentTarget }) => {
  isTroubleOnly = !isTroubleOnly;
  currentTarget.setAttribute("aria-pressed", String(isTroubleOnly));
  redrawNow();
});
byID("pause").addEventListener("click", ({ currentTarget }) => {
  isPaused = !isPaused;
  held = 0;
  currentTarget.textContent = isPaused ? "Paused – go on" : "Pause";
  currentTarget.classList.toggle("on", isPaused);
  // What came meanwhile is loaded.
  if (isPaused) redrawNow();
  else load();
});
byID("clear").addEventListener("click", () => {
  fail("");
  byID("confirm").showModal();
});
byID("confirmCancel").addEventListener("click", () => byID("confirm").close());
byID("confirmClear").addEventListener("click", async () => {
  if (await ask("The record was not cleared", "emulator/messages", { method: "DELETE" })) byID("confirm").close();
});

byID("state").textContent = "connecting";
redrawNow();
listen();
