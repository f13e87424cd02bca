"""One node after another of a three-node RabbitMQ killed under load: cluster.py [COUNT] [RATE].

Needs a stack with a cluster: BROKER_NODES=3 scripts/stack.sh up. Kills the node that leads the dispatch queue, starts it
again, kills the one that leads it then, starts that again; exits with 1 when anything accepted was not dispatched.
"""
import collections
import json
import os
import re
import subprocess
import sys
import threading
import time

import stack

count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
rate = int(sys.argv[2]) if len(sys.argv) > 2 else 40
CLUSTER = stack.FOLDER / "rabbitmq-cluster"
QUEUE = "securepush.dispatch"


def cluster(*arguments):
    script = str(stack.ROOT / "scripts/rabbitmq-cluster.sh")
    done = subprocess.run([script, arguments[0], str(CLUSTER), *arguments[1:]], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"rabbitmq-cluster.sh {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


class Settled(threading.Thread):
    """What the dispatcher has settled, and its and ingest's readiness, looked at ten times a second until stopped."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples, self.readiness, self.ended = [], [], threading.Event()
        self.start()

    def run(self):
        pattern = re.compile(rb"^securepush_dispatch_settled_total(?:\{[^}]*\})? ([0-9.e+]+)$", re.M)
        while not self.ended.wait(0.1):
            try:
                found = pattern.search(stack.request(stack.port("dispatcher"), "GET", "/metrics", headers={})[2])
                self.samples.append((time.monotonic(), float(found[1]) if found else 0.0))
                status = stack.request(stack.port("dispatcher"), "GET", "/readyz", headers={})[0]
                self.readiness.append((time.monotonic(), status))
            except OSError:
                pass

    def total(self):
        return self.samples[-1][1] if self.samples else 0

    def longest_pause(self, begin, end):
        """The longest time within these in which nothing was settled."""
        last, longest, before = begin, 0.0, None
        for when, total in self.samples:
            if before is not None and total > before:
                if when >= begin:
                    longest = max(longest, when - max(last, begin))
                if when > end:
                    return longest
                last = when
            before = total
        return max(longest, end - last)

    def unready(self, begin, end):
        """How long the dispatcher said that it was not ready."""
        seconds, previous = 0.0, None
        for when, status in self.readiness:
            if previous and begin <= when <= end and status != 200:
                seconds += when - previous
            previous = when
        return seconds


def connections():
    """How many AMQP connections each node has, by its number."""
    number = collections.Counter()
    base = int((CLUSTER / "port").read_text())
    for line in open("/proc/net/tcp"):
        fields = line.split()
        if fields[3] == "01":  # established; the cluster's ports are this stack's alone
            remote = int(fields[2].split(":")[1], 16)
            if remote in (base, base + 3, base + 6):
                number[(remote - base) // 3 + 1] += 1
    return number


environment = os.environ | {
    "INGEST_URL": f"http://127.0.0.1:{stack.port('ingest')}", "INGEST_API_KEY": stack.KEY,
    "HUB_EMULATOR_URL": f"http://127.0.0.1:{stack.port('hub')}",
}
leader = cluster("leader", QUEUE)
settled = Settled()
load = subprocess.Popen(
    [str(stack.BIN / "securepush"), "load-test", "--count", str(count), "--rate", str(rate), "--json",
     "--platform", "apple", "--platform", "fcmv1", "--platform", "windows", "--drain-timeout", "2m"],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
before = settled.total()
stack.wait_until(lambda: settled.total() > before + rate, 30, "the load does not get through")
start = time.monotonic()
rows = []
for turn in range(2):
    if turn > 0:
        leader = cluster("leader", QUEUE)
    held = connections()[int(leader)]
    begin = time.monotonic()
    cluster("kill", leader)
    time.sleep(12)
    end = time.monotonic()
    rows.append((leader, held, begin - start, settled.longest_pause(begin, end), settled.unready(begin, end)))
    under_load = load.poll() is None
    cluster("restart", leader)
    time.sleep(3)
    rows[-1] += (time.monotonic() - begin, under_load)
output, _ = load.communicate(timeout=600)
settled.ended.set()
settled.join()

report = json.loads(output.splitlines()[-1])
statuses = report["Dispatch"]["Statuses"]
lost = report["Accepted"] - statuses.get("dispatched", 0) - statuses.get("read", 0)
print(f"{report['Sent']} sent at {rate}/s, {report['Accepted']} accepted, refused or failed {report['Failed']}, "
      f"p99 of acceptance {report['AcceptLatency'].get('P99Milliseconds', report['AcceptLatency'])}")
print("| node killed | led the dispatch queue | connections of ours to it | at (s) | dispatch paused (s) "
      "| not ready (s) | back after (s) | load still ran |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
for leader, held, at, pause, unready, back, under_load in rows:
    print(f"| {leader} | yes | {held} | {at:.1f} | {pause:.2f} | {unready:.2f} | {back:.1f} | "
          f"{'yes' if under_load else 'no'} |")
print(f"statuses {json.dumps(statuses, sort_keys=True)}, pending {report['Dispatch']['Pending']}, lost {lost}, "
      f"drained {report['Dispatch']['DrainSeconds']} s after the last was accepted")
sys.exit(0 if lost == 0 and report["Failed"] == 0 and all(row[-1] for row in rows) else 1)
