"""The import of an export into a hub: hub_import.py postgres|sqlite [REGISTRATIONS], or hub_import.py write FILE N.

Needs no stack. It writes an export as Azure's export jobs do (about 0.6 GB per million), reads it into a database of its
own, and prints time, rate and peak memory. Then it reads the same file into another hub, kills the import with SIGKILL
twice, lets it go on, and compares the devices of both hubs. TMPDIR says where all this is.

Of ten lines six are parts of installations (three devices, each with a template), three are registrations of their own,
and one is of a platform that the hub does not know.
"""
import hashlib
import json
import os
import subprocess
import sys
import time

import own_hub

HEAD = ('<RegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="{}RegistrationDescription" '
        'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ETag>1</ETag>'
        "<ExpirationTime>9999-12-31T23:59:59.9999999Z</ExpirationTime><RegistrationId>{}-{}-1</RegistrationId>"
        "<Tags>{}</Tags>")
END = "</RegistrationDescription>\n"
TEMPLATE = ('<BodyTemplate><![CDATA[{"aps":{"alert":"$(message)"}}]]></BodyTemplate><Expiry i:nil="true" />'
            "<TemplateName>first</TemplateName>")


def line(number):
    """The line of a number; lines that belong together are far from each other."""
    digest = hashlib.sha256(str(number // 10 * 10 + number % 3).encode()).hexdigest().upper()
    user, kind = number // 10 * 4 + number % 3, number % 10
    if kind < 6:
        tags = f"$InstallationId:{{{digest[:32]}}},$UserId:{{user{user}}},username:user{user}"
        handle = f"<DeviceToken>{digest}</DeviceToken>"
        if kind < 3:
            return HEAD.format("Apple", number, digest[:8], tags) + handle + END
        return HEAD.format("AppleTemplate", number, digest[:8], tags + ",first") + handle + TEMPLATE + END
    digest = hashlib.sha256(f"own {number}".encode()).hexdigest()
    if kind < 9:
        handle = f"<FcmV1RegistrationId>{digest[:22]}:APA91b{digest}</FcmV1RegistrationId>"
        return HEAD.format("FcmV1", number, digest[:8], f"username:user{user},all,version_7") + handle + END
    return HEAD.format("Adm", number, digest[:8], "all") + f"<AdmRegistrationId>{digest}</AdmRegistrationId>" + END


def write(path, count):
    with open(path, "w") as file:
        for start in range(0, count, 100_000):
            file.write("".join(line(number) for number in range(start, min(start + 100_000, count))))


def run(url, path, hub, kill_after=None):
    """Imports. Returns the report, the seconds and the peak of memory in MiB, or nothing if it was killed."""
    environment = dict(os.environ, DATABASE_URL=url)
    environment.pop("HUB_ACCESS_FILE", None)
    begin = time.monotonic()
    process = subprocess.Popen(
        [own_hub.BIN / "securepush", "hub", "import", path, "--hub", hub, "--exported-at", "2026-11-20T08:00:00Z", "--json"],
        env=environment, stdout=subprocess.PIPE, text=True)
    if kill_after:
        try:
            process.wait(kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None
        return None if process.returncode else True
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the import ended with {os.waitstatus_to_exitcode(status)}")
    return json.loads(output), time.monotonic() - begin, usage.ru_maxrss / 1024


def devices(url, hub):
    return own_hub.securepush("hub", "devices", hub, "--json", url=url, capture_output=True, text=True).stdout


if sys.argv[1:2] == ["write"]:
    write(sys.argv[2], int(sys.argv[3]))
    sys.exit()
kind = sys.argv[1] if len(sys.argv) > 1 else "postgres"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
with own_hub.Folder() as folder:
    path = folder / "export.txt"
    write(path, count)
    server = own_hub.Postgres(folder) if kind == "postgres" else None
    try:
        url = server.url if server else f"sqlite:{folder / 'hub.sqlite'}"
        own_hub.securepush("migrate", *([] if server else ["--create"]), "--hub", url=url, stdout=subprocess.DEVNULL)
        report, seconds, peak = run(url, path, "first")
        print(f"{kind}: {count:,} lines of {path.stat().st_size / 1e6:,.0f} MB in {seconds:.1f} s, "
              f"{count / seconds:,.0f} a second, peak {peak:.0f} MiB resident")
        print(json.dumps(report))
        again, seconds, _ = run(url, path, "first")
        print(f"again: {seconds:.1f} s, former lines {again['FormerLines']:,}")
        kills = sum(run(url, path, "second", kill_after=max(0.3, seconds + delay)) is None
                    for delay in (count / 60_000, count / 40_000))
        report, *_ = run(url, path, "second")
        same = devices(url, "first") == devices(url, "second")
        print(f"killed {kills} times, went on at line {report['FormerLines'] + 1:,}; the devices are the same: {same}")
        if not same:
            sys.exit(1)
    finally:
        if server:
            server.stop()
