#!/usr/bin/env python3
"""One sweep of one implementation: sweep.py concurrency|dispatchers|queue|rows NAME ADAPTER, called by sweep.sh.

It uses the functions of the yardstick's driver (tools/bench.py), so that both count CPU in the same way, and appends
one JSON object per point to $OUT.
"""

import json
import os
import re
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ["PEERS"], "tools"))
import bench  # noqa: E402
import report  # noqa: E402

E = os.environ
# Statements on ten million rows take minutes.
bench.sh.__kwdefaults__["limit"] = 900
# Rows that are really read; the others only fill the tables.
REAL = 30_000
SECONDS = int(E.get("SECONDS_EACH", 4))
BENCH_ENV = {
    # Rows {from} to {to} of a table that is full of old notifications.
    "FILL_SQL": "INSERT INTO notifications (recipient, payload, dispatched_at, read) "
    "SELECT 'user' || n % 1000, 'x', now(), true FROM generate_series({from}, {to}) n",
    "MARK_UNREAD_SQL": "UPDATE notifications SET read = false WHERE read AND payload <> 'x'",
}


def points(name, default):
    return [int(float(text)) for text in E.get(name, default).split()]


class Implementation:
    """An implementation of the yardstick, by its adapter."""

    def __init__(self, name, adapter):
        self.name, self.adapter = name, adapter
        self.home = os.path.dirname(os.path.abspath(adapter))
        bench.SQL.update(BENCH_ENV)
        path = os.path.join(self.home, "bench.env")
        if os.path.exists(path):
            lines = [line.rstrip("\n") for line in open(path) if "=" in line and not line.startswith("#")]
            bench.SQL.update(line.split("=", 1) for line in lines)

    def act(self, *arguments):
        bench.sh(self.adapter, *arguments)

    def record(self, sweep, x, what, values):
        at = time.strftime("%FT%TZ", time.gmtime())
        line = {"sweep": sweep, "name": self.name, "x": x, "what": what, **values, "at": at}
        with open(E["OUT"], "a") as file:
            file.write(json.dumps(line) + "\n")
        print(self.name, sweep, x, what, values.get("per_s"), values.get("cpu_total_s_per_10k"), flush=True)


class Memory:
    """Private and resident MiB of a role's processes, when idle and at most."""

    def __init__(self, role):
        self.role, self.idle, self.peak, self.ends = role, self.read(role), (0, 0), threading.Event()
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()

    @staticmethod
    def read(role):
        private = resident = 0
        for pid in bench.tree(bench.pids(role), bench.procs()):
            try:
                text = open(f"/proc/{pid}/smaps_rollup").read()
            except OSError:
                continue
            private += sum(int(kib) for kib in re.findall(r"^Private_\w+:\s+(\d+) kB", text, re.M))
            resident += sum(int(kib) for kib in re.findall(r"^Rss:\s+(\d+) kB", text, re.M))
        return round(private / 1024, 1), round(resident / 1024, 1)

    def sample(self):
        while not self.ends.wait(0.3):
            self.peak = tuple(map(max, self.peak, self.read(self.role)))

    def stop(self):
        self.ends.set()
        self.thread.join()
        self.peak = tuple(map(max, self.peak, self.read(self.role)))
        keys = ("private_idle_mib", "resident_idle_mib", "private_peak_mib", "resident_peak_mib")
        return dict(zip(keys, self.idle + self.peak))


def wrk(port, script, connections, seconds, **env):
    threads = min(2, connections)
    out = bench.sh(
        "wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--latency", "-s",
        f"{bench.PEERS}/tools/{script}", f"http://127.0.0.1:{port}/", env={**E, **env}, limit=seconds + 60)
    result = json.loads(re.search(r"^JSON (.*)$", out, re.M)[1])
    result["per_s"] = round(result["requests"] / result["secs"], 1)
    return result


def start(it, role, port):
    it.act("start_" + role)
    bench.wait_http(port)
    time.sleep(1)


def post(connections):
    """One measurement of ingest."""
    wrk(E["INGEST_PORT"], "post.lua", connections, 1)
    meter = bench.Meter("ingest")
    result = wrk(E["INGEST_PORT"], "post.lua", connections, SECONDS)
    result.update(meter.stop(result["requests"]))
    return result


def get(connections, files):
    """One measurement of retrieval."""
    meter = bench.Meter("retrieval")
    result = wrk(E["RETRIEVAL_PORT"], "get.lua", connections, SECONDS, **files)
    result.update(meter.stop(result["requests"]))
    return result


def reading_files(ids):
    bench.sh(bench.BUILD + "/tools", "tokens", "1000", bench.RUN + "/tokens.lua")
    with open(bench.RUN + "/ids.txt", "w") as file:
        file.write(ids + "\n")
    return {"TOKENS_LUA": bench.RUN + "/tokens.lua", "IDS_FILE": bench.RUN + "/ids.txt"}


def concurrency(it):
    connections = points("CONNECTIONS", "1 4 16 64 256")
    bench.fresh(it.home)
    start(it, "ingest", E["INGEST_PORT"])
    memory = Memory("ingest")
    for count in connections:
        it.record("concurrency", count, "ingest", post(count))
    it.record("memory", 0, "ingest", memory.stop())
    it.act("stop")
    bench.fresh(it.home, int(E.get("REAL_ROWS", REAL)))
    files = reading_files(bench.psql(bench.SQL["IDS_SQL"]))
    start(it, "retrieval", E["RETRIEVAL_PORT"])
    memory = Memory("retrieval")
    bench.psql(bench.SQL["MARK_READ_SQL"])
    bench.psql("VACUUM")
    wrk(E["RETRIEVAL_PORT"], "get.lua", 64, 1, **files)
    for count in connections:
        it.record("concurrency", count, "retrieval", get(count, files))
    it.record("memory", 0, "retrieval", memory.stop())


def drain(it, queued, dispatchers, remember=None):
    """Drains a queue of this length, as the yardstick does."""
    bench.fresh(it.home, queued)
    ids = bench.psql(bench.SQL["MSG_SQL"]) + "\n"
    if int(bench.sh(bench.BUILD + "/tools", "seedq", inp=ids, limit=900)) != queued:
        raise SystemExit("seeding the queue fell short")
    bench.get(f"{bench.HUB}/reset?latency_ms=0", b"")
    it.act("start_dispatcher", str(dispatchers))
    memory = Memory("dispatcher") if remember else None
    begin, meter, base, cap = time.time(), None, 0, 60 + queued / 2000
    while time.time() - begin < cap:
        stats = bench.stats()
        if stats["complete"] and not meter:
            meter, base = bench.Meter("dispatcher"), stats["complete"]
        if stats["complete"] >= queued:
            break
        time.sleep(0.02)
    stats = bench.stats()
    span = (stats["last_ns"] - stats["first_ns"]) / 1e9
    if not meter or not span:
        raise SystemExit("nothing was sent")
    # The outcomes of the last ones belong to the cost.
    waited = time.time()
    while int(bench.psql(bench.SQL["DISPATCHED_SQL"])) < stats["complete"] and time.time() - waited < 20:
        time.sleep(0.05)
    result = {"per_s": round(stats["complete"] / span, 1), **{key: stats[key] for key in ("complete", "dup", "bad")}}
    result.update(meter.stop(max(1, stats["complete"] - base)))
    if memory:
        it.record("memory", 0, "dispatcher", memory.stop())
    it.act("stop")
    return result


def dispatchers(it):
    queued = int(E.get("DRAINED", REAL))
    for count in points("DISPATCHERS", "1 2 3 4"):
        it.record("dispatchers", count, "drain", drain(it, queued, count, remember=count == 1))


def queue(it):
    for queued in points("QUEUED", "1e3 1e4 1e5 1e6"):
        # A short drain is a few ticks of the clock that counts CPU.
        rounds = 5 if queued <= 1000 else 3 if queued <= 10_000 else 1
        results = [drain(it, queued, 1) for _ in range(rounds)]
        it.record("queue", queued, "drain", {**report.merge(results), "rounds": rounds})


def rows(it):
    real = 0
    for total in points("ROWS", "1e3 1e4 1e5 1e6 1e7"):
        if total <= REAL or not real:
            it.act("stop")
            real = filled = min(total, REAL)
            bench.fresh(it.home, real)
            files = reading_files(bench.psql(bench.SQL["IDS_SQL"]))
        while filled < total:
            more = min(500_000, total - filled)
            fill = bench.SQL["FILL_SQL"].replace("{from}", str(filled + 1)).replace("{to}", str(filled + more))
            bench.psql(fill)
            filled += more
        bench.psql(bench.SQL["MARK_UNREAD_SQL"])
        bench.psql("VACUUM ANALYZE")
        bench.psql("CHECKPOINT")
        for role, port in (("retrieval", E["RETRIEVAL_PORT"]), ("ingest", E["INGEST_PORT"])):
            start(it, role, port)
            if role == "retrieval":
                it.record("rows", total, "retrieval unread", get(64, files))
                it.record("rows", total, "retrieval", get(64, files))
            else:
                it.record("rows", total, "ingest", post(64))
            it.act("stop")
        bench.sh(bench.BUILD + "/tools", "qpurge")


def main():
    sweep, name, adapter = sys.argv[1:]
    it = Implementation(name, adapter)
    it.act("stop")
    begin = time.time()
    try:
        {"concurrency": concurrency, "dispatchers": dispatchers, "queue": queue, "rows": rows}[sweep](it)
    finally:
        it.act("stop")
    print(f"{name}: {sweep} took {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
