#!/bin/sh
# A licence_command for FlexLM: what `lmstat -a` says, as lines "NAME TOTAL USED BY_JOBS" for Rota.
# BY_JOBS counts what is checked out on this computer; if people use licences here beside jobs, leave it out (last line).
#
#   [service]
#   licence_command = "/etc/rota/licences-from-lmstat.sh"
#
# LMSTAT names the program and the server, as: LMSTAT="/opt/flexlm/lmutil lmstat -c 27000@licences".
set -e
text=$(${LMSTAT:-lmutil lmstat} -a)
printf '%s\n' "$text" | awk -v host="$(hostname -s)" '
  function tell() { if (name != "") print name, total, used, here }
  # Users of matlab:  (Total of 4 licenses issued;  Total of 2 licenses in use)
  /^Users of .*licenses? issued/ {
    tell()
    name = $3; sub(/:$/, "", name)
    split($0, part, /Total of /); total = part[2] + 0; used = part[3] + 0; here = 0
    next
  }
  # "    ann node1 /dev/tty (v1.0) (server/27000 101), start Mon 11/30 10:00, 2 licenses"
  name != "" && /, start / {
    split($2, host_part, ".")
    if (host_part[1] == host) here += match($0, /, [0-9]+ licenses?/) ? substr($0, RSTART + 2) + 0 : 1
  }
  END { tell() }'
