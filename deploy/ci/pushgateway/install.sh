#!/bin/sh
# Installs pushcli for a test suite: on Debian 12, as root or with a tarball. Settings are in the environment:
#   PACKAGE  the path or https URL of pushgateway_VERSION_ARCH.deb or pushgateway-VERSION-linux-ARCH.tar.gz
#   SHA256   its checksum; empty: it is not checked
#   PREFIX   the folder for the program of a tarball (/usr/local)
set -eu
package=${PACKAGE:-} prefix=${PREFIX:-/usr/local}
[ -n "$package" ] || { echo "install.sh: set PACKAGE to the path or URL of a Debian package or tarball" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $package in
  https://* | file://*)
    file=$work/${package##*/}
    # The image debian:12 has no curl.
    command -v curl >/dev/null || { apt-get update -qq; apt-get install -qq --no-install-recommends ca-certificates curl; }
    curl --fail --silent --show-error --location --output "$file" "$package" ;;
  *) file=$(realpath "$package") ;;
esac
if [ -n "${SHA256:-}" ]; then
  echo "$SHA256  $file" | sha256sum --check --status - ||
    { echo "install.sh: the SHA-256 of $package is $(sha256sum "$file" | cut -d' ' -f1), expected $SHA256" >&2; exit 1; }
fi

case $file in
  *.deb)
    apt-get update -qq
    apt-get install -qq --no-install-recommends "$file"
    program=pushcli ;;
  *.tar.gz)
    mkdir -p "$prefix"
    tar --extract --gzip --file "$file" --directory "$prefix" --strip-components=1 --wildcards '*/bin/pushcli'
    program=$prefix/bin/pushcli ;;
  *) echo "install.sh: $package is no Debian package or tarball: expected a name that ends with .deb or .tar.gz" >&2; exit 2 ;;
esac
"$program" --version ||
  { echo "install.sh: pushcli does not start: apt-get install libnghttp2-14 libssl3 libsqlite3-0 libsimdjson14 libqrencode4" \
    "libnats3.4 libstdc++6" >&2; exit 1; }
