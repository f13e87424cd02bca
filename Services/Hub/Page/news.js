// What a screen reader is told: what has arrived, at most every 30 s, and what went wrong.
import { h, show } from "./dom.js";
import { isTrouble, records, state } from "./state.js";
import { count, plural } from "./text.js";

const interval = 30_000;
/** What arrives together is told together. */
const delay = 1000;
const byID = (id) => document.getElementById(id);

/** The newest request that was told, and when; null before the first one: what is there already does not arrive. */
let told = null;
let toldAt = -interval;
let shown = 0;
let timer = null;

export const noteDisplay = () => { shown += 1; };

/** Called whenever the lists are drawn. */
export function announce() {
  if (!state.isLoaded) return;
  // A record that begins anew has lower numbers or none.
  if (told === null || state.newest < told) told = state.start;
  if (timer !== null || (state.newest === told && !shown)) return;
  timer = setTimeout(speak, Math.max(delay, toldAt + interval - performance.now()));
}

function speak() {
  timer = null;
  toldAt = performance.now();
  const trouble = [...records.values()].filter(({ record }) => record.Sequence > told && isTrouble(record)).length;
  const news = [
    state.newest > told && plural(state.newest - told, "new request") + (trouble ? `, ${count(trouble)} with trouble` : ""),
    shown && `${plural(shown, "text")} shown by devices`,
  ].filter(Boolean);
  if (news.length) byID("announcer").textContent = `${news.join("; ")}.`;
  told = state.newest;
  shown = 0;
}

/** Says what has failed where a person looks: in the open dialogue or above the lists. No text: nothing has. */
export function fail(text) {
  for (const problem of document.querySelectorAll(".problem")) {
    const isHere = (problem.closest("dialog") ?? null) === document.querySelector("dialog[open]");
    show(problem, isHere && text && h("p", `✕ ${text}`));
  }
}

/**
 * A request to the emulator. What has failed is told, and the answer is null.
 *
 * @param {string} what the sentence's beginning, as `The record was not cleared`
 */
export async function ask(what, path, options) {
  try {
    const answer = await fetch(path, options);
    if (answer.ok) {
      fail("");
      return answer;
    }
    const problem = await answer.json().catch(() => ({}));
    fail(`${what}: ${problem.detail ?? `the emulator answers ${answer.status}.`}`);
  } catch {
    fail(`${what}: the emulator does not answer.`);
  }
  return null;
}
