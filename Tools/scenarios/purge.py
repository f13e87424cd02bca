"""Ingest's latency at a fixed rate before and while expired rows are destroyed: purge.py ROWS RATE SECONDS (PostgreSQL)."""
import json
import subprocess
import sys
import threading
import time

import stack

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
rate = int(sys.argv[2]) if len(sys.argv) > 2 else 200
seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 30
url = f"postgres://securepush@127.0.0.1:{stack.PORTS['database_port']}/securepush"


def sql(text):
    return subprocess.run(["psql", "-XAtq", url, "-c", text], check=True, capture_output=True, text=True).stdout.strip()


def measure(duration):
    """Latencies in ms of requests at the fixed rate, each from its intended start."""
    latencies, lock, start = [], threading.Lock(), time.monotonic()
    lanes = 16

    def lane(number):
        import http.client
        connection = http.client.HTTPConnection("127.0.0.1", stack.port("ingest"), timeout=60)
        step = 0
        while True:
            intended = start + (step * lanes + number) / rate
            if intended > start + duration:
                return
            time.sleep(max(0, intended - time.monotonic()))
            connection.request("POST", "/api/notifications",
                               json.dumps({"Recipient": f"purge-{number}", "Payload": "x" * 100}), stack.HEADERS)
            answer = connection.getresponse()
            answer.read()
            with lock:
                latencies.append((answer.status, (time.monotonic() - intended) * 1000))
            step += 1

    threads = [threading.Thread(target=lane, args=(number,)) for number in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies


def show(name, latencies):
    values = [latency for _, latency in latencies]
    failed = sum(status != 201 for status, _ in latencies)
    print(f"{name}: {len(values)} requests, {failed} failed, p50 {stack.percentile(values, 0.5):.1f} ms, "
          f"p99 {stack.percentile(values, 0.99):.1f} ms, most {max(values):.1f} ms", flush=True)


measure(5)
show("before", measure(seconds))
sql(f"""
INSERT INTO notifications (id, sender, recipient, presentation, created_at, expires_at)
SELECT gen_random_uuid(), 'purge', 'purged-' || n % 1000, 0, 0, 1 FROM generate_series(1, {rows}) AS n;
INSERT INTO payloads (notification_id, key_id, sealed, purge_at)
SELECT id, 'k', decode(repeat('00', 200), 'hex'), (extract(epoch FROM now()) * 1000 + 5000)::bigint
FROM notifications WHERE sender = 'purge'; ANALYZE payloads""")
left = "SELECT count(*) FROM payloads WHERE sealed IS NOT NULL AND purge_at < 2000000000000 AND key_id = 'k'"
print(f"{rows} expired rows; destroying begins within 15 s", flush=True)
begin = time.monotonic()
during = []
while time.monotonic() < begin + 600:
    during += measure(10)
    remaining = int(sql(left))
    print(f"  {time.monotonic() - begin:5.0f} s: {remaining} left", flush=True)
    if remaining == 0:
        break
show("while they are destroyed", during)
print(f"{rows - remaining} destroyed in {time.monotonic() - begin:.0f} s")
