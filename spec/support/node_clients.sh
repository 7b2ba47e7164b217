# node_clients.sh: the two Redis clients of Node that the README shows, in a folder of ours.
#
#   . spec/support/node_clients.sh
#   node_clients FOLDER         prints the folder for NODE_PATH
# shellcheck shell=sh

node_clients() (
    set -eu
    mkdir -p "$1"
    cd "$1"
    if [ ! -d node_modules/ioredis ] || [ ! -d node_modules/redis ]; then
        echo '{"private": true}' > package.json
        npm install --no-audit --no-fund --silent ioredis@6 redis@6 >&2
    fi
    echo "$PWD/node_modules"
)
