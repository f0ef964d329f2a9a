#!/usr/bin/env bash
# Makes a bare Debian 12 in a folder, clones this repository into it as committed, and runs `./dev run` there twice; with
# --test also `./dev test`. Says how long each took and how much computing that was, what build/ takes on the disk and how
# large the program is; no time is too long. Packages come from where this machine's own come from.
# Usage: clean-room.sh [--test] [DIR]; as root. DIR (default: a new temporary folder, removed at the end) must be empty or
# not there.
set -euo pipefail
export LC_ALL=C  # numbers are written with a point

root=$(cd "$(dirname "$0")/../.." && pwd)

die() {
  printf 'clean-room: %s\n' "$*" >&2
  exit 1
}

with_tests=
if [[ ${1:-} == --test ]]; then
  with_tests=yes
  shift
fi
if (($# > 1)) || [[ ${1:-} == -* ]]; then die "it takes --test and one folder: ./dev clean-room [--test] [DIR]"; fi
((EUID == 0)) || die "only root can make another root: sudo ./dev clean-room"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"

if (($#)); then
  room=$(realpath -m "$1")
  [[ -z $(ls -A "$room" 2>/dev/null) ]] || die "$room is not empty; name a folder that is, or that is not there yet."
  mkdir -p "$room"
else
  room=$(mktemp -d "${TMPDIR:-/tmp}/clean-room.XXXXXX")
fi

leave() {
  local mounted
  for mounted in dev/shm dev/pts dev sys proc ${is_mounted:+.}; do
    ! mountpoint -q "$room/$mounted" || umount "$room/$mounted" || umount --lazy "$room/$mounted"
  done
  [[ -n ${keep:-} ]] || rm -rf --one-file-system "$room"
}
trap leave EXIT
trap 'exit 130' INT TERM
(($# == 0)) || keep=yes

# mirror: where this machine's apt has Debian itself from, in either style of its lists.
# shellcheck disable=SC2016  # apt-get itself expands these
mirror() {
  apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }'
}

furnish() {  # what apt needs to know of the machine's network, what programs expect of a system, and nothing else
  local list
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.{list,sources}; do
    [[ ! -f $list ]] || cp "$list" "$room$list"
  done
  [[ ! -f $room/etc/apt/sources.list.d/debian.sources ]] || : >"$room/etc/apt/sources.list"
  grep -lsE '^[^/#]*(Proxy|Check-Valid-Until|Check-Date|Languages)' /etc/apt/apt.conf.d/* |
    xargs --no-run-if-empty cp -t "$room/etc/apt/apt.conf.d"
  cp /etc/resolv.conf "$room/etc/resolv.conf"
  cp /etc/hosts "$room/etc/hosts"
  mount --bind "$room" "$room"  # a root is mounted: else no process in it can have mounts of its own
  is_mounted=yes
  mount --make-private "$room"
  mount -t proc proc "$room/proc"
  mount --bind /dev "$room/dev"
  mount --bind /dev/pts "$room/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$room/dev/shm"
  mount -t sysfs -o ro sysfs "$room/sys"  # without control groups: this machine's are not for tests
}

inside() {  # inside COMMAND...: in the bare root, with nothing of this machine's environment but its proxies
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb ${JOBS:+JOBS="$JOBS"} \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    ${no_proxy:+no_proxy="$no_proxy"} chroot "$room" "$@"
}

timed() {  # timed COMMAND [TITLE]: runs it in the clone, and says what it took; fails where it fails
  local TIMEFORMAT='%R %U %S' failed='' title=${2:-$1} real user kernel
  exec 3>&1 4>&2
  { time inside bash -c "cd /rota && $1" >&3 2>&4 || failed=yes; } 2>"$room/took"
  exec 3>&- 4>&-
  read -r real user kernel < <(tail -n 1 "$room/took")
  printf '\nclean-room: %s took %.0f s, and %.0f s of computing\n' "$title" "$real" \
    "$(awk -v user="$user" -v kernel="$kernel" 'BEGIN { print user + kernel }')"
  [[ -z $failed ]]
}

sizes() {
  printf 'clean-room: build/ takes %s MB, and the program %s MB\n' "$(du -sm "$room/rota/build" | cut -f 1)" \
    "$(($(stat -c %s "$room/rota/build/release/rota") / 1000000))"
}

printf 'clean-room: making a bare Debian 12 in %s\n' "$room"
debootstrap --variant=minbase bookworm "$room" "$(mirror)" >"$room.log" 2>&1 ||
  die "debootstrap failed; $room.log says why."
rm "$room.log"
furnish
git -c safe.directory='*' clone --quiet --no-hardlinks "file://$root" "$room/rota"
timed "./dev run" "the first ./dev run" || die "./dev run failed."
sizes
timed "./dev run" "the second ./dev run" || die "the second ./dev run failed."
[[ -s $room/rota/build/report.html ]] || die "there is no build/report.html."
[[ -n $with_tests ]] || exit 0
timed "./dev setup test" || die "what the tests need could not be installed."
failed=
timed "./dev test" || failed=yes
sizes
[[ -z $failed ]] || die "./dev test failed."
