#!/usr/bin/env bash
# Packs what a build tree installs, to be unpacked into /usr/local: FOLDER/rota-VERSION-linux-MACHINE.tar.gz. The same
# files give the same bytes. Usage: tarball.sh BUILD FOLDER
set -euo pipefail

gathered=$(mktemp -d)
trap 'rm -rf "$gathered" "$2"/*.tar.gz.new' EXIT
version=$("$1/rota" --version)
name=rota-${version#rota }-linux-$(uname -m)
(umask 022 && DESTDIR=$gathered cmake --install "$1" --strip --prefix /usr/local >/dev/null)
mv "$gathered/usr/local" "$gathered/$name"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$1/rota")}" \
  -C "$gathered" -cf - "$name" | gzip -9n >"$2/$name.tar.gz.new"
mv "$2/$name.tar.gz.new" "$2/$name.tar.gz"
echo "$2/$name.tar.gz"
