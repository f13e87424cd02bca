#!/usr/bin/env bash
# SwiftPM on the package in Tools/: scripts/tools.sh build | test [ARGUMENT...]. It shares the folder .build with the
# main package, so that the modules of both are compiled once.
#
# The main package offers its modules to it only while SECUREPUSH_TOOLS is set, so that its products are the five
# executables for everyone else.
set -euo pipefail
cd "$(dirname "$0")/.."
command=${1:?usage: scripts/tools.sh build | test [ARGUMENT...]}
shift
SECUREPUSH_TOOLS=1 exec swift "$command" --package-path Tools --scratch-path .build "$@"
