#!/usr/bin/env bash
# Every test, with what it needs: installs what is missing, builds, starts private servers, runs all suites.
# Arguments go to `swift test`, for example --filter StorageTests. The runner's own closing line stands last.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/terminal.sh"
cd "$here/.."

timed "install" "$here/install-dependencies.sh" test
timed "build" swift build --build-tests
exec "$here/with-servers.sh" swift test --skip-build "$@"
