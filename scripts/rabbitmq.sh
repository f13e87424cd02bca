#!/usr/bin/env bash
# A private RabbitMQ node for tests and the local stack: own name, data, log, distribution port and epmd, loopback only.
#
#   rabbitmq.sh start DIR PORT   starts a node whose data is in DIR; returns once it takes logins (guest, guest)
#   rabbitmq.sh stop DIR         stops it cleanly
#   rabbitmq.sh kill DIR         ends it with SIGKILL, as a crash does
#   rabbitmq.sh status DIR       0 when the node answers and takes AMQP connections, 1 when not
#   rabbitmq.sh heal DIR         restarts the node when one of its quorum queues has no leader
#
# PORT serves AMQP, PORT+1 is the distribution's and PORT+2 is epmd's. DIR/pid is the node's process ID.
set -euo pipefail

usage() {
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 64
}

# Debian's scripts in /usr/sbin refuse all users but root and rabbitmq; the plain ones do not.
tool() {
    local name=$1 candidate
    for candidate in "${RABBITMQ_BIN:-}/$name" "/usr/lib/rabbitmq/bin/$name" "$(command -v "$name" || true)" \
        "/opt/homebrew/sbin/$name" "/usr/local/sbin/$name"; do
        if [ -x "$candidate" ] && [ "$candidate" != "/$name" ]; then
            echo "$candidate"
            return
        fi
    done
    echo "rabbitmq.sh: $name is not installed (Debian: rabbitmq-server, Homebrew: rabbitmq)." >&2
    exit 69
}

# Runs a RabbitMQ program in the node's private environment.
private() {
    ${exec_private:-} env -i PATH="$PATH" HOME="$dir/home" LANG=C.UTF-8 ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT=$((port + 2)) \
        RABBITMQ_NODENAME="securepush$port@localhost" RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 \
        RABBITMQ_NODE_PORT="$port" RABBITMQ_DIST_PORT=$((port + 1)) RABBITMQ_MNESIA_BASE="$dir/mnesia" \
        RABBITMQ_LOG_BASE="$dir/log" RABBITMQ_PID_FILE="$dir/pid" RABBITMQ_CONFIG_FILE="$dir/rabbitmq" \
        RABBITMQ_ENABLED_PLUGINS_FILE="$dir/plugins" RABBITMQ_CONF_ENV_FILE=/dev/null \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}' \
        RABBITMQ_CTL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}' "$@"
}

# Runs a server in the background without what this script inherited: a caller that waits for the end of a pipe or a
# socket (Foundation's Process does) would wait for the server's end. `exec` makes $! the server's own process ID.
detached() {
    local descriptor
    for descriptor in $(seq 3 63); do eval "exec $descriptor>&-"; done
    if command -v setsid >/dev/null; then set -- setsid "$@"; fi
    exec_private=exec
    private "$@"
}

node_pid() { head -n 1 "$dir/pid" 2>/dev/null || true; }

is_alive() { local pid; pid=$(node_pid) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; }

# Whether the node answers the protocol header with a frame: a port that is open is not yet a broker that answers.
answers_amqp() {
    timeout 3 bash -c '
        exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
        printf "AMQP\0\0\11\1" >&3
        [ "$(head -c 1 <&3 | od -An -tu1 | tr -d " ")" = 1 ]' answers "$port" 2>/dev/null
}

write_configuration() {
    [ -f "$dir/rabbitmq.conf" ] || printf '%s\n' 'loopback_users.guest = true' 'heartbeat = 60' \
        'log.file.level = warning' >"$dir/rabbitmq.conf"
    [ -f "$dir/plugins" ] || echo '[].' >"$dir/plugins"
}

# epmd detaches itself from the terminal; it stays in the foreground here so that its process ID is known.
start_epmd() {
    local epmd pid
    pid=$(cat "$dir/epmd.pid" 2>/dev/null || true)
    if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then return; fi
    epmd=$(command -v epmd) || epmd=$(find /usr/lib/erlang /opt/homebrew/lib/erlang -name epmd -type f | head -n 1)
    detached "$epmd" -address 127.0.0.1 -port $((port + 2)) >/dev/null 2>&1 </dev/null &
    echo $! >"$dir/epmd.pid"
}

start() {
    mkdir -p "$dir/home" "$dir/log" "$dir/mnesia"
    chmod 700 "$dir"
    if is_alive && answers_amqp; then return; fi
    echo "$port" >"$dir/port"
    write_configuration
    start_epmd
    rm -f "$dir/pid"
    local server
    server=$(tool rabbitmq-server)
    detached "$server" >"$dir/log/console.log" 2>&1 </dev/null &
    local launched=$!
    for _ in $(seq 1 600); do
        if [ -s "$dir/pid" ] && is_alive && answers_amqp; then return; fi
        if ! kill -0 "$launched" 2>/dev/null && ! is_alive; then break; fi
        sleep 0.1
    done
    echo "rabbitmq.sh: the node did not start; $dir/log/console.log ends with:" >&2
    tail -n 20 "$dir/log/console.log" >&2
    end_node KILL
    end_epmd
    exit 69
}

end_node() {
    local pid
    pid=$(node_pid)
    if [ -z "$pid" ]; then return; fi
    kill "-$1" "$pid" 2>/dev/null || true
    for _ in $(seq 1 300); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}

end_epmd() {
    local pid
    pid=$(cat "$dir/epmd.pid" 2>/dev/null || true)
    if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; fi
    rm -f "$dir/epmd.pid"
}

status() {
    if ! is_alive; then
        echo "stopped"
        return 1
    fi
    if ! answers_amqp; then
        echo "process $(node_pid) runs and does not answer on port $port"
        return 1
    fi
    echo "running, process $(node_pid), port $port"
}

# Names of quorum queues that have no leader, one a line. After a crash a single node can come up with such a queue
# (rabbitmq-server issue 10070): it takes messages and confirms none, and declaring or consuming it times out.
leaderless() {
    private "$(tool rabbitmqctl)" -q -t 20 -n "securepush$port@localhost" eval '
        [io:format("leaderless ~s~n", [element(4, element(2, Q))]) || Q <- rabbit_amqqueue:list(),
            element(1, Q) =:= amqqueue, amqqueue:get_type(Q) =:= rabbit_quorum_queue,
            case ra:members(amqqueue:get_pid(Q), 3000) of {ok, _, {_, _}} -> false; _ -> true end], ok.' |
        sed -n 's/^leaderless //p'
}

heal() {
    local queues
    for _ in 1 2 3; do
        queues=$(leaderless)
        if [ -z "$queues" ]; then
            echo "every quorum queue has a leader"
            return
        fi
        echo "no leader: $(echo "$queues" | tr '\n' ' ')(rabbitmq-server issue 10070); restarting the node"
        end_node TERM
        start
    done
    echo "rabbitmq.sh: restarting did not help; delete the queue, and the outbox publishes what it held again." >&2
    return 1
}

[ $# -ge 2 ] || usage
command=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
port=${3:-$(cat "$dir/port" 2>/dev/null || true)}
[ "$command" != start ] || [ -n "$port" ] || usage
if [ -z "$port" ]; then
    echo "stopped"
    exit 1
fi
case $command in
    start) start ;;
    stop) end_node TERM && end_epmd ;;
    kill) end_node KILL ;;
    status) status ;;
    heal) heal ;;
    *) usage ;;
esac
