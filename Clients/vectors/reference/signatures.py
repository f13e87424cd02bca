"""The cases of signatures.json: signed pushes, forgeries, old ones, withdrawals, rotated keys."""

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

import encrypted
import reader
from encrypted import b64, unb64
from envelopes import NOW, PUSHED, OTHER, USER, data, dump, odd_sets, unused_bits

# The scalars of the keys: the first signs now, the second did before, the third is nobody's.
CURRENT = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
FORMER = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
STRANGER = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"
DAY = 86_400


def push_key(scalar):
    return ec.derive_private_key(int(scalar, 16), ec.SECP256R1())


def jwk(scalar):
    public = push_key(scalar).public_key()
    return {**encrypted.jwk(public), "kid": b64(encrypted.thumbprint(public)), "use": "sig", "alg": "ES256"}


def jwks(*scalars):
    return {"keys": [jwk(scalar) for scalar in scalars]}


def signed_text(identity, user, timestamp, withdraw):
    return f"securepush-push-v1\n{identity}\n{user}\n{timestamp}\n" + ("withdraw\n" if withdraw else "")


def sign(identity, user, timestamp, withdraw, scalar):
    text = signed_text(identity, user, timestamp, withdraw).encode()
    der = push_key(scalar).sign(text, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
    r, s = utils.decode_dss_signature(der)
    return b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def push(identity=PUSHED, user=USER, withdraw=False, scalar=CURRENT, at=NOW):
    return {
        "id": identity,
        "timestamp": str(at),
        "signature": sign(identity, user, at, withdraw, scalar),
        "withdraw": withdraw,
    }


def verify(keys, learned, user, now_ms, push):
    """The reason to refuse a push, or None."""
    sets = [
        reader.key_set(value if isinstance(value, str) else dump(value))
        for value in (keys, learned)
        if value is not None
    ]
    known = sets[-1] or sets[0] or []
    try:
        signature = reader.binary(push["signature"], 64)
    except ValueError:
        return "SP-SIGNATURE"
    if not reader.text(push["timestamp"]) or not reader.SECONDS.match(push["timestamp"]):
        return "SP-SIGNATURE"
    text = signed_text(push["id"], user, push["timestamp"], push["withdraw"]).encode()
    if not any(reader.is_valid(key, signature, text) for _, key in known):
        return "SP-SIGNATURE"
    # Milliseconds, because a device compares with its clock.
    age = now_ms - 1000 * int(push["timestamp"])
    return "SP-AGE" if age > 28 * DAY * 1000 or age < -DAY * 1000 else None


def case(name, pushed, user=USER, keys=None, learned=None, after=0):
    keys = jwks(CURRENT) if keys is None else keys
    reason = verify(keys, learned, user, NOW * 1000 + after, pushed)
    return {
        "name": name,
        "keys": keys,
        "learnedKeys": learned,
        "user": user,
        "nowMs": NOW * 1000 + after,
        "push": pushed,
        "signedText": signed_text(pushed["id"], user, pushed["timestamp"] or "", pushed["withdraw"]),
        "expect": {"accepted": False, "reason": reason} if reason else {"accepted": True},
    }


def genuine():
    yield case("genuine", push())
    yield case("genuine withdrawal", push(withdraw=True))
    for name in ("Ünïcödé 🔑", "e\u0301", "a b", "#", "username:alice", "x" * 1_024):
        yield case(f"genuine for {name[:20]}", push(user=name), name)


def ages():
    limit = 28 * DAY * 1000
    yield case("28 days old", push(), after=limit)
    yield case("28 days and a second old", push(), after=limit + 1_000)
    yield case("a year old", push(), after=365 * DAY * 1000)
    yield case("a day in the future", push(), after=-DAY * 1000)
    yield case("a day and a second in the future", push(), after=-DAY * 1000 - 1_000)
    yield case("of the year 33658", push(at=999_999_999_999))
    yield case("of 1970", push(at=0))
    yield case("a withdrawal of 29 days", push(withdraw=True), after=limit + DAY * 1000)
    yield case("a withdrawal two days in the future", push(withdraw=True), after=-2 * DAY * 1000)
    yield case("old and forged", push(scalar=STRANGER), after=2 * limit)


def forgeries():
    yield case("another key", push(scalar=STRANGER))
    yield case("another ID", {**push(), "id": OTHER})
    yield case("another time", {**push(), "timestamp": str(NOW + 1)})
    yield case("another user", push(user="bob"))
    yield case("another case of the user", push(user="Alice"))
    yield case("another form of the user (NFC)", push(user="\u00e9"), "e\u0301")
    yield case("a withdrawal without its word", {**push(withdraw=True), "withdraw": False})
    yield case("a push made a withdrawal", {**push(), "withdraw": True})
    for bit in (0, 7, 255, 256, 510):
        changed = bytearray(unb64(push()["signature"]))
        changed[bit // 8] ^= 1 << bit % 8
        yield case(f"bit {bit} of the signature changed", {**push(), "signature": b64(bytes(changed))})
    r, s = (unb64(push()["signature"])[part] for part in (slice(32), slice(32, 64)))
    order = reader.ORDER
    for name, first, second in (
        ("the other s of the same signature", r, (order - int.from_bytes(s, "big")).to_bytes(32, "big")),
        ("r is zero", bytes(32), s),
        ("s is zero", r, bytes(32)),
        ("r is the order", order.to_bytes(32, "big"), s),
        ("s is the order", r, order.to_bytes(32, "big")),
        ("all ones", b"\xff" * 32, b"\xff" * 32),
        ("r and s are zero", bytes(32), bytes(32)),
        ("r and s exchanged", s, r),
    ):
        yield case(f"signature: {name}", {**push(), "signature": b64(first + second)})


def malformed():
    for name, text in [
        ("no", None),
        ("an empty", ""),
        ("a zero before the", "01800000000"),
        ("a plus before the", "+1800000000"),
        ("a minus before the", "-1800000000"),
        ("a blank after the", "1800000000 "),
        ("a line feed after the", "1800000000\n"),
        ("an exponent in the", "18e8"),
        ("a fraction in the", "1800000000.0"),
        ("13 digits in the", "1800000000000"),
        ("other digits in the", "\u0661\u0668"),
    ]:
        yield case(f"{name} time", {**push(), "timestamp": text})
    good = push()["signature"]
    raw = unb64(good)
    for name, text in [
        ("no", None),
        ("an empty", ""),
        ("a short", good[:-2]),
        ("a long", good + "AA"),
        ("a padded", good + "=="),
        ("a blank in the", "A " + good[2:]),
        ("a line feed after the", good + "\n"),
        ("unused bits in the", unused_bits(good)),
        ("the standard alphabet in the", "+/" + good[2:]),
        (
            "DER in the",
            b64(utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))),
        ),
    ]:
        yield case(f"{name} signature", {**push(), "signature": text})


def key_sets():
    both, former, current = jwks(CURRENT, FORMER), jwks(FORMER), jwks(CURRENT)
    old, nobody = push(scalar=FORMER), push(scalar=STRANGER)
    yield case("rotated: the new key", push(), keys=both)
    yield case("rotated: the former key", old, keys=both)
    yield case("rotated: the key is learned", push(), keys=former, learned=current)
    yield case("rotated: the configured key is no longer among them", old, keys=former, learned=current)
    yield case("rotated: both are learned", old, keys=former, learned=both)
    yield case("rotated: the key is not learned yet", push(), keys=former)
    yield case("rotated: neither key", nobody, keys=former, learned=current)
    yield case("rotated: old, by a learned key", push(), keys=former, learned=current, after=29 * DAY * 1000)
    # The scalars are those of `sender_set`: the first signs, the second is a stranger's.
    one, two = (data(number).hex() for number in (30, 31))
    for name, value in odd_sets(30, 31):
        yield case(f"configured: {name}", push(scalar=one), keys=value)
        yield case(f"learned: {name}", push(scalar=one), keys=jwks(two), learned=value)
        yield case(f"learned: {name}; the configured key signs", push(scalar=two), keys=jwks(two), learned=value)
    for count in (17, 32, 33):
        many = jwks(*(f"{number:064x}" for number in range(1, count)), CURRENT)
        yield case(f"the last of {count} keys", push(), keys=many)
        yield case(f"the last of {count} learned keys", push(), keys=former, learned=many)
    late = jwks(*(f"{number:064x}" for number in range(1, 33)), CURRENT)
    late["keys"][32]["d"] = "AAAA"
    yield case("a private key behind 32 keys", push(scalar=f"{1:064x}"), keys=late)
    skipped = {"keys": [None] * 40 + [{"kty": "RSA"}] * 40 + current["keys"]}
    yield case("80 odd keys before the key", push(), keys=skipped)


def cases():
    return [case for group in (genuine, ages, forgeries, malformed, key_sets) for case in group()]
