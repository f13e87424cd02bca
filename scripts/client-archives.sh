#!/usr/bin/env bash
# Writes the SDKs of HEAD as archives of their sources: scripts/client-archives.sh [FOLDER]
#
# FOLDER, .build/clients unless given, gets securepush-client-NAME-VERSION.tar.gz for each folder of Clients that has a
# licence. Equal commits give equal archives. Apps get the Swift SDK by URL instead: scripts/client-release.sh.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."
folder=${1:-.build/clients} version=$("$here/version.sh")
mkdir -p "$folder"
for license in Clients/*/LICENSE; do
    client=$(dirname "$license") name=$(basename "$(dirname "$license")" | tr '[:upper:]' '[:lower:]')
    archive=securepush-client-$name-$version
    own_git archive --format=tar --prefix="$archive/" "HEAD:$client" | gzip -9n >"$folder/$archive.tar.gz"
    say "$folder/$archive.tar.gz ($(($(wc -c <"$folder/$archive.tar.gz") / 1024)) KiB)"
done
