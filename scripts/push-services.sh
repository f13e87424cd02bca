#!/usr/bin/env bash
# Strict push services for tests: scripts/push-services.sh serve KIND FOLDER [OPTION...] | check [KIND...]
#
#   serve  stands in for the push services of a KIND: web-push, apns, fcm or wns. It takes pushes with TLS on a port of
#          loopback, checks them as the real one does, and remembers them; fcm and wns have the token services of their
#          senders on a second port. FOLDER gets ca.pem, the authority of its certificate. A last port has an admin API
#          (JSON), the same for all kinds: devices, credentials, pushes, refusals, faults. For the options see
#          scripts/push-services/serve.py.
#   check  drives them with senders of other people, so that they are not written to our taste, and prints what came of
#          each push: pywebpush, aioapns, google-auth, firebase-admin, django-push-notifications, msal.
#
# Needs Python 3.11 with venv and, the first time, PyPI: its packages go into .build/push-services.
set -euo pipefail
. "$(dirname "$0")/common.sh"
kinds=(web-push apns fcm wns)
is_kind() { [[ " ${kinds[*]} " == *" $1 "* ]]; }
command=${1:-}
case $command in
    serve) if [ $# -lt 3 ] || ! is_kind "$2"; then usage; fi ;;
    check) for kind in "${@:2}"; do is_kind "$kind" || usage; done ;;
    *) usage ;;
esac
services=(h2==4.4.1 cryptography==50.0.2 http_ece==1.2.1 py-vapid==1.9.6)
senders=(
    pywebpush==2.5.0 aioapns==4.0 google-auth==2.63.0 firebase-admin==7.7.0
    msal==1.39.0 Django==5.2.19 django-push-notifications==3.3.0)
export PYTHONDONTWRITEBYTECODE=1
shift
case $command in
    serve)
        python=$(python_with push-services "${services[@]}")
        exec "$python/python" "$here/push-services/serve.py" "$@"
        ;;
    check)
        python=$(python_with push-services-check "${services[@]}" "${senders[@]}")
        [ $# -gt 0 ] || set -- "${kinds[@]}"
        exec "$python/python" "$here/push-services/check.py" "$@"
        ;;
esac
