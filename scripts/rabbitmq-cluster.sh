#!/usr/bin/env bash
# A private cluster of three RabbitMQ nodes for tests and the local stack, loopback only; each node by rabbitmq.sh.
#
#   rabbitmq-cluster.sh start DIR [PORT]   starts the nodes, joins them, and prints the cluster's AMQP_URL
#   rabbitmq-cluster.sh kill DIR N         ends node N (1 to 3) with SIGKILL, as a crash does
#   rabbitmq-cluster.sh restart DIR N      starts node N again, and returns once it is a running member
#   rabbitmq-cluster.sh stop DIR           stops all nodes cleanly, and the cluster's epmd
#   rabbitmq-cluster.sh status DIR         a line for each node; 0 when all are running
#   rabbitmq-cluster.sh url DIR            prints the AMQP_URL
#   rabbitmq-cluster.sh leader DIR QUEUE   prints the number of the node that leads a quorum queue
#   rabbitmq-cluster.sh heal DIR           as rabbitmq.sh heal, on the first node that runs
#
# DIR/N is node N's folder. Its ports are PORT+3(N-1) and the two after it; epmd is node 1's. Quorum queues get a
# member on each node, as RabbitMQ does by default. A minority pauses (cluster_partition_handling), as its guide advises.
set -euo pipefail
. "$(dirname "$0")/common.sh"

nodes="1 2 3"

node() { local command=$1 number=$2; shift 2; "$here/rabbitmq.sh" "$command" "$dir/$number" "$@"; }

port_of() { echo $((port + 3 * ($1 - 1))); }

name_of() { echo "securepush$(port_of "$1")@localhost"; }

url() {
    local number list=""
    for number in $nodes; do list="$list,amqp://guest:guest@127.0.0.1:$(port_of "$number")/%2F"; done
    echo "${list#,}"
}

# Before the first start: one cookie, one epmd, and who the others are.
prepare() {
    local number other
    mkdir -p "$dir"
    chmod 700 "$dir"
    echo "$port" >"$dir/port"
    [ -s "$dir/cookie" ] || (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$dir/cookie")
    for number in $nodes; do
        mkdir -p "$dir/$number/home"
        [ -f "$dir/$number/home/.erlang.cookie" ] || install -m 400 "$dir/cookie" "$dir/$number/home/.erlang.cookie"
        [ "$number" = 1 ] || echo $((port + 2)) >"$dir/$number/epmd-port"
        [ -f "$dir/$number/rabbitmq.conf" ] || {
            printf '%s\n' 'loopback_users.guest = true' 'heartbeat = 60' 'log.file.level = warning' \
                'cluster_partition_handling = pause_minority' \
                'cluster_formation.peer_discovery_backend = classic_config'
            for other in $nodes; do echo "cluster_formation.classic_config.nodes.$other = $(name_of "$other")"; done
        } >"$dir/$number/rabbitmq.conf"
    done
}

# The first time, node 1 comes first and the others join it. Later all start at once: a node that did not stop last
# waits for one that did.
start() {
    if everything_runs; then url && return; fi
    prepare
    local first="" number
    # Not local: the EXIT trap may run outside this function.
    starting=() is_complete=
    # Background jobs do not hear Ctrl-C.
    exit_at_signals
    trap '[ -n "$is_complete" ] || abandon_start' EXIT
    case $(cat "$dir/joined" 2>/dev/null || echo never) in
        "$dir" | '') ;;
        *) # also after a move, which costs the nodes their data
            node start 1 "$(port_of 1)"
            first=1
            ;;
    esac
    for number in $nodes; do
        [ "$number" != "$first" ] || continue
        node start "$number" "$(port_of "$number")" >&2 &
        starting+=($!)
    done
    for number in "${starting[@]}"; do wait "$number" || die "a node did not start" 69; done
    await_members "$nodes"
    echo "$dir" >"$dir/joined"
    node heal 1 >&2
    is_complete=yes
    url
}

abandon_start() {
    ignore_signals
    if [ ${#starting[@]} -gt 0 ]; then kill "${starting[@]}" 2>/dev/null || true; fi
    wait || true
    stop
}

everything_runs() {
    local number
    for number in $nodes; do node status "$number" >/dev/null 2>&1 || return 1; done
}

# Asks node after node, for each has its own view, whether all three are running members.
await_members() {
    local number deadline=$((SECONDS + 60)) seen
    for number in $1; do
        while :; do
            seen=$(node ctl "$number" eval 'length(rabbit_nodes:all_running()).' 2>&1) || true
            [ "$seen" != 3 ] || break
            [ $SECONDS -lt $deadline ] || die "node $number sees ${seen:-no} running members of 3 after 60 s" 69
            sleep 0.5
        done
    done
}

restart() {
    node start "$1" "$(port_of "$1")"
    await_members "$1"
}

# The others go first, so that node 1, whose epmd they need, is the last.
stop() {
    local number
    for number in 3 2 1; do node stop "$number" >/dev/null 2>&1 || true; done
}

status() {
    local number result=0
    for number in $nodes; do echo "node $number: $(node status "$number")" || result=1; done
    return $result
}

first_running() {
    local number
    for number in $nodes; do
        if node status "$number" >/dev/null 2>&1; then echo "$number" && return; fi
    done
    die "no node is running" 69
}

# The broker names its leader's Erlang node, which holds the port.
leader() {
    local number answer
    number=$(first_running)
    answer=$(node ctl "$number" eval "
        {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\"$1\">>)),
        {ok, _, {_, Node}} = ra:members(amqqueue:get_pid(Q), 5000), io:format(\"~s~n\", [Node]).") ||
        die "queue $1 has no leader, or is not there"
    answer=$(echo "$answer" | sed -n 's/^securepush\([0-9]*\)@.*/\1/p')
    [ -n "$answer" ] || die "queue $1 has no leader"
    echo $(((answer - port) / 3 + 1))
}

[ $# -ge 2 ] || usage
command=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd -P)
port=$(cat "$dir/port" 2>/dev/null || true)
if [ "$command" = start ]; then port=${3:-${port:-$(free_ports 9)}}; fi
[ -n "$port" ] || die "there is no cluster in $dir"
case $command in
    kill | restart) case ${3:-} in 1 | 2 | 3) ;; *) usage ;; esac ;;
    leader) [ -n "${3:-}" ] || usage ;;
esac
case $command in
    start) start ;;
    kill) node kill "$3" ;;
    restart) restart "$3" ;;
    stop) stop ;;
    status) status ;;
    url) url ;;
    leader) leader "$3" ;;
    heal) node heal "$(first_running)" ;;
    *) usage ;;
esac
