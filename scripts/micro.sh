#!/usr/bin/env bash
# Counts the instructions of the microbenchmarks with callgrind and compares them with bench/micro/instructions.txt.
#
#   scripts/micro.sh              exit code 1 when an operation takes over 10 % more than recorded, or is not recorded
#   scripts/micro.sh --record     writes the record anew
#   scripts/micro.sh --only REGEX operations whose name matches, e.g. '^fingerprint/'
#
# Instructions, unlike times, are the same from run to run. Once it is built, the program also tells times
# (build/micro/bench/micro/idem_micro), and callgrind where the instructions are:
#   valgrind --tool=callgrind --instr-atstart=no build/micro/bench/micro/idem_micro --count fingerprint/json_300 50
#   callgrind_annotate callgrind.out.*.1
set -euo pipefail
cd "$(dirname "$0")/.."

record=false only=.
while [[ $# -gt 0 ]]; do
  case $1 in
    --record) record=true; shift ;;
    --only) [[ $# -ge 2 ]] || { echo "micro.sh: --only needs a value" >&2; exit 2; }; only=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "micro.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
done
! $record || [[ $only == . ]] || { echo "micro.sh: --record takes all operations" >&2; exit 2; }

scripts/deps.sh build micro

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() { cmake --preset micro && cmake --build --preset micro --target idem_micro; }
if ! build >"$work/build.log" 2>&1; then
  tail -n 60 "$work/build.log"
  exit 1
fi
# Debian's valgrind stumbles over clang's DWARF 5
micro=$work/idem_micro
strip -g -o "$micro" build/micro/bench/micro/idem_micro

# OpenSSL chooses its SHA-256 by the processor: counts must not tell machines with SHA instructions from others.
export OPENSSL_ia32cap=${OPENSSL_ia32cap-:~0x20000000}
iterations=50
if ! valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="$work/counts" \
    "$micro" --count all $iterations >"$work/valgrind.log" 2>&1; then
  tail -n 40 "$work/valgrind.log"
  exit 1
fi

python3 scripts/micro_summary.py --iterations $iterations --compiler "$("$micro" --compiler)" --only "$only" \
  $($record && echo --record) --recorded bench/micro/instructions.txt "$work"/counts.*
