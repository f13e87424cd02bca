# shellcheck shell=bash
# Sourced by demo.sh: the steps of the demonstration. Each prints its action, and fails if the action has no effect.

# Another number in every run, so that a search for the secret finds this run's only.
secret="Your results are in: all clear (no. $RANDOM$RANDOM)."

platforms="apple fcmv1 windows"
device_name() { case $1 in apple) echo iPhone ;; fcmv1) echo "Android phone" ;; windows) echo "Windows device" ;; esac; }

# start_device NAME PLATFORM OPTION...: alice's device in the background, its words in run/device-NAME.{out,err}.
start_device() {
    local name=$1 platform=$2
    shift 2
    "$bin/securepush" device --user alice --platform "$platform" --password-file "$secrets/alice.password" \
        --timeout 180s "$@" >"$run/device-$name.out" 2>"$run/device-$name.err" </dev/null &
    devices+=($!)
    device_pid=$!
}

# Waits until a device listens to its push channel.
await_device() {
    local deadline=$((SECONDS + 90))
    until grep -q ' listening ' "$run/device-$1.err" 2>/dev/null; do
        [ $SECONDS -lt $deadline ] && kill -0 "$2" 2>/dev/null || die "The device $1 did not come up."
        sleep 0.1
    done
}

end_devices() {
    local pid
    for pid in ${devices[@]+"${devices[@]}"}; do kill "$pid" 2>/dev/null || true; done
}

send() { "$bin/securepush" send --to alice --payload "$secret" --api-key-file "$secrets/ingest-api-key" "$@"; }

# Waits until a device's output has a text.
await_text() {
    local deadline=$((SECONDS + 90))
    until grep -qF -- "$2" "$run/device-$1.out" 2>/dev/null; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.1
    done
}

# The texts that a device has shown, a line each.
shown_by() { sed -n 's/^[[:alnum:]]* *shows *//p' "$run/device-$1.out"; }

demo_register() {
    local platform pids=''
    heading "1. alice logs in on three devices"
    for platform in $platforms; do
        start_device "$platform" "$platform" --count 2
        pids="$pids $platform=$device_pid"
    done
    for platform in $pids; do
        await_device "${platform%=*}" "${platform#*=}"
        say "   $(device_name "${platform%=*}") is registered and listens"
    done
    device_pids=$pids
}

demo_send() {
    heading "2. A sender posts a secret for alice"
    say "   securepush send --to alice --payload \"$secret\""
    id=$(send)
    say "   accepted as ${bold}$id$plain"
}

demo_crossing() {
    local platform
    for platform in $platforms; do
        await_text "$platform" "$secret" || die "The $(device_name "$platform") was not reached."
    done
    heading "3. What crossed the hub: the ID, and nothing else"
    "$bin/securepush" hub-record >"$run/hub-record.txt"
    sed 's/^/   /' "$run/hub-record.txt"
    [ "$(grep -c "body .*$id" "$run/hub-record.txt")" -eq 3 ] || die "Three notifications should have crossed the hub."
}

demo_shows() {
    local platform shown
    heading "4. Each device fetched the payload with alice's credentials, and shows it"
    for platform in $platforms; do
        shown=$(shown_by "$platform")
        printf '   %-15s %s%s%s\n' "$(device_name "$platform")" "$green" "$shown" "$plain"
        [ "$shown" = "$secret" ] || die "The $(device_name "$platform") should show the secret."
    done
}

demo_alert() {
    local pair platform shown
    heading "5. An alert: the push has a generic text, and the app's extension puts the secret in its place"
    send --presentation alert >/dev/null
    for pair in $device_pids; do
        platform=${pair%=*}
        wait "${pair#*=}" || die "The $(device_name "$platform") was not reached."
        shown=$(shown_by "$platform" | tail -n 1)
        printf '   %-15s %s%s%s\n' "$(device_name "$platform")" "$green" "$shown" "$plain"
        [ "$(shown_by "$platform" | grep -cxF "$secret")" -eq 2 ] ||
            die "The $(device_name "$platform") should show the secret twice."
    done
    grep -q "alert push" "$run/device-apple.out" || die "The iPhone should have got an alert."
}

demo_other_user() {
    local status
    heading "6. bob knows the ID, and asks for it"
    status=$(printf 'user = "bob:%s"\n' "$(cat "$secrets/bob.password")" |
        ask -K - -o "$run/bob.json" -w '%{http_code}' "$RETRIEVAL_URL/api/notifications/$id")
    say "   $status $(cat "$run/bob.json")"
    [ "$status" = 404 ] || die "bob should be answered 404."
}

demo_expired_token() {
    local prompt shown
    heading "7. alice's token on her phone has expired: the generic prompt, and after the log-in the secret"
    "$bin/securepush" token --user alice --signing-key-file "$secrets/token-signing-key.pem" \
        --expires-at 2001-01-01T00:00:00Z >"$run/expired.token"
    start_device expired apple --count 1 --fetch-token-file "$run/expired.token" --login-after 2s
    await_device expired "$device_pid"
    send --platform apple >/dev/null
    wait "$device_pid" || die "The phone with the expired token was not reached."
    prompt=$(shown_by expired | head -n 1)
    shown=$(shown_by expired | tail -n 1)
    say "   iPhone           $green$prompt$plain"
    say "   after the log-in $green$shown$plain"
    case $prompt in
        "You have a new message. Log in to read it."*) ;;
        *) die "The generic prompt should be shown." ;;
    esac
    [ "$shown" = "$secret" ] || die "The secret should be shown after the log-in."
}

# How many files of those named hold a text, as `2 of 14`; a folder counts with all its files.
count_holding() {
    local text=$1 files holding
    shift
    # Without a place, `find` would search the folder that it stands in.
    [ $# -gt 0 ] || { echo "0 of 0" && return; }
    files=$(find "$@" -type f 2>/dev/null | wc -l)
    holding=$(find "$@" -type f -exec grep -alF -- "$text" {} + 2>/dev/null | wc -l)
    echo "$((holding)) of $((files))"
}

demo_search() {
    local place found=0 answer
    heading "8. A search for the secret, and for its ID as a check of the search"
    ask "$HUB_EMULATOR_URL/emulator/messages" >"$run/hub-record.json"
    printf '   %-34s %-16s %s\n' "files that hold" "the secret" "the ID"
    for place in hub-record broker logs database; do
        # shellcheck disable=SC2046 # file names without blanks, made by place_files
        answer=$(cd "$stack" && count_holding "$secret" $(place_files $place))
        # shellcheck disable=SC2046
        printf '   %-34s %-16s %s\n' "$(place_name $place)" "$answer" "$(cd "$stack" && count_holding "$id" $(place_files $place))"
        case $answer in "0 of 0") die "There is nothing to search in $place." ;; "0 of"*) ;; *) found=1 ;; esac
    done
    [ $found -eq 0 ] || die "The secret was found where it must not be."
    grep -qF "$id" "$run/hub-record.json" || die "The search does not even find the ID."
}

# Relative to the stack's folder, whose own path may hold blanks.
place_files() {
    case $1 in
        hub-record) echo run/hub-record.json ;;
        broker) echo rabbitmq ;;
        logs) for name in $services; do echo "run/$name.log" "run/$name.out"; done ;;
        database) (cd "$stack" && ls -d securepush.sqlite*) ;;
    esac
}
place_name() {
    case $1 in
        hub-record) echo "all that crossed the hub" ;;
        broker) echo "RabbitMQ's data and logs" ;;
        logs) echo "the logs of the services" ;;
        database) echo "the database (payloads are sealed)" ;;
    esac
}

# The page is served with its policy, and retrieval lets it in: a browser is all that is missing.
demo_browser() {
    local page policy origin=http://127.0.0.1:$hub_port
    heading "9. Your own browser is a device, too"
    page=$(ask -f -D "$run/web-app.headers" "$web_app") || die "The page is not served."
    policy=$(tr -d '\r' <"$run/web-app.headers" | sed -n 's/^[Cc]ontent-[Ss]ecurity-[Pp]olicy: //p')
    case $page in *"<title>SecurePush</title>"*) ;; *) die "This is not the page." ;; esac
    case $policy in *"connect-src 'self' $RETRIEVAL_URL;"*) ;; *) die "The page may not call retrieval." ;; esac
    ask -o /dev/null -D "$run/web-app.cors" -H "Origin: $origin" "$RETRIEVAL_URL/api/notifications"
    grep -qi "^access-control-allow-origin: $origin" "$run/web-app.cors" || die "Retrieval does not let the page in."
    say "   ${bold}$web_app$plain"
    say "   user name alice, password $bold$(cat "$secrets/alice.password")$plain (of this stack only)"
    say "   ${dim}A browser that reaches its push service gets real pushes, also when the tab is closed; another one listens to the hub, and says so.$plain"
}

# On a terminal: three devices stay on, and print the notifications that they receive, until Ctrl-C.
demo_stay() {
    local platform
    heading "alice's devices stay on until Ctrl-C. Open $web_app for a fourth one. From another terminal:"
    printf '   . %q\n' "$stack/env"
    say "   securepush send --to alice --payload Hello."
    say
    for platform in $platforms; do
        "$bin/securepush" device --user alice --platform "$platform" --password-file "$secrets/alice.password" </dev/null &
        devices+=($!)
    done
    trap 'exit 0' INT
    # Without the terminal nobody could end it: make does not pass its hangup on.
    while [ -t 0 ]; do sleep 2 & wait $!; done
}
