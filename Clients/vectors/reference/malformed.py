"""The cases of e2e.json that no sender makes: changed values, wrong forms, odd JSON, wrong contents."""

import json

import encrypted
from encrypted import b64, unb64
from envelopes import ID, NOW, PHONE, TABLET, USER, Case, bend, data, dump, unused_bits

PATHS = [
    ("the sealed key", ["keys", PHONE, "ct"]),
    ("the ephemeral key", ["keys", PHONE, "enc"]),
    ("iv", ["iv"]),
    ("ct", ["ct"]),
]


def changed():
    two = (PHONE, TABLET)
    for name, path in PATHS:
        for word, place in (("first", 0), ("last", -1)):
            yield Case(f"the {word} byte of {name} changed", devices=two).changed(path, lambda text: bend(text, place))
    entry = Case("x", devices=two).envelope["keys"][TABLET]
    yield Case("the entry of another device", devices=two).changed(["keys", PHONE], lambda _: entry)
    # A sibling device that has the content key puts other content under the same keys.
    content = encrypted.AESGCM(data(50)).encrypt(
        data(60, 12), encrypted.pad(f'{{"id":"{ID}","at":{NOW},"content":"Meet at 5, alone."}}'.encode()), USER.encode()
    )
    yield Case("other content under the same keys", devices=two).changed(["ct"], lambda _: b64(content))
    iv, moved = data(61, 12), Case("the same content under another iv", devices=two)
    again = encrypted.AESGCM(data(50)).encrypt(
        iv, encrypted.pad(f'{{"id":"{ID}","at":{NOW},"content":"secret"}}'.encode()), USER.encode()
    )
    yield moved.text(dump({**moved.envelope, "iv": b64(iv), "ct": b64(again)}))
    for name, length in (("a block", -16), ("a byte", -1), ("its tag", -16)):
        yield Case(f"ct without {name}" + (" at its beginning" if name == "a block" else ""), devices=two).changed(
            ["ct"], lambda t: b64(unb64(t)[16:] if name == "a block" else unb64(t)[:length])
        )
    yield Case("the tag alone", devices=two).changed(["ct"], lambda t: b64(unb64(t)[-16:]))
    keyless = Case("another device's key of the same envelope", devices=two).but(keys=[2])
    yield keyless


def malformed():
    for name, path in PATHS:
        yield Case(f"padding in {name}").changed(path, lambda text: text + "=")
        yield Case(f"a line feed in {name}").changed(path, lambda text: text + "\n")
        yield Case(f"{name} empty").changed(path, lambda _: "")
        yield Case(f"{name} too short").changed(path, lambda text: b64(unb64(text)[:11]))
        yield Case(f"{name} is a number").changed(path, lambda _: 7)
        yield Case(f"{name} is null").changed(path, lambda _: None)
        yield Case(f"{name} is missing").changed(path, None)
    for name, path, length in [
        ("the sealed key", PATHS[0][1], 49),
        ("the sealed key", PATHS[0][1], 47),
        ("iv", ["iv"], 13),
        ("iv", ["iv"], 16),
        ("ct", ["ct"], 15),
    ]:
        yield Case(f"{name} of {length} bytes").changed(path, lambda text: b64((unb64(text) + bytes(16))[:length]))
    yield Case("unused bits in ct").changed(["ct"], unused_bits)
    yield Case("the standard alphabet in iv").changed(["iv"], lambda _: "+/" + "A" * 14)
    for value in [
        "1",
        "0",
        "-2",
        "2.0",
        "2e0",
        "20e-1",
        "02",
        '"2"',
        "true",
        "null",
        "[2]",
        "2.5",
        "1e1000",
        "3",
        "2.0000000000000000001",
        "18446744073709551618",
    ]:
        case = Case(f"e2e is {value}")
        yield case.text(case.payload.replace('"e2e":2', f'"e2e":{value}'))
    yield Case("an envelope of version 1", None).but(
        payload=dump(
            {
                "ct": "yW8VexkmuhyjL6fJ3JcvHa-0XM6CBSB1RnoUUcB4LUjNajI",
                "e2e": 1,
                "iv": "rbjDztnk7_oFEBsm",
                "keys": {
                    PHONE: {
                        "ct": "y8djbWk8YK55e13h3A3juKkn1qzdH5vGI7LJPOdtsLgy_2IHEX_Wgk1QadHOOWW0",
                        "enc": "TH-A95zCB86yeui1M-nhh6G9zoEOlswJai0E8aNL-Gg",
                    }
                },
            }
        )
    )
    yield Case("an object with e2e alone", None).but(payload='{"e2e":2}')
    yield Case("an object with e2e that is null", None).but(payload='{"e2e":null}')
    yield Case("required encryption: an object with e2e alone", None).but(payload='{"e2e":2}', requires=True)
    for value in ("[]", "null", '"x"', "7", "{}"):
        yield Case(f"keys is {value}").changed(["keys"], lambda _: json.loads(value))
    yield Case("the device's entry is a text").changed(["keys", PHONE], lambda _: "x")
    yield Case("101 devices", '"x"', tuple(f"device-{n:03}" for n in range(100)) + (PHONE,)).but(sealing=None)
    for name, device in [
        ("empty", ""),
        ("of 129 bytes", "a" * 129),
        ("of dots", ".."),
        ("with a blank", "a b"),
        ("with an accent", "é"),
        ("with a line feed", "a\n"),
    ]:
        entry = Case("x").envelope["keys"][PHONE]
        yield Case(f"another device's ID is {name}").changed(["keys", device], lambda _: entry)
    yield Case("another device's entry is malformed").changed(["keys", TABLET], lambda _: {"enc": "AAAA", "ct": "AAAA"})
    off = b64(b"\x04" + bytes(31) + b"\x01" + bytes(31) + b"\x01")
    sealed = Case("x").envelope["keys"][PHONE]["ct"]
    yield Case("another device's ephemeral key is not on the curve").changed(
        ["keys", TABLET], lambda _: {"enc": off, "ct": sealed}
    )
    points = [
        ("a point that is not on the curve", off),
        ("zeros", b64(b"\x04" + bytes(64))),
        ("coordinates beyond the field", b64(b"\x04" + b"\xff" * 64)),
        (
            "a point of the field's prime",
            b64(b"\x04" + bytes.fromhex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff") * 2),
        ),
    ]
    yield from (Case(f"the ephemeral key: {name}").changed(PATHS[1][1], lambda _: text) for name, text in points)
    yield Case("the ephemeral key: compressed").changed(
        PATHS[1][1], lambda t: b64(bytes([2 + unb64(t)[64] % 2]) + unb64(t)[1:33])
    )
    yield Case("the ephemeral key: hybrid").changed(
        PATHS[1][1], lambda t: b64(bytes([6 + unb64(t)[64] % 2]) + unb64(t)[1:])
    )
    yield Case("the ephemeral key: the point at infinity").changed(PATHS[1][1], lambda _: "AA")
    yield Case("the ephemeral key: the opposite point").changed(
        PATHS[1][1],
        lambda t: b64(
            unb64(t)[:33]
            + (
                int("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff", 16)
                - int.from_bytes(unb64(t)[33:], "big")
            ).to_bytes(32, "big")
        ),
    )
    yield Case("the ephemeral key of X25519").changed(
        PATHS[1][1], lambda _: "TH-A95zCB86yeui1M-nhh6G9zoEOlswJai0E8aNL-Gg"
    )


def texts():
    """The JSON of the envelope."""
    good = Case("x").payload
    yield Case("unknown members").changed(["future"], lambda _: {"e2e": 1, "a": [None]})
    yield Case("unknown members in an entry").changed(["keys", PHONE, "future"], lambda _: 7)
    yield Case("blanks and another order").text(
        "\n " + json.dumps(dict(reversed(Case("x").envelope.items())), indent=1).replace("\n", "\r\n\t") + " "
    )
    yield Case("escaped names and values").text(
        good.replace('"e2e"', '"e\\u0032e"').replace('"ct"', '"\\u0063t"').replace(PHONE, PHONE.replace("8", "\\u0038"))
    )
    for name, text in [
        ("e2e twice", good.replace('"e2e":2', '"e2e":2,"e2e":2')),
        ("e2e twice, once escaped", good[:-1] + ',"\\u00652e":1}'),
        ("a version twice", good.replace('"e2e":2', '"e2e":1,"e2e":2')),
        ("a device twice", good.replace(f'"{PHONE}"', f'"{PHONE}":7,"{PHONE}"')),
        ("enc twice", good.replace('"enc"', '"enc":"AAAA","enc"')),
        ("ct twice", good[:-1] + ',"ct":"AAAA"}'),
        ("an unknown name twice", good[:-1] + ',"x":1,"x":1}'),
        ("an unknown name twice, deeper", good[:-1] + ',"x":[{"y":1,"y":1}]}'),
        ("a byte order mark", "\ufeff" + good),
        ("a comma at the end", good[:-1] + ",}"),
        ("something behind", good + "x"),
        ("two envelopes", good + good),
        ("no end", good[:-1]),
        ("a lone surrogate in an unknown member", good[:-1] + ',"x":"\\ud800"}'),
        ("a lone surrogate as a name", good[:-1] + ',"\\udfff":1}'),
        ("33 levels", good[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}"),
        ("a control character", good[:-1] + ',"x":"\x01"}'),
        ("a number with a leading zero", good[:-1] + ',"x":00}'),
        ("a form feed between", good.replace(",", "\f,")),
        ("a comment", good + "/**/"),
    ]:
        yield Case(f"text: {name}").text(text)
    yield Case("text: 32 levels").text(good[:-1] + ',"x":' + "[" * 31 + "]" * 31 + "}")
    yield Case("text: a large number in an unknown member").text(good[:-1] + ',"x":1e99999}')
    yield Case("text: within an array").text(f"[{good}]")
    yield Case("text: within a text").text(dump(good))


def documents():
    """What is inside, as no sender makes it."""
    start = f'"id":"{ID}","at":{NOW}'
    documents = [
        ("not JSON", "secret"),
        ("a text", '"secret"'),
        ("an array", f'[{{{start},"content":1}}]'),
        ("empty", ""),
        ("half an object", f'{{{start},"content":'),
        ("two objects", f'{{{start},"content":1}}{{}}'),
        ("without id", f'{{"at":{NOW},"content":1}}'),
        ("without at", f'{{"id":"{ID}","content":1}}'),
        ("without content", f"{{{start}}}"),
        ("with Content", f'{{{start},"Content":1}}'),
        ("with content twice", f'{{{start},"content":1,"content":2}}'),
        ("with content twice, once escaped", f'{{{start},"content":1,"c\\u006fntent":2}}'),
        ("with a name twice in its content", f'{{{start},"content":{{"a":1,"a":1}}}}'),
        ("with a lone surrogate", f'{{{start},"content":"\\ud83d"}}'),
        ("with 33 levels", f'{{{start},"content":{"[" * 32}{"]" * 32}}}'),
        ("after a byte order mark", f'\ufeff{{{start},"content":1}}'),
        ("followed by zeros", f'{{{start},"content":1}}\0\0'),
        ("followed by no-break spaces", f'{{{start},"content":1}}\u00a0'),
        ("with an escape that is none", f'{{{start},"content":"\\q"}}'),
        ("with a bad escape deeper", f'{{{start},"content":["\\u12"]}}'),
    ]
    for value in ['"1800000000"', "1800000000.0", "18e8", "-1", "1000000000000", "null", "true", "9007199254740993000"]:
        documents.append((f"at is {value}", f'{{"id":"{ID}","at":{value},"content":1}}'))
        documents.append((f"exp is {value}", f'{{{start},"exp":{value},"content":1}}'))
    for name, value in [
        ("empty", '""'),
        ("a number", "7"),
        ("null", "null"),
        ("without hyphens", f'"{ID.replace("-", "")}"'),
        ("in braces", f'"{{{ID}}}"'),
        ("with a blank", f'"{ID} "'),
        ("too long", f'"{ID}0"'),
        ("not hexadecimal", f'"{ID[:-1]}g"'),
        ("of other digits", f'"{ID[:-1]}\u0661"'),
        ("grouped otherwise", '"5f3c1c527-b0e-4f0a-9d3b-2f6a8c1e4d70"'),
        ("with a line feed", f'"{ID}\\n"'),
    ]:
        documents.append((f"id is {name}", f'{{"id":{value},"at":{NOW},"content":1}}'))
    for name, text in documents:
        yield Case(f"document: {name}", plain=text.encode())
    for name, raw in [
        ("no UTF-8", b"\xff\xfe"),
        ("an overlong NUL", b"\xc0\x80"),
        ("a surrogate in UTF-8", b"\xed\xa0\x80"),
        ("beyond Unicode", b"\xf4\x90\x80\x80"),
        ("half a character", b"\xc3"),
    ]:
        yield Case(f"document: {name} in its content", plain=f'{{{start},"content":"'.encode() + raw + b'"}')
    opened = [
        ("without padding", f'{{{start},"content":"x"}}'),
        ("with other white space", f'\n{{ {start} ,\t"content" : "x"\r\n}}\n'),
        ("in another order", f'{{"content":"x","at":{NOW},"id":"{ID}"}}'),
        ("with unknown members", f'{{"v":9,{start},"content":"x","from":"y"}}'),
        ("with an escaped name", f'{{{start},"c\\u006fntent":"x"}}'),
        ("with an escaped id", f'{{"id":"\\u0035{ID[1:]}","at":{NOW},"content":"x"}}'),
        ("with 32 levels", f'{{{start},"content":{"[" * 31}{"]" * 31}}}'),
        ("with an envelope as its content", f'{{{start},"content":{{"e2e":2}}}}'),
        ("with 5,000 blanks", f'{{{start},"content":"x"}}' + " " * 5_000),
    ]
    yield from (Case(f"document: {name}", plain=text.encode()) for name, text in opened)
