"""A hub that throttles everything for ten minutes: storm.py [SECONDS] [COUNT].

Sends COUNT notifications while every send is answered 429, and looks at what the store says: no attempt may be used up
and nothing given up; then lets the hub recover and measures how long the rest takes. Exits with 1 on a broken promise.
"""
import json
import re
import sys
import time

import stack

seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
EMULATOR = stack.port("hub")


def metric(name, **labels):
    """The sum of a counter's series that have these labels."""
    text = stack.request(stack.port("dispatcher"), "GET", "/metrics", headers={})[2].decode()
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    lines = re.findall(rf"^{name}(\{{[^}}]*\}})? ([0-9.e+]+)$", text, re.M)
    return sum(float(value) for series, value in lines if all(label in series for label in wanted))


def deliveries():
    """Of every notification: (status, its deliveries)."""
    answers = [stack.get_json(stack.port("ingest"), f"/api/notifications/{id}/status") for id in ids]
    return [(answer["Status"], answer.get("Deliveries", [])) for answer in answers]


def used_up(found):
    return sum(delivery["Attempts"] for _, all in found for delivery in all)


before = metric("securepush_dispatch_attempts_total", result="throttled")
stack.request(EMULATOR, "POST", "/emulator/faults", json.dumps({"Status": 429, "RetryAfter": 5}))
begin = time.monotonic()
ids = []
for number in range(count):
    body = json.dumps({"Recipient": f"storm-{number % 20}", "Payload": "patience"})
    ids.append(json.loads(stack.request(stack.port("ingest"), "POST", "/api/notifications", body)[2])["Id"])
    # Spread over the first half of the storm.
    time.sleep(max(0, begin + number * seconds / 2 / count - time.monotonic()))
while time.monotonic() < begin + seconds - 5:
    time.sleep(1)
found = deliveries()
refused = metric("securepush_dispatch_attempts_total", result="throttled") - before
attempts = used_up(found)
dead = sum(1 for _, all in found for delivery in all if delivery["State"] == "dead")
dead_lettered = metric("securepush_dead_lettered_total")
stack.request(EMULATOR, "DELETE", "/emulator/faults")
end = time.monotonic()
print(f"{count} notifications in {seconds} s of 429 with Retry-After: 5")
print(f"  requests the hub refused    {refused:.0f}: {refused / seconds * 5:.1f} in each 5 s, all platforms together")
print(f"  attempts used up            {attempts}")
print(f"  dead, dead letters          {dead}, {dead_lettered:.0f}")
while time.monotonic() < end + 180:
    found = deliveries()
    if all(status == "dispatched" for status, _ in found):
        break
    time.sleep(1)
drained = time.monotonic() - end
statuses = [status for status, _ in found]
print(f"  dispatched after the storm  {statuses.count('dispatched')} of {count} within {drained:.1f} s")
print(f"  attempts in all             {used_up(found)} for {3 * count} sends")
is_kept = attempts == 0 and dead == 0 and dead_lettered == 0 and statuses.count("dispatched") == count
print("PASS" if is_kept else "FAIL")
sys.exit(0 if is_kept else 1)
