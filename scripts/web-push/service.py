"""A strict push service for tests. See scripts/web-push-service.sh."""

import argparse
import asyncio
import base64
import datetime
import ipaddress
import json
import os
import signal
import ssl
import time
from collections import Counter
from urllib.parse import parse_qsl, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from connections import Connection
from faults import Faults
from rules import SERVICES, Refused, Rules, Subscription, answer_of

MAX_ADMIN_BODY = 16 << 20


class Answer:
    def __init__(self, status, headers=(), body=b"", record=None, fault=None):
        self.status, self.headers, self.body = status, list(headers), body
        self.record, self.fault = record, fault


class Service:
    def __init__(self, name, keep, decrypt_every):
        self.name, self.keep, self.decrypt_every = name, keep, decrypt_every
        self.faults = Faults()
        self.subscriptions, self.pushes, self.first = {}, [], 0
        self.counts, self.problems, self.refusals = Counter(), [], []
        self.connections, self.max_streams = set(), 100
        self.origin = self.rules = None

    def listen(self, port):
        self.origin = f"https://{self.name}" if port == 443 else f"https://{self.name}:{port}"
        self.rules = Rules(self.origin, self.decrypt_every)

    def count(self, kind, name):
        self.counts[f"{kind}.{name}"] += 1

    def problem(self, text):
        """A mistake of the sender that no answer can tell."""
        self.problems = (self.problems + [text])[-100:]

    # The push service

    def answer(self, method, path, authority, headers, body):
        self.count("requests", "all")
        parts = path.split("/")
        subscription = self.subscriptions.get(parts[2]) if len(parts) == 3 else None
        service = parts[1] if len(parts) > 1 and parts[1] in SERVICES else "apple"
        try:
            if authority is None or f"https://{authority}" not in (self.origin, self.origin + ":443"):
                raise Refused(421, "MisdirectedRequest")
            if method != "POST":
                raise Refused(405, "MethodNotAllowed")
            push = self.rules.check(headers, body, subscription)
        except Refused as refused:
            self.count("refused", f"{refused.status} {refused}")
            details = dict(refused.headers)
            note = {"status": refused.status, "reason": refused.reason, "detail": details.get("x-detail", "")}
            self.refusals = (self.refusals + [note])[-1000:]
            return Answer(*answer_of(refused, service))
        fault = self.faults.draw()
        if fault is not None:
            self.count("faults", fault.kind if fault.kind != "answer" else str(fault.status))
            if not fault.accepts:
                return Answer(fault.status, fault.headers, fault.body, fault=fault)
        record = self.accept(push, subscription)
        if fault is not None and fault.kind == "answer":
            return Answer(fault.status, fault.headers, fault.body, record, fault)
        ttl = min(push["ttl"], 2_592_000)
        place = [("location", f"{self.origin}/m/{record['number']}"), ("ttl", str(ttl))]
        return Answer(201, place, b"", record, fault)

    def accept(self, push, subscription):
        body = push.pop("body")
        record = {"number": self.first + len(self.pushes), "subscription": subscription.id, "time": time.time(), **push}
        record["base64"] = None if body is None else base64.b64encode(body).decode()
        # `sent` once the answer is written, `doubtful` if the connection broke right after that.
        record["answer"] = "lost"
        subscription.accepted += 1
        self.count("accepted", "all")
        self.pushes.append(record)
        if len(self.pushes) > 2 * self.keep:
            self.first += len(self.pushes) - self.keep
            self.pushes = self.pushes[-self.keep:]
        return record

    # The admin API

    def admin(self, method, path, query, value):
        match method, path:
            case "GET", ["state"]:
                tokens = Counter(key for key, _ in self.rules.tokens.verified.values()) if self.rules else {}
                return {"origin": self.origin, "counts": self.counts, "problems": self.problems, "tokens": tokens,
                        "connections": len(self.connections), "subscriptions": len(self.subscriptions)}
            case "POST", ["subscriptions"]:
                made = []
                for _ in range(min(int(value.get("count", 1)), 100_000)):
                    service = value.get("service", "apple")
                    if service not in SERVICES:
                        raise ValueError(f"service is not one of {', '.join(SERVICES)}")
                    subscription = Subscription(len(self.subscriptions), value.get("key"), service)
                    self.subscriptions[subscription.id] = subscription
                    made.append(subscription.describe(self.origin))
                return {"subscriptions": made}
            case "GET", ["subscriptions"]:
                return {"subscriptions": [each.describe(self.origin) for each in self.subscriptions.values()]}
            case "POST", ["subscriptions", name, "gone"]:
                self.subscriptions[name].is_gone = True
                return {}
            case "GET", ["pushes"]:
                return self.list_pushes(query)
            case "DELETE", ["pushes"]:
                self.first += len(self.pushes)
                self.pushes, self.refusals, self.problems = [], [], []
                self.counts.clear()
                return {"next": self.first}
            case "GET", ["refusals"]:
                return {"refusals": self.refusals}
            case "PUT", ["faults"]:
                self.faults.set(value)
                return {}
            case "POST", ["next"]:
                self.faults.add_next(value["answers"])
                return {}
            case "DELETE", ["next"]:
                self.faults.next = []
                return {}
            case "PUT", ["settings"]:
                self.max_streams = int(value["maxStreams"])
                for connection in self.connections:
                    connection.http.settings(self.max_streams)
                return {}
        raise KeyError("/".join(path))

    def list_pushes(self, query):
        after, limit = int(query.get("after", 0)), min(int(query.get("limit", 1000)), 10_000)
        start = max(0, after - self.first)
        chosen = self.pushes[start:start + limit]
        following = chosen[-1]["number"] + 1 if chosen else max(after, self.first)
        if "subscription" in query:
            chosen = [push for push in chosen if push["subscription"] == query["subscription"]]
        return {"pushes": chosen, "next": following}


class Admin:
    """JSON over HTTP/1.1 on loopback, for the test only."""

    def __init__(self, service):
        self.service = service

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                fields = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in head[1:])}
                body = await reader.readexactly(min(int(fields.get("content-length", 0)), MAX_ADMIN_BODY))
                status, value = self.answer(method, target, body)
                text = json.dumps(value).encode()
                writer.write(f"HTTP/1.1 {status} \r\nContent-Type: application/json\r\n"
                             f"Content-Length: {len(text)}\r\n\r\n".encode() + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
            pass
        except asyncio.CancelledError:
            # The service ends.
            pass
        finally:
            writer.close()

    def answer(self, method, target, body):
        parts = urlsplit(target)
        path = [part for part in parts.path.split("/") if part]
        try:
            return 200, self.service.admin(method, path, dict(parse_qsl(parts.query)), json.loads(body or b"{}"))
        except KeyError as error:
            return 404, {"error": f"there is no {error}"}
        except (TypeError, ValueError, AttributeError) as error:
            return 400, {"error": str(error)}


def certificate(folder, name):
    """Writes an authority (ca.pem) and a certificate for the name, localhost and 127.0.0.1 (server.pem)."""
    def build(subject, key, issuer, issuer_key, is_authority):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if not is_authority:
            names = [x509.DNSName(each) for each in dict.fromkeys([name, "localhost"])]
            names.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
            usage = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH])
            builder = builder.add_extension(usage, critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    def pem(value):
        return value.public_bytes(serialization.Encoding.PEM)

    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = build("SecurePush test authority", root_key, "SecurePush test authority", root_key, True)
    leaf = build(name, key, "SecurePush test authority", root_key, False)
    authority, server = os.path.join(folder, "ca.pem"), os.path.join(folder, "server.pem")
    with open(authority, "wb") as file:
        file.write(pem(root))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with open(os.open(server, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(pem(leaf) + secret)
    return authority, server


async def serve(options):
    authority, server = certificate(options.folder, options.name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server)
    context.set_alpn_protocols(["http/1.1"] if options.http1 else ["h2", "http/1.1"])
    service = Service(options.name, options.keep, options.decrypt_every)
    loop = asyncio.get_running_loop()
    pushes = await loop.create_server(
        lambda: Connection(service), options.host, options.port, ssl=context, backlog=1024)
    admin = await asyncio.start_server(Admin(service).serve, "127.0.0.1", options.admin_port)
    service.listen(pushes.sockets[0].getsockname()[1])
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    admin_port = admin.sockets[0].getsockname()[1]
    print(f"listening on {service.origin}, admin on http://127.0.0.1:{admin_port}, authority {authority}", flush=True)
    await ended.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="for ca.pem and server.pem")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--name", default="localhost", help="the host of the endpoints")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--admin-port", type=int, default=0)
    parser.add_argument("--http1", action="store_true", help="offer no HTTP/2")
    parser.add_argument("--keep", type=int, default=100_000, help="how many pushes are remembered at least")
    parser.add_argument("--decrypt-every", type=int, default=1, help="decrypt one of so many pushes")
    asyncio.run(serve(parser.parse_args()))


main()
