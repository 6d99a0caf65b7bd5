#!/usr/bin/env bash
# Installs what the tests need, builds, runs the whole suite, and ends with the line "N passed, M failed".
#
#   scripts/test.sh [--preset release|debug|asan|tsan] [--only REGEX] [--jobs N]
#
#   --preset  what to build and run (default: release); asan and tsan run with their sanitizers
#   --only    test programs whose name matches, e.g. 'http|wire'
#   --jobs    test programs at a time (default: 2)
#
# Exit code 0 when nothing failed, else 1.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release only=. jobs=2
while [[ $# -gt 0 ]]; do
  case $1 in
    --preset | --only | --jobs)
      [[ $# -ge 2 ]] || { echo "test.sh: $1 needs a value" >&2; exit 2; }
      declare "${1#--}=$2"
      shift 2
      ;;
    -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "test.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
done
case $preset in
  release | debug) ;;
  asan)
    export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
    ;;
  tsan) export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1 second_deadlock_stack=1} ;;
  *) echo "test.sh: unknown preset '$preset'" >&2; exit 2 ;;
esac

scripts/deps.sh build test

build=build/$preset results=build/$preset/results
if ! { cmake --preset "$preset" -DIDEM_TESTS=ON && cmake --build --preset "$preset"; }; then
  echo "FAILED the build"
  echo "0 passed, 1 failed"
  exit 1
fi

# what an earlier run left must not count
rm -rf "$results"
mkdir -p "$results"
ctest --test-dir "$build" -R "$only" -j "$jobs" --output-on-failure --no-tests=error \
  --output-junit "$PWD/$results/ctest.junit" || true

python3 scripts/test_summary.py "$results"
