#!/usr/bin/env bash
# Runs one of Tools/scenarios on a stack of its own: scripts/scenario.sh NAME [ARGUMENT...]; the README there has the names.
#
# Starts the services of SECUREPUSH_BIN (.build/debug) in .securepush/scenario, with the settings that the scenario
# needs, and stops them afterwards. Data of the last run is deleted first. STORE, BROKER_NODES and DISPATCH_WITHDRAW
# apply as in stack.sh. The exit code is the scenario's.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$here/services.sh"
cd "$here/.."

name=${1:-}
scenario=Tools/scenarios/$name.py
# Two files are modules of the others.
case $name in '' | */* | stack | devices) scenario= ;; esac
[ -f "$scenario" ] || usage
shift
# Not the number of the last run.
BROKER_NODES=${BROKER_NODES:-1}
case $name in
    cluster) BROKER_NODES=3 ;;
    purge) STORE=postgres ;;
    withdrawal) STACK_DISPATCH_WITHDRAW='read' ;;
esac

stack_claim .securepush/scenario
export STACK_DISPATCH_WITHDRAW=${STACK_DISPATCH_WITHDRAW:-${DISPATCH_WITHDRAW:-revoked}}
stack_use .securepush/scenario STORE BROKER_NODES BENCHMARK_SEED
# shellcheck disable=SC2119 # it takes no argument here
stack_stop_at_exit
stack_clear
stack_start
STACK=$stack SECUREPUSH_BIN=$bin python3 "$scenario" "$@"
