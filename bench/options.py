"""Measures the proxy beside plain nginx, haproxy and nginx with Lua, side by side on this machine, loopback only.

  scripts/bench.sh [options]      builds what is missing first; python3 bench/run.py takes the same options

What is measured, by sections:
  peers      CPU for each request, latency and rate of all proxies, with the Redis store
  bodies     the same with larger answers
  memory     the proxy with its memory store, beside the one with Redis
  tls        all with TLS towards the client
  threads    the proxy with two threads beside the one with one
  records    FIRST and REPLAY with many records in the store, and what each of them takes
  footprint  resident memory idle and with 1,000 busy connections
  calls      system calls for each request on each path
  profile    where the proxy spends its CPU on each path; tables and flame graphs go to build/bench

Workloads: FIRST is a POST with a new key each time, REPLAY a POST with one of 1000 keys that were answered before, PASS a GET
that matches no route. Whoever does not keep answers forwards in REPLAY as well.
"""
import argparse
import pathlib

from servers import SIZES

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTIONS = ["peers", "bodies", "memory", "tls", "threads", "records", "footprint", "calls", "profile"]
QUICK = ["peers", "footprint", "calls"]
PEERS = ["nginx", "haproxy", "lua", "proxy"]
WORKLOADS = ["FIRST", "REPLAY", "PASS"]


def parse(words):
    """What was asked for, with the defaults that depend on --full filled in."""
    parser = argparse.ArgumentParser(prog="scripts/bench.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def listed(kind, allowed=None):
        def convert(text):
            values = [kind(word) for word in text.split(",") if word]
            wrong = [value for value in values if allowed and value not in allowed]
            if wrong or not values:
                raise argparse.ArgumentTypeError(f"expected some of {', '.join(map(str, allowed or ['whole numbers']))}")
            return values
        return convert

    parser.add_argument("--full", action="store_true", help="everything, with more rounds; most of an hour")
    parser.add_argument("--sections", type=listed(str, SECTIONS), help=f"some of {','.join(SECTIONS)} (default: {','.join(QUICK)})")
    parser.add_argument("--peers", type=listed(str, PEERS), default=list(PEERS), help=f"some of {','.join(PEERS)} (default: all)")
    parser.add_argument("--workloads", type=listed(str.upper, WORKLOADS), default=WORKLOADS,
                        help="some of first,replay,pass (default: all)")
    parser.add_argument("--connections", type=listed(int), help="e.g. 1,64, the default; section peers with --full 1,16,64,256")
    parser.add_argument("--bodies", type=listed(int, list(SIZES)), help="bytes of the answers for section bodies, of 150,16384,262144")
    parser.add_argument("--rounds", type=int, help="default 3; with --full 5")
    parser.add_argument("--seconds", type=int, help="of one measurement; default 2, with --full 3")
    parser.add_argument("--records", type=int, default=1_000_000, help="for section records; default 1000000")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/idempotency-proxy")
    parser.add_argument("--readme", type=pathlib.Path, default=ROOT / "bench/README.md", help="the file whose tables are replaced")
    parser.add_argument("--no-write", action="store_true", help="only prints")
    o = parser.parse_args(words)
    o.sections = o.sections or (SECTIONS if o.full else QUICK)
    o.peers_connections = o.connections or ([1, 16, 64, 256] if o.full else [1, 64])
    o.connections = o.connections or [1, 64]
    o.bodies = o.bodies or [16384, 262144]
    o.rounds = o.rounds or (5 if o.full else 3)
    o.seconds = o.seconds or (3 if o.full else 2)
    if "nginx" not in o.peers:
        o.peers.insert(0, "nginx")  # every ratio is taken against it
    return o
