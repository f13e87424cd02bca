#!/usr/bin/env bash
# Makes the Debian packages: scripts/deb.sh [BINARIES [OUTPUT]]
#
# BINARIES is .build/release, OUTPUT is .build/deb. `make deb` builds the executable first. Writes securepush_VERSION_ARCH.deb
# and securepush-dbgsym_VERSION_ARCH.deb with its symbols. The executable writes its manual pages and completions.
# Packages have the time of the last commit, so equal files give equal packages. DEB_COMPRESSION=none is quick, for tests.
# SECUREPUSH_MAINTAINER is `NAME <ADDRESS>` of whoever makes the package. Needs dpkg-dev, binutils and Python 3.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."
binaries=${1:-.build/release} output=${2:-.build/deb}
for tool in dpkg-deb dpkg-shlibdeps objcopy python3; do
    command -v $tool >/dev/null || die "$tool is missing: install dpkg-dev, binutils and python3." 69
done
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(own_git log -1 --format=%ct 2>/dev/null || date +%s)}
version=$("$binaries/securepush" --version | head -n 1 | sed -nE 's/^(securepush )?([0-9][0-9A-Za-z.-]*).*/\2/p')
[ -n "$version" ] || die "$binaries/securepush does not tell its version."
# 0.2.0-alpha.1 is 0.2.0~alpha.1-1, which comes before 0.2.0-1.
version=${version/-/\~}-1
architecture=$(dpkg --print-architecture)
maintainer=${SECUREPUSH_MAINTAINER:-SecurePush maintainers <maintainers@securepush.example.org>}

stage=$(mktemp -d "${TMPDIR:-/tmp}/securepush-deb.XXXXXX")
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
root=$stage/securepush symbols=$stage/securepush-dbgsym
umask 022
mkdir -p "$root"/{DEBIAN,etc/securepush,usr/{bin,lib/securepush,lib/systemd/system,share/{doc/securepush,lintian/overrides}}}
mkdir -p "$symbols"/{DEBIAN,usr/lib/debug/usr/lib/securepush,usr/share/doc}

# The services have short names, so their links are not on the path.
"$here/strip.sh" "$binaries" "$root/usr/lib/securepush"
mv "$root/usr/lib/securepush/debug/securepush.debug" "$symbols/usr/lib/debug/usr/lib/securepush/"
rmdir "$root/usr/lib/securepush/debug"
ln -s ../lib/securepush/securepush "$root/usr/bin/securepush"

install -m 644 deploy/systemd/*.service "$root/usr/lib/systemd/system/"
install -m 644 deploy/debian/*.env "$root/etc/securepush/"
# Conffiles: what an administrator changes stays in an upgrade.
(cd "$root" && find etc -type f -printf '/%p\n' | sort) >"$root/DEBIAN/conffiles"
install -m 755 deploy/debian/{postinst,prerm,postrm} "$root/DEBIAN/"
install -m 644 deploy/debian/copyright "$root/usr/share/doc/securepush/"
install -D -m 644 deploy/nginx/securepush.conf "$root/usr/share/doc/securepush/examples/nginx.conf"
install -m 644 deploy/debian/lintian-overrides "$root/usr/share/lintian/overrides/securepush"
date=$(date -R -u -d "@$SOURCE_DATE_EPOCH")
printf 'securepush (%s) stable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$version" "$maintainer" "$date" |
    gzip -9n >"$root/usr/share/doc/securepush/changelog.Debian.gz"
gzip -9nc CHANGELOG.md >"$root/usr/share/doc/securepush/changelog.gz"

"$here/manual.sh" "$binaries" "$stage/man" "$stage/completions" >/dev/null
mkdir -p "$root/usr/share/man"
cp -r "$stage/man"/man[18] "$root/usr/share/man/"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
# Those of the command line; the services are not on the path. That for bash is sourced, so its first line says nothing.
mkdir -p "$root/usr/share/bash-completion/completions"
sed '1{/^#!/d}' "$stage/completions/bash/securepush" >"$root/usr/share/bash-completion/completions/securepush"
install -D -m 644 "$stage/completions/zsh/_securepush" "$root/usr/share/zsh/vendor-completions/_securepush"
install -D -m 644 "$stage/completions/fish/securepush.fish" "$root/usr/share/fish/vendor_completions.d/securepush.fish"

# The libraries that the executable loads, and the versions whose functions it calls.
mkdir -p "$stage/shlibs/debian"
printf 'Source: securepush\n\nPackage: securepush\nArchitecture: any\n' >"$stage/shlibs/debian/control"
depends=$(cd "$stage/shlibs" &&
    dpkg-shlibdeps -O --ignore-missing-info "$root/usr/lib/securepush/securepush" 2>"$stage/shlibs/log" |
    sed -n 's/^shlibs:Depends=//p') || { cat "$stage/shlibs/log" >&2; die "dpkg-shlibdeps failed."; }

control() { # ROOT PACKAGE DEPENDS SECTION DESCRIPTION...
    local folder=$1 package=$2 needs=$3 section=$4
    shift 4
    cat >"$folder/DEBIAN/control" <<END
Package: $package
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: $section
Priority: optional
Depends: $needs
Installed-Size: $(du -sk --exclude=DEBIAN "$folder" | cut -f 1)
$(printf '%s\n' "$@")
END
    # The time of the commit, in the file system too, because dpkg-deb takes it from there if it is earlier.
    find "$folder" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}
control "$root" securepush "$depends, ca-certificates" net \
    "Description: push notifications that carry only an ID" \
    " A sender hands a secret to ingest, which seals and stores it. Only an ID" \
    " passes through the broker, the notification hub and the push networks. The" \
    " device fetches the secret from retrieval with its user's credentials." \
    " ." \
    " The package has the services ingest, dispatcher, retrieval, operator and hub, a" \
    " hub emulator, the command line and systemd units. No service starts before it is" \
    " configured and enabled." \
    "Recommends: systemd (>= 251)" \
    "Suggests: postgresql (>= 15), rabbitmq-server (>= 3.10)"
ln -s securepush "$symbols/usr/share/doc/securepush-dbgsym"
control "$symbols" securepush-dbgsym "securepush (= $version)" debug \
    "Description: debug symbols for securepush" \
    " gdb and lldb find them by themselves."

mkdir -p "$output"
for folder in "$root" "$symbols"; do
    dpkg-deb --root-owner-group -Z"${DEB_COMPRESSION:-xz}" --build "$folder" "$output" >/dev/null
done
for package in "$output"/securepush{,-dbgsym}_"${version}_$architecture".deb; do
    say "$package ($(awk -v bytes="$(stat -c %s "$package")" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'))"
done
