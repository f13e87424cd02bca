#!/usr/bin/env python3
"""Runs deploy/nginx/securepush.conf before ingest and retrieval: scripts/nginx-check.py [BINARIES]

BINARIES is .build/debug. Streams batches of 20 MB both ways, restarts ingest during a batch and during a send, and looks
at what is closed, what is limited, and whose address the services see. Only ports, certificates and the log differ from
the file. Everything is in a temporary folder. Exit code 69: nginx or curl is missing, or this is not Linux.
"""
import collections
import json
import os
import pathlib
import re
import select
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLIENT = "127.0.0.2"  # not the proxy's own address, so that the two can be told apart
LINES = 10_000
PADDING = "x" * 2000
checks = 0


def check(what, holds, found=""):
    global checks
    if not holds:
        sys.exit(f"error: {what}: {found}")
    checks += 1


class Stack:
    """Ingest, retrieval and nginx with their files in one folder."""

    def __init__(self, folder, binaries):
        self.folder, self.binaries, self.processes = folder, binaries, {}
        find = f'. "{ROOT}/scripts/common.sh"; free_ports 3'
        first = int(subprocess.run(["bash", "-c", find], capture_output=True, text=True, check=True).stdout)
        self.ports = {name: first + offset for offset, name in enumerate(("ingest", "retrieval", "nginx"))}
        subprocess.run([binaries / "securepush", "setup", "--directory", folder], check=True, stdout=subprocess.DEVNULL)
        self.secrets = folder / "secrets"
        self.key = (self.secrets / "ingest-api-key").read_text().strip()
        self.tls = ssl.create_default_context(cafile=self.secrets / "hub-emulator-ca.pem")
        # The certificate is for localhost; the names are the file's own.
        self.tls.check_hostname = False

    def start(self, name):
        settings = {
            "PATH": os.environ["PATH"], "HTTP_PORT": str(self.ports[name]), "ACCESS_LOG": "true", "LOG_FORMAT": "json",
            "TRUSTED_PROXIES": "127.0.0.1", "DATABASE_URL": f"sqlite:{self.folder}/securepush.sqlite",
            # Ingest stores and answers without a broker.
            "AMQP_URL": "amqp://guest:guest@127.0.0.1:1/%2F", "PAYLOAD_KEYS_FILE": f"{self.secrets}/payload.keys",
            "INGEST_API_KEYS_FILE": f"{self.secrets}/api-keys", "AUTH_USERS_FILE": f"{self.secrets}/users",
            "AUTH_TOKEN_SIGNING_KEY_FILE": f"{self.secrets}/token-signing-key.pem",
        }
        if name == "ingest":
            settings["TLS_CERTIFICATE_FILE"] = f"{self.secrets}/hub-emulator-certificate.pem"
            settings["TLS_PRIVATE_KEY_FILE"] = f"{self.secrets}/hub-emulator-key.pem"
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [self.binaries / name], env=settings, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait(name, "/readyz")

    def start_nginx(self):
        text = (ROOT / "deploy/nginx/securepush.conf").read_text()
        for pattern, value, count in [
            (r"listen 443\b", f"listen 127.0.0.1:{self.ports['nginx']}", 2),
            (r"127\.0\.0\.1:8080\b", f"127.0.0.1:{self.ports['ingest']}", 2),
            (r"127\.0\.0\.1:8081\b", f"127.0.0.1:{self.ports['retrieval']}", 1),
            (r"/etc/letsencrypt/\S+/fullchain.pem", f"{self.secrets}/hub-emulator-certificate.pem", 2),
            (r"/etc/letsencrypt/\S+/privkey.pem", f"{self.secrets}/hub-emulator-key.pem", 2),
            (r"/var/log/nginx/", f"{self.folder}/", 2),
            # The certificate's name, by which the sample program asks.
            (r"server_name ingest.example.org", "server_name ingest.example.org localhost", 1),
        ]:
            text, found = re.subn(pattern, value, text)
            check(f"the file has {pattern}", found == count, f"{found} times")
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        main = self.folder / "nginx.conf"
        main.write_text(
            f"daemon off;\nworker_processes 1;\npid {self.folder}/nginx.pid;\nerror_log {self.folder}/error.log info;\n"
            f"events {{ worker_connections 1024; }}\nhttp {{\n{temporary}{text}\n}}\n")
        command = ["nginx", "-p", self.folder, "-c", main]
        test = subprocess.run([*command, "-t"], capture_output=True, text=True)
        check("nginx reads the file", test.returncode == 0 and "[warn]" not in test.stderr.replace(
            'the "user" directive', ""), test.stderr)
        self.processes["nginx"] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait("nginx", "/livez")

    def get(self, name, path):
        """The status, without a proxy."""
        scheme, context = ("http", None) if name == "retrieval" else ("https", self.tls)
        url = f"{scheme}://127.0.0.1:{self.ports[name]}{path}"
        with urllib.request.urlopen(url, timeout=5, context=context) as answer:
            return answer.status

    def wait(self, name, path):
        deadline = time.monotonic() + 90
        while True:
            try:
                return self.get(name, path)
            except OSError as error:
                ended = self.processes[name].poll() is not None
                if ended or time.monotonic() > deadline:
                    sys.exit(f"error: {name} did not start: {error}\n{self.log(name)[-3000:]}")
                time.sleep(0.05)

    def log(self, name):
        file = self.folder / ("error.log" if name == "nginx" else f"{name}.log")
        return file.read_text(errors="replace") if file.exists() else ""

    def stop(self, name):
        process = self.processes.pop(name)
        process.terminate()
        process.wait(30)

    def command(self, host, path):
        return ["curl", "-q", "-sS", "--path-as-is", "--noproxy", "*", "--max-time", "120", "--interface", CLIENT,
                "--insecure", "--connect-to", f"::127.0.0.1:{self.ports['nginx']}", f"https://{host}.example.org{path}"]

    def curl(self, host, path, *arguments):
        """The status, the fields in lower case and the body."""
        output = subprocess.run([*self.command(host, path), "-i", *arguments], capture_output=True)
        check(f"curl {host}{path}", output.returncode == 0, output.stderr)
        head, _, body = output.stdout.decode().removeprefix("HTTP/1.1 100 Continue\r\n\r\n").partition("\r\n\r\n")
        lines = head.split("\r\n")
        return int(lines[0].split()[1]), dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line), body


class Batch:
    """A batch over HTTP/1.1 whose results are read while it is being written, in one thread as TLS needs it."""

    def __init__(self, stack, key):
        plain = socket.create_connection(("127.0.0.1", stack.ports["nginx"]), 60, (CLIENT, 0))
        self.socket = stack.tls.wrap_socket(plain, server_hostname="ingest.example.org")
        self.socket.setblocking(False)
        self.is_whole, self.raw, self.head, self.text = False, b"", b"", b""
        self.unsent = collections.deque([(
            "POST /api/notifications/batch HTTP/1.1\r\nHost: ingest.example.org\r\nTransfer-Encoding: chunked\r\n"
            f"Authorization: Bearer {stack.key}\r\nContent-Type: application/x-ndjson\r\nIdempotency-Key: {key}\r\n\r\n"
        ).encode()])

    def send(self, text):
        """An empty text ends the batch."""
        data = text.encode()
        self.unsent.append(b"%x\r\n%s\r\n" % (len(data), data))

    def results(self, count):
        """Writes, and reads until the first COUNT results or all are there."""
        deadline = time.monotonic() + 90
        while not self.is_whole and self.text.count(b"\n") < count:
            check("the batch goes on", time.monotonic() < deadline, f"{len(self.text)} bytes of {count} lines")
            waits = [self.try_write(), self.try_read()]
            if all(waits):
                select.select([self.socket], [self.socket] if self.unsent else [], [], 1)
        return [json.loads(text) for text in self.text.splitlines()]

    def try_write(self):
        if not self.unsent:
            return True
        try:
            self.unsent[0] = self.unsent[0][self.socket.send(self.unsent[0]):]
            if not self.unsent[0]:
                self.unsent.popleft()
            return False
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return True

    def try_read(self):
        try:
            self.take(self.socket.recv(1 << 20))
            return False
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return True

    def take(self, data):
        """Reads the head and the chunks of the answer."""
        self.raw += data
        self.is_whole = not data
        if not self.head:
            if b"\r\n\r\n" not in self.raw:
                return
            self.head, _, self.raw = self.raw.partition(b"\r\n\r\n")
        while b"\r\n" in self.raw:
            size, _, rest = self.raw.partition(b"\r\n")
            size = int(size, 16)
            if len(rest) < size + 2:
                return
            self.text += rest[:size]
            self.raw = rest[size + 2:]
            self.is_whole = self.is_whole or size == 0


def line(number):
    return json.dumps({"Recipient": f"user-{number}", "Payload": PADDING}) + "\n"


def stream(stack):
    """20 MB both ways at once: the first result is there before the second line."""
    batch = Batch(stack, "stream")
    batch.send(line(0))
    first = batch.results(1)
    check("the first result comes before the second line", "Id" in first[0], first)
    start = time.monotonic()
    for number in range(1, LINES, 100):
        batch.send("".join(line(each) for each in range(number, min(number + 100, LINES))))
    batch.send("")
    accepted = sum("Id" in result for result in batch.results(LINES + 1))
    check("a batch", accepted == LINES, f"{accepted} of {LINES} lines, {batch.head} {batch.text[-300:]}")
    print(f"{LINES * len(line(1)) / 1e6:.0f} MB both ways in {time.monotonic() - start:.1f} s")


def upload(stack):
    """The same as one file by curl over HTTP/2; and a refusal, which must not be lost in the upload."""
    file = stack.folder / "batch.ndjson"
    file.write_text("".join(line(number) for number in range(LINES)))
    content = ["-H", "Content-Type: application/x-ndjson", "-T", str(file), "-X", "POST"]
    for version in ("--http2", "--http1.1"):
        start = time.monotonic()
        status, _, body = stack.curl(
            "ingest", "/api/notifications/batch", version, *content, "-H", f"Authorization: Bearer {stack.key}")
        accepted = body.count('{"Id":')
        check(f"a batch with {version}", (status, accepted) == (200, LINES), f"{status}, {accepted} lines, {body[-300:]}")
        print(f"{file.stat().st_size / 1e6:.0f} MB by curl {version} in {time.monotonic() - start:.1f} s")
        for name, fields in [("no API key", []), ("a wrong API key", ["-H", "Authorization: Bearer wrong"])]:
            status, found, body = stack.curl("ingest", "/api/notifications/batch", version, *content, *fields)
            check(f"{name} with {version}", status == 401 and "problem" in found.get("content-type", ""),
                  f"{status} {body[:200]}")
    for bytes_in_body in (3 << 20, 20 << 20):
        file.write_bytes(b"x" * bytes_in_body)
        status, found, body = stack.curl(
            "ingest", "/api/notifications", "-H", f"Authorization: Bearer {stack.key}",
            "-H", "Content-Type: application/json", "--data-binary", f"@{file}")
        check("a body that is too large", status == 413 and "problem" in found["content-type"], f"{status} {body[:200]}")
    check("no body or answer is in a file", "temporary file" not in stack.log("nginx"), stack.log("nginx")[-2000:])


def restart(stack):
    """A batch that is interrupted, a send while nothing listens, and the same batch again."""
    batch = Batch(stack, "restart")
    batch.send(line(0))
    first = batch.results(1)[0]
    stack.stop("ingest")
    results = batch.results(3)
    check("a restart ends the batch", results[-1].get("status") == 503, f"{results} {batch.head}")
    status, found, _ = stack.curl("ingest", "/api/notifications", "-H", f"Authorization: Bearer {stack.key}")
    check("502 says when to try again", (status, found.get("retry-after")) == (502, "2"), f"{status} {found}")

    proxy = f"https://localhost:{stack.ports['nginx']}"
    sample = subprocess.Popen(
        [sys.executable, ROOT / "Examples/Send/send.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={"PATH": os.environ["PATH"], "INGEST_URL": proxy, "INGEST_API_KEY": stack.key, "NO_PROXY": "*",
             "SSL_CERT_FILE": str(stack.secrets / "hub-emulator-ca.pem")})
    deadline = time.monotonic() + 60
    while '"POST /api/notifications" 502' not in (stack.folder / "securepush.log").read_text():
        check("the sample gets 502", time.monotonic() < deadline and sample.poll() is None, sample.poll())
        time.sleep(0.05)
    stack.start("ingest")
    output, error = sample.communicate(timeout=90)
    check("the sample sends after the restart", sample.returncode == 0 and len(output.strip()) == 36, output + error)

    batch = Batch(stack, "restart")
    batch.send(line(0) + line(1))
    batch.send("")
    again = batch.results(3)
    check("the batch again stores the first line once", [again[0].get("Id"), len(again)] == [first["Id"], 2], again)


def closed(stack):
    for host in ("ingest", "push"):
        for path in ("/metrics", "/readyz", "/version", "//metrics", "/%6detrics", "/api/../metrics", "/api/%2e%2e/readyz",
                     "/metrics/", "/metrics?x=1", "/api/..%2fversion", "/"):
            status, _, body = stack.curl(host, path)
            check(f"{host}{path} is closed", status == 404, f"{status} {body[:200]}")
        for path in ("/livez", "/openapi.json"):
            check(f"{host}{path} is open", stack.curl(host, path)[0] == 200)
    # Otherwise the checks above could pass because there is nothing to close.
    for service in ("ingest", "retrieval"):
        for path in ("/metrics", "/readyz", "/version"):
            check(f"{service}{path}", stack.get(service, path) == 200)


def addresses(stack):
    """A client cannot choose the address that the services see."""
    forged = ["-H", "X-Forwarded-For: 192.0.2.1", "-H", "Forwarded: for=192.0.2.1"]
    stack.curl("push", "/api/notifications", *forged, "-H", "X-Request-Id: whose-address", "-H", "Authorization: Bearer x")
    deadline = time.monotonic() + 60
    while not (lines := [text for text in stack.log("retrieval").splitlines() if "whose-address" in text]):
        check("retrieval logs the request", time.monotonic() < deadline)
        time.sleep(0.05)
    found = json.loads(lines[0])["attributes"]["client.address"]
    check("the client's address", found == CLIENT, found)


def limits(stack):
    """Passwords are limited per address, and tokens are not."""
    long_token = ["-H", f"Authorization: Bearer {'x' * 15_000}"]
    status, found, _ = stack.curl("push", "/api/notifications", *long_token)
    check("a long token reaches retrieval", status == 401 and "www-authenticate" in found, f"{status} {found}")
    for fields in (["-u", "nobody:wrong"], ["-H", "authorization:  bAsIc bm9ib2R5Ondyb25n"]):
        for attempt in range(400):
            # Retrieval does not check the password on this path, so the attempts are fast.
            status, found, _ = stack.curl("push", "/livez", *fields)
            if status == 429:
                break
        check(f"passwords are limited: {fields}", found.get("retry-after") == "5", f"{attempt} {found}")
    status, _, _ = stack.curl("push", "/api/notifications", "-H", "Authorization: Bearer x")
    check("tokens are not limited", status == 401, status)
    handle = stack.curl("push", "/api/register?handle=secret-handle", "-X", "POST", *long_token)
    log = (stack.folder / "securepush.log").read_text()
    check("the log has no query", handle[0] == 401 and "/api/register" in log and "secret-handle" not in log)


def main():
    if not sys.platform.startswith("linux"):
        print("This check needs Linux.", file=sys.stderr)
        return 69
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for tool in ("nginx", "curl"):
        if not shutil.which(tool):
            print(f"{tool} is missing: run scripts/install-dependencies.sh packages {tool}", file=sys.stderr)
            return 69
    binaries = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/debug").resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="securepush-nginx."))
    stack = Stack(folder, binaries)
    try:
        stack.start("ingest")
        stack.start("retrieval")
        stack.start_nginx()
        for part in (stream, upload, restart, closed, addresses, limits):
            part(stack)
    finally:
        for name in list(stack.processes):
            stack.stop(name)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{checks} checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
