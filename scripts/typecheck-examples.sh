#!/usr/bin/env bash
# Type-checks the iOS example, and the parts of the client library that only Apple's systems compile, on any system:
# scripts/typecheck-examples.sh [FOLDER...]
#
# Tests/AppleStandIns stands for Apple's modules. Without a FOLDER it is Examples/iOS. Apple's headers also say since
# which version of iOS something exists; this does not check that.
set -euo pipefail
. "$(dirname "$0")/common.sh"
folders=()
for folder in "${@:-$here/../Examples/iOS}"; do folders+=("$(cd "$folder" && pwd)"); done
cd "$here/.."

modules=$(mktemp -d "${TMPDIR:-/tmp}/securepush-stand-ins.XXXXXX")
trap 'rm -rf "$modules"' EXIT
compile() {
    swiftc -swift-version 6 -parse-as-library -package-name securepush -module-cache-path "$modules/cache" \
        -I "$modules" "$@"
}

# Sets `files` to the Swift files of folders. The bash of macOS has no mapfile.
list_files() {
    local file
    files=()
    while IFS= read -r file; do files+=("$file"); done < <(find "$@" -name '*.swift' | sort)
}

# Emits the module of a folder: module NAME FOLDER [OPTION...]
module() {
    list_files "$2"
    compile -emit-module -module-name "$1" -emit-module-path "$modules/$1.swiftmodule" "${@:3}" "${files[@]}"
}

# In this order: a stand-in may use those before it.
for name in Security CryptoKit UserNotifications UIKit; do
    module "$name" "Tests/AppleStandIns/$name"
done
for name in SecurePushEnvelope SecurePushClient; do
    # As in its Package.swift.
    module "$name" "Clients/Swift/Sources/$name" -enable-upcoming-feature InternalImportsByDefault
done

for folder in "${folders[@]}"; do
    for target in App NotificationService; do
        list_files "$folder/$target" "$folder/Common"
        compile -typecheck -warnings-as-errors -module-name "$target" "${files[@]}"
        say "$target: ${#files[@]} files"
    done
done
