#!/bin/sh
# Installs into a folder of its own and builds the example of the README there, as a stranger would: by pkg-config, shared and
# static, and by find_package.
set -eu
source=$1 build=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
lib=$(dirname "$(find "$work/prefix" -name libweir.so)")
export PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib"
# The .pc files name the prefix that was configured; this run moved it.
pc() { pkg-config --define-prefix "$@"; }

expect=$(printf '1: welcome\n2: welcome\n3: welcome\n4: welcome\n5: welcome\n6: come back later')
check() {
    [ "$("$1")" = "$expect" ] || { echo "$1 did not print what the README says"; exit 1; }
}

# shellcheck disable=SC2046 # the flags are words
"$cc" -std=c11 -Wall -Wextra -Werror "$source/c/examples/embed.c" $(pc --cflags --libs weir) -o "$work/shared"
check "$work/shared"
"$cc" -std=c11 "$source/c/examples/embed.c" -I"$work/prefix/include" "$lib/libweir.a" -pthread -o "$work/static"
check "$work/static"

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(stranger C)
find_package(weir 0.1 REQUIRED)
add_executable(embed embed.c)
target_link_libraries(embed PRIVATE weir::weir)
add_executable(embed_static embed.c)
target_link_libraries(embed_static PRIVATE weir::weir_static)
add_executable(host host.c)
target_link_libraries(host PRIVATE weir::policy)
add_executable(away away.c)
target_link_libraries(away PRIVATE weir::redis)
add_executable(away_static away.c)
target_link_libraries(away_static PRIVATE weir::redis_static)
TEXT
cp "$source/c/examples/embed.c" "$work/project"
cat >"$work/project/host.c" <<'TEXT'
#include <stdio.h>
#include <weir.h>
#include <weir/policy.h>
int main(void)
{
    weir_policy *policy;
    const char text[] = "return function() return true end";
    if (weir_policy_open_text(&policy, "inline", text, sizeof text - 1, NULL, NULL) != WEIR_OK) {
        return 1;
    }
    weir_policy_close(policy);
    return puts("policy") < 0;
}
TEXT
cat >"$work/project/away.c" <<'TEXT'
#include <stdio.h>
#include <weir.h>
#include <weir/redis.h>
int main(void)
{
    weir_store *store;
    weir_limit limit;
    weir_decision decision;
    const weir_redis_options options = {.url = "redis+unix:///nowhere/at/all"};
    const weir_limit_options gap = {.name = "gap", .algorithm = WEIR_MIN_GAP, .gap_us = 1};
    if (weir_limit_init(&limit, &gap, NULL) != WEIR_OK ||
        weir_redis_open(&store, &options, NULL) != WEIR_OK) {
        return 1;
    }
    const weir_check check = {&limit, WEIR_TEXT("bob"), .cost = 1};
    puts(weir_status_name(weir_store_take(store, &check, 0, &decision, NULL)));
    weir_store_close(store);
    return 0;
}
TEXT
cmake -G Ninja -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="$cc" >"$work/cmake.log"
cmake --build "$work/project/build" >>"$work/cmake.log" || { cat "$work/cmake.log"; exit 1; }
check "$work/project/build/embed"
check "$work/project/build/embed_static"
[ "$("$work/project/build/host")" = policy ]
[ "$("$work/project/build/away")" = WEIR_NOT_EXECUTED ]
[ "$("$work/project/build/away_static")" = WEIR_NOT_EXECUTED ]
[ -f "$work/prefix/share/weir/scripts/manifest.json" ]

# Nothing is shown but what the headers declare.
for library in libweir.so libweir_policy.so libweir_redis.so; do
    others=$(nm -D --defined-only "$lib/$library" | awk '{print $3}' | grep -v '^weir_' || true)
    [ -z "$others" ] || { echo "$library shows $others"; exit 1; }
done
