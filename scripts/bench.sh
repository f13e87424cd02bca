#!/usr/bin/env bash
# Counts the instructions of hot paths and compares them with Tools/Benchmarks/thresholds.json:
# scripts/bench.sh [--accept] [NAME...]
#
# It builds Tools/Benchmarks for release in a folder of its own, because these builds are testable and their services
# have no entry point: `swift build` must not take them for its own. Then callgrind runs each operation; see
# Tools/Benchmarks/measure.py. BENCH_SCRATCH names another folder for the build.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."

if [ "$(uname -s)" != Linux ]; then
    say "make bench counts instructions with valgrind, which needs Linux: nothing was measured. \
In a container, for example: docker run --rm -it -v \"\$PWD:/src\" -w /src swift:6.3 make bench"
    exit 0
fi
"$here/install-dependencies.sh" bench
scratch=${BENCH_SCRATCH:-.build/benchmarks}
# Valgrind cannot read the debug information of this compiler, so the linker leaves it out.
build=(swift build -c release --static-swift-stdlib --scratch-path "$scratch" --product micro-benchmarks -Xlinker -S)
SECUREPUSH_BENCHMARKS=1 timed "build" "${build[@]}"
exec python3 Tools/Benchmarks/measure.py "$scratch/release/micro-benchmarks" "$@"
