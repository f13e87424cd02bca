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
here=$(cd "$(dirname "$0")" && pwd)
. "$here/terminal.sh"
home=$here/../.build/otlp
requirement=opentelemetry-proto==1.45.2

case ${1:-} in
    serve | draw) [ $# -ge 2 ] || die "usage: scripts/otlp-collector.sh serve FILE [PORT] | draw FILE" 64 ;;
    *) die "usage: scripts/otlp-collector.sh serve FILE [PORT] | draw FILE" 64 ;;
esac
if [ "$(cat "$home/installed" 2>/dev/null)" != "$requirement" ]; then
    python3 -m venv "$home" >&2 || die "python3-venv is missing: run scripts/install-dependencies.sh test" 69
    "$home/bin/pip" install --quiet --disable-pip-version-check "$requirement" >&2 ||
        die "$requirement cannot be installed: is PyPI reachable?" 69
    echo "$requirement" >"$home/installed"
fi
export PYTHONDONTWRITEBYTECODE=1
exec "$home/bin/python" "$here/otlp/collector.py" "$@"
