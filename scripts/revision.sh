#!/usr/bin/env bash
# Prints the git revision of the checkout for the builds: the commit, with -dirty if files differ from it, or nothing
# outside a checkout: scripts/revision.sh
. "$(dirname "$0")/common.sh"
own_git describe --always --abbrev=40 --dirty --exclude '*' 2>/dev/null || true
