#!/usr/bin/env bash
# Measures the proxy beside nginx, haproxy and nginx with Lua, and writes the tables into bench/README.md.
#
#   scripts/bench.sh [options]      a few minutes; --full: everything, most of an hour; --help: all options
#
# Installs what it needs and builds the release program if there is none. Loopback only; what it starts it ends.
set -euo pipefail
cd "$(dirname "$0")/.."

own_binary=false
for argument in "$@"; do
  case $argument in
    -h | --help) exec python3 bench/run.py --help ;;
    --binary | --binary=*) own_binary=true ;;
  esac
done

scripts/deps.sh bench
if ! $own_binary && [[ ! -x build/release/idempotency-proxy ]]; then
  scripts/deps.sh build
  cmake --preset release
  cmake --build --preset release --target idempotency-proxy
fi
# exec, so that Ctrl-C and SIGTERM reach the one that has to clean up
exec python3 bench/run.py "$@"
