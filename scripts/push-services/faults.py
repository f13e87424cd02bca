"""The faults of an endpoint: answers that a test sets for the next requests, and rates for all others."""

import random

# What may be done in place of a plain answer; see Connection.respond.
KINDS = ("lost", "reset", "silence", "goaway", "close", "half", "huge", "slow")
# Rates that an admin may set, each from 0 to 1.
RATES = ("serverError", "throttled", "goaway", "lost", "slow", "silence")


class Fault:
    """kind: `answer`, or one of KINDS. With `accepts` the push counts although its sender may not learn it.

    reason: the vendor's word, from which the service makes headers and body; values: what they have besides."""

    def __init__(self, kind, status=0, headers=(), body=None, seconds=1.0, reason=None, accepts=None, values=None):
        self.kind, self.status, self.headers, self.body, self.seconds = kind, status, list(headers), body, seconds
        self.reason, self.values = reason, values or {}
        # A push that was dropped (WNS) was not accepted, whatever the status says.
        is_good = 200 <= status < 300 and reason is None
        self.accepts = is_good or kind in ("lost", "reset", "slow", "half", "huge")
        if accepts is not None:
            self.accepts = accepts

    @classmethod
    def read(cls, value):
        accepts = value.get("accepts")
        if "fault" in value:
            if value["fault"] not in KINDS:
                raise ValueError(f"fault is not one of {', '.join(KINDS)}")
            return cls(value["fault"], seconds=float(value.get("seconds", 1)), reason=value.get("reason"),
                       accepts=accepts)
        headers = [(name.lower(), str(text)) for name, text in value.get("headers", {}).items()]
        body = value.get("body")
        return cls("answer", int(value["status"]), headers, None if body is None else body.encode(),
                   reason=value.get("reason"), accepts=accepts, values=value.get("values"))


class Faults:
    """statuses: those of a rate, by its name. has_goaway: whether the endpoint speaks HTTP/2."""

    def __init__(self, server_errors=(500, 502, 503), throttled=429, wait="retry-after"):
        self.rates, self.options, self.next = {}, {}, []
        self.random = random.Random(1)
        self.server_errors, self.throttled, self.wait = server_errors, throttled, wait

    def set(self, value):
        """Replaces all rates: {"serverError": 0.2, "throttled": 0.05, "retryAfter": 2, "slowSeconds": 1, "seed": 7}"""
        rates = {name: float(value.get(name, 0)) for name in RATES}
        if any(not 0 <= rate <= 1 for rate in rates.values()) or sum(rates.values()) > 1:
            raise ValueError("a rate is from 0 to 1, and so is their sum")
        unknown = set(value) - set(RATES) - {"retryAfter", "slowSeconds", "seed"}
        if unknown:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        self.rates, self.options = rates, value
        self.random = random.Random(value.get("seed", 1))

    def add_next(self, values):
        """[{"status": 410, "reason": "Unregistered", "values": {"timestamp": 1}}, {"status": 503, "headers": {}, "body": ""},
        {"fault": "silence"}, ...], each with "times" if need be"""
        faults = [(Fault.read(value), int(value.get("times", 1))) for value in values]
        for fault, times in faults:
            self.next.extend([fault] * times)

    def draw(self):
        """The fault of this request, or `None`."""
        if self.next:
            return self.next.pop(0)
        if not any(self.rates.values()):
            return None
        draw = self.random.random()
        for name, rate in self.rates.items():
            draw -= rate
            if draw < 0:
                return self._of_rate(name)
        return None

    def _of_rate(self, name):
        wait = self.options.get("retryAfter")
        headers = [] if wait is None else [(self.wait, str(wait))]
        if name == "serverError":
            # Mozilla names a time, Google and Apple mostly do not.
            status = self.random.choice(self.server_errors)
            return Fault("answer", status, headers if status == 503 else [])
        if name == "throttled":
            return Fault("answer", self.throttled, headers)
        if name == "lost":
            # The end of a connection puts other answers in doubt.
            return Fault("lost" if self.random.random() < 0.2 else "reset")
        return Fault(name, seconds=float(self.options.get("slowSeconds", 1)))
