#!/usr/bin/env bash
# From a checkout to a retried order that exists once: builds the proxy, starts a demo backend and the proxy in front of
# it, shows what a retry gets, and leaves both running until Ctrl-C.
#
#   scripts/quickstart.sh            with the store inside of the proxy
#   scripts/quickstart.sh --redis    with a redis-server that it starts
#   scripts/quickstart.sh --check    runs the demonstration, verifies what it shows, and ends (0 = all as it should be)
#
# Ports: QUICKSTART_PORT (8080, the proxy), QUICKSTART_BACKEND_PORT (3000), QUICKSTART_ADMIN_PORT (9911) and
# QUICKSTART_REDIS_PORT (6399); with --check free ones are chosen. QUICKSTART_BINARY: a proxy that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."

# --- arguments, looks ---------------------------------------------------------------------------------------------

check=false redis=false
for argument in "$@"; do
  case $argument in
    --check) check=true ;;
    --redis) redis=true ;;
    -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "quickstart.sh: unknown argument '$argument' (see --help)" >&2; exit 2 ;;
  esac
done

bold='' dim='' green='' red='' plain=''
if [[ -t 1 && -z ${NO_COLOR-} ]]; then
  bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
note() { printf '%s%s%s\n' "$dim" "$*" "$plain"; }
die() { printf '%squickstart.sh: %s%s\n' "$red" "$*" "$plain" >&2; exit 1; }

# --- what was started ends with this script -----------------------------------------------------------------------

work=$(mktemp -d "${TMPDIR:-/tmp}/idempotency-quickstart.XXXXXX")
children=()

stop_children() {
  local pid
  # last started, first stopped: the proxy stores what it still has before its store goes
  for ((i = ${#children[@]} - 1; i >= 0; i--)); do
    pid=${children[i]}
    kill "$pid" 2>/dev/null || continue
    for _ in {1..50}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  children=()
}
finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM HUP
  stop_children
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'echo; exit 130' INT
trap 'exit 143' TERM HUP

start() {  # NAME COMMAND…: in the background, output to a file
  local name=$1
  shift
  # a session of its own: Ctrl-C reaches this script only, which then stops them in order
  setsid "$@" >"$work/$name.log" 2>&1 </dev/null &
  children+=($!)
}
show_log() {
  echo "--- $1" >&2
  if [[ -s $work/$1.log ]]; then tail -n 40 "$work/$1.log" >&2; else echo "(nothing)" >&2; fi
}
gone() { ! kill -0 "$1" 2>/dev/null; }

# --- build --------------------------------------------------------------------------------------------------------

build() {
  local groups=(build demo) options=()
  $redis && groups+=(redis)
  scripts/deps.sh "${groups[@]}"
  # a first configuration here needs no test libraries; one that is there keeps what it was told
  [[ -e build/release/CMakeCache.txt ]] || options=(-DIDEM_TESTS=OFF)
  title "Building (the first time takes some minutes)"
  mkdir -p build
  cmake --preset release "${options[@]}" >"$work/configure.log" 2>&1 || { show_log configure; die "cmake failed"; }
  if [[ -t 1 ]]; then
    cmake --build --preset release --target idempotency-proxy || die "the build failed"
  else
    cmake --build --preset release --target idempotency-proxy >"$work/build.log" 2>&1 ||
      { show_log build; die "the build failed"; }
  fi
}

# --- start --------------------------------------------------------------------------------------------------------

taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
free_ports() {  # COUNT: ports that nobody has at this moment
  python3 - "$1" <<'PY'
import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(s.getsockname()[1] for s in held))
PY
}
choose_ports() {
  if $check; then
    read -r port backend_port admin_port redis_port < <(free_ports 4)
    return
  fi
  port=${QUICKSTART_PORT:-8080} backend_port=${QUICKSTART_BACKEND_PORT:-3000}
  admin_port=${QUICKSTART_ADMIN_PORT:-9911} redis_port=${QUICKSTART_REDIS_PORT:-6399}
  local name
  for name in port backend_port admin_port; do
    ! taken "${!name}" || die "port ${!name} is taken; set QUICKSTART_${name^^} to another one"
  done
  ! { $redis && taken "$redis_port"; } || die "port $redis_port is taken; set QUICKSTART_REDIS_PORT to another one"
}

await() {  # NAME PID COMMAND…: until the command succeeds; false when the process is gone or 15 s are over
  local name=$1 pid=$2
  shift 2
  for _ in {1..150}; do
    "$@" >/dev/null 2>&1 && return 0
    gone "$pid" && break
    sleep 0.1
  done
  show_log "$name"
  return 1
}
get() { curl --noproxy '*' -sS --max-time 10 "$@"; }

write_config() {
  local store="{type: memory}"
  $redis && store="{type: redis, redis: {url: \"redis://127.0.0.1:$redis_port/0\"}}"
  cat >"$work/proxy.yaml" <<YAML
server: {listen: ["127.0.0.1:$port"]}
admin: {listen: "127.0.0.1:$admin_port"}
upstream: {url: "http://127.0.0.1:$backend_port"}
store: $store
routes:
  - name: orders
    match: {path: /orders}
YAML
}

start_all() {
  choose_ports
  write_config
  if $redis; then
    start redis redis-server --port "$redis_port" --bind 127.0.0.1 --dir "$work" --save '' --appendonly no \
      --maxmemory-policy noeviction
    await redis "${children[-1]}" redis-cli -p "$redis_port" ping || return 1
  fi
  start backend python3 scripts/demo_backend.py "$backend_port"
  await backend "${children[-1]}" get -f "http://127.0.0.1:$backend_port/status" || return 1
  start proxy "$binary" run --config "$work/proxy.yaml"
  proxy_pid=${children[-1]}
  await proxy "$proxy_pid" get -f "http://127.0.0.1:$admin_port/readyz" || return 1
}

# --- the demonstration --------------------------------------------------------------------------------------------

failures=0
verify() {  # WHAT TEST…
  local what=$1
  shift
  if "$@"; then
    printf '  %sok%s    %s\n' "$green" "$plain" "$what"
  else
    printf '  %sWRONG%s %s\n' "$red" "$plain" "$what"
    failures=$((failures + 1))
  fi
}

# An answer is a file with the head as it came and the body; these read it.
status_of() { awk 'NR == 1 {print $2}' "$1"; }
header_of() { tr -d '\r' <"$1" | awk -v name="${2,,}:" '!$0 {exit} tolower($1) == name {sub(/^[^:]*: */, ""); print}'; }
body_of() { tr -d '\r' <"$1" | awk 'body {print} !$0 {body = 1}'; }
show_answer() {
  tr -d '\r' <"$1" | awk '
    NR == 1 || tolower($0) ~ /^(location|idempotent-replayed|idempotency-status|retry-after):/ {print "      " $0}
    !$0 {exit}'
  printf '      %s\n' "$(body_of "$1" | cut -c1-200)"
}

post() {  # ANSWER KEY BODY [curl options…]
  local to=$1 key=$2 body=$3
  shift 3
  : >"$to"
  get -i -o "$to" -X POST "$url/orders" -H "Idempotency-Key: $key" -H 'Content-Type: application/json' -d "$body" "$@"
}
new_key() { cat /proc/sys/kernel/random/uuid; }
backend_is_idle() { [[ $(get "http://127.0.0.1:$backend_port/status") == *'"in_flight": 0'* ]]; }
orders() { get "$url/orders" | sed -n 's/.*"count": \([0-9]*\).*/\1/p'; }
is() { [[ $1 == "$2" ]]; }

lost_reply() {
  local key retry order='' body='{"item":"coffee"}' outcome=0
  key=$(new_key)
  title "1. An order is posted, and its reply gets lost"
  note "   The backend takes 2 s over it; the client gives up after 1 s and does not know whether the order exists."
  echo "   POST /orders   Idempotency-Key: $key   $body"
  post "$work/answer" "$key" "$body" --max-time 1 -H 'X-Demo-Delay-Ms: 2000' 2>/dev/null || outcome=$?
  verify "the client has no reply (curl ends with 28, timeout)" is "$outcome" 28
  await backend "$proxy_pid" backend_is_idle || return 1
  note "   It tries again, three times, with the same key:"
  for retry in 1 2 3; do
    post "$work/answer" "$key" "$body"
    # the answer reaches the store some moments after it left the backend
    for _ in {1..20}; do
      [[ $(header_of "$work/answer" Idempotency-Status) == in-progress ]] || break
      sleep 0.1
      post "$work/answer" "$key" "$body"
    done
    if [[ $retry == 1 ]]; then
      show_answer "$work/answer"
      order=$(get "http://127.0.0.1:$backend_port$(header_of "$work/answer" Location)")
    fi
    verify "retry $retry: 201, marked as a replay" is \
      "$(status_of "$work/answer") $(header_of "$work/answer" Idempotent-Replayed)" "201 true"
    verify "retry $retry: the order that the backend has" is "$(body_of "$work/answer")" "$order"
  done
  verify "GET /orders lists one order" is "$(orders)" 1
  used_key=$key
}

reused_key() {
  title "2. The same key with another body is refused"
  echo "   POST /orders   Idempotency-Key: $used_key   {\"item\":\"tea\"}"
  post "$work/answer" "$used_key" '{"item":"tea"}'
  show_answer "$work/answer"
  verify "422 key-reused" is "$(status_of "$work/answer") $(header_of "$work/answer" Idempotency-Status)" "422 key-reused"
  verify "GET /orders lists one order" is "$(orders)" 1
}

same_moment() {
  local key body='{"item":"cake"}' one two created=$work/answer.a refused=$work/answer.b
  key=$(new_key)
  title "3. Two at the same moment"
  echo "   POST /orders twice   Idempotency-Key: $key   $body"
  post "$work/answer.a" "$key" "$body" -H 'X-Demo-Delay-Ms: 2000' & one=$!
  post "$work/answer.b" "$key" "$body" -H 'X-Demo-Delay-Ms: 2000' & two=$!
  wait "$one" || true
  wait "$two" || true
  # either of them may have come first
  if [[ $(status_of "$created") != 201 ]]; then
    created=$work/answer.b refused=$work/answer.a
  fi
  show_answer "$created"
  show_answer "$refused"
  verify "one got 201" is "$(status_of "$created")" 201
  verify "the other got 409 in-progress" is \
    "$(status_of "$refused") $(header_of "$refused" Idempotency-Status)" "409 in-progress"
  verify "and Retry-After, in seconds" test "$(header_of "$refused" Retry-After)" -ge 1
  verify "GET /orders lists two orders" is "$(orders)" 2
}

leave_running() {
  local pid
  title "Both are running. Try it:"
  cat <<TEXT

  curl -i $url/orders -H 'Idempotency-Key: try-1' -H 'Content-Type: application/json' -d '{"item":"book"}'
  curl -i $url/orders -H 'Idempotency-Key: try-1' -H 'Content-Type: application/json' -d '{"item":"book"}'
  curl $url/orders

TEXT
  note "proxy $url, metrics http://127.0.0.1:$admin_port/metrics, backend http://127.0.0.1:$backend_port"
  note "configuration and logs: $work"
  note "Ctrl-C stops everything."
  wait -n "${children[@]}" || true
  for pid in "${children[@]}"; do
    gone "$pid" && { show_log proxy; die "process $pid has ended"; }
  done
}

# --- main ---------------------------------------------------------------------------------------------------------

binary=${QUICKSTART_BINARY:-build/release/idempotency-proxy}
[[ -n ${QUICKSTART_BINARY-} ]] || build

for attempt in 1 2 3; do
  start_all && break
  # somebody may have taken a port between its choice and its use
  stop_children
  if ! $check || [[ $attempt == 3 ]]; then die "could not start"; fi
done
url=http://127.0.0.1:$port

lost_reply
reused_key
same_moment

if [[ $failures -gt 0 ]]; then
  show_log proxy
  die "$failures of the checks above went wrong"
fi
if $check; then
  title "All as it should be."
else
  leave_running
fi
