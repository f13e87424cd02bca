#!/usr/bin/env bash
# Installs what is missing, and nothing else: scripts/install-dependencies.sh build | demo | test | bench | packages NAME...
#
#   build  what the Swift package is compiled with
#   demo   and what the local stack runs on: RabbitMQ
#   test   and PostgreSQL, Prometheus (promtool), nginx, and the tools that check manual pages, Debian packages and systemd
#          units, for the tests
#   bench  as build, and Valgrind, which counts the instructions of `make bench`; on Linux only
#   packages  these packages of Debian and Ubuntu
#
# No system service is started: the stack and the tests run private servers.
set -euo pipefail
. "$(dirname "$0")/common.sh"

level=${1:-demo}
case $level in
    build | demo | test | bench | packages) ;;
    *) usage ;;
esac

check_swift() {
    local version
    command -v swift >/dev/null ||
        die "Swift is not installed. Get 6.2 or newer from https://www.swift.org/install/ and run this again." 69
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)
    # shellcheck disable=SC2086 # two numbers
    set -- $version
    if [ "${1:-0}" -lt 6 ] || { [ "$1" -eq 6 ] && [ "$2" -lt 2 ]; }; then
        die "Swift 6.2 or newer is needed, from https://www.swift.org/install/; here is ${1:-none}.${2:-0}." 69
    fi
}

debian_packages() {
    if [ "$level" = packages ]; then echo "${@:2}" && return; fi
    echo librabbitmq-dev libpq-dev libsqlite3-dev pkg-config
    case $level in
        build) return ;;
        bench) echo valgrind python3; return ;;
    esac
    echo rabbitmq-server curl procps
    [ "$level" = test ] || return 0
    echo postgresql pgbouncer nginx-light openssl python3 python3-venv prometheus groff-base dpkg-dev binutils systemd
}

# Debian starts what it installs, unless policy-rc.d says no (Debian Policy, section 9.3.3).
# The file names its process, so that one that a killed run left goes with the next run.
policy=/usr/sbin/policy-rc.d
log=
forbid_starting() {
    if [ -e $policy ]; then return; fi
    as_root sh -c "printf '#!/bin/sh\n# SecurePush installs, process $$\nexit 101\n' >$policy && chmod 755 $policy"
}
allow_starting() {
    local owner
    owner=$(sed -n 's/^# SecurePush installs, process //p' $policy 2>/dev/null || true)
    if [ -n "$owner" ] && { [ "$owner" = $$ ] || ! is_alive "$owner"; }; then as_root rm -f $policy; fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else return 69; fi
}

# One package may be there for two architectures.
is_installed() { [[ " $(dpkg-query -W -f='${db:Status-Status} ' "$1" 2>/dev/null)" == *" installed "* ]]; }

# apt waits for the lock of dpkg by itself, and not for that of its lists. A list of another repository that cannot be
# had is no reason to stop.
install_missing() {
    local _
    for _ in $(seq 1 60); do
        as_root env LC_ALL=C apt-get update -q >"$log" 2>&1 || ! grep -q 'Could not get lock' "$log" || { sleep 5 && continue; }
        break
    done
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "${missing[@]}" >>"$log" 2>&1
}

install_on_debian() {
    local package
    missing=()
    allow_starting || true
    for package in $(debian_packages "$@"); do is_installed "$package" || missing+=("$package"); done
    [ ${#missing[@]} -gt 0 ] || { say "Nothing to install."; return; }
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
        die "These packages are missing: ${missing[*]}. Install them as root, or install sudo." 69
    say "Installing ${missing[*]} ..."
    log=$(mktemp)
    trap 'allow_starting; rm -f "$log"' EXIT # after the function too: the log's name is no local
    forbid_starting
    install_missing || {
        tail -n 20 "$log" >&2
        die "apt-get could not install them." 69
    }
    allow_starting
    keep_off_at_boot
    say "Installed ${missing[*]}; their system services were not started."
}

# What was installed for private use only shall not come up at the next boot either.
keep_off_at_boot() {
    local package
    command -v systemctl >/dev/null || return 0
    for package in "${missing[@]}"; do
        case $package in
            rabbitmq-server | postgresql | pgbouncer | prometheus | nginx-light)
                as_root systemctl disable "${package%-light}" >/dev/null 2>&1 || true
                ;;
        esac
    done
}

install_on_macos() {
    local formula wanted=(rabbitmq-c libpq pkgconf)
    command -v brew >/dev/null || die "Homebrew is not installed: https://brew.sh" 69
    case $level in build | bench) ;; *) wanted+=(rabbitmq) ;; esac
    [ "$level" != test ] || wanted+=(postgresql@15 prometheus)
    missing=()
    for formula in "${wanted[@]}"; do brew list --formula "$formula" >/dev/null 2>&1 || missing+=("$formula"); done
    [ ${#missing[@]} -gt 0 ] || { say "Nothing to install."; return; }
    brew install --quiet "${missing[@]}"
    say "Installed ${missing[*]}."
}

[ "$level" = packages ] || check_swift
case $level in demo | test) check_localhost ;; esac
if [ "$(uname -s)" = Darwin ]; then
    install_on_macos
elif command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    install_on_debian "$@"
else
    die "This script knows Debian, Ubuntu and macOS. Elsewhere, install librabbitmq and libpq with their headers, \
SQLite's headers, pkg-config, RabbitMQ 3.10 or newer, curl and, for the tests, PostgreSQL 15 or newer; \
then run scripts/demo.sh --no-install." 69
fi
