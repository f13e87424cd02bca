// The overview: the funnel of notifications, failures, and the parts of the system.
import { ask } from "./actions.js";
import { get } from "./api.js";
import { app, card, heading, spans, table, tell, waiting } from "./app.js";
import { chart } from "./charts.js";
import { h } from "./dom.js";
import { count, facts, idLink, milliseconds, percent, pill, plural, short, span, time } from "./format.js";

/** Failures from further back than those that come with the overview: `{ groups, since, next }`. */
let older = null;
let problem = null;
/** The reasons in the order in which they are shown. */
let order = [];

export const overview = {
  enter() { older = problem = null; },
  title: () => null,
  view() {
    if (!app.overview) return [heading("Overview"), waiting()];
    const { overview: now } = app;
    return [
      heading("Overview"),
      spanProblem(),
      h("div.columns", { key: "first" }, funnel(now), failures(now)),
      rates(now), lanes(now), pushServices(now), genericTexts(now),
      h("div.columns", { key: "second" }, queues(now), processes(now)),
      latencies(now),
    ];
  },
};

function spanProblem() {
  const asked = new URLSearchParams(location.search).get("Window");
  if (asked === null || spans.some(([name]) => name === asked)) return null;
  return h("p.banner.warn", { key: "span" }, `There is no time span “${asked}”. This is the last `,
    spans.find(([name]) => name === app.span)[1], ".");
}

const spanLinks = () => h("p.windows", "Accepted in the last ", spans.map(([name, label]) => h("a", {
  key: name, href: `/?Window=${name}`, "aria-current": name === app.span && "true",
}, label)));

function funnel({ Funnel: counts }) {
  if (!counts) {
    return card("funnel", "From sender to reader", { aside: spanLinks() },
      h("p.quiet", "Unknown: the database does not answer."));
  }
  const steps = [
    ["Accepted", "stored by ingest", counts.Accepted], ["Published", "the broker has or had it", counts.Published],
    ["Accepted by the hub", "for a platform at least", counts.Pushed], ["Read", "fetched, or marked as read", counts.Read],
    ["Shown", "reported by a device", counts.Shown],
  ];
  return card("funnel", "From sender to reader", { aside: spanLinks() },
    h("ol.funnel", steps.map(([label, meaning, value]) => h("li", { key: label },
      h("span.label", label, " ", h("small", meaning)), h("b", count(value)),
      h("span.share", percent(value, counts.Accepted)),
      h("svg.bar", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
        h("rect.rail", { width: "100", height: "10" }),
        h("rect.fill", { width: String(counts.Accepted ? value / counts.Accepted * 100 : 0), height: "10" }))))),
    counts.IsCut && h("p.quiet", { key: "cut" }, "Only the newest 10,000 are counted, since ", time(counts.Since), "."),
    facts([["Failed on every platform", count(counts.Failed)], ["Failed on some", count(counts.Partial)],
      ["Revoked", count(counts.Revoked)]]));
}

/** The groups of both, one for each reason. */
function merged(report) {
  const groups = new Map();
  for (const group of [...report.Groups, ...(older?.groups ?? [])]) {
    const known = groups.get(group.Reason);
    if (!known) {
      groups.set(group.Reason, group);
      continue;
    }
    const platforms = new Map(known.Platforms.map((one) => [one.Platform, one.Count]));
    for (const one of group.Platforms) platforms.set(one.Platform, (platforms.get(one.Platform) ?? 0) + one.Count);
    groups.set(group.Reason, {
      ...known, Count: known.Count + group.Count,
      Platforms: [...platforms].map(([Platform, Count]) => ({ Platform, Count })),
    });
  }
  return groups;
}

/** While a person is at the groups, none of them moves: a new one comes last. */
function ordered(groups) {
  const isInUse = document.querySelector("#failures:hover, #failures:focus-within");
  const fresh = [...groups.keys()];
  order = isInUse ? [...order.filter((reason) => groups.has(reason)), ...fresh.filter((one) => !order.includes(one))] : fresh;
  return order.map((reason) => groups.get(reason));
}

function failures(now) {
  const report = now.Failures;
  if (!report) return card("failures", "Failures", {}, h("p.quiet", "Unknown: the database does not answer."), letters(now));
  const groups = ordered(merged(report));
  const [next, since] = older ? [older.next, older.since] : [report.Next, report.Since];
  const label = spans.find(([name]) => name === app.span)[1];
  return card("failures", "Failures by reason", {},
    groups.length ? h("ul.groups", { key: "groups" }, groups.map(failure))
      : h("p.quiet", { key: "none" }, next ? ["None among the newest notifications, since ", time(since), "."]
        : `✓ Nothing has failed in the last ${label}.`),
    next && h("p.quiet.more", { key: "more" },
      groups.length ? ["Older failures than ", time(since), " are not counted. "] : null,
      h("button.small", { key: "further", type: "button", onclick: () => lookFurther(next) }, "Look further back")),
    problem && h("p.told", { key: "problem", role: "status" }, `✕ ${problem}`),
    letters(now));
}

function failure(group) {
  const platforms = group.Platforms.map((one) => one.Platform);
  return h("li", { key: group.Reason },
    h("p", h("b", count(group.Count)), " ", h("bdi.reason", group.Reason)),
    h("p.pills", group.Platforms.map((one) => h("span.pill.bad", { key: one.Platform }, one.Platform,
      one.Count === group.Count ? "" : ` ${count(one.Count)}`))),
    h("p.quiet", "Last ", time(group.Newest), ". For example ", group.Ids.slice(0, 3).map((id) => [idLink(id), " "])),
    h("button", { key: "send", type: "button", onclick: () => sendAgain(group, platforms) }, "Send again",
      h("span.visually-hidden", `: ${group.Reason}`)));
}

function sendAgain(group, platforms) {
  ask({
    title: "Send again", verb: "Send again", path: "failures/resend", body: { Reason: group.Reason, Window: app.span },
    text: `Send ${plural(group.Count, "notification")} again that failed with “${group.Reason}”? Each goes to every platform `
      + `where it failed (${platforms.join(", ")}), and its dead letter is removed. At most 500 are sent at once.`,
  });
}

async function lookFurther(before) {
  const window = app.span;
  try {
    const report = await get(`failures?Window=${window}&Before=${before}`);
    if (window !== app.span) return;
    older = { groups: [...(older?.groups ?? []), ...report.Groups], since: report.Since, next: report.Next };
    problem = null;
    tell(`${plural(report.Groups.length, "reason")} found further back.`);
  } catch (error) {
    problem = error.message;
  }
  app.redraw();
}

function letters(now) {
  const dead = now.Queues.find((queue) => queue.Purpose === "dead")?.Messages;
  return h("div.letters", { key: "letters" }, h("h3", "Dead letters"),
    h("p", "In the dead-letter queue: ", h("b", dead === undefined ? "unknown" : count(dead)), ". ",
      h("a", { href: "/dead-letters" }, "Read them"), dead > 0 && h("span.quiet", " (for that moment, other readers find the queue empty)")),
    dead > 0 && h("button", { key: "replay", type: "button", onclick: () => replayAll(dead) }, "Replay dead letters"));
}

/** Replays all dead letters, after a confirmation. */
export function replayAll(number, after) {
  ask({
    title: "Replay dead letters", verb: "Replay", path: "dead-letters/replay", body: { All: true }, after,
    text: `Dispatch ${number === 1 ? "the dead letter" : `all ${count(number)} dead letters`} again? At most 1,000 are replayed at once.`,
  });
}

const perSecond = (value) => (value === undefined ? "unknown" : `${short(value)}/s`);

function rates({ Rates: rate, Outbox: outbox, Funnel: counts }) {
  const due = outbox.OldestDueSeconds;
  return card("outbox", "Now", { isWide: true }, facts([
    ["Accepted", perSecond(rate.Accepted)], ["Published", perSecond(rate.Published)],
    ["Accepted by the hub", perSecond(rate.Pushed)], ["Retries", perSecond(rate.Retried)], ["Fetched", perSecond(rate.Read)],
    ["In the outbox", outbox.Pending === undefined ? "unknown" : count(outbox.Pending)],
    ["Oldest that is due", due === undefined ? "none is due" : span(due)],
    ["Oldest unfinished", !counts ? "unknown"
      : outbox.OldestUnfinishedSeconds === undefined ? "none" : span(outbox.OldestUnfinishedSeconds)],
  ]));
}

const laneStates = {
  open: ["good", "open"], paused: ["warn", "paused or slow"], refused: ["bad", "refused by the hub"],
};

function off({ Sources: sources }, name) {
  const source = sources.find((one) => one.Name === name && one.State === "off");
  return source && h("p.quiet", { key: "off" }, "Not shown: ", source.Detail);
}

function lanes(now) {
  const number = (title) => ({ title, isNumber: true });
  return card("lanes", "Lanes", { isWide: true }, off(now, "dispatcher"), now.Lanes.length === 0
    ? !off(now, "dispatcher") && h("p.quiet", { key: "none" }, "No dispatcher has reported a lane.")
    : table("Lanes", "One lane for each platform, hub and dispatcher. Rates are per second; held counts since the dispatcher's start.",
      ["Platform", "State", number("Accepted/s"), number("Failed/s"), number("99th percentile"), number("Limit"),
        number("Held"), "Hub", "Dispatcher"],
      now.Lanes.map((lane) => ({
        key: `${lane.Platform} ${lane.Hub} ${lane.Dispatcher}`, cells: [
          lane.Platform, pill(...(laneStates[lane.State] ?? ["warn", "unknown"])), short(lane.SentPerSecond),
          short(lane.FailedPerSecond), milliseconds(lane.P99Milliseconds), count(lane.Limit), count(lane.Held),
          h("bdi", lane.Hub), h("bdi", lane.Dispatcher),
        ],
      }))));
}

const pushStates = {
  open: ["good", "open"], paused: ["warn", "paused"], refused: ["bad", "credentials refused"], simulated: ["warn", "simulated"],
};

/** The platforms of hubs of one's own; nothing where the hub is Azure's. */
function pushServices(now) {
  if (off(now, "hub")) return null;
  const number = (title) => ({ title, isNumber: true });
  return card("pushServices", "Push services", { isWide: true }, now.PushServices.length === 0
    ? h("p.quiet", { key: "none" }, "No hub has pushed anything yet.")
    : table("Push services", "One line for each hub, platform and process. Rates are per second.",
      ["Hub", "Platform", "State", number("Pushes/s"), number("Accepted/s"), number("99th percentile"), number("In flight"),
        number("Retries waiting"), "Removals", "Process"],
      now.PushServices.map((lane) => ({
        key: `${lane.Hub} ${lane.Platform} ${lane.Process}`, cells: [
          h("bdi", lane.Hub), lane.Platform, pill(...(pushStates[lane.State] ?? ["warn", "unknown"])),
          short(lane.PushesPerSecond), short(lane.AcceptedPerSecond), milliseconds(lane.P99Milliseconds),
          count(lane.InFlight), count(lane.RetriesWaiting),
          lane.RemovalsSuspended ? pill("bad", "suspended") : "on", h("bdi", lane.Process),
        ],
      }))));
}

/** The meanings of the devices' codes. */
const codes = [
  [/^SP-(TIMEOUT|OFFLINE|TLS)$/, "no connection to retrieval"], [/^SP-[1-5]\d\d$/, "HTTP status of retrieval"],
  [/^SP-(LOGIN|CREDENTIALS)$/, "no usable log-in"], [/^SP-(KEY|DECRYPT)$/, "encrypted for another key"],
  [/^SP-(SENDER|PLAIN|REPLAY)$/, "the app refuses the envelope"], [/^SP-(PUSH|SIGNATURE|AGE)$/, "the push is invalid"],
  [/^SP-(SIZE|JSON|ID)$/, "the answer of retrieval is invalid"], [/^SP-EXPIRED$/, "expired"],
  [/^SP-(STORE|LOCKED)$/, "the device's storage cannot be used"], [/^SP-SEEN$/, "shown before"],
  [/^SP-SHOW$/, "the system refused to show it"],
];

/** Devices that could not show a secret; nothing where there is none. */
function genericTexts({ GenericTexts: groups }) {
  if (!groups?.length) return null;
  const number = (title) => ({ title, isNumber: true });
  const label = spans.find(([name]) => name === app.span)[1];
  return card("genericTexts", "Devices that show the generic text", { isWide: true },
    table("Generic texts", `Reports of the last ${label}, the newest 10,000 at most.`,
      ["Code", number("Devices"), number("Notifications"), "Last report", "Platform", "SDK"],
      groups.map(({ Code: code, ...group }) => ({
        key: `${code} ${group.Platform} ${group.Sdk}`, cells: [
          [code ?? "no code", h("small.block", codes.find(([form]) => form.test(code))?.[1])], count(group.Devices),
          count(group.Notifications), time(group.Newest), group.Platform, h("bdi", group.Sdk ?? "unknown"),
        ],
      }))));
}

const purposes = { dispatch: "work for dispatchers", retry: "waiting for a retry", dead: "dead letters" };

function queues(now) {
  if (!now.Queues.length) return card("queues", "Queues", {}, h("p.quiet", "Unknown: the broker does not answer."));
  const rows = now.Queues.map((queue) => {
    const isDispatch = queue.Purpose === "dispatch";
    const note = queue.Problem ?? (isDispatch && queue.Consumers === 0 ? "No dispatcher consumes it." : "");
    const isTrouble = note || (queue.Purpose === "dead" && queue.Messages > 0);
    return {
      key: queue.Name, class: isTrouble && "trouble", cells: [
        [queue.Name, " ", h("small", purposes[queue.Purpose] ?? queue.Purpose), note && h("small.note", note)],
        [isTrouble && h("span", { "aria-hidden": "true" }, "! "),
          queue.Messages === undefined ? "unknown" : count(queue.Messages)],
        isDispatch ? count(queue.Consumers) : "–",
      ],
    };
  });
  return card("queues", "Queues", {},
    table("Queues", "Messages that are ready in the broker. Those that a dispatcher holds are not counted.",
      ["Queue", { title: "Messages", isNumber: true }, { title: "Consumers", isNumber: true }], rows));
}

const processStates = { ready: ["good", "ready"], unready: ["warn", "not ready"], unreachable: ["bad", "does not answer"] };

function processes(now) {
  const missing = now.Sources.filter((one) => one.State === "off");
  return card("processes", "Processes", {},
    table("Processes", "This process, and those that INGEST_URL, DISPATCHER_URL and RETRIEVAL_URL name.",
      ["Process", "State", "Since, version", { title: "Memory", isNumber: true }, { title: "CPU", isNumber: true }],
      now.Processes.map((one) => ({
        key: `${one.Kind} ${one.Address}`, cells: [
          [one.Kind, h("small.block", h("bdi", one.Address))],
          [pill(...(processStates[one.State] ?? ["warn", one.State])), one.Problem && h("small.note", h("bdi", one.Problem))],
          [time(one.State === "unreachable" ? one.Since : one.StartedAt ?? one.Since), one.Version && h("small.block", one.Version)],
          one.ResidentMemoryBytes === undefined ? "–" : `${Math.round(one.ResidentMemoryBytes / 1048576)} MiB`,
          one.CpuPercent === undefined ? "–" : `${short(one.CpuPercent)} %`,
        ],
      }))),
    missing.map((source) => h("p.quiet", { key: source.Name }, source.Detail)));
}

function latencies(now) {
  return card("latencies", "Latencies", {
    isWide: true, aside: h("p.quiet", h("span.key.p50", "median"), h("span.key.p95", "95th"), h("span.key.p99", "99th percentile")),
  }, h("p.quiet", "Over one minute each, for the last half hour. The scale is logarithmic."),
  h("div.charts", now.Latencies.map((latency) => chart(latency, app.points.get(latency.Name)))));
}
