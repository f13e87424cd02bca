"""Apple's push service: the HTTP/2 provider API with token authentication, of one environment.

Sources: "Sending notification requests to APNs", "Establishing a token-based connection to APNs" and "Handling
notification responses from APNs" of Apple's documentation.
"""

import json
import os
import re
import time
import uuid
from collections import Counter

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from exchange import Device, Refused
from service import Service
from tokens import read_token

# The end of the topic that belongs to a type of push.
SUFFIXES = {
    "alert": "", "background": "", "complication": ".complication", "controls": ".push-type.controls",
    "fileprovider": ".pushkit.fileprovider", "liveactivity": ".push-type.liveactivity", "location": ".location-query",
    "mdm": "", "pushtotalk": ".voip-ptt", "voip": ".voip", "widgets": ".push-type.widgets"}
HEADERS = ("authorization", "apns-id", "apns-expiration", "apns-priority", "apns-topic", "apns-collapse-id",
           "apns-push-type")
ANSWERS = (
    (200, "accepted"),
    (400, "BadDeviceToken"), (400, "BadCollapseId"), (400, "BadExpirationDate"), (400, "BadMessageId"),
    (400, "BadPriority"), (400, "BadTopic"), (400, "DeviceTokenNotForTopic"), (400, "DuplicateHeaders"),
    (400, "IdleTimeout"), (400, "InvalidPushType"), (400, "MissingDeviceToken"), (400, "MissingTopic"),
    (400, "PayloadEmpty"), (400, "TopicDisallowed"),
    (403, "InvalidProviderToken"), (403, "BadCertificate"), (403, "BadCertificateEnvironment"),
    (403, "BadEnvironmentKeyIdInToken"), (403, "ExpiredProviderToken"), (403, "Forbidden"),
    (403, "MissingProviderToken"), (403, "UnrelatedKeyIdInToken"),
    (404, "BadPath"), (405, "MethodNotAllowed"), (410, "Unregistered"), (410, "ExpiredToken"),
    (413, "PayloadTooLarge"), (429, "TooManyRequests"), (429, "TooManyProviderTokenUpdates"),
    (500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown"))


class Key:
    """A key of a team: for one environment or both, and for some topics or all."""

    def __init__(self, value):
        self.team, self.id = value["team"], value["keyID"]
        self.topics, self.environment = value.get("topics"), value.get("environment")
        self.public = serialization.load_pem_public_key(value["publicKey"].encode())
        if not isinstance(self.public, ec.EllipticCurvePublicKey) or self.public.curve.name != "secp256r1":
            raise ValueError("the key is not on P-256")


class Tokens:
    """Verifies provider tokens, each one once."""

    def __init__(self):
        self.keys, self.verified, self.made = {}, {}, {}

    def replace(self, keys):
        self.keys, self.verified = {key.id: key for key in keys}, {}

    def check(self, token):
        """Returns the key of the token."""
        found = self.verified.get(token)
        if found is None:
            found = self.verified[token] = self._read(token)
            self.made[token] = found[0].id
        key, issued = found
        age = time.time() - issued
        if age > 3600:
            raise Refused(403, "ExpiredProviderToken", "iat is more than an hour ago")
        if age < -60:
            raise Refused(403, "InvalidProviderToken", "iat is in the future")
        return key

    def _read(self, token):
        def bad(detail):
            return Refused(403, "InvalidProviderToken", detail)

        try:
            header, claims, signed, signature = read_token(token)
        except ValueError as error:
            raise bad(f"no token: {error}") from None
        if header.get("alg") != "ES256" or header.get("typ", "JWT") != "JWT":
            raise bad("alg is not ES256")
        key = self.keys.get(header.get("kid"))
        if key is None:
            raise bad("kid is not known")
        if claims.get("iss") != key.team:
            raise bad("iss is not the team of the key")
        if type(claims.get("iat")) is not int:
            raise bad("iat is not a whole number")
        if len(signature) != 64:
            raise bad("the signature has not 64 bytes")
        half = [int.from_bytes(signature[at:at + 32], "big") for at in (0, 32)]
        try:
            key.public.verify(utils.encode_dss_signature(*half), signed, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise bad("the signature does not fit the key") from None
        return key, claims["iat"]


class Phone(Device):
    def __init__(self, topic, environment):
        token = os.urandom(32).hex()
        super().__init__(token, token)
        self.topic, self.environment = topic, environment


class APNs(Service):
    versions = ("h2",)
    answers = ANSWERS

    def __init__(self, options):
        super().__init__(options, server_errors=(500, 503))
        self.environment, self.update_seconds = options.environment, options.token_update_seconds
        self.shrinks, self.verifier = options.shrink, Tokens()

    # A connection has one stream until a first request with a good token was answered.
    first_streams = 1

    def may_open(self, connection, open_streams):
        return open_streams == 0 or "key" in connection.memory

    def goaway_data(self, reason):
        return json.dumps({"reason": reason or "Shutdown"}).encode()

    def tokens(self):
        return Counter(self.verifier.made.values())

    def set_credentials(self, values):
        self.verifier.replace([Key(value) for value in values])

    def make_device(self, number, value):
        environment = value.get("environment", self.environment)
        if environment not in ("production", "sandbox"):
            raise ValueError("environment is production or sandbox")
        return Phone(value["topic"], environment)

    def check(self, request):
        parts = request.path.split("/")
        if request.method != "POST":
            raise Refused(405, "MethodNotAllowed")
        if len(parts) != 4 or parts[:3] != ["", "3", "device"]:
            raise Refused(404, "BadPath")
        request.refuse_duplicates(HEADERS, 400, "DuplicateHeaders")
        key = self._sender(request)
        topic = self._topic(request.fields, key)
        self._payload(request)
        device = self.devices.get(parts[3])
        if not parts[3]:
            raise Refused(400, "MissingDeviceToken")
        if not re.fullmatch(r"(?:[0-9a-f]{2})+", parts[3]):
            raise Refused(400, "BadDeviceToken", "not lower-case hex")
        if device is None or device.environment != self.environment:
            raise Refused(400, "BadDeviceToken", "of another environment" if device else "no such device")
        if device.topic != topic:
            raise Refused(400, "DeviceTokenNotForTopic")
        if device.gone is not None:
            raise Refused(410, "Unregistered", timestamp=device.gone)
        return device, key.id, request.body

    def _sender(self, request):
        text = request.fields.get("authorization")
        if text is None:
            raise Refused(403, "MissingProviderToken")
        if text[:7].lower() != "bearer ":
            raise Refused(403, "InvalidProviderToken", "not a bearer token")
        token, memory = text[7:], request.connection.memory
        key = self.verifier.check(token)
        if key.environment not in (None, self.environment):
            raise Refused(403, "BadEnvironmentKeyIdInToken")
        if memory.setdefault("key", key.id) != key.id:
            raise Refused(403, "UnrelatedKeyIdInToken", "the connection has another key")
        # The first token of a connection is no update.
        seen, now = memory.setdefault("tokens", {token: float("-inf")}), time.monotonic()
        if token not in seen:
            if any(now - since < self.update_seconds for since in seen.values()):
                raise Refused(429, "TooManyProviderTokenUpdates")
            seen[token] = now
        if memory.setdefault("streams", self.max_streams) is not None:
            memory["streams"] = None
            request.connection.http.settings(self.max_streams)
        return key

    def _topic(self, fields, key):
        """Checks the headers, and returns the topic without the end that belongs to the type."""
        kind, priority = fields.get("apns-push-type", "alert"), fields.get("apns-priority", "10")
        topic, collapse = fields.get("apns-topic"), fields.get("apns-collapse-id")
        if kind not in SUFFIXES:
            raise Refused(400, "InvalidPushType")
        if "apns-push-type" not in fields:
            self.problem("apns-push-type is missing")
        if not topic:
            raise Refused(400, "MissingTopic")
        if not re.fullmatch(r"[A-Za-z0-9.-]{1,255}", topic) or not topic.endswith(SUFFIXES[kind]):
            raise Refused(400, "BadTopic", "not the topic of this type")
        topic = topic.removesuffix(SUFFIXES[kind])
        if key.topics is not None and topic not in key.topics:
            raise Refused(400, "TopicDisallowed")
        if priority not in ("1", "5", "10") or (kind == "background" and priority != "5"):
            raise Refused(400, "BadPriority")
        if not re.fullmatch(r"[0-9]{1,10}", fields.get("apns-expiration", "0")):
            raise Refused(400, "BadExpirationDate")
        if collapse is not None and not 1 <= len(collapse.encode()) <= 64:
            raise Refused(400, "BadCollapseId")
        name = fields.get("apns-id")
        if name is not None and not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name):
            raise Refused(400, "BadMessageId")
        return topic

    def _payload(self, request):
        kind = request.fields.get("apns-push-type", "alert")
        if request.size == 0:
            raise Refused(400, "PayloadEmpty")
        if request.size > (5120 if kind == "voip" else 4096):
            raise Refused(413, "PayloadTooLarge")
        try:
            payload = json.loads(request.body)
        except ValueError:
            payload = None
        if not isinstance(payload, dict):
            raise Refused(400, "PayloadEmpty", "the payload is no JSON object")
        aps = payload.get("aps")
        if kind == "background" and (not isinstance(aps, dict) or aps.get("content-available") != 1
                                     or {"alert", "sound", "badge"} & set(aps)):
            self.problem("a background push has not the payload of one")

    def headers(self, request):
        found = [("apns-id", request.fields.get("apns-id") or str(uuid.uuid4()))]
        return found + [("apns-unique-id", str(uuid.uuid4()))] if self.environment == "sandbox" else found

    def accepted(self, request, record):
        if self.shrinks:
            request.connection.http.settings(self.max_streams)
        return 200, self.headers(request), b""

    def refusal(self, refused, request):
        """The answer of Apple. With --shrink a refused push leaves one stream until the next good one."""
        if self.shrinks and 400 <= refused.status < 410:
            request.connection.http.settings(1)
        body = {"reason": refused.reason}
        if refused.status == 410:
            body["timestamp"] = refused.values.get("timestamp", int(time.time() * 1000))
        return refused.status, refused.headers + self.headers(request), json.dumps(body).encode()
