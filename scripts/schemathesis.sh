#!/usr/bin/env bash
# Tests both running APIs by their own /openapi.json, on both stores: scripts/schemathesis.sh [EXAMPLES]
#
# Starts a stack on SQLite and one on PostgreSQL, each in a temporary folder, and schemathesis (https://schemathesis.io)
# against ingest and retrieval with all of its checks, without hooks. EXAMPLES, 10 unless given, bounds the generated
# cases of an operation and phase. STORE=sqlite or STORE=postgres takes one store. Needs `make build`, Python 3 and, the
# first time, PyPI: schemathesis goes into .build/schemathesis. Reports are in .build/schemathesis/reports.
#
# The last line counts runs, one for each API and store: "N passed, M failed".
set -euo pipefail
. "$(dirname "$0")/common.sh"
examples=${1:-10}
home=$here/../.build/schemathesis
[ -x "${SECUREPUSH_BIN:-$here/../.build/debug}/operator" ] || make -C "$here/.." build
program=${SCHEMATHESIS:-$(python_with schemathesis schemathesis==4.32.5)/schemathesis}

stack='' passed=0 failed=0
finish() {
    [ -n "$stack" ] || return 0
    "$here/stack.sh" down "$stack" >/dev/null || true
    rm -rf "$stack"
}
trap finish EXIT
exit_at_signals

# use_after_free expects 404 after a DELETE. By the contract DELETE revokes: the payload is destroyed, a repeat is 204,
# and its sender still sees that it was ("Status":"revoked"). `RevokeNotificationTests` hold that in its place.
# test_api NAME PORT STORE
test_api() {
    local excluded=()
    [ "$1" != ingest ] || excluded=(--exclude-checks use_after_free)
    "$program" --config-file "$here/schemathesis/$1.toml" run "http://127.0.0.1:$2/openapi.json" --checks all \
        ${excluded[@]+"${excluded[@]}"} --max-examples "$examples" --seed 1 --continue-on-failure \
        --report json --report-json-path "$home/reports/$1-$3.json" >"$home/$1-$3.log" 2>&1
}

test_store() {
    local name runs=()
    stack=$(mktemp -d "${TMPDIR:-/tmp}/schemathesis.XXXXXX")
    STORE=$1 STACK_TRUSTED_PROXIES=127.0.0.1 "$here/stack.sh" up "$stack" >/dev/null
    . "$stack/run/ports"
    INGEST_API_KEY=$(cat "$stack/secrets/ingest-api-key")
    ALICE_PASSWORD=$(cat "$stack/secrets/alice.password")
    RETRIEVAL_TOKEN=$(ask -f -X POST -u "alice:$ALICE_PASSWORD" "http://127.0.0.1:$retrieval_port/api/token" |
        sed 's/.*"access_token":"\([^"]*\)".*/\1/')
    export INGEST_API_KEY ALICE_PASSWORD RETRIEVAL_TOKEN
    # Something to read.
    ask -f -o "$stack/sent.json" -H "Authorization: Bearer $INGEST_API_KEY" -H "Content-Type: application/json" \
        -d '{"Recipient": "alice", "Payload": "Your results are in."}' "http://127.0.0.1:$ingest_port/api/notifications"
    test_api ingest "$ingest_port" "$1" &
    runs=($!)
    test_api retrieval "$retrieval_port" "$1" &
    runs+=($!)
    for name in ingest retrieval; do
        if wait "${runs[0]}"; then passed=$((passed + 1)); else
            failed=$((failed + 1))
            cat "$home/$name-$1.log"
        fi
        runs=("${runs[@]:1}")
        say "$name on $1: $(tail -n 1 "$home/$name-$1.log" | tr -d =)"
    done
    finish
    stack=''
}

mkdir -p "$home/reports"
for store in ${STORE:-sqlite postgres}; do test_store "$store"; done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
