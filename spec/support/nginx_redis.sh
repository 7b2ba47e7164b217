# nginx_redis.sh: the client of Redis for nginx that Debian has, in a folder of ours: its package would bring another nginx.
#
#   . spec/support/nginx_redis.sh
#   nginx_redis_unpack FOLDER   so that FOLDER/usr/share/lua/5.1/nginx/redis.lua is there
# shellcheck shell=sh

nginx_redis_unpack() (
    set -eu
    mkdir -p "$1"
    cd "$1"
    [ -f usr/share/lua/5.1/nginx/redis.lua ] || {
        apt-get download -q lua-nginx-redis >/dev/null 2>&1
        dpkg-deb -x lua-nginx-redis_*.deb .
    }
)
