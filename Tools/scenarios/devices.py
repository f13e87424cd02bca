"""Users' devices for the scenarios: apps of the Swift SDK, in one process of `securepush device`."""
import collections
import json
import os
import subprocess
import sys
import threading

import stack


class Devices:
    """The devices of one process, from its start to the end of the `with` block, and all their events."""

    def __init__(self, *arguments):
        environment = os.environ | {
            "RETRIEVAL_URL": f"http://127.0.0.1:{stack.port('retrieval')}",
            "HUB_EMULATOR_URL": f"http://127.0.0.1:{stack.port('hub')}",
        }
        self.process = subprocess.Popen(
            [stack.BIN / "securepush", "device", *map(str, arguments), "--json"],
            stdout=subprocess.PIPE, text=True, env=environment)
        self.told = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.told.append(json.loads(line))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        self.reader.join(20)

    def events(self, name, **members):
        """The events of a name with these members."""
        return [event for event in list(self.told) if event["Event"] == name
                and all(event.get(key) == value for key, value in members.items())]

    def await_listening(self, count=1):
        """Waits until this many devices listen to their push channels."""
        def are_up():
            if self.process.poll() is not None:
                sys.exit(f"the devices ended with exit code {self.process.returncode}")
            return len(self.events("listening")) >= count
        stack.wait_until(are_up, 120, f"{count} devices listen")

    def visible(self, identifier):
        """The kinds of text (payload, prompt, generic) that the screen shows of a notification; for a single device."""
        kinds = set()
        for event in list(self.told):
            if event.get("Id") == identifier and event["Event"] == "shows":
                kinds.add(event["Kind"])
            elif event.get("Id") == identifier and event["Event"] == "removed":
                # Only the removal of a prompt has a kind.
                kinds -= {event["Kind"]} if "Kind" in event else {"payload", "generic"}
        return kinds

    def payloads(self):
        """How often each notification's payload was shown, by ID."""
        return collections.Counter(event["Id"] for event in self.events("shows", Kind="payload"))
