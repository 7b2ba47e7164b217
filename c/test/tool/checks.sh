# checks.sh: what the tests of the commands share; it is sourced.
#
# Each check counts in $checks and, when it fails, in $failures; $work is a folder that is removed at the end.
# shellcheck shell=sh

work=$(mktemp -d)
failures=0
checks=0
last=

complain() {
    echo "FAILED: $*"
    echo "--- printed:"
    cat "$work/out"
    failures=$((failures + 1))
}

# run STATUS COMMAND...: runs, and keeps what was printed on either output.
run() {
    wanted=$1
    shift
    "$@" > "$work/out" 2>&1 < /dev/null
    status=$?
    checks=$((checks + 1))
    last="$*"
    [ $status -eq "$wanted" ] || complain "status $status, not $wanted: $last"
}

# says TEXT / says_not TEXT: of what was printed last.
says() {
    checks=$((checks + 1))
    grep -qF -e "$1" "$work/out" || complain "\"$1\" was not said by: $last"
}
says_not() {
    checks=$((checks + 1))
    grep -qF -e "$1" "$work/out" && complain "\"$1\" was said by: $last"
}
