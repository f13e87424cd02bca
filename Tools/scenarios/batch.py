"""A batch of 10,000 lines (1 KiB of payload each): time, and ingest's memory before and at its peak."""
import json
import sys
import time

import stack

lines = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
size = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
body = "".join(
    json.dumps({"Recipient": f"batch-{n % 100}", "Payload": f"{n:08d}" + "x" * (size - 8)}) + "\n" for n in range(lines)
).encode()
process = stack.pid("ingest")
before = stack.resident(process)
peak = stack.Peak(process)
start = time.monotonic()
status, _, answer = stack.request(
    stack.port("ingest"), "POST", "/api/notifications/batch", body,
    stack.HEADERS | {"Content-Type": "application/x-ndjson"})
elapsed = time.monotonic() - start
results = [json.loads(line) for line in answer.splitlines()]
accepted = sum("Id" in result for result in results)
print(f"{lines} lines of {len(body)} bytes: {status}, {len(results)} results, {accepted} accepted, {elapsed:.2f} s, "
      f"{accepted / elapsed:.0f}/s; ingest {before / 1024:.1f} MiB before, {peak.stop() / 1024:.1f} MiB at most")
