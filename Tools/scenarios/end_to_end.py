"""What is encrypted end to end is nowhere on the way: end_to_end.py.

Sends one secret with `securepush send --e2e`, signed and with pinned keys, and one envelope of Clients/vectors/e2e.json, whose content key is known, to
a device of alice. Then searches all files of the stack (database, broker, logs), what crossed the hub, and a core dump of
each service for both secrets and the content key. Needs gcore (Debian: gdb), and about 1 GB for one dump at a time.
"""
import base64
import json
import mmap
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

import stack

ROOT = pathlib.Path(__file__).parents[2]
BINARIES = pathlib.Path(os.environ.get("SECUREPUSH_BIN", ROOT / ".build/debug"))
SERVICES = ["ingest", "dispatcher", "retrieval"]
PASSWORD = (stack.FOLDER / "secrets/alice.password").read_text().strip()
ALICE = {"Authorization": "Basic " + base64.b64encode(f"alice:{PASSWORD}".encode()).decode(),
         "Content-Type": "application/json"}


def forms(secret):
    """As bytes, in hexadecimal, and in base64 at each of its alignments."""
    found = {secret, secret.hex().encode(), secret.hex().upper().encode()}
    for alignment in range(3):
        whole = secret[(3 - alignment) % 3:]
        text = base64.b64encode(whole[:len(whole) // 3 * 3])
        found |= {text, text.replace(b"+", b"-").replace(b"/", b"_")}
    return found


def hits(path, needles):
    """Which needles a file holds, and how many bytes it has."""
    size = os.path.getsize(path)
    if size == 0:
        return set(), 0
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return {name for name, texts in needles.items() if any(content.find(text) >= 0 for text in texts)}, size


def search(place, paths, needles, control):
    """Prints what is there; `control` must be found, or the search proves nothing."""
    found, bytes_searched = set(), 0
    for path in paths:
        try:
            some, size = hits(path, dict(needles, control=control))
        except (FileNotFoundError, PermissionError):
            continue
        found |= some
        bytes_searched += size
    leaks = sorted(found & set(SECRETS))
    others = sorted(found - set(SECRETS) - {"control"})
    print(f"{place}: {bytes_searched / 1e6:.1f} MB, found {leaks or 'nothing'}"
          + (f" (but {', '.join(others)})" if others else "")
          + ("" if "control" in found else "; the control was not found"), flush=True)
    return not leaks and "control" in found


def put(path, body):
    status, _, text = stack.request(stack.port("retrieval"), "PUT", path, json.dumps(body), ALICE)
    assert status in (200, 204), (path, status, text)


def send(*arguments):
    environment = dict(os.environ, INGEST_URL=f"http://127.0.0.1:{stack.port('ingest')}", INGEST_API_KEY=stack.KEY)
    run = subprocess.run([BINARIES / "securepush", "send", "--to", "alice", *arguments], env=environment,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip(), run.stderr.strip()


if not shutil.which("gcore"):
    sys.exit("gcore is missing (Debian: apt-get install gdb)")
vectors = json.loads((ROOT / "Clients/vectors/e2e.json").read_text())["cases"]
vector = next(case for case in vectors if case["name"] == "a text")
device = vector["device"]
put(f"/api/installations/{device}", {"platform": "fcmv1", "pushChannel": f"handle-{uuid.uuid4()}"})
put(f"/api/devices/{device}/key", {name: vector["privateKeys"][0][name] for name in ("kty", "crv", "x", "y")})

secret, plain = f"encrypted {uuid.uuid4()}", f"in the clear {uuid.uuid4()}"
with tempfile.TemporaryDirectory() as folder:
    key, pins = f"{folder}/sender-key.pem", f"{folder}/pins.json"
    subprocess.run([BINARIES / "securepush", "keys", "generate", "--sender", "--signing-key", key, "--jwks",
                    f"{folder}/sender-keys.json"], check=True, capture_output=True)
    first, told = send("--payload", secret, "--e2e", "--pin", pins, "--sign-with", key)
    print(f"sent {first}; {told}")
    assert vector["device"] in pathlib.Path(pins).read_text()
body = '{"Recipient":"alice","Payload":%s}' % vector["payload"]
status, _, text = stack.request(stack.port("ingest"), "POST", "/api/notifications", body)
assert status == 201, (status, text)
second = json.loads(text)["Id"]
third, _ = send("--payload", plain)
for identifier in (first, second, third):
    deadline = time.monotonic() + 60
    while stack.get_json(stack.port("ingest"), f"/api/notifications/{identifier}/status")["Status"] != "dispatched":
        assert time.monotonic() < deadline, f"{identifier} was not dispatched"
        time.sleep(0.2)
    answer = stack.get_json(stack.port("retrieval"), f"/api/notifications/{identifier}", ALICE)
    assert ("e2e" in answer["Payload"]) == (identifier != third), identifier
content_key = base64.urlsafe_b64decode(vector["sealing"]["contentKey"] + "=")
SECRETS = {"the secret of send --e2e": forms(secret.encode()),
           "the secret of the vector": forms(vector["expect"]["text"].encode()),
           "the content key of the vector": forms(content_key)}
NEEDLES = dict(SECRETS, **{"the plain payload": forms(plain.encode())})

files = [path for path in stack.FOLDER.rglob("*") if path.is_file() and "secrets" not in path.parts]
good = search("database, broker and logs", files, NEEDLES, {b"securepush.dispatch"})
with tempfile.TemporaryDirectory() as folder:
    messages = pathlib.Path(folder, "messages")
    messages.write_bytes(stack.request(stack.port("hub"), "GET", "/emulator/messages", None, {})[2])
    good &= search("what crossed the hub", [messages], NEEDLES, {first.encode()})
    for service in SERVICES:
        process = stack.pid(service)
        # Something that is in the process for certain: the longest of its settings.
        setting = max(pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0"), key=len)
        subprocess.run(["gcore", "-o", f"{folder}/core", str(process)], check=True, capture_output=True)
        core = f"{folder}/core.{process}"
        good &= search(f"core dump of {service}", [core], NEEDLES, {setting})
        os.remove(core)
sys.exit(0 if good else 1)
