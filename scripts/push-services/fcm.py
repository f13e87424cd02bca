"""Firebase Cloud Messaging, HTTP v1, with the token endpoint for service accounts.

Sources: the REST reference of FCM (projects.messages, ErrorCode), and "Using OAuth 2.0 for Server to Server
Applications" of Google's documentation.
"""

import json
import os
import re
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from exchange import Device, Refused
from oauth import TokenEndpoint
from service import Service
from tokens import encoded, read_token

TYPE = "type.googleapis.com/"
ANSWERS = (
    (200, "accepted"), (400, "INVALID_ARGUMENT"), (401, "UNAUTHENTICATED"), (401, "THIRD_PARTY_AUTH_ERROR"),
    (403, "PERMISSION_DENIED"), (403, "SENDER_ID_MISMATCH"), (404, "UNREGISTERED"), (404, "UNREGISTERED_FID"),
    (429, "QUOTA_EXCEEDED"), (429, "RATE_LIMIT_EXCEEDED"), (500, "INTERNAL"), (500, "UNSPECIFIED_ERROR"),
    (503, "UNAVAILABLE"))
# The codes of google.rpc, where they differ from those of FCM.
STATUSES = {
    "THIRD_PARTY_AUTH_ERROR": "UNAUTHENTICATED", "SENDER_ID_MISMATCH": "PERMISSION_DENIED",
    "UNREGISTERED": "NOT_FOUND", "UNREGISTERED_FID": "NOT_FOUND", "QUOTA_EXCEEDED": "RESOURCE_EXHAUSTED",
    "RATE_LIMIT_EXCEEDED": "RESOURCE_EXHAUSTED", "UNSPECIFIED_ERROR": "INTERNAL"}
# Refusals before FCM itself sees the request have no FcmError.
PLAIN = ("UNAUTHENTICATED", "PERMISSION_DENIED", "RATE_LIMIT_EXCEEDED", "NOT_FOUND")
TARGETS = ("fid", "token", "topic", "condition")
MESSAGE = {"name", "data", "notification", "android", "webpush", "apns", "fcm_options", *TARGETS}
ANDROID = {"collapse_key", "priority", "ttl", "restricted_package_name", "data", "notification", "fcm_options",
           "direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok"}
MAX_TTL = 2_419_200


class Account:
    """A service account and its key."""

    def __init__(self, value):
        self.project, self.email, self.may_send = value["project"], value["clientEmail"], value.get("maySend", True)
        self.public = serialization.load_pem_public_key(value["publicKey"].encode())
        if not isinstance(self.public, rsa.RSAPublicKey):
            raise ValueError("the key is not of RSA")


class AccountTokens(TokenEndpoint):
    seconds, prefix = 3599, "ya29."
    answers = ((400, "invalid_grant"), *TokenEndpoint.answers)

    def grant(self, request, form):
        def bad(detail, reason="invalid_grant"):
            return Refused(400, reason, detail)

        if request.path != "/token":
            raise Refused(404, "not_found")
        if form.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer":
            raise bad("Invalid grant_type", "unsupported_grant_type")
        try:
            header, claims, signed, signature = read_token(form.get("assertion", ""))
        except ValueError:
            raise bad("Bad Request", "invalid_request") from None
        account = self.service.accounts.get(claims.get("iss"))
        if header.get("alg") != "RS256" or account is None:
            raise bad("Invalid grant: account not found")
        try:
            account.public.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            raise bad("Invalid JWT Signature.") from None
        if claims.get("aud") not in (self.origin + "/token", "https://oauth2.googleapis.com/token"):
            raise bad("Invalid JWT: aud is not the token endpoint")
        issued, ends, now = claims.get("iat"), claims.get("exp"), time.time()
        if type(issued) is not int or type(ends) is not int or not issued - 60 <= now < ends <= issued + 3600:
            raise bad("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                      "Check your iat and exp values in the JWT claim.")
        scopes = {scope.removeprefix("https://www.googleapis.com/auth/") for scope in claims.get("scope", "").split()}
        if not scopes & {"firebase.messaging", "cloud-platform"}:
            raise bad("Invalid OAuth scope or ID token audience provided.", "invalid_scope")
        return account.email, {"token_type": "Bearer"}


class Phone(Device):
    def __init__(self, project, is_installation):
        name = "cdef"[os.urandom(1)[0] % 4] + encoded(os.urandom(16))[1:]
        super().__init__(name, name if is_installation else f"{name}:APA91b{encoded(os.urandom(100))}")
        self.project, self.is_installation = project, is_installation


class FCM(Service):
    answers = ANSWERS

    def __init__(self, options):
        super().__init__(options, server_errors=(500, 503))
        self.accounts, self.by_handle = {}, {}
        self.tokens_endpoint = AccountTokens(self, server_errors=(500, 503))

    def tokens(self):
        return self.tokens_endpoint.given

    def set_credentials(self, values):
        accounts = [Account(value) for value in values]
        self.accounts = {account.email: account for account in accounts}
        self.tokens_endpoint.keep_only(self.accounts)

    def expire_tokens(self):
        self.tokens_endpoint.expire()

    def make_device(self, number, value):
        handle = value.get("handle", "token")
        if handle not in ("token", "fid"):
            raise ValueError("handle is token or fid")
        device = Phone(value["project"], handle == "fid")
        self.by_handle[device.handle] = device
        return device

    def check(self, request):
        sender, problem = self.tokens_endpoint.sender_of(request)
        if sender is None:
            raise Refused(401, "UNAUTHENTICATED", problem)
        found = re.fullmatch(r"/v1/projects/([^/]+)/messages:send", request.path)
        if request.method != "POST" or not found:
            raise Refused(404, "NOT_FOUND", "not POST /v1/projects/PROJECT/messages:send")
        account, project = self.accounts[sender], found.group(1)
        if account.project != project or not account.may_send:
            raise Refused(403, "PERMISSION_DENIED", "no right to send to the project")
        if request.fields.get("content-type", "").split(";")[0].strip() != "application/json":
            raise invalid("not application/json")
        value = read(request.body)
        only(value, {"validate_only", "message"}, "")
        if type(value.get("validate_only", False)) is not bool or not isinstance(value.get("message"), dict):
            raise invalid("validate_only or message have another type")
        message = snake(value["message"])
        check_message(message)
        device = self.target(message, project)
        return (None if value.get("validate_only") else device), sender, request.body

    def target(self, message, project):
        named = [name for name in TARGETS if name in message]
        if len(named) != 1:
            raise invalid("Exactly one target: fid, token, topic or condition")
        kind, handle = named[0], message[named[0]]
        if kind in ("topic", "condition") or not isinstance(handle, str):
            raise invalid(f"a {kind} that this service does not have", f"message.{kind}")
        is_fid = re.fullmatch(r"[c-f][\w-]{21}", handle, re.ASCII) is not None
        if not is_fid and (kind == "fid" or not re.fullmatch(r"[\w-]{22}:APA91b[\w-]{134}", handle, re.ASCII)):
            raise invalid("The registration token is not a valid FCM registration token", f"message.{kind}")
        device = self.by_handle.get(handle)
        if device is None or device.gone is not None:
            raise Refused(404, "UNREGISTERED_FID" if is_fid else "UNREGISTERED", "gone" if device else "no such device")
        if device.project != project:
            raise Refused(403, "SENDER_ID_MISMATCH")
        return device

    def accepted(self, request, record):
        project = request.path.split("/")[3]
        name = "fake_message_id" if record is None else f"0:{int(record['time'] * 1e6)}%{os.urandom(8).hex()}"
        body = json.dumps({"name": f"projects/{project}/messages/{name}"})
        return 200, [("content-type", "application/json; charset=UTF-8")], body.encode()

    def refusal(self, refused, request):
        reason, details, field = refused.reason, [], refused.values.get("field")
        if reason not in PLAIN:
            details.append({"@type": TYPE + "google.firebase.fcm.v1.FcmError", "errorCode": reason})
        if field:
            violation = {"field": field, "description": refused.detail}
            details.append({"@type": TYPE + "google.rpc.BadRequest", "fieldViolations": [violation]})
        if reason == "QUOTA_EXCEEDED":
            subject = refused.values.get("subject", "project")
            violation = {"subject": subject, "description": f"Message rate exceeded for the {subject}"}
            details.append({"@type": TYPE + "google.rpc.QuotaFailure", "violations": [violation]})
        if reason == "RATE_LIMIT_EXCEEDED":
            details += [
                {"@type": TYPE + "google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com",
                 "metadata": {"quota_limit": "SendsPerMinutePerProject", "service": "fcm.googleapis.com"}},
                {"@type": TYPE + "google.rpc.Help", "links": []}]
        error = {"code": refused.status, "message": refused.detail or "Requested entity was not found.",
                 "status": STATUSES.get(reason, reason), "details": details}
        headers = refused.headers + [("content-type", "application/json; charset=UTF-8")]
        return refused.status, headers, json.dumps({"error": error}).encode()


def invalid(detail, field=None):
    return Refused(400, "INVALID_ARGUMENT", detail, field=field)


def read(body):
    def pairs(values):
        if len({name for name, _ in values}) < len(values):
            raise ValueError("a name twice")
        return dict(values)

    try:
        value = json.loads(body, object_pairs_hook=pairs)
    except ValueError as error:
        raise invalid(f"Invalid JSON payload received. {error}") from None
    if not isinstance(value, dict):
        raise invalid("Invalid JSON payload received.")
    return value


def snake(value):
    """Names of Protocol Buffers in JSON may be written in camelCase too."""
    return {re.sub(r"([A-Z])", lambda found: "_" + found.group().lower(), name): each for name, each in value.items()}


def only(value, names, place):
    unknown = set(value) - names
    if unknown:
        name = sorted(unknown)[0]
        raise invalid(f"Invalid JSON payload received. Unknown name \"{name}\" at '{place}': Cannot find field.")


def check_message(message):
    only(message, MESSAGE, "message")
    android = message.get("android", {})
    if not isinstance(android, dict):
        raise invalid("android is no object", "message.android")
    android = snake(android)
    only(android, ANDROID, "message.android")
    if android.get("priority", "HIGH") not in ("HIGH", "NORMAL", "high", "normal"):
        raise invalid("Invalid value at 'message.android.priority'", "message.android.priority")
    ttl = android.get("ttl", "0s")
    if not isinstance(ttl, str) or not re.fullmatch(r"[0-9]+(\.[0-9]{1,9})?s", ttl, re.ASCII) \
            or float(ttl[:-1]) > MAX_TTL:
        raise invalid("Illegal TTL", "message.android.ttl")
    for name in ("collapse_key", "restricted_package_name"):
        if not isinstance(android.get(name, ""), str):
            raise invalid(f"{name} is no string", f"message.android.{name}")
    for name in ("direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok"):
        if type(android.get(name, False)) is not bool:
            raise invalid(f"{name} is no bool", f"message.android.{name}")
    size = 0
    for place, data in ("message.data", message.get("data", {})), ("message.android.data", android.get("data", {})):
        if not isinstance(data, dict) or not all(isinstance(text, str) for text in data.values()):
            raise invalid("data is no map of strings", place)
        for name in data:
            if name in ("from", "message_type") or name.startswith(("google.", "gcm.")):
                raise invalid(f"Invalid data payload key: {name}", f"{place}[{name}]")
        size = max(size, sum(len(name.encode()) + len(text.encode()) for name, text in data.items()))
    notification = message.get("notification", {})
    if not isinstance(notification, dict):
        raise invalid("notification is no object", "message.notification")
    size += sum(len(str(text).encode()) for text in notification.values())
    if size > 4096:
        raise invalid("Android message is too big", "message.data")
