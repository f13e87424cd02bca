# shellcheck shell=bash
# Sourced by the other scripts: words for people, and times.
# shellcheck disable=SC2034 # the colours are for those scripts

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$'\033[1m' dim=$'\033[2m' green=$'\033[32m' red=$'\033[31m' plain=$'\033[0m'
else
    bold='' dim='' green='' red='' plain=''
fi

say() { printf '%s\n' "$*"; }
heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
warn() { printf '%s\n' "$*" >&2; }
die() {
    printf '%serror:%s %s\n' "$red" "$plain" "$1" >&2
    exit "${2:-1}"
}

# Runs a command and prints how long it took: timed NAME COMMAND...
timed() {
    local name=$1 start=$SECONDS
    shift
    "$@"
    say "${dim}$name: $((SECONDS - start)) s$plain"
}
