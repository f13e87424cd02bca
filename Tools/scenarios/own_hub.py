"""What scripts about a hub of one's own share: a private PostgreSQL, a running hub, and what a process uses."""
import base64
import hashlib
import hmac
import json
import os
import pathlib
import selectors
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).parents[2]
BIN = pathlib.Path(os.environ.get("SECUREPUSH_BIN", ROOT / ".build/debug")).resolve()
KEY = "c2NlbmFyaW8ta2V5LW9mLTMyLWJ5dGVzLTAxMjM0NTY="
HUB = "scale"


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Folder:
    """A folder that is deleted at the end; TMPDIR says where."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="own-hub."))
        self.path.chmod(0o755)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


class Postgres:
    """A server of its own, with settings for large tables."""

    def __init__(self, folder):
        self.folder = folder / "postgres"
        self.port = free_port()
        self.script("start", self.folder, self.port)
        with open(self.folder / "data/postgresql.conf", "a") as settings:
            settings.write("shared_buffers = 1GB\nmaintenance_work_mem = 1GB\nmax_wal_size = 8GB\n"
                           "checkpoint_timeout = 30min\nwal_level = minimal\nmax_wal_senders = 0\n")
        self.script("stop", self.folder)
        self.script("start", self.folder, self.port)
        self.url = f"postgres://securepush@127.0.0.1:{self.port}/securepush"

    def script(self, *arguments):
        subprocess.run([ROOT / "scripts/postgres.sh", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)

    def sql(self, text):
        result = subprocess.run([ROOT / "scripts/postgres.sh", "sql", self.url, text], capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(result.stderr)
        return result.stdout.strip()

    def stop(self):
        self.script("stop", self.folder)


def securepush(*arguments, url, **options):
    environment = dict(os.environ, DATABASE_URL=url, HUB_NAME=HUB, LOG_LEVEL="error")
    return subprocess.run([BIN / "securepush", *arguments], env=environment, check=True, **options)


class Hub:
    """`securepush serve hub` with APNs and FCM simulated."""

    def __init__(self, folder, url):
        access, credentials = folder / "access", folder / "credentials.json"
        access.write_text(f"{HUB} all Manage+Send {KEY}\n")
        credentials.write_text(json.dumps({HUB: {name: {"simulated": True} for name in ("apns", "fcm")}}))
        for path in (access, credentials):
            path.chmod(0o600)
        self.port = free_port()
        environment = dict(os.environ, DATABASE_URL=url, HTTP_PORT=str(self.port), HUB_ACCESS_FILE=str(access),
                           PUSH_CREDENTIALS_FILE=str(credentials), LOG_LEVEL="warning")
        self.process = subprocess.Popen([BIN / "securepush", "serve", "hub"], env=environment)
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the hub does not listen")

    def cpu(self):
        """Seconds of CPU since its start."""
        words = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def private(self):
        """Private memory in MiB."""
        lines = open(f"/proc/{self.process.pid}/smaps_rollup").read().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024

    def send_request(self, tag):
        """The bytes of a send to a tag."""
        resource = urllib.parse.quote(f"http://127.0.0.1:{self.port}/{HUB}", safe="")
        expiry = int(time.time()) + 36_000
        digest = hmac.new(KEY.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
        signature = urllib.parse.quote(base64.b64encode(digest), safe="")
        body = '{"aps":{"content-available":1},"secureId":"7"}'
        return (f"POST /{HUB}/messages?api-version=2020-06 HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                f"Authorization: SharedAccessSignature sr={resource}&sig={signature}&se={expiry}&skn=all\r\n"
                "Content-Type: application/json;charset=utf-8\r\nServiceBusNotification-Format: apple\r\n"
                f"ServiceBusNotification-Tags: {tag}\r\napns-push-type: background\r\napns-priority: 5\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}").encode()

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def exchange(port, requests, connections):
    """Sends requests on so many connections, one at a time on each. Returns their milliseconds, and the seconds in all."""
    chooser, waiting, times = selectors.DefaultSelector(), list(reversed(requests)), []

    def next_on(connection, state):
        if not waiting:
            chooser.unregister(connection)
            return connection.close()
        state["begin"], state["bytes"] = time.perf_counter(), b""
        connection.sendall(waiting.pop())

    begin = time.perf_counter()
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        state = {}
        chooser.register(connection, selectors.EVENT_READ, state)
        next_on(connection, state)
    while chooser.get_map():
        ready = chooser.select(30)
        if not ready:
            raise SystemExit("no answer within 30 s")
        for key, _ in ready:
            state = key.data
            chunk = key.fileobj.recv(65_536)
            state["bytes"] += chunk
            head, end, rest = state["bytes"].partition(b"\r\n\r\n")
            if not chunk:
                raise SystemExit(f"closed: {head[:200]}")
            length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                           if line.lower().startswith(b"content-length:")), 0)
            if end and len(rest) >= length:
                if not head.startswith(b"HTTP/1.1 201"):
                    raise SystemExit(f"not 201: {head[:200]}")
                times.append((time.perf_counter() - state["begin"]) * 1000)
                next_on(key.fileobj, state)
    return times, time.perf_counter() - begin
