#!/usr/bin/env bash
# SwiftPM with the tools in Tools/: scripts/tools.sh build | test [ARGUMENT...].
set -euo pipefail
cd "$(dirname "$0")/.."
command=${1:?usage: scripts/tools.sh build | test [ARGUMENT...]}
shift
SECUREPUSH_TOOLS=1 exec swift "$command" "$@"
