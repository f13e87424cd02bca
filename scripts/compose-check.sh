#!/usr/bin/env bash
# Looks into the containers of a running stack and prints who may do what: scripts/compose-check.sh
#
# For each container the files that it can read, for each role of the database the SQL that it may run on the payloads
# and the schema, and for each user of the broker its permissions. Exit code 0: all is as docs/how-to/limit-privileges.md
# says. DOCKER names another `docker`.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."
read -ra docker <<<"${DOCKER:-docker}"
compose=("${docker[@]}" compose)
bad=0

row() { # NAME FOUND EXPECTED
    local mark=ok
    if [ "$2" != "$3" ]; then mark="WRONG, expected: $3" bad=$((bad + 1)); fi
    printf '%-34s %-72s %s\n' "$1" "$2" "$mark"
}

echo "Files that a container can read"
files() { # SERVICE EXPECTED
    local found
    # Volumes only: what the image has is public.
    found=$("${compose[@]}" exec -T "$1" sh -c \
        'find /var/lib/securepush /services /run/securepush -type f -readable 2>/dev/null | sed "s|.*/||" | sort | xargs' || true)
    row "$1" "$found" "$2"
}
files ingest "amqp-url api-keys database-url jwks.json payload.keys users"
files dispatcher "amqp-url database-url hub-connection-string"
files retrieval "database-url hub-connection-string jwks.json payload.keys token-signing-key.pem users web-push-public-key"
files operator "admin-password amqp-url database-url"
files hub "database-url hub-access push-credentials.json vapid.pem"
files postgres "password"
files rabbitmq "definitions.json"

echo
echo "Secrets in a container's environment"
for service in ingest dispatcher retrieval operator hub postgres rabbitmq; do
    found=$("${compose[@]}" exec -T "$service" sh -c 'env | grep -E "://[^ ]*:[^ ]*@|SharedAccessKey=|PASSWORD=|PASS=" | cut -d= -f1 | xargs' || true)
    row "$service" "$found" ""
done

echo
echo "SQL that a role may run"
psql() { "${compose[@]}" exec -T postgres psql -X -A -t -q -v ON_ERROR_STOP=1 -U postgres -d securepush -c "$1" 2>&1; }
may() { # ROLE SQL yes|no: the session of the superuser takes the role on, and with it its rights
    local found=yes
    if ! psql "SET SESSION AUTHORIZATION securepush_$1; BEGIN; $2; ROLLBACK" >/dev/null; then found=no; fi
    row "$1: $2" "$found" "$3"
}
for role in ingest dispatcher retrieval operator hub cli; do
    may $role "CREATE TABLE mine (a int)" no
    may $role "DROP TABLE payloads" no
    may $role "TRUNCATE outbox" no
done
may ingest "SELECT sealed FROM payloads" yes
may ingest "SELECT id, encryption_key FROM installations" yes
may ingest "SELECT handle FROM installations" no
may dispatcher "SELECT sealed FROM payloads" no
may dispatcher "SELECT FROM payloads" no
may dispatcher "SELECT FROM idempotency_keys" no
may dispatcher "DELETE FROM notifications" no
may retrieval "SELECT sealed FROM payloads" yes
may retrieval "DELETE FROM payloads" no
may retrieval "SELECT FROM outbox" no
may hub "SELECT handle FROM hub_registrations" yes
may hub "SELECT FROM payloads" no
may hub "SELECT FROM notifications" no
may dispatcher "SELECT FROM hub_registrations" no
may operator "SELECT FROM payloads" no
may operator "SELECT FROM installations" no
may operator "DELETE FROM notifications" no
may cli "DELETE FROM payloads" no
row "superusers" "$(psql "SELECT string_agg(rolname, ' ' ORDER BY rolname) FROM pg_roles WHERE rolsuper AND rolcanlogin")" postgres
row "owner of the tables" "$(psql "SELECT string_agg(DISTINCT tableowner, ' ') FROM pg_tables WHERE schemaname = 'public'")" \
    securepush_owner

echo
echo "What a user of the broker may configure, write and read"
rabbitmqctl() { "${compose[@]}" exec -T rabbitmq rabbitmqctl -q "$@"; }
permissions() { rabbitmqctl list_permissions --no-table-headers | awk -v user="securepush_$1" '$1 == user { print $2, $3, $4 }'; }
read='^securepush\.(dispatch|dead|retry\.[0-9.]+)$'
row ingest "$(permissions ingest)" "^\$ ^securepush\\.notifications\$ $read"
row dispatcher "$(permissions dispatcher)" "^\$ ^(amq\\.default|securepush\\.dead)\$ $read"
row operator "$(permissions operator)" "^\$ ^\$ $read"
row cli "$(permissions cli)" "^\$ ^securepush\\.notifications\$ $read"
row "users" "$(rabbitmqctl list_users --no-table-headers | awk '{ print $1 }' | sort | xargs)" \
    "securepush_cli securepush_dispatcher securepush_ingest securepush_operator"

echo
if [ "$bad" -gt 0 ]; then
    echo "$bad rows are wrong." >&2
    exit 1
fi
echo "Everything is as it should be."
