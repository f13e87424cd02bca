#!/usr/bin/env bash
# Puts the web example and its SDK into a folder that can be served as it is:
# scripts/web-app.sh FOLDER RETRIEVAL_URL [--emulator] [--push-keys FILE]
#
#   --emulator   the hub emulator serves the folder (EMULATOR_WEB_APP), and its device stream takes the place of a push
#                service for a browser that reaches none
#   --push-keys  the JWK Set of `securepush keys generate --push`
set -euo pipefail
. "$(dirname "$0")/common.sh"

[ $# -ge 2 ] || usage
folder=$1 retrieval=${2%/}
shift 2
devices=null keys=null
while [ $# -gt 0 ]; do
    case $1 in
        --emulator) devices="'/emulator/devices/'" ;;
        --push-keys) keys=$(cat "${2:?is a file}") && shift ;;
        *) usage ;;
    esac
    shift
done
case $retrieval in http://* | https://*) ;; *) die "$retrieval is no http(s) URL." 64 ;; esac
case $retrieval in *[\'\"\;\ \|]*) die "$retrieval has characters that no URL has." 64 ;; esac
origin=$(printf '%s\n' "$retrieval" | sed -E 's#^(https?://[^/]+).*#\1#')

mkdir -p "$folder/securepush"
cp -R "$here/../Examples/Web/." "$folder/"
cp "$here/../Clients/Web/securepush.js" "$here/../Clients/Web/securepush-worker.js" "$folder/securepush/"
cp -R "$here/../Clients/Web/lib" "$folder/securepush/"
rm -f "$folder/README.md"
sed -i.bak "s|https://push.example.com|$origin|" "$folder/_headers"
rm -f "$folder/_headers.bak"
cat >"$folder/config.js" <<END
// Written by scripts/web-app.sh.
export const retrievalURL = '$retrieval';
export const pushKeys = $keys;
export const emulatorDevices = $devices;
END
