#!/usr/bin/env bash
# A private PostgreSQL cluster for tests and demonstrations: loopback only, trust, fsync on.
#
#   scripts/postgres.sh start DIR PORT   make the cluster in DIR/data unless it is there, start it, wait for logins
#   scripts/postgres.sh stop DIR         stop it (fast shutdown); nothing to do if it is not running
#   scripts/postgres.sh kill DIR         kill -9 all its processes, as a crash would
#   scripts/postgres.sh status DIR       exit 0 if it runs
#   scripts/postgres.sh sql URL SQL      run a statement with psql, as tests do to make and drop databases
#
# The database `securepush` belongs to the user `securepush`, who may create databases. URL:
# postgres://securepush@127.0.0.1:PORT/securepush. PostgreSQL refuses to run as root: as root, the user `postgres` runs it.
set -euo pipefail
. "$(dirname "$0")/common.sh"
# Settings of another PostgreSQL would send our statements there, or ask this one for TLS.
# shellcheck disable=SC2086 # names of variables
unset ${!PG*}

# The folder of initdb and postgres: POSTGRES_BIN, PATH, or the newest version that Debian, Homebrew or PGDG installed.
find_programs() {
    local program candidate
    if [[ -n ${POSTGRES_BIN:-} ]]; then echo "$POSTGRES_BIN"; return; fi
    program=$(command -v initdb || true)
    if [[ -n $program ]]; then dirname "$(readlink -f "$program")"; return; fi
    for candidate in $(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin \
        /usr/local/opt/postgresql*/bin 2>/dev/null | sort -rV); do
        if [[ -x $candidate/initdb ]]; then echo "$candidate"; return; fi
    done
    die "PostgreSQL is not installed (Debian: apt-get install postgresql)"
}

# Runs a program as the cluster's user.
as_owner() {
    if [[ $(id -u) -ne 0 ]]; then "$@"
    elif command -v setpriv >/dev/null; then
        (cd / && HOME=$dir setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@")
    else (cd / && runuser -u postgres -- "$@"); fi
}

# Lets the user postgres through to DIR: search permission on folders that only root may enter.
open_path() {
    [[ $(id -u) -eq 0 ]] || return 0
    id postgres >/dev/null 2>&1 || die "there is no user postgres to run the server as"
    chown postgres "$dir"
    local folder
    folder=$(dirname "$dir")
    while ! as_owner test -x "$dir" && [[ $folder != / ]]; do
        as_owner test -x "$folder" || { chmod o+x "$folder" && warn "PostgreSQL's user may now pass through $folder (chmod o+x)."; }
        folder=$(dirname "$folder")
    done
    as_owner test -x "$dir" || die "the user postgres cannot enter $dir"
}

make_cluster() {
    as_owner "$programs/initdb" --pgdata="$dir/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C \
        --no-instructions >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; die "initdb failed"; }
    cat >>"$dir/data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 500
shared_buffers = 128MB
min_wal_size = 256MB
max_wal_size = 2GB
log_min_messages = warning
CONF
}

find_psql() {
    if [[ -x $programs/psql ]]; then echo "$programs/psql"; else command -v psql || die "psql is not installed"; fi
}

psql_as_admin() {
    as_owner "$(find_psql)" -X -q -A -t -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U postgres "$@"
}

make_database() {
    [[ $(psql_as_admin -d postgres -c "SELECT 1 FROM pg_roles WHERE rolname = 'securepush'") == 1 ]] ||
        # Tests drop their databases WITH (FORCE), which also has to end a worker of autovacuum in them.
        psql_as_admin -d postgres -c "CREATE ROLE securepush LOGIN CREATEDB IN ROLE pg_signal_backend"
    [[ $(psql_as_admin -d postgres -c "SELECT 1 FROM pg_database WHERE datname = 'securepush'") == 1 ]] ||
        psql_as_admin -d postgres -c "CREATE DATABASE securepush OWNER securepush"
}

# PostgreSQL writes postmaster.pid. The number counts only while it is a server of this folder: after a crash or a power
# cut the system may have given it to any process.
server_pid() {
    local pid
    pid=$(head -1 "$dir/data/postmaster.pid" 2>/dev/null || true)
    if process_with "$pid" "-D $dir/data "; then echo "$pid"; fi
}

is_running() { [[ -n $(server_pid) ]]; }

start() {
    open_path
    [[ -s $dir/data/PG_VERSION ]] || make_cluster
    if ! is_running; then
        # The file of a server that crashed: postgres would not start while any process has the number in it.
        rm -f "$dir/data/postmaster.pid"
        trap 'abandon_start 130' INT
        trap 'abandon_start 143' TERM HUP
        (close_inherited && as_owner "$programs/pg_ctl" start --pgdata="$dir/data" --log="$dir/postgres.log" --silent \
            --wait --timeout=60 --options="-p $port") </dev/null >"$dir/start.log" 2>&1 || { tail -20 "$dir/postgres.log" >&2; die "no start"; }
    fi
    server_pid >"$dir/pid"
    make_database || { stop; die "the database securepush could not be made"; }
}

# The server has a session of its own, which Ctrl-C does not reach, and may not have written its number yet.
abandon_start() {
    trap '' INT TERM HUP
    local deadline=$((SECONDS + 10))
    until is_running || ((SECONDS >= deadline)); do sleep 0.1; done
    stop
    exit "$1"
}

stop() {
    if is_running; then
        as_owner "$programs/pg_ctl" stop --pgdata="$dir/data" --mode=fast --silent --wait --timeout=30 >/dev/null
    fi
    rm -f "$dir/pid"
}

# The server and all its processes at once, so that none of them can tidy up.
kill_all() {
    is_running || return 0
    local server children
    server=$(server_pid)
    children=$(ps -o pid= --ppid "$server" 2>/dev/null || true)
    # shellcheck disable=SC2086 # a list of numbers
    kill -9 "$server" $children 2>/dev/null || true
    while is_alive "$server"; do sleep 0.05; done
    # A zombie's number still counts as a running server to the next one.
    rm -f "$dir/pid" "$dir/data/postmaster.pid"
}

[[ $# -ge 2 ]] || usage
if [[ $1 == sql ]]; then
    programs=$(find_programs)
    exec "$(find_psql)" -X -q -A -t -v ON_ERROR_STOP=1 -d "$2" -c "${3:-}"
fi
command=$1 dir=$2 port=${3:-}
[[ $command != start ]] || mkdir -p "$dir"
if [[ ! -d $dir ]]; then # where no folder is, no server runs
    case $command in stop | kill) exit 0 ;; status) exit 1 ;; *) usage ;; esac
fi
dir=$(cd "$dir" && pwd -P)
programs=$(find_programs)
case $command in
    start) [[ $port =~ ^[0-9]+$ ]] || usage; start ;;
    stop) stop ;;
    kill) kill_all ;;
    status) is_running ;;
    *) usage ;;
esac
