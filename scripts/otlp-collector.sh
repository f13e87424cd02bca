#!/usr/bin/env bash
# Collects the spans of the services, and draws their traces: scripts/otlp-collector.sh serve FILE [PORT] | draw FILE
#
#   serve  takes OTLP/HTTP in JSON at http://127.0.0.1:PORT, 4318 unless given (0 takes a free one), and appends each span
#          to FILE as a line of JSON. Each request is read as opentelemetry-proto's ExportTraceServiceRequest; one with
#          anything else in it is answered 400.
#   draw   prints the traces in FILE as indented text: service, kind, name, parent, offset and duration of each span.
#
# Needs Python 3 with venv and, the first time, PyPI: opentelemetry-proto goes into .build/otlp.
set -euo pipefail
. "$(dirname "$0")/common.sh"
case ${1:-} in serve | draw) [ $# -ge 2 ] || usage ;; *) usage ;; esac
python=$(python_with otlp opentelemetry-proto==1.45.2)
export PYTHONDONTWRITEBYTECODE=1
exec "$python/python" "$here/otlp/collector.py" "$@"
