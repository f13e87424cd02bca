#!/usr/bin/env bash
# Shows the whole way of a secret on this machine: scripts/demo.sh [--no-install]
#
# Installs what is missing, builds, starts a private stack in .securepush/demo, and tells what happens. On a terminal it
# keeps running until Ctrl-C; otherwise it ends by itself. It stops exactly what it started.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$here/services.sh"
. "$here/demo-steps.sh"
. "$here/build-progress.sh"
cd "$here/.."

# What cannot work is refused before the installation and the build.
stack_claim .securepush/demo
for file in .securepush/build.log .build; do
    [ ! -e "$file" ] || [ -w "$file" ] || die "$file belongs to another user, perhaps from a run as root: remove it first." 77
done
# RabbitMQ takes no messages while less than 50 MB are free; a build from nothing takes 2 GB.
needed=300
[ -x "${SECUREPUSH_BIN:-.build/debug}/securepush" ] || needed=2500
free=$(df -Pm . | awk 'NR == 2 { print $4 }')
[ "$free" -ge $needed ] || die "Only $free MB are free on this disk; the demo needs $needed MB." 75

begin=$SECONDS
heading "Installing what is missing"
[ "${1:-}" = --no-install ] || "$here/install-dependencies.sh" demo
installed=$((SECONDS - begin))

heading "Building (debug)"
begin=$SECONDS
swift build --product securepush 2>&1 | tee .securepush/build.log | build_progress || {
    ended=("${PIPESTATUS[@]}")
    # The reader of what this script says has left, as `head` does.
    [ "${ended[2]}" -eq 0 ] || exit "${ended[2]}"
    tail -n 30 .securepush/build.log >&2
    die "The build failed; the whole log is .securepush/build.log."
}
"$here/links.sh" .build/debug
built=$((SECONDS - begin))

begin=$SECONDS
stack_use .securepush/demo
heading "Starting RabbitMQ, the hub and the four services"
devices=()
# The devices that failed have said why.
finish_devices() {
    end_devices
    [ "$1" -eq 0 ] || { ls "$run"/device-*.err >/dev/null 2>&1 && tail -n 5 "$run"/device-*.err >&2; } || true
}
stack_stop_at_exit finish_devices

# Keys and users stay from run to run; what the last run stored goes, so that each run tells the same story.
stack_clear
STORE=sqlite BROKER_NODES=1
# The browser is a fourth platform. Nothing is sent to it before somebody opens the page.
export STACK_DISPATCH_REGISTERED_ONLY=true
stack_start
export RETRIEVAL_URL=http://127.0.0.1:$retrieval_port INGEST_URL=http://127.0.0.1:$ingest_port
export HUB_EMULATOR_URL=http://127.0.0.1:$hub_port
say "Started in $((SECONDS - begin)) s."

demo_register
demo_send
demo_crossing
demo_shows
demo_alert
demo_other_user
demo_expired_token
demo_search
demo_browser
say
say "The page, with what crossed the hub beside what each device shows: ${bold}http://127.0.0.1:$hub_port/$plain"
say "${dim}install $installed s, build $built s, run $((SECONDS - begin)) s$plain"

if [ -t 0 ] && [ -t 1 ]; then
    demo_stay
fi
