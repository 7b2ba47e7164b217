#!/bin/sh
# The README shows the chat policy, what replaying it prints and the C example. All three must be so.
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source"

# The text of the first block that begins with ```NAME.
block() {
    awk -v open="\`\`\`$1" '$0 == open { inside = 1; next } inside && $0 == "```" { exit } inside' README.md
}

same() {
    cmp -s "$1" "$2" || { echo "README.md: the $3 is not what it shows"; diff "$1" "$2"; exit 1; }
}

block lua >"$work/policy"
same "$work/policy" lua/policies/chat.lua "policy"
block c >"$work/c"
tail -n +3 c/examples/embed.c >"$work/example"
same "$work/c" "$work/example" "C example"
block text >"$work/shown"
"$build/weir" replay lua/policies/chat.lua spec/data/erddap-nginx-combined.log.gz >"$work/printed"
same "$work/shown" "$work/printed" "replay"
