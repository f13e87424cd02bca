"""What push services demand of a push: RFC 8030, 8188, 8291 and 8292, and the rules that only the big ones have.

The signature of a token is verified by py-vapid and the body decrypted by http_ece, which nobody of SecurePush wrote.
"""

import base64
import hashlib
import json
import os
import re
import time

import http_ece
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02

SERVICES = ("apple", "mozilla", "google", "windows")


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    """Strict base64url without padding."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise ValueError("not base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encoded(data) != text:
        raise ValueError("not canonical base64url")
    return data


class Refused(Exception):
    """A push that is not accepted: the status and the reason in Apple's words where Apple has one."""

    def __init__(self, status, reason, headers=()):
        super().__init__(reason)
        self.status, self.reason, self.headers = status, reason, list(headers)


class Subscription:
    """A device. Its key pair is its own; `key` is the applicationServerKey, `None` for an unrestricted one."""

    def __init__(self, number, key=None, service="apple"):
        self.id = f"{number}-{encoded(os.urandom(16))}"
        self.key, self.service, self.is_gone, self.accepted = key, service, False, 0
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)

    def describe(self, origin):
        point = self.private.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return {
            "id": self.id,
            "endpoint": f"{origin}/{self.service}/{self.id}",
            "p256dh": encoded(point),
            "auth": encoded(self.auth),
            "key": self.key,
            "gone": self.is_gone,
            "accepted": self.accepted,
        }


class Tokens:
    """Verifies tokens, each one once."""

    def __init__(self, origin):
        self.origin = origin
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
            raise Refused(403, "BadJwtToken", [("x-detail", "the token has expired")])
        if left > 86_400:
            raise Refused(403, "BadJwtToken", [("x-detail", "exp is more than 24 hours ahead")])
        return key

    def _read(self, authorization):
        def bad(detail, reason="BadJwtToken"):
            return Refused(403, reason, [("x-detail", detail)])

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
        parts = token.split(".")
        try:
            header, claims = json.loads(decoded(parts[0])), json.loads(decoded(parts[1]))
            is_signed = len(parts) == 3 and len(decoded(parts[2])) == 64
        except (ValueError, IndexError):
            raise bad("t is not a token") from None
        if header.get("alg") != "ES256" or header.get("typ", "JWT") != "JWT":
            raise bad("alg is not ES256")
        if not is_signed or not verifier.verify_token(f"{parts[0]}.{parts[1]}".encode(), parts[2]):
            raise bad("the signature does not fit k")
        if claims.get("aud") != self.origin:
            raise bad("aud is not the origin of the endpoint")
        if type(claims.get("exp")) not in (int, float):
            raise bad("exp is not a number")
        subject = claims.get("sub")
        if not isinstance(subject, str) or not re.fullmatch(r"mailto:[^@\s]+@[^@\s]+|https://[^/\s]+.*", subject):
            raise bad("sub is not a mailto: or https: URI")
        if re.search(r"[@/]localhost\b", subject):
            raise bad("sub is at localhost")
        return key, claims


class Rules:
    def __init__(self, origin, decrypt_every=1):
        self.tokens = Tokens(origin)
        self.decrypt_every = decrypt_every
        self.salts = {}
        self.seen = 0

    def check(self, headers, body, subscription):
        """Returns what is recorded of a push that may be accepted.

        headers: a list of pairs with names in lower case."""
        names = [name for name, _ in headers]
        for name in ("ttl", "urgency", "topic", "content-encoding", "content-type", "authorization"):
            if names.count(name) > 1:
                raise Refused(400, "DuplicateHeaders")
        fields = dict(headers)
        # A sender that is not known learns nothing of subscriptions.
        if "authorization" not in fields:
            raise Refused(401, "MissingAuthorization")
        key = self.tokens.check(fields["authorization"])
        if subscription is None:
            raise Refused(404, "NoSubscription")
        if subscription.is_gone:
            raise Refused(410, "Unregistered")
        if subscription.key is not None and subscription.key != key:
            raise Refused(403, "VapidPkHashMismatch")
        push = self._headers(fields, subscription.service)
        if len(body) > 4096:
            raise Refused(413, "PayloadTooLarge")
        push["key"] = key
        push["body"] = self._decrypt(body, subscription)
        push["size"] = len(body)
        return push

    @staticmethod
    def _headers(fields, service):
        ttl, urgency, topic = fields.get("ttl", ""), fields.get("urgency", "normal"), fields.get("topic")
        if not re.fullmatch(r"[0-9]{1,10}", ttl) or int(ttl) > 2**31 - 1:
            raise Refused(400, "BadTtl")
        if service in ("google", "mozilla") and int(ttl) > 2_592_000:
            raise Refused(400, "BadTtl")
        if service == "windows" and ttl == "0" and fields.get("x-wns-cache-policy") != "no-cache":
            detail = "Ttl value conflicts with X-WNS-Cache-Policy"
            raise Refused(400, "BadTtl", [("x-wns-error-description", detail)])
        if urgency not in ("very-low", "low", "normal", "high"):
            raise Refused(400, "BadUrgency")
        if topic is not None and not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", topic):
            raise Refused(400, "BadWebPushTopic")
        if service == "apple" and topic is not None and len(topic) % 4 == 1:
            raise Refused(400, "BadWebPushTopic")
        if fields.get("content-encoding") != "aes128gcm":
            raise Refused(400, "BadWebPushRequest", [("x-detail", "Content-Encoding is not aes128gcm")])
        return {"ttl": int(ttl), "urgency": urgency, "topic": topic}

    def _decrypt(self, body, subscription):
        def bad(detail):
            return Refused(400, "BadWebPushRequest", [("x-detail", detail)])

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


def answer_of(refused, service):
    """The refusal as the service writes it: headers and body."""
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
