"""Draws the panels of the overview from recorded data, as an SVG that is readable on light and on dark pages."""

import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tools/results"))

from panels import DASHBOARDS  # noqa: E402
from plot import Axis, number  # noqa: E402

# Okabe and Ito's colours: light page, dark page.
COLOURS = [("#0072b2", "#58a6ff"), ("#d55e00", "#ff8c42"), ("#009e73", "#3fc99a"), ("#a8518a", "#e39bc9"),
           ("#8a6d00", "#e0b93b"), ("#57606a", "#b1bac4")]
STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
  .page { fill: #f6f8fa } .card { fill: #ffffff; stroke: #d0d7de }
  .title { font-weight: 600; font-size: 13px } .row { font-weight: 600; font-size: 15px }
  .tick { font-size: 11px; fill: #57606a } .value { font-size: 26px; font-weight: 600 }
  .grid { stroke: #e3e8ed } .line { fill: none; stroke-width: 2; stroke-linejoin: round }
  LIGHT
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .page { fill: #0d1117 } .card { fill: #161b22; stroke: #30363d }
    .tick { fill: #9198a1 } .grid { stroke: #272d35 }
    DARK
  }
"""
COLUMN, LINE, GAP = 48, 30, 8
UNITS = {"ops": " per second", "reqps": " per second", "s": " seconds", "bytes": " bytes", "short": ""}


def text(content, x, y, kind, **attributes):
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{extra}>{html.escape(content)}</text>'


def legend_of(pattern, labels):
    return re.sub(r"\{\{(\w+)\}\}", lambda match: labels.get(match[1], ""), pattern).strip() or "value"


def series_of(panel, ask):
    """(legend, [(time, value), ...]) of all targets; without values that are not numbers."""
    found = []
    for query, legend in panel["targets"]:
        for result in ask(query):
            points = [(at, float(value)) for at, value in result["values"] if value not in ("NaN", "+Inf", "-Inf")]
            if points:
                found.append((legend_of(legend, result["metric"]), points))
    return found


def draw_stat(panel, series, x, y, width, height):
    last = series[0][1][-1][1] if series else 0
    colour = "c1" if last >= panel.get("alarm", float("inf")) else "c0"
    return [text(f"{last:,.0f}", x + 12, y + height - 24, f"value {colour}")]


def draw_table(series, x, y):
    rows = [text(legend, x + 12, y + 50 + index * 20, "cell") for index, (legend, _) in enumerate(sorted(series)[:6])]
    rows += [text(f"{points[-1][1]:.0f}", x + 220, y + 50 + index * 20, "cell")
             for index, (_, points) in enumerate(sorted(series)[:6])]
    return rows


def draw_lines(panel, series, x, y, width, height, start, end):
    # The legend has room for six: the highest lines.
    shown = series
    if len(series) > 6:
        shown = sorted(series, key=lambda item: -max(value for _, value in item[1]))[:6]
    left, right, top = x + 48, x + width - 14, y + 44
    bottom = y + height - 30 - 16 * ((len(shown) + 1) // 2)
    values = Axis([value for _, points in shown for _, value in points] or [1], bottom, top, log=False)
    times = Axis([], left, right, log=False, ticks=[0, end - start])
    out = []
    for tick in values.ticks:
        at = values(tick)
        out.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        out.append(text(number(tick), left - 6, at + 4, "tick", text_anchor="end"))
    for second in range(0, int(end - start) + 1, 10):
        out.append(text(f"{second} s", times(second), bottom + 16, "tick", text_anchor="middle"))
    for index, (legend, points) in enumerate(shown):
        path = "L".join(f"{times(at - start):.1f} {values(value):.1f}" for at, value in points)
        out.append(f'<path class="line s{index}" d="M{path}"/>')
        column, row = index % 2, index // 2
        at_x, at_y = x + 14 + column * (width - 28) / 2, bottom + 34 + row * 16
        out.append(f'<path class="line s{index}" d="M{at_x:.1f} {at_y - 4:.1f}h16"/>')
        limit = int((width - 28) / 2 - 30) // 6
        out.append(text(legend if len(legend) <= limit else legend[:limit - 1] + "…", at_x + 22, at_y, "tick"))
    unit = UNITS[panel["unit"]]
    if unit:
        out.append(text(unit.strip(), x + 12, y + 36, "tick"))
    return out


def draw_panel(panel, ask, x, y, start, end):
    width, height = panel["width"] * COLUMN - GAP, panel["height"] * LINE - GAP
    series = series_of(panel, ask)
    out = [f'<rect class="card" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>',
           text(panel["title"], x + 12, y + 20, "title")]
    if panel["kind"] == "stat":
        return out + draw_stat(panel, series, x, y, width, height)
    if panel["kind"] == "table":
        return out + draw_table(series, x, y)
    return out + draw_lines(panel, series, x, y, width, height, start, end)


def draw_overview(path, start, end, ask):
    title, _, rows = DASHBOARDS["overview"]
    out, y = [text(title, 16, 32, "row")], 48
    for name, panels in rows:
        out.append(text(name, 16, y + 16, "title"))
        x, y, height = 0, y + 26, 0
        for panel in panels:
            if x + panel["width"] > 24:
                x, y, height = 0, y + height * LINE, 0
            out += draw_panel(panel, ask, 12 + x * COLUMN, y, start, end)
            x, height = x + panel["width"], max(height, panel["height"])
        y += height * LINE + 6
    light = " ".join(f".s{i} {{ stroke: {light} }} .c{i} {{ fill: {light} }}" for i, (light, _) in enumerate(COLOURS))
    dark = " ".join(f".s{i} {{ stroke: {dark} }} .c{i} {{ fill: {dark} }}" for i, (_, dark) in enumerate(COLOURS))
    style = STYLE.replace("LIGHT", light).replace("DARK", dark)
    width = 24 * COLUMN + 16
    pathlib.Path(path).write_text("\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 8}" width="{width}" height="{y + 8}" '
        'role="img" aria-label="The panels of the overview, drawn from the data of a load run">',
        f"<style>{style}</style>", f'<rect class="page" width="{width}" height="{y + 8}"/>', *out, "</svg>"]) + "\n")
