#!/usr/bin/env bash
# Installs, with apt, what is missing on Debian 12 (bookworm), and nothing that is there already.
#
#   scripts/deps.sh [GROUP…]      default: build
#
#   runtime   the libraries that the program loads
#   build     compiler, linker, CMake and the libraries' headers
#   demo      what scripts/quickstart.sh uses beside the program
#   redis     redis-server and redis-cli
#   test      what the tests start and link
#   micro     what scripts/micro.sh links and counts with
#   bench     the programs that benchmarks compare with and measure by
#   profile   what scripts/profile.sh runs: bench, and the program that merges counts
#   format    the formatter
#   dev       formatter and linter
#   all       everything
#
#   --list             only prints the packages of the groups that are missing
#   --allow-removals   lets apt remove packages that conflict (libboost-dev 1.74 does with libboost1.81-dev)
#
# No service is left running: packages that bring one (redis-server, nginx, haproxy) are installed with starting refused.
set -euo pipefail

die() { echo "deps.sh: $*" >&2; exit 1; }
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; }

runtime=(ca-certificates libspdlog1.10 libfmt9 libyaml-cpp0.7 libhiredis0.14 libssl3 libexpat1 libzstd1
         libboost-json1.81.0 libboost-container1.81.0)
build=(clang-19 lld-19 libclang-rt-19-dev libstdc++-12-dev mold ccache ninja-build cmake pkg-config
       libboost1.81-dev libboost-json1.81-dev libhiredis-dev libssl-dev libspdlog-dev libyaml-cpp-dev libcli11-dev
       libexpat1-dev libzstd-dev libxxhash-dev)
demo=(python3 curl)
redis=(redis-server redis-tools)
test=("${redis[@]}" "${demo[@]}" libgtest-dev libgmock-dev openssl)
# any node will do, and one that is not Debian's must not be replaced
command -v node >/dev/null || test+=(nodejs npm)
micro=(python3 libbenchmark-dev valgrind)
bench=("${redis[@]}" python3 openssl nginx-light libnginx-mod-http-lua lua-cjson haproxy wrk linux-perf strace binutils)
profile=("${bench[@]}" llvm-19)
format=(clang-format-19)
dev=("${format[@]}" clang-tidy-19)

wanted=() list_only=false allow_removals=false
for argument in "$@"; do
  case $argument in
    runtime | build | demo | redis | test | micro | bench | profile | format | dev) declare -n group=$argument; wanted+=("${group[@]}") ;;
    all) wanted+=("${runtime[@]}" "${build[@]}" "${test[@]}" "${micro[@]}" "${profile[@]}" "${dev[@]}") ;;
    --list) list_only=true ;;
    --allow-removals) allow_removals=true ;;
    -h | --help) usage; exit 0 ;;
    *) die "unknown group '$argument' (see --help)" ;;
  esac
done
[[ ${#wanted[@]} -gt 0 ]] || wanted=("${build[@]}")

command -v apt-get >/dev/null || die "this script knows apt only; the packages are: ${wanted[*]}"

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
missing=()
for package in "${wanted[@]}"; do
  installed "$package" || [[ " ${missing[*]-} " == *" $package "* ]] || missing+=("$package")
done
if $list_only; then
  [[ ${#missing[@]} -eq 0 ]] || printf '%s\n' "${missing[@]}"
  exit 0
fi
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || die "missing, and neither root nor sudo is here to install them: ${missing[*]}"
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }
update() { echo "deps.sh: apt-get update"; apt update >/dev/null; }

echo "deps.sh: installing ${missing[*]}"
plan() { apt -s install --no-install-recommends "${missing[@]}"; }
if ! planned=$(plan 2>/dev/null); then
  # a fresh container has no package lists
  update
  planned=$(plan) || die "apt cannot install them; this is meant for Debian 12 (bookworm)"
fi

removed=$(sed -n 's/^Remv \([^ ]*\).*/\1/p' <<<"$planned" | tr '\n' ' ')
if [[ -n $removed ]] && ! $allow_removals; then
  echo "deps.sh: apt would remove: $removed" >&2
  echo "deps.sh: (libboost1.81-dev cannot stay beside libboost-dev 1.74 and what depends on it)" >&2
  if [[ -t 0 && -t 2 ]]; then
    read -r -p "Go on? [y/N] " reply
    [[ $reply == [yY]* ]] || exit 1
  else
    die "not without --allow-removals"
  fi
fi

# Debian's maintainer scripts ask policy-rc.d whether they may start a service; 101 = no.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
fi
install_missing() { apt install -y -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" >/dev/null; }
if ! install_missing; then
  # lists that are too old name versions that the mirror has no more
  update
  install_missing
fi
