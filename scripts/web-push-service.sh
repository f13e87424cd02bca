#!/usr/bin/env bash
# A strict push service for tests: scripts/web-push-service.sh serve FOLDER [OPTION...] | check
#
#   serve  takes pushes over HTTP/2 and HTTP/1.1 with TLS on a port of loopback, checks them as the big services do,
#          decrypts them by http_ece, and remembers them. FOLDER gets ca.pem, the authority of its certificate. A second
#          port has an admin API (JSON): subscriptions, pushes, faults. See scripts/web-push/service.py for the options.
#   check  drives it with pywebpush, so that it is not written to our taste, and prints what came of each push.
#
# Needs Python 3.11 with venv and, the first time, PyPI: its packages go into .build/web-push.
set -euo pipefail
. "$(dirname "$0")/common.sh"
case ${1:-} in serve) [ $# -ge 2 ] || usage ;; check) [ $# -eq 1 ] || usage ;; *) usage ;; esac
python=$(python_with web-push h2==4.4.1 cryptography==50.0.2 http_ece==1.2.1 py-vapid==1.9.6 pywebpush==2.5.0)
export PYTHONDONTWRITEBYTECODE=1
command=$1
shift
case $command in
    serve) exec "$python/python" "$here/web-push/service.py" "$@" ;;
    check) exec "$python/python" "$here/web-push/check.py" ;;
esac
