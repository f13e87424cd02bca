#!/usr/bin/env bash
# Measures how throughput, latency and CPU depend on concurrency, dispatchers, queue length and rows:
#
#   PEERS=DIR Tools/results/sweep.sh NAME=ADAPTER[,VARIABLE=VALUE...]...
#
# PEERS is the folder of the yardstick, whose servers, driver and adapters it uses. Each NAME and ADAPTER is as for its
# bench.sh. The raw results are appended to $OUT (Tools/results/data/sweep.jsonl), one JSON object per line.
# What runs can be chosen: SWEEPS="concurrency dispatchers queue rows", and the points of each with CONNECTIONS,
# DISPATCHERS, QUEUED and ROWS. SECONDS_EACH is the time of one HTTP measurement. With several dispatchers DRAINED
# notifications are drained; REAL_ROWS is the number of rows that are read in the sweep of connections.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export PEERS=${PEERS:?the folder of the yardstick}
export QUEUE_TYPE=${QUEUE_TYPE:-quorum} OUT=${OUT:-$here/data/sweep.jsonl}
# The yardstick's own script sets its variables only for the driver.
. "$PEERS/infra.sh"
mkdir -p "$(dirname "$OUT")" "$RUN_DIR"
build_tools || exit 1
for spec in "$@"; do
    conf=${spec#*=}
    "${conf%%,*}" build || exit 1
done
trap infra_down EXIT
infra_up || exit 1
for sweep in ${SWEEPS:-concurrency dispatchers queue rows}; do
    for spec in "$@"; do
        IFS=, read -r -a part <<<"${spec#*=}"
        env "${part[@]:1}" python3 -B "$here/sweep.py" "$sweep" "${spec%%=*}" "${part[0]}" ||
            echo "the sweep $sweep of ${spec%%=*} failed" >&2
    done
done
