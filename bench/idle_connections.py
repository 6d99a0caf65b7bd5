#!/usr/bin/env python3
"""Resident memory of the proxy with many idle keep-alive connections, each of which has been served once.

    bench/idle_connections.py PATH_OF_BINARY [CONNECTIONS]

Loopback only; starts a proxy and a backend of its own and ends them. Standard library only.
"""
import resource
import socket
import sys
import threading

from measure import memory_mb
from servers import lone_proxy


def serve(listener):
    """One thread for each of the few connections that the proxy keeps to its backend."""
    def one(c):
        data = b""
        while True:
            part = c.recv(65536)
            if not part:
                return
            data += part
            while b"\r\n\r\n" in data:
                data = data.split(b"\r\n\r\n", 1)[1]
                c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    while True:
        try:
            c, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=one, args=(c,), daemon=True).start()


def main():
    binary, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    backend = socket.create_server(("127.0.0.1", 0), backlog=256)
    threading.Thread(target=serve, args=(backend,), daemon=True).start()
    server = f", max_connections: {count + 100}, timeouts: {{keep_alive: 10m}}"
    with lone_proxy(binary, backend.getsockname()[1], server) as (proxy, port):
        before = memory_mb(proxy.pid)
        held = []
        for i in range(count):
            # one source address has fewer ports than this needs
            c = socket.create_connection(("127.0.0.1", port), 5, source_address=(f"127.0.0.{2 + i // 20000}", 0))
            c.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            if not c.recv(4096).startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"connection {i} was not served")
            held.append(c)
        after = memory_mb(proxy.pid)
        print(f"{count} idle connections: {before:.1f} MiB before, {after:.1f} MiB with them, "
              f"{(after - before) * 1024 / count:.2f} KiB each")


main()
