// Draws percentiles over time: time from left to right, milliseconds upwards on a logarithmic scale.
import { h } from "./dom.js";
import { count, milliseconds, span } from "./format.js";

const maximumPoints = 360;
/** The fewest polls that a drawing is wide: five minutes. */
const minimumPoints = 60;
const secondsPerPoint = 5;
const lines = [["p99", "P99"], ["p95", "P95"], ["p50", "P50"]];

/** The points of before and the new ones, which begin after them. */
export function joined(before, fresh) {
  const last = before?.At.at(-1) ?? "";
  const begin = fresh.At.findIndex((at) => at > last);
  const join = (name) => [...(before?.[name] ?? []), ...(begin < 0 ? [] : fresh[name].slice(begin))].slice(-maximumPoints);
  return { At: join("At"), P50: join("P50"), P95: join("P95"), P99: join("P99") };
}

/** The powers of ten around the values. */
function decades(values) {
  const first = Math.floor(Math.log10(Math.max(Math.min(...values), 0.001)));
  const last = Math.ceil(Math.log10(Math.min(Math.max(...values, 0.001), 1e9)));
  return { first, last: Math.max(first + 1, last) };
}

/** The parts without gaps, each with at least two points so that it is visible. */
function runs(values) {
  const found = [[]];
  values.forEach((value, index) => {
    if (value !== null) found.at(-1).push([index, value]);
    else if (found.at(-1).length) found.push([]);
  });
  return found.filter((run) => run.length)
    .map((run) => (run.length > 1 ? run : [run[0], [run[0][0] + 1, run[0][1]]]));
}

/** One latency: its last percentiles, and their past. */
export function chart(latency, points) {
  const { P50Milliseconds: p50, P95Milliseconds: p95, P99Milliseconds: p99 } = latency;
  const [median, most, nearlyAll] = [p50, p95, p99].map(milliseconds);
  const values = [...points.P50, ...points.P95, ...points.P99].filter((value) => value > 0);
  return h("figure", { key: latency.Name },
    h("figcaption", h("b", latency.Title),
      values.length && [h("span.values", h("span.key.p50", median), h("span.key.p95", most), h("span.key.p99", nearlyAll)),
        h("span.quiet", `${count(latency.Count)} in the last minute`)]),
    values.length ? drawing(points, decades(values),
      `${latency.Title}: median ${median}, 95th percentile ${most}, 99th percentile ${nearlyAll}`)
      : h("p.quiet.empty", "Nothing was measured in the last half hour."));
}

function drawing(points, { first, last }, description) {
  const size = points.At.length;
  const width = Math.max(minimumPoints, size);
  const round = (value) => Math.round(value * 10) / 10;
  // The newest point is at the right end; the oldest at the left, or a part of the way while there are few.
  const x = (index) => round(1000 - Math.min(1, (size - 1 - index) / (width - 1)) * 1000);
  const y = (value) => {
    const share = (Math.log10(Math.max(value, 0.001)) - first) / (last - first);
    return round(100 - Math.min(1, Math.max(0, share)) * 100);
  };
  const marks = Array.from({ length: last - first + 1 }, (_, index) => last - index);
  return h("div.chart",
    h("div.axis", { "aria-hidden": "true" }, marks.map((mark) => h("span", milliseconds(10 ** mark)))),
    h("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": description },
      marks.map((mark) => h("line.grid", { x1: "0", x2: "1000", y1: y(10 ** mark), y2: y(10 ** mark) })),
      lines.map(([name, member]) => runs(points[member]).map((run) => (
        h("polyline", { class: name, points: run.map(([index, value]) => `${x(index)},${y(value)}`).join(" ") }))))),
    h("div.times", { "aria-hidden": "true" }, h("span", `${span(width * secondsPerPoint)} ago`), h("span", "now")));
}
