#!/usr/bin/env python3
"""Counts what one operation of a hot path costs, and compares it with what is recorded.

    measure.py [--accept] [--json FILE] BINARY [NAME...]   run the operations under callgrind and compare
    measure.py --compare THRESHOLDS MEASURED               compare two files, for the test of this script

scripts/bench.sh builds the binary and calls this. Counted are instructions of all threads in user space, allocations
(calls of malloc and its relatives), and calls of swift_retain and swift_release, each for one operation. Times are not
measured: they differ by a factor of four on a machine that others use.

Each run gives two figures, because the operation is repeated twice as often as one figure needs. The smaller one
counts: what else happens in the process can only add. The difference is printed as the spread.

There is one run per core at a time. Operations with several threads, such as dispatcher.dispatch, take more
instructions if another run takes their turns: they wake up more often for less work. So a figure above the limit is
measured again alone, twice at most.
"""

import argparse
import concurrent.futures
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
THRESHOLDS = os.path.join(HERE, "thresholds.json")
LIMIT = 5  # per cent more than the recorded instructions, or less
TIME_LIMIT = 900  # seconds for one operation, which takes a few on a quiet machine
# `mark()` of the module Benchmarks: callgrind does not know how Swift writes names.
MARK = "$s10Benchmarks4markyyF"
ALLOCATIONS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
COUNTED = {
    "allocations": ALLOCATIONS,
    "retains": {"swift_retain", "swift_retain_n", "swift_bridgeObjectRetain"},
    "releases": {"swift_release", "swift_release_n", "swift_bridgeObjectRelease"},
}
HOW_TO_ACCEPT = "Accept it with `make bench ARGS=--accept`, commit Tools/Benchmarks/thresholds.json, and say why."


def parse(path):
    """The instructions of one file of callgrind's, and the calls of the functions that are counted."""
    calls = dict.fromkeys(COUNTED, 0)
    kinds = {name: kind for kind, names in COUNTED.items() for name in names}
    total, kind = None, None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("cfn="):
                kind = kinds.get(line[4:].strip().split("'")[0])
            elif line.startswith("calls=") and kind:
                calls[kind] += int(line[6:].split()[0])
            elif line.startswith(("totals:", "summary:")):
                total = int(line.split()[1])
    if total is None:
        raise SystemExit(f"{path} has no totals: did callgrind end early?")
    return {"instructions": total, **calls}


def measure(binary, name, count):
    """Runs one operation, and returns its figures per operation with the spread."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind")
        command = [
            "valgrind", "--quiet", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no",
            f"--dump-before={MARK}", f"--callgrind-out-file={out}", binary, name, str(count),
        ]
        # Hashes differ in each process otherwise, and with them the order in sets.
        environment = dict(os.environ, SWIFT_DETERMINISTIC_HASHING="1", TMPDIR=folder)
        try:
            run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"{name} did not end within {TIME_LIMIT} seconds.")
        if run.returncode:
            raise SystemExit(f"{name} failed with exit code {run.returncode}:\n{run.stdout}{run.stderr}")
        # The first part is the start and the first repetitions.
        parts = [parse(f"{out}.{number}") for number in (2, 3)]
    low, high = sorted(parts, key=lambda part: part["instructions"])
    figures = {key: round(value / count, 2) for key, value in low.items()}
    figures["instructions"] = round(figures["instructions"])
    spread = high["instructions"] / low["instructions"] - 1
    return figures, spread


def compare(thresholds, measured, names=None):
    """The problems, and the remarks: each a line that names the operation."""
    problems, remarks = [], []
    for name, figures in measured.items():
        if name not in thresholds:
            problems.append(f"{name} has no recorded figure. {HOW_TO_ACCEPT}")
            continue
        now, then = figures["instructions"], thresholds[name]["instructions"]
        change = now / then - 1
        if 100 * now > (100 + LIMIT) * then:
            problems.append(
                f"{name} takes {now:,} instructions, {change:+.1%} of the recorded {then:,}. "
                f"If that is the price of something wanted: {HOW_TO_ACCEPT}")
        elif 100 * now < (100 - LIMIT) * then:
            remarks.append(
                f"{name} takes {now:,} instructions, {change:+.1%} of the recorded {then:,}: record the gain.")
    for name in thresholds:
        if name not in measured and not names:
            problems.append(f"{name} is recorded, but there is no such operation any more. {HOW_TO_ACCEPT}")
    return problems, remarks


def toolchain():
    """What the figures depend on beside the sources."""
    text = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout
    version = re.search(r"Swift version (\d+\.\d+)", text)
    return {
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "swift": version[1] if version else "unknown",
    }


def table(measured, spreads, thresholds):
    head = ("operation", "instructions", "recorded", "change", "spread", "allocations", "retains", "releases")
    rows = [head]
    for name, figures in measured.items():
        then = thresholds.get(name, {}).get("instructions")
        rows.append((
            name, f"{figures['instructions']:,}", f"{then:,}" if then else "-",
            f"{figures['instructions'] / then - 1:+.1%}" if then else "-", f"{spreads[name]:.2%}",
            *(f"{figures[key]:,.1f}" for key in ("allocations", "retains", "releases"))))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        print("  ".join(
            text.ljust(width) if not column else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths))))


def finish(problems, remarks):
    for line in remarks:
        print(f"note: {line}")
    for line in problems:
        print(f"FAILED: {line}", file=sys.stderr)
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description="Counts instructions of hot paths.")
    parser.add_argument("--accept", action="store_true", help="record the figures")
    parser.add_argument("--compare", nargs=2, metavar=("THRESHOLDS", "MEASURED"))
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("binary", nargs="?")
    parser.add_argument("names", nargs="*", help="operations; all without any")
    options = parser.parse_args()
    if options.compare:
        thresholds, measured = (json.load(open(path))["operations"] for path in options.compare)
        return finish(*compare(thresholds, measured))
    if not options.binary:
        parser.error("name the binary")
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is not installed.")

    listed = subprocess.run([options.binary, "list"], capture_output=True, text=True, check=True).stdout
    counts = {name: int(count) for name, count in (line.split() for line in listed.splitlines())}
    unknown = [name for name in options.names if name not in counts]
    if unknown:
        raise SystemExit(f"There is no operation {unknown[0]}. There are: {', '.join(counts)}")
    counts = {name: count for name, count in counts.items() if not options.names or name in options.names}
    recorded = json.load(open(THRESHOLDS)) if os.path.exists(THRESHOLDS) else {}
    thresholds, here = recorded.get("operations", {}), toolchain()

    def one(name):
        return measure(options.binary, name, counts[name])

    def is_above(name, figures):
        then = thresholds.get(name, {}).get("instructions")
        return bool(then) and 100 * figures["instructions"] > (100 + LIMIT) * then

    results = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, result in zip(counts, pool.map(one, counts)):
            results[name] = result
            if sys.stderr.isatty():
                print(f"\r{len(results)} of {len(counts)}", end="\r", file=sys.stderr, flush=True)
    for name in results:
        for _ in range(2):
            if is_above(name, results[name][0]):
                results[name] = min(results[name], one(name), key=lambda result: result[0]["instructions"])
    measured = {name: figures for name, (figures, _) in results.items()}
    spreads = {name: spread for name, (_, spread) in results.items()}
    table(measured, spreads, thresholds)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"toolchain": here, "operations": measured, "spreads": spreads}, file, indent=1)
    if options.accept:
        kept = thresholds if options.names else {}
        with open(THRESHOLDS, "w") as file:
            json.dump({"toolchain": here, "operations": {**kept, **measured}}, file, indent=1)
            file.write("\n")
        print(f"Recorded {len(measured)} figures in Tools/Benchmarks/thresholds.json.")
        return 0
    if recorded.get("toolchain", here) != here:
        print(f"Not compared: the figures are of {recorded['toolchain']}, and this is {here}.")
        return 0
    return finish(*compare(thresholds, measured, options.names))


if __name__ == "__main__":
    sys.exit(main())
