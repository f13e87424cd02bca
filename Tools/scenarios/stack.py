"""The local stack as the scenarios see it: ports, keys, processes, requests."""
import datetime
import http.client
import json
import os
import pathlib
import sys
import threading
import time

ROOT = pathlib.Path(__file__).parents[2]
BIN = pathlib.Path(os.environ.get("SECUREPUSH_BIN", ROOT / ".build/debug"))
FOLDER = pathlib.Path(os.environ.get("STACK", ROOT / ".securepush/local"))
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


def emulator(method, path, body=None):
    """A request to the hub's API for simulated devices, which must succeed; its decoded answer."""
    text = None if body is None else json.dumps(body)
    status, _, answer = request(port("hub"), method, path, text, {"Content-Type": "application/json"})
    if status >= 300:
        sys.exit(f"{method} {path}: {status} {answer[:500]}")
    return json.loads(answer) if answer else None


def timestamp(text):
    """The seconds since 1970 of a time in an answer."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def wait_until(condition, seconds, what):
    """Ends the scenario if the condition does not come true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]
