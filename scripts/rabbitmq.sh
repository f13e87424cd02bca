#!/usr/bin/env bash
# A private RabbitMQ node for tests and the local stack: own name, data, log, distribution port and epmd, loopback only.
#
#   rabbitmq.sh start DIR PORT   starts a node whose data is in DIR; returns once it takes logins (guest, guest)
#   rabbitmq.sh stop DIR         stops it cleanly
#   rabbitmq.sh kill DIR         ends it with SIGKILL, as a crash does
#   rabbitmq.sh status DIR       0 when the node answers and takes AMQP connections, 1 when not
#   rabbitmq.sh heal DIR         gives each quorum queue a leader that has none after a crash; 1 when one stays without
#   rabbitmq.sh ctl DIR ARG...   rabbitmqctl ARG...
#
# PORT serves AMQP, PORT+1 is the distribution's and PORT+2 is epmd's. DIR/pid is the node's process ID. A node of a
# cluster (rabbitmq-cluster.sh) uses the epmd of another: DIR/epmd-port names its port, and it starts and ends none.
set -euo pipefail
. "$(dirname "$0")/common.sh"

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
    die "$name is not installed (Debian: rabbitmq-server, Homebrew: rabbitmq)." 69
}

# Runs a RabbitMQ program in the node's private environment.
private() {
    ${runner:-} env -i PATH="$PATH" HOME="$dir/home" LANG=C.UTF-8 \
        ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$(epmd_port)" \
        RABBITMQ_NODENAME="securepush$port@localhost" RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 \
        RABBITMQ_NODE_PORT="$port" RABBITMQ_DIST_PORT=$((port + 1)) RABBITMQ_MNESIA_BASE="$dir/mnesia" \
        RABBITMQ_LOG_BASE="$dir/log" RABBITMQ_PID_FILE="$dir/pid" RABBITMQ_CONFIG_FILE="$dir/rabbitmq" \
        RABBITMQ_CONFIG_FILES="$dir/conf.d" RABBITMQ_ADVANCED_CONFIG_FILE="$dir/advanced.config" \
        ERL_CRASH_DUMP="$dir/log/erl_crash.dump" \
        RABBITMQ_ENABLED_PLUGINS_FILE="$dir/plugins" RABBITMQ_CONF_ENV_FILE=/dev/null \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}' \
        RABBITMQ_CTL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}' "$@"
}

# Runs a server in the background, in a session of its own. `exec` makes $! the server's own process ID.
detached() {
    close_inherited
    if command -v setsid >/dev/null; then set -- setsid "$@"; fi
    runner='exec'
    private "$@"
}

# Ends a program that takes longer than so many seconds, where the system can (macOS cannot without coreutils).
bounded() {
    if command -v timeout >/dev/null; then set -- timeout -k 1 "$@"; else shift; fi
    "$@"
}

# The node writes DIR/pid. The number counts only while it is a node with this folder: after a crash or a power cut the
# system may have given it to any process.
node_pid() {
    local pid
    pid=$(head -n 1 "$dir/pid" 2>/dev/null || true)
    if process_with "$pid" "-home $dir/home "; then echo "$pid"; fi
}

node_is_alive() { [ -n "$(node_pid)" ]; }

# Whether the node answers the protocol header with a frame: a port that is open is not yet a broker that answers.
answers_amqp() {
    bounded 3 bash -c '
        exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
        printf "AMQP\0\0\11\1" >&3
        [ "$(head -c 1 <&3 | od -An -tu1 | tr -d " ")" = 1 ]' answers "$port" 2>/dev/null
}

write_configuration() {
    [ -f "$dir/rabbitmq.conf" ] || printf '%s\n' 'loopback_users.guest = true' 'heartbeat = 60' \
        'log.file.level = warning' >"$dir/rabbitmq.conf"
    [ -f "$dir/plugins" ] || echo '[].' >"$dir/plugins"
}

epmd_port() { cat "$dir/epmd-port" 2>/dev/null || echo $((port + 2)); }

# epmd detaches itself from the terminal; it stays in the foreground here so that its process ID is known.
start_epmd() {
    local epmd
    if [ -f "$dir/epmd-port" ] || recorded_process "$dir/epmd.pid" >/dev/null; then return; fi
    epmd=$(command -v epmd) || epmd=$(find /usr/lib/erlang /opt/homebrew/lib/erlang -name epmd -type f | head -n 1)
    detached "$epmd" -address 127.0.0.1 -port $((port + 2)) >/dev/null 2>&1 </dev/null &
    record_process "$dir/epmd.pid" $!
    disown
}

# Chooses the path by which the node knows its folder. RabbitMQ hands that path to a shell without quotes: a folder with
# other characters than these gets a link in /tmp. The path is also in the node's Raft logs, so data that was moved or
# copied has no leader any more. Such data goes; ingest publishes again what is still in its outbox.
choose_place() {
    local LC_ALL=C
    dir=$folder
    case $folder in
        *[!A-Za-z0-9/._+@=:~-]*)
            dir=$place
            if [ "$(readlink "$dir")" != "$folder" ]; then
                # The link goes with its node, and the next node takes the same one.
                case $dir in
                    /tmp/securepush-node.*/node) mkdir -m 700 "${dir%/node}" 2>/dev/null || dir= ;;
                    *) dir= ;;
                esac
                dir=${dir:-$(mktemp -d /tmp/securepush-node.XXXXXX)/node}
                ln -s "$folder" "$dir"
            fi
            ;;
    esac
    if [ -n "$place" ] && [ "$dir" != "$place" ]; then
        warn "RabbitMQ's data was written at $place, and cannot be read at another place: it is removed."
        rm -rf "$dir/mnesia"
    fi
    echo "$dir" >"$dir/place"
}

forget_place() { if [ -L "$dir" ]; then rm -f "$dir" && rmdir "${dir%/node}"; fi; }

start() {
    check_localhost
    choose_place
    mkdir -p "$dir/home" "$dir/log" "$dir/mnesia"
    chmod 700 "$dir"
    if node_is_alive && answers_amqp; then return; fi
    # A node of this folder that does not answer, or listens on another port, would lose its record.
    end_node TERM "$(node_pid)"
    end_launched
    echo "$port" >"$dir/port"
    write_configuration
    # The servers have sessions of their own, which Ctrl-C does not reach.
    trap 'end_launched; end_epmd; exit 130' INT
    trap 'end_launched; end_epmd; exit 143' TERM HUP
    start_epmd
    rm -f "$dir/pid"
    local server
    server=$(tool rabbitmq-server)
    detached "$server" >"$dir/log/console.log" 2>&1 </dev/null &
    record_process "$dir/server.pid" $!
    disown
    for _ in $(seq 1 600); do
        if node_is_alive && answers_amqp; then return; fi
        recorded_process "$dir/server.pid" >/dev/null || node_is_alive || break
        sleep 0.1
    done
    tail -n 20 "$dir/log/console.log" >&2
    end_launched
    end_epmd
    forget_place
    die "RabbitMQ did not start; $folder/log/console.log ends as above." 69
}

# Sends a signal to the node, and waits for its end. The node removes DIR/pid long before it has ended.
end_node() {
    local pid=$2
    if [ -z "$pid" ]; then return; fi
    kill "-$1" "$pid" 2>/dev/null || true
    for _ in $(seq 1 300); do
        is_alive "$pid" || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}

# Ends what `start` launched, also a node that has not written DIR/pid yet: it is in the process group of its script.
end_launched() {
    local pid
    pid=$(recorded_process "$dir/server.pid") || pid=
    if [ -n "$pid" ]; then kill -KILL -- "-$pid" 2>/dev/null || kill -KILL "$pid" 2>/dev/null || true; fi
    rm -f "$dir/server.pid"
}

# A node that stops with clients on quorum queues waits for their channels for up to half a minute: they go first.
# It is told to stop as well as sent SIGTERM, which a parent may have blocked for all its children.
stop() {
    local pid
    pid=$(node_pid)
    if [ -n "$pid" ]; then
        ctl eval 'rabbit_maintenance:suspend_all_client_listeners(),
            rabbit_maintenance:close_all_client_connections(), init:stop().' >/dev/null 2>&1 || true
    fi
    end_node TERM "$pid"
    end_launched
    end_epmd
    forget_place
}

end_epmd() {
    local pid
    pid=$(recorded_process "$dir/epmd.pid") || pid=
    # It keeps nothing, and what started it may have blocked SIGTERM.
    if [ -n "$pid" ]; then kill -KILL "$pid" 2>/dev/null || true; fi
    rm -f "$dir/epmd.pid"
}

status() {
    if ! node_is_alive; then
        echo "stopped"
        return 1
    fi
    if ! answers_amqp; then
        echo "process $(node_pid) runs and does not answer on port $port"
        return 1
    fi
    echo "running, process $(node_pid), port $port"
}

# What `heal` has the node do, in Erlang. `never_led` is a Raft log without a term: nothing was ever confirmed from it.
heal_expression() {
    cat <<'ERLANG'
#{data_dir := Data, names := Names} = ra_system:fetch(quorum_queues),
HasLeader = fun(S) -> case ra:members(S, 1500) of {ok, _, {_, _}} -> true; _ -> false end end,
NeverLed = fun(U) -> lists:member(ra_log_meta:fetch(maps:get(log_meta, Names), U, current_term), [undefined, 0]) end,
Size = fun(F) -> lists:sum([filelib:file_size(P) || P <- filelib:wildcard(filename:dirname(F) ++ "/*.segment")]) end,
Logs = fun(S, U) -> lists:reverse(lists:sort([{Size(F), O} || F <- filelib:wildcard(Data ++ "/*/config"),
    {ok, [#{id := I, uid := O}]} <- [file:consult(F)], I =:= S, O =/= U])) end,
Adopt = fun({Name, _} = S, U, O) ->
    ra:stop_server(quorum_queues, S),
    ra_directory:unregister_name(Names, U),
    ra_directory:register_name(Names, O, undefined, undefined, Name, Name),
    dets:sync(maps:get(directory_rev, Names)),
    ra:restart_server(quorum_queues, S) end,
Cure = fun({Name, _} = S) ->
    U = ra_directory:uid_of(Names, Name),
    case NeverLed(U) andalso Logs(S, U) of
        [{_, O} | _] -> Adopt(S, U, O), HasLeader(S) orelse ra:trigger_election(S), "its log was found again";
        _ -> ra:trigger_election(S), "it was given a leader" end end,
[begin
    S = amqqueue:get_pid(Q),
    HasLeader(S) orelse begin
        What = try Cure(S) catch _:Reason -> io_lib:format("~0p", [Reason]) end,
        io:format("~s ~s: ~s~n", [case HasLeader(S) of true -> healed; false -> leaderless end,
            element(4, amqqueue:get_name(Q)), What]) end end
    || Q <- rabbit_amqqueue:list(), amqqueue:get_type(Q) =:= rabbit_quorum_queue], ok.
ERLANG
}

# A single node can come up with a quorum queue that has no leader (rabbitmq-server issue 10070): it confirms nothing,
# declaring or consuming it times out, and restarting the node changes nothing. RabbitMQ before ra's pull request 443
# (2024) writes a new queue's entry in names.dets half a second late: a node that is killed within it finds no log of
# the queue, and makes an empty one that never holds an election. The first log is still on the disk. So the queue is
# given it back, or where there is none, an election is triggered.
heal() {
    local output
    output=$(ctl eval "$(heal_expression)") || {
        warn "The node does not answer: $output"
        return 1
    }
    echo "$output" | grep -v '^ok$' || echo "every quorum queue has a leader"
    ! echo "$output" | grep -q '^leaderless '
}

# rabbitmqctl, bounded: its own deadline does not cover a node that cannot be reached.
ctl() {
    local runner='bounded 60'
    # `timeout` makes a process group in the background, which a terminal stops when it reads.
    private "$(tool rabbitmqctl)" -q -t 55 -n "securepush$port@localhost" "$@" </dev/null
}

[ $# -ge 2 ] || usage
command=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd -P)
place=$(cat "$folder/place" 2>/dev/null || true) dir=$folder
if [ "$(readlink "$place")" = "$folder" ]; then dir=$place; fi
port=$(cat "$folder/port" 2>/dev/null || true)
[ "$command" != start ] || port=${3:-$port}
[ "$command" != start ] || [ -n "$port" ] || usage
if [ -z "$port" ]; then
    echo "stopped"
    exit 1
fi
case $command in
    start) start ;;
    stop) stop ;;
    kill) end_node KILL "$(node_pid)" ;;
    status) status ;;
    heal) heal ;;
    ctl) shift 2 && ctl "$@" ;;
    *) usage ;;
esac
