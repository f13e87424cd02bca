"""The cases of e2e.json. The reader beside it says what is expected; a person has read each expectation."""

import copy
import json

from cryptography.hazmat.primitives.asymmetric import ec

import encrypted
import reader
from encrypted import b64, unb64

NOW = 1_800_000_000
USER = "alice"
PHONE, TABLET, LATER = (f"8d0e5f5a-0c4e-4a57-9a5e-1f4c5d9f1a0{n}" for n in (1, 2, 3))
NUMBERS = {PHONE: 1, TABLET: 2, LATER: 3}
PUSHED, OTHER = "019aa4a2-1c9b-7000-8000-000000000002", "019aa4a2-1c9b-7000-8000-000000000003"
ID = "5f3c1c52-7b0e-4f0a-9d3b-2f6a8c1e4d70"


def data(number, count=32):
    """Bytes that differ for each number."""
    return bytes((number * 37 + i * 11 + 1) & 0xFF for i in range(count))


def key(number):
    return ec.derive_private_key(int.from_bytes(data(number), "big"), ec.SECP256R1())


def private_jwk(number):
    scalar = key(number).private_numbers().private_value
    return {**encrypted.jwk(key(number).public_key()), "d": b64(scalar.to_bytes(32, "big"))}


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sender_set(*numbers, kid=None):
    keys = []
    for number in numbers:
        public = key(number).public_key()
        own = kid or b64(encrypted.thumbprint(public))
        keys.append({**encrypted.jwk(public), "kid": own, "use": "sig", "alg": "ES256"})
    return {"keys": keys}


# The sender of the vectors, and two others.
SENDER, FORMER_SENDER, STRANGER = 30, 31, 32


class Case:
    def __init__(
        self,
        name,
        content='"secret"',
        devices=(PHONE,),
        recipient=USER,
        at=NOW,
        exp=None,
        sender=None,
        kid=None,
        plain=None,
    ):
        self.name, self.recipient, self.device = name, recipient, PHONE
        self.keys, self.sender_keys, self.requires, self.opened, self.now = [1], None, False, [], NOW * 1000
        self.notification, self.sealing = PUSHED, None
        if content is None:
            return
        ephemeral = {device: NUMBERS.get(device, 9) + 100 for device in devices}
        if plain is None:
            end = "" if exp is None else f'"exp":{exp},'
            plain = encrypted.pad(f'{{"id":"{ID}","at":{at},{end}"content":{content}}}'.encode())
            self.sealing = {
                "id": ID,
                "at": at,
                "exp": exp,
                "content": content,
                "contentKey": b64(data(50)),
                "iv": b64(data(60, 12)),
                "devices": {device: encrypted.jwk(key(NUMBERS.get(device, 9)).public_key()) for device in devices},
                "ephemeralKeys": {device: private_jwk(number) for device, number in ephemeral.items()},
                "sender": sender
                and {"from": kid or b64(encrypted.thumbprint(key(sender).public_key())), "key": private_jwk(sender)},
            }
        self.envelope = encrypted.seal_bytes(
            plain,
            recipient,
            {device: key(NUMBERS.get(device, 9)).public_key() for device in devices},
            sender and key(sender),
            kid,
            {
                "contentKey": data(50),
                "iv": data(60, 12),
                "ephemeralKeys": {device: key(number) for device, number in ephemeral.items()},
            },
        )
        self.payload = dump(self.envelope)

    def but(self, **values):
        """The same case, told differently."""
        self.__dict__.update(values)
        if "recipient" in values:
            self.sealing = None
        return self

    def changed(self, path, change):
        """A changed value of the envelope: no sender makes it."""
        envelope = copy.deepcopy(self.envelope)
        place = envelope
        for name in path[:-1]:
            place = place[name]
        if change is None:
            del place[path[-1]]
        else:
            place[path[-1]] = change(place.get(path[-1]))
        return self.text(dump(envelope))

    def text(self, payload):
        self.payload, self.sealing = payload, None
        return self

    def json(self):
        sender_keys = self.sender_keys
        if sender_keys is not None and not isinstance(sender_keys, str):
            sender_keys = dump(sender_keys)
        try:
            found = reader.open_payload(
                self.payload,
                self.recipient,
                self.device,
                [key(number) for number in self.keys],
                self.now // 1000,
                sender_keys,
                self.requires,
                self.opened,
                self.notification,
            )
            value = found.pop("value")
            found.setdefault("id", None), found.setdefault("at", None), found.setdefault("exp", None)
            message = reader.message(value)
            is_text = isinstance(value, str) and not isinstance(value, reader.Number)
            expect = {
                "opened": True,
                **found,
                "text": value if is_text else message and message["Body"],
                "message": message,
            }
        except reader.Refused as refusal:
            expect = {"opened": False, "reason": str(refusal)}
        return {
            "name": self.name,
            "recipient": self.recipient,
            "device": self.device,
            "privateKeys": [private_jwk(number) for number in self.keys],
            "nowMs": self.now,
            "senderKeys": self.sender_keys,
            "requiresEncryption": self.requires,
            "opened": [{"id": i, "notification": n} for i, n in self.opened],
            "notification": self.notification,
            "payload": self.payload,
            "sealing": self.sealing,
            "expect": expect,
        }


def contents():
    yield from (
        Case(name, text)
        for name, text in [
            ("a text", '"The code is 4711."'),
            ("an empty text", '""'),
            ("an object", '{"code":4711,"to":["a","b"]}'),
            ("a number", "42"),
            ("a number that no double holds", "1e1000"),
            ("null", "null"),
            ("true", "true"),
            ("escapes", '"a\\n\\"b\\" \\u00e9 \\ud83d\\udd11"'),
            ("other scripts", '"Grüße 🔑 日本語"'),
            ("NUL", '"a\\u0000b"'),
            ("an array", '["a",{"b":null}]'),
            ("names that are equal only after normalisation", '{"é":1,"e\u0301":2}'),
            ("a message with a body alone", '{"Body":"The code is 4711."}'),
            (
                "a whole message",
                '{"Title":"Login","Body":"Approve?","Link":"https://app.example.com/l","Category":"login","Thread":"logins",'
                '"Level":"time-sensitive","Actions":[{"Id":"approve","Title":"Approve"},'
                '{"Id":"reply-2","Title":"Reply","Input":true}],"Data":{"n":[1,null]}}',
            ),
            ("a message with other members", '{"Body":"x","Colour":"red","Actions":[]}'),
            ("a message with an escaped name", '{"B\\u006fdy":"x"}'),
            ("a message with an empty body", '{"Body":""}'),
            ("a message with data that is null", '{"Body":"x","Data":null}'),
            ("no message: the body is a number", '{"Body":7}'),
            ("no message: no body", '{"Title":"x"}'),
            ("no message: the body in another case", '{"body":"x"}'),
            ("no message: a title that is null", '{"Body":"x","Title":null}'),
            ("no message: an unknown level", '{"Body":"x","Level":"critical"}'),
            ("no message: actions are an object", '{"Body":"x","Actions":{}}'),
            (
                "no message: four actions",
                '{"Body":"x","Actions":[' + ",".join(f'{{"Id":"a{n}","Title":"A"}}' for n in range(4)) + "]}",
            ),
            (
                "no message: two actions with one ID",
                '{"Body":"x","Actions":[{"Id":"a","Title":"A"},{"Id":"a","Title":"B"}]}',
            ),
            ("no message: an action in capitals", '{"Body":"x","Actions":[{"Id":"A","Title":"A"}]}'),
            ("no message: an action without a title", '{"Body":"x","Actions":[{"Id":"a"}]}'),
            ("no message: an action with an empty title", '{"Body":"x","Actions":[{"Id":"a","Title":""}]}'),
            ("no message: an input that is no boolean", '{"Body":"x","Actions":[{"Id":"a","Title":"A","Input":1}]}'),
        ]
    )
    for name, most in [("Title", 200), ("Body", 4_000), ("Link", 2_000), ("Category", 64), ("Thread", 64)]:
        for more, word in ((0, "a message"), (1, "no message")):
            # Two bytes of UTF-8 each, and one more byte.
            text = "é" * (most // 2) + "x" * more
            members = {"Body": "x", **{name: text}}
            yield Case(f"{word}: {name} of {most + more} bytes", dump(members))
    for more, word in ((0, "a message"), (1, "no message")):
        action = {"Id": "a" * (32 + more), "Title": "A"}
        yield Case(f"{word}: an action's ID of {32 + more} bytes", dump({"Body": "x", "Actions": [action]}))
        action = {"Id": "a", "Title": "é" * 32 + "x" * more}
        yield Case(f"{word}: an action's title of {64 + more} bytes", dump({"Body": "x", "Actions": [action]}))
    overhead = len(f'{{"id":"{ID}","at":{NOW},"content":""}}')
    for size in (128, 129, 256, 257, 512, 513, 1024, 1025, 2048, 2049, 10_000):
        yield Case(f"{size} bytes before the padding", dump("x" * (size - overhead)))


def recipients():
    three = (PHONE, TABLET, LATER)
    yield Case("three devices: the first", '"for three"', three)
    yield Case("three devices: the second", '"for three"', three).but(device=TABLET, keys=[2])
    for name in ("Ünïcödé 🔑", "e\u0301", "a b"):
        yield Case(f"recipient {name}", '"x"', recipient=name)
    hundred = tuple(f"device-{n:03}" for n in range(99)) + (PHONE,)
    yield Case("100 devices", '"x"', hundred)
    yield Case("device IDs of all characters", '"x"', ("A.z_0-9", "a" * 128, PHONE))
    yield Case("sealed for the former key of the device").but(keys=[4, 5, 1])
    yield Case("sealed for a key that the device no longer has").but(keys=[4, 5])
    yield Case("device not among the keys", devices=(TABLET, LATER))
    yield Case("another installation with the key").but(device=LATER)
    yield Case("the ID in another case").but(device=PHONE.upper())
    yield Case("a device without a key").but(keys=[])
    yield Case("wrong key").but(keys=[7])
    yield Case("wrong recipient").but(recipient="bob")
    yield Case("another form of the recipient (NFC)", recipient="\u00e9").but(recipient="e\u0301")


def plain():
    for name, text in [
        ("a plain text", '"plain"'),
        ("a plain object", '{"a":1}'),
        ("an object with ct alone", '{"ct":"AAAA"}'),
        ("plain null", "null"),
        ("a plain message", '{"Title":"t","Body":"plain"}'),
        ("an object with e2e deeper", '{"a":{"e2e":2}}'),
        ("an array with e2e", '["e2e",2]'),
        ("an object with another case of e2e", '{"E2E":2}'),
        ("a plain text with blanks around", ' "plain"\n'),
        ("32 levels", "[" * 32 + "]" * 32),
    ]:
        yield Case(name, None).but(payload=text)
        yield Case(f"required encryption: {name}", None).but(payload=text, requires=True)
    yield Case("required encryption: an envelope").but(requires=True)
    for name, text in [
        ("a repeated name", '{"a":1,"a":2}'),
        ("a repeated name, deeper", '[{"a":1,"\\u0061":2}]'),
        ("33 levels", "[" * 33 + "]" * 33),
        ("a lone high surrogate", '"\\ud800"'),
        ("a lone low surrogate", '"\\udc00"'),
        ("a high surrogate and a letter", '"\\ud800\\u0041"'),
        ("two high surrogates", '"\\ud800\\ud800\\udc00"'),
        ("a lone surrogate as a name", '{"\\ud800":1}'),
        ("a byte order mark", '\ufeff"plain"'),
        ("a comma at the end", '{"a":1,}'),
        ("an unknown escape", '"\\x41"'),
        ("a capital \\U", '"\\U0041"'),
        ("a tab in a text", '"a\tb"'),
        ("a leading zero", "01"),
        ("a plus", "+1"),
        ("a point at the end", "1."),
        ("a point in front", ".5"),
        ("hexadecimal", "0x1"),
        ("Infinity", "Infinity"),
        ("NaN", "NaN"),
        ("single quotation marks", "'a'"),
        ("a comment", "1 // one"),
        ("nothing", ""),
        ("two values", "1 2"),
        ("a vertical tab", "\v1"),
        ("a no-break space", "\u00a01"),
        ("True", "True"),
        ("three hexadecimal digits", '"\\u00e"'),
        ("a DEL is allowed", '"a\x7fb"'),
        ("a line separator is allowed", '"a\u2028b"'),
    ]:
        yield Case(f"plain, not strict: {name}" if "allowed" not in name else f"plain: {name}", None).but(payload=text)


def times():
    day = 86_400
    for name, at in [
        ("a day ahead", NOW + day),
        ("a day and a second ahead", NOW + day + 1),
        ("90 days old", NOW - 90 * day),
        ("90 days and a second old", NOW - 90 * day - 1),
        ("of 1970", 0),
        ("of the year 33658", 999_999_999_999),
    ]:
        yield Case(f"made {name}", at=at)
    for name, exp in [("in a second", NOW + 1), ("now", NOW), ("long ago", 0), ("in the year 33658", 999_999_999_999)]:
        yield Case(f"expires {name}", exp=exp)
    yield Case("expires in the second that has begun", exp=NOW).but(now=NOW * 1000 - 1)
    yield Case("too old and expired", at=NOW - 91 * day, exp=NOW - 90 * day)
    yield Case("opened before under this notification").but(opened=[(ID, PUSHED)])
    yield Case("opened before under another notification").but(opened=[(ID, OTHER)])
    yield Case("opened before under another notification, its ID in capitals").but(opened=[(ID.upper(), OTHER)])
    yield Case("other envelopes were opened before").but(opened=[(ID[:-1] + "1", OTHER), (ID[:-1] + "2", PUSHED)])
    yield Case("opened before, and expired now", exp=NOW).but(opened=[(ID, PUSHED)])
    yield Case("a replay that has expired", exp=NOW).but(opened=[(ID, OTHER)])
    capitals = f'{{"id":"{ID.upper()}","at":{NOW},"content":"secret"}}'.encode()
    yield Case("an ID in capitals", plain=encrypted.pad(capitals))
    yield Case("a replay with the ID in capitals", plain=encrypted.pad(capitals)).but(opened=[(ID, OTHER)])


def senders():
    known = sender_set(SENDER)
    yield Case("signed, and no sender is configured", sender=SENDER)
    yield Case("signed by a stranger, and no sender is configured", sender=STRANGER)
    yield Case("signed", sender=SENDER).but(sender_keys=known)
    yield Case("signed for a message", '{"Title":"t","Body":"b"}', sender=SENDER, exp=NOW + 60).but(sender_keys=known)
    yield Case("signed for three devices", devices=(PHONE, TABLET, LATER), sender=SENDER).but(sender_keys=known)
    yield Case("signed by the second of two senders", sender=FORMER_SENDER).but(
        sender_keys=sender_set(SENDER, FORMER_SENDER)
    )
    yield Case("signed under a kid of one's own", sender=SENDER, kid="billing 🔑").but(
        sender_keys=sender_set(SENDER, kid="billing 🔑")
    )
    yield Case("signed by the second key with this kid", sender=SENDER, kid="team").but(
        sender_keys=sender_set(FORMER_SENDER, SENDER, kid="team")
    )
    no_kid = {"keys": [encrypted.jwk(key(SENDER).public_key())]}
    yield Case("signed by a key without a kid", sender=SENDER).but(sender_keys=no_kid)
    yield Case("required encryption and signed", sender=SENDER).but(sender_keys=known, requires=True)
    yield Case("not signed").but(sender_keys=known)
    yield Case("signed by a stranger", sender=STRANGER).but(sender_keys=known)
    yield Case("signed by a stranger under the sender's kid", sender=STRANGER, kid=known["keys"][0]["kid"]).but(
        sender_keys=known
    )
    yield Case("signed by another sender under this kid", sender=FORMER_SENDER, kid=known["keys"][0]["kid"]).but(
        sender_keys=sender_set(SENDER, FORMER_SENDER)
    )
    yield Case("a kid in another case", sender=SENDER, kid="Team").but(sender_keys=sender_set(SENDER, kid="team"))
    yield Case("signed for another recipient", sender=SENDER, recipient="bob").but(sender_keys=known, recipient=USER)
    stripped = Case("the signature stripped", sender=SENDER).but(sender_keys=known)
    envelope = {name: value for name, value in stripped.envelope.items() if name not in ("from", "sig")}
    yield stripped.text(dump(envelope))
    other = Case("x", '"other"', sender=SENDER).envelope["sig"]
    yield Case("the signature of another envelope", sender=SENDER).but(sender_keys=known).changed(
        ["sig"], lambda _: other
    )
    for place in (0, 31, 32, 63):
        yield Case(f"byte {place} of the signature changed", sender=SENDER).but(sender_keys=known).changed(
            ["sig"], lambda text: bend(text, place)
        )
    negative = lambda text: b64(
        unb64(text)[:32] + (reader.ORDER - int.from_bytes(unb64(text)[32:], "big")).to_bytes(32, "big")
    )
    yield Case("the other s of the same signature", sender=SENDER).but(sender_keys=known).changed(["sig"], negative)
    for name, r, s in (
        ("r is zero", 0, 1),
        ("s is zero", 1, 0),
        ("r is the order", reader.ORDER, 1),
        ("s is the order", 1, reader.ORDER),
    ):
        numbers = b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        yield Case(f"signature: {name}", sender=SENDER).but(sender_keys=known).changed(["sig"], lambda _: numbers)
    yield Case("content changed under a signature", sender=SENDER).but(sender_keys=known).changed(
        ["ct"], lambda t: bend(t, 0)
    )
    yield Case("the device's entry changed under a signature", sender=SENDER).but(sender_keys=known).changed(
        ["keys", PHONE, "ct"], lambda t: bend(t, 0)
    )
    yield Case("plain text while senders are configured", None).but(payload='"plain"', sender_keys=known)
    yield Case("a stranger's envelope for other devices", devices=(TABLET,), sender=STRANGER).but(sender_keys=known)
    yield Case("the sender's envelope for other devices", devices=(TABLET,), sender=SENDER).but(sender_keys=known)
    yield Case("malformed and by a stranger", sender=STRANGER).but(sender_keys=known).changed(["iv"], lambda _: "AAAA")
    yield Case("a replay by a stranger", sender=STRANGER).but(sender_keys=known, opened=[(ID, OTHER)])
    for name, change in [
        ("from alone", (["sig"], None)),
        ("sig alone", (["from"], None)),
        ("an empty from", (["from"], lambda _: "")),
        ("from of 129 bytes", (["from"], lambda _: "x" * 129)),
        ("from is a number", (["from"], lambda _: 7)),
        ("from is null", (["from"], lambda _: None)),
        ("sig is null", (["sig"], lambda _: None)),
        ("sig of 63 bytes", (["sig"], lambda t: b64(unb64(t)[:63]))),
        ("sig of 65 bytes", (["sig"], lambda t: b64(unb64(t) + b"\0"))),
        ("padding in sig", (["sig"], lambda t: t + "==")),
        ("unused bits in sig", (["sig"], unused_bits)),
        ("sig in DER", (["sig"], lambda t: b64(b"\x30\x44\x02\x20" + unb64(t)[:32] + b"\x02\x20" + unb64(t)[32:]))),
    ]:
        for keys, more in ((None, ""), (known, ", a sender is configured")):
            yield Case(f"malformed: {name}{more}", sender=SENDER).but(sender_keys=keys).changed(*change)
    yield Case("from of 128 bytes", sender=SENDER, kid="x" * 128).but(sender_keys=sender_set(SENDER, kid="x" * 128))
    yield from (
        Case(f"senders: {name}", sender=SENDER).but(sender_keys=keys) for name, keys in odd_sets(SENDER, FORMER_SENDER)
    )


def odd_sets(number, other):
    """Key sets with odd members, for senders and for pushes: names and sets. Those with text are no plain JSON."""
    good, stranger = sender_set(number)["keys"][0], sender_set(other)["keys"][0]
    private = {**stranger, "d": b64(data(other))}
    bare = encrypted.jwk(key(number).public_key())
    x = unb64(bare["x"])
    bad = [
        None,
        7,
        "x",
        [],
        {},
        {"kty": "RSA", "n": "AAAA", "e": "AQAB"},
        {"kty": "OKP", "crv": "Ed25519", "x": b64(x)},
        {**bare, "crv": "P-384"},
        {**bare, "kty": "ec"},
        {**bare, "x": bare["x"] + "="},
        {**bare, "x": 7},
        {"kty": "EC", "crv": "P-256", "x": bare["x"]},
        {**bare, "x": b64(x[1:])},
        {**bare, "x": b64(b"\0" + x)},
        {**bare, "y": b64(bytes(32))},
        {**bare, "x": b64(bytes(32)), "y": b64(bytes(32))},
        {**bare, "x": b64(b"\xff" * 32)},
        {**bare, "kid": 7},
        {**bare, "kid": ""},
        {**bare, "kid": "x" * 129},
        {**bare, "kid": None},
        {**bare, "x": unused_bits(bare["x"])},
    ]
    yield "the key among odd ones", {"keys": [*bad, good], "future": [True]}
    yield "odd keys alone", {"keys": bad}
    yield "unknown members in the key", {"keys": [{**good, "future": {"d": 1}, "x5c": [], "key_ops": 7, "use": "enc"}]}
    yield "a private key beside it", {"keys": [good, private]}
    yield "d is null", {"keys": [good, {**stranger, "d": None}]}
    yield "a symmetric key beside it", {"keys": [good, {"kty": "oct", "k": "AAAA"}]}
    yield "d of another kind of key", {"keys": [good, {"kty": "OKP", "crv": "Ed25519", "x": b64(x), "d": b64(x)}]}
    yield "no keys", {"keys": []}
    yield "keys is an object", {"keys": {"0": good}}
    yield "keys is null", {"keys": None}
    yield "no member keys", {"Keys": [good]}
    yield "an array", dump([good])
    yield "a repeated name", f'{{"keys":[],"keys":[{dump(good)}]}}'
    yield "a repeated name in a key", f'{{"keys":[{dump(good)[:-1]},"kty":"EC"}}]}}'
    yield "an escaped name", f'{{"k\\u0065ys":[{dump(good)}]}}'
    yield "an escaped d", f'{{"keys":[{dump(good)},{dump(stranger)[:-1]},"\\u0064":"AAAA"}}]}}'
    yield "a comma at the end", f'{{"keys":[{dump(good)},]}}'
    yield "a byte order mark", f'\ufeff{{"keys":[{dump(good)}]}}'
    yield "a lone surrogate", f'{{"keys":[{dump(good)}],"a":"\\ud800"}}'
    yield "not JSON", "keys"
    yield "blanks around", f' {{ "keys" : [ {dump(good)} ] }}\r\n'
    yield "32 levels", f'{{"keys":[{dump(good)}],"a":{"[" * 31}{"]" * 31}}}'
    yield "33 levels", f'{{"keys":[{dump(good)}],"a":{"[" * 32}{"]" * 32}}}'


def bend(text, place):
    changed = bytearray(unb64(text))
    changed[place] ^= 1
    return b64(bytes(changed))


def unused_bits(text):
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + alphabet[alphabet.index(text[-1]) + 1]


def cases():
    from malformed import changed, documents, malformed, texts

    groups = (contents, recipients, plain, times, senders, changed, malformed, texts, documents)
    return [case.json() for group in groups for case in group()]
