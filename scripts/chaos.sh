#!/usr/bin/env bash
# The chaos test (docs/how-to/run-the-chaos-test.md): scripts/chaos.sh [ARGUMENT...], arguments as of `chaos --help`.
#
# Runs CHAOS (.build/debug/chaos), which starts the services of SECUREPUSH_BIN (.build/debug), in a temporary folder.
# Ends the processes of that folder afterwards, even if `chaos` itself was killed. The folder is removed if every
# criterion is met; CHAOS_DIRECTORY names one that is kept.
set -euo pipefail
. "$(dirname "$0")/common.sh"

bin=${SECUREPUSH_BIN:-$here/../.build/debug}
program=${CHAOS:-$here/../.build/debug/chaos}
[ -x "$program" ] || die "$program is missing; run \`make tools\` first."
case " $* " in *" --help "* | *" -h "* | *" --check-only "* | *" --plan-only "*) exec "$program" "$@" ;; esac
# What crosses to the services is on loopback; a proxy would only be in the way, and settings of another PostgreSQL too.
# shellcheck disable=SC2086 # names of variables
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY ${!PG*}

folder=${CHAOS_DIRECTORY:-}
if [ -n "$folder" ]; then mkdir -p "$folder"; else folder=$(mktemp -d "${TMPDIR:-/tmp}/securepush-chaos.XXXXXX"); fi
folder=$(cd "$folder" && pwd)

end_leftovers() {
    local file pid
    for file in "$folder"/run/*.pid; do
        if pid=$(recorded_process "$file"); then kill -KILL "$pid" 2>/dev/null || true; fi
    done
    if [ -f "$folder/rabbitmq/port" ]; then
        "$here/rabbitmq.sh" kill "$folder/rabbitmq" >/dev/null 2>&1 || true
        "$here/rabbitmq.sh" stop "$folder/rabbitmq" >/dev/null 2>&1 || true
    elif [ -d "$folder/rabbitmq" ] && [ -x "$here/rabbitmq-cluster.sh" ]; then
        "$here/rabbitmq-cluster.sh" stop "$folder/rabbitmq" >/dev/null 2>&1 || true
    fi
    if [ -d "$folder/postgres" ]; then "$here/postgres.sh" stop "$folder/postgres" >/dev/null 2>&1 || true; fi
}

finish() {
    ignore_signals
    if [ -n "${chaos:-}" ]; then kill -KILL "$chaos" 2>/dev/null || true; fi
    end_leftovers
}
[ -x "$bin/ingest" ] || die "$bin/ingest is missing; run \`make build\` first."
# Those of an earlier run in a folder that was kept.
end_leftovers
trap finish EXIT
"$program" --directory "$folder" --scripts "$here" --products "$bin" "$@" &
chaos=$!
trap 'kill -TERM "$chaos" 2>/dev/null || true' INT TERM
result=0
# A trap ends `wait`, and not the process.
while true; do
    result=0
    wait "$chaos" || result=$?
    kill -0 "$chaos" 2>/dev/null || break
done
chaos=
finish
if [ -z "${CHAOS_DIRECTORY:-}" ] && { [ "$result" -eq 0 ] || [ ! -f "$folder/history.ndjson" ]; }; then rm -rf "$folder"
else warn "History, logs and data are in $folder; scripts/chaos.sh --check-only $folder/history.ndjson judges it again."; fi
exit "$result"
