"""A share of the pushes is lost on the way to the devices: reminders.py [COUNT] [SHARE] [STEPS].

COUNT users have a device each, and get a notification each with STEPS reminders. The hub accepts every push and loses a
SHARE of them. Exits with 1 unless at least 99 % of the notifications are fetched and shown, each once, and no push
follows a fetch. Takes 30 s for each step and 40 s more.
"""
import collections
import json
import math
import sys
import time

import stack
from devices import Devices

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.2
steps = int(sys.argv[3]) if len(sys.argv) > 3 else 3
# The shortest interval of reminders that ingest takes.
SECONDS = 30


def send():
    """Sends the notifications; their IDs."""
    lines = "".join(
        json.dumps({"Recipient": f"remind-{number + 1}", "Payload": f"secret {number + 1}", "Platforms": ["apple"],
                    "Remind": [f"{SECONDS}s"] * steps}) + "\n" for number in range(count))
    status, _, text = stack.request(
        stack.port("ingest"), "POST", "/api/notifications/batch", lines,
        stack.HEADERS | {"Content-Type": "application/x-ndjson"})
    results = [json.loads(line) for line in text.splitlines()] if status == 200 else []
    accepted = [result["Id"] for result in results if "Id" in result]
    if len(accepted) != count:
        sys.exit(f"ingest answered {status} and accepted {len(accepted)}: {text[:500]}")
    return accepted


def is_lost(record):
    return "swallowed" in (record.get("Fault") or "")


stack.emulator("DELETE", "/emulator/faults")
with Devices("--user", "remind-{n}", "--platform", "apple", "--devices", count,
             "--signing-key-file", stack.FOLDER / "secrets/token-signing-key.pem") as devices:
    devices.await_listening(count)
    print(f"{count} devices listen", flush=True)
    # Without the registrations, the log has room for the pushes.
    stack.emulator("DELETE", "/emulator/messages")
    stack.emulator("POST", "/emulator/faults", {"Operation": "send", "Swallow": True, "Rate": share, "Seed": 12})
    try:
        ids = send()
        # The steps, and one more in which nothing may come.
        end = time.monotonic() + (steps + 1) * SECONDS + 10
        while time.monotonic() < end:
            time.sleep(10)
            print(f"  {len(devices.payloads().keys() & set(ids))} of {count} shown", flush=True)
    finally:
        stack.emulator("DELETE", "/emulator/faults")
    shown = devices.payloads()

pushes = collections.defaultdict(list)
for record in stack.emulator("GET", "/emulator/messages"):
    if record["Kind"] == "send" and "withdraw" not in record["Body"]:
        pushes[json.loads(record["Body"])["secureId"]].append(record)
fetched, rescued, late = 0, 0, 0
for identifier in ids:
    read = stack.get_json(stack.port("ingest"), f"/api/notifications/{identifier}/status").get("ReadAt")
    if read is None:
        continue
    fetched += 1
    rescued += any(map(is_lost, pushes[identifier][:1]))
    late += sum(stack.timestamp(record["ReceivedAt"]) > stack.timestamp(read) for record in pushes[identifier])
sends = [record for identifier in ids for record in pushes[identifier]]
lost = sum(map(is_lost, sends))
unpushed = sum(not pushes[identifier] for identifier in ids)
visible = sum(shown[identifier] > 0 for identifier in ids)
twice = sum(shown[identifier] > 1 for identifier in ids)
print(f"pushes {len(sends)}, of these reminders {len(sends) - count + unpushed}; "
      f"lost {lost} ({100 * lost / max(1, len(sends)):.1f} %); never pushed {unpushed}")
print(f"fetched {fetched} of {count} ({100 * fetched / count:.2f} %), of these after a reminder {rescued}; "
      f"shown {visible}, shown twice {twice}, reminders after a fetch {late}")
# Four standard deviations: if the hub loses too few, this proves nothing.
is_lossy = lost >= share * len(sends) - 4 * math.sqrt(share * (1 - share) * len(sends))
is_kept = is_lossy and unpushed == 0 and min(fetched, visible) >= 0.99 * count and twice == 0 and late == 0
print("PASS" if is_kept else "FAIL")
sys.exit(0 if is_kept else 1)
