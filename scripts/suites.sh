#!/usr/bin/env bash
# Runs the suites of tests beside each other, and says at the end how many tests passed: scripts/suites.sh [SUITE...]
#
# Two run at a time: one that computes, and one that mostly waits, for servers, leases and pauses. With a third, tests
# that compute were starved on two cores, and failed by their deadlines. A test target is one suite. Of the end-to-end
# tests, which start processes and servers one test after another, each file is one.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=1200 # seconds for one suite, so that what hangs is named
# What waits, the longest first. Every other suite computes.
waiting="EndToEndTests.OutcomeDeliveryTests EndToEndTests.LogFaultTests ChaosTests ExamplesTests DocumentTests AMQPTests
    EndToEndTests.HTTPClientTests EndToEndTests.LocalStackProcessTests EndToEndTests.LeastRightsTests MessagingTests
    EndToEndTests"

bundle=${SECUREPUSH_BIN:-.build/debug}/securepushPackageTests.xctest
if [ -f "$bundle" ]; then
    test=("$bundle" --testing-library swift-testing) list=("$bundle" --testing-library swift-testing --list-tests)
else
    # On macOS the bundle is no program, and SwiftPM runs one command at a time, so there is one lane.
    test=(swift test --skip-build --disable-xctest) list=(swift test list --skip-build --disable-xctest)
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/securepush-suites.XXXXXX")
lanes=$folder/lanes

stop() {
    trap '' INT TERM HUP
    trap - EXIT
    local pid
    while read -r pid; do kill -TERM -- "-$pid" 2>/dev/null || true; done < <(cat "$lanes" 2>/dev/null)
    rm -rf "$folder"
    exit "$1"
}
trap 'stop $?' EXIT
trap 'stop 130' INT
trap 'stop 143' TERM
trap 'stop 129' HUP

# "IngestTests.BatchTests/name()" is of the suite IngestTests, "EndToEndTests.DrainTests/name()" of one of its own.
"${list[@]}" 2>"$folder/errors" | sed -nE 's/^(EndToEndTests\.[A-Za-z]+)\/.*/\1/p; t; s/^([A-Za-z]+Tests)\..*/\1/p' |
    sort -u >"$folder/suites" || true
# named NAME...: the suites that have these names, or are of these targets.
named() {
    local name
    for name in "$@"; do grep -E "^${name//./\\.}(\.|$)" "$folder/suites" || true; done
}
if [ $# -gt 0 ]; then
    named "$@" | sort -u >"$folder/chosen"
    mv "$folder/chosen" "$folder/suites"
fi
[ -s "$folder/suites" ] || { cat "$folder/errors" && echo "There are no such tests." && exit 1; } >&2
waits=() computing=()
# shellcheck disable=SC2086 # names
while read -r suite; do waits+=("$suite"); done < <(named $waiting)
while read -r suite; do
    case " ${waits[*]} " in *" $suite "*) ;; *) computing+=("$suite") ;; esac
done <"$folder/suites"

bounded() { if command -v timeout >/dev/null; then timeout --foreground "$limit" "$@"; else "$@"; fi; }

# Runs those suites of a list that no other lane has taken.
lane() {
    local suite start result filter
    for suite in "$@"; do
        mkdir "$folder/$suite" 2>/dev/null || continue
        filter=(--filter "^${suite//./\\.}[./]")
        case $suite in EndToEndTests.*) filter+=(--no-parallel) ;; esac
        start=$SECONDS result=0
        bounded "${test[@]}" "${filter[@]}" >"$folder/$suite/output" 2>&1 </dev/null || result=$?
        echo "$suite $result $((SECONDS - start))"
    done
}

# Job control gives each lane a process group, and SIGINT, which bash has other background jobs ignore: tests send it to
# the scripts that they start.
run_lanes() {
    set -m
    lane "${computing[@]}" "${waits[@]}" &
    echo $! >"$lanes"
    if [ -f "$bundle" ]; then
        lane "${waits[@]}" "${computing[@]}" &
        echo $! >>"$lanes"
    fi
    wait
    : >"$lanes"
}

passed=0 failed=0 broken=()
report() {
    local suite=$1 result=$2 seconds=$3 output=$folder/$1/output tests failures
    # "Test run with 12 tests in 3 suites passed after ...", "... failed after 1.2 seconds with 3 issues."
    tests=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$output" | tail -1)
    failures=$(grep -E '^✘ Test .* failed after ' "$output" | grep -cv '^✘ Test run with ' || true)
    if [ "$result" -eq 0 ] && [ "${tests:-0}" -gt 0 ]; then
        passed=$((passed + tests))
        printf '%-40s %4d tests passed in %d s\n' "$suite" "$tests" "$seconds"
        grep -E '^[0-9]+ commands of ' "$output" || true # what DocumentTests ran
        return
    fi
    [ "${failures:-0}" -gt 0 ] || failures=1
    failed=$((failed + failures)) passed=$((passed + ${tests:-failures} - failures))
    broken+=("$suite")
    cat "$output"
    grep -A 6 -E '^✘ .* recorded an issue|Fatal error' "$output" >>"$folder/issues" || true
    printf '%-40s failed after %d s (exit code %d)\n' "$suite" "$seconds" "$result"
}
while read -r suite result seconds; do report "$suite" "$result" "$seconds"; done < <(run_lanes)

# The issues once more, so that the end of a log says why it failed.
[ ! -f "$folder/issues" ] || head -c 20000 "$folder/issues"
[ ${#broken[@]} -eq 0 ] || printf 'Failed: %s\n' "${broken[*]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
