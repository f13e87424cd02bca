# shellcheck shell=bash
# Sourced by demo.sh, after common.sh: what a person sees of a long build.

# The steps of a build from nothing. SwiftPM itself learns of them while it builds: it begins with a total of a third.
full_build=3300
if [ -e "$here/../.build/debug/securepush" ]; then full_build=0; fi

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# Condenses the output of `swift build` to errors, the line of the end, and how far the build is: one line that changes on
# a terminal, elsewhere a line for every tenth and at least every minute.
build_progress() {
    local line step=0 total=0 tenth=-1 begin=$SECONDS last=$SECONDS code wait=() wipe=''
    if [ "$terminal" = yes ]; then wipe=$'\r\033[K'; fi
    # bash 3.2 of macOS cannot tell the end of its input from the end of the time.
    if [ "${BASH_VERSINFO[0]}" -ge 4 ]; then wait=(-t 1); fi
    while :; do
        line='' code=0
        IFS= read -r ${wait[@]+"${wait[@]}"} line || code=$?
        case $line in
            *error:* | *"warning: unre"* | Build\ *)
                printf '%s%s\n' "$wipe" "$line"
                last=$SECONDS
                ;;
            "["*/*"]"*)
                # SwiftPM counts from 0, and a total of 0 is nobody's share.
                if [[ $line =~ ^\[([0-9]+)/([1-9][0-9]*)\] ]]; then
                    step=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
                    if [ "$total" -lt $full_build ]; then total=$full_build; fi
                fi
                ;;
        esac
        if [ "$code" -gt 0 ] && [ "$code" -le 128 ]; then
            printf %s "$wipe"
            return 0
        fi
        if [ -n "$wipe" ]; then
            [ $SECONDS -eq "$last" ] || printf '%s%s' "$wipe" "$dim$(progress_text)$plain"
            last=$SECONDS
        elif [ $((total > 0 ? 10 * step / total : -1)) -gt $tenth ] || [ $((SECONDS - last)) -ge 60 ]; then
            tenth=$((total > 0 ? 10 * step / total : -1)) last=$SECONDS
            say "$dim$(progress_text)$plain"
        fi
    done
}

# The first steps tell nothing of the time that is left: packages are fetched, and steps are planned.
progress_text() {
    local passed=$((SECONDS - begin)) left=''
    if [ "$total" -eq 0 ]; then
        echo "  fetching packages, $(clock $passed)"
        return
    fi
    if [ $passed -ge 20 ] && [ $((50 * step)) -ge "$total" ]; then
        left=", about $(clock $((passed * (total - step) / step))) left"
    fi
    echo "  [$step/$total] $((100 * step / total)) %, $(clock $passed)$left"
}
