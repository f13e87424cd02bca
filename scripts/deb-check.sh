#!/usr/bin/env bash
# Installs the Debian packages in a scratch root, looks at them, and removes them again: scripts/deb-check.sh [BINARIES]
#
# BINARIES is .build/release. Checks files, owners and modes, runs each service, verifies the systemd units and their
# exposure, and shows that changed settings survive an upgrade and keys survive a purge. Needs dpkg-dev, binutils and
# systemd; without root also fakeroot. Nothing outside the scratch root changes, and no service starts.
set -euo pipefail
. "$(dirname "$0")/common.sh"
binaries=${1:-$here/../.build/release}
for tool in dpkg dpkg-deb dpkg-shlibdeps objcopy readelf systemd-analyze; do
    command -v $tool >/dev/null || die "$tool is missing: install dpkg-dev, binutils and systemd." 69
done
if [ "$(id -u)" -ne 0 ] && [ -z "${FAKEROOTKEY:-}" ]; then
    command -v fakeroot >/dev/null || die "Run this as root, or install fakeroot." 69
    exec fakeroot "$0" "$@"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/securepush-deb-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root checks=0
check() { # DESCRIPTION COMMAND...
    local description=$1
    shift
    "$@" >"$work/output" 2>&1 || {
        cat "$work/output" >&2
        die "$description: $*"
    }
    checks=$((checks + 1))
}
equal() { # DESCRIPTION FOUND EXPECTED
    [ "$2" = "$3" ] || die "$1: found \"$2\", expected \"$3\""
    checks=$((checks + 1))
}

DEB_COMPRESSION=none "$here/deb.sh" "$binaries" "$work/packages"
package=$(echo "$work"/packages/securepush_*.deb) symbols=$(echo "$work"/packages/securepush-dbgsym_*.deb)
depends=$(dpkg-deb -f "$package" Depends)
for library in libc6 libpq5 librabbitmq4 libsqlite3-0; do
    case ", $depends" in *", $library"*) checks=$((checks + 1)) ;; *) die "Depends has no $library: $depends" ;; esac
done

mkdir -p "$root"/var/lib/dpkg/{info,updates}
: >"$root/var/lib/dpkg/status"
scratch() {
    dpkg --root="$root" --log=/dev/null --force-script-chrootless --force-depends --force-confold "$@"
}
# Without the dependencies: this root has nothing else.
check "the packages can be installed" scratch --install "$package" "$symbols"
equal "state" "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${db:Status-Status} ' securepush securepush-dbgsym)" \
    "installed installed "

files=0
while read -r owner mode path; do
    files=$((files + 1))
    equal "owner of $path" "$owner" "root:root"
    case $path in
        /usr/bin/* | /usr/lib/securepush/*) equal "mode of $path" "$mode" 755 ;;
        *) equal "mode of $path" "$mode" 644 ;;
    esac
done < <(cd "$root" && find etc usr -type f -printf '%u:%g %m /%p\n')
folders=$(cd "$root" && find etc usr -type d ! -perm 755)
equal "folders that are not 755" "$folders" ""
for name in usr/bin/securepush usr/lib/securepush/{ingest,dispatcher,retrieval,operator,hub,hub-emulator}; do
    check "$name runs" "$root/$name" --version
    equal "file of $name" "$(readlink -f "$root/$name")" "$root/usr/lib/securepush/securepush"
done
check "the symbols are there" test -s "$root/usr/lib/debug/usr/lib/securepush/securepush.debug"
check "the executable names them" grep -qF securepush.debug <(readelf -p .gnu_debuglink "$root/usr/lib/securepush/securepush")

# Each variable of the units and of the files of settings is a setting.
settings=$(cat "$here/../docs/reference/"{configuration,hub-emulator}.md)
for variable in $(sed -nE 's/^(Environment=|#)?([A-Z][A-Z_]+)=.*/\2/p' "$root"/usr/lib/systemd/system/*.service \
    "$root"/etc/securepush/*.env | sort -u); do
    # A secret of the hub emulator may also be in a file.
    case $settings in
        *"\`$variable\`"* | *"\`${variable%_FILE}\`"*) checks=$((checks + 1)) ;;
        *) die "$variable is no setting." ;;
    esac
done
# `systemctl help` opens the page that a unit names.
for page in $(sed -nE 's/^Documentation=man:(.*)\(8\)$/\1/p' "$root"/usr/lib/systemd/system/*.service); do
    check "manual page of $page" gzip -t "$root/usr/share/man/man8/$page.8.gz"
done
for file in man/man1/securepush{,-send}.1.gz bash-completion/completions/securepush zsh/vendor-completions/_securepush \
    fish/vendor_completions.d/securepush.fish; do
    check "$file is there" test -s "$root/usr/share/$file"
done

# The units need programs and targets of the system.
mkdir -p "$root/lib/systemd/system" "$root/bin"
cp -a /lib/systemd/system/*.target "$root/lib/systemd/system/"
cp -L /bin/kill "$root/bin/"
units=()
for unit in "$root"/usr/lib/systemd/system/securepush-*.service; do
    name=$(basename "$unit")
    units+=("${name/@./@8082.}")
done
check "the units are valid" systemd-analyze verify --root="$root" --man=no --recursive-errors=no "${units[@]}"
# --recursive-errors reports by the exit code; a warning, such as of an unknown setting, is only printed.
equal "warnings of the units" "$(cat "$work/output")" ""
for name in "${units[@]}"; do
    # In tenths: 2.4 is the highest exposure that passes.
    check "$name is hardened" systemd-analyze security --offline=true --root="$root" --threshold=24 "$name"
    say "$name: exposure $(sed -n 's/.*exposure level for .*: \([0-9.]*\).*/\1/p' "$work/output")"
done

# An upgrade keeps settings; a purge removes them, and keeps keys.
echo HUB_NAME=mine >"$root/etc/securepush/dispatcher.env"
check "the package can be upgraded" scratch --install "$package"
equal "settings after an upgrade" "$(cat "$root/etc/securepush/dispatcher.env")" "HUB_NAME=mine"
mkdir -m 700 "$root/etc/securepush/ingest"
echo key >"$root/etc/securepush/ingest/payload.keys"
check "the packages can be purged" scratch --purge securepush-dbgsym securepush
rm -rf "${root:?}"/{lib,bin}
equal "files after a purge" "$(cd "$root" && find etc usr -type f 2>/dev/null)" "etc/securepush/ingest/payload.keys"
say "$files files, $checks checks passed"
