"""Generates payloads and pushes at random, in the format of the vectors: `python3 generate.py FOLDER [SEED] [COUNT]`.

Writes COUNT (2,000) cases each of e2e.json and pushes.json into FOLDER, a copy of Clients/vectors. The SDKs' own runners
of vectors take such a folder in SECUREPUSH_VECTORS, and say whether their parsers differ from the reference.
"""

import base64
import json
import os
import random
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [FOLDER, os.path.join(FOLDER, "../../../Examples/Send")]

import envelopes  # noqa: E402
import reader  # noqa: E402

NUMBERS = [
    "0",
    "-0",
    "7",
    "-12",
    "1.5",
    "1e5",
    "1E+2",
    "2e-3",
    "1e999",
    "0.0",
    "123456789012345678901234567890",
    "01",
    "+1",
    "1.",
    ".5",
    "-",
    "1e",
    "--1",
    "0x1",
    "NaN",
    "Infinity",
    "1_0",
    "1,0",
    "٣",
]
PIECES = [
    "a",
    "é",
    "🔑",
    " ",
    "\\n",
    "\\u0041",
    "\\u00e9",
    "\\ud83d\\udd11",
    "\\/",
    '\\"',
    "\\\\",
    "\x7f",
    "\u2028",
    "e2e",
    "\\ud800",
    "\\udc00",
    "\\ud800\\ud800",
    "\\u12",
    "\\x41",
    "\\U0041",
    "\\a",
    "\\u00zz",
    "\t",
    "\n",
    "\x00",
    "\\u0000",
]
NAMES = [
    "a",
    "b",
    "A",
    "\\u0061",
    "é",
    "e\u0301",
    "\\u00e9",
    "Body",
    "B\\u006fdy",
    "Title",
    "Level",
    "Actions",
    "e2e",
    "\\u0065\\u0032e",
    "E2E",
    "ct",
    "",
]
BLANKS = ["", "", "", "", " ", "\n", "\r\n", "\t", "  ", "\f", "\u00a0", "\ufeff", "/**/"]


class Generator:
    """JSON texts, of which about half are strict JSON."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mistakes = 0.0

    def pick(self, good, bad=()):
        if bad and self.random.random() < self.mistakes:
            return self.random.choice(bad)
        return self.random.choice(good)

    def blank(self):
        return self.pick(BLANKS[:9], BLANKS[9:]) if self.random.random() < 0.3 else ""

    def string(self, pieces=None):
        pieces = (
            [self.pick(PIECES[:14], PIECES[14:]) for _ in range(self.random.randrange(4))] if pieces is None else pieces
        )
        return '"' + "".join(pieces) + self.pick(['"'], ["", "'", '""'])

    def value(self, depth):
        kind = self.random.randrange(9 if depth > 0 else 5)
        if kind == 0:
            return self.pick(["null", "true", "false"], ["True", "nul", "undefined", "tru", "falsee", ""])
        if kind in (1, 2):
            return self.pick(NUMBERS[:11], NUMBERS[11:])
        if kind in (3, 4):
            return self.string()
        if kind in (5, 6):
            return self.list("[", "]", [self.value(depth - 1) for _ in range(self.random.randrange(4))])
        names = self.random.sample(NAMES[:3] + NAMES[4:6], self.random.randrange(4))
        if self.random.random() < self.mistakes:
            names = [self.random.choice(NAMES) for _ in range(self.random.randrange(1, 4))]
        colon = self.pick([":"], ["", "=", "::"])
        return self.list(
            "{", "}", [f'"{name}"{self.blank()}{colon}{self.blank()}{self.value(depth - 1)}' for name in names]
        )

    def list(self, start, end, items):
        comma = self.pick([","], [",,", ";", ""])
        tail = self.pick([""], [","])
        inside = (self.blank() + comma + self.blank()).join(items)
        return start + self.blank() + inside + self.blank() + tail + self.pick([end], ["", "]", "}"])

    def text(self, depth=4):
        self.mistakes = self.random.choice([0, 0.05, 0.1, 0.2])
        if self.random.random() < 0.05:
            levels = self.random.choice([30, 31, 32, 33, 34])
            return "[" * levels + "]" * levels
        return self.blank() + self.value(depth) + self.blank() + self.pick([""], ["x", "1", ",", "\0"])


def payloads(seed, count):
    generator = Generator(seed)
    cases = []
    good = envelopes.Case("x").payload
    start = f'"id":"{envelopes.ID}","at":{envelopes.NOW}'
    while len(cases) < count:
        number, text = len(cases), generator.text()
        if number % 4 == 0:
            case = envelopes.Case(f"generated {number}: within an envelope").text(f'{good[:-1]},"x":{text}}}')
        elif number % 4 == 1:
            plain = f'{{{start},"content":{text}}}'.encode()
            if generator.random.random() < 0.1:
                place = generator.random.randrange(len(plain))
                plain = plain[:place] + bytes([generator.random.choice([0x80, 0xC0, 0xED, 0xF5, 0xFF])]) + plain[place:]
            case = envelopes.Case(f"generated {number}: content", plain=plain)
        elif number % 4 == 2:
            name = generator.random.choice(NAMES)
            case = envelopes.Case(f"generated {number}: a member", None).but(payload=f'{{"{name}":{text},"Body":"b"}}')
        else:
            case = envelopes.Case(f"generated {number}", None).but(payload=text)
        cases.append(case.json())
    return cases


ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


def read(members):
    """What an SDK reads in the members of a push."""
    if "secureId" not in members:
        return {"accepted": False, "reason": "foreign"}
    identity = members["secureId"]
    is_usable = reader.text(identity) and ID.match(identity)
    if not is_usable or members.get("withdraw", "1") != "1" or not reader.text(members.get("withdraw", "1")):
        return {"accepted": False, "reason": "SP-PUSH"}
    ts, sig = (members.get(name) if reader.text(members.get(name), 0, 128) else None for name in ("ts", "sig"))
    return {"accepted": True, "id": identity, "timestamp": ts, "signature": sig, "withdraw": "withdraw" in members}


UNUSABLE = {"accepted": False, "reason": "SP-PUSH"}


def read_text(text):
    if len(text.encode()) > 8_192:
        return UNUSABLE
    try:
        value = reader.StrictJSON(text).value
    except ValueError:
        return UNUSABLE
    return read(value) if type(value) is dict else UNUSABLE


def read_raw(text):
    if len(text.encode()) > 8_192:
        return UNUSABLE
    words = re.sub("\r?\n\\Z", "", text).split(" ")
    if len(words) not in (1, 2, 3, 4) or (len(words) in (2, 4)) != (len(words) > 1 and words[1] == "withdraw"):
        return UNUSABLE
    members = {"secureId": words[0]}
    if len(words) in (2, 4):
        members["withdraw"] = "1"
    if len(words) > 2:
        members["ts"], members["sig"] = words[-2:]
    return read(members)


def pushes(seed, count):
    generator = Generator(seed)
    cases = []
    ids = [envelopes.PUSHED, "7", "a" * 64, "a" * 65, "", "a b", "é", "..", "a/b", "\u0661", "aZ09-_", "a\n"]
    values = ["1", "", "0", "true", "1800000000", "A" * 86, "A" * 128, "A" * 129, "é" * 64, "é" * 65]
    names = ["ts", "ts", "sig", "sig", "withdraw", "withdraw", "aps", "SecureId", "x"]
    escaped = {"secureId": "secure\\u0049d", "withdraw": "w\\u0069thdraw", "ts": "t\\u0073"}
    for number in range(count):
        choose = generator.random.choice
        form = choose(["text", "text", "raw", "data", "object", "bytes"])
        lists = {"secureId": ids[:3] * 12 + ids, "withdraw": ["1"] * 9 + values}
        members = {
            name: choose(lists.get(name, values))
            for name in ["secureId"] * choose([0, 1, 1, 1, 1]) + [choose(names) for _ in range(choose([0, 0, 1, 2, 3]))]
        }
        if form == "raw":
            words = (
                [choose(ids[:3] * 4 + ids + ["withdraw"])]
                + choose([[], ["withdraw"]])
                + [
                    choose(["1800000000", "AA", "now", "A" * 128, "A" * 129, "withdraw"])
                    for _ in range(choose([0, 2, 2, 2, 1, 3]))
                ]
            )
            push = choose([" "] * 18 + ["  ", "\t"]).join(words) + choose([""] * 6 + ["\n", "\r\n", " ", "\n\n"])
            expect = read_raw(push)
        elif form == "data":
            push, expect = members, read(members)
        elif form == "object":
            push = {
                name: choose([value] * 12 + [7, True, None, [value], {"a": value}]) for name, value in members.items()
            }
            # Numbers of the reader are texts of a class of their own.
            expect = read({name: value if isinstance(value, str) else 0 for name, value in push.items()})
        else:
            generator.mistakes = choose([0, 0, 0, 0.05, 0.1])
            items = []
            for name, value in members.items():
                items.append(
                    f'"{choose([name, escaped.get(name, name)])}":{json.dumps(value, ensure_ascii=choose([True, False]))}'
                )
                if generator.random.random() < 0.2:
                    items.append(f'"more{len(items)}":{generator.value(3)}')
            if items and generator.random.random() < generator.mistakes * 2:
                items.append(choose(items))
            push = generator.blank() + generator.list("{", "}", items) + generator.blank()
            if form == "bytes":
                raw = push.encode()
                place = generator.random.randrange(len(raw) + 1)
                raw = raw[:place] + bytes([choose([0x80, 0xC0, 0xED, 0xF5, 0xFF])]) + raw[place:]
                push, expect = base64.b64encode(raw).decode(), UNUSABLE
            else:
                expect = read_text(push)
        platform = {"object": "apple", "data": "fcmv1", "raw": "windows"}.get(form, "browser")
        cases.append(
            {
                "name": f"generated {number}",
                "platform": platform,
                "sent": None,
                "form": form,
                "push": push,
                "expect": expect,
            }
        )
    return cases


def main(folder, seed="1", count="2000"):
    for name, version, cases in (
        ("e2e.json", 2, payloads(int(seed), int(count))),
        ("pushes.json", 1, pushes(int(seed), int(count))),
    ):
        lines = ",\n".join(envelopes.dump(case).replace("\ufeff", "\\ufeff") for case in cases)
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(f'{{"format": {version}, "cases": [\n{lines}\n]}}\n')
        refused = sum(not case["expect"].get("opened", case["expect"].get("accepted")) for case in cases)
        print(f"{name}: {len(cases)} cases, {refused} refused")


if len(sys.argv) not in (2, 3, 4):
    sys.exit(__doc__)
main(*sys.argv[1:])
