#!/usr/bin/env bash
# Makes cmake/release.profdata anew: how often each branch of the program is taken under the loads of scripts/bench.sh.
# Release builds place and inline code by it (clang's profile-guided optimisation).
#
#   scripts/profile.sh
#
# Run it when the path of a request has changed much. Takes some five minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
  '') ;;
  -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
  *) echo "profile.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
esac

scripts/deps.sh build profile
cmake --preset profile
cmake --build --preset profile --target idempotency-proxy

counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT
# both stores, with and without TLS, alone and in a crowd; a run of the benchmark fails where an answer is not the right one
LLVM_PROFILE_FILE=$counts/%p.profraw python3 bench/run.py --binary build/profile/idempotency-proxy --no-write \
  --sections peers,memory,tls --peers nginx,proxy --connections 1,64 --rounds 2 --seconds 2
llvm-profdata-19 merge -sparse -o cmake/release.profdata "$counts"/*.profraw
ls -l cmake/release.profdata
