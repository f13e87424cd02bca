#!/usr/bin/env bash
# Runs the suites of tests one after another, and says at the end how many tests passed: scripts/suites.sh [SUITE...]
#
# A test target is one suite. Of the end-to-end tests, which start processes and servers one test after another, each file
# is one. Two suites at a time took longer on two cores, and tests that compute were starved and failed by their deadlines.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=1200 # seconds for one suite, so that what hangs is named
bundle=${SECUREPUSH_BIN:-.build/debug}/securepushPackageTests.xctest
if [ -f "$bundle" ]; then
    test=("$bundle" --testing-library swift-testing) list=("$bundle" --testing-library swift-testing --list-tests)
else
    # On macOS the bundle is no program.
    test=(swift test --skip-build --disable-xctest) list=(swift test list --skip-build --disable-xctest)
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/securepush-suites.XXXXXX")
trap 'rm -rf "$folder"' EXIT
output=$folder/output

# "IngestTests.BatchTests/name()" is of the suite IngestTests, "EndToEndTests.DrainTests/name()" of one of its own.
"${list[@]}" 2>"$folder/errors" | sed -nE 's/^(EndToEndTests\.[A-Za-z]+)\/.*/\1/p; t; s/^([A-Za-z]+Tests)\..*/\1/p' |
    sort -u >"$folder/suites" || true
suites=()
for name in "${@:-[A-Za-z]+Tests}"; do
    while read -r suite; do suites+=("$suite"); done < <(grep -E "^${name//./\\.}(\.|$)" "$folder/suites" || true)
done
[ ${#suites[@]} -gt 0 ] || { cat "$folder/errors" && echo "There are no such tests." && exit 1; } >&2

bounded() { if command -v timeout >/dev/null; then timeout --foreground "$limit" "$@"; else "$@"; fi; }

passed=0 failed=0 broken=()
for suite in "${suites[@]}"; do
    filter=(--filter "^${suite//./\\.}[./]")
    case $suite in EndToEndTests.*) filter+=(--no-parallel) ;; esac
    start=$SECONDS result=0
    bounded "${test[@]}" "${filter[@]}" >"$output" 2>&1 || result=$?
    # "Test run with 12 tests in 3 suites passed after ...", "... failed after 1.2 seconds with 3 issues."
    tests=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$output" | tail -1)
    failures=$(grep -E '^✘ Test .* failed after ' "$output" | grep -cv '^✘ Test run with ' || true)
    if [ "$result" -eq 0 ] && [ "${tests:-0}" -gt 0 ]; then
        passed=$((passed + tests))
        printf '%-40s %4d tests passed in %d s\n' "$suite" "$tests" $((SECONDS - start))
        grep -E '^[0-9]+ commands of ' "$output" || true # what DocumentTests ran
        continue
    fi
    [ "${failures:-0}" -gt 0 ] || failures=1
    failed=$((failed + failures)) passed=$((passed + ${tests:-failures} - failures))
    broken+=("$suite")
    cat "$output"
    grep -A 6 -E '^✘ .* recorded an issue|Fatal error' "$output" >>"$folder/issues" || true
    printf '%-40s failed after %d s (exit code %d)\n' "$suite" $((SECONDS - start)) "$result"
done

# The issues once more, so that the end of a log says why it failed.
[ ! -f "$folder/issues" ] || head -c 20000 "$folder/issues"
[ ${#broken[@]} -eq 0 ] || printf 'Failed: %s\n' "${broken[*]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
