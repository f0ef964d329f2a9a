#!/usr/bin/env bash
# Names every C++ file of the repository that clang-format would lay out otherwise, and fails if there is one.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format-19 >/dev/null || {
  echo "clang-format-19 is not installed; ./dev setup test installs it"
  exit 77
}
said=$(git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard -- '*.cc' '*.h' |
  xargs -0 --no-run-if-empty clang-format-19 --dry-run --Werror 2>&1) || {
  files=$(sed -n 's/:[0-9]*:[0-9]*: error: code should.*//p' <<<"$said" | sort -u)
  echo "clang-format-19 -i would change: ${files:-$said}"
  exit 1
}
