"""A token endpoint (OAuth 2.0, RFC 6749) beside a push service, and the access tokens that it gives."""

import json
import os
import time
from collections import Counter
from urllib.parse import parse_qsl

from exchange import Answer, Refused
from service import Endpoint
from tokens import encoded


class Grant:
    """An access token: whose it is, and until when."""

    def __init__(self, sender, seconds):
        self.sender, self.expires = sender, time.time() + seconds


class TokenEndpoint(Endpoint):
    """A kind of service answers `grant`: the sender and the answer without its access token."""

    name = "token"
    seconds, as_text, prefix = 3600, False, ""
    answers = ((400, "invalid_request"), (401, "invalid_client"), (429, "temporarily_unavailable"),
               (500, "server_error"), (503, "temporarily_unavailable"))

    def __init__(self, service, **faults):
        super().__init__(service, **faults)
        self.grants, self.given = {}, Counter()

    def set(self, value):
        self.seconds = int(value.get("tokenSeconds", self.seconds))
        self.as_text = bool(value.get("tokenSecondsAsText", self.as_text))

    def expire(self):
        for grant in self.grants.values():
            grant.expires = 0

    def keep_only(self, senders):
        self.grants = {token: grant for token, grant in self.grants.items() if grant.sender in senders}

    def sender_of(self, request):
        """The owner of the access token of a push, or what is wrong with the token."""
        text = request.fields.get("authorization", "")
        if not text:
            return None, "no token"
        grant = self.grants.get(text[7:]) if text[:7].lower() == "bearer " else None
        if grant is None:
            return None, "an unknown token"
        return (grant.sender, "") if grant.expires > time.time() else (None, "the token has expired")

    def answer(self, request):
        self.count("tokens", "requests")
        try:
            if not self.accepts_authority(request.authority):
                raise Refused(421, "MisdirectedRequest")
            if request.method == "GET":
                return Answer(200, [("content-type", "application/json")], json.dumps(self.describe(request)).encode())
            sender, values = self.grant(request, self.form(request))
        except Refused as refused:
            return self.refuse(request, refused)
        fault = self.fault()
        if fault is not None and not (fault.accepts and fault.status == 0):
            return self.instead(fault, request)
        token = self.prefix + encoded(os.urandom(96))
        self.grants[token] = Grant(sender, self.seconds)
        self.given[sender] += 1
        seconds = str(self.seconds) if self.as_text else self.seconds
        values = {**values, "access_token": token, "expires_in": seconds}
        headers = [("content-type", "application/json"), ("cache-control", "no-store")]
        return Answer(200, headers, json.dumps(values).encode(), fault=fault)

    def form(self, request):
        """The fields of the body. Each is there once."""
        if request.method != "POST":
            raise Refused(405, "invalid_request", "not POST")
        if request.fields.get("content-type", "").split(";")[0].strip() != "application/x-www-form-urlencoded":
            raise Refused(400, "invalid_request", "not a form")
        pairs = parse_qsl(request.body.decode("latin-1"), keep_blank_values=True)
        if len(dict(pairs)) < len(pairs):
            raise Refused(400, "invalid_request", "a field twice")
        return dict(pairs)

    def describe(self, request):
        raise Refused(404, "not_found")

    def refusal(self, refused, request):
        values = {"error": refused.reason, "error_description": refused.detail, **refused.values}
        headers = refused.headers + [("content-type", "application/json")]
        return refused.status, headers, json.dumps(values).encode()
