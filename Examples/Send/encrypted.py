"""Encrypts a payload for the devices of a recipient, end to end: envelope 2 of docs/reference/e2e-envelope.md.

Needs https://pypi.org/project/cryptography/ 44 or later. Copy this file into your program.
"""

import base64
import hashlib
import hmac
import json
import os
import time
import uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

INFO = b"securepush-e2e-v2"
# RFC 9180, section 7: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
KEM = b"KEM\x00\x10"
SUITE = b"HPKE\x00\x10\x00\x01\x00\x01"


def b64(data):
    """Base64url without padding (RFC 4648, section 5)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if b64(data) != text:
        raise ValueError("base64url is not canonical")
    return data


def point(key):
    """The 65 bytes of an uncompressed point."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def public_key(jwk):
    """The key of a JSON Web Key, such as a `Key` of GET /api/recipients/NAME/keys."""
    x, y = unb64(jwk["x"]), unb64(jwk["y"])
    if (jwk["kty"], jwk["crv"], len(x), len(y)) != ("EC", "P-256", 32, 32) or "d" in jwk:
        raise ValueError("not a public key of P-256")
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x04" + x + y)


def jwk(key):
    xy = point(key)[1:]
    return {"kty": "EC", "crv": "P-256", "x": b64(xy[:32]), "y": b64(xy[32:])}


def thumbprint(key):
    """RFC 7638: the `kid` of a key that has none."""
    members = json.dumps(jwk(key), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(members.encode()).digest()


def fingerprint(key):
    """The text that a person compares with the one on the device's screen."""
    digits = thumbprint(key)[:16].hex()
    return " ".join(digits[i : i + 4] for i in range(0, 32, 4))


def extract(suite, salt, label, material):
    return hmac.digest(salt, b"HPKE-v1" + suite + label + material, "sha256")


def expand(suite, key, label, info, length):
    text = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(key, text + b"\x01", "sha256")[:length]


def hpke(dh, enc, recipient):
    """The key and the nonce of the first message (RFC 9180, sections 4.1 and 5.1, mode base)."""
    shared = expand(KEM, extract(KEM, b"", b"eae_prk", dh), b"shared_secret", enc + recipient, 32)
    context = b"\x00" + extract(SUITE, b"", b"psk_id_hash", b"") + extract(SUITE, b"", b"info_hash", INFO)
    secret = extract(SUITE, shared, b"secret", b"")
    return expand(SUITE, secret, b"key", context, 16), expand(SUITE, secret, b"base_nonce", context, 12)


def seal_key(content_key, key, aad, ephemeral=None):
    ephemeral = ephemeral or ec.generate_private_key(ec.SECP256R1())
    enc = point(ephemeral.public_key())
    aes, nonce = hpke(ephemeral.exchange(ec.ECDH(), key), enc, point(key))
    return {"enc": b64(enc), "ct": b64(AESGCM(aes).encrypt(nonce, content_key, aad))}


def pad(text):
    steps = (128, 256, 512, 1024)
    size = next((step for step in steps if len(text) <= step), -(-len(text) // 1024) * 1024)
    return text + b" " * (size - len(text))


def signature(key, recipient, digest):
    text = b"securepush-e2e-v2\n" + recipient + b"\n" + digest.hex().encode() + b"\n"
    r, s = utils.decode_dss_signature(key.sign(text, ec.ECDSA(hashes.SHA256(), deterministic_signing=True)))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def seal_bytes(plain, recipient, devices, sign_with=None, kid=None, random=None):
    """Encrypts bytes. `random` is for the test vectors alone: never use a value twice."""
    random, name = random or {}, recipient.encode()
    content_key, iv = random.get("contentKey") or os.urandom(32), random.get("iv") or os.urandom(12)
    ct = AESGCM(content_key).encrypt(iv, plain, name)
    digest = hashlib.sha256(iv + ct).digest()
    ephemeral = random.get("ephemeralKeys", {})
    keys = {
        device: seal_key(content_key, key, name + b"\x00" + digest, ephemeral.get(device))
        for device, key in sorted(devices.items())
    }
    envelope = {"e2e": 2, "keys": keys, "iv": b64(iv), "ct": b64(ct)}
    if sign_with:
        envelope["from"] = kid or b64(thumbprint(sign_with.public_key()))
        envelope["sig"] = b64(signature(sign_with, name, digest))
    return envelope


def seal(content, recipient, devices, expires=None, sign_with=None, kid=None):
    """Makes the `Payload` of a notification.

    content: a text, or a message such as {"Title": "Login", "Body": "The code is 4711."}.
    recipient: the `Recipient` of the notification. devices: public keys by `DeviceId`, 1 to 100.
    expires: seconds since 1970. sign_with: a private key whose public half is among the apps' `senderKeys`.
    """
    document = {"id": str(uuid.uuid4()), "at": int(time.time())}
    if expires is not None:
        document["exp"] = expires
    document["content"] = content
    plain = pad(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
    return seal_bytes(plain, recipient, devices, sign_with, kid)
