"""A share of the pushes is lost on the way to the devices. How many notifications are fetched all the same, and does a
reminder follow a fetch? reminders.py COUNT SHARE STEPS"""
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import stack

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.2
steps = int(sys.argv[3]) if len(sys.argv) > 3 else 3
SECONDS = 30
binaries = pathlib.Path(os.environ.get("SECUREPUSH_BIN", pathlib.Path(__file__).parents[2] / ".build/debug"))


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Devices:
    """One device per user in one process, apps of the Swift SDK; counts the payloads that they show."""

    def __init__(self):
        environment = dict(os.environ, RETRIEVAL_URL=f"http://127.0.0.1:{stack.port('retrieval')}",
                           HUB_EMULATOR_URL=f"http://127.0.0.1:{stack.port('emulator')}")
        self.process = subprocess.Popen(
            [binaries / "securepush", "device", "--user", "remind-{n}", "--platform", "apple", "--devices", str(count),
             "--signing-key-file", stack.FOLDER / "secrets/token-signing-key.pem", "--json"],
            stdout=subprocess.PIPE, text=True, env=environment)
        self.listening, self.shown, self.lock = 0, {}, threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            with self.lock:
                if event["Event"] == "listening":
                    self.listening += 1
                if event["Event"] == "shows" and event.get("Kind") == "payload":
                    self.shown[event["Id"]] = self.shown.get(event["Id"], 0) + 1

    def wait(self):
        deadline = time.monotonic() + 120
        while self.listening < count:
            assert time.monotonic() < deadline and self.process.poll() is None, f"{self.listening} devices listen"
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def emulator(method, path, body=None):
    return stack.request(stack.port("emulator"), method, path, body, {"Content-Type": "application/json"})


emulator("DELETE", "/emulator/messages")
devices = Devices()
try:
    devices.wait()
    print(f"{count} devices listen", flush=True)
    emulator("POST", "/emulator/faults", json.dumps({"Operation": "send", "Swallow": True, "Rate": share, "Seed": 12}))
    lines = "".join(
        json.dumps({"Recipient": f"remind-{number + 1}", "Payload": f"secret {number + 1}", "Platforms": ["apple"],
                    "Remind": [f"{SECONDS}s"] * steps}) + "\n" for number in range(count))
    status, _, text = stack.request(
        stack.port("ingest"), "POST", "/api/notifications/batch", lines,
        dict(stack.HEADERS, **{"Content-Type": "application/x-ndjson"}))
    ids = [json.loads(line)["Id"] for line in text.decode().splitlines()]
    assert status == 200 and len(ids) == count, text[:500]
    # The steps, and one more of silence.
    end = time.monotonic() + (steps + 1) * SECONDS + 10
    while time.monotonic() < end:
        time.sleep(10)
        print(f"  {len(devices.shown)} of {count} shown", flush=True)
finally:
    emulator("DELETE", "/emulator/faults")
    devices.stop()

pushes = collections.defaultdict(list)
swallowed = 0
for record in json.loads(emulator("GET", "/emulator/messages?Limit=10000")[2]):
    if record["Kind"] == "send" and record["Accepted"] and "withdraw" not in record["Body"]:
        pushes[json.loads(record["Body"])["secureId"]].append(seconds(record["ReceivedAt"]))
        swallowed += "swallowed" in record.get("Fault", "")
fetched, late, sent = 0, 0, 0
for identifier in ids:
    state = stack.get_json(stack.port("ingest"), f"/api/notifications/{identifier}/status")
    sent += len(pushes[identifier]) - 1
    if "ReadAt" in state:
        fetched += 1
        late += sum(push > seconds(state["ReadAt"]) for push in pushes[identifier])
print(f"pushes {sum(map(len, pushes.values()))}, of these reminders {sent}; swallowed {swallowed}")
print(f"fetched {fetched} of {count} ({100 * fetched / count:.2f} %), shown {len(devices.shown)}, "
      f"shown twice {sum(times > 1 for times in devices.shown.values())}, reminders after a fetch {late}")
sys.exit(0 if fetched >= 0.99 * count and late == 0 else 1)
