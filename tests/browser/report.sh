#!/usr/bin/env bash
# report.sh PROGRAM KIND: makes a report, opens it in headless Chromium with #selftest, and fails unless the page found
# itself in order, wrote no error to the console, reached for nothing outside itself, and is not a blank picture.
# PROGRAM is report_sample, which knows the KINDs, or rota with the KIND simulate (jobs that outlive their limits and are
# queued again), power (nodes that sleep), sites, recorded-sites (and what really happened, not known where),
# recorded-nodes (and on which nodes, but for one job), or milliseconds (times that are no whole seconds).
set -euo pipefail

program=$1 kind=$2
browser=$(command -v chromium || command -v chromium-browser || true)
if [[ -z $browser ]]; then
  echo "skipped: chromium is not installed (Debian package chromium), so the report cannot be looked at"
  exit 77
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
page=$folder/report.html

fail() {
  echo "report.sh: $*" >&2
  exit 1
}

# A workload in which backfill has something to do: a large job waits behind long ones, short ones follow.
small_workload() {
  echo '; MaxProcs: 8'
  local i
  for ((i = 1; i <= 60; ++i)); do
    echo "$i $((i * 60)) -1 $((300 + i * 37 % 400)) $((i % 8 + 1)) -1 -1 $((i % 8 + 1)) $((500 + i * 53 % 700))" \
      "-1 1 $((i % 5)) -1 -1 -1 -1 -1 -1"
  done
}

# As sacct tells it: jobs that ran before and were queued again, some on two nodes, one not known where.
recorded_nodes() {
  local i start
  echo 'JobIDRaw|Submit|Start|End|State|TimelimitRaw|AllocCPUS|NodeList'
  for ((i = 0; i < 60; ++i)); do
    start=$((1709280000 + i * 120))
    case $((i % 4)) in
      0) echo "$i|$start|$((start + 30))|$((start + 90))|REQUEUED|60|8|n[1-2]" ;;&
      0) echo "$i|$((start + 90))|$((start + 100))|$((start + 460))|COMPLETED|60|8|n[1-2]" ;;
      1 | 2) echo "$i|$start|$((start + 50))|$((start + 480))|COMPLETED|60|4|n$((i % 8 == 1 ? 3 : i % 8 == 2 ? 4 : i % 8))" ;;
      3) echo "$i|$start|$((start + 50))|$((start + 400))|COMPLETED|60|3|$([[ $i == 3 ]] && echo 'None assigned' || echo n8)" ;;
    esac
  done
}

make_report() {
  local examples
  examples=$(dirname "$0")/../../examples
  case $kind in
    simulate)
      small_workload >"$folder/small.swf"
      "$program" simulate "$folder/small.swf" --processors 8 --policy fcfs,easy,rb-har,strict --report "$page" >"$folder/table"
      ;;
    power)
      "$program" simulate "$examples/day.swf" --cluster "$examples/heron.toml" \
        --policy easy,easy+power=demand,easy+power=idle-timeout+power-idle=1m --report "$page" >"$folder/table"
      ;;
    sites)
      "$program" simulate "$examples/day.swf" --cluster "$examples/wadden.toml" \
        --policy easy,easy+power=demand+auction=announced --report "$page" >"$folder/table"
      ;;
    recorded-sites)
      awk '/^;/ {print; next} {$3 = NR % 97 * 60; print}' "$examples/day.swf" >"$folder/day.swf"
      "$program" simulate "$folder/day.swf" --cluster "$examples/wadden.toml" \
        --policy recorded,easy,easy+auction=announced --report "$page" >"$folder/table"
      ;;
    recorded-nodes)
      printf '[[nodes]]\nnames = "n[1-8]"\nprocessors = 4\n' >"$folder/nodes.toml"
      recorded_nodes >"$folder/sacct.txt"
      "$program" simulate "$folder/sacct.txt" --cluster "$folder/nodes.toml" --policy recorded,easy --report "$page" >"$folder/table"
      ;;
    milliseconds)
      "$program" generate poisson --jobs 500 --processors 64 --load 1.2 --resolution 1ms -o "$folder/ms.swf"
      "$program" simulate "$folder/ms.swf" --policy fcfs,easy --report "$page" >"$folder/table"
      ;;
    *) "$program" "$kind" "$page" ;;
  esac
}

# Each run has a profile of its own; timeout ends the browser if it hangs, and it ends by itself otherwise.
browse() {
  timeout --kill-after=5 600 "$browser" --headless --no-sandbox --disable-gpu --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage \
    --user-data-dir="$folder/profile" --enable-logging=stderr --v=0 --window-size=1280,2000 "$@"
}

make_report
[[ -s $page ]] || fail "no report was written"
browse --dump-dom "file://$page#selftest" >"$folder/dom" 2>"$folder/log" ||
  fail "chromium failed: $(tail -3 "$folder/log")"

grep -o '<pre id="selftest">.*' "$folder/dom" >/dev/null ||
  fail "the page's scripts did not run to their end: $(grep CONSOLE "$folder/log" || tail -3 "$folder/log")"
awk '/<pre id="selftest">/ { inside = 1 } inside' "$folder/dom" | sed 's/<[^>]*>//g' >"$folder/results"
# The first: the page's own scripts speak of such an element too.
[[ $(grep -o -m1 '<html[^>]*>' "$folder/dom" | head -1) == *' data-selftest="passed"'* ]] || fail "the page is not in order:
$(grep '^not ok' "$folder/results")"
if grep -E 'CONSOLE.*(Uncaught|Refused|[Ee]rror)' "$folder/log" >&2; then fail "the console shows errors"; fi

sections=$(grep -c '<section class="workload"' "$folder/dom") || true
case $kind in
  few | many | simulate | power | sites | recorded-sites | recorded-nodes | milliseconds) [[ $sections == 1 ]] || fail "$sections workloads instead of one" ;;
  hostile)
    [[ $sections == 2 ]] || fail "$sections workloads instead of two"
    grep -q '<title>hostile</title>' "$folder/dom" || fail "a name was taken for a script"
    ;;
esac

case $kind in
  power) grep -q 'nodes of 3 policies are drawn' "$folder/results" || fail "what nodes did is not drawn" ;;
  sites | recorded-sites) grep -q 'ameland is drawn by itself' "$folder/results" || fail "a site cannot be chosen" ;;&
  recorded-nodes) grep -q 'ok.* 59 jobs are drawn on the nodes' "$folder/results" || fail "real nodes are not drawn" ;;
  recorded-sites) grep -q 'ok.* 2 of 2 policies whose site is known' "$folder/results" || fail "what nobody knows is drawn" ;;
esac

# A blank page compresses to next to nothing.
browse --hide-scrollbars --virtual-time-budget=5000 --screenshot="$folder/page.png" "file://$page" 2>/dev/null
size=$(stat -c %s "$folder/page.png")
least=40000
[[ $kind == nothing ]] && least=5000
((size > least)) || fail "the screenshot is blank ($size bytes)"

grep -o 'data-[a-z]*-ms="[0-9]*"' "$folder/dom" | head -2 | tr '\n' ' '
echo "$(grep -c '^ok' "$folder/results") facts checked on a page of $(stat -c %s "$page") bytes"
