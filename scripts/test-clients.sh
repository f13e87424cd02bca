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
lanes=()
finish() {
    local lane
    ignore_signals
    # Process groups of their own: the compilers and their tests, too.
    for lane in ${lanes[@]+"${lanes[@]}"}; do kill -- "-$lane" 2>/dev/null && wait "$lane" || true; done
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
case " ${clients[*]} " in *" Web "*) [ -x "$bin/operator" ] || timed "build" make build ;; esac

# test_client NAME
test_client() {
    local begin=$SECONDS result=0
    heading "$1"
    "Clients/$1/test.sh" 2>&1 | tee "$logs/$1" || result=$?
    echo "$result" >"$logs/$1.result"
    say "${dim}$1: $((SECONDS - begin)) s$plain"
}

# A compiler and its tests take one core, so those clients are tested beside each other. Web has the machine for itself:
# its browser, services and simulated hours take more, and its tests have deadlines.
set -m
for name in "${clients[@]}"; do
    [ "$name" != Web ] && [ ${#clients[@]} -gt 1 ] || continue
    test_client "$name" >"$logs/$name.lane" 2>&1 </dev/null &
    lanes+=($!)
done
set +m
for lane in ${lanes[@]+"${lanes[@]}"}; do wait "$lane" || true; done
lanes=()
for name in "${clients[@]}"; do
    if [ -e "$logs/$name.lane" ]; then cat "$logs/$name.lane"; else test_client "$name"; fi
done

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
