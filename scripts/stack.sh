#!/usr/bin/env bash
# The local stack without containers, in the background: scripts/stack.sh up | down | status [DIR]
#
# DIR is .securepush/local. The store is SQLite; STORE=postgres takes a private PostgreSQL. The broker is one RabbitMQ
# node; BROKER_NODES=3 takes a cluster of three, any one of which may die. Both stay as they are from run to run.
# DISPATCH_WITHDRAW, DISPATCH_REGISTERED_ONLY, HUB_TELEMETRY and HUB_PLATFORMS apply. STACK_NAME=VALUE gives every service the setting NAME, such as STACK_AUDIT_LOG.
# No other variable reaches the stack: it might be a setting of another installation.
# These listen on their default ports, or on free ones where these are taken. DIR/run holds process IDs, ports and logs.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$here/services.sh"

action=${1:-}
case $action in up | down | status) ;; *) usage ;; esac
folder=${2:-$here/../.securepush/local}
[ "$action" = status ] || stack_claim "$folder"
stack_use "$folder" STORE BROKER_NODES HUB_PLATFORMS DISPATCH_WITHDRAW DISPATCH_REGISTERED_ONLY \
    HUB_TELEMETRY

up() {
    if stack_is_up; then
        stack_read_ports
        local store=sqlite
        [ -z "$database_port" ] || store=postgres
        [ "${STORE:-$store}${BROKER_NODES:-$broker_nodes}" = "$store$broker_nodes" ] ||
            die "The stack runs with STORE=$store and BROKER_NODES=$broker_nodes; \`make down\` comes first."
        broker heal
        say "The stack is up already."
    else
        stack_stop
        exit_at_signals
        trap 'stack_failed' EXIT
        stack_start
        trap - EXIT INT TERM HUP
    fi
    usage_hints
}

usage_hints() {
    stack_read_ports
    say
    say "ingest      http://127.0.0.1:$ingest_port"
    say "retrieval   http://127.0.0.1:$retrieval_port"
    say "dispatcher  http://127.0.0.1:$dispatcher_port  (health and metrics)"
    say "the page    http://127.0.0.1:$emulator_port/  (what crossed the hub, what devices show)"
    say "operator    http://127.0.0.1:$operator_port/  (the operator's page)"
    say "a device    http://127.0.0.1:$emulator_port/emulator/app/  (your browser; the password is in $secrets/alice.password)"
    say
    say "Send something:"
    printf '  export INGEST_URL=http://127.0.0.1:%s INGEST_API_KEY="$(cat %q)"\n' "$ingest_port" "$secrets/ingest-api-key"
    say "  export RETRIEVAL_URL=http://127.0.0.1:$retrieval_port HUB_EMULATOR_URL=http://127.0.0.1:$emulator_port"
    printf '  %q device --user alice --platform apple --password-file %q &\n' "$bin/securepush" "$secrets/alice.password"
    printf '  %q send --to alice --payload "Your results are in."\n' "$bin/securepush"
}

# Processes whose record is gone are not stopped: nothing would tell them from those of another checkout.
down() {
    local port ports="8080 8081 8082 8083 8090" left=() was_recorded=
    ! stack_is_recorded || was_recorded=yes
    if [ -f "$run/ports" ]; then ports=$(sed -n 's/^[[:alpha:]]*_port=//p' "$run/ports"); fi
    [ -z "$was_recorded" ] || stack_stop
    for port in $ports; do port_is_free "$port" || left+=("$port"); done
    if [ -n "$was_recorded" ] && [ ${#left[@]} -eq 0 ]; then
        say "The stack is down; its data is in $stack."
        return
    fi
    [ -n "$was_recorded" ] || say "No process of a stack is on record in $run."
    [ ${#left[@]} -eq 0 ] || say "In use: port ${left[*]}. If a service of this stack listens there whose record was removed, stop that process yourself."
    [ -z "$was_recorded" ]
}

case $action in
    up) up ;;
    down) down ;;
    status) stack_status ;;
esac
