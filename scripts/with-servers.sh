#!/usr/bin/env bash
# Runs a command beside a private RabbitMQ and a private PostgreSQL, and stops both: scripts/with-servers.sh COMMAND...
#
# Data is in a temporary folder; SECUREPUSH_TEST_AMQP_URL and SECUREPUSH_TEST_DATABASE_URL name the two. A server whose
# variable is set already is that of the caller. Prints nothing after the command, so that what the command says last is
# what stands last.
set -euo pipefail
. "$(dirname "$0")/common.sh"
[ $# -gt 0 ] || usage
# libpq in the tests would take settings of another PostgreSQL from these.
# shellcheck disable=SC2086 # names of variables
unset ${!PG*}

folder=$(mktemp -d "${TMPDIR:-/tmp}/securepush.XXXXXX")
stop_servers() {
    ignore_signals
    # It may still be starting.
    if [ -n "${postgres:-}" ]; then kill "$postgres" 2>/dev/null && wait "$postgres" || true; fi
    "$here/rabbitmq.sh" stop "$folder/rabbitmq" >/dev/null 2>&1 || true
    "$here/postgres.sh" stop "$folder/postgres" >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap stop_servers EXIT
exit_at_signals

start=$SECONDS
if [ -z "${SECUREPUSH_TEST_DATABASE_URL:-}" ]; then
    database_port=$(free_ports 1)
    "$here/postgres.sh" start "$folder/postgres" "$database_port" >"$folder/postgres.out" 2>&1 &
    postgres=$!
    export SECUREPUSH_TEST_DATABASE_URL="postgres://securepush@127.0.0.1:$database_port/securepush"
fi
if [ -z "${SECUREPUSH_TEST_AMQP_URL:-}" ]; then
    amqp_port=$(free_ports 3)
    "$here/rabbitmq.sh" start "$folder/rabbitmq" "$amqp_port" || die "RabbitMQ did not start" 69
    export SECUREPUSH_TEST_AMQP_URL="amqp://guest:guest@127.0.0.1:$amqp_port/%2F"
fi
if [ -n "${postgres:-}" ]; then
    wait "$postgres" || {
        cat "$folder/postgres.out" >&2
        die "PostgreSQL did not start" 69
    }
    postgres=
fi
warn "RabbitMQ and PostgreSQL are there after $((SECONDS - start)) s"

result=0
"$@" || result=$?
exit "$result"
