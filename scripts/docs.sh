#!/usr/bin/env bash
# Builds the site of the documents into .build/site, or shows it while you write: scripts/docs.sh [serve [ADDRESS:PORT]]
#
# Needs Python 3.11 or newer with venv. The first time, pip gets the packages of scripts/docs/requirements.txt from PyPI
# into .build/docs. Without the internet, pip's own settings name a folder with them:
#     pip download --no-deps --require-hashes -r scripts/docs/requirements.txt -d FOLDER
#     PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER make docs
set -euo pipefail
. "$(dirname "$0")/common.sh"
home=$here/../.build/docs
requirements=$here/docs/requirements.txt

python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    die "Python 3.11 or newer with venv is needed; on Debian and Ubuntu: apt-get install python3-venv" 69
# The copy of the list is written last, so an install that was interrupted begins anew.
if ! cmp -s "$requirements" "$home/requirements.txt"; then
    say "Installing MkDocs ..."
    rm -rf "$home"
    python3 -m venv "$home"
    "$home/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes \
        -r "$requirements" || die "pip could not install the packages of scripts/docs/requirements.txt." 69
    cp "$requirements" "$home/requirements.txt"
fi

# Material's notice that a second version of MkDocs will not run it; the versions here are fixed.
export NO_MKDOCS_2_WARNING=1
if [ "${1:-}" = serve ]; then
    exec "$home/bin/mkdocs" serve --config-file "$here/docs/mkdocs.yml" --dev-addr "${2:-127.0.0.1:8000}"
fi
# With --quiet MkDocs neither shows nor counts warnings, so --strict would find nothing.
"$home/bin/mkdocs" build --strict --config-file "$here/docs/mkdocs.yml" 2>&1 | sed '/^INFO /d' >&2
say "The site is in .build/site: open .build/site/index.html."
