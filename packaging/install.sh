#!/bin/sh
# Installs what is in this folder: ./install (as root), or ./install --remove. The state folder and the settings stay.
set -eu
cd "$(dirname "$0")"
prefix=/usr/local
root=${DESTDIR-}

files() { find bin lib share -type f | sort; }

if [ "${1-}" = --remove ]; then
  files | while read -r file; do rm -f "$root$prefix/$file"; done
  echo "removed; what stays: $root/etc/pushgateway, $root/var/lib/pushgateway and the user pushgateway"
  exit
fi
[ $# -eq 0 ] || { echo "usage: ./install [--remove]" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "./install: only root can install: sudo ./install" >&2; exit 1; }
if missing=$(ldd bin/pushcli | sed -n 's/^\t*\(.*\) => not found.*/\1/p') && [ -n "$missing" ]; then
  echo "./install: libraries are missing:" $missing >&2
  echo "On Debian: apt install libnghttp2-14 libssl3 libsqlite3-0 libsimdjson14 libqrencode4 libnats3.4 libstdc++6" >&2
  exit 1
fi
files | while read -r file; do
  mkdir -p "$root$prefix/$(dirname "$file")"
  # A program that runs can't be written, but it can be replaced.
  cp "$file" "$root$prefix/$file.new"
  mv "$root$prefix/$file.new" "$root$prefix/$file"
done
getent passwd pushgateway >/dev/null ||
  useradd --system --home-dir /var/lib/pushgateway --shell /usr/sbin/nologin pushgateway
[ -d "$root/var/lib/pushgateway" ] || install -d -m 700 -o pushgateway -g pushgateway "$root/var/lib/pushgateway"
if [ ! -f "$root/etc/pushgateway/config.yaml" ]; then
  install -d -m 755 "$root/etc/pushgateway"
  install -m 640 -o root -g pushgateway etc/pushgateway/config.yaml "$root/etc/pushgateway/config.yaml"
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
echo "installed; start it: systemctl enable --now pushgateway; if it runs: pushcli admin restart, as the user pushgateway"
