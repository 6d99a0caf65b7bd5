#!/usr/bin/env python3
"""Runs the sections of the benchmark; options.py says what they are. scripts/bench.sh starts it."""
import datetime
import json
import re
import signal
import subprocess
import sys
import time
import uuid

import measure
import options
import profiles
import report
from load import Load, sample, seed
from servers import SIZES, BenchError, Servers, program

RESULTS = options.ROOT / "build" / "bench"
TITLES = {
    "peers": "Beside its peers", "bodies": "Larger answers", "memory": "Memory store", "tls": "TLS", "threads": "Two threads",
    "records": "Many records", "footprint": "Resident memory", "calls": "System calls",
}
STARTS = {"nginx": Servers.start_nginx, "haproxy": Servers.start_haproxy, "lua": Servers.start_lua, "proxy": Servers.start_proxy}
REPLAYED = 1000


class Starter:
    """Starts one kind of peer, as often as it is wanted."""

    def __init__(self, servers, name, settings):
        self.servers, self.name, self.settings = servers, name, settings
        # such records go with the process only, and each run begins with an empty store
        self.keeps_records = settings.get("store") == "memory"

    def start(self):
        return STARTS[self.name](self.servers, **self.settings)


class Bench:
    def __init__(self, chosen, servers):
        self.o, self.servers = chosen, servers
        self.backend = measure.BackendRequests(servers.status_port)
        self.faults = []  # of the section at work
        self.raw = {}

    # ---- one measurement

    def measured(self, peer, workload, size, connections, seconds, label=None, keys=None, fresh=True):
        """One run against one peer, as a row for report.py. `keys` is (prefix, first, last) for REPLAY of records that are
        there already; without it 1000 are made. `fresh` empties Redis first."""
        s = self.servers
        if fresh:
            measure.redis(s.redis_port, "FLUSHALL")
        prefix, first, last = keys or (uuid.uuid4().hex[:16], 1, REPLAYED)
        if workload == "REPLAY" and peer.idempotent and not keys:
            seed(peer, size, prefix, REPLAYED)
        length = sample(peer, workload, size, prefix)

        watched = {"cpu": peer.pid, "upstream": s.backend_pid, "redis": s.redis_pid}
        hits = self.backend.count()
        busy, whole = measure.machine_cpu()
        before = {name: measure.Cpu(pid) for name, pid in watched.items()}
        with Load(peer, workload, size, connections, seconds, prefix, (first, last)) as load:
            watched["load"] = load.process.pid
            before["load"] = measure.Cpu(load.process.pid)
            # it is gone at the end, so that its CPU has to be read while it is there
            while load.process.poll() is None:
                used_by_load = measure.Cpu(load.process.pid)
                time.sleep(0.1)
            result = load.finish()
        used = {name: measure.Cpu(pid).since(before[name]) for name, pid in watched.items() if name != "load"}
        busy_after, whole_after = measure.machine_cpu()
        memory = measure.memory_mb(peer.pid)
        hits = self.backend.count() - hits
        s.check_alive()

        requests = max(1, result["requests"])
        ours = sum(total for total, _ in used.values()) + used_by_load.since(before["load"])[0]
        row = {
            "workload": workload, "size": size, "connections": connections, "peer": label or peer.name,
            "requests": result["requests"], "rate": result["requests"] / result["microseconds"] * 1e6, "p50": result["p50"],
            "p99": result["p99"], "cpu": used["cpu"][0] / requests * 1e6, "user": used["cpu"][1] / requests * 1e6,
            "upstream": used["upstream"][0] / requests * 1e6, "redis": used["redis"][0] / requests * 1e6, "hits": hits,
            "faults": sum(result[kind] for kind in ("statuses", "connect", "read", "write", "timeout")), "memory": memory,
            "other": max(0.0, busy_after - busy - ours) / max(0.01, whole_after - whole),
        }
        self.judge(row, result, length, peer)
        return row

    def judge(self, row, result, length, peer):
        """Figures of requests that failed, or that did something else than was asked, are worth nothing."""
        name = f"{row['workload']} {SIZES[row['size']]} with {row['connections']} connections against {row['peer']}"
        found = verdict(row, result, length, replays=row["workload"] == "REPLAY" and peer.idempotent)
        for fault in found:
            print(f"FAILED: {name}: {fault}", file=sys.stderr, flush=True)
            self.faults.append(f"{name}: {fault}")

    def rounds(self, section, starters, workloads, sizes, connections):
        """Every peer once in each round, in an order that moves on by one from round to round. """
        rows, peers = [], [starter.start() for starter in starters]
        try:
            for workload in workloads:
                for size in sizes:
                    for peer in peers:
                        self.warm_up(peer, workload, size)
                    for count in connections:
                        for number in range(self.o.rounds):
                            order = [(number + i) % len(peers) for i in range(len(peers))]
                            for i in order:
                                if starters[i].keeps_records:
                                    self.servers.stop(peers[i].pid)
                                    peers[i] = starters[i].start()
                                row = self.measured(peers[i], workload, size, count, self.o.seconds)
                                row["round"] = number
                                rows.append(row)
                                self.say(section, row)
        finally:
            for peer in peers:
                if peer.pid in self.servers.running:
                    self.servers.stop(peer.pid)
            measure.redis(self.servers.redis_port, "FLUSHALL")
        self.raw[section] = rows
        return rows

    def warm_up(self, peer, workload, size):
        prefix = uuid.uuid4().hex[:16]
        with Load(peer, "PASS" if workload == "REPLAY" else workload, size, 16, 1, prefix) as load:
            load.finish()

    def say(self, section, row):
        print(f"{section:8} {row['workload']:6} {SIZES[row['size']]:>7} {row['connections']:4} conns, round {row.get('round', 0) + 1}: "
              f"{row['peer']:30} {row['rate']:8.0f}/s  CPU {row['cpu']:6.1f} µs/req  p50 {row['p50']:6.0f} µs  p99 {row['p99']:6.0f} µs  "
              f"hits/req {row['hits'] / max(1, row['requests']):.3f}  other {100 * row['other']:.0f} %", flush=True)

    def starter(self, name, **settings):
        return Starter(self.servers, name, settings)

    def chosen(self, *names):
        return [name for name in names if name in self.o.peers]

    def cost_section(self, section, starters, workloads=None, sizes=(150,), connections=None):
        rows = self.rounds(section, starters, workloads or self.o.workloads, sizes, connections or self.o.connections)
        return report.peers_table(rows) + "\n\n" + report.disturbance(rows)

    # ---- sections

    def peers(self):
        return self.cost_section("peers", [self.starter(name) for name in self.chosen("nginx", "haproxy", "lua", "proxy")],
                                 connections=self.o.peers_connections)

    def bodies(self):
        return self.cost_section("bodies", [self.starter(name) for name in self.chosen("nginx", "haproxy", "lua", "proxy")],
                                 sizes=self.o.bodies, connections=[16])

    def tls(self):
        return self.cost_section("tls", [self.starter(name, tls=True) for name in self.chosen("nginx", "haproxy", "lua", "proxy")])

    def memory(self):
        return self.cost_section("memory", [
            self.starter("nginx"), self.starter("proxy", label="idempotency-proxy, Redis"),
            self.starter("proxy", store="memory", label="idempotency-proxy, memory")])

    def threads(self):
        one, two = "idempotency-proxy, 1 thread", "idempotency-proxy, 2 threads"
        text = self.cost_section("threads", [
            self.starter("nginx"), self.starter("proxy", label=one), self.starter("proxy", threads=2, label=two)])
        rows, said = self.raw["threads"], []
        for cell in report.cells(rows):
            if cell[3] == two:
                said.append(f"{cell[0]} at {cell[2]} connections {report.number(report.ratio(rows, cell, 'cpu', base=one), 2)}")
        return text + "\n\nCPU for each request with two threads, divided by that with one in the same round (target: at most 1.10): " + \
            "; ".join(said) + "."

    def records(self):
        texts = [self.records_in(store) for store in ("redis", "memory")]
        rows = [row for _, found in texts for row in found]
        self.raw["records"] = rows
        return report.peers_table(rows) + "\n\n" + "\n".join(f"* {said}" for said, _ in texts) + "\n\n" + report.disturbance(rows)

    def records_in(self, store):
        """FIRST and REPLAY with an empty store, then with many records, and what a record takes."""
        s, o, rows = self.servers, self.o, []
        measure.redis(s.redis_port, "FLUSHALL")
        name = f"idempotency-proxy, {'Redis' if store == 'redis' else store}"
        base, proxy = s.start_nginx(), s.start_proxy(store=store)
        try:
            def measured(label, keys=None):
                for workload in ("FIRST", "REPLAY"):
                    for number in range(o.rounds):
                        for peer, title in ((base, label.replace(name, "nginx")), (proxy, label)):
                            # the ratios need the plain name
                            title = "nginx" if peer is base else title
                            row = self.measured(peer, workload, 150, 64, o.seconds, title, keys if peer is proxy and workload == "REPLAY" else None,
                                                fresh=False)
                            row["round"] = (label, number)
                            rows.append(row)
                            self.say("records", dict(row, round=number))

            measured(f"{name}, empty")
            prefix, made, each = self.fill(proxy, store)
            measured(f"{name}, {made:,} records", (prefix, 2, made * 99 // 100))
        finally:
            s.stop(proxy.pid)
            s.stop(base.pid)
            measure.redis(s.redis_port, "FLUSHALL")
        where = "Redis" if store == "redis" else "The process"
        return f"{where} takes {each:.0f} bytes for each record, key and bookkeeping included.", rows

    def fill(self, proxy, store):
        """Has new keys answered through the proxy until the store has as many as wanted. Returns (prefix, count, bytes each)."""
        s, wanted, prefix = self.servers, self.o.records, uuid.uuid4().hex[:16]

        def count():
            if store == "redis":
                return int(measure.redis(s.redis_port, "DBSIZE"))
            return int(measure.proxy_metric(proxy.admin, r'idempotency_proxy_requests_total\{route="charges",decision="executed"'))

        def size():
            return measure.redis_info(s.redis_port, "used_memory") if store == "redis" else measure.memory_mb(proxy.pid) * 2**20

        begin, size_before = count(), size()
        now, moved = begin, time.monotonic()
        with Load(proxy, "FIRST", 150, 64, 3600, prefix) as load:
            while now - begin < wanted:
                time.sleep(0.5)
                latest = count()
                if latest > now:
                    now, moved = latest, time.monotonic()
                if load.process.poll() is not None or time.monotonic() - moved > 30:
                    raise BenchError(f"the store stopped to grow at {now - begin:,} records")
                if sys.stdout.isatty():
                    print(f"\rfilling {store}: {now - begin:,} of {wanted:,} records ", end="", flush=True)
            load.interrupt()
            result = load.finish()
        print(f"\rfilled {store} with {now - begin:,} records     ", flush=True)
        faults = sum(result[kind] for kind in ("statuses", "connect", "read", "write", "timeout"))
        if faults:
            self.faults.append(f"filling {store}: {faults} requests failed")
        made = count() - begin
        return prefix, result["requests"], (size() - size_before) / max(1, made)

    def footprint(self):
        rows, connections = [], 1000
        for name in self.chosen("nginx", "haproxy", "lua", "proxy"):
            measure.redis(self.servers.redis_port, "FLUSHALL")
            peer = STARTS[name](self.servers)
            try:
                # once it has served one, nginx has its worker
                sample(peer, "FIRST", 150, uuid.uuid4().hex[:16])
                time.sleep(0.5)
                idle = measure.memory_mb(peer.pid)
                row = self.measured(peer, "FIRST", 150, connections, max(3, self.o.seconds))
                rows.append({"peer": peer.name, "idle": idle, "busy": measure.memory_mb(peer.pid, "VmHWM"), "connections": connections})
                self.say("footprint", row)
            finally:
                self.servers.stop(peer.pid)
        self.raw["footprint"] = rows
        return report.footprint_table(rows) + "\n\nTargets of idempotency-proxy: 16 MiB idle, 48 MiB with 1,000 busy connections."

    def calls(self):
        rows = []
        for name in self.chosen("nginx", "lua", "proxy"):
            peer = STARTS[name](self.servers)
            try:
                for workload in self.o.workloads:
                    # without, nginx might not have its worker yet when its processes are listed
                    self.warm_up(peer, workload, 150)
                    for connections in (1, 64):
                        measure.redis(self.servers.redis_port, "FLUSHALL")
                        keys = (uuid.uuid4().hex[:16], 1, REPLAYED)
                        if workload == "REPLAY" and peer.idempotent:
                            seed(peer, 150, keys[0], REPLAYED)

                        def load():
                            return self.measured(peer, workload, 150, connections, 2, keys=keys, fresh=False)
                        row, calls, tool = measure.count_system_calls(peer.pid, load)
                        if not calls:
                            raise BenchError(f"{tool} counted no system call of {peer.name}")
                        rows.append({"workload": workload, "connections": connections, "peer": peer.name, "calls": calls,
                                     # and the sample
                                     "requests": row["requests"] + 1, "tool": tool})
                        print(f"calls    {workload:6} {connections:4} conns: {peer.name:20} "
                              f"{sum(calls.values()) / rows[-1]['requests']:.2f} for each request", flush=True)
            finally:
                self.servers.stop(peer.pid)
        order = {w: i for i, w in enumerate(self.o.workloads)}
        rows.sort(key=lambda row: (order[row["workload"]], row["connections"]))
        self.raw["calls"] = rows
        said = "by the kernel" if rows[0]["tool"] == "perf stat" else "by strace, which slows the process down, so that one call does more at a time"
        return report.calls_table(rows) + f"\n\nCounted {said}. Bodies of 150 bytes, Redis store, one thread."

    def profile(self):
        RESULTS.mkdir(parents=True, exist_ok=True)
        peer = self.servers.start_proxy()
        try:
            for workload in self.o.workloads:
                prefix = uuid.uuid4().hex[:16]
                if workload == "REPLAY":
                    seed(peer, 150, prefix, REPLAYED)
                self.warm_up(peer, workload, 150)

                def load():
                    with Load(peer, workload, 150, 64, self.o.seconds + 2, prefix) as running:
                        running.finish()
                stacks = profiles.record(peer.pid, self.o.seconds + 1, self.servers.home / "perf.data", load)
                text = f"{workload}, 64 connections, {versions(self.o.binary)}\n{profiles.table(stacks)}"
                stem = RESULTS / f"profile-{workload.lower()}"
                stem.with_suffix(".txt").write_text(text)
                stem.with_suffix(".svg").write_text(profiles.flame_graph(stacks, f"idempotency-proxy, {workload}"))
                print("\n".join(text.splitlines()[:17]) + f"\n  … {stem}.txt and .svg\n", flush=True)
        finally:
            self.servers.stop(peer.pid)


def verdict(row, result, length, replays):
    """What is wrong with a run, as a list of sentences. `length` is what one good answer takes; `replays` says that the
    backend must not have been asked at all."""
    found = []
    requests, connections = row["requests"], row["connections"]
    if not requests:
        return ["no request was answered"]
    for kind, words in (("statuses", "answers with an error status"), ("connect", "connections refused"), ("read", "reads failed"),
                        ("write", "writes failed"), ("timeout", "requests timed out")):
        if result[kind]:
            found.append(f"{result[kind]} {words}")
    # wrk counts a redirect as good; its length, and that of any other wrong answer, gives it away. More than the answers to
    # the requests is only what each connection had read of its last one.
    mean = result["bytes"] / requests
    if not length - 1 <= mean <= length + 1 + length * connections / requests:
        found.append(f"answers of {mean:.0f} bytes in the mean, {length} were expected")
    low, high = (0, 0) if replays else (requests, requests + connections)
    if not low <= row["hits"] <= high:
        found.append(f"{row['hits']} requests reached the backend, expected {low}" + (f" to {high}" if high > low else ""))
    return found


def versions(binary):
    """One line with the versions of everything that takes part."""
    def first(pattern, *command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        except OSError:
            return "?"
        found = re.search(pattern, done.stdout + done.stderr)
        return found[1] if found else "?"
    proxy, compiler = first(r"(\d[\w.+-]*)", str(binary), "version"), first(r"clang version (\S+)", "readelf", "-p", ".comment", str(binary))
    nginx, haproxy = first(r"nginx/(\S+)", program("nginx"), "-v"), first(r"version (\d[\w.]*)", "haproxy", "-v")
    redis = first(r"v=(\S+)", program("redis-server"), "--version")
    return f"idempotency-proxy {proxy} (clang {compiler}), nginx {nginx}, haproxy {haproxy}, Redis {redis}"


def main():
    o = options.parse(sys.argv[1:])
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda signum, _: sys.exit(128 + signum))
    if not o.binary.exists():
        raise BenchError(f"{o.binary} is not there: scripts/bench.sh builds it")
    for name in ["nginx", "wrk", "redis-server", "openssl"] + (["haproxy"] if "haproxy" in o.peers else []):
        program(name)

    sections, faults = {}, []
    with Servers(o.binary) as servers:
        bench = Bench(o, servers)
        for section in o.sections:
            bench.faults, text = [], None
            try:
                text = getattr(bench, section)()
            except (BenchError, OSError) as error:
                print(f"FAILED: {section}: {error}", file=sys.stderr, flush=True)
                bench.faults.append(str(error))
            faults += [f"{section}: {fault}" for fault in bench.faults]
            if text and not bench.faults:
                rounds = "" if section in ("footprint", "calls") else f"; {o.rounds} rounds of {o.seconds} s"
                head = f"{datetime.date.today()}, {versions(o.binary)}{rounds}."
                sections[TITLES[section]] = f"{head}\n\n{text}"

    for title, text in sections.items():
        print(f"\n### {title}\n\n{text}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "results.json").write_text(json.dumps(bench.raw, indent=1, default=str))
    if sections and not o.no_write:
        o.readme.write_text(report.merge(o.readme.read_text(), sections))
        print(f"\nwritten into {o.readme}: {', '.join(sections)}")
    if faults:
        print("\nFAILED; no table of these sections was made:\n" + "\n".join(f"  {fault}" for fault in faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\nbench: interrupted", file=sys.stderr)
        sys.exit(130)
