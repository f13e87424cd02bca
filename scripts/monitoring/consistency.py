#!/usr/bin/env python3
"""Compares rules, their tests, dashboards, metrics and documents. Fails with a line for each difference.

Each alert has a test, a section in docs/how-to/respond-to-alerts.md and a link to it. Each metric of ours that a query
names is in docs/reference/metrics.md, and each label in a selector is one of its labels.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MONITORING = ROOT / "deploy/monitoring"
# Prometheus and recording rules add these.
ADDED_LABELS = {"job", "instance", "le"}

problems = []


def documented_metrics():
    """The labels of each metric by its name."""
    metrics = {}
    for line in (ROOT / "docs/reference/metrics.md").read_text().splitlines():
        row = re.match(r"\| `((?:securepush|process)_\w+)` \| (counter|gauge|histogram) \| ([^|]*) \|", line)
        if row:
            name, kind, labels = row.groups()
            labels = set(re.findall(r"`(\w+)`", labels))
            for suffix in ("_bucket", "_count", "_sum") if kind == "histogram" else ("",):
                metrics[name + suffix] = labels
    return metrics


def check_query(where, query, metrics):
    for name, selector in re.findall(r"\b((?:securepush|process)_\w+)(\{[^}]*\})?", query):
        if name not in metrics:
            problems.append(f"{where}: the metric {name} is not in docs/reference/metrics.md")
            continue
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector or ""):
            if label not in metrics[name] | ADDED_LABELS:
                problems.append(f"{where}: {name} has no label {label}")


def alerts(text):
    """Name, query and runbook of each alert."""
    for block in re.split(r"\n      - (?=alert: |record: )", text)[1:]:
        name = re.match(r"alert: (\w+)", block)
        query = re.search(r"expr: (?:>-\n)?(.*?)\n        (?:for|labels):", block, re.S)
        if name:
            runbook = re.search(r"respond-to-alerts\.md#(\w+)", block)
            yield name[1], query[1], runbook and runbook[1]


def main():
    metrics = documented_metrics()
    rules = (MONITORING / "securepush.rules.yml").read_text()
    tests = (MONITORING / "securepush.rules.test.yml").read_text()
    guide = (ROOT / "docs/how-to/respond-to-alerts.md").read_text()
    sections = set(re.findall(r"^### (\w+)$", guide, re.M))
    found = list(alerts(rules))
    for name, query, runbook in found:
        check_query(name, query, metrics)
        if runbook != name.lower():
            problems.append(f"{name}: its runbook_url does not end with #{name.lower()}")
        if name not in sections:
            problems.append(f"{name}: docs/how-to/respond-to-alerts.md has no section of that name")
        if len(re.findall(rf"alertname: {name}\n(?:.*\n){{1,2}}?        exp_alerts:", tests)) == 0:
            problems.append(f"{name}: no test lets it fire")
        if f"{{alertname: {name}, eval_time: 30h}}" not in tests:
            problems.append(f"{name}: the test of a healthy system leaves it out")
    for section in sections - {name for name, _, _ in found}:
        problems.append(f"docs/how-to/respond-to-alerts.md: there is no alert {section}")
    queries = 0
    for file in sorted((MONITORING / "grafana/dashboards").glob("*.json")):
        for panel in json.loads(file.read_text())["panels"]:
            for target in panel.get("targets", []):
                queries += 1
                check_query(f"{file.name}: {panel['title']}", target["expr"], metrics)
    if problems:
        sys.exit("\n".join(f"error: {problem}" for problem in problems))
    print(f"{len(found)} alerts, {queries} queries of dashboards, {len(metrics)} series: all agree")


main()
