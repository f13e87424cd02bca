#!/usr/bin/env bash
# Tests both running APIs by their own /openapi.json: scripts/schemathesis.sh [EXAMPLES]
#
# Starts a stack in a temporary folder, and schemathesis (https://schemathesis.io) against ingest and retrieval with all
# of its checks; EXAMPLES, 100 unless given, bounds the cases of an operation and phase. STORE=postgres takes a private
# PostgreSQL instead of SQLite. HOOKS=none leaves the hooks out, and fails by the rules that JSON Schema cannot
# express: see docs/contributing/tests.md. Needs `make build`, Python 3 and, the first time, PyPI: schemathesis goes into
# .build/schemathesis. Reports are in .build/schemathesis/reports.
set -euo pipefail
. "$(dirname "$0")/common.sh"
examples=${1:-100}
reports=$here/../.build/schemathesis/reports
program=${SCHEMATHESIS:-$(python_with schemathesis schemathesis==4.32.5)/schemathesis}

stack=$(mktemp -d "${TMPDIR:-/tmp}/schemathesis.XXXXXX")
finish() {
    "$here/stack.sh" down "$stack" >/dev/null || true
    rm -rf "$stack"
}
trap finish EXIT
"$here/stack.sh" up "$stack" >/dev/null
. "$stack/run/ports"
INGEST_API_KEY=$(cat "$stack/secrets/ingest-api-key")
ALICE_PASSWORD=$(cat "$stack/secrets/alice.password")
RETRIEVAL_TOKEN=$(ask -f -X POST -u "alice:$ALICE_PASSWORD" "http://127.0.0.1:$retrieval_port/api/token" |
    sed 's/.*"access_token":"\([^"]*\)".*/\1/')
export INGEST_API_KEY ALICE_PASSWORD RETRIEVAL_TOKEN
export PYTHONDONTWRITEBYTECODE=1
[ "${HOOKS:-}" = none ] || export PYTHONPATH=$here/schemathesis SCHEMATHESIS_HOOKS=hooks

# Something to read.
ask -f -o "$stack/sent.json" -H "Authorization: Bearer $INGEST_API_KEY" -H "Content-Type: application/json" \
    -d '{"Recipient": "alice", "Payload": "Your results are in."}' "http://127.0.0.1:$ingest_port/api/notifications"

result=0
# test_api NAME PORT OPTIONS...
test_api() {
    local name=$1 port=$2
    shift 2
    heading "$name"
    "$program" --config-file "$here/schemathesis/schemathesis.toml" run "http://127.0.0.1:$port/openapi.json" \
        --checks all --max-examples "$examples" --seed 1 --continue-on-failure \
        --report json --report-json-path "$reports/$name.json" "$@" || result=1
}
# use_after_free expects 404 after a DELETE. By the contract DELETE revokes: the payload is destroyed, a repeat is 204,
# and its sender still sees that it was ("Status":"revoked"). `RevokeNotificationTests` hold that in its place.
test_api ingest "$ingest_port" --exclude-checks use_after_free
test_api retrieval "$retrieval_port"
exit $result
