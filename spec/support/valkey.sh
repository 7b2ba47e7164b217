# valkey.sh: a valkey-server 8 from the backports of Debian, unpacked in a folder of ours.
#
#   . spec/support/valkey.sh
#   valkey_unpack FOLDER        prints the path of the server
#
# The system's package sources stay as they are: the same mirror is asked for one suite more, by
# options and lists that live in the folder.
# shellcheck shell=sh

valkey_unpack() (
    set -eu
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    server=$(find "$folder/root/usr/bin" -name valkey-server -o -name valkey-check-rdb 2>/dev/null | head -n 1)
    if [ -z "$server" ]; then
        # shellcheck disable=SC1091 # it is the system's
        release=$(. /etc/os-release && echo "$VERSION_CODENAME")
        # shellcheck disable=SC2016 # the format is apt's to expand
        site=$(apt-get indextargets --format '$(SITE)' \
            "Created-By: Packages" "Codename: $release" "Component: main" | head -n 1)
        site=${site%/}
        mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/root"
        keyring=/usr/share/keyrings/debian-archive-keyring.gpg
        echo "deb [signed-by=$keyring] $site $release-backports main" > "$folder/sources.list"
        set -- -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
            -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root
        apt-get "$@" update >&2
        (cd "$folder" && for package in valkey-server valkey-tools; do
            apt-get "$@" download "$package/$release-backports" >&2 || apt-get "$@" download "$package" >&2
        done)
        for package in "$folder"/valkey-*.deb; do
            dpkg-deb -x "$package" "$folder/root"
        done
    fi
    ls "$folder/root/usr/bin/valkey-server"
)
