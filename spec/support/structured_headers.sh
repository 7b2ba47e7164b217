# structured_headers.sh: a parser of structured fields (RFC 9651) that is not ours, of Node, in a folder of ours.
#
#   . spec/support/structured_headers.sh
#   structured_headers FOLDER   prints the folder for NODE_PATH
# shellcheck shell=sh

structured_headers() (
    set -eu
    mkdir -p "$1"
    cd "$1"
    if [ ! -d node_modules/structured-headers ]; then
        echo '{"private": true}' > package.json
        npm install --no-audit --no-fund --silent structured-headers@2 >&2
    fi
    echo "$PWD/node_modules"
)
