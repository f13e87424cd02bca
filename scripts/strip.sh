#!/usr/bin/env bash
# Takes the debug symbols out of securepush: scripts/strip.sh FROM TO
#
# Writes the executable of the folder FROM into the folder TO without symbols, the links of the services beside it, and the
# symbols as TO/debug/securepush.debug. The executable names that file. gdb and lldb look for it beside the executable, in a
# folder .debug there, and in /usr/lib/debug followed by the executable's own folder. Linux only; needs objcopy.
set -euo pipefail
. "$(dirname "$0")/common.sh"
[ $# -eq 2 ] || usage
from=$1/securepush to=$2/securepush debug=$2/debug/securepush.debug
objcopy=$(command -v objcopy || command -v llvm-objcopy) || die "objcopy is missing: install binutils." 69
[ -x "$from" ] || die "$from is not there: build it first." 66
# Stripped once more it would get an empty file of symbols. grep -q would end readelf with SIGPIPE.
"${objcopy%objcopy}readelf" -SW "$from" | grep -F .symtab >/dev/null ||
    die "$from has no symbols: name the folder of the executable as it was built, such as .build/release." 66

mkdir -p "$2/debug"
mebibytes() { awk -v bytes="$(stat -Lc %s "$1")" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'; }
"$objcopy" --only-keep-debug "$from" "$debug"
chmod 644 "$debug"
# The dynamic symbols stay: Swift needs them at run time.
"$objcopy" --strip-all "$from" "$to.part"
(cd "$2/debug" && "$objcopy" --add-gnu-debuglink=securepush.debug ../securepush.part)
chmod 755 "$to.part"
mv -f "$to.part" "$to"
"$here/links.sh" "$2"
say "securepush: $(mebibytes "$from"), stripped $(mebibytes "$to"), symbols $(mebibytes "$debug")"
