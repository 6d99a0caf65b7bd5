"""Starts the servers of a measurement on free loopback ports and ends them again, whatever happens.

Everything lives in one temporary folder. `Servers` is a context manager: when it is left, also by Ctrl-C, every server that
is still running is ended by its process id and the folder is removed.
"""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODULES = pathlib.Path("/usr/lib/nginx/modules")
MAX_FILES = 8192

# the bodies that the backend answers with: size in bytes -> how it is called in tables
SIZES = {150: "150 B", 16384: "16 KiB", 262144: "256 KiB"}

PACKAGES = {
    "nginx": "nginx-light", "haproxy": "haproxy", "wrk": "wrk", "redis-server": "redis-server", "openssl": "openssl",
    "perf": "linux-perf", "strace": "strace",
}


class BenchError(Exception):
    """Something that ends a measurement; its text is what the user reads."""


def program(name):
    """The path of a program, or an error that names the package which brings it."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not found:
        raise BenchError(f"{name} is not installed: apt-get install {PACKAGES[name]} (or scripts/deps.sh bench)")
    return found


def path_of(size):
    return f"/v1/orders/{size}"


def free_ports(count):
    """Ports that the kernel chose; all are held until the last is known, so that they differ."""
    held = [socket.socket() for _ in range(count)]
    try:
        for s in held:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in held]
    finally:
        for s in held:
            s.close()


def listens(port, process, seconds=15):
    """Waits until something does on that port; False if the process ended, or time ran out."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


@contextlib.contextmanager
def lone_proxy(binary, backend_port, server="", route=""):
    """The proxy by itself, with one thread and the memory store: its process and its port. `server` and `route` are more
    members of those blocks of its configuration, each with a comma before it."""
    port, admin = free_ports(2)
    with tempfile.TemporaryDirectory(prefix="idem-bench-") as folder:
        config = pathlib.Path(folder) / "proxy.yaml"
        config.write_text(f"""server: {{listen: ["127.0.0.1:{port}"], threads: 1{server}}}
admin: {{listen: "127.0.0.1:{admin}"}}
upstream: {{url: "http://127.0.0.1:{backend_port}"}}
routes: [{{name: api{route}}}]
logging: {{level: warn, access: false}}
""")
        process = subprocess.Popen([binary, "run", "--config", str(config)])
        try:
            if not listens(port, process):
                raise SystemExit("the proxy does not listen")
            yield process, port
        finally:
            process.terminate()
            process.wait(30)


def answer_text(size):
    """JSON of exactly `size` bytes, with the mixture of repetition and chance that lists of records have."""
    chance = random.Random(size)
    text = '{"orders":['
    while len(text) < size - 120:
        text += f'{{"id":"{chance.getrandbits(64):016x}","state":"accepted","total":{chance.randrange(100, 99999)}}},'
    text += '{"note":"'
    return text + "x" * (size - len(text) - 4) + '"}]}'


class Peer:
    """A running proxy: where it listens, which process it is, and what is expected of it."""

    def __init__(self, name, pid, port, tls, admin=None, idempotent=False):
        self.name, self.pid, self.port, self.tls, self.admin, self.idempotent = name, pid, port, tls, admin, idempotent

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/"


class Servers:
    """Backend and Redis for as long as it lasts; peers by `start`, which `stop` may end earlier."""

    def __init__(self, binary):
        self.binary = binary
        self.running = {}  # pid -> (name, Popen)

    def __enter__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="idem-bench-"))
        try:
            self.home.chmod(0o755)
            self._certificate()
            self._backend()
            self._redis()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # a second Ctrl-C must not leave half of them behind
        old = [(s, signal.signal(s, signal.SIG_IGN)) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
        try:
            for pid in list(self.running):
                self.stop(pid)
            shutil.rmtree(self.home, ignore_errors=True)
        finally:
            for s, handler in old:
                signal.signal(s, handler)

    # ---- peers

    def start_nginx(self, tls=False):
        program("nginx")
        (port,) = free_ports(1)
        pid = self._nginx("nginx", "nginx.conf", port, tls)
        return Peer("nginx", pid, port, tls)

    def start_lua(self, tls=False):
        if not (MODULES / "ngx_http_lua_module.so").exists():
            raise BenchError("nginx has no Lua module: apt-get install libnginx-mod-http-lua (or scripts/deps.sh bench)")
        if not any(pathlib.Path("/usr/lib").glob("*/lua/5.1/cjson.so")):
            raise BenchError("Lua has no JSON module: apt-get install lua-cjson (or scripts/deps.sh bench)")
        (port,) = free_ports(1)
        pid = self._nginx("nginx-lua", "nginx-lua.conf", port, tls)
        return Peer("nginx + Lua", pid, port, tls, idempotent=True)

    def start_haproxy(self, tls=False):
        (port,) = free_ports(1)
        pem = self.home / "both.pem"
        config = self._write("haproxy.cfg", PORT=port, BACKEND=self.backend_port, SSL=f" ssl crt {pem}" if tls else "")
        pid = self._run("haproxy", [program("haproxy"), "-db", "-f", str(config)], port)
        return Peer("haproxy", pid, port, tls)

    def start_proxy(self, tls=False, store="redis", threads=1, label=None):
        port, admin = free_ports(2)
        env = {
            "BENCH_PORT": port, "BENCH_ADMIN_PORT": admin, "UPSTREAM_PORT": self.backend_port, "REDIS_PORT": self.redis_port,
            "BENCH_STORE": store, "BENCH_THREADS": threads, "BENCH_CERT": self.home / "cert.pem" if tls else "",
            "BENCH_KEY": self.home / "key.pem" if tls else "",
        }
        env = dict(os.environ, **{k: str(v) for k, v in env.items()})
        pid = self._run("proxy", [str(self.binary), "run", "--config", str(HERE / "proxy.yaml")], port, env)
        return Peer(label or "idempotency-proxy", pid, port, tls, admin, True)

    def stop(self, pid):
        """Ends one server: politely, then not."""
        _, process = self.running.pop(pid)
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()

    def check_alive(self):
        for name, process in self.running.values():
            if process.poll() is not None:
                raise BenchError(f"{name} ended with status {process.returncode}:\n{self._log_end(name)}")

    # ---- what all of them need

    def _certificate(self):
        key, cert = self.home / "key.pem", self.home / "cert.pem"
        made = subprocess.run(
            [program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)],
            capture_output=True, text=True)
        if made.returncode:
            raise BenchError(f"openssl made no certificate: {made.stderr}")
        (self.home / "both.pem").write_text(cert.read_text() + key.read_text())

    def _backend(self):
        program("nginx")
        answers = self.home / "answers"
        answers.mkdir()
        for size in SIZES:
            if size > 150:
                (answers / str(size)).write_text(answer_text(size))
        self.backend_port, self.status_port = free_ports(2)
        self.backend_pid = self._nginx("backend", "backend.conf", self.backend_port, False, STATUS=self.status_port)

    def _redis(self):
        (self.redis_port,) = free_ports(1)
        self.redis_pid = self._run(
            "redis", [program("redis-server"), "--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                      "--dir", str(self.home), "--tcp-backlog", "511", "--maxclients", "4000"], self.redis_port)

    def _nginx(self, name, source, port, tls, **more):
        home = self.home / f"{name}-{port}"
        home.mkdir()
        config = self._write(
            source, target=home / source, HOME=home if name != "backend" else self.home, PORT=port, SSL=" ssl" if tls else "",
            BACKEND=getattr(self, "backend_port", 0), REDIS=getattr(self, "redis_port", 0), CERT=self.home / "cert.pem",
            KEY=self.home / "key.pem", FILES=MAX_FILES, MODULES=MODULES, SOURCE=HERE / "peers",
            # a worker that ran as another user could not read the temporary folder
            USER="user root;" if os.getuid() == 0 else "", **more)
        return self._run(name, [program("nginx"), "-p", str(home), "-c", str(config)], port)

    def _write(self, source, target=None, **values):
        text = (HERE / "peers" / source).read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        target = target or self.home / source
        target.write_text(text)
        return target

    def _run(self, name, command, port, env=None):
        with open(self.home / f"{name}.log", "wb") as log:
            # in a session of its own, so that Ctrl-C reaches only this program, which then ends the rest in order
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True)
        self.running[process.pid] = (name, process)
        if listens(port, process):
            return process.pid
        how = "does not listen after 15 s" if process.poll() is None else f"did not start (status {process.returncode})"
        raise BenchError(f"{name} {how}:\n{self._log_end(name)}")

    def _log_end(self, name):
        lines = (self.home / f"{name}.log").read_text(errors="replace").splitlines()
        return "\n".join("  " + line for line in lines[-10:])
