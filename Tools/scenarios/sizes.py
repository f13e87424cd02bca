"""What each hot operation of the store costs at several numbers of rows: sizes.py postgres|sqlite [ROWS...].

Needs no stack: it starts a PostgreSQL of its own, or makes a file, and deletes both. CPU is that of all server
processes (SQLite: of the tool); buffers and WAL are from pg_stat_statements.
"""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
SEED = os.environ.get("BENCHMARK_SEED", str(ROOT / ".build/debug/benchmark-seed"))
kind = sys.argv[1] if len(sys.argv) > 1 else "postgres"
sizes = [int(size) for size in sys.argv[2:]] or [1_000, 1_000_000]
folder = pathlib.Path(tempfile.mkdtemp(prefix="sizes."))
keys = folder / "payload-keys"
keys.write_text("k1 " + "A" * 43 + "=\n")
START, DAY, NEVER = 1_790_000_000_000, 86_400_000, 9223372036854775807
SENT = '{"p":"%s","s":"sent","n":1,"m":"1234567890123456789-1234567890123456789-1","t":1790000000000}'
DELIVERIES = "[" + ",".join(SENT % name for name in ("apple", "fcmv1", "windows")) + "]"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def inserts(rows, identifier, series, payload):
    """Statements that fill the tables: of ten rows nine were dispatched, and a third of all was read."""
    queued, users = rows - rows // 10, max(rows // 100, 10)
    return [f"""
        INSERT INTO notifications (id, sender, recipient, status, presentation, attempt, recorded_attempt, created_at,
            expires_at, read_at, traceparent, deliveries)
        SELECT {identifier}, 'sender' || (i % 3), 'user' || (i % {users}), CASE WHEN i > {queued} THEN 0 ELSE 2 END,
            0, CASE WHEN i > {queued} THEN 0 ELSE 1 END,
            CASE WHEN i > {queued} THEN NULL ELSE 1 END, {START} + i, {START} + i + 30 * {DAY},
            CASE WHEN i % 3 = 0 THEN {START} + i END, '{TRACE}',
            CASE WHEN i > {queued} THEN NULL ELSE '{DELIVERIES}' END
        FROM {series}""", f"""
        INSERT INTO payloads (notification_id, key_id, sealed, purge_at)
        SELECT {identifier}, 'k1', {payload}, {START} + i + 30 * {DAY} FROM {series}""", f"""
        INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
        SELECT {identifier}, {NEVER}, {START} + i + 60000, '{TRACE}' FROM {series} WHERE i > {queued}""", f"""
        INSERT INTO follow_ups (notification_id, kind, due_at)
        SELECT {identifier}, 1, CASE WHEN i % 1000 = 0 THEN {START} + i ELSE {NEVER} END FROM {series}
        WHERE i % 20 = 0"""]


class Postgres:
    def __init__(self):
        self.folder = folder / "postgres"
        with socket_free() as port:
            self.port = port
        self.script("start", self.folder, self.port)
        with open(self.folder / "data/postgresql.conf", "a") as settings:
            settings.write("shared_preload_libraries = 'pg_stat_statements'\nshared_buffers = 512MB\n"
                           "max_wal_size = 4GB\ncheckpoint_timeout = 30min\n")
        self.script("stop", self.folder)
        self.script("start", self.folder, self.port)
        self.server = (self.folder / "pid").read_text().strip()

    def script(self, *arguments):
        subprocess.run([ROOT / "scripts/postgres.sh", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)

    def sql(self, text, database):
        url = f"postgres://postgres@127.0.0.1:{self.port}/{database}"
        return subprocess.run([ROOT / "scripts/postgres.sh", "sql", url, text], check=True, capture_output=True,
                              text=True).stdout.strip()

    def fill(self, rows):
        self.database = f"rows{rows}"
        self.sql(f"CREATE DATABASE {self.database} OWNER securepush", "postgres")
        self.url = f"postgres://securepush@127.0.0.1:{self.port}/{self.database}"
        seed(self.url, "rows", "0")
        identifier = f"(lpad(to_hex({START} + i), 12, '0') || '70008' || lpad(to_hex(i), 15, '0'))::uuid"
        # Ciphertext does not compress.
        payload = "decode(repeat(md5(i::text), 19), 'hex')"
        # Indexes of a filled table take a third of the time.
        tables = "'notifications', 'payloads', 'outbox', 'follow_ups'"
        indexes = self.sql("SELECT indexname || '|' || indexdef FROM pg_indexes WHERE tablename IN (" + tables +
                           ") AND indexdef NOT LIKE '%UNIQUE%'", self.database).splitlines()
        for index in indexes:
            self.sql("DROP INDEX " + index.split("|")[0], self.database)
        for statement in inserts(rows, identifier, f"generate_series(1::bigint, {rows}) AS i", payload):
            self.sql(statement, self.database)
        for index in indexes:
            self.sql(index.split("|", 1)[1], self.database)
        for statement in ("VACUUM ANALYZE", "CREATE EXTENSION pg_stat_statements", "CHECKPOINT"):
            self.sql(statement, self.database)

    def processor_time(self):
        total = 0
        for process in os.listdir("/proc"):
            try:
                parent = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[1]
                if self.server in (process, parent):
                    total += int(open(f"/proc/{process}/schedstat").read().split()[0])
            except (OSError, IndexError):
                continue
        return total / 1e9

    def begin(self):
        self.sql("SELECT pg_stat_statements_reset()", self.database)
        self.before = self.processor_time()

    def end(self, _):
        time.sleep(0.05)
        used = self.processor_time() - self.before
        row = self.sql("SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0), coalesce(sum(wal_bytes), 0),"
                       " coalesce(sum(shared_blks_read), 0) FROM pg_stat_statements"
                       " WHERE query NOT LIKE '%pg_stat_statements%'", self.database).split("|")
        return (used, *map(float, row))

    def stop(self):
        self.script("stop", self.folder)


class SQLite:
    def fill(self, rows):
        path = folder / f"rows{rows}.sqlite"
        self.url = f"sqlite:{path}"
        seed(self.url, "rows", "0")
        identifier = f"unhex(printf('%012x70008%015x', {START} + i, i))"
        with sqlite3.connect(path) as database:
            database.create_function("unhex", 1, bytes.fromhex, deterministic=True)
            series = ("(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                      f"WHERE i < {rows}) SELECT i FROM n)")
            for statement in inserts(rows, identifier, series, "randomblob(304)"):
                database.execute(statement)
        database.close()

    def begin(self):
        pass

    def end(self, own):
        return (own, 0, 0, 0)

    def stop(self):
        pass


def socket_free():
    import contextlib
    import socket

    @contextlib.contextmanager
    def port():
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            number = server.getsockname()[1]
        yield number
    return port()


def seed(url, *arguments, **options):
    environment = dict(os.environ, DATABASE_URL=url, PAYLOAD_KEYS_FILE=str(keys), LOG_LEVEL="error")
    if options:
        return subprocess.Popen([SEED, *arguments], env=environment, text=True, **options)
    return subprocess.run([SEED, *arguments], env=environment, check=True, stderr=subprocess.DEVNULL)


def measure(server, rows):
    """For each step its number of rows, and CPU seconds, buffers, WAL bytes and read buffers in total."""
    steps, tool = {}, seed(server.url, "steps", str(rows), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
    while name := tool.stdout.readline().strip():
        server.begin()
        print(file=tool.stdin, flush=True)
        count, own = tool.stdout.readline().split()
        steps[name] = (int(count), *server.end(float(own)))
        print(file=tool.stdin, flush=True)
    if tool.wait():
        sys.exit(f"benchmark-seed ended with {tool.returncode}")
    return steps


server = Postgres() if kind == "postgres" else SQLite()
try:
    results = []
    for size in sizes:
        begin = time.monotonic()
        server.fill(size)
        print(f"{size} rows filled in {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
        results.append(measure(server, size))
    columns = " | ".join(f"{size:,} rows: CPU µs; buffers; WAL bytes" for size in sizes)
    print(f"| per row | {columns} | CPU ratio |")
    print("| --- |" + " --- |" * (len(sizes) + 1))
    for name in results[0]:
        cells = []
        for result in results:
            count, cpu, buffers, wal, _ = result[name]
            count = max(count, 1)
            cells.append(f"{cpu / count * 1e6:.1f}; {buffers / count:.1f}; {wal / count:.0f}")
        first, last = (result[name][1] / max(result[name][0], 1) for result in (results[0], results[-1]))
        print(f"| {name} | " + " | ".join(cells) + f" | {last / first if first else 0:.2f} |")
finally:
    server.stop()
    shutil.rmtree(folder)
