"""A send to one user among many devices of a hub: hub_devices.py postgres|sqlite [DEVICES] [SENDS].

Needs no stack: it fills a database of its own (TMPDIR says where; about 0.75 GB per million devices, and as much while it
is filled), starts `hub` with simulated platforms, sends to random users, and deletes all. Half of the devices are
APNs', the others FCM's, two of each user.
"""
import random
import shutil
import sqlite3
import statistics
import sys
import time

import own_hub

kind = sys.argv[1] if len(sys.argv) > 1 else "postgres"
devices = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
sends = int(sys.argv[3]) if len(sys.argv) > 3 else 2_000
users = max(devices // 2, 1)
STEP = 500_000
ROW = """'{hub}', 'r-' || i, 1, {platform}, {false}, 'username:user' || (i % {users}), '00FC' || {handle}, 1790000000000, {empty}"""
COLUMNS = "(sequence, hub, id, version, format, is_template, tags, handle, updated_at, document)"


# User N has the devices N (APNs) and N + users (FCM).
PLATFORM = f"CASE WHEN i <= {users} THEN 'apple' ELSE 'fcmv1' END"


def fill_postgres(server):
    own_hub.securepush("migrate", "--hub", url=server.url, stdout=-3)
    tables = "('hub_registrations', 'hub_tags')"
    indexes = server.sql(f"SELECT indexname || '|' || indexdef FROM pg_indexes WHERE tablename IN {tables}"
                         " AND indexname NOT LIKE '%_pkey'").splitlines()
    for index in indexes:
        server.sql("DROP INDEX " + index.split("|")[0])
    server.sql("ALTER TABLE hub_tags DROP CONSTRAINT hub_tags_pkey")
    row = ROW.format(hub=own_hub.HUB, platform=PLATFORM, false="false", users=users,
                     handle="md5(i::text) || md5((-i)::text)", empty="''")
    for start in range(1, devices + 1, STEP):
        series = f"generate_series({start}::bigint, {min(start + STEP - 1, devices)}) AS i"
        server.sql(f"INSERT INTO hub_registrations {COLUMNS} OVERRIDING SYSTEM VALUE SELECT i, {row} FROM {series}")
        key = f"'{own_hub.HUB}' || chr(1) || {PLATFORM} || chr(1)"
        server.sql(f"INSERT INTO hub_tags SELECT {key}, i FROM {series}; "
                   f"INSERT INTO hub_tags SELECT {key} || 'username:user' || (i % {users}), i FROM {series}")
        print(f"{min(start + STEP - 1, devices):,} rows", file=sys.stderr, end="\r", flush=True)
    server.sql("ALTER TABLE hub_tags ADD CONSTRAINT hub_tags_pkey PRIMARY KEY (key, registration)")
    for index in indexes:
        server.sql(index.split("|", 1)[1])
    server.sql(f"SELECT setval(pg_get_serial_sequence('hub_registrations', 'sequence'), {devices})")
    server.sql("VACUUM ANALYZE hub_registrations")
    server.sql("VACUUM ANALYZE hub_tags")


def fill_sqlite(path):
    own_hub.securepush("migrate", "--create", "--hub", url=f"sqlite:{path}", stdout=-3)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA cache_size = -500000")
    row = ROW.format(hub=own_hub.HUB, platform=PLATFORM, false="0", users=users,
                     handle="printf('%064X', i * 7919)", empty="x''")
    indexes = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
                               " AND tbl_name = 'hub_registrations'").fetchall()
    for name, _ in indexes:
        database.execute(f"DROP INDEX {name}")
    for start in range(1, devices + 1, STEP):
        series = (f"(WITH RECURSIVE n(i) AS (SELECT {start} UNION ALL SELECT i + 1 FROM n"
                  f" WHERE i < {min(start + STEP - 1, devices)}) SELECT i FROM n)")
        database.execute(f"INSERT INTO hub_registrations {COLUMNS} SELECT i, {row} FROM {series}")
    key = f"'{own_hub.HUB}' || char(1) || {PLATFORM} || char(1)"
    # In the order of the tree.
    database.execute(f"""
        INSERT INTO hub_tags SELECT key, i FROM (
            SELECT {key} AS key, sequence AS i FROM (SELECT sequence, sequence AS i FROM hub_registrations)
            UNION ALL
            SELECT {key} || 'username:user' || (i % {users}), i FROM (SELECT sequence AS i FROM hub_registrations)
        ) ORDER BY key, i""")
    for _, sql in indexes:
        database.execute(sql)
    database.execute("ANALYZE")
    database.close()


def reads(server):
    """What PostgreSQL has read of the two tables: index entries, rows, sequential scans."""
    time.sleep(11)  # an idle session reports after 10 s
    return [int(value) for value in server.sql(
        "SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname IN ('hub_registrations', 'hub_tags')),"
        " (SELECT sum(idx_tup_fetch) FROM pg_stat_user_tables WHERE relname = 'hub_registrations'),"
        " (SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN ('hub_registrations', 'hub_tags'))"
    ).split("|")]


with own_hub.Folder() as folder:
    free = shutil.disk_usage(folder).free / 1e9
    if free < devices / 1e6 * 1.6 + 2:
        raise SystemExit(f"{free:.0f} GB are free in {folder.parent}, too little for {devices:,} devices: set TMPDIR")
    server = own_hub.Postgres(folder) if kind == "postgres" else None
    hub = None
    try:
        begin = time.monotonic()
        if server:
            url = server.url
            fill_postgres(server)
            sizes = server.sql("SELECT string_agg(relname || ' ' || pg_size_pretty(pg_total_relation_size(oid)), ', ')"
                               " FROM pg_class WHERE relname IN ('hub_registrations', 'hub_tags')")
        else:
            url = f"sqlite:{folder / 'hub.sqlite'}"
            fill_sqlite(folder / "hub.sqlite")
            sizes = f"{(folder / 'hub.sqlite').stat().st_size / 1e6:,.0f} MB"
        print(f"{devices:,} devices of {users:,} users filled in {time.monotonic() - begin:.0f} s: {sizes}")
        hub = own_hub.Hub(folder, url)
        own_hub.exchange(hub.port, [hub.send_request("username:user1")] * 200, 1)
        print(f"idle hub: {hub.private():.1f} MiB private")
        before, count = reads(server) if server else None, 0
        print("| sends at once | sends/s | p50 ms | p99 ms | hub CPU s/10k |")
        print("| --- | --- | --- | --- | --- |")
        for connections in (1, 16):
            rounds = []
            for _ in range(3):
                requests = [hub.send_request(f"username:user{random.randrange(users)}") for _ in range(sends)]
                cpu = hub.cpu()
                times, seconds = own_hub.exchange(hub.port, requests, connections)
                times.sort()
                count += sends
                rounds.append((sends / seconds, times[len(times) // 2], times[len(times) * 99 // 100],
                               (hub.cpu() - cpu) / sends * 10_000))
            rate, p50, p99, used = (statistics.median(values) for values in zip(*rounds))
            print(f"| {connections} | {rate:,.0f} | {p50:.2f} | {p99:.2f} | {used:.1f} |")
        if server:
            entries, rows, scans = (after - former for after, former in zip(reads(server), before))
            print(f"of {count:,} sends each read {entries / count:.2f} index entries and {rows / count:.2f} rows of "
                  f"devices; sequential scans: {scans}")
        print(f"hub after {count:,} sends: {hub.private():.1f} MiB private")
    finally:
        if hub:
            hub.stop()
        if server:
            server.stop()
