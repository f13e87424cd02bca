# shellcheck shell=bash
# Sourced by the other scripts: their folder, words for people, free ports, and processes of one's own.
# shellcheck disable=SC2034 # folder and colours are for those scripts

# A caller may have exported these: `cd` would go elsewhere and print a line, and `>` would replace no file.
unset CDPATH
set +o noclobber
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    terminal=yes bold=$'\033[1m' dim=$'\033[2m' green=$'\033[32m' red=$'\033[31m' plain=$'\033[0m'
else
    terminal=no bold='' dim='' green='' red='' plain=''
fi

say() { printf '%s\n' "$*"; }
heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
warn() { printf '%s\n' "$*" >&2; }
die() {
    printf '%serror:%s %s\n' "$red" "$plain" "$1" >&2
    exit "${2:-1}"
}

# Prints the comment at the head of the script, which tells how to call it.
usage() {
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
    exit 64
}

# Runs a command and prints how long it took: timed NAME COMMAND...
timed() {
    local name=$1 start=$SECONDS
    shift
    "$@"
    say "${dim}$name: $((SECONDS - start)) s$plain"
}

# Whether nothing listens on a port of 127.0.0.1.
port_is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# A port from which COUNT ports in a row are free; below those that systems give out by themselves.
free_ports() {
    local count=$1 port offset
    for _ in $(seq 1 200); do
        port=$((20000 + RANDOM % 12000))
        for ((offset = 0; offset < count; offset++)); do
            port_is_free $((port + offset)) || continue 2
        done
        echo "$port"
        return
    done
    die "no free ports were found" 69
}

# The port that is wanted, or another when something listens there already.
port_or_free() { if port_is_free "$1"; then echo "$1"; else free_ports 1; fi; }

# The system gives a process ID to another process later, so an ID in a file proves nothing by itself.

# When a process was started: tells it from a later one with the same ID.
birth_of() {
    if [ -r "/proc/$1/stat" ]; then sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
    else ps -o lstart= -p "$1" 2>/dev/null || true; fi
}

# Whether a process lives. A zombie, whose parent has not collected it yet, does not.
is_alive() { [[ $(ps -o stat= -p "$1" 2>/dev/null) == [!Z]* ]]; }

# record_process FILE PID: writes down a process that the caller has just started.
record_process() { printf '%s\n%s\n' "$2" "$(birth_of "$2")" >"$1"; }

# Prints the ID of the recorded process if that process still lives; otherwise fails.
recorded_process() {
    local pid='' birth=''
    { read -r pid && read -r birth; } 2>/dev/null <"$1" || true
    is_process_id "$pid" && [ -n "$birth" ] && is_alive "$pid" && [ "$(birth_of "$pid")" = "$birth" ] && echo "$pid"
}

# process_with PID TEXT: whether a process lives whose command line has TEXT. It is for servers that write their own
# process ID into a file: TEXT names the folder of their data.
process_with() { is_process_id "$1" && is_alive "$1" && [[ $(command_line "$1") == *"$2"* ]]; }

# The arguments of a process, separated by spaces. `ps` shows letters that the locale does not have as question marks.
command_line() {
    if [ -r "/proc/$1/cmdline" ]; then tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" || true
    else ps -ww -o args= -p "$1" 2>/dev/null || true; fi
}

# A number that is no process, or init's, is never sent a signal: `kill 0` and `kill -1` would reach many.
is_process_id() { [[ $1 =~ ^[0-9]{1,9}$ ]] && [ "$1" -gt 1 ]; }

# Ends the script at a signal with the code that it stands for, so that the EXIT trap cleans up. Without these traps bash
# gives the EXIT trap the code of its last command.
exit_at_signals() {
    trap 'exit_once 130' INT
    trap 'exit_once 143' TERM
    trap 'exit_once 129' HUP
}

# For an EXIT trap: a second Ctrl-C must not end the clean-up, here and in the scripts that it calls.
ignore_signals() {
    trap '' INT TERM HUP
    trap - EXIT
}

# exit_once CODE: for the traps of signals. Bash runs the trap of a second signal that came at the same time inside the
# clean-up of the first, where another `exit` would end the clean-up.
exit_once() {
    trap '' INT TERM HUP
    if [ -z "${is_ending:-}" ]; then
        is_ending=yes
        exit "$1"
    fi
}

# take_lock FILE: fails while another process that lives holds the lock. The lock ends with this script.
take_lock() {
    record_process "$1.$$" $$ || return
    until ln "$1.$$" "$1" 2>/dev/null; do
        if recorded_process "$1" >/dev/null; then
            rm -f "$1.$$"
            return 1
        fi
        rm -f "$1"
    done
    rm -f "$1.$$"
}

# Closes what a caller left open besides stdin, stdout and stderr: a server that inherits it keeps a caller waiting that
# watches for its end (Foundation's Process does).
close_inherited() {
    local descriptor
    for descriptor in /dev/fd/*; do
        descriptor=${descriptor##*/}
        # 255 is where bash reads the script.
        if ((descriptor > 2 && descriptor != 255)); then eval "exec $descriptor>&-" 2>/dev/null || true; fi
    done
}

# RabbitMQ's nodes have names at localhost.
check_localhost() {
    ! command -v getent >/dev/null || getent hosts localhost >/dev/null ||
        die "This machine does not know the name localhost: /etc/hosts needs the line 127.0.0.1 localhost." 69
}

# curl to a server on loopback, without the caller's proxies and ~/.curlrc.
ask() { curl -q -sS --noproxy '*' --max-time 10 "$@"; }

# git in this checkout alone: sources without a .git of their own may lie below the folder of another repository, and a
# hook of git sets GIT_DIR.
own_git() (
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
    cd "$here/.." && [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] && git "$@"
)

# python_with NAME REQUIREMENT...: prints the folder of a Python in .build/NAME that has these packages from PyPI. Tests
# that start at the same time wait for the first, which installs them.
python_with() (
    home=$here/../.build/$1
    shift
    has_packages() { [ "$(cat "$home/installed" 2>/dev/null)" = "$*" ]; }
    if ! has_packages "$@"; then
        mkdir -p "$here/../.build"
        until take_lock "$home.lock"; do sleep 0.2; done
        trap 'rm -f "$home.lock"' EXIT
    fi
    if ! has_packages "$@"; then
        python3 -m venv "$home" >&2 || die "python3-venv is missing: run scripts/install-dependencies.sh test" 69
        "$home/bin/pip" install --quiet --disable-pip-version-check "$@" >&2 ||
            die "$* cannot be installed: is PyPI reachable?" 69
        echo "$*" >"$home/installed"
    fi
    echo "$home/bin"
)
