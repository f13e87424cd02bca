// What the emulator has told: the requests to the hub by notification, the devices, and the faults that are on.
import { pushIn, readable } from "./text.js";

export const maximumKept = 2000;

export const state = {
  /** Whether the emulator has answered once. */
  isLoaded: false,
  faults: [],
  /** The sequence of the newest request, and that of the last one that was there before; null for an empty record. */
  newest: null,
  start: null,
};
/** The requests by their sequence, the oldest first. */
export const records = new Map();
/**
 * The requests by notification: the pushes to all platforms, the reminders and the withdrawal of one ID are one group.
 * A request without an ID is alone. The group with the newest request is the last.
 */
export const groups = new Map();
/** By handle, in lower case. */
export const devices = new Map();

export const isPush = (record) => record.Kind !== "register" && record.Kind !== "unregister";

export const isTrouble = (record) => Boolean(record.Warnings.length || record.Fault || record.Outcome === "NoTargetFound"
  || Object.keys(record.Outcomes || {}).some((name) => name !== "Success"));

export function clear() {
  for (const map of [records, groups, devices]) map.clear();
  state.newest = null;
  state.start = null;
}

/** Keeps a request in place of its earlier state, and returns its group. */
export function keepRecord(record) {
  const push = isPush(record) ? pushIn(record.Body) : {};
  const key = push.id ? `id ${push.id} ${record.Tags || ""}` : `record ${record.Sequence}`;
  const group = groups.get(key) ?? { key, id: push.id ?? null, records: [] };
  const entry = { record, push, group };
  const old = records.get(record.Sequence);
  records.set(record.Sequence, entry);
  group.card = null;
  if (old) {
    group.records[group.records.indexOf(old)] = entry;
    return group;
  }
  group.records.push(entry);
  groups.delete(key);
  groups.set(key, group);
  state.start ??= record.Sequence - 1;
  state.newest = Math.max(state.newest, record.Sequence);
  if (records.size > maximumKept) dropOldest();
  return group;
}

function dropOldest() {
  const [sequence, { group }] = records.entries().next().value;
  records.delete(sequence);
  group.records.shift();
  group.card = null;
  if (!group.records.length) groups.delete(group.key);
}

export const keepDevice = (device) => devices.set(device.Handle.toLowerCase(), device);

export function addDisplay(display) {
  const device = devices.get(display.Handle.toLowerCase())
    ?? { Handle: display.Handle, Tags: [], Received: [], Displays: [], Connected: false, Waiting: false };
  // A text takes the place of an earlier one of the same notification.
  const others = device.Displays.filter((other) => (display.Id ? other.Id !== display.Id
    : other.Text !== display.Text || other.ShownAt !== display.ShownAt));
  keepDevice({ ...device, Displays: [...others, display] });
}

const texts = new WeakMap();

/** Whether a request or a device has a word in it, in lower case; of users also their readable names. */
export function contains(value, word) {
  let text = texts.get(value);
  if (text === undefined) {
    const tags = [value.Tags ?? ""].flat().join(" ");
    text = `${JSON.stringify(value)} ${readable(tags)}`.toLowerCase();
    texts.set(value, text);
  }
  return text.includes(word);
}
