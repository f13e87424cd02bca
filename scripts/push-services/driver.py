"""What the checks of all kinds share: a service that runs, and expectations."""

import os
import re
import subprocess
import sys

import requests

failures = 0


class Driver:
    """A running service."""

    def __init__(self, kind, folder, *options):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "serve.py")
        self.process = subprocess.Popen(
            [sys.executable, script, kind, folder, *options], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.origin, self.token_origin, self.url, self.authority = re.search(
            r"on (\S+), tokens on (\S+), admin on (\S+), authority (.*)", line).groups()
        self.session = requests.Session()
        self.session.verify = self.authority
        # Neither proxies nor authorities of the caller.
        self.session.trust_env = False
        self.folder = folder

    def admin(self, method, path, value=None):
        answer = self.session.request(method, self.url + path, json=value, timeout=10)
        answer.raise_for_status()
        return answer.json()

    def devices(self, count=1, **value):
        return self.admin("POST", "/devices", {"count": count, **value})["devices"]

    def next(self, *answers, at="push"):
        self.admin("POST", f"/next?at={at}", {"answers": answers})

    def pushes(self):
        return self.admin("GET", "/pushes")["pushes"]

    def end(self):
        self.process.terminate()
        self.process.wait(10)


def expect(name, found, wanted):
    global failures
    is_good = found == wanted
    failures += not is_good
    print(f"{'ok  ' if is_good else 'FAIL'}  {name}: {found}" + ("" if is_good else f", expected {wanted}"), flush=True)
