#!/usr/bin/env bash
# Runs the test targets one after another, and says at the end how many tests passed.
#
# One after another and not all at once: many suites start servers or keep every thread busy on purpose, and have a
# limit of minutes, so that a hang is named. Within a target they run in parallel, except for the end-to-end tests.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=1200 # seconds for one target, so that what hangs is named
passed=0 failed=0 broken=()
output=$(mktemp "${TMPDIR:-/tmp}/securepush-tests.XXXXXX")
issues=$(mktemp "${TMPDIR:-/tmp}/securepush-issues.XXXXXX")
trap 'rm -f "$output" "$issues"' EXIT

for folder in Tests/*Tests Tools/Tests/*Tests Clients/Swift/Tests/*Tests; do
    target=$(basename "$folder")
    test=(swift test)
    # Each of these tests starts processes and servers of its own; several at once starve each other on two cores.
    case $target in EndToEndTests) test+=(--no-parallel) ;; esac
    start=$SECONDS result=0
    if command -v timeout >/dev/null; then bounded=(timeout --foreground "$limit"); else bounded=(); fi
    "${bounded[@]}" "${test[@]}" --skip-build --disable-xctest --filter "^$target\\." >"$output" 2>&1 || result=$?
    # "Test run with 12 tests in 3 suites passed after ...", "... failed after 1.2 seconds with 3 issues."
    tests=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$output" | tail -1)
    failures=$(grep -E '^✘ Test .* failed after ' "$output" | grep -cv '^✘ Test run with ' || true)
    if [ "$result" -eq 0 ] && [ "${tests:-0}" -gt 0 ]; then
        passed=$((passed + tests))
        printf '%-24s %4d tests passed in %d s\n' "$target" "$tests" $((SECONDS - start))
        grep -E '^[0-9]+ commands of ' "$output" || true # what DocumentTests ran
        continue
    fi
    [ "${failures:-0}" -gt 0 ] || failures=1
    failed=$((failed + failures)) passed=$((passed + ${tests:-failures} - failures))
    broken+=("$target")
    cat "$output"
    grep -A 6 -E '^✘ .* recorded an issue|Fatal error' "$output" >>"$issues" || true
    printf '%-24s failed after %d s (exit code %d)\n' "$target" $((SECONDS - start)) "$result"
done

# The issues once more, so that the end of a log says why it failed.
head -c 20000 "$issues"
[ ${#broken[@]} -eq 0 ] || printf 'Failed: %s\n' "${broken[*]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
