"""Writes e2e.json and signatures.json, or compares them: `python3 write.py write|check`.

Needs https://pypi.org/project/cryptography/ 44 or later (else the exit code is 69). Nothing here comes from an SDK or
from the services.
"""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [FOLDER, os.path.join(FOLDER, "../../../Examples/Send")]

try:
    from cryptography import __version__ as version
except ImportError:
    version = "0"
if int(version.split(".")[0]) < 44:
    print("cryptography 44 or later is missing: pip install cryptography", file=sys.stderr)
    sys.exit(69)

import envelopes  # noqa: E402
import signatures  # noqa: E402


def content(version, cases):
    # Some readers drop a byte order mark, also within a string.
    lines = ",\n".join(envelopes.dump(case).replace("\ufeff", "\\ufeff") for case in cases)
    return f'{{"format": {version}, "cases": [\n{lines}\n]}}\n'


def main(action):
    for name, version, cases in (("e2e.json", 2, envelopes.cases()), ("signatures.json", 1, signatures.cases())):
        path = os.path.join(FOLDER, "..", name)
        if action == "write":
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(content(version, cases))
        else:
            with open(path, encoding="utf-8", newline="") as file:
                if file.read() != content(version, cases):
                    sys.exit(f"{name} is not what the reference makes. Run `write.py write`.")
        print(f"{name}: {len(cases)} cases")


if sys.argv[1:] not in (["write"], ["check"]):
    sys.exit(__doc__)
main(sys.argv[1])
