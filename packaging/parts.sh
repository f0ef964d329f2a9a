#!/usr/bin/env bash
# Debian packages of the parts that need more than the program does, each beside `rota` of the same version: the client of
# etcd, accelerator containers' client and its backends. Usage: parts.sh BUILD FOLDER
set -euo pipefail

build=$(realpath "$1") folder=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$("$build/rota" --version)
version=${version#rota }-1
machine=$(dpkg --print-architecture)
maintainer=$(sed -n 's/^set(CPACK_PACKAGE_CONTACT "\(.*\)")$/\1/p' "$build/CPackConfig.cmake")

part() {  # PACKAGE COMPONENT SUMMARY [SUGGESTED-PACKAGE]
  local root=$work/$1
  (umask 022 && DESTDIR=$root cmake --install "$build" --component "$2" --strip --prefix /usr >/dev/null)
  if ! find "$root" -name '*.so*' 2>/dev/null | grep -q .; then
    echo "parts.sh: $build has nothing of $2, so that there is no $1: its libraries were not there when it was configured." >&2
    return
  fi
  mkdir -p "$work/debian" "$root/DEBIAN" "$root/usr/share/doc/$1"
  cp "$here/debian/copyright" "$root/usr/share/doc/$1/copyright"
  printf 'Source: rota\n' >"$work/debian/control"  # which dpkg-shlibdeps wants to see
  local needs suggests=${4:+$'\n'Suggests: $4}
  mapfile -t libraries < <(find "$root" -name '*.so*' -type f)
  needs=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "${libraries[@]/#/-e}" 2>/dev/null | sed 's/^shlibs:Depends=//')
  cat >"$root/DEBIAN/control" <<CONTROL
Package: $1
Source: rota
Version: $version
Architecture: $machine
Maintainer: $maintainer
Section: admin
Priority: optional
Depends: rota (= $version), $needs${suggests}
Description: $3
 A part of Rota, the scheduler of batch jobs, in a package of its own because
 of the libraries that it needs.
CONTROL
  dpkg-deb --root-owner-group --build "$root" "$folder/$1_${version}_$machine.deb" >/dev/null
}

part rota-etcd etcd "sites of Rota that share jobs, over etcd"
part rota-accel accel "clients of Rota's accelerator containers, and image features" libturbojpeg0
part rota-accel-openblas accel-openblas "linear algebra for Rota's accelerator containers, on cores"
part rota-accel-opencl accel-opencl "linear algebra for Rota's accelerator containers, by OpenCL"
