// The operator's page: the views by address, and the requests that each view repeats.
import { Failure, get, remember, remembered } from "./api.js";
import { app, heading, markScrolling, spans, tell } from "./app.js";
import { joined } from "./charts.js";
import { deadLetters } from "./dead-letters.js";
import { focusOn, h, show } from "./dom.js";
import { time } from "./format.js";
import { notification } from "./notification.js";
import { overview } from "./overview.js";
import { close, find, search } from "./search.js";

const interval = 3000;
const byID = (id) => document.getElementById(id);

const unknown = {
  enter() {},
  title: () => "No such page",
  view: () => [heading("No such page", { polls: false }), h("div.card", { key: "none" },
    h("p", "This page has nothing at ", h("code", location.pathname), "."),
    h("p.quiet", "The field above finds notifications by their ID, or by their recipient."),
    h("p", h("a.back", { href: "/" }, "Back to the overview")))],
};

function pageAt(path) {
  if (path === "/") return overview;
  if (path === "/dead-letters") return deadLetters;
  if (path === "/search") return search;
  return path.startsWith("/notifications/") ? notification : unknown;
}

let page = unknown;
/** Whether the page has read what it reads only once. */
let isLoaded = false;
/** Counts the visits: an answer to an earlier one is not shown. */
let visit = 0;
let isAsking = false;
/** What a screen reader was told of the state last. */
let toldState = null;

// MARK: Showing

app.redraw = () => {
  const troubles = app.overview?.Troubles ?? [];
  show(byID("alert"), alert());
  show(byID("state"), banner(troubles));
  byID("state").hidden = !byID("state").firstChild;
  show(byID("main"), page.view());
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  nameTab(troubles);
  markScrolling();
};

function alert() {
  if (!app.outage) return null;
  if (app.outage.login) {
    return h("p.banner.bad", { key: "login" }, h("b", "✕ Log in again."), " The password has changed, or the browser has forgotten it. ",
      h("button.small", { key: "reload", type: "button", onclick: () => location.reload() }, "Reload"));
  }
  if (app.outage.until) {
    return h("p.banner.warn", { key: "limit" }, h("b", "! Not up to date:"), " the service limits the requests of this address. ",
      "This page asks again at ", time(app.outage.until), ".");
  }
  return h("p.banner.bad", { key: "outage" }, h("b", "✕ This page is not up to date"), " since ", time(app.outage.since),
    `: ${app.outage.text}. It asks again every 3 s.`);
}

const sections = {
  funnel: "From sender to reader", outbox: "Now", lanes: "Lanes", pushServices: "Push services", genericTexts: "Devices that show the generic text", queues: "Queues", failures: "Failures", processes: "Processes",
  latencies: "Latencies",
};
const mostTroubles = 6;

/** The state of the system, worst first. */
function banner(troubles) {
  if (!app.overview) return null;
  if (!troubles.length) return page === overview && h("p.banner.good", { key: "good" }, h("b", "✓ All is well."), " Every source answers.");
  const seen = new Map();
  const line = (trouble, isFirst) => [
    h("span", { "aria-hidden": "true" }, trouble.Level === "bad" ? "✕ " : "! "), isFirst ? h("b", trouble.Text) : trouble.Text,
    trouble.Since && h("span.since", " Since ", time(trouble.Since), "."), " ",
    sections[trouble.Section] && h("a", { href: `/#${trouble.Section}` }, sections[trouble.Section]),
  ];
  const shown = page === overview ? troubles.slice(0, mostTroubles) : troubles.slice(0, 1);
  const rest = troubles.length - shown.length;
  return h("ul.banner.troubles", { key: "bad", class: troubles[0].Level },
    shown.map((trouble, index) => h("li", {
      key: keyOf(trouble, seen), class: trouble.Level,
    }, line(trouble, index === 0),
      index === shown.length - 1 && rest > 0 && h("span.since", ` And ${rest} more.`))));
}

/** What a trouble is, without the numbers that change while it lasts: its line, and the focus in it, stay. */
const kindOf = (trouble) => `${trouble.Level} ${trouble.Kind} ${trouble.Short.replace(/[\d,]+/g, "")}`;

function keyOf(trouble, seen) {
  const kind = kindOf(trouble);
  seen.set(kind, (seen.get(kind) ?? 0) + 1);
  return `${kind} ${seen.get(kind)}`;
}

/** The title and the icon show the state, also in a tab that is not in front. */
function nameTab(troubles) {
  const worst = troubles[0];
  const level = app.outage ? "bad" : worst?.Level ?? "good";
  const state = app.outage?.login ? "✕ Log in again" : app.outage ? "✕ Not up to date"
    : worst ? `${level === "bad" ? "✕" : "!"} ${worst.Short}` : null;
  const own = page.title();
  const title = page === overview ? state ?? "Overview" : own ?? "Loading …";
  document.title = `${page !== overview && app.outage ? `${state} · ` : ""}${title} · SecurePush`;
  const icon = `/icon-${level}.svg`;
  if (byID("icon").getAttribute("href") !== icon) byID("icon").setAttribute("href", icon);
}

/** A change for the better or the worse is told once. */
function tellState() {
  const worst = app.overview.Troubles?.[0];
  const state = worst ? kindOf(worst) : "good";
  if (toldState !== null && state !== toldState) tell(worst ? worst.Text : "All is well.");
  toldState = state;
}

// MARK: Asking

async function askOverview() {
  const asked = app.span;
  // The last point of all: a poll that the service had not finished comes with the next answer.
  const last = [...app.points.values()].map((points) => points.At.at(-1) ?? "").sort()[0];
  const after = last ? `&After=${last}` : "";
  const answer = await get(`overview?Window=${asked}${after}`);
  if (asked !== app.span) return;
  for (const latency of answer.Latencies) {
    app.points.set(latency.Name, joined(app.points.get(latency.Name), latency.Points));
    delete latency.Points;
  }
  app.overview = answer;
  tellState();
}

/** Asks for the state, and for what the page shows; what only one visit reads is read once, or on request. */
app.refresh = async ({ all = false } = {}) => {
  if (app.outage?.login || (app.outage?.until && Date.parse(app.outage.until) > Date.now())) return;
  const mine = visit;
  const reads = page.load && (page.polls || !isLoaded || all);
  isLoaded = true;
  const results = await Promise.allSettled([askOverview(), reads ? page.load() : null]);
  const failed = results.map((result) => result.reason).filter(Boolean);
  if (failed.length) {
    if (reads && results[1].reason && mine === visit) isLoaded = false;
    // Log in before all: it needs a person.
    app.fail(failed.find((error) => error.status === 401) ?? failed[0]);
  } else if (app.outage && !app.outage.login) {
    app.outage = null;
    tell("The page is up to date again.");
  }
  app.redraw();
};

app.fail = (error) => {
  if (!(error instanceof Failure)) console.error(error);
  if (error.status === 401) app.outage = { login: true };
  else if (error.status === 429) app.outage = { until: new Date(Date.now() + Math.max(1, error.retryAfter) * 1000).toISOString() };
  else app.outage = { since: app.outage?.since ?? new Date().toISOString(), text: error.message };
};

async function keepFresh() {
  for (;;) {
    await new Promise((done) => { setTimeout(done, interval); });
    if (!app.isPaused && !document.hidden && !byID("dialog").open) await ask();
  }
}

/** One round at a time: a slow answer is not asked for again meanwhile. */
async function ask() {
  if (isAsking) return;
  isAsking = true;
  try {
    await app.refresh();
  } finally {
    isAsking = false;
  }
}

app.pause = () => {
  app.isPaused = !app.isPaused;
  remember("pause", app.isPaused ? "on" : null);
  app.redraw();
  if (!app.isPaused) ask();
};

// MARK: Addresses

/** Shows what the address names. */
async function enter({ isFirst = false, scroll = 0 } = {}) {
  const before = page;
  page = pageAt(location.pathname);
  visit += 1;
  isLoaded = false;
  chooseSpan();
  page.enter(location.pathname, history.state);
  if (page !== search) byID("term").value = "";
  else byID("term").value = history.state?.term ?? "";
  app.redraw();
  const section = page === overview && location.hash ? location.hash.slice(1) : null;
  const arrive = () => {
    const heading = section ? byID(`${section}Title`) : byID("main").querySelector("h1");
    if (section && heading) {
      heading.scrollIntoView({ block: "start" });
      focusOn(heading);
    } else {
      if (!isFirst) focusOn(heading);
      scrollTo(0, scroll);
    }
  };
  arrive();
  const mine = visit;
  await app.refresh();
  // What was loaded may have made room for the place that was read, and the heading may be another now.
  if (mine === visit && (before !== page || scroll || section) && (scroll || section)) arrive();
}

/** The time span of the address, or else the one that was chosen last. */
function chooseSpan() {
  const asked = new URLSearchParams(location.search).get("Window") ?? remembered("span");
  const span = spans.some(([name]) => name === asked) ? asked : "1h";
  if (span !== app.span) overview.enter();
  app.span = span;
  if (location.pathname === "/") remember("span", span);
}

app.go = (address, state = {}) => {
  history.pushState({ ...state, hasFormer: true }, "", address);
  enter();
};

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.origin !== location.origin) return;
  event.preventDefault();
  if (link.classList.contains("skip")) return byID("main").focus();
  app.go(link.pathname + link.search + link.hash);
});
history.scrollRestoration = "manual";
addEventListener("popstate", () => enter({ scroll: history.state?.y ?? 0 }));
let scrolling = null;
addEventListener("scroll", () => {
  clearTimeout(scrolling);
  scrolling = setTimeout(() => history.replaceState({ ...history.state, y: scrollY }, ""), 200);
});
addEventListener("resize", markScrolling);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && page === search && !byID("dialog").open && !event.target.value) close();
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && !app.isPaused) ask(); });
byID("search").addEventListener("submit", (event) => {
  event.preventDefault();
  find(byID("term").value);
});
app.isPaused = remembered("pause") === "on";
enter({ isFirst: true, scroll: history.state?.y ?? 0 });
keepFresh();
