#!/usr/bin/env python3
"""Feeds a stack and runs all queries against its Prometheus: live.py PORT [PICTURE]; see scripts/monitoring.sh."""

import json
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tools/scenarios"))

import stack  # noqa: E402
from draw import draw_overview  # noqa: E402
from panels import DASHBOARDS  # noqa: E402

PROMETHEUS = f"http://127.0.0.1:{sys.argv[1]}/api/v1/"
SECONDS = 40
# The five services and RabbitMQ.
TARGETS = 6
# These have no data in this run. Everything else must have.
WITHOUT_DATA = {
    "Certificates expire in",  # the stack has no TLS
    "Devices removed",  # no device is removed before the last sample
    "Requests whose result is unknown",  # the hub answers each request
    "Statements that failed",  # PostgreSQL stays up
    "Requests for outcomes",  # the hub tells outcomes in its answers
    # The platforms of the stack are simulated, and nobody subscribes for Web Push.
    "State of the platforms", "Pushes by outcome", "Answer of a push service", "Retries waiting",
}


def ask(path, **parameters):
    with urllib.request.urlopen(f"{PROMETHEUS}{path}?{urllib.parse.urlencode(parameters)}", timeout=30) as answer:
        return json.load(answer)["data"]


def sees_all_targets():
    """Prometheus may not listen yet."""
    try:
        return len(ask("query", query="up == 1")["result"]) == TARGETS
    except urllib.error.URLError:
        return False


def concrete(query):
    """The query with values for Grafana's variables."""
    return query.replace("$__rate_interval", "5s").replace("$__range", f"{SECONDS}s")


def load(*arguments):
    """`securepush load-test` in the background."""
    environment = {
        "PATH": "/usr/bin:/bin", "INGEST_URL": f"http://127.0.0.1:{stack.port('ingest')}", "INGEST_API_KEY": stack.KEY,
        "RETRIEVAL_URL": f"http://127.0.0.1:{stack.port('retrieval')}",
        "HUB_EMULATOR_URL": f"http://127.0.0.1:{stack.port('hub')}",
    }
    return subprocess.Popen(
        [stack.BIN / "securepush", "load-test", *arguments], env=environment, stdin=subprocess.DEVNULL,
        stdout=(stack.FOLDER / "run/load.out").open("a"), stderr=subprocess.STDOUT)


def feed():
    """Load with devices, a throttled platform, a refusal for good and a wrong password."""
    key = stack.FOLDER / "secrets/token-signing-key.pem"
    process = load("--count", str(SECONDS * 40), "--rate", "40", "--recipients", "20", "--devices", "20",
                   "--signing-key-file", str(key))
    time.sleep(SECONDS / 4)
    stack.emulator("POST", "/emulator/faults", {"Platform": "fcmv1", "Status": 429, "RetryAfter": 2})
    stack.emulator("POST", "/emulator/faults", {"Platform": "windows", "Status": 400, "Count": 3})
    time.sleep(SECONDS / 4)
    stack.emulator("DELETE", "/emulator/faults")
    for _ in range(5):
        stack.request(stack.port("retrieval"), "GET", "/api/notifications", headers={"Authorization": "Basic YTpi"})
    result = process.wait(timeout=180)
    # 1 says that some were refused, as the fault above wants it.
    if result not in (0, 1):
        sys.exit(f"error: load-test ended with {result}: {(stack.FOLDER / 'run/load.out').read_text()[-2000:]}")


def check_dashboards(start, end):
    empty, queries = [], 0
    for _, _, rows in DASHBOARDS.values():
        for panel in (panel for _, panels in rows for panel in panels):
            series = []
            for query, _ in panel["targets"]:
                queries += 1
                series += ask("query_range", query=concrete(query), start=start, end=end, step=1)["result"]
            if not series and panel["title"] not in WITHOUT_DATA:
                empty.append(panel["title"])
    print(f"{queries} queries of {len(DASHBOARDS)} dashboards ran")
    if empty:
        sys.exit(f"error: these panels show nothing: {', '.join(empty)}")


def check_rules():
    rules = [rule for group in ask("rules")["groups"] for rule in group["rules"]]
    broken = [f"{rule['name']}: {rule.get('lastError')}" for rule in rules if rule["health"] != "ok"]
    states = [rule.get("state", "recorded") for rule in rules]
    counts = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    print(f"{len(rules)} rules evaluated: {counts}")
    if broken:
        sys.exit("error: " + "; ".join(broken))
    active = sorted({rule["name"] for rule in rules if rule.get("state") in ("pending", "firing")})
    print(f"pending or firing: {', '.join(active) or 'none'}")
    # Three notifications were refused for good, and nothing else is wrong enough to fire within this time.
    firing = sorted({rule["name"] for rule in rules if rule.get("state") == "firing"})
    if firing != ["SecurePushDeadLettered"]:
        sys.exit(f"error: firing are {firing}, and SecurePushDeadLettered alone should")


def main():
    stack.wait_until(sees_all_targets, 180, f"Prometheus to see {TARGETS} targets")
    start = time.time()
    feed()
    # The last samples of the counters.
    time.sleep(3)
    end = time.time()
    check_rules()
    check_dashboards(start, end)
    if len(sys.argv) > 2 and sys.argv[2]:
        draw_overview(sys.argv[2], start, end, lambda query: ask(
            "query_range", query=concrete(query), start=start, end=end, step=1)["result"])
        print(f"drawn: {sys.argv[2]}")


main()
