"""The servers, processes and rounds of measure.py."""

import base64
import hashlib
import hmac
import json
import os
import signal
import socket
import ssl
import statistics
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
KEY = base64.b64encode(b"benchmark" * 4).decode()
TICKS = os.sysconf("SC_CLK_TCK")


PORTS = set()


def port():
    """A free port below 32768 that was not given yet."""
    for number in range(21000 + 100 * (os.getpid() % 90), 31000):
        with socket.socket() as probe:
            if number not in PORTS and probe.connect_ex(("127.0.0.1", number)):
                PORTS.add(number)
                return number
    raise SystemExit("There is no free port.")


def token(url):
    resource = urllib.parse.quote_plus(url.lower())
    expiry = int(time.time()) + 86_400
    mac = hmac.new(KEY.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    signature = urllib.parse.quote_plus(base64.b64encode(mac))
    return f"SharedAccessSignature sr={resource}&sig={signature}&se={expiry}&skn=all"


class Process:
    def __init__(self, name, command, log, **environment):
        self.name = name
        self.log = open(os.path.join(log, f"{name}.log"), "wb")
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=self.log, stderr=self.log, start_new_session=True)

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def cpu(pid):
    """CPU seconds of a process, and of its children that live or were waited for."""
    total = 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(entry) == pid:
            total += sum(int(field) for field in fields[11:15])
        elif int(fields[1]) == pid:
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def idle():
    """Seconds of CPU time that nobody used, and all."""
    fields = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
    return fields[3] / TICKS, sum(fields) / TICKS


def resident(pid):
    """MiB."""
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def wait_for(url, seconds=30, context=None):
    end = time.time() + seconds
    while time.time() < end:
        try:
            return urllib.request.urlopen(url, timeout=2, context=context).read()
        except urllib.error.HTTPError as error:
            return error.read()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{url} does not answer.")


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.processes = []
        self.results = {}
        self.rabbitmq_folder = None

    def start(self, name, command, **environment):
        process = Process(name, command, self.folder, **environment)
        self.processes.append(process)
        return process

    def program(self, name):
        return os.path.join(self.options.folder, name)

    def run(self, chain=None):
        self.start_postgres()
        self.keys()
        for platform in self.options.platforms.split(","):
            if chain:
                chain(self, platform)
            else:
                self.measure(platform)
        if not chain:
            self.print()

    def start_postgres(self):
        number = port()
        self.postgres_folder = os.path.join(self.folder, "postgres")
        subprocess.run(
            [f"{ROOT}/scripts/postgres.sh", "start", self.postgres_folder, str(number)], check=True,
            stdout=subprocess.DEVNULL)
        self.database = f"postgres://securepush@127.0.0.1:{number}/securepush"
        for place, _, names in os.walk(self.postgres_folder):
            if "postmaster.pid" in names:
                self.postmaster = int(open(os.path.join(place, "postmaster.pid")).readline())

    def keys(self):
        for name in ("vapid", "apns"):
            path = os.path.join(self.folder, f"{name}.pem")
            subprocess.run(
                ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path],
                check=True, capture_output=True)
            os.chmod(path, 0o600)
        subprocess.run(
            ["openssl", "pkey", "-in", f"{self.folder}/apns.pem", "-pubout", "-out", f"{self.folder}/apns.pub"],
            check=True)

    def start_fake(self, platform):
        kind = "apns" if platform == "apple" else "web-push"
        place = os.path.join(self.folder, kind)
        os.makedirs(place, exist_ok=True)
        number = port()
        self.service = f"https://localhost:{number}"
        fake = self.start(
            f"fake-{kind}",
            [self.program("fake"), "-kind", kind, "-listen", f"127.0.0.1:{number}", "-folder", place,
             "-public-key", f"{self.folder}/apns.pub", "-latency", self.options.latency])
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        wait_for(f"{self.service}/stats", context=self.tls)
        return fake, place

    def seed(self, platform, hub, *more):
        subprocess.run(
            [self.program("seed"), "-count", str(self.options.users), "-platform", platform, "-service", self.service,
             "-key", KEY, "-hub", hub, *more], check=True, stdout=subprocess.DEVNULL)

    def measure(self, platform):
        fake, place = self.start_fake(platform)
        contestants = {"hub": self.start_hub(platform, place), "peer": self.start_peer(platform, place)}
        self.seed(platform, contestants["hub"][1], "-database", self.database)
        time.sleep(1)
        for name, (process, _) in contestants.items():
            self.results[platform, name] = {"rest": resident(process.pid), "rounds": []}
        for round in range(-1, self.options.rounds):
            for name, (process, url) in contestants.items():
                figures = self.round(platform, process, url, 2 if round < 0 else self.options.seconds)
                # The first is for connections, caches and the branch predictor.
                if round >= 0:
                    self.results[platform, name]["rounds"].append(figures)
                    print(platform, name, json.dumps(figures), flush=True)
        for process, _ in contestants.values():
            process.stop()
        fake.stop()

    def start_hub(self, platform, place):
        number = port()
        access, credentials = os.path.join(place, "access"), os.path.join(place, "credentials.json")
        with open(os.open(access, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(f"bench all Manage {KEY}\n")
        web_push = {
            "privateKeyFile": f"{self.folder}/vapid.pem", "subject": "mailto:ops@example.org",
            "allowedHosts": [self.service.removeprefix("https://")]}
        apns = {
            "keyFile": f"{self.folder}/apns.pem", "keyId": "ABC1234567", "teamId": "DEF1234567",
            "topic": "org.example.app", "endpoint": self.service}
        lanes = {"apns": apns} if platform == "apple" else {"webPush": web_push}
        with open(os.open(credentials, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            json.dump({"bench": {**lanes, "caFile": f"{place}/ca.pem"}}, file)
        hub = self.start(
            f"hub-{platform}", [self.options.securepush, "serve", "hub"], HTTP_HOST="127.0.0.1",
            HTTP_PORT=str(number), DATABASE_URL=self.database, HUB_ACCESS_FILE=access,
            PUSH_CREDENTIALS_FILE=credentials, LOG_LEVEL="warning")
        wait_for(f"http://127.0.0.1:{number}/readyz")
        return hub, f"http://127.0.0.1:{number}/bench"

    def start_peer(self, platform, place):
        number = port()
        peer = self.start(
            f"peer-{platform}", [self.program("peer")], LISTEN=f"127.0.0.1:{number}", DATABASE_URL=self.database,
            ACCESS_KEY=KEY, CA_FILE=f"{place}/ca.pem", VAPID_KEY_FILE=f"{self.folder}/vapid.pem",
            APNS_KEY_FILE=f"{self.folder}/apns.pem", APNS_TOPIC="org.example.app", APNS_ENDPOINT=self.service)
        wait_for(f"http://127.0.0.1:{number}/bench")
        return peer, f"http://127.0.0.1:{number}/bench"

    def pushes(self, stats=None):
        stats = json.loads(wait_for(stats or f"{self.service}/stats", context=self.tls))
        if stats["refused"]:
            raise SystemExit(f"The push service refused {stats['refused']} pushes.")
        return stats["accepted"]

    def round(self, platform, process, url, seconds):
        environment = dict(
            os.environ, AUTHORIZATION=token(url), FORMAT=platform, USERS=str(self.options.users))
        command = [
            "wrk", "-t", "1", "-c", str(self.options.connections), "-d", f"{seconds}s", "--timeout", "10s", "--latency",
            "-s", f"{HERE}/users.lua", f"{url}/messages/?api-version=2020-06"]
        pushes, used, stored, unused = self.pushes(), cpu(process.pid), cpu(self.postmaster), idle()
        start = time.time()
        output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        time_taken = time.time() - start
        pushed = self.pushes() - pushes
        memory = resident(process.pid)
        unused = [after - before for before, after in zip(unused, idle())]
        time.sleep(0.5)
        if "Non-2xx" in output or not pushed:
            raise SystemExit(f"{process.name}: not every send was accepted.\n{output}")
        p99 = next((line.split()[1] for line in output.splitlines() if line.strip().startswith("99%")), "-")
        return {
            "rate": round(pushed / time_taken), "cpu": round((cpu(process.pid) - used) / pushed * 1e4, 3),
            "postgres": round((cpu(self.postmaster) - stored) / pushed * 1e4, 3), "memory": round(memory, 1), "p99": p99,
            "idle": round(unused[0] / unused[1], 2)}

    def print(self):
        print(f"\n{self.options.users} devices, {self.options.connections} connections, {self.options.rounds} rounds of "
              f"{self.options.seconds} s, medians; CPU seconds per 10,000 pushes, MiB")
        head = ("platform", "program", "pushes/s", "CPU", "PostgreSQL", "at rest", "under load", "p99")
        print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
        for (platform, name), result in self.results.items():
            def middle(key):
                return statistics.median(figures[key] for figures in result["rounds"])
            peak = max(figures["memory"] for figures in result["rounds"])
            print(f"| {platform} | {name} | {middle('rate'):,.0f} | {middle('cpu'):.2f} | {middle('postgres'):.2f} | "
                  f"{result['rest']:.0f} | {peak:.0f} | {result['rounds'][-1]['p99']} |")
        for platform in dict.fromkeys(platform for platform, _ in self.results):
            def ratio(key):
                pairs = zip(self.results[platform, "hub"]["rounds"], self.results[platform, "peer"]["rounds"])
                return statistics.median(hub[key] / peer[key] for hub, peer in pairs)
            print(f"{platform}: hub / peer: rate × {ratio('rate'):.2f}, CPU × {ratio('cpu'):.2f}")

    def stop(self):
        for process in reversed(self.processes):
            if process.process.poll() is None:
                process.stop()
        subprocess.run([f"{ROOT}/scripts/postgres.sh", "stop", self.postgres_folder], capture_output=True)
        if self.rabbitmq_folder:
            subprocess.run([f"{ROOT}/scripts/rabbitmq.sh", "stop", self.rabbitmq_folder], capture_output=True)
