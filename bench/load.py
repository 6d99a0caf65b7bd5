"""Sends requests: wrk for the load, and a small client of our own for what prepares and proves it."""
import json
import pathlib
import signal
import socket
import ssl
import subprocess

from servers import BenchError, path_of, program

HERE = pathlib.Path(__file__).resolve().parent
BODY_FILE = HERE / "order.json"


class Client:
    """One keep-alive connection. `post` and `get` return (status, bytes of the whole answer, its body)."""

    def __init__(self, port, tls=False):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self.socket = context.wrap_socket(self.socket)
        self.body = BODY_FILE.read_bytes()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def post(self, path, key):
        return self._send(f"POST {path} HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\n"
                          f"Content-Length: {len(self.body)}\r\nIdempotency-Key: {key}\r\n\r\n".encode() + self.body)

    def get(self, path):
        return self._send(f"GET {path} HTTP/1.1\r\nHost: shop.example\r\nAccept: application/json\r\n\r\n".encode())

    def _send(self, request):
        self.socket.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._receive()
        head, body = data.split(b"\r\n\r\n", 1)
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
        if b"content-length" not in fields:
            raise BenchError(f"an answer without a length: {head!r}")
        rest = int(fields[b"content-length"]) - len(body)
        parts = [body]
        while rest > 0:
            parts.append(self._receive())
            rest -= len(parts[-1])
        body = b"".join(parts)
        return int(head.split()[1]), len(head) + 4 + len(body), body

    def _receive(self):
        try:
            part = self.socket.recv(1 << 18)
        except TimeoutError:
            raise BenchError("no answer in 10 s") from None
        if not part:
            raise BenchError("the connection was closed before the answer was complete")
        return part


def seed(peer, size, prefix, count):
    """Has `count` keys answered, PREFIX-0-1 to PREFIX-0-COUNT."""
    with Client(peer.port, peer.tls) as client:
        for n in range(1, count + 1):
            status, _, body = client.post(path_of(size), f"{prefix}-0-{n}")
            if status != 201:
                raise BenchError(f"{peer.name} answered key {n} of {count} with {status}: {body[:200]!r}")


def sample(peer, workload, size, prefix):
    """What one good answer of this workload takes in bytes, head and body."""
    with Client(peer.port, peer.tls) as client:
        if workload == "PASS":
            status, length, body = client.get(path_of(size))
        else:
            key = f"{prefix}-sample" if workload == "FIRST" else f"{prefix}-0-2"
            status, length, body = client.post(path_of(size), key)
    if not 200 <= status <= 299 or len(body) != size:
        raise BenchError(f"{peer.name} answered {workload} with {status} and {len(body)} bytes: {body[:200]!r}")
    return length


class Load:
    """wrk against one peer. `start` returns at once; `finish` waits and returns what it counted, as a dict with requests,
    microseconds, bytes, p50, p99 (microseconds), and faults by kind: statuses, connect, read, write, timeout."""

    def __init__(self, peer, workload, size, connections, seconds, prefix, keys=(1, 1000)):
        self.seconds = seconds
        self.process = subprocess.Popen(
            [program("wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(HERE / "load.lua"), peer.url, "--",
             workload.lower(), path_of(size), str(BODY_FILE), prefix, str(keys[0]), str(keys[1])],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def interrupt(self):
        """Ends it before its time; it still says what it counted."""
        self.process.send_signal(signal.SIGINT)

    def finish(self):
        try:
            output, _ = self.process.communicate(timeout=self.seconds + 30)
        except subprocess.TimeoutExpired:
            raise BenchError(f"wrk did not end in {self.seconds + 30} s") from None
        return parse(output)


def parse(output):
    """The line that load.lua prints at the end."""
    for line in output.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[len("RESULT "):])
    raise BenchError(f"wrk gave no result:\n{output[-2000:]}")
