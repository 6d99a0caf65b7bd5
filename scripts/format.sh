#!/usr/bin/env bash
# Lays out the C++ files of the repository as .clang-format says.
#
#   scripts/format.sh           writes those that differ
#   scripts/format.sh --check   writes nothing, names those that differ, and fails if there are any
set -euo pipefail
cd "$(dirname "$0")/.."

how=(-i)
case ${1-} in
  '') ;;
  --check) how=(--dry-run --Werror) ;;
  -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
  *) echo "format.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
esac

scripts/deps.sh format
# another version lays out otherwise
find include src tests bench cmake -name '*.[ch]pp' -print0 | xargs -0 -n 50 -P 2 clang-format-19 "${how[@]}"
