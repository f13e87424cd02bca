#!/usr/bin/env bash
# Shows that an app can add the client library by URL: scripts/client-scratch-app.sh [REPOSITORY] [VERSION]
#
# Makes an app in a temporary folder that depends on the repository of client-release.sh by a file URL, lists the
# packages that SwiftPM fetches for it, builds it and runs it.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."

repository=${1:-.build/client-release/securepush-client-swift.git}
[ -d "$repository" ] || die "There is no repository $repository; run \`make client-release\` first."
repository=$(cd "$repository" && pwd)
version=${2:-$(git -C "$repository" tag --list --sort=version:refname | tail -1)}
package=$(basename "$repository" .git)
app=$(mktemp -d "${TMPDIR:-/tmp}/securepush-scratch-app.XXXXXX")
trap 'rm -rf "$app"' EXIT
mkdir -p "$app/Sources/ScratchApp"

cat >"$app/Package.swift" <<MANIFEST
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "ScratchApp",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(url: "file://$repository", exact: "$version")],
    targets: [
        .executableTarget(
            name: "ScratchApp", dependencies: [.product(name: "SecurePushClient", package: "$package")])
    ]
)
MANIFEST

cat >"$app/Sources/ScratchApp/main.swift" <<'SOURCE'
import SecurePushClient

print("The scratch app has \(SecurePushClient.self) and \(NotificationServiceHandler.self).")
SOURCE

heading "SwiftPM fetches"
swift package --package-path "$app" resolve 2>&1 |
    sed -nE 's/^(Fetching|Working copy|Creating working copy|Checking out|Computed) .*/  &/p'
heading "Packages in Package.resolved"
sed -nE 's/.*"(identity|location|version)" : "(.*)".*/\2/p' "$app/Package.resolved" | paste - - - | sed 's/^/  /'
heading "Build"
swift build --package-path "$app" 2>&1 | tail -2
"$app/.build/debug/ScratchApp"
