"""A push service: its devices, credentials, pushes, refusals and faults. A kind adds its rules."""

import base64
import time
from collections import Counter

from exchange import Answer, Refused
from faults import Faults


class Endpoint:
    """What listens on a port. A kind of service answers `check`, `refusal` and `accepted`."""

    name = "push"
    # Of ALPN.
    versions = ("h2", "http/1.1")

    def __init__(self, service, **faults):
        self.service = service
        self.faults = Faults(**faults)
        self.connections, self.origin = set(), None

    @property
    def first_streams(self):
        """MAX_CONCURRENT_STREAMS of a new connection."""
        return self.service.max_streams

    def count(self, kind, name):
        self.service.counts[f"{kind}.{name}"] += 1

    def problem(self, text):
        """A mistake of the sender that no answer can tell."""
        self.service.problems = (self.service.problems + [text])[-100:]

    def accepts_authority(self, authority):
        return authority is not None and f"https://{authority}" in (self.origin, self.origin + ":443")

    def may_open(self, connection, open_streams):
        """Whether a connection may have another stream, beside what SETTINGS say."""
        return True

    def goaway_data(self, reason):
        return (reason or "fault").encode()

    def refuse(self, request, refused):
        self.count("refused", f"{refused.status} {refused}")
        self.service.refusals.append(
            {"status": refused.status, "reason": refused.reason, "detail": refused.detail, "at": self.name})
        del self.service.refusals[:-1000]
        return Answer(*self.refusal(refused, request))

    def fault(self):
        fault = self.faults.draw()
        if fault is not None:
            self.count("faults" if self.name == "push" else "tokenFaults",
                       fault.kind if fault.kind != "answer" else str(fault.status))
        return fault

    def instead(self, fault, request, record=None):
        """The answer of a fault. Without a body it is what the vendor writes for its status and reason."""
        headers, body = fault.headers, fault.body
        if fault.kind == "answer" and body is None and (fault.status >= 300 or fault.reason):
            refused = Refused(fault.status, fault.reason or self.usual_reason(fault.status), "a fault", headers,
                              **fault.values)
            _, headers, body = self.refusal(refused, request)
        return Answer(fault.status, headers, body or b"", record, fault)

    def usual_reason(self, status):
        return next((reason for known, reason in self.answers if known == status), f"HTTP {status}")


class Service(Endpoint):
    """The endpoint of pushes, and all that the others share."""

    # Statuses and reasons that the real service is known to answer with.
    answers = ()

    def __init__(self, options, **faults):
        super().__init__(self, **faults)
        self.name_of_host, self.keep = options.name, options.keep
        self.devices, self.pushes, self.first, self.made = {}, [], 0, 0
        self.counts, self.problems, self.refusals = Counter(), [], []
        self.max_streams = options.max_streams
        # The other endpoints: those of tokens.
        self.tokens_endpoint = None

    @property
    def endpoints(self):
        return [self] if self.tokens_endpoint is None else [self, self.tokens_endpoint]

    def answer(self, request):
        self.count("requests", "all")
        try:
            if not self.accepts_authority(request.authority):
                raise Refused(421, "MisdirectedRequest")
            device, sender, body = self.check(request)
        except Refused as refused:
            return self.refuse(request, refused)
        fault = self.fault()
        if fault is not None and not fault.accepts:
            return self.instead(fault, request)
        record = None if device is None else self.accept(device, sender, request, body)
        if fault is not None and fault.kind == "answer":
            return self.instead(fault, request, record)
        status, headers, text = self.accepted(request, record)
        return Answer(status, headers, text, record, fault)

    def accept(self, device, sender, request, body):
        fields = {name: text for name, text in request.headers if name != "authorization"}
        record = {"number": self.first + len(self.pushes), "device": device.id, "time": time.time(),
                  "headers": fields, "sender": sender, "size": request.size}
        record["base64"] = None if body is None else base64.b64encode(body).decode()
        # `sent` once the answer is written, `doubtful` if the connection broke right after that.
        record["answer"] = "lost"
        device.accepted += 1
        self.count("accepted", "all")
        self.pushes.append(record)
        if len(self.pushes) > 2 * self.keep:
            self.first += len(self.pushes) - self.keep
            self.pushes = self.pushes[-self.keep:]
        return record

    # What an admin may do

    def state(self):
        return {"origin": self.origin, "counts": self.counts, "problems": self.problems, "tokens": self.tokens(),
                "connections": len(self.connections), "devices": len(self.devices)}

    def make_devices(self, value):
        made = []
        for _ in range(min(int(value.get("count", 1)), 100_000)):
            device = self.make_device(self.made, value)
            self.made += 1
            self.devices[device.id] = device
            made.append(device)
        return made

    def set_credentials(self, values):
        raise ValueError("this service has no credentials")

    def expire_tokens(self):
        raise ValueError("this service gives no tokens")

    def forget(self):
        self.first += len(self.pushes)
        self.pushes, self.refusals, self.problems = [], [], []
        self.counts.clear()
        return self.first

    def list_pushes(self, query):
        after, limit = int(query.get("after", 0)), min(int(query.get("limit", 1000)), 10_000)
        start = max(0, after - self.first)
        chosen = self.pushes[start:start + limit]
        following = chosen[-1]["number"] + 1 if chosen else max(after, self.first)
        if "device" in query:
            chosen = [push for push in chosen if push["device"] == query["device"]]
        return {"pushes": chosen, "next": following}

    def set(self, value):
        unknown = set(value) - {"maxStreams", "tokenSeconds", "tokenSecondsAsText"}
        if unknown:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        if "maxStreams" in value:
            self.max_streams = int(value["maxStreams"])
            for connection in self.connections:
                connection.http.settings(self.max_streams)
        if self.tokens_endpoint is not None:
            self.tokens_endpoint.set(value)
