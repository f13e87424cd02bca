"""What the scenarios know of a local stack: ports, keys, processes."""
import http.client
import json
import os
import pathlib
import threading

FOLDER = pathlib.Path(os.environ.get("STACK", pathlib.Path(__file__).parents[2] / ".securepush/local"))
PORTS = dict(line.strip().split("=") for line in (FOLDER / "run/ports").read_text().splitlines())
KEY = (FOLDER / "secrets/ingest-api-key").read_text().strip()
HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}


def port(service):
    return int(PORTS[f"{service}_port"])


def pid(service):
    return int((FOLDER / f"run/{service}.pid").read_text().split()[0])


def resident(process):
    """Resident memory now, in KiB."""
    for line in open(f"/proc/{process}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])


class Peak(threading.Thread):
    """The most resident memory of a process until stopped."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.peak, self.ended = process, 0, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.01):
            self.peak = max(self.peak, resident(self.process))

    def stop(self):
        self.ended.set()
        self.join()
        return self.peak


def request(service_port, method, path, body=None, headers=HEADERS):
    connection = http.client.HTTPConnection("127.0.0.1", service_port, timeout=120)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), text


def get_json(service_port, path, headers=HEADERS):
    return json.loads(request(service_port, "GET", path, headers=headers)[2])


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]
