"""Drives the fake of FCM with google-auth and firebase-admin. See scripts/push-services.sh."""

import asyncio
import base64
import json
import os
import time

import google.auth.exceptions
import google.auth.transport.requests
import jwt
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.oauth2 import service_account

from driver import Driver, expect

PROJECT, SCOPE = "demo-project", "https://www.googleapis.com/auth/firebase.messaging"


class Account:
    def __init__(self, driver, email, project=PROJECT, **rights):
        key = rsa.generate_private_key(65537, 2048)
        pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                serialization.NoEncryption()).decode()
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        self.file = {"type": "service_account", "project_id": project, "private_key_id": "1234", "private_key": pem,
                     "client_email": email, "token_uri": driver.token_origin + "/token"}
        self.credential = {"project": project, "clientEmail": email, "publicKey": public, **rights}


def check_tokens(driver, account):
    transport = google.auth.transport.requests.Request(session=driver.session)

    def refresh(file, scope=SCOPE):
        credentials = service_account.Credentials.from_service_account_info(file, scopes=[scope])
        try:
            credentials.refresh(transport)
            return "token"
        except google.auth.exceptions.RefreshError as error:
            return error.args[1]["error"] if isinstance(error.args[1], dict) else "no JSON"
        except google.auth.exceptions.TransportError:
            return "no answer"

    expect("google-auth gets a token", refresh(account.file), "token")
    expect("an unknown account", refresh({**account.file, "client_email": "x@y"}), "invalid_grant")
    other = Account(driver, "other@example.org").file["private_key"]
    expect("the key of another", refresh({**account.file, "private_key": other}), "invalid_grant")
    expect("another scope", refresh(account.file, "https://www.googleapis.com/auth/drive"), "invalid_scope")
    driver.next({"status": 400, "reason": "invalid_grant"}, {"status": 503}, at="token")
    expect("400 invalid_grant", refresh(account.file), "invalid_grant")
    expect("503, which google-auth asks again", refresh(account.file), "token")
    driver.next({"fault": "lost"}, at="token")
    expect("a lost answer", refresh(account.file), "no answer")
    driver.admin("PUT", "/settings", {"tokenSeconds": 3599, "tokenSecondsAsText": True})
    expect("a lifetime in quotes", refresh(account.file), "token")
    driver.admin("PUT", "/settings", {"tokenSeconds": 3599, "tokenSecondsAsText": False})
    now = int(time.time())
    for name, claims in (("iat in the future", {"iat": now + 600, "exp": now + 1200}),
                         ("two hours", {"iat": now, "exp": now + 7200}), ("another aud", {"aud": "https://x.example"})):
        claims = {"iss": account.file["client_email"], "scope": SCOPE, "aud": driver.token_origin + "/token",
                  "iat": now, "exp": now + 3600, **claims}
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                "assertion": jwt.encode(claims, account.file["private_key"], "RS256")}
        answer = driver.session.post(driver.token_origin + "/token", data=form, timeout=5)
        expect(name, (answer.status_code, answer.json()["error"]), (400, "invalid_grant"))


class Sender:
    """firebase-admin, which is told where the service is. It asks nobody again."""

    def __init__(self, driver, account, project=PROJECT):
        import firebase_admin
        from firebase_admin import credentials, messaging
        self.messaging = messaging
        messaging._MessagingService.FCM_URL = driver.origin + "/v1/projects/{0}/messages:send"
        self.app = firebase_admin.initialize_app(credentials.Certificate(account.file), {"projectId": project},
                                                 name=os.urandom(4).hex())
        self.service = messaging._get_messaging_service(self.app)
        self.service._client.session.mount(driver.origin, requests.adapters.HTTPAdapter(max_retries=0))
        self.service._client._timeout = 2

    def message(self, token, data=None, **android):
        config = self.messaging.AndroidConfig(**{"priority": "high", "ttl": 3600, "collapse_key": "sp", **android})
        return self.messaging.Message(data={"m": "Grüße"} if data is None else data, android=config, token=token)

    def push(self, token, data=None, dry_run=False, **android):
        return self.outcome(lambda: self.messaging.send(self.message(token, data, **android), dry_run, self.app))

    @staticmethod
    def outcome(send):
        try:
            send()
            return "200"
        except Exception as error:  # of firebase-admin and of google-auth
            answer = getattr(error, "http_response", None)
            if answer is None:
                return "no answer"
            details = answer.json()["error"].get("details", [])
            codes = [each["errorCode"] for each in details if "errorCode" in each]
            return f"{answer.status_code} {(codes or [answer.json()['error']['status']])[0]} ({type(error).__name__})"

    def push_many(self, tokens):
        """Over HTTP/2."""
        batch = asyncio.run(self.messaging.send_each_async([self.message(token) for token in tokens], app=self.app))
        return batch.success_count


def check_pushes(driver, account):
    sender = Sender(driver, account)
    token, fid = [driver.devices(project=PROJECT, handle=kind)[0] for kind in ("token", "fid")]
    foreign = driver.devices(project="other-project")[0]
    token_of = token["handle"]
    expect("a push", sender.push(token_of), "200")
    expect("to an installation ID", sender.push(fid["handle"]), "200")
    seen = driver.pushes()
    message = json.loads(base64.b64decode(seen[0]["base64"]))["message"]
    expect("what arrived", (len(seen), seen[0]["sender"], seen[0]["device"] == token["id"], message["data"]),
           (2, account.file["client_email"], True, {"m": "Grüße"}))
    expect("a dry run", sender.push(token_of, dry_run=True), "200")
    expect("the dry run counts", len(driver.pushes()), 2)
    expect("many over HTTP/2", sender.push_many([token_of] * 100), 100)
    expect("4,096 bytes", sender.push(token_of, {"m": "x" * 4095}), "200")
    bad = "400 INVALID_ARGUMENT (InvalidArgumentError)"
    expect("4,097 bytes", sender.push(token_of, {"m": "x" * 4096}), bad)
    expect("a reserved key", sender.push(token_of, {"from": "x"}), bad)
    expect("a reserved prefix", sender.push(token_of, {"google.x": "x"}), bad)
    expect("29 days", sender.push(token_of, ttl=29 * 86400), bad)
    expect("no token", sender.push("x" * 30), bad)
    unknown = token_of[:-4] + "zzzz"
    expect("an unknown token", sender.push(unknown), "404 UNREGISTERED (UnregisteredError)")
    wanted = "403 SENDER_ID_MISMATCH (SenderIdMismatchError)"
    expect("a device of another project", sender.push(foreign["handle"]), wanted)
    driver.admin("POST", f"/devices/{token['id']}/gone")
    expect("a device that is gone", sender.push(token_of), "404 UNREGISTERED (UnregisteredError)")
    denied = "403 PERMISSION_DENIED (PermissionDeniedError)"
    expect("another project", Sender(driver, account, "other-project").push(foreign["handle"]), denied)
    weak = Account(driver, "weak@example.org", maySend=False)
    driver.admin("PUT", "/credentials", {"credentials": [account.credential, weak.credential]})
    expect("an account without rights", Sender(driver, weak).push(fid["handle"]), denied)
    driver.admin("POST", "/tokens/expire")
    expect("a token that has expired, once again", sender.push(fid["handle"]), "200")
    expect("tokens", driver.admin("GET", "/state")["tokens"][weak.file["client_email"]], 1)
    expect("over HTTP/2", driver.admin("GET", "/state")["counts"]["connections.h2"] > 0, True)


def check_rules(driver, account):
    """What firebase-admin does not let through."""
    device = driver.devices(project=PROJECT, handle="fid")[0]["handle"]
    token = google_token(driver, account)

    def post(message, access=token, path=f"/v1/projects/{PROJECT}/messages:send"):
        answer = driver.session.post(driver.origin + path, json=message, timeout=5,
                                     headers={"Authorization": "Bearer " + access})
        return answer.status_code, (answer.json().get("error") or {"status": "ok"})["status"]

    bad = (400, "INVALID_ARGUMENT")
    expect("fid", post({"message": {"fid": device, "data": {"a": "b"}}}), (200, "ok"))
    expect("camelCase", post({"message": {"fid": device, "android": {"collapseKey": "x"}}}), (200, "ok"))
    expect("two targets", post({"message": {"fid": device, "token": device}}), bad)
    expect("no target", post({"message": {}}), bad)
    expect("a topic", post({"message": {"topic": "x"}}), bad)
    expect("data that is no text", post({"message": {"fid": device, "data": {"a": 1}}}), bad)
    expect("an unknown field", post({"message": {"fid": device, "dat": {}}}), bad)
    expect("a ttl without s", post({"message": {"fid": device, "android": {"ttl": "60"}}}), bad)
    expect("a priority", post({"message": {"fid": device, "android": {"priority": "URGENT"}}}), bad)
    expect("an unknown fid", post({"message": {"fid": "c" * 22}}), (404, "NOT_FOUND"))
    expect("another access token", post({"message": {"fid": device}}, "x"), (401, "UNAUTHENTICATED"))
    expect("another path", post({"message": {"fid": device}}, path="/fcm/send"), (404, "NOT_FOUND"))


def google_token(driver, account):
    credentials = service_account.Credentials.from_service_account_info(account.file, scopes=[SCOPE])
    credentials.refresh(google.auth.transport.requests.Request(session=driver.session))
    return credentials.token


def check_faults(driver, account):
    sender, device = Sender(driver, account), driver.devices(project=PROJECT)[0]["handle"]
    sender.push(device)
    driver.admin("DELETE", "/pushes")
    for answer in driver.admin("GET", "/answers")["answers"][1:]:
        # google-auth renews its token twice at 401.
        driver.next({**answer, "times": 3 if answer["status"] == 401 else 1})
        found = sender.push(device)
        wanted = {"RATE_LIMIT_EXCEEDED": "RESOURCE_EXHAUSTED"}.get(answer["reason"], answer["reason"])
        expect(f"{answer['status']} {answer['reason']}", " ".join(found.split()[:2]), f"{answer['status']} {wanted}")
        driver.admin("DELETE", "/next")
    for fault, wanted in (("lost", "no answer"), ("silence", "no answer"), ("close", "no answer"), ("slow", "200")):
        driver.next({"fault": fault, "seconds": 0.1})
        expect(fault, sender.push(device), wanted)
    expect("what was accepted", [push["answer"] for push in driver.pushes()], ["lost", "sent"])
    driver.admin("PUT", "/faults", {"serverError": 0.1, "throttled": 0.1, "lost": 0.1, "seed": 3})
    start, found = time.monotonic(), {}
    for _ in range(200):
        kind = sender.push(device)[:3]
        found[kind] = found.get(kind, 0) + 1
    print(f"      200 pushes in {time.monotonic() - start:.1f} s: {found}")
    expect("kinds of answers", set(found), {"200", "500", "503", "429", "no "})
    expect("problems", driver.admin("GET", "/state")["problems"], [])


def check(folder):
    driver = Driver("fcm", folder)
    # For firebase-admin: requests, and httpx.
    os.environ.update(REQUESTS_CA_BUNDLE=driver.authority, SSL_CERT_FILE=driver.authority, NO_PROXY="*")
    account = Account(driver, "push@example.org")
    driver.admin("PUT", "/credentials", {"credentials": [account.credential]})
    try:
        check_tokens(driver, account)
        check_pushes(driver, account)
        check_rules(driver, account)
        check_faults(driver, account)
    finally:
        driver.end()
