#!/usr/bin/env bash
# Makes the names of the services in the folder of securepush, as links to it: scripts/links.sh FOLDER
set -euo pipefail
for name in ingest dispatcher retrieval operator hub-emulator; do
    ln -sfn securepush "$1/$name"
done
