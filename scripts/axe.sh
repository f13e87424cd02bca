#!/usr/bin/env bash
# Brings axe-core, which checks pages for accessibility, into .build/axe: scripts/axe.sh
#
# Needs Python 3 with venv and, the first time, PyPI: one of its packages carries the script.
set -euo pipefail
. "$(dirname "$0")/common.sh"
programs=$(python_with axe --no-deps axe-playwright-python==0.1.8)
cp "$programs"/../lib/python*/site-packages/axe_playwright_python/axe.min.js "$here/../.build/axe/axe.min.js"
