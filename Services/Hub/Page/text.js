// Words for a person: times, numbers, the names of users and the IDs in pushes.
import { h } from "./dom.js";

export const count = (number) => number.toLocaleString("en-US");
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

export function time(iso, name = "time.time") {
  const date = new Date(iso ?? "");
  return Number.isNaN(date.getTime()) ? null
    : h(name, { datetime: iso, title: iso }, clock.format(date));
}

/** A push in the forms of SecurePush: its ID, and whether it is a withdrawal and has a signature (not checked here). */
export function pushIn(body) {
  const named = /"secureId"\s*:\s*"([^"]+)"/.exec(body);
  if (named) return { id: named[1], isWithdrawal: /"withdraw"\s*:\s*"1"/.test(body), isSigned: /"sig"\s*:\s*"/.test(body) };
  const raw = /^([0-9A-Za-z-]{1,64})( withdraw)?( [0-9]{1,12} [0-9A-Za-z_-]{86})?$/.exec(body.trim());
  return { id: raw && raw[1], isWithdrawal: Boolean(raw && raw[2]), isSigned: Boolean(raw && raw[3]) };
}

/**
 * The user of a tag, as a person reads it: in tags, each byte beyond `a-z 0-9 _ @ . : -` is `#` and two hexadecimal
 * digits, and of a long name there is only the hash, after `##` (reference page of push payloads).
 */
function nameIn(encoded) {
  if (encoded.startsWith("##")) return `hash ${encoded.slice(2, 10)}…`;
  try {
    return encoded.replace(/(#[0-9a-f]{2})+/gi, (bytes) => decodeURIComponent(bytes.replaceAll("#", "%")));
  } catch {
    return encoded;
  }
}

const userTag = /username:([a-z0-9_@.:#-]+)/gi;

/** A tag or an expression of tags with the names of users in it readable. */
export const readable = (tags) => tags.replace(userTag, (_, encoded) => `username:${nameIn(encoded)}`);

/** The user whom a device's tags name; nothing without one. */
export function userOf(device) {
  const tag = device.Tags.find((text) => /^username:/i.test(text));
  return tag ? nameIn(tag.slice(9)) : "";
}

/** The beginning of a text; a sentence says how long the whole is. */
export const beginning = (text, length) => (text.length <= length ? [text]
  : [text.slice(0, length), h("span.cut", `… ${plural(text.length, "character")}`)]);
