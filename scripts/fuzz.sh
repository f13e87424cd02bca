#!/usr/bin/env bash
# Coverage-guided fuzzing of everything that reads bytes from outside: scripts/fuzz.sh [SECONDS] [READER...]
#
# Builds the readers instrumented for libFuzzer (which is in the Swift toolchains for Linux), runs each for SECONDS (60)
# from the inputs in Tests/Fuzz/Corpus, and prints a table. Exit code 1 when one crashed: its input is then in
# $FUZZ_DIR/READER/crash-*, and "fuzz READER FILE" runs it again. Inputs found on the way stay in $FUZZ_DIR for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
[ $# -eq 0 ] || shift
scratch=${FUZZ_SCRATCH:-.build-fuzz}
dir=${FUZZ_DIR:-$scratch/fuzzing}
export SECUREPUSH_FUZZ=1 SWIFT_BACKTRACE=enable=no

swift build -c release --product fuzz --scratch-path "$scratch" >&2
fuzz=$(swift build -c release --product fuzz --scratch-path "$scratch" --show-bin-path)/fuzz
readers=("$@")
[ ${#readers[@]} -gt 0 ] || mapfile -t readers < <("$fuzz" --list)

failed=0
echo "| reader | executions | crashes | branches reached | inputs kept |"
echo "| --- | --- | --- | --- | --- |"
for reader in "${readers[@]}"; do
    found=$dir/$reader
    mkdir -p "$found/corpus"
    # -timeout: an input that takes longer is a hang, and counts as a crash.
    "$fuzz" "$reader" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$found/" "$found/corpus" "Tests/Fuzz/Corpus/$reader" >"$found/log" 2>&1 || failed=1
    executions=$(awk '/stat::number_of_executed_units/ { print $2 }' "$found/log")
    branches=$(grep -oE 'cov: [0-9]+' "$found/log" | tail -1 | cut -d' ' -f2)
    crashes=$(find "$found" -maxdepth 1 \( -name 'crash-*' -o -name 'timeout-*' -o -name 'oom-*' \) | wc -l)
    echo "| $reader | ${executions:-0} | $crashes | ${branches:-0} | $(find "$found/corpus" -type f | wc -l) |"
done
exit $failed
