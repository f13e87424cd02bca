// The right list: each device drawn with what it shows.
import { fold, idIn, withMark } from "./cards.js";
import { h } from "./dom.js";
import { beginning, plural, time, userOf } from "./text.js";

/** What a person has folded or unfolded, by handle; a device without a choice is folded while it is off. */
const unfolded = new Map();
/** The handles of the devices whose pushes are shown as they came. */
const raw = new Set();

/** Shown of one device: its newest texts, each to this many characters. */
const maximumNotes = 6;
const maximumText = 1000;
const maximumGone = 200;

/** The frame of a device: phones of two makes, a desktop and a browser. */
function frameOf(platform) {
  if (platform === "windows" || platform === "windowsphone") return "desktop";
  if (platform === "browser") return "browser";
  return ["fcmv1", "gcm", "adm", "baidu", "xiaomi"].includes(platform) ? "android" : "iphone";
}

function note(display) {
  const isPrompt = display.Kind === "prompt";
  return h("li.note", { key: `${display.Id} ${display.ShownAt}`, "data-id": display.Id, class: isPrompt && "prompt" },
    h("div.from", h("span", isPrompt ? "Generic text" : "Fetched"), time(display.ShownAt, "time")),
    h("div.text", { dir: "auto" }, beginning(display.Text, maximumText)));
}

/** What a device shows: what it says it shows, or else what it got. */
function screen(device, frame) {
  const got = device.Received.length ? `Woken ${plural(device.Received.length, "time")}. Shows nothing.` : "Nothing shown yet";
  return h("div.screen",
    frame === "iphone" && h("div.island"),
    frame === "android" && h("div.camera"),
    device.Displays.length ? h("ul.notes", device.Displays.slice(-maximumNotes).reverse().map(note))
      : h("p.note.quiet", device.Connected ? got : device.Waiting ? "Off. One push waits." : "Off"));
}

/** The device's body around its screen, drawn by the style sheet only. */
function drawing(device) {
  const frame = frameOf(device.Platform);
  const bar = ["browser", "desktop"].includes(frame)
    && h("div.bar", { "aria-hidden": "true" }, h("i"), h("i"), h("i"), frame === "browser" && h("span.address"));
  return [h("div.body", { class: frame }, bar, screen(device, frame)), frame === "desktop" && h("div.foot", { "aria-hidden": "true" })];
}

/** Off and without a registration: nothing reaches it. */
export const isGone = (device) => device.Registered === false && !device.Connected && !device.Waiting;

const beginOf = ({ Handle }) => (Handle.length > 44 ? `${Handle.slice(0, 42)}…` : Handle);

/** The end of a handle: the beginnings are often alike. */
const shortHandle = (device) => `…${device.Handle.slice(-8)}`;

/** The card of a device; `redraw` is called when a person folds a part of it. */
export function deviceCard(device, redraw) {
  const key = device.Handle;
  const user = userOf(device);
  const isUnregistered = device.Registered === false;
  const name = user || shortHandle(device);
  const status = device.Connected ? "on" : device.Waiting ? "off, a push waits" : "off";
  const isOpen = unfolded.get(key) ?? device.Connected;
  const isRaw = raw.has(key);
  return h("li.device", {
    key, class: !device.Connected && "off", "aria-label": `Device ${user ? `of ${user}` : name}, ${status}`,
    "data-ids": device.Received.map((push) => idIn(push.Body) ?? "").join(" "),
  }, h("details.fold", fold(isOpen, (open) => {
    unfolded.set(key, open);
    redraw(device);
  }),
    h("summary.name", h("span.dot", { class: device.Connected && "on" }),
      h("b", { title: user ? device.Tags.join(" ") : device.Handle }, h("bdi", name)),
      device.Platform && h("span.pill.platform", device.Platform), h("span.count", status)),
    isOpen && [
      drawing(device),
      isUnregistered && h("p.cut", "It has no registration: the emulator has started anew, or it has unregistered. ",
        "Pushes reach it once it registers."),
      h("div.handle", { title: device.Handle }, beginOf(device)),
      device.Received.length > 0 && h("details", fold(isRaw, (open) => {
        raw[open ? "add" : "delete"](key);
        redraw(device);
      }), h("summary", `Received raw (${device.Received.length})`, h("span.visually-hidden", ` by ${name}`)),
      isRaw && device.Received.slice().reverse().map((push) => withMark(push.Body, idIn(push.Body)))),
    ]));
}

let isGoneOpen = false;

/** Devices that are gone, in one line. */
export const goneCard = (all, redraw) => h("li.gone", { key: "gone" }, h("details", fold(isGoneOpen, (open) => {
  isGoneOpen = open;
  redraw();
}), h("summary", `${plural(all.length, "device")} that ${all.length === 1 ? "is" : "are"} off and without a registration`),
isGoneOpen && h("ul", all.slice(0, maximumGone).map((device) => h("li", { key: device.Handle },
  device.Platform && h("span.pill.platform", device.Platform), " ", h("span.handle", { title: device.Handle }, beginOf(device))))),
isGoneOpen && all.length > maximumGone && h("p.cut", plural(all.length - maximumGone, "more device"))));
