#!/usr/bin/env bash
# Writes the manual pages of programs that are built, and the completion scripts of securepush:
#   scripts/manual.sh [BINARIES [MAN [COMPLETIONS]]]
#
# BINARIES is .build/debug, MAN is .build/man and COMPLETIONS is .build/completions unless they are given. The folders of
# COMPLETIONS are those of a Debian package: bash, zsh (files _NAME) and fish (files NAME.fish).
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."
binaries=${1:-.build/debug} man=${2:-.build/man} completions=${3:-.build/completions}
[ -x "$binaries/securepush" ] || die "$binaries has no programs: run \`make build\`." 69

"$here/man-pages.py" "$binaries" "$man"
mkdir -p "$completions"/{bash,zsh,fish}
"$binaries/securepush" --generate-completion-script bash >"$completions/bash/securepush"
"$binaries/securepush" --generate-completion-script zsh >"$completions/zsh/_securepush"
"$binaries/securepush" --generate-completion-script fish >"$completions/fish/securepush.fish"
say "$(find "$man" -name 'securepush*' | wc -l) manual pages in $man, completion scripts in $completions."
