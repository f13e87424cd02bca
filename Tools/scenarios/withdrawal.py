"""What one of three devices has read disappears from the two others: withdrawal.py (start the stack with
DISPATCH_WITHDRAW=read)."""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import stack

binaries = pathlib.Path(os.environ.get("SECUREPUSH_BIN", pathlib.Path(__file__).parents[2] / ".build/debug"))
environment = dict(os.environ, RETRIEVAL_URL=f"http://127.0.0.1:{stack.port('retrieval')}",
                   HUB_EMULATOR_URL=f"http://127.0.0.1:{stack.port('emulator')}")


class Device:
    """A device of alice that nobody is logged in to at first; keeps what it tells."""

    def __init__(self, platform, login):
        self.platform, self.events = platform, []
        self.process = subprocess.Popen(
            [binaries / "securepush", "device", "--user", "alice", "--platform", platform, "--password-file",
             stack.FOLDER / "secrets/alice.password", "--login-after", login, "--json"],
            stdout=subprocess.PIPE, text=True, env=environment)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def has(self, event, **members):
        return any(told["Event"] == event and members.items() <= told.items() for told in list(self.events))


def wait(what, condition, limit=30):
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"not within {limit} s: {what}")
        time.sleep(0.1)


def emulator(method, path):
    return stack.request(stack.port("emulator"), method, path, None, {})[2]


emulator("DELETE", "/emulator/messages")
reader, *others = devices = [Device("apple", "3s"), Device("fcmv1", "1h"), Device("windows", "1h")]
try:
    wait("three devices listen", lambda: all(device.has("listening") for device in devices))
    body = json.dumps({"Recipient": "alice", "Payload": "Your results are in."})
    status, _, _ = stack.request(stack.port("ingest"), "POST", "/api/notifications", body)
    assert status == 201, status
    wait("three prompts", lambda: all(device.has("shows", Kind="prompt") for device in devices))
    print("three devices show the prompt", flush=True)
    wait("the first shows the secret", lambda: reader.has("shows", Kind="payload"))
    start = time.monotonic()
    wait("it is gone from the others", lambda: all(device.has("removed") for device in others))
    print(f"read on {reader.platform}; gone from {' and '.join(device.platform for device in others)} "
          f"after {time.monotonic() - start:.1f} s", flush=True)
    time.sleep(3)
finally:
    for device in devices:
        device.process.terminate()
    for device in devices:
        device.process.wait(20)
sends = [record for record in json.loads(emulator("GET", "/emulator/messages")) if record["Kind"] == "send"]
withdrawals = sum("withdraw" in record["Body"] for record in sends)
print(f"pushes {len(sends) - withdrawals}, withdrawals {withdrawals}")
sys.exit(0 if (len(sends), withdrawals) == (6, 3) else 1)
