#!/usr/bin/env python3
"""Draws Tools/RESULTS.md and its plots from the raw results in Tools/results/data:

    report.py [--import DIR] [--title TEXT]

--import copies NAME.jsonl of the yardstick's results (its $OUT) to data/yardstick first. The implementation under test
is `securepush`; it is compared with `go` and `go-tuned`.
"""

import argparse
import glob
import json
import os
import shutil
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import plot  # noqa: E402

DATA = os.environ.get("RESULTS_DATA", os.path.join(HERE, "data"))
OURS, PEERS = "securepush", ("go", "go-tuned")
QUIET = 0.25  # cores that others used


def lines(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def merge(rounds):
    """The median of each number. Of a measurement's rounds only the quiet ones count, if there are any."""
    merged = {}
    for key in {key: None for one in rounds for key in one}:
        values = [one[key] for one in rounds if key in one]
        if isinstance(values[0], dict):
            quiet = [value for value in values if value.get("foreign_cores", 0) < QUIET]
            merged[key] = merge(quiet or values)
            if "foreign_cores" in values[0]:
                merged[key]["rounds"] = f"{len(quiet)} of {len(values)}"
        elif isinstance(values[0], (int, float)):
            merged[key] = statistics.median(values)
    return merged


def dig(data, *keys):
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def shown(value, unit=""):
    if value is None:
        return "–"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 20 else 2
    return f"{value:,.{digits}f}{unit}"


def table(head, rows):
    marks = "| " + " | ".join(["---"] + ["---:"] * (len(head) - 1)) + " |"
    return ["| " + " | ".join(head) + " |", marks] + ["| " + " | ".join(row) + " |" for row in rows] + [""]


# MARK: The goals

MORE, LESS = "≥", "≤"
DRAINS = [(0, 1), (0, 2), (20, 1), (20, 2)]


def goals():
    """The measures: name, unit, where it is, and the goals against each peer as (sign, factor)."""
    rows = [
        ("ingest, throughput", "/s", ("B1", "per_s"), (MORE, 2.5), (MORE, 1.25)),
        ("ingest, CPU all", " s", ("B1", "cpu_total_s_per_10k"), (LESS, 0.35), (LESS, 0.85)),
    ]
    for latency, count in DRAINS:
        key = f"B2_{latency}ms_x{count}"
        what = f"drain, hub {latency} ms, {count} dispatcher{'s' if count > 1 else ''}"
        rows.append((f"{what}, throughput", "/s", (key, "per_s"), (MORE, 3.5), (MORE, 1.1)))
        rows.append((f"{what}, CPU all", " s", (key, "cpu_total_s_per_10k"), (LESS, 0.22), (LESS, 0.85)))
    for key, what in (("B3", "retrieval unread"), ("B3_reread", "retrieval read")):
        rows.append((f"{what}, throughput", "/s", (key, "per_s"), (MORE, 1.8), (MORE, 1.2)))
        rows.append((f"{what}, p99", " ms", (key, "p99_ms"), (LESS, 0.3), (LESS, 1)))
        rows.append((f"{what}, CPU all", " s", (key, "cpu_total_s_per_10k"), (LESS, 0.45), (LESS, 0.85)))
    for key, what in (("sent_to_hub_p50_ms", "p50"), ("sent_to_hub_p99_ms", "p99")):
        rows.append((f"POST sent → hub at 200/s, {what}", " ms", ("B4", key), (LESS, 1), (LESS, 1)))
    rows.append(("at 200/s, CPU all", " s", ("B4", "cpu_total_s_per_10k"), (LESS, 1), (LESS, 1)))
    for role, peak in (("ingest", ("ingest", "peak")), ("dispatcher", ("dispatcher_0ms_x1", "peak")),
                       ("retrieval", ("retrieval", "peak"))):
        rows.append((f"{role}, resident idle", " MiB", ("rss_mib", role, "idle"), (LESS, 2.5), (LESS, 2.5)))
        rows.append((f"{role}, resident peak", " MiB", ("rss_mib", *peak), (LESS, 1.5), (LESS, 1.5)))
        for when in ("idle", "peak"):
            keys = ("memory", role, f"private_{when}_mib")
            rows.append((f"{role}, private {when}", " MiB", keys, (LESS, 1), (LESS, 1)))
    return rows


def met(sign, goal, ratio):
    """Whether a ratio reaches its goal, as the table shows the ratio: with two digits."""
    ratio = round(ratio, 2)
    return ratio >= goal if sign == MORE else ratio <= goal


def goal_rows(data):
    """The rows of the table of goals, and how many goals there are and are met."""
    rows, reached, wanted = [], 0, 0
    for what, unit, keys, *per_peer in goals():
        ours = dig(data.get(OURS, {}), *keys)
        if ours is None:
            continue
        row = [what, shown(ours, unit)]
        verdicts = []
        for peer, (sign, goal) in zip(PEERS, per_peer):
            theirs = dig(data.get(peer, {}), *keys)
            row.append(shown(theirs, unit))
            if not theirs:
                row.append("–")
                continue
            row.append(f"{ours / theirs:.2f}× ({sign} {goal:g}×)")
            verdicts.append(met(sign, goal, ours / theirs))
        wanted += len(verdicts)
        reached += sum(verdicts)
        row.append(verdict(verdicts))
        rows.append(row)
    return rows, reached, wanted


def verdict(verdicts):
    if not verdicts:
        return "–"
    if all(verdicts):
        return "yes"
    return "**no**" if not any(verdicts) else "**" + ", ".join("yes" if one else "no" for one in verdicts) + "**"


def ceiling_rows(data, ceilings):
    """The shares of the ceilings: measure, value, ceiling, share, goal."""
    ours, rows = data.get(OURS, {}), []
    for what, keys, ceiling, divisor, goal in (
            ("ingest ÷ single-row pgbench", ("B1", "per_s"), ("pg_insert1_c64", "rows_per_s"), 1, 0.70),
            ("drain, hub 0 ms ÷ a third of the stub", ("B2_0ms_x1", "per_s"), ("http_hubstub", "per_s"), 3, 0.60),
            ("retrieval read ÷ bare HTTP", ("B3_reread", "per_s"), ("http_go_trivial", "per_s"), 1, 0.65)):
        value, top = dig(ours, *keys), dig(ceilings, *ceiling)
        if not value or not top:
            continue
        share = value / (top / divisor)
        rows.append([what, shown(value, "/s"), shown(top / divisor, "/s"), f"{share:.0%} (≥ {goal:.0%})",
                     "yes" if round(share, 2) >= goal else "**no**"])
    return rows


# MARK: The sweeps

def series(points, sweep, what, value):
    """{name: [(x, y)]} of one sweep, the median of repeated points."""
    found = {}
    for point in points:
        y = dig(point, *value)
        if point["sweep"] == sweep and point["what"] == what and y:
            found.setdefault(point["name"], {}).setdefault(point["x"], []).append(y)
    return {name: [(x, statistics.median(ys)) for x, ys in sorted(xs.items())] for name, xs in found.items()}


CPU, RATE = ("cpu_total_s_per_10k",), ("per_s",)


def panels(points, sweep, whats, x_title, x_log, x_ticks=None, latency=True):
    out = []
    for what in whats:
        common = {"x_title": x_title, "x_log": x_log, "x_ticks": x_ticks}
        for title, y_title, value, y_log in (
                ("throughput", "per second", RATE, False),
                ("latency p50", "milliseconds (log scale)", ("p50_ms",), True),
                ("latency p99", "milliseconds (log scale)", ("p99_ms",), True),
                ("CPU of all parts", "seconds per 10,000", CPU, False)):
            if title.startswith("latency") and not latency:
                continue
            out.append({"title": f"{what}: {title}", "y_title": y_title, "y_log": y_log,
                        "series": series(points, sweep, what, value), **common})
    return out


def sweep_table(points, sweep, what, head, latency=True):
    columns = [("/s", RATE), ("p50 ms", ("p50_ms",)), ("p99 ms", ("p99_ms",)), ("CPU s", CPU)]
    if not latency:
        columns = [columns[0], columns[-1]]
    rates = series(points, sweep, what, RATE)
    names = plot.order(rates)
    if not names:
        return []
    xs = sorted({x for line in rates.values() for x, _ in line})
    values = {title: series(points, sweep, what, value) for title, value in columns}
    rows = []
    for x in xs:
        cells = [shown(dict(values[title].get(name, [])).get(x)) for title, _ in columns for name in names]
        rows.append([f"{x:,}", *cells])
    return table([head] + [f"{name} {title}" for title, _ in columns for name in names], rows)


def growth(points, sweep, what, value=CPU):
    """How much more the largest point costs than the smallest, per implementation."""
    found = series(points, sweep, what, value)
    return {name: (line[0][0], line[-1][0], line[-1][1] / line[0][1]) for name, line in found.items() if len(line) > 1}


def growth_rows(points):
    rows = []
    for sweep, what in (("queue", "drain"), ("rows", "ingest"), ("rows", "retrieval unread"), ("rows", "retrieval")):
        found = growth(points, sweep, what)
        if OURS not in found:
            continue
        low, high, factor = found[OURS]
        peers = [f"{found[peer][2]:.2f}×" if peer in found else "–" for peer in PEERS]
        name = f"{what}: {high:,} {'queued' if sweep == 'queue' else 'rows'} against {low:,}"
        rows.append([name, f"{factor:.2f}× (≤ 1.1×)", *peers, "yes" if round(factor, 2) <= 1.1 else "**no**"])
    return rows


def progression():
    """CPU per 10,000 relative to go's in the same run, version by version."""
    path = os.path.join(DATA, "progression.json")
    if not os.path.exists(path):
        return [], []
    with open(path) as file:
        history = json.load(file)
    out = []
    for key, what in (("ingest", "ingest"), ("drain_0ms", "drain, hub 0 ms"), ("drain_20ms", "drain, hub 20 ms"),
                      ("retrieval_unread", "retrieval unread"), ("retrieval_read", "retrieval read")):
        found = {}
        for index, entry in enumerate(history["runs"], 1):
            base = dig(entry, "go", key)
            for name in (OURS, "go-tuned", "go"):
                value = dig(entry, name, key)
                if base and value:
                    found.setdefault(name, []).append((index, value / base))
        out.append({"title": f"{what}: CPU of all parts", "x_title": "run", "y_title": "go's in the same run = 1",
                    "x_ticks": list(range(1, len(history["runs"]) + 1)), "series": found})
    return out, [f"{index}. {entry['label']}" for index, entry in enumerate(history["runs"], 1)]


# MARK: The page

def side_by_side(data):
    names = plot.order(data)
    out = []
    specs = [("Ingest, 64 connections, 1 KiB", ["B1"], ("per_s", "p50_ms", "p99_ms")),
             ("Retrieval, rows unread at first", ["B3"], ("per_s", "p50_ms", "p99_ms")),
             ("Retrieval, rows read", ["B3_reread"], ("per_s", "p50_ms", "p99_ms"))]
    for title, (key,), columns in specs:
        rows = [[name, *(shown(dig(data[name], key, column)) for column in columns),
                 shown(dig(data[name], key, "cpu_total_s_per_10k")), str(dig(data[name], key, "rounds") or "–")]
                for name in names if key in data[name]]
        if rows:
            out += [f"### {title}", "", *table([" ", "/s", "p50 ms", "p99 ms", "CPU s", "quiet rounds"], rows)]
    rows = []
    for name in names:
        for latency, count in DRAINS:
            drain = data[name].get(f"B2_{latency}ms_x{count}")
            if drain:
                figures = [shown(drain.get(key)) for key in ("per_s", "cpu_total_s_per_10k", "dup")]
                rows.append([name, f"{latency} ms", str(count), *figures, str(drain.get("rounds"))])
    if rows:
        out += ["### Drain of 30,000 notifications", "",
                *table([" ", "hub", "dispatchers", "/s", "CPU s", "duplicates", "quiet rounds"], rows)]
    return out


def picture(name, panels, alt):
    panels = [panel for panel in panels if panel["series"]]
    if not panels:
        return []
    with open(os.path.join(HERE, f"{name}.svg"), "w") as file:
        file.write(plot.figure(panels))
    return [f"![{alt}](results/{name}.svg)", ""]


SECTIONS = [
    ("concurrency", "Concurrency", ["ingest", "retrieval"], "connections", True, True,
     "1 to 256 connections post 1 KiB, or read notifications that were read before."),
    ("dispatchers", "Dispatchers", ["drain"], "dispatchers", False, False,
     "1 to 4 dispatchers drain a queue. The hub answers at once. All share the same two cores."),
    ("queue", "Queue length", ["drain"], "notifications in the queue", True, False,
     "One dispatcher drains a queue of this length."),
    ("rows", "Rows", ["ingest", "retrieval unread", "retrieval"], "rows", True, True,
     "64 connections, while the tables hold this many notifications."),
]


def page(data, ceilings, points, title):
    rows, reached, wanted = goal_rows(data)
    out = [
        "# Results", "",
        f"{title} `Tools/results/report.py` makes this page and its plots from the raw results in "
        "`Tools/results/data`; see [Run the benchmarks](../docs/contributing/run-benchmarks.md).", "",
        "`CPU` is seconds of service, PostgreSQL, RabbitMQ and hub stub for 10,000 operations, without the load "
        "driver. Ratios are SecurePush's figure divided by the peer's in the same run; the goal is in brackets. "
        "Figures are medians of the rounds in which others used less than a quarter of a core, if there are any.", ""]
    if rows:
        out += ["## Goals", "", f"{reached} of {wanted} comparisons reach their goal.", "",
                *table(["measure", OURS, "go", "ratio", "go-tuned", "ratio", "goal met"], rows)]
    ceiling = ceiling_rows(data, ceilings)
    if ceiling:
        out += ["### Share of the ceiling", "", *table(["share", OURS, "ceiling", "share", "goal met"], ceiling)]
    grown = growth_rows(points)
    if grown:
        out += ["### Constant cost", "", "CPU of all parts at the largest size divided by that at the smallest.", "",
                *table(["size", OURS, *PEERS, "goal met"], grown)]
    if data:
        out += ["## Side by side", "", *side_by_side(data)]
    for sweep, heading, whats, x_title, x_log, latency, text in SECTIONS:
        found = [point for point in points if point["sweep"] == sweep]
        if not found:
            continue
        xs = sorted({point["x"] for point in found})
        ticks = xs if len(xs) <= 6 else None
        out += [f"## {heading}", "", text, "",
                *picture(sweep, panels(points, sweep, whats, x_title, x_log, ticks, latency), f"Plots: {text}")]
        for what in whats:
            out += [f"### {heading}: {what}", "", *sweep_table(points, sweep, what, x_title, latency)]
    history, labels = progression()
    if history:
        out += ["## Progression", "", "CPU of all parts per 10,000, divided by go's in the same run.", "",
                *picture("progression", history, "Plots: CPU relative to go's, run by run"), *labels, ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description="Draws Tools/RESULTS.md.")
    parser.add_argument("--import", dest="source", metavar="DIR", help="the yardstick's results")
    parser.add_argument("--title", default="", help="the first sentence: when, on what, which versions")
    parser.add_argument("--output", default=os.path.join(HERE, "..", "RESULTS.md"))
    options = parser.parse_args()
    yardstick = os.path.join(DATA, "yardstick")
    if options.source:
        os.makedirs(yardstick, exist_ok=True)
        for path in glob.glob(os.path.join(options.source, "*.jsonl")):
            shutil.copy(path, yardstick)
    data = {os.path.basename(path)[:-6]: merge(lines(path)) for path in glob.glob(os.path.join(yardstick, "*.jsonl"))}
    ceilings = data.pop("ceilings", {})
    points = lines(os.path.join(DATA, "sweep.jsonl"))
    for point in points:
        if point["sweep"] == "memory":
            data.setdefault(point["name"], {}).setdefault("memory", {})[point["what"]] = point
    title = options.title
    note = os.path.join(DATA, "title.txt")
    if title:
        os.makedirs(DATA, exist_ok=True)
        with open(note, "w") as file:
            file.write(title + "\n")
    elif os.path.exists(note):
        title = open(note).read().strip()
    with open(options.output, "w") as file:
        file.write(page(data, ceilings, points, title).rstrip() + "\n")


if __name__ == "__main__":
    main()
