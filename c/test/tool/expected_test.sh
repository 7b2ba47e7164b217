#!/bin/sh
# `weir replay` equals spec/data/expected.tsv: allowed, refused, keys refused, most in a window.
#
#   expected_test.sh WEIR, from the root of the repository
#
# The logs that may be kept here always; all of them when WEIR_DATA names the folder that has them.

weir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
rows=0

log_of() {
    case $1 in
    erddap) echo "${WEIR_DATA:-spec/data}/erddap-nginx-combined.log.gz" ;;
    http_flood) echo "${WEIR_DATA:-spec/data}/crowdsec-http-flood-combined.log" ;;
    nasa) echo "${WEIR_DATA:+$WEIR_DATA/nasa-1995-08-01-common.log.gz}" ;;
    elastic_unsorted) echo "${WEIR_DATA:+$WEIR_DATA/elastic-apache-unsorted-combined.log.gz}" ;;
    tls) echo "${WEIR_DATA:+$WEIR_DATA/cc-by-sa/wrccdc-tls.tsv.gz}" ;;
    esac
}

# limit_of LIMIT WINDOW_S ALGORITHM [WORD...]: the limit as a policy writes it.
limit_of() {
    limit=$1 window=$2 algorithm=$3
    shift 3
    fields="name = \"per_client\", limit = $limit, window = \"${window}s\""
    for word in "$@"; do
        case $word in
        burst=limit) fields="name = \"per_client\", rate = $limit, period = \"${window}s\"" ;;
        slots=*) fields="$fields, slots = ${word#slots=}" ;;
        *) fields="$fields, $word = true" ;;
        esac
    done
    echo "weir.$algorithm { $fields }"
}

# number NAME: the first of that name in the report.
number() {
    sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$work/report" | head -n 1
}

tab=$(printf '\t')
while IFS=$tab read -r log limit window algorithm allowed refused keys peak; do
    path=$(log_of "$log")
    [ -n "$path" ] || continue
    field=address
    [ "$log" = tls ] && field=client
    # shellcheck disable=SC2086 # the words of the algorithm are words
    {
        echo 'local weir = require "weir"'
        echo "local per_client = $(limit_of "$limit" "$window" $algorithm)"
        echo "return function(request) return per_client(request.$field) end"
    } > "$work/policy.lua"
    rows=$((rows + 1))
    "$weir" replay --json --top 0 "$work/policy.lua" "$path" > "$work/report"
    got="$? $(number allowed) $(sed -n 's/^  "refused": \([0-9]*\).*/\1/p' "$work/report") $(number keys_refused) $(number most_in_window)"
    if [ "$got" != "0 $allowed $refused $keys $peak" ]; then
        echo "FAILED: $log $limit/${window}s $algorithm: got $got, not 0 $allowed $refused $keys $peak"
        failures=$((failures + 1))
    fi
done < spec/data/expected.tsv

# The raw log: lines torn in two are skipped, the others are all there.
"$weir" replay --json "$work/policy.lua" spec/data/erddap-dirty-600.log > "$work/report"
if [ "$(number records) $(number skipped)" != "484 116" ]; then
    echo "FAILED: the raw log gave $(number records) records, $(number skipped) skipped, not 484 and 116"
    failures=$((failures + 1))
fi

echo "$rows rows, $failures failed"
[ $rows -gt 0 ] && [ $failures -eq 0 ]
