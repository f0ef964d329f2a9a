#!/usr/bin/env bash
# Compiles everything with clang and lets clang-tidy read it (.clang-tidy says what for). Only what has changed since the
# last time is read again: build/lint remembers. Usage: clang_tidy.sh [JOBS]
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in clang++-19 clang-tidy-19; do
  command -v "$tool" >/dev/null || {
    echo "$tool is not installed; ./dev setup installs it"
    exit 77
  }
done
[[ -f build/lint/build.ninja ]] || cmake --preset lint >/dev/null
said=$(cmake --build build/lint --parallel "${1:-$(nproc)}" -- -k 0 2>&1) || {
  grep -vE '^\[[0-9]+/[0-9]+\] |^[0-9]+ warnings generated|^/[^ ]*cmake |^FAILED: ' <<<"$said"
  exit 1
}
