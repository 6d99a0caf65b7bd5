"""Reads what a measurement needs from /proc, from the backend, from Redis and from the kernel's counters."""
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

from servers import BenchError, program

# what a proxy may call for a request; counting all that the kernel has takes seconds to set up
NAMED_CALLS = """accept accept4 brk clock_gettime clock_nanosleep close connect epoll_ctl epoll_pwait epoll_wait eventfd2 fcntl
futex getpeername getpid getrandom getsockname getsockopt ioctl lseek madvise mmap mprotect munmap nanosleep open openat poll
pread64 pwrite64 read readv recvfrom recvmsg rt_sigprocmask sched_yield sendfile64 sendmsg sendto setsockopt shutdown socket splice
timerfd_settime unlink write writev""".split()

EVENTS = ",".join(["raw_syscalls:sys_enter"] + [f"syscalls:sys_enter_{name}" for name in NAMED_CALLS])
TICKS = os.sysconf("SC_CLK_TCK")


def process_tree(pid):
    """The process and all of its descendants."""
    found, open_ = [], [pid]
    while open_:
        pid = open_.pop()
        found.append(pid)
        for task in _list(f"/proc/{pid}/task"):
            open_ += [int(child) for child in _read(f"/proc/{pid}/task/{task}/children").split()]
    return found


class Cpu:
    """CPU seconds that a process tree has used so far: total, and the part in user mode.

    The total is the scheduler's own clock (nanoseconds), where the kernel keeps it; the split into user and system is known
    in ticks only."""

    def __init__(self, pid):
        exact = user = system = 0
        for p in process_tree(pid):
            fields = _read(f"/proc/{p}/stat").rpartition(")")[2].split()
            if fields:
                user += int(fields[11])
                system += int(fields[12])
            for task in _list(f"/proc/{p}/task"):
                exact += int((_read(f"/proc/{p}/task/{task}/schedstat").split() or ["0"])[0])
        self.user, self.ticks, self.exact = user / TICKS, (user + system) / TICKS, exact / 1e9

    def since(self, before):
        """(seconds, of which in user mode) between two of these."""
        ticks = self.ticks - before.ticks
        total = self.exact - before.exact or ticks
        return total, total * (self.user - before.user) / ticks if ticks else 0.0


def machine_cpu():
    """(busy, all) CPU seconds of the whole machine since it was started."""
    fields = [int(f) for f in _read("/proc/stat").splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICKS, sum(fields) / TICKS


def memory_mb(pid, what="VmRSS"):
    """Resident memory of a process tree in MiB; VmHWM gives the highest it ever was."""
    total = 0
    for p in process_tree(pid):
        found = re.search(rf"^{what}:\s+(\d+) kB", _read(f"/proc/{p}/status"), re.M)
        total += int(found[1]) if found else 0
    return total / 1024


class BackendRequests:
    """Counts the requests that reached the backend, but for those that ask it for this number."""

    def __init__(self, port):
        self.port, self.asked = port, 0

    def count(self):
        """Waits for a moment without any, so that what one run left on its way is not taken for the next one's."""
        before, end = self._ask(), time.monotonic() + 10
        while time.monotonic() < end:
            time.sleep(0.1)
            now = self._ask()
            if now == before:
                return now
            before = now
        raise BenchError("the backend is still at work 10 s after the load ended")

    def _ask(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status", timeout=10) as answer:
            self.asked += 1
            return int(answer.read().split(b"\n")[2].split()[2]) - self.asked


def proxy_metric(port, pattern):
    """The sum of the proxy's metrics whose line begins as the pattern says."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found = re.findall(rf"^{pattern}\S* (\S+)$", text, re.M)
    if not found:
        raise BenchError(f"the proxy has no metric {pattern}")
    return sum(float(f) for f in found)


def redis(port, *words):
    """One command to Redis; strings and numbers come back as text."""
    with socket.create_connection(("127.0.0.1", port), 60) as s:
        s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
        f = s.makefile("rb")
        line = f.readline().decode().strip()
        if line.startswith("-"):
            raise BenchError(f"Redis refuses {words[0]}: {line[1:]}")
        return f.read(int(line[1:])).decode() if line.startswith("$") else line[1:]


def redis_info(port, name):
    return int(re.search(rf"^{name}:(\d+)", redis(port, "INFO"), re.M)[1])


def count_system_calls(pid, load):
    """Runs a load and returns (what it counted, {name: calls}, how they were counted). The kernel's own counters are taken
    where they may be used, since they do not slow the process down; else strace, which does."""
    if _kernel_counts():
        return _by_perf(pid, load)
    return _by_strace(pid, load)


def _kernel_counts():
    try:
        probe = subprocess.run([program("perf"), "stat", "-x,", "-e", EVENTS, "true"], capture_output=True, text=True)
    except BenchError:
        return False
    return parse_perf_counts(probe.stderr).get("read", 0) > 0


def _by_perf(pid, load):
    with tempfile.NamedTemporaryFile("r") as out:
        pids = ",".join(map(str, process_tree(pid)))
        counter = subprocess.Popen([program("perf"), "stat", "-x,", "-o", out.name, "-e", EVENTS, "-p", pids],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        try:
            time.sleep(1)  # it has many counters to open
            if counter.poll() is not None:
                raise BenchError(f"perf stat: {counter.stderr.read().decode()}")
            counted = load()
        finally:
            _interrupt(counter)
        return counted, parse_perf_counts(out.read()), "perf stat"


def _by_strace(pid, load):
    with tempfile.NamedTemporaryFile("r") as out:
        pids = [word for p in process_tree(pid) for word in ("-p", str(p))]
        tracer = subprocess.Popen([program("strace"), "-f", "-c", "-U", "name,calls", "-o", out.name, *pids],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        try:
            end = time.monotonic() + 10
            while not all("TracerPid:\t0\n" not in _read(f"/proc/{p}/status") for p in process_tree(pid)):
                if tracer.poll() is not None or time.monotonic() > end:
                    raise BenchError(f"strace cannot trace the process: {tracer.stderr.read().decode() if tracer.poll() is not None else ''}")
                time.sleep(0.05)
            counted = load()
        finally:
            _interrupt(tracer)
        return counted, parse_strace_counts(out.read()), "strace"


def _interrupt(process):
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def parse_perf_counts(text):
    """{name: calls} of `perf stat -x,` with raw_syscalls:sys_enter, which is all of them, and events syscalls:sys_enter_NAME;
    calls that never happened are left out, and what has no name here is "others"."""
    calls, total = {}, 0
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) < 3 or not fields[0].isdigit() or not int(fields[0]):
            continue
        if fields[2] == "raw_syscalls:sys_enter":
            total = int(fields[0])
        elif fields[2].startswith("syscalls:sys_enter_"):
            calls[fields[2].removeprefix("syscalls:sys_enter_")] = int(fields[0])
    others = total - sum(calls.values())
    return calls | ({"others": others} if others > 0 else {})


def parse_strace_counts(text):
    """{name: calls} of `strace -c -U name,calls`."""
    found = re.findall(r"^(\w+)\s+(\d+)\s*$", text, re.M)
    return {name: int(calls) for name, calls in found if name != "total"}


def _read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:  # it ended while we looked
        return ""


def _list(path):
    try:
        return os.listdir(path)
    except OSError:
        return []
