#!/usr/bin/env bash
# The local stack without containers, in the background: scripts/stack.sh up | down | status [DIR]
#
# DIR is .securepush/local. The store is SQLite; STORE=postgres takes a private PostgreSQL. The broker is one RabbitMQ
# node; BROKER_NODES=3 takes a cluster of three, any one of which may die. Both stay as they are from run to run.
# The services get the settings of the caller's environment, such as OTEL_EXPORTER_OTLP_ENDPOINT, but for those that name
# a file, an address or another place, such as AUDIT_LOG: that might be another installation's. STACK_NAME=VALUE gives
# every service the setting NAME, whatever it is. RETRIEVAL_CORS_ORIGINS adds to the stack's own.
# These listen on their default ports, or on free ones where these are taken. DIR/run holds process IDs, ports and logs.
# DIR/env holds what the commands of `securepush` need to use the stack, for `. DIR/env`.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$here/services.sh"

action=${1:-}
case $action in up | down | status) ;; *) usage ;; esac
folder=${2:-$here/../.securepush/local}
[ "$action" = status ] || stack_claim "$folder"
[ "$action" != up ] || stack_take_settings "$folder"
stack_use "$folder" STORE BROKER_NODES

up() {
    if stack_is_up; then
        stack_read_ports
        local store=sqlite
        [ -z "$database_port" ] || store=postgres
        [ "${STORE:-$store}${BROKER_NODES:-$broker_nodes}" = "$store$broker_nodes" ] ||
            die "The stack runs with STORE=$store and BROKER_NODES=$broker_nodes; \`make down\` comes first."
        broker heal
        say "The stack is up already and was not restarted. \`make down\` before \`make up\` starts another build, or other settings."
        local missing
        missing=$(missing_settings)
        [ -z "$missing" ] || warn "It runs without these settings, or with others: $missing."
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
    say "hub         http://127.0.0.1:$hub_port/  (the page: what crossed the hub, what simulated devices show)"
    say "operator    http://127.0.0.1:$operator_port/  (the operator's page)"
    say "a device    http://127.0.0.1:$hub_port/emulator/app/  (your browser; the password is in $secrets/alice.password)"
    say
    say "In each terminal, for the commands (addresses, API key, database, broker, files of keys):"
    printf '  . %q\n' "$stack/env"
    say
    say "Send something:"
    printf '  securepush device --user alice --platform apple --password-file %q &\n' "$secrets/alice.password"
    say '  securepush send --to alice --payload "Your results are in."'
}

# Processes whose record is gone are not stopped: nothing would tell them from those of another checkout.
down() {
    local port ports="8080 8081 8082 8083 8085" left=() was_recorded=
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
