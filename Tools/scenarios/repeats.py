"""Concurrent requests with one Idempotency-Key over several ingest processes: repeats.py COUNT PORT..."""
import collections
import json
import sys
import threading
import uuid

import stack

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
ports = [int(port) for port in sys.argv[2:]] or [stack.port("ingest")]
key = str(uuid.uuid4())
recipient = f"repeats-{key}"
body = json.dumps({"Recipient": recipient, "Payload": "once"})
answers, lock, gate = [], threading.Lock(), threading.Event()


def repeat(port):
    gate.wait()
    status, headers, text = stack.request(
        port, "POST", "/api/notifications", body, stack.HEADERS | {"Idempotency-Key": key})
    with lock:
        replay = {name.lower(): value for name, value in headers.items()}.get("idempotency-replay")
        answers.append((port, status, replay, text if status == 201 else b""))


threads = [threading.Thread(target=repeat, args=(ports[n % len(ports)],)) for n in range(count)]
for thread in threads:
    thread.start()
gate.set()
for thread in threads:
    thread.join()
stored = stack.get_json(ports[0], f"/api/notifications?Recipient={recipient}&Limit=200")["Notifications"]
print(f"{len(answers)} requests over {len(ports)} processes: {len(stored)} notification(s)")
for (status, replay), number in sorted(collections.Counter((a[1], a[2]) for a in answers).items(), key=str):
    print(f"  {number:5d} x {status}" + (" Idempotency-Replay" if replay else ""))
print(f"  different bodies of 201: {len({a[3] for a in answers if a[1] == 201})}")
