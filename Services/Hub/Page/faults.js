// The faults that are on, and the dialogue that switches one on.
import { h, show } from "./dom.js";
import { ask, fail } from "./news.js";
import { state } from "./state.js";
import { plural } from "./text.js";

const byID = (id) => document.getElementById(id);
const form = byID("faultForm");

const choices = {
  Platform: ["apple", "fcmv1", "gcm", "windows", "windowsphone", "adm", "baidu", "browser", "xiaomi", "template"],
  Operation: ["send", "direct", "batch", "schedule", "cancel", "register", "installation", "hub", "telemetry"],
  Outcome: ["BadChannel", "ExpiredChannel", "Dropped", "Throttled", "WrongToken", "InvalidCredentials", "PnsUnavailable",
    "PnsUnreachable", "PnsServerError", "AbandonedNotificationMessages", "UnknownError"],
};
const presets = [
  ["503 for 10 s", { Status: 503, For: "10s" }], ["429, Retry-After 5", { Status: 429, RetryAfter: 5, Count: 1 }],
  ["Lose 10 %", { Swallow: true, Rate: 0.1 }], ["Cut after accepting, 20 %", { Reset: true, Accept: true, Rate: 0.2 }],
  ["Slow, 2 s", { LatencyMs: 2000, For: "30s" }], ["Expired handles", { Outcome: "ExpiredChannel", For: "30s" }],
];
const numbers = ["Status", "RetryAfter", "TimeoutMs", "LatencyMs", "Rate", "Count"];

export function drawFaults() {
  byID("faultsButton").textContent = state.faults.length ? `Faults (${state.faults.length})` : "Faults";
  byID("faults").hidden = !state.faults.length;
  show(byID("faultList"), state.faults.map((fault) => h("li.chip", { key: fault.Id }, h("b", effect(fault)), scope(fault),
    h("button", {
      type: "button", "aria-label": `Switch off ${effect(fault)}`,
      onclick: () => ask("The fault was not switched off", `emulator/faults/${fault.Id}`, { method: "DELETE" }),
    }, "✕"))));
}

/** What a fault does. */
function effect(fault) {
  const words = [];
  if (fault.LatencyMs) words.push(`${fault.LatencyMs} ms late`);
  if (fault.Tier) words.push(`throttle like ${fault.Tier}`);
  else if (fault.Status) words.push(fault.Status + (fault.RetryAfter !== undefined ? `, Retry-After ${fault.RetryAfter}` : ""));
  if (fault.Reset) words.push("cut");
  if (fault.TimeoutMs) words.push(`silent ${fault.TimeoutMs} ms`);
  if (fault.Swallow) words.push("lost");
  if (fault.Outcome) words.push(fault.Outcome);
  return words.join(" and ") + (fault.Accept ? " after accepting" : "");
}

/** Which requests it is for, and how often it has hit. */
function scope(fault) {
  const words = [fault.Platform || "every platform"];
  if (fault.Operation) words.push(fault.Operation);
  if (fault.Tag) words.push(fault.Tag);
  if (fault.Rate < 1) words.push(`${Math.round(fault.Rate * 100)} %`);
  if (fault.Count !== undefined) words.push(`${fault.Count} left`);
  if (fault.ForMs) words.push(`for ${fault.ForMs / 1000} s`);
  words.push(plural(fault.Hits, "hit"));
  return words.join(" · ");
}

/** Shows only the members that belong to the chosen effect. */
function showMembers() {
  const chosen = form.elements.Effect.value;
  for (const label of form.querySelectorAll("label[data-for]")) label.hidden = !label.dataset.for.split(" ").includes(chosen);
  // Only to delay, for no time, would be nothing.
  form.elements.LatencyMs.required = chosen === "delay";
  form.elements.LatencyMs.min = chosen === "delay" ? 1 : 0;
}

/** The fault that the form describes. */
function faultOfForm() {
  const fault = {};
  for (const [name, value] of new FormData(form)) {
    if (value === "" || name === "Effect" || form.elements[name].closest("label").hidden) continue;
    fault[name] = numbers.includes(name) ? Number(value) : name === "Accept" ? true : value;
  }
  if (form.elements.Effect.value === "reset") fault.Reset = true;
  if (form.elements.Effect.value === "swallow") fault.Swallow = true;
  return fault;
}

function forgetMistakes() {
  fail("");
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
}

/** Marks the fields that the emulator refuses, by the names that the form has for them. */
function showMistakes(errors) {
  const sentences = errors.map(({ pointer, detail }) => {
    const field = form.elements[pointer.slice(1)];
    if (!field) return detail;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", "faultProblem");
    return `${field.closest("label").firstChild.data.trim()}: ${detail}`;
  });
  fail(sentences.join(" "));
  form.querySelector("[aria-invalid]")?.focus();
}

/** Switches a fault on; what is wrong with it is shown. */
async function addFault(fault) {
  forgetMistakes();
  const what = "The fault was not switched on";
  const answer = await fetch("emulator/faults", { method: "POST", body: JSON.stringify(fault) }).catch(() => null);
  if (answer?.ok) return byID("dialog").close();
  const problem = await answer?.json().catch(() => ({}));
  if (problem?.errors?.length) showMistakes(problem.errors);
  else fail(`${what}: ${problem?.detail ?? "the emulator does not answer."}`);
}

for (const [name, options] of Object.entries(choices)) {
  for (const option of options) form.elements[name].append(new Option(option));
}
show(byID("presets"), presets.map(([name, fault]) => h("button", { type: "button", onclick: () => addFault(fault) }, name)));
byID("faultsButton").addEventListener("click", () => {
  forgetMistakes();
  byID("dialog").showModal();
});
byID("dialogClose").addEventListener("click", () => byID("dialog").close());
byID("faultsOff").addEventListener("click", () => ask("The faults were not switched off", "emulator/faults", { method: "DELETE" }));
form.addEventListener("change", showMembers);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  addFault(faultOfForm());
});
showMembers();
