"""Drives the fake of WNS with django-push-notifications and msal. See scripts/push-services.sh.

django-push-notifications knows Microsoft's older token endpoint; msal is Microsoft's own library for Entra. What both
leave out, requests sends.
"""

import os
import ssl
import time
import urllib.error

import msal
import requests

from driver import Driver, expect

SID, SECRET = "ms-app://s-1-15-2-1234", "package-secret"
TENANT, CLIENT = "7d1c1e2a-0000-4000-8000-000000000001", "c0ffee00-0000-4000-8000-000000000002"
CLIENT_SECRET = "entra-secret"
CREDENTIALS = [{"app": SID, "secret": SECRET}, {"app": CLIENT, "secret": CLIENT_SECRET, "tenant": TENANT}]
SCOPE = "https://wns.windows.com/.default"


class Package:
    """An app of the older kind. The library gets a token for each push."""

    def __init__(self, driver):
        from django.conf import settings
        settings.configure(PUSH_NOTIFICATIONS_SETTINGS={
            "WNS_PACKAGE_SECURITY_ID": SID, "WNS_SECRET_KEY": SECRET,
            "WNS_ACCESS_URL": driver.token_origin + "/accesstoken.srf"}, USE_TZ=True)
        import django
        django.setup()
        from push_notifications import wns
        self.wns = wns

    def push(self, uri, message=None, raw=None):
        try:
            self.wns.wns_send_message(uri, message=message, raw_data=raw)
            return "200"
        except self.wns.WNSNotificationResponseError as error:
            return str(error)[5:8]
        except self.wns.WNSAuthenticationError:
            return "no token"
        except urllib.error.HTTPError as error:
            return f"HTTP {error.code}"


def entra(driver, secret=CLIENT_SECRET, client=CLIENT, tenant=TENANT):
    app = msal.ConfidentialClientApplication(
        client, authority=f"{driver.token_origin}/{tenant}", client_credential=secret, instance_discovery=False,
        verify=driver.authority, http_client=driver.session)
    return app.acquire_token_for_client([SCOPE])


def post(driver, uri, token, data=b"x", kind="wns/raw", **headers):
    content = "application/octet-stream" if kind == "wns/raw" else "text/xml"
    fields = {"Authorization": f"Bearer {token}", "X-WNS-Type": kind, "Content-Type": content,
              **{name.replace("_", "-"): text for name, text in headers.items()}}
    try:
        answer = driver.session.post(uri, data=data, headers=fields, timeout=0.5, allow_redirects=False)
    except requests.Timeout:
        return "timeout"
    except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
        return "no answer"
    return answer


def status(*arguments, **headers):
    answer = post(*arguments, **headers)
    return answer if isinstance(answer, str) else answer.status_code


def check_tokens(driver):
    found = entra(driver)
    expect("msal gets a token", (found.get("token_type"), found.get("expires_in")), ("Bearer", 86400))
    for name, values, wanted in (
            ("another secret", {"secret": "x"}, ("invalid_client", [7000215])),
            ("another app", {"client": "x"}, ("unauthorized_client", [700016])),
            ("another tenant", {"tenant": "11111111-0000-4000-8000-000000000001"}, ("invalid_request", [90002]))):
        found = entra(driver, **values)
        expect(name, (found.get("error"), found.get("error_codes")), wanted)
    driver.admin("PUT", "/settings", {"tokenSeconds": 86399, "tokenSecondsAsText": True})
    expect("a lifetime in quotes, which msal reads", int(entra(driver)["expires_in"]), 86399)
    driver.admin("PUT", "/settings", {"tokenSeconds": 86400, "tokenSecondsAsText": False})


def check_packages(driver):
    package, uri = Package(driver), driver.devices(app=SID)[0]["handle"]
    other = driver.devices(app=CLIENT)[0]["handle"]
    expect("a toast of django-push-notifications", package.push(uri, message="Grüße"), "200")
    expect("a raw one", package.push(uri, raw="hello"), "200")
    seen = driver.pushes()
    expect("what arrived", [(push["headers"]["x-wns-type"], push["sender"], push["answer"]) for push in seen],
           [("wns/toast", SID, "sent"), ("wns/raw", SID, "sent")])
    expect("5,000 bytes", package.push(uri, raw="x" * 5000), "200")
    expect("5,001 bytes", package.push(uri, raw="x" * 5001), "413")
    expect("a channel of another app", package.push(other, raw="x"), "403")
    expect("no channel", package.push(uri[:-4] + "zzzz", raw="x"), "404")
    driver.next({"status": 400, "reason": "invalid_client"}, at="token")
    expect("no token", package.push(uri, raw="x"), "no token")
    for answer in driver.admin("GET", "/answers")["answers"]:
        if answer["status"] != 200:
            driver.next(answer)
            expect(f"{answer['status']} {answer['reason']}", package.push(uri, raw="x"), str(answer["status"]))
    driver.admin("PUT", "/credentials", {"credentials": CREDENTIALS[1:]})
    expect("a secret that was revoked", package.push(uri, raw="x"), "no token")
    driver.admin("PUT", "/credentials", {"credentials": CREDENTIALS})


def check_rules(driver):
    device = driver.devices(app=CLIENT)[0]
    uri, token = device["handle"], entra(driver)["access_token"]
    answer = post(driver, uri, token, X_WNS_RequestForStatus="true", X_WNS_TTL="3600", X_WNS_Priority="1")
    found = answer.status_code, answer.headers["x-wns-status"], answer.headers["x-wns-deviceconnectionstatus"]
    expect("an answer with its status", found, (200, "received", "connected"))
    expect("without asking for it", post(driver, uri, token).headers.get("x-wns-status"), None)
    for reason in ("dropped", "channelthrottled"):
        driver.next({"status": 200, "reason": reason})
        answer = post(driver, uri, token, X_WNS_RequestForStatus="true")
        expect(f"200 {reason}", (answer.status_code, answer.headers["x-wns-status"]), (200, reason))
    expect("a toast", status(driver, uri, token, b"<toast/>", "wns/toast"), 200)
    expect("a tile of an app of Entra", status(driver, uri, token, b"<tile/>", "wns/tile"), 400)
    expect("another Content-Type", status(driver, uri, token, Content_Type="text/xml"), 400)
    expect("an unknown type", status(driver, uri, token, kind="wns/other"), 400)
    expect("a TTL in words", status(driver, uri, token, X_WNS_TTL="1h"), 400)
    expect("a tag of 17 characters", status(driver, uri, token, X_WNS_Tag="x" * 17), 400)
    expect("chunks", status(driver, uri, token, iter([b"x"])), 411)
    expect("another token", status(driver, uri, "x"), 401)
    expect("GET", driver.session.get(uri, timeout=5).status_code, 405)
    driver.admin("POST", "/tokens/expire")
    expect("a token that has expired", status(driver, uri, token), 401)
    token = entra(driver)["access_token"]
    expect("a new one", status(driver, uri, token), 200)
    driver.admin("POST", f"/devices/{device['id']}/gone")
    expect("a channel that has expired", status(driver, uri, token), 410)


def check_faults(driver):
    uri, token = driver.devices(app=CLIENT)[0]["handle"], entra(driver)["access_token"]
    driver.admin("DELETE", "/pushes")
    driver.next({"status": 406, "reason": "Not Acceptable", "headers": {"X-WNS-Continue-After": "7"}})
    answer = post(driver, uri, token)
    expect("406", (answer.status_code, answer.headers["x-wns-continue-after"]), (406, "7"))
    for fault, wanted in (("lost", "no answer"), ("reset", "no answer"), ("silence", "timeout"), ("close", "no answer"),
                          ("half", "no answer"), ("slow", 200)):
        driver.next({"fault": fault, "seconds": 0.1})
        expect(fault, status(driver, uri, token), wanted)
    expect("what was accepted", [push["answer"] for push in driver.pushes()], ["lost", "lost", "lost", "sent"])
    driver.admin("PUT", "/faults", {"serverError": 0.1, "throttled": 0.1, "lost": 0.1, "retryAfter": 1, "seed": 3})
    start, found = time.monotonic(), {}
    for _ in range(200):
        kind = status(driver, uri, token)
        found[kind] = found.get(kind, 0) + 1
    print(f"      200 pushes in {time.monotonic() - start:.1f} s: {found}")
    expect("kinds of answers", set(found), {200, 500, 503, 406, "no answer"})
    expect("problems", driver.admin("GET", "/state")["problems"], [])


def check_token_faults(driver):
    rates = {"serverError": 0.15, "throttled": 0.1, "lost": 0.1, "slow": 0.15, "slowSeconds": 0.1, "retryAfter": 1}
    driver.admin("PUT", "/faults?at=token", {**rates, "seed": 3})
    form = {"grant_type": "client_credentials", "client_id": CLIENT, "client_secret": CLIENT_SECRET, "scope": SCOPE}
    found = {}
    for _ in range(100):
        try:
            answer = driver.session.post(
                f"{driver.token_origin}/{TENANT}/oauth2/v2.0/token", data=form, timeout=5).status_code
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            answer = "no answer"
        found[answer] = found.get(answer, 0) + 1
    driver.admin("PUT", "/faults?at=token", {})
    expect("kinds of answers to requests for tokens", set(found), {200, 429, 500, 503, "no answer"})
    counts = driver.admin("GET", "/state")["counts"]
    expect("they are no refusals", [name for name in counts if name.startswith("refused.5")], [])


def check(folder):
    driver = Driver("wns", folder)
    # urllib looks for it at each connection.
    os.environ.update(SSL_CERT_FILE=driver.authority, NO_PROXY="*")
    assert ssl.get_default_verify_paths().cafile == driver.authority
    driver.admin("PUT", "/credentials", {"credentials": CREDENTIALS})
    try:
        check_tokens(driver)
        check_packages(driver)
        check_rules(driver)
        check_faults(driver)
        check_token_faults(driver)
    finally:
        driver.end()
