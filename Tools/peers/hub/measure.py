#!/usr/bin/env python3
"""Compares `securepush serve hub` with a Go program that does the same: pushes per second, CPU, memory.

    Tools/peers/hub/measure.py [--platforms apple,browser] [--rounds 3] [--seconds 8] [--chain] FOLDER

FOLDER has the programs of build.sh. SECUREPUSH names the release build. The servers are private: a PostgreSQL, and a
push service per platform that answers at once. wrk sends to one of many users at a time over some connections. Rounds
of the two are interleaved, and only one of them works at a time. CPU is that of the process, and that of PostgreSQL
beside it. `idle` is the share of the machine's CPU time that nobody used. Figures of two runs are not to be compared
on a machine that does other things: the ratios of one are.

--chain measures all parts instead, from the POST to ingest to the push: with hub, and with a stand-in for a hub in its
place (chain.py).
"""

import argparse
import os
import sys
import tempfile

import bench
import chain


def main():
    parser = argparse.ArgumentParser(description="Compares the hub with a Go program.")
    parser.add_argument("folder", help="the programs of build.sh")
    parser.add_argument("--platforms", default="apple,browser")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--chain", action="store_true", help="measure all parts from ingest to the push")
    parser.add_argument("--latency", default="0s", help="how long the push services take, such as 20ms")
    parser.add_argument("--securepush", default=os.environ.get("SECUREPUSH", f"{bench.ROOT}/.build/release/securepush"))
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    with tempfile.TemporaryDirectory() as folder:
        # PostgreSQL runs as another user there.
        os.chmod(folder, 0o755)
        work = bench.Bench(options, folder)
        try:
            work.run(chain.measure_chain if options.chain else None)
        except BaseException:
            for process in work.processes:
                process.log.flush()
                text = open(process.log.name, errors="replace").read()[-1500:]
                print(f"--- {process.name}\n{text}", file=sys.stderr)
            raise
        finally:
            work.stop()


if __name__ == "__main__":
    main()
