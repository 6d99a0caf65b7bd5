#!/bin/sh
# Usage: scripts/fuzz.sh SECONDS [TARGET...]
#
# Builds the fuzz preset and runs each target (all, or those named, such as gate) for SECONDS on a temporary copy of its
# seeds. Fails if one crashes, hangs or leaks; the input that did it is kept in build/fuzz/findings/.
set -eu

usage() { sed -n '2,5s/^# \{0,1\}//p' "$0"; }
case ${1-} in
  -h | --help) usage; exit 0 ;;
  '' | *[!0-9]*) usage >&2; exit 2 ;;
esac
seconds=$1
shift

cd "$(dirname "$0")/.."
log=$(mktemp)
cmake --preset fuzz >"$log" 2>&1 || { cat "$log"; rm -f "$log"; exit 1; }
rm -f "$log"
cmake --build build/fuzz --target fuzzers

if [ $# -eq 0 ]; then
  set -- $(ls tests/fuzz/fuzz_*.cpp | sed 's|.*/fuzz_\(.*\)\.cpp|\1|')
fi
findings=build/fuzz/findings
mkdir -p "$findings"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=
for name in "$@"; do
  mkdir -p "$work/$name"
  if [ -d "tests/fuzz/corpus/$name" ]; then
    cp -R "tests/fuzz/corpus/$name/." "$work/$name/"
  fi
  echo "fuzz_$name: $seconds s"
  if ! "build/fuzz/tests/fuzz/fuzz_$name" "$work/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
      -artifact_prefix="$findings/$name-" -print_final_stats=1 >"$findings/$name.log" 2>&1; then
    failed="$failed $name"
    tail -n 40 "$findings/$name.log"
  else
    sed -n 's/^stat::number_of_executed_units: */  executions: /p' "$findings/$name.log"
  fi
done

if [ -n "$failed" ]; then
  echo "failed:$failed (inputs and logs in $findings)" >&2
  exit 1
fi
