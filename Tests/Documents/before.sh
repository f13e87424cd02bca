# shellcheck shell=bash
# Sourced by scripts/documents.py before the commands of a page, in the page's folder: what its reader has already.
# STACK is the folder of the stack, *_PORT are its ports, OUT holds what the commands print.

secrets=$STACK/secrets
export INGEST_URL=http://127.0.0.1:$INGEST_PORT RETRIEVAL_URL=http://127.0.0.1:$RETRIEVAL_PORT
export DISPATCHER_URL=http://127.0.0.1:$DISPATCHER_PORT HUB_URL=http://127.0.0.1:$HUB_PORT HUB_EMULATOR_URL=http://127.0.0.1:$HUB_PORT
INGEST_API_KEY=$(cat "$secrets/ingest-api-key") PASSWORD=$(cat "$secrets/alice.password")
export INGEST_API_KEY PASSWORD
export HANDLE=00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0 INSTALLATION=phone-1
export HTTP_PORT=0 # of services that a page starts
LAST_HANDLE=$HANDLE

# A notification of alice, and a token of hers.
notification() { securepush send --to alice --payload "Before the page." "$@"; }
token() { securepush token --user alice --password-file "$secrets/alice.password"; }

# A sender `billing` with a key in billing.key, which ingest knows.
billing_key() {
    local try
    securepush api-keys remove billing --api-keys-file "$secrets/api-keys" || true
    securepush api-keys add billing --api-keys-file "$secrets/api-keys" >billing.key
    for try in $(seq 50); do
        if curl -o answer "$INGEST_URL/api/notifications" -H "Authorization: Bearer $(cat billing.key)"; then return; fi
        sleep 0.1
    done
    return 1
}

# Two devices of alice, the second one with a key.
devices() {
    local device
    for device in phone-1 phone-2; do
        curl -X PUT "$RETRIEVAL_URL/api/installations/$device" -H "Authorization: Bearer $TOKEN" \
            -H "Content-Type: application/json" -d "{\"platform\": \"fcmv1\", \"pushChannel\": \"channel-of-$device\"}"
    done
    curl -X PUT "$RETRIEVAL_URL/api/devices/phone-2/key" -H "Authorization: Bearer $TOKEN" \
        -H "Content-Type: application/json" \
        -d '{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}'
}

# A notification that the hub has refused, with its dead letter.
dead_letter() {
    curl "$HUB_EMULATOR_URL/emulator/faults" -d '{"Operation":"send","Status":400}' >/dev/null
    LAST_ID=$(notification)
    until securepush dead-letters list | grep -q "$LAST_ID"; do sleep 0.2; done
    curl -X DELETE "$HUB_EMULATOR_URL/emulator/faults"
}

# The settings of the services, for pages that start one or call the operator's commands.
settings() { . "$STACK/env"; }

# The files hubs and hubs.new, with hubs of the emulator.
hub_files() {
    local name
    for name in hub-a hub-b hub-c; do echo "$name $(cat "$STACK/run/hub-connection-string")"; done >hubs.new
    head -n 2 hubs.new >hubs
}

# An export of Azure Notification Hubs: three devices of zoe, and one of a platform that the hub does not know.
export_file() {
    local number type handle
    while read -r number type handle; do
        printf '<RegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" %s %s%s%s%s\n' \
            "i:type=\"${type}RegistrationDescription\"" \
            'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ETag>1</ETag>' \
            '<ExpirationTime>9999-12-31T23:59:59.9999999Z</ExpirationTime>' \
            "<RegistrationId>1-$number</RegistrationId><Tags>username:zoe</Tags>" \
            "<$handle>00FC0$number</$handle></RegistrationDescription>"
    done >export.txt <<'END'
1 Apple DeviceToken
2 Apple DeviceToken
3 FcmV1 FcmV1RegistrationId
4 Adm AdmRegistrationId
END
}

# ended NUMBER CODE: after each command. A later `ID` in the page is that of the last `securepush send`.
ended() {
    local id
    echo "$2" >"$OUT/$1.part" && mv "$OUT/$1.part" "$OUT/$1.exit"
    id=$(cat "$OUT/$1.out")
    if [[ $id =~ ^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$ ]]; then LAST_ID=$id; fi
}

# background NUMBER TEXT: the command on standard input runs until the page ends. Waits until it has printed TEXT.
background() {
    local command deadline=$((SECONDS + 60))
    command=$(cat)
    (eval "$command") >"$OUT/$1.out" 2>"$OUT/$1.err" </dev/null &
    until grep -qF -- "$2" "$OUT/$1.out" "$OUT/$1.err" 2>/dev/null; do
        if [ $SECONDS -ge $deadline ]; then
            ended "$1" 124
            return
        fi
        sleep 0.1
    done
    ended "$1" 0
}

case $PAGE in
    docs/tutorial/*) unset INGEST_URL INGEST_API_KEY RETRIEVAL_URL HUB_URL HUB_EMULATOR_URL ;;
    docs/how-to/back-up-and-restore.md | docs/how-to/monitor.md | \
        docs/how-to/upgrade.md | docs/how-to/run-in-production.md | docs/how-to/restore-after-a-disaster.md | \
        docs/how-to/use-tls-and-a-reverse-proxy.md) settings ;;
    docs/how-to/encrypt-end-to-end.md | docs/how-to/receive-in-a-web-app.md) 
        settings
        TOKEN=$(token)
        devices
        ;;
    docs/how-to/move-from-azure-notification-hubs.md) export_file ;;
    docs/how-to/move-from-the-microsoft-tutorial.md) BOBS_PASSWORD=$(cat "$secrets/bob.password") ;;
    docs/how-to/receive-notifications.md)
        settings
        ID=$(notification) TOKEN=$(token) LAST_ID=$ID
        ;;
    docs/how-to/send-from-your-language.md) ID=$(notification) LAST_ID=$ID ;;
    docs/how-to/send-notifications.md)
        billing_key
        ID=$(notification --api-key-file billing.key) LAST_ID=$ID
        ;;
    docs/how-to/replay-dead-letters.md)
        settings
        dead_letter
        ;;
    docs/how-to/troubleshoot.md)
        settings
        securepush dead-letters purge --yes >/dev/null || true # of pages before this one: doctor reports them
        LAST_ID=$(notification)
        ;;
    docs/reference/cli.md)
        settings
        securepush dead-letters purge --yes >/dev/null || true # of pages before this one: replay would leave them
        cp "$secrets/token-signing-key.pem" signing-key.pem
        cp "$secrets/alice.password" .
        grep -v '^billing ' "$secrets/api-keys" >api-keys
        printf '%s\n' alice bob >customers.txt
        TOKEN=$(token)
        echo "$TOKEN" >alice.token
        echo "Your results are in." >message.txt
        notification >ids.txt
        devices
        hub_files
        export_file
        dead_letter
        ID=$LAST_ID
        ;;
    docs/how-to/rotate-keys.md)
        settings
        KEYID=$(cut -d ' ' -f 1 "$secrets/payload.keys")
        cp "$secrets/payload.keys" "$secrets/users" "$secrets/alice.password" .
        grep -v '^billing ' "$secrets/api-keys" >api-keys
        ;;
    docs/how-to/use-several-hubs.md)
        settings
        hub_files
        ;;
    docs/how-to/test-with-the-hub-emulator.md) cp "$secrets/alice.password" . ;;
esac
