"""Serves a strict push service for tests. See scripts/push-services.sh."""

import argparse
import asyncio
import datetime
import importlib
import ipaddress
import os
import signal
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from admin import Admin
from connections import Connection

KINDS = {"web-push": ("web_push", "WebPush"), "apns": ("apns", "APNs"), "fcm": ("fcm", "FCM"), "wns": ("wns", "WNS")}


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
    # A client may trust several services: OpenSSL looks for an authority by its name.
    issuer = f"SecurePush test authority {os.urandom(8).hex()}"
    root = build(issuer, root_key, issuer, root_key, True)
    leaf = build(name, key, issuer, root_key, False)
    authority, server = os.path.join(folder, "ca.pem"), os.path.join(folder, "server.pem")
    with open(authority, "wb") as file:
        file.write(pem(root))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with open(os.open(server, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(pem(leaf) + secret)
    return authority, server


async def listen(endpoint, options, server, port):
    """Opens a port for an endpoint, which learns its origin from it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server)
    context.set_alpn_protocols(["http/1.1"] if options.http1 else list(endpoint.versions))
    listener = await asyncio.get_running_loop().create_server(
        lambda: Connection(endpoint), options.host, port, ssl=context, backlog=1024)
    port = listener.sockets[0].getsockname()[1]
    endpoint.origin = f"https://{options.name}" if port == 443 else f"https://{options.name}:{port}"


async def serve(options):
    authority, server = certificate(options.folder, options.name)
    module, name = KINDS[options.kind]
    service = getattr(importlib.import_module(module), name)(options)
    for endpoint, port in zip(service.endpoints, [options.port, options.token_port]):
        await listen(endpoint, options, server, port)
    admin = await asyncio.start_server(Admin(service).serve, "127.0.0.1", options.admin_port)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    admin_port = admin.sockets[0].getsockname()[1]
    print(f"listening on {service.origin}, tokens on {service.endpoints[-1].origin}, "
          f"admin on http://127.0.0.1:{admin_port}, authority {authority}", flush=True)
    await ended.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("folder", help="for ca.pem and server.pem")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--name", default="localhost", help="the host of the endpoints")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token-port", type=int, default=0, help="fcm, wns: of the token endpoint")
    parser.add_argument("--admin-port", type=int, default=0)
    parser.add_argument("--http1", action="store_true", help="offer no HTTP/2")
    parser.add_argument("--keep", type=int, default=100_000, help="how many pushes are remembered at least")
    parser.add_argument("--max-streams", type=int, default=100, help="MAX_CONCURRENT_STREAMS of HTTP/2")
    parser.add_argument("--decrypt-every", type=int, default=1, help="web-push: decrypt one of so many pushes")
    parser.add_argument("--environment", default="production", choices=["production", "sandbox"], help="apns")
    parser.add_argument("--token-update-seconds", type=float, default=1200,
                        help="apns: the time in which a connection may see one new token")
    parser.add_argument("--shrink", action="store_true",
                        help="apns: one stream from a refused push to the next good one")
    asyncio.run(serve(parser.parse_args()))


main()
