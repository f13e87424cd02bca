"""What a device does with a payload, in plain Python: independent of the SDKs, which the vectors compare with it."""

import hashlib
import re

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import encrypted

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Number(str):
    """A number as it is written."""


class Refused(Exception):
    """The code that a device shows with its generic text."""


class StrictJSON:
    """RFC 8259 without repeated names, lone surrogates and a byte order mark, nested at most 32 deep.

    `spans` has the text of each member of the outermost object.
    """

    def __init__(self, text):
        self.text, self.at, self.depth, self.spans = text, 0, 0, {}
        self.value = self.read()
        self.blanks()
        if self.at != len(text):
            raise ValueError("something follows")

    def blanks(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def take(self, token):
        if not self.text.startswith(token, self.at):
            raise ValueError(f"no {token}")
        self.at += len(token)

    def has(self, token):
        self.blanks()
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def read(self):
        self.blanks()
        first = self.text[self.at : self.at + 1]
        if first in ("{", "["):
            self.depth += 1
            if self.depth > 32:
                raise ValueError("too deep")
            value = self.object() if first == "{" else self.array()
            self.depth -= 1
            return value
        if first == '"':
            return self.string()
        for token, value in (("null", None), ("true", True), ("false", False)):
            if self.text.startswith(token, self.at):
                self.at += len(token)
                return value
        match = NUMBER.match(self.text, self.at)
        if not match:
            raise ValueError("no value")
        self.at = match.end()
        return Number(match.group())

    def array(self):
        self.take("[")
        values = []
        if self.has("]"):
            return values
        while True:
            values.append(self.read())
            if self.has("]"):
                return values
            self.take(",")

    def object(self):
        self.take("{")
        members = {}
        if self.has("}"):
            return members
        while True:
            self.blanks()
            name = self.string()
            if name in members:
                raise ValueError("a repeated name")
            self.blanks()
            self.take(":")
            self.blanks()
            start = self.at
            members[name] = self.read()
            if self.depth == 1:
                self.spans[name] = self.text[start : self.at]
            if self.has("}"):
                return members
            self.take(",")

    def string(self):
        self.take('"')
        value = ""
        while True:
            char = self.text[self.at : self.at + 1]
            self.at += 1
            if char == '"':
                return value
            if char < " ":  # also the end of the text
                raise ValueError("a control character, or no end")
            if char != "\\":
                value += char
                continue
            letter = self.text[self.at : self.at + 1]
            self.at += 1
            if letter == "u":
                unit = self.unit()
                if 0xD800 <= unit < 0xDC00:
                    self.take("\\u")
                    low = self.unit()
                    if not 0xDC00 <= low < 0xE000:
                        raise ValueError("a lone surrogate")
                    unit = 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00
                elif 0xDC00 <= unit < 0xE000:
                    raise ValueError("a lone surrogate")
                value += chr(unit)
            elif letter in ESCAPES:
                value += ESCAPES[letter]
            else:
                raise ValueError("an unknown escape")

    def unit(self):
        digits = self.text[self.at : self.at + 4]
        if not re.fullmatch("[0-9A-Fa-f]{4}", digits):
            raise ValueError("no four digits")
        self.at += 4
        return int(digits, 16)


def text(value, least=0, most=None):
    """A string of so many bytes of UTF-8, and not a number."""
    return type(value) is str and least <= len(value.encode()) and (most is None or len(value.encode()) <= most)


def binary(value, length=None, least=0):
    if not text(value):
        raise ValueError("no string")
    if not re.fullmatch("[A-Za-z0-9_-]*", value):
        raise ValueError("not base64url")
    data = encrypted.unb64(value)
    if length is not None and len(data) != length or len(data) < least:
        raise ValueError("a wrong length")
    return data


def key_set(text_of_set):
    """The keys of a JWK Set, as (kid, key); None if it cannot be used."""
    try:
        keys = StrictJSON(text_of_set).value["keys"]
        if type(keys) is not list:
            return None
    except (ValueError, KeyError, TypeError):
        return None
    found = []
    for jwk in keys:
        if type(jwk) is not dict:
            continue
        if "d" in jwk or "k" in jwk:
            return None
        try:
            binary(jwk.get("x"), 32), binary(jwk.get("y"), 32)
            key = encrypted.public_key(jwk)
        except (ValueError, KeyError):
            continue
        kid = jwk.get("kid", encrypted.b64(encrypted.thumbprint(key)))
        if text(kid, 1, 128):
            found.append((kid, key))
    return found[:32] or None


def is_valid(key, sig, signed):
    r, s = int.from_bytes(sig[:32], "big"), int.from_bytes(sig[32:], "big")
    if not (0 < r < ORDER and 0 < s < ORDER):
        return False
    try:
        key.verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
        return True
    except InvalidSignature:
        return False


DEVICE = re.compile(r"(?!\.+\Z)[A-Za-z0-9._-]{1,128}\Z")
SECONDS = re.compile(r"(?:0|[1-9][0-9]{0,11})\Z")
UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")


def parse(document):
    """The values of an envelope."""
    if not isinstance(document["e2e"], Number) or document["e2e"] != "2":
        raise ValueError("another version")
    keys = document["keys"]
    if type(keys) is not dict or not 1 <= len(keys) <= 100:
        raise ValueError("keys")
    entries = {}
    for device, entry in keys.items():
        if not DEVICE.match(device) or type(entry) is not dict:
            raise ValueError("a device")
        enc = binary(entry["enc"], 65)
        if enc[0] != 4:
            raise ValueError("not an uncompressed point")
        entries[device] = (enc, binary(entry["ct"], 48))
    sender = None
    if "from" in document or "sig" in document:
        if not text(document["from"], 1, 128):
            raise ValueError("from")
        sender = (document["from"], binary(document["sig"], 64))
    return entries, binary(document["iv"], 12), binary(document["ct"], least=16), sender


def unwrap(entry, keys, aad):
    enc, sealed = entry
    try:
        ephemeral = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), enc)
    except ValueError:
        raise Refused("SP-DECRYPT")
    for key in keys:
        try:
            aes, nonce = encrypted.hpke(key.exchange(ec.ECDH(), ephemeral), enc, encrypted.point(key.public_key()))
            return AESGCM(aes).decrypt(nonce, sealed, aad)
        except InvalidTag:
            continue
    raise Refused("SP-DECRYPT")


def open_payload(payload, recipient, device, keys, now, sender_keys=None, requires=False, opened=(), notification=""):
    """What a device reads in a payload.

    keys: private keys, newest first. now: seconds. sender_keys: a JWK Set. opened: (id, notification) of before.
    Returns a dictionary; throws Refused.
    """
    try:
        json = StrictJSON(payload)
    except ValueError:
        raise Refused("SP-DECRYPT")
    if type(json.value) is not dict or "e2e" not in json.value:
        if requires:
            raise Refused("SP-PLAIN")
        return {"encrypted": False, "content": payload.strip(" \t\r\n"), "value": json.value}
    try:
        entries, iv, ct, sender = parse(json.value)
    except (ValueError, KeyError):
        raise Refused("SP-DECRYPT")
    name, digest = recipient.encode(), hashlib.sha256(iv + ct).digest()
    if sender_keys is not None:
        signed = b"securepush-e2e-v2\n" + name + b"\n" + digest.hex().encode() + b"\n"
        known = [key for kid, key in key_set(sender_keys) or [] if sender and kid == sender[0]]
        if not any(is_valid(key, sender[1], signed) for key in known):
            raise Refused("SP-SENDER")
    if device not in entries or not keys:
        raise Refused("SP-KEY")
    content_key = unwrap(entries[device], keys, name + b"\x00" + digest)
    try:
        inner = StrictJSON(AESGCM(content_key).decrypt(iv, ct, name).decode("utf-8"))
        value = inner.value
        if not text(value["id"]) or not UUID.match(value["id"]) or "content" not in value:
            raise ValueError("content")
        for member in ("at", "exp"):
            if member == "at" or member in value:
                if not isinstance(value[member], Number) or not SECONDS.match(value[member]):
                    raise ValueError(member)
    except (InvalidTag, ValueError, KeyError, TypeError):
        raise Refused("SP-DECRYPT")
    identity, at = value["id"].lower(), int(value["at"])
    if at - now > 86_400 or now - at > 7_776_000:
        raise Refused("SP-REPLAY")
    if any(identity == before.lower() and notification != under for before, under in opened):
        raise Refused("SP-REPLAY")
    expires = int(value["exp"]) if "exp" in value else None
    if expires is not None and expires <= now:
        raise Refused("SP-EXPIRED")
    return {
        "encrypted": True,
        "content": inner.spans["content"],
        "value": value["content"],
        "id": identity,
        "at": at,
        "exp": expires,
    }


LIMITS = {"Title": 200, "Body": 4_000, "Link": 2_000, "Category": 64, "Thread": 64}


def message(value):
    """The message of a content, with all its members; None if it is none."""
    if type(value) is not dict or not text(value.get("Body")):
        return None
    found = dict.fromkeys(["Title", "Body", "Link", "Category", "Thread", "Level", "Actions"])
    for name, most in LIMITS.items():
        if name in value:
            if not text(value[name], 0, most):
                return None
            found[name] = value[name]
    if "Level" in value:
        if value["Level"] not in ("passive", "active", "time-sensitive") or not text(value["Level"]):
            return None
        found["Level"] = value["Level"]
    if "Actions" in value:
        actions = value["Actions"]
        if type(actions) is not list or len(actions) > 3:
            return None
        found["Actions"] = []
        for action in actions:
            if type(action) is not dict or not text(action.get("Id"), 1, 32) or not text(action.get("Title"), 1, 64):
                return None
            if not re.fullmatch("[a-z0-9-]+", action["Id"]) or type(action.get("Input", False)) is not bool:
                return None
            found["Actions"].append({"Id": action["Id"], "Title": action["Title"], "Input": action.get("Input", False)})
        if len({action["Id"] for action in found["Actions"]}) < len(actions):
            return None
    return found
