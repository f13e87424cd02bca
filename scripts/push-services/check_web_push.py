"""Drives the push service with pywebpush, a sender that nobody of SecurePush wrote. See scripts/push-services.sh."""

import base64
import json
import os
import shlex
import subprocess
import time

import requests
from py_vapid import Vapid02
from cryptography.hazmat.primitives import serialization
from pywebpush import WebPushException, webpush

from driver import Driver, expect
from tokens import encoded

def new_key():
    key = Vapid02()
    key.generate_keys()
    point = key.public_key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    return key, encoded(point)


class Sender(Driver):
    def __init__(self, folder):
        super().__init__("web-push", folder)
        self.key, self.public = new_key()

    def subscribe(self, service="apple", key=None):
        return self.devices(service=service, key=key or self.public)[0]

    def push(self, subscription, data="hello", key=None, claims=None, ttl=60, headers=None, timeout=5):
        info = {"endpoint": subscription["handle"],
                "keys": {"p256dh": subscription["p256dh"], "auth": subscription["auth"]}}
        try:
            answer = webpush(
                info, data, vapid_private_key=key or self.key, ttl=ttl, headers=headers, timeout=timeout,
                vapid_claims=claims or {"sub": "mailto:push@example.org"}, requests_session=self.session)
            return str(answer.status_code), answer
        except WebPushException as error:
            return f"{error.response.status_code} {self.reason(error.response)}", error.response
        except requests.Timeout:
            return "timeout", None
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            return "no answer", None

    @staticmethod
    def reason(answer):
        try:
            body = answer.json()
            return body.get("reason") or f"errno {body['errno']}"
        except ValueError:
            return answer.headers.get("x-wns-error-description") or answer.text

    def push_by_curl(self, subscription, data):
        """pywebpush's encryption and token, sent by curl over HTTP/2."""
        info = {"endpoint": subscription["handle"],
                "keys": {"p256dh": subscription["p256dh"], "auth": subscription["auth"]}}
        folder = os.getcwd()
        os.chdir(self.folder)
        try:
            command = webpush(info, data, vapid_private_key=self.key, ttl=60, curl=True,
                              vapid_claims={"sub": "mailto:push@example.org"})
            words = [word for word in shlex.split(command.replace("\\", "")) if word != "-vX"]
            words = words[:1] + ["-q", "-s", "--noproxy", "*", "--http2", "--cacert", self.authority, "-o", os.devnull,
                                 "-w", "%{http_version} %{http_code}", "-X"] + words[1:]
            return subprocess.run(words, capture_output=True, text=True, check=False).stdout
        finally:
            os.chdir(folder)


def check_pushes(driver):
    device = driver.subscribe()
    text = "Grüße, 👋"
    expect("a push", driver.push(device, text)[0], "201")
    expect("over HTTP/2 by curl", driver.push_by_curl(device, "by curl"), "2 201")
    long = "x" * 3993
    expect("3,993 bytes", driver.push(device, long)[0], "201")
    expect("3,994 bytes", driver.push(device, long + "x")[0], "413 PayloadTooLarge")
    pushes = driver.admin("GET", "/pushes")["pushes"]
    found = [base64.b64decode(push["base64"]).decode() for push in pushes]
    expect("what http_ece decrypted", found == [text, "by curl", long], True)
    expect("its answer", pushes[0]["answer"], "sent")
    headers = {"urgency": "high", "topic": "0123456789abcdef0123456789abcdef"}
    expect("with Urgency and Topic", driver.push(device, headers=headers)[0], "201")
    expect("a Topic with a blank", driver.push(device, headers={"topic": "a b"})[0], "400 BadWebPushTopic")
    wanted = "400 BadWebPushTopic"
    expect("a Topic of 13 characters, Apple", driver.push(device, headers={"topic": "a" * 13})[0], wanted)
    google = driver.subscribe("google")
    expect("a Topic of 13 characters, Google", driver.push(google, headers={"topic": "a" * 13})[0], "201")
    expect("an unknown Urgency", driver.push(device, headers={"urgency": "now"})[0], "400 BadUrgency")
    expect("TTL 0", driver.push(device, ttl=0)[0], "201")
    edge = driver.subscribe("windows")
    wanted = "400 Ttl value conflicts with X-WNS-Cache-Policy"
    expect("TTL 0, Edge", driver.push(edge, ttl=0)[0], wanted)
    expect("TTL 0, Edge, not kept", driver.push(edge, ttl=0, headers={"x-wns-cache-policy": "no-cache"})[0], "201")
    answer = driver.session.post(device["handle"], data=b"x", timeout=5)
    expect("without a token", f"{answer.status_code} {driver.reason(answer)}", "401 MissingAuthorization")


def check_tokens(driver):
    device, now = driver.subscribe(), int(time.time())
    other, _ = new_key()
    subject = {"sub": "mailto:push@example.org"}
    expect("another key", driver.push(device, key=other)[0], "403 VapidPkHashMismatch")
    expect("another key, Mozilla", driver.push(driver.subscribe("mozilla"), key=other)[0], "401 errno 109")
    expect("at localhost", driver.push(device, claims={"sub": "mailto:me@localhost"})[0], "403 BadJwtToken")
    aud = {"aud": "https://updates.push.services.mozilla.com", **subject}
    expect("another aud", driver.push(device, claims=aud)[0], "403 BadJwtToken")
    expect("exp in 25 hours", driver.push(device, claims={"exp": now + 90_000, **subject})[0], "403 BadJwtToken")
    expect("exp as text", driver.push(device, claims={"exp": str(now + 3_600), **subject})[0], "403 BadJwtToken")
    stranger = dict(device, auth=encoded(os.urandom(16)))
    expect("encrypted for another", driver.push(stranger)[0], "400 BadWebPushRequest")
    unknown = dict(device, handle=device["handle"][:-4] + "zzzz")
    expect("no subscription", driver.push(unknown)[0], "404 NoSubscription")
    driver.admin("POST", f"/devices/{device['id']}/gone")
    expect("a subscription that is gone", driver.push(device)[0], "410 Unregistered")


def check_faults(driver):
    device = driver.subscribe()
    driver.admin("DELETE", "/pushes")
    driver.admin("POST", "/next", {"answers": [
        {"status": 429, "headers": {"Retry-After": "7"}}, {"status": 503}, {"fault": "lost"}, {"fault": "silence"},
        {"fault": "close"}, {"fault": "slow", "seconds": 0.1}, {"fault": "half"},
        {"status": 307, "headers": {"Location": "https://127.0.0.1:1/"}}]})
    found, answer = driver.push(device)
    expect("429", (found[:3], answer.headers["retry-after"]), ("429", "7"))
    expect("503", driver.push(device)[0][:3], "503")
    expect("a lost answer", driver.push(device, "lost")[0], "no answer")
    expect("silence", driver.push(device, timeout=0.5)[0], "timeout")
    expect("a connection that closes", driver.push(device)[0], "no answer")
    expect("a slow answer", driver.push(device, "slow")[0], "201")
    expect("half an answer", driver.push(device, "half")[0], "no answer")
    # requests follows it, to a port where nobody listens.
    expect("a redirect", driver.push(device)[0], "no answer")
    answers = [push["answer"] for push in driver.admin("GET", "/pushes")["pushes"]]
    expect("what was accepted", answers, ["lost", "sent", "lost"])
    driver.admin("PUT", "/faults", {"serverError": 0.2, "throttled": 0.2, "lost": 0.2, "seed": 3})
    start, found = time.monotonic(), {}
    for _ in range(200):
        kind = driver.push(device)[0][:3]
        found[kind[0]] = found.get(kind[0], 0) + 1
    print(f"      200 pushes in {time.monotonic() - start:.1f} s, first digits of the answers: {found}")
    expect("all kinds of faults", set(found), {"2", "4", "5", "n"})
    state = driver.admin("GET", "/state")
    print("      counts:", json.dumps(dict(sorted(state["counts"].items()))))
    expect("problems", state["problems"], [])


def check(folder):
    driver = Sender(folder)
    try:
        check_pushes(driver)
        check_tokens(driver)
        check_faults(driver)
    finally:
        driver.end()
