"""Line plots as SVG, without dependencies: readable on light and on dark pages."""

import html
import math

# Okabe and Ito's colours, which people with colour blindness can tell apart; each is clear on white and on black.
COLOURS = {"securepush": "#0072b2", "go-tuned": "#d55e00", "go": "#7f7f7f"}
SPARE = ["#009e73", "#cc79a7", "#b8860b"]
DASHES = {"securepush": "", "go-tuned": "7 3", "go": "2 3"}
MARKERS = {"securepush": "circle", "go-tuned": "square", "go": "diamond"}
STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px }
  .tick { font-size: 12px; fill: #57606a }
  .label { font-weight: 600; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; stroke-linejoin: round }
  .page { fill: #ffffff }
  .axis { stroke: #57606a; stroke-width: 1 }
  .grid { stroke: #d8dee4; stroke-width: 1 }
  .line { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .tick { fill: #9198a1 } .page { fill: #0d1117 }
    .axis { stroke: #9198a1 } .grid { stroke: #30363d } .label { stroke: #0d1117 }
    .s0 { --c: #58a6ff } .s1 { --c: #ff8c42 } .s2 { --c: #b1bac4 }
  }
  .s0 { --c: LIGHT0 } .s1 { --c: LIGHT1 } .s2 { --c: LIGHT2 }
"""
WIDTH, HEIGHT = 480, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 92, 44, 52


def number(value):
    """A short number: 20 k, 1 M, 0.25."""
    for size, suffix in ((1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{suffix}"
    return f"{value:.3g}"


def nice_step(span, count):
    rough = span / count
    size = 10 ** math.floor(math.log10(rough))
    return next(step * size for step in (1, 2, 2.5, 5, 10) if step * size >= rough)


class Axis:
    """Maps values to pixels."""

    def __init__(self, values, low, high, log, ticks=None):
        self.log, self.low, self.high = log, low, high
        if log:
            self.first, self.last = min(values), max(values)
            if self.first == self.last:
                self.first, self.last = self.first / 2, self.last * 2
            self.ticks = ticks or self.decades()
            self.first, self.last = min(self.first, *self.ticks), max(self.last, *self.ticks)
        elif ticks:
            self.ticks, self.first, self.last = ticks, min(ticks), max(ticks)
            if self.first == self.last:
                self.first, self.last = self.first - 1, self.last + 1
        else:
            top = max(values) * 1.06 or 1
            step = nice_step(top, 5)
            self.first, self.last = 0, math.ceil(top / step) * step
            self.ticks = [step * i for i in range(round(self.last / step) + 1)]

    def decades(self):
        low, high = math.floor(math.log10(self.first)), math.ceil(math.log10(self.last))
        steps = (1,) if high - low > 2 else (1, 2, 5)
        ticks = [step * 10.0**power for power in range(low, high + 1) for step in steps]
        below = [tick for tick in ticks if tick <= self.first]
        above = [tick for tick in ticks if tick >= self.last]
        return [tick for tick in ticks if below[-1] <= tick <= above[0]]

    def __call__(self, value):
        if self.log:
            part = math.log(value / self.first) / math.log(self.last / self.first)
        else:
            part = (value - self.first) / (self.last - self.first)
        return self.low + part * (self.high - self.low)


def marker(kind, x, y):
    if kind == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" style="fill: var(--c)"/>'
    if kind == "diamond":
        return f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z" style="fill: var(--c)"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.2" style="fill: var(--c)"/>'


def order(names):
    known = [name for name in COLOURS if name in names]
    return known + sorted(set(names) - set(known))


def spread_labels(ends, low, high):
    """Moves labels at the ends of lines apart, so that none covers another."""
    ends = sorted(ends, key=lambda end: end[1])
    placed = []
    for name, y in ends:
        placed.append([name, max(y, placed[-1][1] + 16 if placed else low + 6)])
    excess = placed[-1][1] - (high - 2) if placed else 0
    if excess > 0:
        limit = high - 2
        for label in reversed(placed):
            label[1] = min(label[1], limit)
            limit = label[1] - 16
    return placed


def panel(title, x_title, y_title, series, x_log, y_log, x_ticks, left, top, names):
    """One plot: series is {name: [(x, y), ...]}."""
    xs = [x for line in series.values() for x, _ in line]
    ys = [y for line in series.values() for _, y in line]
    right, bottom = left + WIDTH - LEFT - RIGHT, top + HEIGHT - TOP - BOTTOM
    x_axis = Axis(xs, left + 8, right - 4, x_log, x_ticks)
    y_axis = Axis(ys, bottom, top + 4, y_log)
    out = [f'<text class="title" x="{left - LEFT + 12}" y="{top - 25}">{html.escape(title)}</text>']
    for tick in y_axis.ticks:
        y = y_axis(tick)
        out.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="tick" x="{left - 7}" y="{y + 4:.1f}" text-anchor="end">{number(tick)}</text>')
    for tick in x_axis.ticks:
        x = x_axis(tick)
        out.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        out.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{number(tick)}</text>')
    out.append(f'<path class="axis" fill="none" d="M{left} {top}V{bottom}H{right}"/>')
    middle = (left + right) / 2
    out.append(f'<text x="{middle}" y="{bottom + 38}" text-anchor="middle">{html.escape(x_title)}</text>')
    out.append(f'<text x="{left - LEFT + 12}" y="{top - 7}" class="tick">{html.escape(y_title)}</text>')
    ends = []
    for name in order(series):
        index = names.index(name)
        line = sorted(series[name])
        path = "L".join(f"{x_axis(x):.1f} {y_axis(y):.1f}" for x, y in line)
        dash = DASHES.get(name, "4 2")
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        out.append(f'<g class="s{index}"><path class="line" style="stroke: var(--c)"{dashes} d="M{path}"/>')
        out += [marker(MARKERS.get(name, "circle"), x_axis(x), y_axis(y)) for x, y in line]
        out.append("</g>")
        ends.append((name, y_axis(line[-1][1])))
    for name, y in spread_labels(ends, top, bottom):
        out.append(
            f'<g class="s{names.index(name)}"><text class="label" style="fill: var(--c)" x="{right + 4}" '
            f'y="{y + 4:.1f}">{html.escape(name)}</text></g>')
    return out


def figure(panels, columns=2):
    """Several plots in one SVG: panels are dictionaries of the arguments of panel()."""
    panels = [panel for panel in panels if panel["series"]]
    names = order({name for panel in panels for name in panel["series"]})
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    width, legend = columns * WIDTH, 30
    height = rows * HEIGHT + legend
    colours = [COLOURS.get(name) for name in names]
    spare = iter(SPARE)
    style = STYLE
    for index in range(3):
        colour = colours[index] if index < len(colours) else "#000000"
        style = style.replace(f"LIGHT{index}", colour or next(spare))
    # The dark page's colours must win, so the light ones come first.
    *rest, light = style.rstrip().split("\n")
    style = "\n".join([light, *rest])
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img">', f"<style>{style}</style>", f'<rect class="page" width="{width}" height="{height}"/>']
    x = 12
    for index, name in enumerate(names):
        dash = DASHES.get(name, "4 2")
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        out.append(f'<g class="s{index}"><path class="line" style="stroke: var(--c)"{dashes} d="M{x} 18h34"/>')
        out.append(marker(MARKERS.get(name, "circle"), x + 17, 18) + "</g>")
        out.append(f'<text x="{x + 42}" y="22">{html.escape(name)}</text>')
        x += 42 + 8 * len(name) + 28
    for index, one in enumerate(panels):
        left = (index % columns) * WIDTH + LEFT
        top = legend + (index // columns) * HEIGHT + TOP
        out += panel(
            one["title"], one["x_title"], one["y_title"], one["series"], one.get("x_log", False),
            one.get("y_log", False), one.get("x_ticks"), left, top, names)
    return "\n".join([*out, "</svg>", ""])
