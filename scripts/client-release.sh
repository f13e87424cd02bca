#!/usr/bin/env bash
# Splits Clients/Swift off, with its history, into a repository that apps add by URL:
#
#   scripts/client-release.sh [VERSION] [REPOSITORY]
#
# VERSION is the tag, by default the version of the services. REPOSITORY is a URL or a folder; a folder that does not
# exist becomes a bare repository. A split commit has the tree, author, dates and message of its original and nothing
# else. Each run therefore makes the same commits again, and a new release continues the branch of the last one. The
# push is never forced: git refuses a history that does not continue, and a tag that points elsewhere.
#
# `git subtree split` does the same, but not every git has it.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$here/.."

folder=Clients/Swift
version=${1:-$("$here/version.sh")}
repository=${2:-.build/client-release/securepush-client-swift.git}

# SwiftPM takes a tag as a version only in this form.
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "The version must have the form 1.2.3, but is '$version'." 64
git rev-parse --quiet --verify "HEAD:$folder" >/dev/null || die "HEAD has no folder $folder."
[ -z "$(git status --porcelain -- $folder)" ] || die "$folder has changes that are not committed."
[ "$(git rev-parse --is-shallow-repository)" = false ] || die "This clone is shallow; run git fetch --unshallow."

# A file for each original, with the split commit: the bash of macOS has no associative arrays.
split=$(mktemp -d "${TMPDIR:-/tmp}/securepush-split.XXXXXX")
trap 'rm -rf "$split"' EXIT

# Prints one field of a commit: field COMMIT FORMAT
field() { git log -1 --date=raw --encoding=UTF-8 --format="$2" "$1"; }

# Makes the commit that has the folder of commit $1 as its root; the other arguments are the original's parents.
rewrite() {
    local commit=$1 tree parent parents=()
    shift
    for parent in "$@"; do
        if [ -e "$split/$parent" ]; then parents+=(-p "$(cat "$split/$parent")"); fi
    done
    tree=$(git rev-parse --quiet --verify "$commit:$folder" || git hash-object -t tree -w /dev/null)
    field "$commit" %B | GIT_AUTHOR_NAME=$(field "$commit" %an) GIT_AUTHOR_EMAIL=$(field "$commit" %ae) \
        GIT_AUTHOR_DATE=$(field "$commit" %ad) GIT_COMMITTER_NAME=$(field "$commit" %cn) \
        GIT_COMMITTER_EMAIL=$(field "$commit" %ce) GIT_COMMITTER_DATE=$(field "$commit" %cd) \
        git -c i18n.commitEncoding=UTF-8 commit-tree --no-gpg-sign ${parents[@]+"${parents[@]}"} "$tree"
}

count=0 last=
# The merges are simplified by the folder's own history, so that the parents are commits that changed it.
while read -r commit parents; do
    # shellcheck disable=SC2086 # hashes
    last=$(rewrite "$commit" $parents)
    printf '%s\n' "$last" >"$split/$commit"
    count=$((count + 1))
done < <(git rev-list --reverse --topo-order --simplify-merges --parents HEAD -- $folder)

[ "$(git rev-parse "$last^{tree}")" = "$(git rev-parse "HEAD:$folder")" ] || die "The split differs from $folder."
case $repository in
    *://* | *@*:*) ;;
    *)
        if [ ! -e "$repository" ]; then
            git init --quiet --bare "$repository"
            git -C "$repository" symbolic-ref HEAD refs/heads/main
        fi
        ;;
esac
git push --quiet "$repository" "$last:refs/heads/main" "$last:refs/tags/$version"
say "$folder at $version: $count commits in $repository, the last is $last"
