#!/usr/bin/env bash
# Tests the SDKs that are not written in Swift: scripts/test-clients.sh [--no-install] [NAME...]
#
# Each folder Clients/NAME has test.sh, which installs nothing and prints "N passed, N failed" as its last line, and
# debian-packages, the packages that it needs. Clients/Swift is tested by `make test`.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."

installs=yes
if [ "${1:-}" = --no-install ]; then installs=no && shift; fi
clients=("$@")
if [ $# -eq 0 ]; then for script in Clients/*/test.sh; do clients+=("$(basename "$(dirname "$script")")"); done; fi
for name in "${clients[@]}"; do
    [ -x "Clients/$name/test.sh" ] || die "There is no Clients/$name/test.sh." 64
done

logs=$(mktemp -d "${TMPDIR:-/tmp}/securepush-clients.XXXXXX")
finish() {
    ignore_signals
    # A process group of its own: the compilers and their tests, too.
    if [ -n "${lane:-}" ]; then kill -- "-$lane" 2>/dev/null && wait "$lane" || true; fi
    rm -rf "$logs"
}
trap finish EXIT
exit_at_signals

if [ $installs = yes ]; then
    command -v apt-get >/dev/null || die "This script installs on Debian and Ubuntu only; use --no-install." 69
    "$here/install-dependencies.sh" demo
    packages=()
    for name in "${clients[@]}"; do
        # Without comments.
        read -rd '' -a more < <(sed 's/#.*//' "Clients/$name/debian-packages" 2>/dev/null) || true
        packages+=(${more[@]+"${more[@]}"})
    done
    timed "install" "$here/install-dependencies.sh" packages "${packages[@]}"
    case " ${clients[*]} " in *" Web "*) "$here/axe.sh" ;; esac
fi
# The web example is tested against the services.
bin=${SECUREPUSH_BIN:-.build/debug}
[ -x "$bin/operator" ] || timed "build" make build

# run_lane NAME...: tests one client after another.
run_lane() {
    local name begin result
    for name in "$@"; do
        heading "$name"
        begin=$SECONDS result=0
        "Clients/$name/test.sh" 2>&1 | tee "$logs/$name" || result=$?
        echo "$result" >"$logs/$name.result"
        say "${dim}$name: $((SECONDS - begin)) s$plain"
    done
}

# The tests of Web wait for the browser half of their time, and the others compute on one core. So they run beside it.
others=()
for name in "${clients[@]}"; do [ "$name" = Web ] || others+=("$name"); done
if [ ${#others[@]} -gt 0 ] && [ ${#others[@]} -lt ${#clients[@]} ]; then
    set -m
    run_lane "${others[@]}" >"$logs/others" 2>&1 </dev/null &
    lane=$!
    set +m
    run_lane Web
    wait "$lane" || true
    lane=
    cat "$logs/others"
else
    run_lane "${clients[@]}"
fi

passed=0 failed=0 broken=()
for name in "${clients[@]}"; do
    counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$logs/$name" 2>/dev/null | tail -n 1)
    # shellcheck disable=SC2086 # two numbers
    set -- ${counts:-0 1}
    passed=$((passed + $1)) failed=$((failed + $2))
    if [ "$(cat "$logs/$name.result" 2>/dev/null || echo 1)" -ne 0 ] || [ "$2" -ne 0 ] || [ "$1" -eq 0 ]; then
        broken+=("$name")
        [ "$2" -gt 0 ] || failed=$((failed + 1))
    fi
done
say
[ ${#broken[@]} -eq 0 ] || say "Failed: ${broken[*]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
