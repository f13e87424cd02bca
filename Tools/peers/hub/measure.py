#!/usr/bin/env python3
"""C
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
