# shellcheck shell=bash
# Sourced by demo.sh, after terminal.sh: what a person sees of a long build.

# Condenses the output of `swift build`: a line for every tenth of the steps and at least every 15 seconds, errors, and
# the line of the end. SwiftPM finds more steps while it builds, so the total may grow.
build_progress() {
    local line step= tenth=-1 shown=$SECONDS code wait=()
    # bash 3.2 of macOS cannot tell the end of its input from the end of the time.
    if [ "${BASH_VERSINFO[0]}" -ge 4 ]; then wait=(-t 5); fi
    while :; do
        line= code=0
        IFS= read -r ${wait[@]+"${wait[@]}"} line || code=$?
        case $line in
            *error:* | *"warning: unre"* | Build\ *) say "$line" ;;
            "["*/*"]"*)
                step=${line%%]*}
                step=${step#[}
                # SwiftPM counts from 0, and a total of 0 is nobody's tenth.
                if [[ $step =~ ^[0-9]+/[1-9][0-9]*$ ]] && [ $((10 * ${step%/*} / ${step#*/})) -gt "$tenth" ]; then
                    tenth=$((10 * ${step%/*} / ${step#*/})) shown=$SECONDS
                    say "$dim  [$step] $((tenth * 10)) %$plain"
                fi
                ;;
        esac
        if [ "$code" -gt 0 ] && [ "$code" -le 128 ]; then return 0; fi
        if [ $((SECONDS - shown)) -ge 15 ]; then
            shown=$SECONDS
            say "$dim  [${step:-0/?}] still building$plain"
        fi
    done
}
