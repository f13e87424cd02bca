#!/usr/bin/env bash
# Tests the web SDK: the core by node's test runner, and the example in headless Chromium against the services.
#
# It installs nothing. SECUREPUSH_BIN names the folder of the services, by default .build/debug; CHROMIUM the browser.
set -euo pipefail
cd "$(dirname "$0")"

output=$(mktemp "${TMPDIR:-/tmp}/securepush-web.XXXXXX")
trap 'rm -f "$output"' EXIT
passed=0 failed=0
# One file after another: the stack, the browser and simulated hours would starve each other on two cores.
for file in test/*.test.mjs; do
    result=0
    node --import ./test/setup.mjs --test --test-reporter=tap "$file" >"$output" 2>&1 || result=$?
    # Names and figures; all of it if something failed.
    if [ $result -eq 0 ]; then grep -E '^ *(ok|# [A-Z0-9])' "$output" | grep -v '# Subtest'; else cat "$output"; fi
    # Steps within a test count, too.
    passed=$((passed + $(grep -cE '^ *ok [0-9]+ - ' "$output" || true)))
    broken=$(grep -cE '^ *not ok [0-9]+ - ' "$output" || true)
    [ $result -eq 0 ] || [ "$broken" -gt 0 ] || broken=1
    failed=$((failed + broken))
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
