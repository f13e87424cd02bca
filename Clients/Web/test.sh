#!/usr/bin/env bash
# Tests the web SDK: the core by node's test runner, and the example in headless Chromium against the services.
#
# It installs nothing. SECUREPUSH_BIN names the folder of the services, by default .build/debug; CHROMIUM the browser.
set -euo pipefail
cd "$(dirname "$0")"

output=$(mktemp "${TMPDIR:-/tmp}/securepush-web.XXXXXX")
trap 'rm -f "$output"' EXIT
result=0
node --import ./test/setup.mjs --test --test-reporter=tap test/*.test.mjs >"$output" 2>&1 || result=$?
# Names and figures; all of it if something failed.
if [ $result -eq 0 ]; then grep -E '^( *)(ok|not ok|# [A-Z0-9])' "$output" | grep -v '# Subtest'; else cat "$output"; fi

# Subtests count; a test that holds others does not.
passed=$(grep -cE '^ *ok [0-9]+ - ' "$output" || true)
failed=$(grep -cE '^ *not ok [0-9]+ - ' "$output" || true)
[ $result -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
