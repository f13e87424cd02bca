# shellcheck shell=bash
# Sourced by stack.sh, demo.sh and scenario.sh: starts and stops the servers and services of one local stack.
#
# A stack lives in a folder: secrets/, rabbitmq/ or rabbitmq-cluster/ (BROKER_NODES=3), the database, and run/ with process
# IDs, ports and logs.

services="hub ingest dispatcher retrieval operator"

# Of the caller's environment, every program of a stack sees these alone. Others may be settings of another installation:
# with AUDIT_LOG or AUTH_USERS_FILE the stack would write into files that are not its own.
ordinary_variables="PATH HOME USER LANG LC_ALL LC_CTYPE TERM COLUMNS NO_COLOR TMPDIR SECUREPUSH_BIN RABBITMQ_BIN"

# stack_take_settings DIR: gives the settings of the caller's environment to every service of the stack in DIR, as
# STACK_NAME=VALUE does. Settings that name a place are left: the stack has its own, and must not write into another's.
stack_take_settings() {
    local name variable taken='' left=''
    find_programs
    [ -x "$bin/securepush" ] || return 0
    while read -r name variable; do
        case $name in
            # Nothing of a stack is beyond loopback, which has no proxy.
            *_PROXY | SSL_CERT_*) ;;
            AUDIT_LOG | HTTP_HOST | HTTP_PORT | HUB_CONNECTION_STRING | HUB_INSECURE_HOST | HUB_NAME | *_FILE | *_URL | EMULATOR_CONNECTION_STRING | EMULATOR_WEB_APP | WEB_PUSH_PUBLIC_KEY)
                grep -qs "^export $name=" "$1/env" || left="$left $name"
                ;;
            *)
                taken="$taken $name"
                export "STACK_$name=${!variable}"
                ;;
        esac
    done < <(caller_settings)
    [ -z "$taken" ] || say "Settings of your environment for the services:$taken"
    [ -z "$left" ] || say "Not taken, because they name a place that may be another installation's:$left. STACK_NAME=VALUE gives the services the setting NAME."
}

# The settings in the environment, each with the name of its variable. An invalid one is a service's to refuse.
caller_settings() {
    { "$bin/securepush" config show 2>/dev/null || true; } |
        awk '$2 == "environment" { print $1, $1 } $2 ~ /^SECUREPUSH_/ { print $1, $2 }'
    compgen -e EMULATOR_ | sed 's/.*/& &/' || true
}

find_programs() {
    bin=${SECUREPUSH_BIN:-$here/../.build/debug}
    bin=$(cd "$bin" 2>/dev/null && pwd || echo "$bin")
}

# stack_use DIR [VARIABLE...]: chooses the folder of the stack, on which every other function works, and the variables of
# the caller that the stack takes. STACK_NAME=VALUE gives its services the setting NAME.
stack_use() {
    local variable
    for variable in $(compgen -e); do
        case " $ordinary_variables ${*:2} SHELLOPTS BASHOPTS " in *" $variable "*) continue ;; esac
        case $variable in
            STACK_*) [ $# -eq 1 ] || continue ;;
            # It may have the name of a variable of these scripts.
            *[[:lower:]]*) export -n "${variable?}" && continue ;;
        esac
        unset "$variable"
    done
    make_folder "$1"
    stack=$(cd "$1" && pwd)
    secrets=$stack/secrets run=$stack/run
    mkdir -p "$run"
    broker_nodes=$(sed -n 's/^broker_nodes=//p' "$run/ports" 2>/dev/null || true)
    database_port=
    find_programs
}

# Made closed and then left alone: PostgreSQL's user must be let through to its own folder.
make_folder() { [ -d "$1" ] || { mkdir -p "$1" && chmod 700 "$1"; }; }

# stack_claim DIR: takes the folder of a stack for this script, until it ends.
stack_claim() {
    make_folder "$1"
    [ -w "$1" ] || die "$1 belongs to $(ls -ld "$1" | awk '{ print $3 }'): work as that user, or remove it." 77
    take_lock "$1/lock" || die "Process $(head -n 1 "$1/lock") starts, runs or stops the stack in $1 already." 75
}

# What the stack kept of its last run goes, but for keys and users.
stack_clear() {
    stack_stop
    rm -rf "$stack"/rabbitmq "$stack"/rabbitmq-cluster "$stack"/postgres "$stack"/securepush.sqlite* "$run"
    mkdir -p "$run"
}

stack_start() {
    local name starting deadline=$((SECONDS + 300))
    starting=/tmp/securepush-starting-$(id -u)
    for name in securepush $services; do
        [ -x "$bin/$name" ] || die "$bin/$name is missing; run \`make build\` first."
    done
    "$bin/securepush" setup --directory "$stack" >"$run/setup.out"
    # Ports are chosen before they are taken: one stack after the other.
    until take_lock "$starting"; do
        [ $SECONDS -lt $deadline ] || die "Process $(head -n 1 "$starting") has been starting a stack for five minutes." 75
        [ -n "${is_told:-}" ] || say "Another stack is starting: waiting for it."
        is_told=yes
        sleep 0.2
    done
    choose_ports
    start_broker
    start_database
    write_connection_string
    write_environment
    (umask 077 && given_settings >"$run/settings")
    start_services
    rm -f "$starting"
}

# STACK_NAME=VALUE of the environment, a line each, as a shell would read it.
given_settings() {
    local variable
    for variable in $(compgen -e STACK_); do printf '%s=%q\n' "$variable" "${!variable}"; done
}

# The given settings that the running stack was not started with, or with another value.
missing_settings() {
    given_settings | { grep -vxFf "$run/settings" 2>/dev/null || true; } | sed -n 's/^STACK_\([A-Z0-9_]*\)=.*/\1/p' | xargs
}

# The ports in `run/ports` are used again, so that addresses that a person has noted stay valid. So are the kinds of the
# database and the broker.
choose_ports() {
    if [ -f "$run/ports" ]; then . "$run/ports"; fi
    STORE=${STORE:-${database_port:+postgres}}
    broker_nodes=${BROKER_NODES:-${broker_nodes:-1}}
    case $broker_nodes in 1 | 3) ;; *) die "BROKER_NODES is 1 or 3." 64 ;; esac
    amqp_port=$(broker_port_or_free "${amqp_port:-}")
    hub_port=$(port_or_free "${hub_port:-8085}")
    ingest_port=$(port_or_free "${ingest_port:-8080}")
    dispatcher_port=$(port_or_free "${dispatcher_port:-8082}")
    retrieval_port=$(port_or_free "${retrieval_port:-8081}")
    operator_port=$(port_or_free "${operator_port:-8083}")
    [ "$hub_port$ingest_port$dispatcher_port$retrieval_port$operator_port" = 80858080808280818083 ] ||
        say "A default port is taken: ingest $ingest_port, retrieval $retrieval_port, dispatcher $dispatcher_port, hub $hub_port, operator $operator_port."
    printf '%s=%s\n' broker_nodes "$broker_nodes" amqp_port "$amqp_port" hub_port "$hub_port" \
        ingest_port "$ingest_port" dispatcher_port "$dispatcher_port" retrieval_port "$retrieval_port" \
        operator_port "$operator_port" >"$run/ports"
}

# The broker's data belongs to its port (the node's name holds it), so its old port is taken again when that can be.
broker_port_or_free() {
    if [ -n "$1" ] && port_is_free "$1" && port_is_free $(($1 + 1)) && port_is_free $(($1 + 2)); then echo "$1"
    else free_ports 3; fi
}

stack_read_ports() {
    [ -f "$run/ports" ] || die "There is no stack in $stack."
    . "$run/ports"
}

# Starts one node, or a cluster of three that keeps its own ports. Both repair queues that have no leader after a crash.
start_broker() {
    if [ "$broker_nodes" = 3 ]; then
        amqp_url=$("$here/rabbitmq-cluster.sh" start "$stack/rabbitmq-cluster" 2>"$run/heal.out") ||
            { cat "$run/heal.out" >&2; return 1; }
        return
    fi
    "$here/rabbitmq.sh" start "$stack/rabbitmq" "$amqp_port"
    "$here/rabbitmq.sh" heal "$stack/rabbitmq" >"$run/heal.out" || { cat "$run/heal.out" >&2; return 1; }
    amqp_url="amqp://guest:guest@127.0.0.1:$amqp_port/%2F"
}

# broker COMMAND: the script of this stack's broker.
broker() {
    if [ "${broker_nodes:-1}" = 3 ]; then "$here/rabbitmq-cluster.sh" "$1" "$stack/rabbitmq-cluster"
    else "$here/rabbitmq.sh" "$1" "$stack/rabbitmq"; fi
}

start_database() {
    if [ "${STORE:-sqlite}" = sqlite ]; then
        database_url="sqlite:$stack/securepush.sqlite"
    elif [ "$STORE" = postgres ]; then
        database_port=${database_port:-$(free_ports 1)}
        "$here/postgres.sh" start "$stack/postgres" "$database_port"
        echo "database_port=$database_port" >>"$run/ports"
        database_url="postgres://securepush@127.0.0.1:$database_port/securepush"
    else
        die "STORE is sqlite or postgres." 64
    fi
}

# The keys stay, the address is that of this start. The command line, which looks at devices too, has that of retrieval.
write_connection_string() {
    local rule
    for rule in dispatcher retrieval; do
        (umask 077 && sed "s#Endpoint=[^;]*#Endpoint=http://127.0.0.1:$hub_port/#" \
            "$secrets/$rule.hub-connection-string" >"$run/$rule.hub-connection-string")
    done
    cp -p "$run/retrieval.hub-connection-string" "$run/hub-connection-string"
}

# The file that a shell reads to use the commands with this stack. The API key itself stays in its file.
write_environment() {
    (umask 077 && {
        printf '# The stack in this folder. In a shell: . %q\n' "$stack/env"
        printf 'case ":$PATH:" in *:%q:*) ;; *) PATH=%q:$PATH ;; esac\n' "$bin" "$bin"
        echo 'unset DATABASE_URL_FILE AMQP_URL_FILE HUB_CONNECTION_STRING HUB_POOL_FILE AUTH_JWKS_URL INGEST_API_KEY_FILE'
        printf 'export %s=%q\n' INGEST_URL "http://127.0.0.1:$ingest_port" \
            RETRIEVAL_URL "http://127.0.0.1:$retrieval_port" DISPATCHER_URL "http://127.0.0.1:$dispatcher_port" \
            HUB_URL "http://127.0.0.1:$hub_port" HUB_EMULATOR_URL "http://127.0.0.1:$hub_port" DATABASE_URL "$database_url" AMQP_URL "$amqp_url" \
            HUB_CONNECTION_STRING_FILE "$run/hub-connection-string" HUB_NAME securepush \
            HUB_ACCESS_FILE "$secrets/hub-access" PUSH_CREDENTIALS_FILE "$secrets/push-credentials.json" \
            PAYLOAD_KEYS_FILE "$secrets/payload.keys" INGEST_API_KEYS_FILE "$secrets/api-keys" \
            AUTH_USERS_FILE "$secrets/users" AUTH_JWKS_FILE "$secrets/jwks.json" \
            AUTH_TOKEN_SIGNING_KEY_FILE "$secrets/token-signing-key.pem"
        printf 'INGEST_API_KEY=$(cat %q)\nexport INGEST_API_KEY\n' "$secrets/ingest-api-key"
    } >"$stack/env.new" && mv -f "$stack/env.new" "$stack/env")
}

# The web example, which the hub serves: a device for the person who starts the stack.
write_web_app() {
    rm -rf "$stack/web"
    "$here/web-app.sh" "$stack/web" "http://127.0.0.1:$retrieval_port" --emulator
    web_app="http://127.0.0.1:$hub_port/emulator/app/"
}

start_services() {
    local users=(AUTH_USERS_FILE="$secrets/users" AUTH_JWKS_FILE="$secrets/jwks.json")
    local platforms="HUB_PLATFORMS=${STACK_HUB_PLATFORMS:-apple,fcmv1,windows,browser}"
    local page="http://127.0.0.1:$hub_port,http://localhost:$hub_port"
    write_web_app
    start_service hub HTTP_PORT="$hub_port" DATABASE_URL="$database_url" EMULATOR_WEB_APP="$stack/web" \
        HUB_ACCESS_FILE="$secrets/hub-access" PUSH_CREDENTIALS_FILE="$secrets/push-credentials.json"
    wait_until_ready hub "$hub_port"
    start_service ingest HTTP_PORT="$ingest_port" DATABASE_URL="$database_url" AMQP_URL="$amqp_url" \
        PAYLOAD_KEYS_FILE="$secrets/payload.keys" INGEST_API_KEYS_FILE="$secrets/api-keys" "$platforms" "${users[@]}"
    start_service dispatcher HTTP_PORT="$dispatcher_port" DATABASE_URL="$database_url" AMQP_URL="$amqp_url" \
        "$platforms" HUB_NAME=securepush HUB_CONNECTION_STRING_FILE="$run/dispatcher.hub-connection-string"
    start_service retrieval HTTP_PORT="$retrieval_port" DATABASE_URL="$database_url" \
        PAYLOAD_KEYS_FILE="$secrets/payload.keys" AUTH_TOKEN_SIGNING_KEY_FILE="$secrets/token-signing-key.pem" \
        RETRIEVAL_CORS_ORIGINS="$page${STACK_RETRIEVAL_CORS_ORIGINS:+,$STACK_RETRIEVAL_CORS_ORIGINS}" \
        WEB_PUSH_PUBLIC_KEY_FILE="$secrets/web-push-public-key" HUB_NAME=securepush \
        HUB_CONNECTION_STRING_FILE="$run/retrieval.hub-connection-string" "${users[@]}"
    start_service operator HTTP_PORT="$operator_port" DATABASE_URL="$database_url" AMQP_URL="$amqp_url" "$platforms" \
        INGEST_URL="http://127.0.0.1:$ingest_port" DISPATCHER_URL="http://127.0.0.1:$dispatcher_port" \
        RETRIEVAL_URL="http://127.0.0.1:$retrieval_port" HUB_URL="http://127.0.0.1:$hub_port"
    wait_until_ready ingest "$ingest_port"
    wait_until_ready dispatcher "$dispatcher_port"
    wait_until_ready retrieval "$retrieval_port"
    wait_until_ready operator "$operator_port"
}

# start_service NAME KEY=VALUE...: with these settings and no others, out of reach of the terminal's Ctrl-C.
start_service() {
    local name=$1
    shift
    with_only_settings "$@" "$name" >"$run/$name.out" 2>"$run/$name.log" </dev/null &
    record_process "$run/$name.pid" $!
}

# Settings are exported, not passed to `env`, whose arguments `ps` shows. Replaces the shell that calls it, so that the
# process ID of the background job is the service's.
with_only_settings() {
    local variable
    for variable in $(compgen -e); do
        case $variable in
            PATH | HOME | LANG | TMPDIR | SHELLOPTS | BASHOPTS) ;;
            STACK_*) export "${variable#STACK_}=${!variable}" && unset "$variable" ;;
            *) unset "$variable" ;;
        esac
    done
    while [ $# -gt 1 ]; do
        export "${1?}"
        shift
    done
    if command -v setsid >/dev/null; then exec setsid "$bin/$1"; else exec "$bin/$1"; fi
}

# Prints the process ID of a service of this stack, if it is alive.
service_pid() { recorded_process "$run/$1.pid"; }

service_is_alive() { service_pid "$1" >/dev/null; }

wait_until_ready() {
    local name=$1 port=$2 deadline=$((SECONDS + 90))
    while [ $SECONDS -lt $deadline ]; do
        # The answer may be another stack's, which took the port first; then this service has ended.
        if ! service_is_alive "$name"; then break; fi
        if ask -f -o /dev/null --max-time 2 "http://127.0.0.1:$port/readyz" 2>/dev/null; then
            service_is_alive "$name" && return
            break
        fi
        sleep 0.1
    done
    failed_service=$name
    warn "$name did not become ready: $(ask --max-time 2 "http://127.0.0.1:$port/readyz" 2>&1 || true)"
    return 1
}

# Services that accept work stop first; the servers that they use stop last. So each service can finish its work.
stack_stop() {
    local name order="ingest operator retrieval dispatcher hub"
    for name in $order; do stop_service "$name" TERM; done
    for name in $order; do await_end "$name"; done
    "$here/rabbitmq.sh" stop "$stack/rabbitmq" >/dev/null 2>&1 || true
    if [ -d "$stack/rabbitmq-cluster" ]; then
        "$here/rabbitmq-cluster.sh" stop "$stack/rabbitmq-cluster" >/dev/null 2>&1 || true
    fi
    if [ -d "$stack/postgres" ]; then "$here/postgres.sh" stop "$stack/postgres" >/dev/null 2>&1 || true; fi
}

stop_service() {
    local pid
    if pid=$(service_pid "$1"); then kill "-$2" "$pid" 2>/dev/null || true; fi
}

await_end() {
    local deadline=$((SECONDS + 12))
    while service_is_alive "$1" && [ $SECONDS -lt $deadline ]; do sleep 0.05; done
    stop_service "$1" KILL
    rm -f "$run/$1.pid"
}

# Whether anything is on record that a stack in this folder started.
stack_is_recorded() {
    local file
    for file in "$run"/*.pid "$stack"/rabbitmq/*pid "$stack"/rabbitmq-cluster/*/*pid "$stack"/postgres/pid; do
        if [ -f "$file" ]; then return; fi
    done
    return 1
}

stack_is_up() {
    local name
    for name in $services; do service_is_alive "$name" || return 1; done
    broker status >/dev/null
}

stack_status() {
    local name result=0
    for name in $services; do
        if service_is_alive "$name"; then say "$name: running, process $(service_pid "$name")"
        else say "$name: stopped" && result=1; fi
    done
    say "rabbitmq: $(broker status || true)"
    return $result
}

# stack_stop_at_exit [COMMAND]: stops the stack when the script ends, also by Ctrl-C or TERM. COMMAND runs before that,
# with the exit code as its argument.
stack_stop_at_exit() {
    before_stack_stop=${1:-:}
    trap stack_end EXIT
    exit_at_signals
}

stack_end() {
    local result=$?
    ignore_signals
    "$before_stack_stop" "$result"
    (exit $result) || stack_failed
    stack_stop
    exit "$result"
}

# For an EXIT trap: after a failure prints the log of the failed service, and stops the stack.
stack_failed() {
    local result=$?
    ignore_signals
    if [ $result -ne 0 ]; then
        local name=${failed_service:-}
        if [ -n "$name" ] && [ -s "$run/$name.log" ]; then
            warn "The log of $name ($run/$name.log) ends with:"
            tail -n 20 "$run/$name.log" >&2
        fi
        stack_stop
    fi
    exit $result
}
