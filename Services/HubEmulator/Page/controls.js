/** Changes that come while everything is loaded; they may be newer than what is loaded, so they follow it. */
let waiting = null;

async function load() {
  const mine = [];
  waiting = mine;
  try {
    const [crossed, known, on] = await Promise.all(
      ["emulator/messages?Limit=" + maximumKept, "emulator/devices", "emulator/faults"].map((path) =>
        fetch(path).then((answer) => answer.json())));
    // A later load has begun.
    if (waiting !== mine) return;
    records.clear();
    devices.clear();
    faults = on;
    crossed.forEach(keepRecord);
    known.forEach(keepDevice);
  } catch {
    // The emulator is gone. When it is back, the stream opens again and everything is loaded.
  }
  if (waiting !== mine) return;
  waiting = null;
  for (const act of mine) act();
  redraw();
  loadConnection().catch(() => {});
}

function listen() {
  const events = new EventSource("emulator/events");
  const on = (name, act) => events.addEventListener(name, (event) => {
    const data = JSON.parse(event.data);
    if (waiting) return waiting.push(() => act(data));
    act(data);
    redraw();
  });
  on("record", addRecord);
  on("device", (device) => { if (device) keepDevice(device); });
  on("display", addDisplay);
  on("faults", (all) => { faults = all; });
  events.addEventListener("cleared", load);
  // The page was too slow: what it missed is loaded again.
  events.addEventListener("dropped", load);
  events.onopen = () => {
    byID("dot").classList.add("on");
    byID("state").textContent = "live";
    load();
  };
  events.onerror = () => {
    byID("dot").classList.remove("on");
    byID("state").textContent = "not connected";
  };
}

/** Switches a fault on; what is wrong with it is shown. */
async function addFault(fault) {
  const answer = await fetch("emulator/faults", { method: "POST", body: JSON.stringify(fault) });
  const problem = byID("problem");
  problem.hidden = answer.ok;
  if (!answer.ok) {
    const told = await answer.json();
    const members = (told.errors || []).map((error) => error.pointer.slice(1) + " " + error.detail);
    problem.textContent = members.join("; ") || told.detail || "This fault cannot be switched on.";
  }
  return answer.ok;
}

/** The fault that the form describes. */
function faultOfForm(form) {
  const numbers = ["Status", "RetryAfter", "TimeoutMs", "LatencyMs", "Rate", "Count"];
  const fault = {};
  for (const [name, value] of new FormData(form)) {
    const label = form.elements[name].closest("label");
    if (value === "" || name === "Effect" || label.hidden) continue;
    fault[name] = numbers.includes(name) ? Number(value) : name === "Accept" ? true : value;
  }
  if (form.elements.Effect.value === "reset") fault.Reset = true;
  if (form.elements.Effect.value === "swallow") fault.Swallow = true;
  return fault;
}

/** Shows only the members that belong to the chosen effect. */
function showMembers() {
  for (const label of document.querySelectorAll("label[data-for]")) {
    label.hidden = !label.dataset.for.split(" ").includes(byID("effect").value);
  }
}

function toggle(id, act) {
  byID(id).addEventListener("click", (event) => {
    const isOn = event.target.getAttribute("aria-pressed") !== "true";
    event.target.setAttribute("aria-pressed", String(isOn));
    act(isOn);
    redraw();
  });
}

// On a phone the two lists are tabs (ARIA Authoring Practices: arrow keys move between tabs).
const tabs = ["records", "devices"];
const isPhone = matchMedia("(max-width: 600px)");
let selectedTab = "records";

function showTabs() {
  for (const name of tabs) {
    const [tab, panel] = [byID(name + "Tab"), byID(name + "Panel")];
    const isSelected = name === selectedTab;
    tab.setAttribute("aria-selected", String(isSelected));
    tab.tabIndex = isSelected ? 0 : -1;
    panel.hidden = isPhone.matches && !isSelected;
    if (isPhone.matches) panel.setAttribute("role", "tabpanel");
    else panel.removeAttribute("role");
  }
}

for (const name of tabs) {
  byID(name + "Tab").addEventListener("click", () => {
    selectedTab = name;
    showTabs();
  });
}
byID("tabs").addEventListener("keydown", (event) => {
  const to = { ArrowLeft: -1, ArrowRight: 1, Home: -2, End: 2 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const index = (Math.abs(to) === 2 ? (to < 0 ? 0 : 1) : tabs.indexOf(selectedTab) + to + tabs.length) % tabs.length;
  selectedTab = tabs[index];
  showTabs();
  byID(selectedTab + "Tab").focus();
});
isPhone.addEventListener("change", showTabs);
addEventListener("resize", markScrolling);

byID("filter").addEventListener("input", (event) => {
  wordFilter = event.target.value.trim().toLowerCase();
  redraw();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, select")) return;
  event.preventDefault();
  byID("filter").focus();
});
toggle("warned", (isOn) => { onlyTrouble = isOn; });
toggle("pause", (isOn) => { isPaused = isOn; });
byID("clear").addEventListener("click", () => fetch("emulator/messages", { method: "DELETE" }));
byID("faultsButton").addEventListener("click", () => byID("dialog").showModal());
byID("dialogClose").addEventListener("click", () => byID("dialog").close());
byID("faultsOff").addEventListener("click", () => fetch("emulator/faults", { method: "DELETE" }));
byID("effect").addEventListener("change", showMembers);
byID("faultForm").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await addFault(faultOfForm(event.target))) byID("dialog").close();
});
for (const [name, options] of [["Platform", platforms], ["Operation", operations], ["Outcome", outcomes]]) {
  for (const option of options) document.querySelector("select[name=" + name + "]").append(make("option", "", option));
}
for (const [name, fault] of presets) {
  const button = make("button", "", name);
  button.type = "button";
  button.addEventListener("click", async () => { if (await addFault(fault)) byID("dialog").close(); });
  byID("presets").append(button);
}
showMembers();
showTabs();
draw();
listen();
