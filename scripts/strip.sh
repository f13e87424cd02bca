#!/usr/bin/env bash
# Takes the debug symbols out of executables: scripts/strip.sh FROM TO [NAME...]
#
# Writes each executable of the folder FROM into the folder TO without symbols, and its symbols as TO/debug/NAME.debug. The
# executable names that file. gdb and lldb look for it beside the executable, in a folder .debug there, and in
# /usr/lib/debug followed by the executable's own folder. Linux only; needs objcopy.
set -euo pipefail
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || die "usage: scripts/strip.sh FROM TO [NAME...]" 64
from=$1 to=$2
shift 2
[ $# -gt 0 ] || set -- ingest dispatcher retrieval hub-emulator securepush
objcopy=$(command -v objcopy || command -v llvm-objcopy) || die "objcopy is missing: install binutils." 69

mkdir -p "$to/debug"
mebibytes() { awk -v bytes="$(stat -Lc %s "$1")" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'; }
for name in "$@"; do
    [ -x "$from/$name" ] || die "$from/$name is not there: build it first." 66
    "$objcopy" --only-keep-debug "$from/$name" "$to/debug/$name.debug"
    chmod 644 "$to/debug/$name.debug"
    # The dynamic symbols stay: Swift needs them at run time.
    "$objcopy" --strip-all "$from/$name" "$to/$name.part"
    (cd "$to/debug" && "$objcopy" --add-gnu-debuglink="$name.debug" "../$name.part")
    chmod 755 "$to/$name.part"
    mv -f "$to/$name.part" "$to/$name"
    printf '%-14s %12s -> %12s, symbols %12s\n' "$name" "$(mebibytes "$from/$name")" "$(mebibytes "$to/$name")" \
        "$(mebibytes "$to/debug/$name.debug")"
done
