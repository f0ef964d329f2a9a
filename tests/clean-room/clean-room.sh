#!/usr/bin/env bash
# Makes a bare Debian 12 in a folder, clones this repository into it as committed, runs `./dev run` there twice, and
# says how long each took. Packages come from where this machine's own come from. Usage: clean-room.sh [DIR]; as root.
# DIR (default: a new temporary folder, removed at the end) must be empty or not there.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
first_limit=300  # seconds, from nothing
second_limit=10

die() {
  printf 'clean-room: %s\n' "$*" >&2
  exit 1
}

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
  for mounted in dev/pts dev proc; do
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

furnish() {  # what apt needs to know of the machine's network, and nothing else
  local list
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.{list,sources}; do
    [[ ! -f $list ]] || cp "$list" "$room$list"
  done
  [[ ! -f $room/etc/apt/sources.list.d/debian.sources ]] || : >"$room/etc/apt/sources.list"
  grep -lsE '^[^/#]*(Proxy|Check-Valid-Until|Check-Date|Languages)' /etc/apt/apt.conf.d/* |
    xargs --no-run-if-empty cp -t "$room/etc/apt/apt.conf.d"
  cp /etc/resolv.conf "$room/etc/resolv.conf"
  cp /etc/hosts "$room/etc/hosts"
  mount -t proc proc "$room/proc"
  mount --bind /dev "$room/dev"
}

inside() {  # inside COMMAND...: in the bare root, with nothing of this machine's environment but its proxies
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    ${no_proxy:+no_proxy="$no_proxy"} chroot "$room" "$@"
}

timed() {  # timed TITLE LIMIT: runs `./dev run` inside and says how many seconds it took
  local began=$EPOCHREALTIME took
  inside bash -c 'cd /rota && ./dev run' || failed=yes
  took=$(awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')
  printf '\nclean-room: the %s ./dev run took %s s (%s s at most)\n' "$1" "$took" "$2"
  awk -v took="$took" -v limit="$2" 'BEGIN { exit took > limit }' || failed=yes
  [[ -z $failed ]] || die "./dev run failed, or took too long."
}

printf 'clean-room: making a bare Debian 12 in %s\n' "$room"
debootstrap --variant=minbase bookworm "$room" "$(mirror)" >"$room.log" 2>&1 ||
  die "debootstrap failed; $room.log says why."
rm "$room.log"
furnish
git -c safe.directory='*' clone --quiet --no-hardlinks "file://$root" "$room/rota"
failed=
timed first $first_limit
timed second $second_limit
[[ -s $room/rota/build/report.html ]] || die "there is no build/report.html."
