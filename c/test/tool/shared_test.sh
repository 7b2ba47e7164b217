#!/bin/sh
# weir shared, and the verbs on memory that processes share.
#
#   shared_test.sh WEIR SHARE, from the root of the repository

weir=$1
share=$2
# shellcheck source=c/test/tool/checks.sh
. c/test/tool/checks.sh
name=weir-test-$$
trap 'rm -rf "$work" "/dev/shm/$name"' EXIT
limit='fixed_window name=few limit=2 window=1h'

# How it is used.
run 0 "$weir" --help
says 'weir shared check|remove NAME|PATH'
run 0 "$weir" shared --help
says 'weir shared check api'
says '--deadline TIME'
run 2 "$weir" shared
says 'is neither check nor remove; weir shared --help says more'
run 2 "$weir" shared mend api
says '"mend" is neither check nor remove'
run 2 "$weir" shared check
says 'one name or path must be given after check'
run 2 "$weir" shared remove "$name" more
says 'one name or path must be given after remove'
run 2 "$weir" shared check --deadline soon "$name"
says '--deadline was "soon"'
run 2 "$weir" shared check --frobnicate "$name"
says 'there is no option --frobnicate'

# What is not there is not made.
for where in "$name" "/$name" "shm:$name" "$work/none" "file:$work/none"; do
    run 2 "$weir" shared check "$where"
    says 'could not be opened: No such file or directory'
    run 0 "$weir" shared remove "$where"
    says 'there was none'
done
# shellcheck disable=SC2086
run 2 "$weir" take --store "shm:$name" $limit bob
says 'could not be opened: No such file or directory'
run 1 test -e "/dev/shm/$name"
run 1 test -e "$work/none"

# A mapping that another process has made, by each of its names.
run 0 "$share" make "shm:$name"
for where in "$name" "/$name" "shm:$name" "file:/dev/shm/$name" "/dev/shm/$name"; do
    run 0 "$weir" shared check "$where"
    says "$where is sound"
    says 'keys         200  '
    says 'blocks       120  '
    says 'allowed      360  '
    says 'refused       40  '
    says 'evicted        0  '
    says 'deaths         0  '
    says 'size     262,144  bytes'
done
run 0 "$weir" shared check --json "$name"
says '"sound": true'
says '"keys": 200'
says '"blocks": 120'
says '"settled": true'
says '"refused": 40'

# Verbs on it: each is another process, and all count together.
# shellcheck disable=SC2086
for status in 0 0 1; do
    run $status "$weir" take --store "shm:$name" $limit bob
done
# shellcheck disable=SC2086
run 1 env WEIR_STORE="file:/dev/shm/$name" "$weir" peek $limit bob
# shellcheck disable=SC2086
run 0 "$weir" reset --store "shm:$name" $limit bob
# shellcheck disable=SC2086
run 0 "$weir" peek --store "shm:$name" $limit bob
# shellcheck disable=SC2086
run 2 "$weir" inspect --store "shm:$name" $limit bob
says 'shared memory keeps no names of keys'
run 2 "$weir" verify --store "shm:$name" spec/vectors/one.jsonl
says 'url must begin with redis://'
run 2 "$weir" doctor "shm:$name"
says 'url must begin with redis://'
run 0 "$weir" shared check "$name"

# Removal, which leaves alone what weir did not write.
run 0 "$weir" shared remove "$name"
says 'removed'
run 1 test -e "/dev/shm/$name"
echo 'what somebody wrote by hand' > "$work/letter"
run 2 "$weir" shared remove "$work/letter"
says 'is no mapping of weir, so it was left alone'
run 0 test -e "$work/letter"
run 2 "$weir" shared check "$work/letter"
says 'was made by another version of weir'
run 0 "$share" make "file:$work/limits"
run 0 "$weir" shared remove --json "$work/limits"
says '{"removed": true}'
run 1 test -e "$work/limits"

# A file that was never finished, is cut short, or is damaged.
: > "$work/empty"
run 2 "$weir" shared check "$work/empty"
says 'was never finished'
run 0 "$share" make "file:$work/limits"
head -c 200000 "$work/limits" > "$work/short"
run 2 "$weir" shared check "$work/short"
says 'is 200000 bytes long'
cp "$work/limits" "$work/keyless"
dd if=/dev/zero of="$work/keyless" bs=1024 seek=48 count=32 conv=notrunc 2> "$work/dd"
run 1 "$weir" shared check "$work/keyless"
says "$work/keyless is not sound: "
says 'of the table'
run 1 "$weir" shared check --json "$work/keyless"
says '"sound": false'
says '"fault": "'
cp "$work/limits" "$work/moved"
dd if="$work/limits" of="$work/moved" bs=16384 skip=3 seek=4 count=1 conv=notrunc 2> "$work/dd"
run 1 "$weir" shared check "$work/moved"
says 'a key stands where it is not looked for, or twice'
run 0 "$share" flips "$weir" "$work/limits" "${WEIR_FLIPS:-2000}" "${WEIR_SEED:-1}"
tail -n 1 "$work/out"

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
