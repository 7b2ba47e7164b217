#!/bin/sh
# The commands that speak with a Redis server, on servers of their own behind private sockets.
#
#   redis_test.sh WEIR ANSWER [VALKEY], from the root of the repository. ANSWER is a listener that is
#   no server (answer.c), VALKEY a valkey-server to verify on as well; WEIR_VALKEY names it, too.

weir=$1
answer=$2
valkey=${3:-$WEIR_VALKEY}
# shellcheck source=c/test/tool/checks.sh
. c/test/tool/checks.sh
pids=
unset WEIR_STORE

stop_all() {
    for pid in $pids; do
        kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap stop_all EXIT

# start NAME BINARY OPTION...: a server at $work/NAME/socket, when it answers. Its URL is in $url.
start() {
    name=$1
    binary=$2
    shift 2
    mkdir "$work/$name"
    "$binary" --port 0 --unixsocket "$work/$name/socket" --save '' --dir "$work/$name" "$@" \
        > "$work/$name/log" 2>&1 < /dev/null &
    pids="$pids $!"
    socket=$work/$name/socket
    url=redis+unix://$socket
    tries=0
    until redis-cli -s "$socket" PING > "$work/ping" 2>&1; do
        tries=$((tries + 1))
        if [ $tries -gt 400 ] || ! kill -0 "$!" 2>/dev/null; then
            cat "$work/$name/log"
            echo "0 checks, 1 failed: $binary did not start"
            exit 1
        fi
        sleep 0.02
    done
}

ask() {
    redis-cli -s "$socket" "$@" > "$work/asked" 2>&1
}

# pretend NAME [WORD REPLY]...: a listener that is no server, at $url.
pretend() {
    socket=$work/$1
    url=redis+unix://$socket
    shift
    mkfifo "$socket.in"
    "$answer" "$socket" "$@" < "$socket.in" &
    pids="$pids $!"
    exec 9> "$socket.in"
    until [ -S "$socket" ]; do
        sleep 0.02
    done
}

# one_line: what was printed last is one sentence.
one_line() {
    checks=$((checks + 1))
    [ "$(wc -l < "$work/out")" -eq 1 ] || complain "not one line was printed by: $last"
}

# holds COUNT: keys, on the server that was started last.
holds() {
    checks=$((checks + 1))
    ask DBSIZE
    [ "$(cat "$work/asked")" = "$1" ] || complain "$(cat "$work/asked") keys, not $1, after: $last"
}

vectors="spec/vectors/one.jsonl spec/vectors/leases.jsonl spec/vectors/all.jsonl"
login='token_bucket name=login rate=5/m'
jobs='concurrency name=jobs limit=1 ttl=1m'
bob='weir1:{bob}:bob:login:token_bucket'

# shellcheck disable=SC2086 # limits and files are words
{
# Words, before any server is asked.
start plain redis-server --databases 2
for command in take peek refund charge acquire renew release reset inspect; do
    run 0 "$weir" $command --help
    says 'A limit is its algorithm and its fields'
    run 2 "$weir" $command --store "$url"
    says 'a limit must be given'
    one_line
    run 2 "$weir" $command --frobnicate
    says 'there is no option --frobnicate'
    run 2 "$weir" $command $login bob
    says 'a store must be given by its URL'
    run 2 "$weir" $command --store http://somewhere $login bob
    says "weir: $command: "
    one_line
done
run 2 "$weir" take --store "$url" leaky_cauldron name=a rate=5/m bob
says 'leaky_cauldron'
run 2 "$weir" take --store "$url" token_bucket rate=5/m bob
says 'name must be given'
run 2 "$weir" take --store "$url" fixed_window name=a window=1m bob
says 'limit must be given'
run 2 "$weir" take --store "$url" token_bucket name=a rate=5 bob
says 'period'
run 2 "$weir" take --store "$url" token_bucket name=a rate=often bob
says 'rate was "often"'
run 2 "$weir" take --store "$url" token_bucket name=a rate=5/m burst=-1 bob
says 'burst was "-1"; it must be a whole number'
run 2 "$weir" take --store "$url" token_bucket name=a rate=5/m window=1m bob
says 'window'
run 2 "$weir" take --store "$url" sliding_log name=a limit=5 window=month bob
says 'window was "month"'
run 2 "$weir" take --store "$url" min_gap name=a gap=1s count_denied=perhaps bob
says 'it must be yes or no'
run 2 "$weir" take --store "$url" token_bucket name=a rate=5/m rate=6/m bob
says 'rate was given twice'
run 2 "$weir" take --store "$url" $login user=bob
says 'given with --key'
run 2 "$weir" take --store "$url" $login
says 'a key must be given'
run 2 "$weir" take --store "$url" $login bob much
says 'the cost was "much"'
run 2 "$weir" take --store "$url" $login bob 1 2
says '"2" is a word too many'
run 2 "$weir" take --store "$url" --time soon $login bob
says '--time was "soon"'
run 2 "$weir" reset --store "$url" $login bob 1
says 'a word too many'
run 2 "$weir" refund --store "$url" $jobs q a
one_line
run 2 "$weir" renew --store "$url" $login bob
one_line
run 2 "$weir" acquire --store "$url" $jobs q
one_line
holds 0

# Decisions, as the shell and programs see them.
run 0 "$weir" take --store "$url" $login bob 3
says 'allowed'
says 'reset after'
run 0 env WEIR_STORE="$url" "$weir" peek $login bob 2
run 1 "$weir" take --store "$url" $login bob 3
says 'refused by login; try again in '
run 1 "$weir" take --store "$url" --json $login bob 6
says '"retry_after_us": -1'
says '"source": "store"'
run 0 "$weir" refund --store "$url" $login bob 3
says 'refunded'
run 0 "$weir" charge --store "$url" $login bob 5
says 'charged'
run 1 "$weir" peek --store "$url" $login bob
run 0 "$weir" reset --store "$url" $login bob
says 'forgotten'
holds 0
run 0 "$weir" take --store "$url" --time 2024-05-12T00:00:00Z token_bucket name=login rate=5 period=1m burst=2 bob 2
run 1 "$weir" take --store "$url" --time 2024-05-12T00:00:11.999999Z token_bucket name=login rate=5/m burst=2 bob
says 'try again in 1us'
run 0 "$weir" take --store "$url" --time 2024-05-12T00:00:12Z token_bucket name=login rate=5/m burst=2 bob
run 0 "$weir" take --store "$url" --key user=bob --tag t $login
run 0 "$weir" inspect --store "$url" --key user=bob --tag t $login
says 'weir1:{t}:user=bob:login:token_bucket'
run 0 "$weir" take --store "$url" leaky_bucket name=q rate=1/m queue=1 bob
run 0 "$weir" take --store "$url" leaky_bucket name=q rate=1/m queue=1 bob
says 'allowed, after a wait of '
run 0 "$weir" acquire --store "$url" $jobs q a
run 1 "$weir" acquire --store "$url" $jobs q b
says 'refused by jobs'
run 0 "$weir" renew --store "$url" $jobs q a
says 'renewed'
run 1 "$weir" renew --store "$url" $jobs q b
says 'not held'
run 0 "$weir" inspect --store "$url" $jobs q
says 'zset'
run 0 "$weir" release --store "$url" $jobs q a
says 'released'
run 1 "$weir" release --store "$url" $jobs q a

# What is kept.
ask FLUSHALL
run 0 "$weir" inspect --store "$url" $login bob
says 'nothing is recorded'
run 0 "$weir" take --store "$url" --time 2024-05-12T00:00:00Z $login bob
run 0 "$weir" inspect --store "$url" --time 2024-05-12T00:00:00Z $login bob
says "$bob"
says 'type   string'
says 'state  1715472012000000'
says 'ttl    1m1'
run 0 "$weir" inspect --store "$url" --json $login bob
says '"state": ['
says '"peek": {'
run 0 "$weir" take --store "$url" sliding_log name=log limit=50 window=1h bob 30
run 0 "$weir" inspect --store "$url" sliding_log name=log limit=50 window=1h bob
says 'and 10 more'

# A key of another type, and one that weir did not write.
ask DEL "$bob"
ask RPUSH "$bob" "$(printf 'a\033[31mb')"
run 2 "$weir" take --store "$url" $login bob
says 'the key holds what this algorithm did not write'
one_line
run 2 "$weir" inspect --store "$url" $login bob
says 'type   list'
says 'a\x1b[31mb'
says 'stays for ever'
ask DEL "$bob"
ask HSET "$bob" a b
run 2 "$weir" inspect --store "$url" $login bob
says 'no algorithm of weir keeps this type'
run 0 "$weir" reset --store "$url" $login bob
ask FLUSHALL

# Scripts.
run 0 "$weir" scripts
says 'token_bucket'
says 'ARGV      rate, period_us, burst'
says 'Commands  GET SET TIME'
run 0 "$weir" scripts --json
says '"sha1": "'
run 0 sh -c "'$weir' scripts print token_bucket | sha1sum"
sha1=$(cut -c 1-40 "$work/out")
run 0 "$weir" scripts
says "SHA1      $sha1"
run 0 "$weir" scripts load "$url"
says "$sha1  token_bucket"
ask SCRIPT EXISTS "$sha1"
cp "$work/asked" "$work/out"
says '1'
run 2 "$weir" scripts print nothing
says 'there is no script nothing'
run 2 "$weir" scripts print
run 2 "$weir" scripts frobnicate
says 'weir scripts --help'
run 2 "$weir" scripts load
says 'a store must be given'

# Vectors and logs, under keys of their own that do not stay.
ask SET "$bob" kept
ask SET 'weir1:{10.0.0.22}:10.0.0.22:messages:sliding_log' 'none of the log'
run 0 "$weir" verify --store "$url" $vectors
says '870 sequences'
says ', 0 wrong'
holds 2
head -n 3 spec/vectors/one.jsonl | sed '2s/"expect":\[\[1,/"expect":[[0,/' > "$work/wrong.jsonl"
run 1 "$weir" verify --store "$url" "$work/wrong.jsonl"
says ', 1 wrong'
says 'wrong.jsonl line 2, event 0'
run 2 "$weir" verify --store "$url?on_error=allow" "$work/wrong.jsonl"
says 'leave it out'
log=spec/data/erddap-nginx-combined.log.gz
"$weir" replay lua/policies/chat.lua $log > "$work/memory"
run 0 "$weir" replay --store "$url" lua/policies/chat.lua $log
checks=$((checks + 1))
cmp "$work/memory" "$work/out" || complain "the answers of Redis differ from those of memory"
holds 2
"$weir" replay lua/policies/chat.lua spec/data/small/backwards.log > "$work/memory"
run 0 "$weir" replay --store "$url" lua/policies/chat.lua spec/data/small/backwards.log
checks=$((checks + 1))
cmp "$work/memory" "$work/out" || complain "a log out of order differs from memory"
run 2 "$weir" replay --store "$url" --memory 1MiB lua/policies/chat.lua $log
says '--memory is for a store in memory'
run 2 "$weir" replay --store "redis+unix://$work/nobody" lua/policies/chat.lua $log
says "$work/nobody"
one_line
ask FLUSHALL

# A server that is well, and what can be wrong with it.
run 0 "$weir" doctor "$url"
says 'fine  version     Redis'
says 'user default may run all'
says 'each kind of limit, and all at once, work'
says 'a round trip takes'
says 'it is fit to keep limits'
says_not 'to do'
holds 0
run 0 env WEIR_STORE="$url" "$weir" doctor --json
says '"fit": true'
run 0 "$weir" doctor "$url?cluster=yes"
says 'leave cluster=yes out'
run 2 "$weir" doctor "$url" "$url"
says 'one URL is wanted'
run 2 "$weir" doctor
says 'a store must be given'
run 0 "$weir" doctor --help
ask CONFIG SET maxmemory-policy allkeys-lru
run 0 "$weir" doctor "$url"
says 'as long as maxmemory is 0'
ask CONFIG SET maxmemory 100mb
run 1 "$weir" doctor "$url"
says 'mend  memory      maxmemory-policy is allkeys-lru'
says 'to do: CONFIG SET maxmemory-policy noeviction'
ask CONFIG SET maxmemory-policy noeviction
run 0 "$weir" doctor "$url"
ask CONFIG SET maxmemory 1
run 1 "$weir" doctor "$url"
says 'a full server records nothing'
says 'mend  try         redis at'
run 2 "$weir" take --store "$url" $login bob
says 'the server has no memory left; raise maxmemory'
one_line
run 1 "$weir" take --store "$url?on_error=deny" $login bob
says 'decided by on_error, since'
run 0 "$weir" take --store "$url?on_error=allow" --json $login bob
says '"source": "allow"'
ask CONFIG SET maxmemory 0
ask REPLICAOF 127.0.0.1 1
run 1 "$weir" doctor "$url?deadline=100ms"
says 'it is a replica of 127.0.0.1:1, and takes no writes'
says 'give the address of the primary'
run 2 "$weir" take --store "$url?deadline=100ms" $login bob
says 'replica'
one_line
ask REPLICAOF NO ONE
run 2 "$weir" take --store "$url?db=7" $login bob
says 'no database of that number'
one_line
run 2 "$weir" doctor "$url?db=7"
one_line

# Users and their rights.
start rights redis-server --requirepass secret-of-all
ask -a secret-of-all --no-auth-warning ACL SETUSER clerk on '>secret' '~weir1:*' \
    +ping +evalsha +eval +del +get +set +time +client +info
ask -a secret-of-all --no-auth-warning ACL SETUSER warden on '>secret' '~weir1:*' \
    +@all -lindex -zadd
ask -a secret-of-all --no-auth-warning ACL SETUSER other on '>secret' '~other:*' +@all
for command in take peek inspect reset; do
    run 2 "$weir" $command --store "$url" $login bob
    says 'the server wants a password, and none was given'
    one_line
    run 2 "$weir" $command --store "redis+unix://:mistaken@$socket" $login bob
    says 'the server knows no such user and password'
    says_not mistaken
    one_line
done
for command in 'verify --store' 'scripts load' doctor; do
    run 2 "$weir" $command "redis+unix://:mistaken@$socket" spec/vectors/one.jsonl
    says_not mistaken
done
run 2 "$weir" doctor "redis+unix://:mistaken@$socket"
says 'the server knows no such user and password'
one_line
run 0 "$weir" doctor "redis+unix://:secret-of-all@$socket"
run 0 "$weir" take --store "redis+unix://clerk:secret@$socket" $login bob
run 2 "$weir" take --store "redis+unix://clerk:secret@$socket" $jobs q a
says 'the user lacks a right'
one_line
run 2 "$weir" inspect --store "redis+unix://clerk:secret@$socket" $login bob
says 'the user lacks a right'
one_line
run 2 "$weir" scripts load "redis+unix://clerk:secret@$socket"
says 'the user lacks a right'
one_line
run 1 "$weir" doctor "redis+unix://clerk:secret@$socket"
says 'does not tell this user its rights'
says 'mend  try'
says 'ACL SETUSER'
run 1 "$weir" doctor "redis+unix://warden:secret@$socket"
says 'user warden may not run LINDEX, ZADD on keys that begin with weir1:'
run 1 "$weir" doctor "redis+unix://other:secret@$socket"
says 'user other may not run EVALSHA, EVAL, DEL, GET'

# A node that holds all slots, while and after it makes up its mind.
start cluster redis-server --cluster-enabled yes --cluster-config-file nodes.conf
run 1 "$weir" doctor "$url?cluster=yes&deadline=100ms"
says "the cluster's state is fail"
ask CLUSTER ADDSLOTSRANGE 0 16383
until ask CLUSTER INFO && grep -q 'cluster_state:ok' "$work/asked"; do
    sleep 0.05
done
run 0 "$weir" doctor "$url?cluster=yes"
says 'this node holds all slots'
run 1 "$weir" doctor "$url"
says 'add cluster=yes to the URL'
run 0 "$weir" verify --store "$url?cluster=yes" $vectors
says '870 sequences'
says ', 0 wrong'
holds 0
run 0 "$weir" replay --store "$url?cluster=yes" lua/policies/chat.lua spec/data/small/combined.log
holds 0
run 2 "$weir" take --store "$url?db=1" $login bob
says 'a cluster has only database 0'

if [ -n "$valkey" ]; then
    start valkey "$valkey"
    run 0 "$weir" verify --store "$url" $vectors
    says '870 sequences'
    says ', 0 wrong'
    holds 0
    run 0 "$weir" doctor "$url"
    says 'Valkey '
fi

# What is no Redis server, and nobody at all.
pretend http '' 'HTTP/1.1 400 Bad Request\nConnection: close\n\n'
for command in take peek refund charge reset inspect; do
    run 2 "$weir" $command --store "$url" $login bob
    says 'is not a Redis server'
    one_line
    run 2 "$weir" $command --store "redis+unix://$work/nobody" $login bob
    says "$work/nobody"
    one_line
done
for command in acquire renew release; do
    run 2 "$weir" $command --store "$url" $jobs q a
    says 'is not a Redis server'
done
for command in doctor 'scripts load'; do
    run 2 "$weir" $command "$url"
    says 'is not a Redis server'
    one_line
    run 2 "$weir" $command "redis+unix://$work/nobody"
    says "$work/nobody"
    one_line
done
run 2 "$weir" verify --store "$url" $vectors
says 'is not a Redis server'
one_line
run 2 "$weir" take --store 'redis://127.0.0.1:1?deadline=200ms' $login bob
says '127.0.0.1:1'
one_line
pretend mute nothing ''
run 2 "$weir" doctor "$url?deadline=50ms"
says 'did not answer by the deadline'
one_line

# Servers that say odd things.
# shellcheck disable=SC2016 # the protocol writes sizes as \$40
pretend liar SETNAME '+OK\n' LOAD '$40\n0000000000000000000000000000000000000000\n'
run 2 "$weir" scripts load "$url"
says 'gave token_bucket another digest than its SHA1'
one_line
old='redis_version:5.0.3'
# shellcheck disable=SC2016
pretend ancient SETNAME '+OK\n' PING '+PONG\n' INFO "\$${#old}\\n$old\\n" \
    TIME '*2\n$10\n1000000000\n$1\n0\n' '' '-ERR no\n'
run 1 "$weir" doctor "$url"
says 'Redis 5.0.3 is older than any'
says "behind this host's"
says 'to do: have NTP keep both'
says 'does not say its maxmemory policy'
many='cluster_state:ok\ncluster_size:3'
inside='redis_mode:sentinel\ncluster_enabled:1'
pretend spread SETNAME '+OK\n' PING '+PONG\n' CLUSTER "\$32\\n$many\\n" \
    INFO "\$38\\n$inside\\n" '' '-ERR no\n'
run 1 "$weir" doctor "$url?cluster=yes"
says '3 nodes share the slots'
says 'this is a Sentinel'
pretend gone SETNAME '+OK\n' PING '+PONG\n' EVAL '-MISCONF no disk\n'
run 2 "$weir" verify --store "$url" $vectors
says "one.jsonl line 1: redis at $socket"
run 2 "$weir" replay --store "$url" lua/policies/chat.lua spec/data/small/combined.log
says "can't save to disk"
one_line
}

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
