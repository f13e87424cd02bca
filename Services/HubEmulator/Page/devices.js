/** What a person has folded or unfolded, by handle; a device without a choice is folded while it is off. */
const unfolded = new Map();

/** The frame of a device: phones of two makes, a desktop and a browser. */
function frameOf(platform) {
  if (platform === "windows" || platform === "windowsphone") return "desktop";
  if (platform === "browser") return "browser";
  return ["fcmv1", "gcm", "adm", "baidu", "xiaomi"].includes(platform) ? "android" : "iphone";
}

function note(display) {
  const isPrompt = display.Kind === "prompt";
  const element = make("li", "note" + (isPrompt ? " prompt" : ""),
    make("div", "from", make("span", "", isPrompt ? "Generic text" : "Fetched"),
      make("time", "", time(display.ShownAt))),
    make("div", "text", display.Text));
  watch(element, display.Id || null);
  return element;
}

/** What a device shows: what it says it shows, or else what it got. */
function screen(device, frame) {
  const list = make("ul", "notes");
  for (const display of device.Displays.slice(-6).reverse()) list.append(note(display));
  const element = make("div", "screen");
  element.dataset.name = "Screen of " + (nameOf(device) || device.Handle.slice(-12));
  if (frame === "iphone") element.append(make("div", "island"));
  if (frame === "android") element.append(make("div", "camera"));
  if (device.Displays.length) element.append(list);
  else {
    const got = device.Received.length ? "Woken " + plural(device.Received.length, "time") + ". Shows nothing." : "Nothing shown yet";
    element.append(make("p", "note quiet", device.Connected ? got : device.Waiting ? "Off. One push waits." : "Off"));
  }
  return element;
}

/** The device's body around its screen, drawn by the style sheet only. */
function drawing(device) {
  const frame = frameOf(device.Platform);
  const body = make("div", "body " + frame);
  if (frame === "browser" || frame === "desktop") {
    const bar = make("div", "bar", make("i"), make("i"), make("i"));
    if (frame === "browser") bar.append(make("span", "address"));
    bar.setAttribute("aria-hidden", "true");
    body.append(bar);
  }
  body.append(screen(device, frame));
  if (frame !== "desktop") return body;
  const foot = make("div", "foot");
  foot.setAttribute("aria-hidden", "true");
  return make("div", "", body, foot);
}

/** The user of a device, as its tag names it; nothing without one. */
function nameOf(device) {
  const user = device.Tags.find((tag) => tag.toLowerCase().startsWith("username:"));
  return user ? user.slice(9) : "";
}

function deviceCard(device) {
  const user = nameOf(device);
  const name = user || "Device";
  const state = device.Connected ? "on" : device.Waiting ? "off, a push waits" : "off";
  const summary = make("summary", "name", make("span", device.Connected ? "dot on" : "dot"), make("b", "", name),
    make("span", "pill platform", device.Platform || "?"), make("span", "count", state));
  const fold = make("details", "fold", summary, drawing(device));
  fold.open = unfolded.has(device.Handle) ? unfolded.get(device.Handle) : device.Connected;
  fold.dataset.key = "fold " + device.Handle;
  fold.dataset.fold = "device";
  summary.addEventListener("click", () => unfolded.set(device.Handle, !fold.open));
  fold.append(make("div", "handle", device.Handle.length > 44 ? device.Handle.slice(0, 42) + "…" : device.Handle));
  if (device.Received.length) {
    const raw = make("details", "", make("summary", "", "Received raw (" + device.Received.length + ")"));
    raw.dataset.key = "raw " + device.Handle;
    for (const push of device.Received.slice().reverse()) raw.append(withMark(push.Body, idIn(push.Body)));
    fold.append(raw);
  }
  const card = make("li", "device" + (device.Connected ? "" : " off"), fold);
  card.setAttribute("aria-label", "Device " + (user ? "of " + name : device.Handle) + ", " + state);
  card.dataset.ids = device.Received.map((push) => idIn(push.Body) || "").join(" ");
  return card;
}
