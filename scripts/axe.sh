#!/usr/bin/env bash
# Brings axe-core, which checks pages for accessibility, into .build/axe: scripts/axe.sh
#
# Needs Python 3 with venv and, the first time, PyPI: one of its packages carries the script.
set -euo pipefail
. "$(dirname "$0")/common.sh"
home=$here/../.build/axe
requirement=axe-playwright-python==0.1.8

[ "$(cat "$home/installed" 2>/dev/null)" != "$requirement" ] || exit 0
rm -rf "$home"
mkdir -p "$home"
python3 -m venv "$home/venv" >&2 || die "python3-venv is missing: run scripts/test-clients.sh" 69
"$home/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$home" "$requirement" >&2 ||
    die "$requirement cannot be downloaded: is PyPI reachable?" 69
python3 - "$home" <<'END'
import pathlib, sys, zipfile

folder = pathlib.Path(sys.argv[1])
wheel = next(folder.glob("*.whl"))
with zipfile.ZipFile(wheel) as file:
    (folder / "axe.min.js").write_bytes(file.read("axe_playwright_python/axe.min.js"))
END
rm -rf "$home/venv" "$home"/*.whl
echo "$requirement" >"$home/installed"
