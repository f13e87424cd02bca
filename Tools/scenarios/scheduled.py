"""Many notifications for the same second: how late each was dispatched, by its delivery's time."""
import datetime
import json
import re
import sys
import threading
import time

import stack

count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ahead = int(sys.argv[2]) if len(sys.argv) > 2 else 20
due = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(seconds=ahead)
not_before = due.strftime("%Y-%m-%dT%H:%M:%SZ")
ids = []
for first in range(0, count, 10_000):
    lines = "".join(
        json.dumps({"Recipient": f"scheduled-{n % 100}", "Payload": "later", "Platforms": ["apple"],
                    "NotBefore": not_before}) + "\n" for n in range(first, min(first + 10_000, count)))
    _, _, answer = stack.request(
        stack.port("ingest"), "POST", "/api/notifications/batch", lines.encode(),
        stack.HEADERS | {"Content-Type": "application/x-ndjson"})
    ids += [json.loads(line)["Id"] for line in answer.splitlines()]
early = datetime.datetime.now(datetime.timezone.utc)
assert early < due, f"accepting took too long: raise the second argument beyond {ahead}"
print(f"{len(ids)} accepted for {not_before}, {(due - early).total_seconds():.1f} s before it")


def released():
    """How many IDs the sweep has brought to the broker, confirmed."""
    text = stack.request(stack.port("ingest"), "GET", "/metrics")[2].decode()
    found = re.search(r"^securepush_outbox_swept_total (\d+)", text, re.M)
    return int(found[1]) if found else 0


def watch():
    """Polls until all are released; notes when each had been."""
    start = released()
    while len(releases) < len(ids):
        time.sleep(0.02)
        late = (datetime.datetime.now(datetime.timezone.utc) - due).total_seconds()
        releases.extend([late] * (released() - start - len(releases)))


releases = []
watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
lateness, deadline = {}, time.monotonic() + ahead + 120
wanted = set(ids)
time.sleep(max(0, (due - datetime.datetime.now(datetime.timezone.utc)).total_seconds()) + 3)
while len(lateness) < len(wanted) and time.monotonic() < deadline:
    time.sleep(1)
    page = stack.get_json(stack.port("ingest"), "/api/notifications?Status=dispatched&Limit=200")
    while True:
        fresh = [n["Id"] for n in page["Notifications"] if n["Id"] in wanted and n["Id"] not in lateness]
        for notification in fresh:
            status = stack.get_json(stack.port("ingest"), f"/api/notifications/{notification}/status")
            sent = datetime.datetime.fromisoformat(status["Deliveries"][0]["UpdatedAt"].replace("Z", "+00:00"))
            lateness[notification] = (sent - due).total_seconds()
        if "Next" not in page or not any(n["Id"] in wanted for n in page["Notifications"]):
            break
        page = stack.get_json(
            stack.port("ingest"), f"/api/notifications?Status=dispatched&Limit=200&Before={page['Next']}")
print(f"{len(releases)} confirmed by the broker; lateness in s: p50 {stack.percentile(releases, 0.5):.3f}, "
      f"p99 {stack.percentile(releases, 0.99):.3f}, most {max(releases):.3f}")
values = list(lateness.values())
print(f"{len(values)} of {len(wanted)} sent; lateness from NotBefore to the stored hub answer in s: "
      f"least {min(values):.3f}, p50 {stack.percentile(values, 0.5):.3f}, p99 {stack.percentile(values, 0.99):.3f}, "
      f"most {max(values):.3f}")
