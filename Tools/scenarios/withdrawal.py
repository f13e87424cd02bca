"""A notification that one of a user's three devices reads disappears from the two others: withdrawal.py

Needs a stack with DISPATCH_WITHDRAW=read. alice is logged in on no device, so all show the prompt. She logs in on the
first, which then shows the secret. Exits with 1 unless the prompt disappears from the two others, the secret stays on
the first, and each platform gets one push and one withdrawal.
"""
import contextlib
import json
import sys
import time

import stack
from devices import Devices

READER, OTHERS = "apple", ("fcmv1", "windows")
PLATFORMS = (READER, *OTHERS)


def device(platform):
    return Devices("--user", "alice", "--platform", platform, "--password-file",
                   stack.FOLDER / "secrets/alice.password", "--login-after", "3s" if platform == READER else "1h")


def crossings():
    """The platforms of the pushes and of the withdrawals that the hub has accepted."""
    sends = [record for record in stack.emulator("GET", "/emulator/messages")
             if record["Kind"] == "send" and record["Accepted"] and identifier in record["Body"]]
    withdrawals = [record["Platform"] for record in sends if "withdraw" in record["Body"]]
    return sorted(record["Platform"] for record in sends if "withdraw" not in record["Body"]), sorted(withdrawals)


with contextlib.ExitStack() as open_devices:
    devices = {platform: open_devices.enter_context(device(platform)) for platform in PLATFORMS}
    for found in devices.values():
        found.await_listening()
    status, _, answer = stack.request(
        stack.port("ingest"), "POST", "/api/notifications",
        json.dumps({"Recipient": "alice", "Payload": "Your results are in.", "Platforms": PLATFORMS}))
    if status != 201:
        sys.exit(f"ingest answered {status}: {answer[:500]}")
    identifier = json.loads(answer)["Id"]
    stack.wait_until(
        lambda: all(found.visible(identifier) == {"prompt"} for found in devices.values()), 30,
        "three devices show the prompt")
    print("three devices show the prompt", flush=True)
    stack.wait_until(lambda: "payload" in devices[READER].visible(identifier), 30, "the first device shows the secret")
    start = time.monotonic()
    stack.wait_until(
        lambda: not any(devices[platform].visible(identifier) for platform in OTHERS), 30,
        "the prompt is gone from the two others (is DISPATCH_WITHDRAW=read?)")
    print(f"read on {READER}; gone from {' and '.join(OTHERS)} after {time.monotonic() - start:.1f} s", flush=True)
    stack.wait_until(lambda: len(crossings()[1]) >= len(PLATFORMS), 30, "each platform gets its withdrawal")
    # Nothing more may come.
    time.sleep(3)
    screens = {platform: found.visible(identifier) for platform, found in devices.items()}

pushes, withdrawals = crossings()
print(f"pushes {len(pushes)}, withdrawals {len(withdrawals)}; screens: "
      + ", ".join(f"{platform} {' '.join(kinds) or 'empty'}" for platform, kinds in screens.items()))
is_kept = pushes == withdrawals == sorted(PLATFORMS) and screens == {
    platform: {"payload"} if platform == READER else set() for platform in PLATFORMS}
print("PASS" if is_kept else "FAIL")
sys.exit(0 if is_kept else 1)
