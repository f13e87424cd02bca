#!/usr/bin/env bash
# Makes the links by which `securepush` runs a service under the service's name: scripts/links.sh DIR [TARGET]
#
# DIR has the links. TARGET is the program as the links name it, by default the securepush in DIR.
#
# Decision: docs/decisions/0035-one-program.md
set -euo pipefail
cd "${1:?usage: scripts/links.sh DIR [TARGET]}"
for service in ingest dispatcher retrieval operator hub hub-emulator; do
    ln -sfn "${2:-securepush}" "$service"
done
