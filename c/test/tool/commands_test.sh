#!/bin/sh
# The commands from outside: what they print, and what they leave to the shell.
#
#   commands_test.sh WEIR, from the root of the repository

weir=$1
small=spec/data/small
# shellcheck source=c/test/tool/checks.sh
. c/test/tool/checks.sh
trap 'rm -rf "$work"' EXIT

# policy NAME: the rest is the body of the function of the request, under two limits.
policy() {
    file=$work/$1.lua
    shift
    {
        echo 'local weir = require "weir"'
        echo 'local few = weir.fixed_window { name = "few", limit = 2, window = "1h" }'
        echo 'local dark = weir.fixed_window { name = "dark", limit = 1, window = "1h", shadow = true }'
        echo 'local short = weir.sliding_log { name = "short", limit = 9, window = "5s" }'
        echo "return function(request) $* end"
    } > "$file"
}

policy address 'return few(request.address)'
policy client 'return few(request.client)'
policy both 'return few(request.address), dark(request.address)'
policy own 'if request.method == "POST" then return weir.deny("no posts") end return true'
policy short 'return short(request.address)'
policy cost 'return few(request.client, tonumber(request.cost))'
echo 'return function(' > "$work/broken.lua"

# The tool itself.
run 0 "$weir" --help
says 'weir replay POLICY LOG...'
says 'Exit status'
run 0 "$weir" --version
says 'weir '
run 2 "$weir"
run 2 "$weir" frobnicate
says 'there is no command frobnicate'
for command in replay check verify; do
    run 0 "$weir" $command --help
    says "weir $command"
    run 2 "$weir" $command
    says 'must be given'
    run 2 "$weir" $command --frobnicate
    says 'there is no option --frobnicate'
done

# Each format.
run 0 "$weir" replay "$work/address.lua" $small/combined.log
says 'combined, 5 records'
says 'day/month/year:time zone'
says_not 'note:'
run 0 "$weir" replay "$work/address.lua" $small/common.log
says 'common, 3 records'
run 0 "$weir" replay "$work/client.lua" $small/lines.jsonl
says 'JSON lines, 3 records; time from ts, as epoch seconds'
says 'stamps step by 10ms'
run 0 "$weir" replay "$work/client.lua" $small/columns.tsv
says 'tab-separated, 3 records; time from when, as ISO 8601'
says 'stamps step by 10us'
says 'zone +02:00'
gzip -c $small/combined.log > "$work/combined.gz"
run 0 "$weir" replay "$work/address.lua" "$work/combined.gz"
says 'combined in gzip, 5 records'
run 0 sh -c "cat $small/combined.log | '$weir' replay '$work/address.lua' -"
says '5 records'
run 0 sh -c "cat '$work/combined.gz' | '$weir' replay --as-logged '$work/address.lua' -"
says '5 records'

# What is refused, by whom, and when first.
run 0 "$weir" replay "$work/both.lua" $small/combined.log
says 'dark (shadow)'
says '2024-05-12T00:00:03Z'
run 0 "$weir" replay --json "$work/both.lua" $small/combined.log
says '"refused": 1'
says '"allowed": 4'
says '"key": "192.0.2.1"'
says '"first_refusal_us": 1715472003000000'
says '"most_in_window": 2'
run 0 "$weir" replay "$work/own.lua" $small/combined.log
says 'by policy'
run 0 "$weir" replay --top 0 "$work/address.lua" $small/combined.log
says_not 'refused most'
run 2 "$weir" replay --top many "$work/address.lua" $small/combined.log
says '--top was "many"'

# Order and time.
run 0 "$weir" replay "$work/address.lua" $small/backwards.log
says '1 stamp is earlier than the line before, by up to 8s; the records were sorted'
says '2024-05-12T00:00:09Z'
run 0 "$weir" replay --as-logged "$work/address.lua" $small/backwards.log
says 'as logged, each counts as a late request'
says '2024-05-12T00:00:05Z'
run 0 "$weir" replay "$work/address.lua" $small/zone.log
says 'several time zones'
says '2024-05-12T00:00:01Z to 2024-05-12T00:00:02Z'
run 0 "$weir" replay "$work/short.lua" $small/combined.log
says 'short: its window of 5s is under ten steps of the stamps, 1s'
run 0 "$weir" replay "$work/address.lua" $small/backwards.log $small/combined.log $small/common.log
says 'requests'
says '11'

# Conditions.
run 1 "$weir" replay --fail-if 'refused > 1%' "$work/address.lua" $small/combined.log
says 'fails, since refused > 1%'
run 0 "$weir" replay --fail-if 'refused > 50%' --fail-if 'skipped > 0' "$work/address.lua" $small/combined.log
run 2 "$weir" replay --fail-if 'refused a lot' "$work/address.lua" $small/combined.log
says 'it must be like'

# Bad logs: a sentence, the status, and what could be read.
run 2 "$weir" replay "$work/address.lua" $small/nowhere.log
says 'No such file or directory'
run 2 "$weir" replay "$work/address.lua" $small/empty.log
says 'it is empty'
run 2 "$weir" replay "$work/address.lua" $small/binary.log
says 'binary: it holds zero bytes'
run 2 "$weir" replay "$work/address.lua" $small/prose.log
says 'none of its first lines is a record'
run 2 "$weir" replay "$work/address.lua" $small
says 'it is a directory'
run 0 "$weir" replay "$work/address.lua" $small/torn.log
says '2 records'
says '3 lines were skipped; the first is line 1: there is no [time] before the request'
run 2 "$weir" replay "$work/address.lua" $small/nowhere.log $small/combined.log
says 'No such file or directory'
says '5 records'
head -c 120 "$work/combined.gz" > "$work/cut.gz"
run 2 "$weir" replay "$work/address.lua" "$work/cut.gz"
says 'the gzip stream ends in the middle'
run 2 "$weir" replay --time stamp "$work/client.lua" $small/columns.tsv
says 'there is no such field; there are when, client, cost'
printf 'client\tcost\na\t1\n' > "$work/timeless.tsv"
run 2 "$weir" replay "$work/client.lua" "$work/timeless.tsv"
says 'name it with --time FIELD'
printf '192.0.2.1 \033[2J - - [12/May/2024:00:00:01 +0000] "G\033[31mT /" 200 1\n' > "$work/hostile.log"
policy method 'return few(request.method, 3)'
run 0 "$weir" replay "$work/method.lua" "$work/hostile.log"
says 'G\x1b[31mT'

# Bad policies.
run 2 "$weir" replay "$work/broken.lua" $small/combined.log
says 'broken.lua'
run 2 "$weir" replay "$work/nowhere.lua" $small/combined.log
says 'nowhere.lua'
policy missing 'return few(request.cost)'
run 1 "$weir" replay "$work/missing.lua" $small/columns.tsv
says '1 request got no answer; the first is at spec/data/small/columns.tsv line 3'

# A store that is too small forgets, and says so.
awk 'BEGIN { for (i = 0; i < 20000; i++)
    printf "10.0.%d.%d - - [12/May/2024:00:00:%02d +0000] \"GET /\" 200 1\n", i / 250, i % 250, i / 400 }' \
    > "$work/many.log"
run 0 "$weir" replay --memory 64KiB "$work/address.lua" "$work/many.log"
says 'live keys for want of room'
run 0 "$weir" replay "$work/address.lua" "$work/many.log"
says_not 'live keys for want of room'
run 2 "$weir" replay --memory much "$work/address.lua" "$work/many.log"
says 'a size such as 64MiB'

# One request.
run 0 "$weir" check "$work/address.lua" address=192.0.2.1
says 'allowed'
says 'fixed_window'
run 1 "$weir" check "$work/own.lua" method=POST
says 'refused by the policy: no posts'
run 0 "$weir" check "$work/own.lua" method=GET
says 'without a limit'
run 1 "$weir" check "$work/cost.lua" client=a cost=3
says 'however long one waits'
run 0 "$weir" check --json "$work/address.lua" address=192.0.2.1 --time 2024-05-12T00:59:00Z
says '"reset_after_us": 60000000'
run 2 "$weir" check "$work/address.lua" address
says 'must be field=value'
run 2 "$weir" check "$work/address.lua" time=1
says 'give it with --time'
run 2 "$weir" check "$work/address.lua" --time soon
says '--time was "soon"'
run 2 "$weir" check "$work/address.lua" user=bob
run 2 "$weir" check "$work/nowhere.lua" user=bob

# Vectors.
run 0 "$weir" verify spec/vectors/one.jsonl spec/vectors/leases.jsonl spec/vectors/all.jsonl
says '870 sequences'
says ', 0 wrong'
head -n 3 spec/vectors/one.jsonl | sed '2s/"expect":\[\[1,/"expect":[[0,/' > "$work/wrong.jsonl"
run 1 "$weir" verify "$work/wrong.jsonl"
says '3 sequences'
says ', 1 wrong'
says 'wrong.jsonl line 2, event 0'
says 'expected  [0,'
says 'got       [1,'
run 1 "$weir" verify --json "$work/wrong.jsonl"
says '"wrong": 1'
echo '{"limit":{"algorithm":"fixed_window","limit":1,"windo":1},"events":[],"expect":[]}' > "$work/odd.jsonl"
run 2 "$weir" verify "$work/odd.jsonl"
says "windo is no parameter"
run 2 "$weir" verify $small/combined.log
says 'it is not JSON'
run 2 "$weir" verify "$work/nowhere.jsonl"
says 'No such file or directory'
run 2 "$weir" verify $small/empty.log
says 'it holds no sequence'

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
