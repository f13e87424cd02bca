"""One platform's hub answering after 30 s: slow_lane.py [SECONDS] [RATE].

Sends at a steady rate, first with a healthy hub and then with one that answers for `windows` after 30 s, and compares how
long the other platforms' pushes take from the notification's creation to the hub, by the hub's own records. The
two are measured in turn, three times, for a machine has good and bad minutes.
"""
import json
import sys
import threading
import time

import stack

seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
rate = int(sys.argv[2]) if len(sys.argv) > 2 else 100
EMULATOR = stack.port("hub")
SLOW, OTHERS = "windows", ("apple", "fcmv1")


class Crossings(threading.Thread):
    """What crosses the hub, read as it comes, for the hub keeps a bounded number."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen, self.ended = {}, threading.Event()
        newest = stack.get_json(EMULATOR, "/emulator/messages?Limit=1")
        self.after = newest[-1]["Sequence"] if newest else 0
        self.start()

    def run(self):
        while not self.ended.wait(0.2):
            for record in stack.get_json(EMULATOR, f"/emulator/messages?After={self.after}"):
                self.after = record["Sequence"]
                if record["Kind"] == "send" and record.get("AcceptedAt"):
                    id = next((id for id in record["Body"].split('"') if len(id) == 36 and id[14] == "7"), None)
                    self.seen.setdefault((id, record["Platform"]), 1000 * stack.timestamp(record["AcceptedAt"]))

    def stop(self):
        self.ended.set()
        self.join()
        return self.seen


def phase(name):
    crossings, ids = Crossings(), []
    begin = time.monotonic()
    for number in range(seconds * rate):
        body = json.dumps({"Recipient": f"lane-{number % 20}", "Payload": "quick"})
        ids.append(json.loads(stack.request(stack.port("ingest"), "POST", "/api/notifications", body)[2])["Id"])
        time.sleep(max(0, begin + number / rate - time.monotonic()))
    time.sleep(3)
    seen = crossings.stop()
    # The first 48 bits of an ID are the time of its creation.
    created = {id: int(id.replace("-", "")[:12], 16) for id in ids}
    latencies = [seen[id, p] - created[id] for id in ids for p in OTHERS if (id, p) in seen]
    p50, p95, p99 = (stack.percentile(latencies, share) for share in (0.5, 0.95, 0.99))
    missing = len(ids) * len(OTHERS) - len(latencies)
    print(f"  {name:8}  sends {len(latencies):6}  missing {missing:4}  "
          f"p50 {p50:7.1f}  p95 {p95:7.1f}  p99 {p99:7.1f}  mean {sum(latencies) / len(latencies):7.1f} ms", flush=True)
    return p50, p95, p99


print(f"{', '.join(OTHERS)}: created to taken by the hub, {rate} notifications a second for {seconds} s each")
phase("warm-up")
healthy, slow = [], []
for _ in range(3):
    healthy.append(phase("healthy"))
    stack.request(EMULATOR, "POST", "/emulator/faults", json.dumps({"Platform": SLOW, "LatencyMs": 30_000}))
    slow.append(phase("slow"))
    stack.request(EMULATOR, "DELETE", "/emulator/faults")
    # The messages that the lane held come back before the next healthy phase.
    time.sleep(20)
for index, name in enumerate(("p50", "p95", "p99")):
    medians = [sorted(values[index] for values in phases)[1] for phases in (healthy, slow)]
    print(f"  {name}: {medians[0]:.1f} -> {medians[1]:.1f} ms, x {medians[1] / medians[0]:.2f} (medians of three)")
