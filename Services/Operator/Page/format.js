// Numbers, times and IDs for a person.
import { h } from "./dom.js";
import { remembered, remember } from "./api.js";

/** `12,345`; a dash if there is none. */
export const count = (value) => (value === undefined || value === null ? "–" : value.toLocaleString("en-US"));

/** With at most one decimal from 10 on, and two below. */
export const short = (value) => (
  value === undefined || value === null ? "–" : String(Number(value.toFixed(Math.abs(value) >= 10 ? 1 : 2))));

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** A share of a hundred; what is not nothing is not shown as nothing. */
export function percent(part, whole) {
  if (!whole) return "–";
  const share = part / whole * 100;
  if (part > 0 && share < 0.1) return "< 0.1 %";
  return `${share > 99.9 && part < whole ? "> 99.9" : Number(share.toFixed(1))} %`;
}

/** A number of seconds. */
export function span(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}

/** Milliseconds, in the unit that suits. */
export function milliseconds(value) {
  if (value === undefined || value === null) return "–";
  return value < 1000 ? `${short(value)} ms` : value < 120000 ? `${short(value / 1000)} s` : span(value / 1000);
}

/** The end of an ID: there, IDs of one second differ. */
export const shortID = (id) => `…${id.slice(-12)}`;

export const isID = (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

const digits = (number, length = 2) => String(number).padStart(length, "0");

/** `UTC+01:00`, at that time. */
function zone(date) {
  const minutes = -date.getTimezoneOffset();
  const rest = Math.abs(minutes);
  return minutes === 0 ? "UTC" : `UTC${minutes < 0 ? "-" : "+"}${digits(Math.floor(rest / 60))}:${digits(rest % 60)}`;
}

const localText = (date, isPrecise) => {
  const clock = `${digits(date.getHours())}:${digits(date.getMinutes())}:${digits(date.getSeconds())}`
    + (isPrecise ? `.${digits(date.getMilliseconds(), 3)}` : "");
  // Year first, as in ISO 8601: "12/11" is a day in November for some, and in December for others.
  const day = `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
  return date.toDateString() === new Date().toDateString() ? clock : `${day} ${clock}`;
};

export const isExact = () => remembered("times") === "exact";
export const switchTimes = () => remember("times", isExact() ? null : "exact");

/** What the switch of the times says: their zone, or that they are exact. */
export const timesLabel = () => (isExact() ? "Exact times in UTC" : `Times in ${zone(new Date())}`);

/** A time in the zone of the browser, or exactly as the server has it. */
export function time(iso, { isPrecise = false, withZone = false } = {}) {
  const date = new Date(iso ?? "");
  if (Number.isNaN(date.getTime())) return "–";
  const local = localText(date, isPrecise);
  const text = isExact() ? iso.replace("T", " ").replace("Z", " UTC") : withZone ? `${local} ${zone(date)}` : local;
  return h("time", { datetime: iso, title: isExact() ? `${local} ${zone(date)}` : iso }, text);
}

/** A pill: its sign says the same as its colour. */
export function pill(level, text) {
  const sign = { good: "✓ ", warn: "! ", bad: "✕ " }[level] ?? "";
  return h("span.pill", { class: level }, sign && h("span", { "aria-hidden": "true" }, sign), text);
}

/** A list of facts: pairs of a label and a value. */
export const facts = (pairs) => h("dl.facts", pairs.map(([label, value]) => (
  h("div", { key: label }, h("dt", label), h("dd", value)))));

/** The IDs of which this page has shown the short form. */
export const shown = new Set();

/** A link to a notification, by the short form of its ID. */
export function idLink(id) {
  if (shown.size > 10_000) shown.clear();
  shown.add(id);
  return h("a.id", { href: `/notifications/${id}`, key: id, title: id }, shortID(id));
}
