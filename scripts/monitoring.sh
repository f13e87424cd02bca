#!/usr/bin/env bash
# Checks the alerts and dashboards of deploy/monitoring: scripts/monitoring.sh check | run [PICTURE]
#
#   check  tests the alert rules with promtool, and compares dashboards, rules, metrics and documents with each other
#   run    the same, then starts a stack with PostgreSQL and a Prometheus, sends it load and faults, runs each query and
#          each rule, and writes PICTURE, an SVG with the panels of the overview drawn from the data that was recorded
#
# Needs promtool and, for `run`, prometheus (Debian: package `prometheus`), Python 3 and `make build`. Data is in a
# temporary folder, and everything that was started is stopped at the end.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$here/services.sh"
cd "$here/.."
export PYTHONDONTWRITEBYTECODE=1

action=${1:-}
case $action in check | run) ;; *) usage ;; esac
for program in promtool python3 $([ "$action" = check ] || echo prometheus); do
    command -v "$program" >/dev/null || die "$program is not installed (Debian: apt-get install prometheus python3)." 69
done

promtool check config deploy/monitoring/prometheus.yml >/dev/null
promtool check rules deploy/monitoring/securepush.rules.yml
promtool test rules deploy/monitoring/securepush.rules.test.yml
python3 scripts/monitoring/dashboards.py --check
python3 scripts/monitoring/consistency.py
[ "$action" = run ] || exit 0

picture=${2:+$(realpath "$2")}
export STORE=postgres BROKER_NODES=1 STACK_HUB_TELEMETRY=true
stack_use "$(mktemp -d "${TMPDIR:-/tmp}/monitoring.XXXXXX")" STORE BROKER_NODES PYTHONDONTWRITEBYTECODE
prometheus=
finish() {
    local result=$?
    ignore_signals
    if [ -n "$prometheus" ]; then kill "$prometheus" 2>/dev/null && wait "$prometheus" 2>/dev/null || true; fi
    [ $result -eq 0 ] || tail -n 20 "$run/prometheus.log" "$run/load.out" >&2 2>/dev/null || true
    stack_stop
    rm -rf "$stack"
    exit $result
}
trap finish EXIT
exit_at_signals


metrics_port=$(free_ports 1)
mkdir -p "$stack/rabbitmq"
echo '[rabbitmq_prometheus].' >"$stack/rabbitmq/plugins"
printf '%s\n' 'loopback_users.guest = true' 'log.file.level = warning' 'prometheus.tcp.ip = 127.0.0.1' \
    "prometheus.tcp.port = $metrics_port" 'collect_statistics_interval = 5000' >"$stack/rabbitmq/rabbitmq.conf"
stack_start
stack_read_ports

# The configuration that we ship, with the addresses of this stack and a shorter interval.
prometheus_port=$(free_ports 1)
python3 - "$run/prometheus.yml" "securepush-ingest=$ingest_port" "securepush-retrieval=$retrieval_port" \
    "securepush-dispatcher=$dispatcher_port" "securepush-operator=$operator_port" "securepush-hub=$hub_port" "rabbitmq=$metrics_port" <<'PYTHON'
import re, sys
text = open("deploy/monitoring/prometheus.yml").read()
for pair in sys.argv[2:]:
    job, port = pair.split("=")
    discovery = r"    (?:dns_sd_configs|static_configs):\n(?:      .*\n)+"
    text, count = re.subn(rf"(  - job_name: {job}\n(?:    metrics_path: .*\n)?){discovery}",
                          rf'\g<1>    static_configs:\n      - targets: ["127.0.0.1:{port}"]\n', text)
    assert count == 1, job
text = text.replace("interval: 15s", "interval: 1s").replace("securepush.rules.yml", "rules.yml")
open(sys.argv[1], "w").write(text)
PYTHON
cp deploy/monitoring/securepush.rules.yml "$run/rules.yml"
prometheus --config.file="$run/prometheus.yml" --storage.tsdb.path="$run/tsdb" \
    --web.listen-address="127.0.0.1:$prometheus_port" >"$run/prometheus.log" 2>&1 </dev/null &
prometheus=$!
STACK=$stack SECUREPUSH_BIN=$bin python3 scripts/monitoring/live.py "$prometheus_port" "$picture"
