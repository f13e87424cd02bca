"""Drives the fake of APNs with aioapns. See scripts/push-services.sh."""

import asyncio
import logging
import ssl
import time
import uuid

import jwt
from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol
from aioapns.exceptions import MaxAttemptsExceeded
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from driver import Driver, expect

TOPIC, TEAM = "org.example.app", "DEF1234567"
ALERT = {"aps": {"alert": {"loc-key": "NEW"}, "mutable-content": 1}, "m": "Grüße"}


class Key:
    def __init__(self, name, **scope):
        key = ec.generate_private_key(ec.SECP256R1())
        self.id = name
        self.pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                     serialization.NoEncryption()).decode()
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        self.credential = {"team": TEAM, "keyID": name, "publicKey": public, **scope}

    def token(self, age=0):
        return jwt.encode({"iss": TEAM, "iat": int(time.time()) - age}, self.pem, "ES256", {"kid": self.id})


class Sender:
    """aioapns, which is told where the service is. It reaches Apple by names that are written into it."""

    def __init__(self, driver, key, topic=TOPIC, team=TEAM, key_id=None, attempts=1):
        port = int(driver.origin.rsplit(":", 1)[1])
        context = ssl.create_default_context(cafile=driver.authority)
        self.client = APNs(key=key.pem, key_id=key_id or key.id, team_id=team, topic=topic, max_connections=1,
                           max_connection_attempts=attempts, ssl_context=context)
        pool = self.client.pool
        pool.protocol_class = type("Local", (APNsProductionClientProtocol,), {"APNS_SERVER": f"localhost:{port}"})

        async def connect(factory):
            return (await pool.loop.create_connection(factory, "localhost", port, ssl=context))[1]

        pool._create_connection = connect

    async def push(self, token, message=ALERT, timeout=5, **values):
        values.setdefault("push_type", PushType.ALERT)
        request = NotificationRequest(device_token=token, message=message, **values)
        try:
            result = await asyncio.wait_for(self.client.send_notification(request), timeout)
        except MaxAttemptsExceeded:
            return "no answer"
        except TimeoutError:
            return "timeout"
        return result.status if result.is_successful else f"{result.status} {result.description}"

    def use_token(self, token):
        """Every push from now on has this token."""
        header = "bearer " + token
        provider = type("Fixed", (), {"get_header": lambda self: header})()
        for connection in self.client.pool.connections:
            connection.auth_provider = provider

    def end(self):
        self.client.pool.close()


async def check_pushes(driver, key):
    sender = Sender(driver, key)
    device, other = driver.devices(topic=TOPIC)[0], driver.devices(topic="org.example.other")[0]
    foreign = driver.devices(topic=TOPIC, environment="sandbox")[0]
    token = device["handle"]
    expect("a push", await sender.push(token), "200")
    expect("many", set(await asyncio.gather(*[sender.push(token) for _ in range(200)])), {"200"})
    seen = driver.pushes()
    expect("what arrived", (len(seen), seen[0]["sender"], seen[0]["answer"], seen[0]["headers"]["apns-topic"]),
           (201, key.id, "sent", TOPIC))
    expect("background", await sender.push(token, {"aps": {"content-available": 1}}, push_type=PushType.BACKGROUND,
                                           priority=5), "200")
    expect("background at priority 10",
           await sender.push(token, {"aps": {"content-available": 1}}, push_type=PushType.BACKGROUND, priority=10),
           "400 BadPriority")
    expect("with time to live and collapse ID",
           await sender.push(token, time_to_live=60, collapse_key="x" * 64, priority=10), "200")
    expect("a collapse ID of 65 bytes", await sender.push(token, collapse_key="x" * 65), "400 BadCollapseId")
    expect("priority 7", await sender.push(token, priority=7), "400 BadPriority")
    expect("an ID that is no UUID", await sender.push(token, notification_id="x"), "400 BadMessageId")
    capitals = str(uuid.uuid4()).upper()
    expect("a UUID in capitals", await sender.push(token, notification_id=capitals), "400 BadMessageId")
    text = {"aps": {"alert": "x"}, "m": "x" * (4096 - len('{"aps": {"alert": "x"}, "m": ""}'))}
    expect("4,096 bytes", await sender.push(token, text), "200")
    text["m"] += "x"
    expect("4,097 bytes", await sender.push(token, text), "413 PayloadTooLarge")
    expect("VoIP, without its topic", await sender.push(token, push_type=PushType.VOIP), "400 BadTopic")
    expect("VoIP", await sender.push(token, text, push_type=PushType.VOIP, apns_topic=TOPIC + ".voip"), "200")
    expect("an unknown device", await sender.push("ab" * 32), "400 BadDeviceToken")
    expect("a device in capitals", await sender.push(token.upper()), "400 BadDeviceToken")
    expect("no device", await sender.push(""), "400 MissingDeviceToken")
    expect("a device of the other environment", await sender.push(foreign["handle"]), "400 BadDeviceToken")
    expect("a device of another app", await sender.push(other["handle"]), "400 DeviceTokenNotForTopic")
    driver.admin("POST", f"/devices/{device['id']}/gone", {"since": 1454402113000})
    expect("a device that is gone", await sender.push(token), "410 Unregistered")
    state = driver.admin("GET", "/state")
    expect("one connection, one token", (state["counts"]["connections.h2"], state["tokens"]), (1, {key.id: 1}))
    expect("problems", state["problems"], [])
    sender.end()


async def check_tokens(driver, key):
    device = driver.devices(topic=TOPIC)[0]["handle"]
    keys = {"sandbox": Key("SANDBOX123", environment="sandbox"), "second": Key("SECOND1234"),
            "one topic": Key("TOPIC12345", topics=["org.example.x"])}
    driver.admin("PUT", "/credentials", {"credentials": [each.credential for each in (key, *keys.values())]})

    async def first(wanted, name, *arguments, **values):
        sender = Sender(driver, *arguments, **values)
        expect(name, await sender.push(device), wanted)
        sender.end()

    await first("403 BadEnvironmentKeyIdInToken", "a key of the other environment", keys["sandbox"])
    await first("400 TopicDisallowed", "a key of another topic", keys["one topic"])
    await first("403 InvalidProviderToken", "another team", key, team="XXXXXXXXXX")
    await first("403 InvalidProviderToken", "a key that nobody knows", Key("UNKNOWN123"))
    await first("403 InvalidProviderToken", "the ID of another key", keys["second"], key_id=key.id)
    sender = Sender(driver, key)
    expect("a good token", await sender.push(device), "200")
    sender.use_token(key.token(3700))
    expect("a token of more than an hour", await sender.push(device), "403 ExpiredProviderToken")
    sender.use_token(keys["second"].token())
    expect("a second key on the connection", await sender.push(device), "403 UnrelatedKeyIdInToken")
    new = key.token(1)
    sender.use_token(new)
    expect("a new token", await sender.push(device), "200")
    sender.use_token(key.token(2))
    expect("one more within 20 minutes", await sender.push(device), "429 TooManyProviderTokenUpdates")
    sender.use_token(new)
    expect("the older one again", await sender.push(device), "200")
    driver.admin("PUT", "/credentials", {"credentials": []})
    expect("a key that was revoked", await sender.push(device), "403 InvalidProviderToken")
    driver.admin("PUT", "/credentials", {"credentials": [key.credential]})
    sender.end()


async def check_faults(driver, key):
    device = driver.devices(topic=TOPIC)[0]["handle"]
    sender = Sender(driver, key)
    await sender.push(device)
    for answer in driver.admin("GET", "/answers")["answers"][1:]:
        driver.next(answer)
        wanted = f"{answer['status']} {answer['reason']}"
        expect(wanted, await sender.push(device), wanted)
    driver.admin("DELETE", "/pushes")
    driver.next({"fault": "slow", "seconds": 0.1}, {"fault": "silence"})
    expect("a slow answer", await sender.push(device), "200")
    # aioapns cannot end a connection with a push that it has given up.
    silent = Sender(driver, key)
    expect("silence", await silent.push(device, timeout=0.5), "timeout")
    for fault, name in ({"fault": "lost"}, "a lost answer"), ({"fault": "goaway", "reason": "Shutdown"}, "GOAWAY"):
        driver.next(fault)
        expect(name, await sender.push(device), "no answer")
    expect("a new connection", await sender.push(device), "200")
    expect("what was accepted", [push["answer"] for push in driver.pushes()], ["sent", "lost", "sent"])
    sender.end()
    driver.admin("PUT", "/settings", {"maxStreams": 3})
    sender = Sender(driver, key)
    await sender.push(device)
    expect("three streams", set(await asyncio.gather(*[sender.push(device) for _ in range(50)])), {"200"})
    driver.admin("PUT", "/settings", {"maxStreams": 100})
    # aioapns does not read an answer of a stream that was reset.
    driver.admin("PUT", "/faults", {"serverError": 0.1, "throttled": 0.1, "goaway": 0.05, "seed": 3})
    again, start, found = Sender(driver, key, attempts=5), time.monotonic(), {}
    for _ in range(300):
        status = await again.push(device)
        found[status] = found.get(status, 0) + 1
    print(f"      300 pushes in {time.monotonic() - start:.1f} s: {found}")
    expect("kinds of answers", set(found), {"200", "500 InternalServerError", "503 ServiceUnavailable",
                                            "429 TooManyRequests"})
    expect("problems", driver.admin("GET", "/state")["problems"], [])
    print("      refusals:", len(driver.admin("GET", "/refusals")["refusals"]))
    again.end()
    sender.end()


def check(folder):
    logging.disable()
    driver = Driver("apns", folder)
    key = Key("ABC1234567")
    driver.admin("PUT", "/credentials", {"credentials": [key.credential]})

    async def run():
        await check_pushes(driver, key)
        await check_tokens(driver, key)
        await check_faults(driver, key)

    try:
        asyncio.run(run())
    finally:
        driver.end()
