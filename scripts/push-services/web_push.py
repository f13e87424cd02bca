"""What push services demand of a push: RFC 8030, 8188, 8291 and 8292, and the rules that only the big ones have.

The signature of a token is verified by py-vapid and the body decrypted by http_ece, which nobody of SecurePush wrote.
"""

import hashlib
import json
import os
import re
import time
from collections import Counter

import http_ece
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02

from exchange import Device, Refused
from service import Service
from tokens import decoded, encoded, read_token

SERVICES = ("apple", "mozilla", "google", "windows")


class Subscription(Device):
    """Its key pair is its own; `key` is the applicationServerKey, `None` for an unrestricted one."""

    def __init__(self, number, origin, key=None, service="apple"):
        name = f"{number}-{encoded(os.urandom(16))}"
        super().__init__(name, f"{origin}/{service}/{name}")
        self.key, self.service = key, service
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)

    def describe(self):
        point = self.private.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return {**super().describe(), "p256dh": encoded(point), "auth": encoded(self.auth), "key": self.key}


class Tokens:
    """Verifies tokens, each one once."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.verified = {}

    def check(self, authorization):
        """Returns the sender's key."""
        found = self.verified.get(authorization)
        if found is None:
            found = self._read(authorization)
            self.verified[authorization] = found
        key, claims = found
        left = claims["exp"] - time.time()
        if left <= 0:
            raise Refused(403, "BadJwtToken", "the token has expired")
        if left > 86_400:
            raise Refused(403, "BadJwtToken", "exp is more than 24 hours ahead")
        return key

    def _read(self, authorization):
        def bad(detail, reason="BadJwtToken"):
            return Refused(403, reason, detail)

        match = re.fullmatch(r"vapid +t=([\w.-]+) *, *k=([\w-]+)", authorization, re.ASCII | re.IGNORECASE)
        if not match:
            raise bad("Authorization is not vapid t=..., k=...")
        token, key = match.groups()
        try:
            point = decoded(key)
            verifier = Vapid02.from_raw_public(key.encode())
        except ValueError:
            raise bad("k is not a point on P-256", "BadVapidPublicKey") from None
        if len(point) != 65 or point[0] != 4:
            raise bad("k is not an uncompressed point", "BadVapidPublicKey")
        try:
            header, claims, signed, signature = read_token(token)
        except ValueError:
            raise bad("t is not a token") from None
        if header.get("alg") != "ES256" or header.get("typ", "JWT") != "JWT":
            raise bad("alg is not ES256")
        if len(signature) != 64 or not verifier.verify_token(signed, encoded(signature)):
            raise bad("the signature does not fit k")
        if claims.get("aud") != self.endpoint.origin:
            raise bad("aud is not the origin of the endpoint")
        if type(claims.get("exp")) not in (int, float):
            raise bad("exp is not a number")
        subject = claims.get("sub")
        if not isinstance(subject, str) or not re.fullmatch(r"mailto:[^@\s]+@[^@\s]+|https://[^/\s]+.*", subject):
            raise bad("sub is not a mailto: or https: URI")
        if re.search(r"[@/]localhost\b", subject):
            raise bad("sub is at localhost")
        return key, claims


class WebPush(Service):
    answers = (
        (201, "accepted"), (400, "BadWebPushRequest"), (401, "MissingAuthorization"), (403, "BadJwtToken"),
        (403, "VapidPkHashMismatch"), (404, "NoSubscription"), (410, "Unregistered"), (413, "PayloadTooLarge"),
        (429, "TooManyRequests"), (500, "InternalServerError"), (502, "BadGateway"), (503, "ServiceUnavailable"))

    def __init__(self, options):
        super().__init__(options)
        self.decrypt_every = options.decrypt_every
        self.salts, self.seen = {}, 0
        self.verifier = Tokens(self)

    def tokens(self):
        return Counter(key for key, _ in self.verifier.verified.values())

    def make_device(self, number, value):
        service = value.get("service", "apple")
        if service not in SERVICES:
            raise ValueError(f"service is not one of {', '.join(SERVICES)}")
        return Subscription(number, self.origin, value.get("key"), service)

    def subscription(self, request):
        parts = request.path.split("/")
        return self.devices.get(parts[2]) if len(parts) == 3 else None

    def check(self, request):
        if request.method != "POST":
            raise Refused(405, "MethodNotAllowed")
        names = ("ttl", "urgency", "topic", "content-encoding", "content-type", "authorization")
        request.refuse_duplicates(names, 400, "DuplicateHeaders")
        fields, body, subscription = request.fields, request.body, self.subscription(request)
        # A sender that is not known learns nothing of subscriptions.
        if "authorization" not in fields:
            raise Refused(401, "MissingAuthorization")
        key = self.verifier.check(fields["authorization"])
        if subscription is None:
            raise Refused(404, "NoSubscription")
        if subscription.gone is not None:
            raise Refused(410, "Unregistered")
        if subscription.key is not None and subscription.key != key:
            raise Refused(403, "VapidPkHashMismatch")
        self._headers(fields, subscription.service)
        if request.size > 4096:
            raise Refused(413, "PayloadTooLarge")
        return subscription, key, self._decrypt(body, subscription)

    def accepted(self, request, record):
        ttl = min(int(request.fields["ttl"]), 2_592_000)
        return 201, [("location", f"{self.origin}/m/{record['number']}"), ("ttl", str(ttl))], b""

    @staticmethod
    def _headers(fields, service):
        ttl, urgency, topic = fields.get("ttl", ""), fields.get("urgency", "normal"), fields.get("topic")
        if not re.fullmatch(r"[0-9]{1,10}", ttl) or int(ttl) > 2**31 - 1:
            raise Refused(400, "BadTtl")
        if service in ("google", "mozilla") and int(ttl) > 2_592_000:
            raise Refused(400, "BadTtl")
        if service == "windows" and ttl == "0" and fields.get("x-wns-cache-policy") != "no-cache":
            detail = "Ttl value conflicts with X-WNS-Cache-Policy"
            raise Refused(400, "BadTtl", detail, [("x-wns-error-description", detail)])
        if urgency not in ("very-low", "low", "normal", "high"):
            raise Refused(400, "BadUrgency")
        if topic is not None and not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", topic):
            raise Refused(400, "BadWebPushTopic")
        if service == "apple" and topic is not None and len(topic) % 4 == 1:
            raise Refused(400, "BadWebPushTopic")
        if fields.get("content-encoding") != "aes128gcm":
            raise Refused(400, "BadWebPushRequest", "Content-Encoding is not aes128gcm")

    def _decrypt(self, body, subscription):
        def bad(detail):
            return Refused(400, "BadWebPushRequest", detail)

        # salt 16, rs 4, idlen 1, the sender's point 65, then one record of at least a delimiter and a tag.
        if len(body) < 86 + 17 or body[20] != 65 or body[21] != 4:
            raise bad("the header block is not one of RFC 8291")
        size, record = int.from_bytes(body[16:20], "big"), len(body) - 86
        if size < 18 or record > size:
            raise bad("the body has more than one record")
        digest = hashlib.sha256(body).digest()
        if self.salts.setdefault(body[:16], digest) != digest:
            raise bad("the salt was used before")
        self.seen += 1
        if self.seen % self.decrypt_every:
            return None
        try:
            return http_ece.decrypt(body, private_key=subscription.private, auth_secret=subscription.auth)
        except Exception as error:  # http_ece lets errors of cryptography through
            raise bad(f"the body cannot be decrypted: {error}") from None

    def refusal(self, refused, request):
        """The refusal as the service writes it: headers and body."""
        parts = request.path.split("/")
        service = parts[1] if len(parts) > 1 and parts[1] in SERVICES else "apple"
        headers = list(refused.headers)
        if service == "mozilla":
            errno = {404: 102, 410: 106, 413: 104, 401: 109, 403: 109}.get(refused.status, 110)
            status = 401 if refused.status == 403 else refused.status
            error = {"code": status, "errno": errno, "error": refused.reason, "message": "refused"}
            return status, headers + [("content-type", "application/json")], json.dumps(error).encode()
        if service == "google":
            return refused.status, headers + [("content-type", "text/plain")], refused.reason.encode()
        if service == "windows":
            if all(name != "x-wns-error-description" for name, _ in headers):
                headers.append(("x-wns-error-description", refused.reason))
            return refused.status, headers, b""
        body = json.dumps({"reason": refused.reason}).encode()
        return refused.status, headers + [("content-type", "application/json")], body
