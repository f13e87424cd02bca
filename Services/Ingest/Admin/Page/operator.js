"use strict";
// Keeps the operator's page fresh, shows times in local time, and sends the actions that a person has confirmed.
const interval = 3000;
const byID = (id) => document.getElementById(id);
/** The HTML of each section as the server sent it, to replace only what has changed. */
const received = new Map();
let isPaused = false;
let failingSince = null;

/** Makes an element; text goes in as text and never as markup. */
function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Shows the times below an element in local time; the title keeps the exact one. */
function localise(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const iso = element.getAttribute("datetime");
    const date = new Date(iso);
    if (!iso || Number.isNaN(date.getTime())) continue;
    const isToday = date.toDateString() === new Date().toDateString();
    const milliseconds = element.classList.contains("precise") ? { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 } : {};
    const clock = date.toLocaleTimeString([], { hour12: false, ...milliseconds });
    // Year first, as in ISO 8601: "12/11" is a day in November for some, and in December for others.
    const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
    element.textContent = isToday ? clock : `${day} ${clock}`;
    element.title = iso;
  }
}

function announce(text) { byID("news").textContent = text; }

/** Replaces a section, and puts the focus back to where it was in it. */
function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const focusable = "a, button, input, [tabindex]";
  const place = focused ? [...old.querySelectorAll(focusable)].indexOf(focused) : -1;
  const scrolled = [...old.querySelectorAll(".scroll")].map((element) => element.scrollLeft);
  old.replaceChildren(...fresh.childNodes);
  localise(old);
  [...old.querySelectorAll(".scroll")].forEach((element, index) => { element.scrollLeft = scrolled[index] ?? 0; });
  if (place >= 0) old.querySelectorAll(focusable)[place]?.focus({ preventScroll: true });
}

async function refresh() {
  try {
    const response = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
    if (!response.ok) throw new Error(`ingest answers ${response.status}`);
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const section of fresh.querySelectorAll("[data-live]")) {
      const html = section.innerHTML;
      const old = byID(section.id);
      if (!old || received.get(section.id) === html) continue;
      received.set(section.id, html);
      replace(old, document.importNode(section, true));
    }
    if (failingSince) announce("The page is up to date again.");
    failingSince = null;
    byID("connection").hidden = true;
  } catch (error) {
    failingSince ??= new Date();
    byID("connection").textContent = `✕ This page is not up to date: no answer from ingest since `
      + `${failingSince.toLocaleTimeString([], { hour12: false })} (${error.message}).`;
    byID("connection").hidden = false;
  }
}

async function keepFresh() {
  for (;;) {
    await new Promise((done) => { setTimeout(done, interval); });
    if (isPaused || document.hidden || byID("dialog").open) continue;
    if (document.querySelector("[data-live]")) await refresh();
  }
}

async function post(path, body) {
  const response = await fetch(`/admin/api/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.detail || answer.title || `ingest answers ${response.status}`);
  return answer;
}

/** The request of a button, and what to ask before it is sent; null if nothing is selected. */
function plan(button) {
  const { action, platform, reason, window: span, count, selected, all } = button.dataset;
  if (action === "failures/resend") {
    return {
      action, body: { Platform: platform, Reason: reason, Window: span }, title: "Send again",
      text: `Send again what failed on ${platform} with the reason “${reason}”? `
        + `${count} ${count === "1" ? "notification is" : "notifications are"} listed; at most 500 are sent at once. `
        + "Every dead platform of a notification is tried again.",
    };
  }
  if (selected) {
    const ids = [...document.querySelectorAll("input[name=letter]:checked")].map((box) => box.value);
    if (ids.length === 0) return null;
    return {
      action, body: { Ids: [...new Set(ids)] }, title: "Replay dead letters",
      text: `Dispatch ${ids.length} selected dead ${ids.length === 1 ? "letter" : "letters"} again?`,
    };
  }
  if (all) {
    return {
      action, body: { All: true }, title: "Replay dead letters",
      text: `Dispatch all ${count} dead letters again? At most 1,000 are replayed at once.`,
    };
  }
  return { action, body: {}, title: "Send again", text: "Send this notification again to the platforms that failed?" };
}

const words = {
  Resent: "sent again", Settled: "not owed any more", Expired: "expired", Revoked: "revoked", Unreadable: "unreadable",
  Replayed: "replayed", Dropped: "dropped", Left: "left in the queue", NotFound: "not found",
};

/** The counts of an answer as a sentence. */
function summary(answer) {
  const parts = Object.entries(words).filter(([name]) => answer[name] > 0).map(([name, word]) => `${answer[name]} ${word}`);
  const end = answer.Failure ? `. The broker did not confirm the rest: ${answer.Failure}` : "";
  return `${parts.join(", ") || "Nothing was to be done"}${end}.${rest(answer)}`;
}

/** Whether another request gets further than this one. */
function leadsOn(answer) {
  return Boolean(answer.HasMore && !answer.Failure && (answer.Next || answer.Replayed > 0));
}

/** The next step of the operator, as a sentence after the counts. */
function rest(answer) {
  if (leadsOn(answer)) return " There may be more: go on.";
  if (!answer.HasMore || answer.Failure) return "";
  // Letters that cannot be replayed stay at the front of the queue. The page removes nothing.
  return " The letters behind them were not examined. First remove those that cannot be replayed, with "
    + "“securepush dead-letters replay --all --drop”.";
}

let planned = null;

function ask(button) {
  planned = plan(button);
  if (!planned) return announce("Nothing is selected.");
  byID("dialogTitle").textContent = planned.title;
  byID("dialogText").textContent = planned.text;
  byID("dialogResult").textContent = "";
  byID("dialogConfirm").hidden = false;
  byID("dialogConfirm").disabled = false;
  byID("dialogConfirm").textContent = "Confirm";
  byID("dialogCancel").textContent = "Cancel";
  byID("dialog").showModal();
  byID("dialogCancel").focus();
}

async function confirm() {
  const [button, current] = [byID("dialogConfirm"), planned];
  let [text, goesOn] = ["", false];
  button.disabled = true;
  byID("dialogResult").textContent = "Working …";
  try {
    const answer = await post(current.action, current.body);
    // The page lists only the front of the queue, so all letters that were selected were examined.
    if (current.body.Ids) answer.HasMore = false;
    text = summary(answer);
    goesOn = leadsOn(answer);
    // The next request begins where this one ended. It would examine the same notifications again otherwise.
    if (answer.Next) current.body.Before = answer.Next;
  } catch (error) {
    text = `✕ It was not done: ${error.message}`;
  }
  current.isSent = true;
  // The dialog may have been closed meanwhile, and opened for something else.
  if (current !== planned) return announce(text);
  byID("dialogResult").textContent = text;
  button.hidden = !goesOn;
  button.disabled = false;
  button.textContent = "Go on";
  byID("dialogCancel").textContent = "Close";
  byID("dialogCancel").focus();
}

/** Shows the newest notifications of a recipient. The name is in the body: it never appears in a URL or a log. */
async function search(term, before) {
  const rows = byID("foundRows");
  byID("found").hidden = false;
  byID("foundTitle").textContent = `Notifications to ${term}`;
  try {
    const answer = await post("notifications/search", before ? { Recipient: term, Before: before } : { Recipient: term });
    const list = make("ul", "groups");
    for (const item of answer.Notifications) {
      const link = make("a", "", item.Id);
      link.href = `/notifications/${item.Id}`;
      const time = make("time");
      time.setAttribute("datetime", item.CreatedAt);
      list.append(make("li", "", make("span", "pill", item.Status), " ", link, make("p", "quiet", time, ` from ${item.Sender}`)));
    }
    rows.replaceChildren(answer.Notifications.length ? list : make("p", "quiet", "There are none."));
    if (answer.Next) {
      const more = make("button", "", "Older");
      more.type = "button";
      more.addEventListener("click", () => search(term, answer.Next));
      rows.append(more);
    }
    localise(rows);
    announce(`${answer.Notifications.length} notifications found.`);
  } catch (error) {
    rows.replaceChildren(make("p", "", `✕ ${error.message}`));
  }
  byID("found").focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-action]");
  if (button) ask(button);
});
byID("dialogCancel").addEventListener("click", () => byID("dialog").close());
byID("dialogConfirm").addEventListener("click", confirm);
byID("dialog").addEventListener("close", () => {
  if (document.querySelector("[data-live]")) refresh();
  else if (planned?.isSent) location.reload();
});
byID("pause")?.addEventListener("click", () => {
  isPaused = !isPaused;
  byID("pause").setAttribute("aria-pressed", String(isPaused));
  if (!isPaused) refresh();
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && !isPaused) refresh(); });
byID("search").hidden = false;
byID("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const term = byID("term").value.trim();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(term)) location.assign(`/notifications/${term.toLowerCase()}`);
  else if (term) search(term);
});
for (const section of document.querySelectorAll("[data-live]")) received.set(section.id, section.innerHTML);
localise(document);
keepFresh();
