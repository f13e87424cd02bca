#!/usr/bin/env bash
# Every test, with what it needs: installs what is missing, builds, starts private servers, runs all suites.
# With arguments only what they choose runs, by `swift test`: --filter 'StorageTests|AMQPTests'.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."

timed "install" "$here/install-dependencies.sh" test
export SECUREPUSH_TOOLS=1 # the tools are tested too
timed "build" swift build --build-tests
"$here/links.sh" .build/debug
if [ $# -gt 0 ]; then exec "$here/with-servers.sh" swift test --skip-build "$@"; fi
exec "$here/with-servers.sh" "$here/suites.sh"
