"""What JSON Schema cannot say of the two APIs, so that schemathesis sends what the documents mean.

Each rule here stands in words in the document: times that are not past and in their order, keys that are used once, a
body that a sender must give, IDs that are repeated in the body.
"""

import uuid

import schemathesis
from schemathesis.core import NotSet


@schemathesis.serializer("application/x-ndjson")
def ndjson(context, value):
    """Generated values are the whole text."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def is_positive(case):
    mode = getattr(getattr(case.meta, "generation", None), "mode", None)
    return mode is not None and mode.is_positive


def as_the_hub_takes_it(installation):
    """What only the hub judges, and refuses (502): tiles of other platforms, texts that XML cannot hold."""
    if installation.get("expirationTime") is not None:
        installation["expirationTime"] = "2099-12-31T23:59:59Z"
    if installation.get("platform") not in ("wns", "mpns"):
        installation.pop("secondaryTiles", None)
    for name in ("templates", "secondaryTiles", "pushVariables", "pushChannel", "tags"):
        if name in installation:
            installation[name] = in_xml(installation[name])


def in_xml(value):
    if isinstance(value, str):
        return "".join(c for c in value if 0x20 <= ord(c) < 0x7F or 0xA0 <= ord(c) < 0xD800) or "x"
    if isinstance(value, list):
        return [in_xml(element) for element in value]
    if isinstance(value, dict):
        return {in_xml(name): in_xml(member) for name, member in value.items()}
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    """Changes requests, and never leaves an answer out."""
    if not is_positive(case):
        return
    is_send = case.operation.method.upper() == "POST" and case.operation.path == "/api/notifications"
    if is_send and isinstance(case.body, NotSet):
        # Without a body the request is a user's; a sender must give one.
        case.body = {"Recipient": "alice", "Payload": "Your results are in."}
        case.media_type = "application/json"
    if case.headers and "Idempotency-Key" in case.headers:
        # Another body under a used key is 422.
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
    body = case.body
    if not isinstance(body, dict):
        return
    if case.operation.path == "/api/notifications":
        if body.get("ExpiresAt") is not None:
            body["ExpiresAt"] = "2099-12-31T23:59:59.999Z"
        if body.get("NotBefore") is not None:
            body["NotBefore"] = "2099-01-01T00:00:00+01:00"
            body["ExpiresAt"] = "2099-12-31T23:59:59Z"
    if case.operation.path == "/api/installations/{id}":
        # The ID in the path is the installation's.
        body.pop("installationId", None)
        as_the_hub_takes_it(body)
