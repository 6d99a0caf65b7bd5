#!/usr/bin/env python3
"""Memory of the proxy while a large body goes through it in each direction, to a reader that is slow at first.

    bench/big_bodies.py PATH_OF_BINARY [MIB]

1024 MiB unless told otherwise, up and then down. Exit code 1 if the proxy grows by 8 MiB or more, or a byte is missing.
Loopback only; starts a proxy and a backend of its own and ends them. Standard library only.
"""
import socket
import sys
import threading
import time

from measure import memory_mb
from servers import lone_proxy

PIECE = 256 * 1024
LIMIT_MIB = 8
SLOW_MIB = 16  # of these the reader takes a piece every 20 ms


def read_head(c):
    """The head, and what has come of the body."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = c.recv(65536)
        if not part:
            raise SystemExit(f"the connection ended within a head: {data!r}")
        data += part
    head, body = data.split(b"\r\n\r\n", 1)
    return head.decode(), len(body)


def length(head):
    return next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")),
                0)


def read_slowly_at_first(c, left):
    """Reads `left` bytes; how many there were before an end."""
    buffer, got = bytearray(PIECE), 0
    while got < left:
        n = c.recv_into(buffer, min(PIECE, left - got))
        if n == 0:
            break
        got += n
        if got < SLOW_MIB << 20:
            time.sleep(0.02)
    return got


def send(c, size):
    piece = b"x" * PIECE
    for _ in range(size // PIECE):
        c.sendall(piece)


def serve(listener, size):
    """PUT: reads slowly and says how much there was. GET: sends the body."""
    def one(c):
        while True:
            try:
                head, early = read_head(c)
            except SystemExit:
                return
            if head.startswith("GET /small "):
                c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            elif head.startswith("GET "):
                c.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
                send(c, size)
            else:
                got = early + read_slowly_at_first(c, length(head) - early)
                text = str(got).encode()
                c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
    while True:
        try:
            c, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=one, args=(c,), daemon=True).start()


def answer_of(c):
    head, early = read_head(c)
    if not head.startswith("HTTP/1.1 200"):
        raise SystemExit(f"not served: {head}")
    return head, early


def upload(port, size):
    with socket.create_connection(("127.0.0.1", port), 30) as c:
        c.sendall(f"PUT /up HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n".encode())
        send(c, size)
        data = b""
        while part := c.recv(65536):
            data += part
        return int(data.split(b"\r\n\r\n", 1)[1])


def download(port, size):
    with socket.create_connection(("127.0.0.1", port), 30) as c:
        c.sendall(b"GET /down HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        head, early = answer_of(c)
        return early + read_slowly_at_first(c, length(head) - early)


def small(port):
    with socket.create_connection(("127.0.0.1", port), 5) as c:
        c.sendall(b"GET /small HTTP/1.1\r\nHost: a\r\n\r\n")
        answer_of(c)


def measure(proxy, port, size):
    small(port)
    failed = False
    for what, run in (("up", upload), ("down", download)):
        before, began = memory_mb(proxy.pid), time.monotonic()
        # the peak from here on
        with open(f"/proc/{proxy.pid}/clear_refs", "w") as f:
            f.write("5")
        got = run(port, size)
        took, grown = time.monotonic() - began, memory_mb(proxy.pid, "VmHWM") - before
        print(f"{what}: {got >> 20} MiB in {took:.1f} s, {before:.1f} MiB resident before, {grown:+.1f} MiB at most")
        failed |= got != size or grown >= LIMIT_MIB
    return failed


def main():
    binary, size = sys.argv[1], (int(sys.argv[2]) if len(sys.argv) > 2 else 1024) << 20
    backend = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(backend, size), daemon=True).start()
    with lone_proxy(binary, backend.getsockname()[1], route=', idempotency: {mode: "off"}') as (proxy, port):
        failed = measure(proxy, port, size)
    sys.exit(1 if failed else 0)


main()
