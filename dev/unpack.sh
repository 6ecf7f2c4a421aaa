#!/bin/sh
# Fetches Debian packages, with those they need and the system lacks, and unpacks them into a folder:
#   dev/unpack.sh FOLDER PACKAGE...
# Needs no rights: apt gets lists and a cache of its own in FOLDER; nothing of the system is changed.
set -eu

folder=$1
shift
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
folder=$(CDPATH='' cd -- "$folder" && pwd)
apt() {
    apt-get -q -o "Dir::State::Lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" \
        -o Debug::NoLocking=true -o APT::Sandbox::User= "$@" </dev/null
}

apt update
# "Inst NAME ..." lines of a simulated installation: what is asked for and missing, and what those need.
plan=$(apt install --simulate --no-install-recommends "$@")
needed=$(printf '%s\n' "$plan" | sed -n 's/^Inst \([^ ]*\) .*/\1/p')
# What the system has installed already is still wanted in the folder if it was asked for by name.
packages=$(printf '%s\n' $needed "$@" | sort -u)
cd "$folder/apt/cache"
# shellcheck disable=SC2086  # one argument each
apt download $packages
for package in ./*.deb; do
    dpkg -x "$package" "$folder"
    rm -f "$package"
done
rm -rf "$folder/apt"
