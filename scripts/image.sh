#!/usr/bin/env bash
# Builds the container image: scripts/image.sh [IMAGE]. The name is securepush:local unless it is given. DOCKER names another
# `docker`. The image's labels and `securepush version` tell the git revision of the checkout, and a label SOURCE, a URL.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."
image=${1:-securepush:local}
read -ra docker <<<"${DOCKER:-docker}"
command -v "${docker[0]}" >/dev/null || die "docker is not installed." 69
revision=${SECUREPUSH_REVISION:-$(own_git rev-parse HEAD 2>/dev/null || true)}
created=$(own_git log -1 --format=%cI 2>/dev/null || date -u +%Y-%m-%dT%H:%M:%SZ)
"${docker[@]}" build --file deploy/Dockerfile --tag "$image" --build-arg REVISION="${revision:-unknown}" \
    --build-arg CREATED="$created" --build-arg SOURCE="${SOURCE:-unknown}" .
say "$image: $("${docker[@]}" image inspect --format '{{.Size}}' "$image" |
    awk '{ printf "%.0f MB", $1 / 1000000 }'). docker run --rm $image securepush --help"
