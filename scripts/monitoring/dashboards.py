#!/usr/bin/env python3
"""Writes deploy/monitoring/grafana/dashboards from panels.py: dashboards.py [--check]

With --check it writes nothing and fails if a file is not what it would write.
"""

import json
import pathlib
import sys

from panels import DASHBOARDS

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/monitoring/grafana/dashboards"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def field_configuration(panel):
    defaults = {"unit": panel["unit"], "min": 0, "custom": {}}
    if panel["kind"] == "timeseries":
        defaults["custom"] = {"fillOpacity": 8, "lineWidth": 2, "showPoints": "never", "spanNulls": False}
    if "alarm" in panel:
        defaults["thresholds"] = {"mode": "absolute", "steps": [
            {"color": "green", "value": None}, {"color": "red", "value": panel["alarm"]}]}
    if "states" in panel:
        del defaults["min"]
        defaults["custom"] = {"fillOpacity": 80, "lineWidth": 0}
        defaults["mappings"] = [{"type": "value", "options": {
            value: {"text": text, "color": colour, "index": index}
            for index, (value, (text, colour)) in enumerate(panel["states"].items())}}]
    return {"defaults": defaults, "overrides": []}


def panel_options(panel):
    legend = {"displayMode": "list", "placement": "bottom", "showLegend": True}
    return {
        "timeseries": {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}},
        "state-timeline": {"legend": legend, "showValue": "auto", "mergeValues": True, "rowHeight": 0.9,
                           "tooltip": {"mode": "single"}},
        "stat": {"colorMode": "value", "graphMode": "area",
                 "reduceOptions": {"calcs": ["lastNotNull"], "values": False}},
        "table": {"showHeader": True},
    }[panel["kind"]]


def grafana_panel(panel, number, x, y):
    table = panel["kind"] == "table"
    targets = [{
        "datasource": SOURCE, "refId": chr(ord("A") + index), "expr": query, "legendFormat": legend,
        "editorMode": "code", "range": not table, "instant": table, **({"format": "table"} if table else {}),
    } for index, (query, legend) in enumerate(panel["targets"])]
    return {
        "id": number, "type": panel["kind"], "title": panel["title"], "description": panel["description"],
        "datasource": SOURCE, "gridPos": {"x": x, "y": y, "w": panel["width"], "h": panel["height"]},
        "fieldConfig": field_configuration(panel), "options": panel_options(panel), "targets": targets,
    }


def grafana_panels(rows):
    """Rows of panels, wrapped at Grafana's 24 columns."""
    out, y = [], 0
    for title, panels in rows:
        out.append({"id": len(out) + 1, "type": "row", "title": title, "collapsed": False, "panels": [],
                    "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        x, y, height = 0, y + 1, 0
        for panel in panels:
            if x + panel["width"] > 24:
                x, y, height = 0, y + height, 0
            out.append(grafana_panel(panel, len(out) + 1, x, y))
            x, height = x + panel["width"], max(height, panel["height"])
        y += height
    return out


def dashboard(name, title, description, rows):
    return {
        "uid": f"securepush-{name}", "title": title, "description": description, "tags": ["securepush"],
        "schemaVersion": 39, "version": 1, "editable": True, "graphTooltip": 1, "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser", "annotations": {"list": []},
        "links": [{"type": "dashboards", "tags": ["securepush"], "title": "SecurePush", "asDropdown": True,
                   "includeVars": True, "keepTime": True}],
        "templating": {"list": [{"name": "datasource", "label": "Data source", "type": "datasource",
                                 "query": "prometheus", "current": {}, "hide": 0}]},
        "panels": grafana_panels(rows),
    }


def main():
    check, stale = "--check" in sys.argv[1:], []
    for name, (title, description, rows) in DASHBOARDS.items():
        text = json.dumps(dashboard(name, title, description, rows), indent=2) + "\n"
        file = FOLDER / f"{name}.json"
        if not check:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            stale.append(file.name)
    for file in FOLDER.glob("*.json"):
        if file.stem not in DASHBOARDS:
            stale.append(file.name)
    if stale:
        sys.exit(f"error: not written by scripts/monitoring/dashboards.py: {', '.join(stale)}. Run it without --check.")
    panels = sum(len(row) for _, _, rows in DASHBOARDS.values() for _, row in rows)
    print(f"{len(DASHBOARDS)} dashboards with {panels} panels")


main()
