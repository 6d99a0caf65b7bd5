#!/usr/bin/env python3
"""Resident memory of the proxy with many idle keep-alive connections, each of which has been served once.

    bench/idle_connections.py PATH_OF_BINARY [CONNECTIONS]

Loopback only; starts a proxy and a backend of its own and ends them. Standard library only.
"""
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


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


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024


def main():
    binary, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    backend = socket.create_server(("127.0.0.1", 0), backlog=256)
    threading.Thread(target=serve, args=(backend,), daemon=True).start()
    port, admin = free_port(), free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(f"""server: {{listen: ["127.0.0.1:{port}"], threads: 1, max_connections: {count + 100}, timeouts: {{keep_alive: 10m}}}}
admin: {{listen: "127.0.0.1:{admin}"}}
upstream: {{url: "http://127.0.0.1:{backend.getsockname()[1]}"}}
routes: [{{name: api}}]
logging: {{level: warn, access: false}}
""")
        f.flush()
        proxy = subprocess.Popen([binary, "run", "--config", f.name])
        try:
            end = time.monotonic() + 10
            while time.monotonic() < end:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            before = resident(proxy.pid)
            held = []
            for i in range(count):
                # one source address has fewer ports than this needs
                c = socket.create_connection(("127.0.0.1", port), 5, source_address=(f"127.0.0.{2 + i // 20000}", 0))
                c.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                if not c.recv(4096).startswith(b"HTTP/1.1 200"):
                    raise SystemExit(f"connection {i} was not served")
                held.append(c)
            after = resident(proxy.pid)
            print(f"{count} idle connections: {before:.1f} MiB before, {after:.1f} MiB with them, "
                  f"{(after - before) * 1024 / count:.2f} KiB each")
        finally:
            proxy.terminate()
            proxy.wait(30)


main()
