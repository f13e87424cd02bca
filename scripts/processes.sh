# shellcheck shell=bash
# Sourced by the other scripts: knows one's own processes again. The system gives a process ID to another process later,
# so an ID in a file proves nothing by itself.

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
