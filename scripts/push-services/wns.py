"""Windows Push Notification Services, with the token endpoints of Microsoft accounts (login.live.com) and of Entra.

Sources: "Push notification service request and response headers" and "Push notifications quickstart" of the Windows App
SDK in Microsoft's documentation.
"""

import os
import re
import xml.etree.ElementTree
from urllib.parse import parse_qsl, urlsplit

from exchange import Device, Refused
from oauth import TokenEndpoint
from service import Service
from tokens import encoded

ANSWERS = (
    (200, "received"), (200, "dropped"), (200, "channelthrottled"), (400, "Bad Request"), (401, "Unauthorized"),
    (403, "Forbidden"), (404, "Not Found"), (405, "Method Not Allowed"), (406, "Not Acceptable"), (410, "Gone"),
    (413, "Request Entity Too Large"), (500, "Internal Server Error"), (503, "Service Unavailable"))
TYPES = {"wns/toast": "text/xml", "wns/badge": "text/xml", "wns/tile": "text/xml",
         "wns/raw": "application/octet-stream"}
# Other forms than these are refused.
HEADERS = {
    "x-wns-cache-policy": r"cache|no-cache", "x-wns-ttl": r"[0-9]{1,10}", "x-wns-requestforstatus": r"true|false",
    "x-wns-tag": r"[A-Za-z0-9]{1,16}", "x-wns-priority": r"[1-4]", "x-wns-suppresspopup": r"true|false",
    "x-wns-group": r"[A-Za-z0-9]{1,16}"}


class AppTokens(TokenEndpoint):
    versions = ("http/1.1",)
    seconds = 86400
    answers = ((400, "invalid_client"), *TokenEndpoint.answers)

    def grant(self, request, form):
        tenant = re.fullmatch(r"/([^/]+)/oauth2/v2\.0/token", request.path)
        if request.path != "/accesstoken.srf" and not tenant:
            raise Refused(404, "not_found")
        if form.get("grant_type") != "client_credentials":
            raise Refused(400, "unsupported_grant_type", "grant_type is not client_credentials")
        app, secret = form.get("client_id", ""), form.get("client_secret", "")
        known = self.service.apps.get(app)
        if tenant:
            return self._of_entra(app, secret, known, tenant.group(1), form.get("scope"))
        if form.get("scope") != "notify.windows.com":
            raise Refused(400, "invalid_scope", "scope is not notify.windows.com")
        if known is None or known["tenant"] is not None or secret != known["secret"]:
            raise Refused(400, "invalid_client", "Invalid client id or secret")
        return app, {"token_type": "bearer"}

    def _of_entra(self, app, secret, known, tenant, scope):
        if all(each["tenant"] != tenant for each in self.service.apps.values()):
            raise Refused(400, "invalid_request", "AADSTS90002: Tenant not found.", error_codes=[90002])
        if known is None or known["tenant"] != tenant:
            raise Refused(400, "unauthorized_client", "AADSTS700016: Application was not found in the directory.",
                          error_codes=[700016])
        if secret != known["secret"]:
            raise Refused(401, "invalid_client", "AADSTS7000215: Invalid client secret provided.",
                          error_codes=[7000215])
        if scope != "https://wns.windows.com/.default":
            raise Refused(400, "invalid_scope", "AADSTS70011: The provided value for scope is not valid.",
                          error_codes=[70011])
        return app, {"token_type": "Bearer", "ext_expires_in": self.seconds}

    def describe(self, request):
        """The metadata that clients of Entra ask for."""
        found = re.fullmatch(r"/([^/]+)/v2\.0/\.well-known/openid-configuration", request.path)
        if not found:
            return super().describe(request)
        place = f"{self.origin}/{found.group(1)}"
        return {"issuer": f"{place}/v2.0", "token_endpoint": f"{place}/oauth2/v2.0/token",
                "authorization_endpoint": f"{place}/oauth2/v2.0/authorize"}


class Channel(Device):
    def __init__(self, number, origin, app):
        name = f"{number}-{encoded(os.urandom(48))}"
        super().__init__(name, f"{origin}/?token={name}")
        self.app = app


class WNS(Service):
    # It has no HTTP/2.
    versions = ("http/1.1",)
    answers = ANSWERS

    def __init__(self, options):
        values = {"server_errors": (500, 503), "throttled": 406, "wait": "x-wns-continue-after"}
        super().__init__(options, **values)
        self.apps = {}
        self.tokens_endpoint = AppTokens(self, server_errors=(500, 503))

    def tokens(self):
        return self.tokens_endpoint.given

    def set_credentials(self, values):
        self.apps = {value["app"]: {"secret": value["secret"], "tenant": value.get("tenant")} for value in values}
        if any((app["tenant"] is None) != name.startswith("ms-app://") for name, app in self.apps.items()):
            raise ValueError("a package SID begins with ms-app:// and has no tenant")
        self.tokens_endpoint.keep_only(self.apps)

    def expire_tokens(self):
        self.tokens_endpoint.expire()

    def make_device(self, number, value):
        return Channel(number, self.origin, value["app"])

    def check(self, request):
        fields, parts = request.fields, urlsplit(request.path)
        if request.method != "POST":
            raise Refused(405, "Method Not Allowed")
        request.refuse_duplicates(("authorization", "content-type", "x-wns-type", *HEADERS), 400, "Bad Request")
        channel = self.devices.get(dict(parse_qsl(parts.query)).get("token")) if parts.path == "/" else None
        app, problem = self.tokens_endpoint.sender_of(request)
        if app is None:
            raise Refused(401, "Unauthorized", problem)
        if channel is None:
            raise Refused(404, "Not Found", "no such channel")
        if channel.gone is not None:
            raise Refused(410, "Gone", "the channel has expired")
        if channel.app != app:
            raise Refused(403, "Forbidden", "the channel is of another app")
        self._headers(fields, app)
        if request.size > 5000:
            raise Refused(413, "Request Entity Too Large", "more than 5,000 bytes")
        if fields["x-wns-type"] != "wns/raw":
            try:
                xml.etree.ElementTree.fromstring(request.body)
            except xml.etree.ElementTree.ParseError:
                self.problem("a toast that is no XML")
        return channel, app, request.body

    def _headers(self, fields, app):
        kind = fields.get("x-wns-type")
        wanted = TYPES.get(kind)
        if wanted is None:
            raise Refused(400, "Bad Request", "X-WNS-Type is missing or unknown")
        if fields.get("content-type", "").split(";")[0].strip() != wanted:
            raise Refused(400, "Bad Request", "Content-Type does not fit X-WNS-Type")
        if kind in ("wns/badge", "wns/tile") and not app.startswith("ms-app://"):
            raise Refused(400, "Bad Request", "an app of the Windows App SDK has toast and raw only")
        for name, form in HEADERS.items():
            if name in fields and not re.fullmatch(form, fields[name], re.ASCII):
                raise Refused(400, "Bad Request", name)
        if "expect" in fields:
            self.problem("Expect: 100-continue")

    def headers(self, request, status):
        found = [("x-wns-msg-id", os.urandom(8).hex().upper()), ("x-wns-debug-trace", "FAKE1"), ("ms-cv", "fake.0")]
        if request.fields.get("x-wns-requestforstatus") == "true":
            found += [("x-wns-status", status), ("x-wns-notificationstatus", status),
                      ("x-wns-deviceconnectionstatus", "connected")]
        return found

    def accepted(self, request, record):
        return 200, self.headers(request, "received"), b""

    def refusal(self, refused, request):
        """The body is empty: all is in headers."""
        if refused.status == 200:
            return 200, refused.headers + self.headers(request, refused.reason), b""
        headers = self.headers(request, "dropped") + [("x-wns-error-description", refused.detail or refused.reason)]
        return refused.status, refused.headers + headers, b""
