#!/usr/bin/env python3
"""An orders service to put behind the proxy: it makes a new order for every POST, as often as it is asked.

  scripts/demo_backend.py [PORT] [--host HOST] [--verbose]      PORT 0 = any; the address is printed when it listens

  POST /orders       201, Location, {"id", "item", …}: a new order with a new id
  GET  /orders       {"count", "orders"}
  GET  /orders/ID    one order
  GET  /status       {"orders", "in_flight"}
  POST /reset        forgets all orders

A request can ask for trouble, by query parameter or header (a header leaves the request the same for the proxy):

  ?delay_ms=N   X-Demo-Delay-Ms: N   executes, then answers N ms later
  ?fail=STATUS  X-Demo-Fail: STATUS  answers with that status and executes nothing
  ?drop=1       X-Demo-Drop: 1       executes, then closes the connection without an answer
"""
import argparse
import json
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

MAX_BODY = 16 * 1024 * 1024


class Orders:
    """What the service knows. One lock for all of it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._orders = []
        self._made = 0
        self._in_flight = 0

    def add(self, wanted):
        with self._lock:
            self._made += 1
            order = {"id": f"order-{self._made}", **{k: v for k, v in wanted.items() if k != "id"}}
            self._orders.append(order)
            return order

    def all(self):
        with self._lock:
            return list(self._orders)

    def reset(self):
        # ids go on counting: an old answer must not look like a new order's
        with self._lock:
            self._orders.clear()

    def busy(self, change):
        with self._lock:
            self._in_flight += change

    def status(self):
        with self._lock:
            return {"orders": len(self._orders), "in_flight": self._in_flight}


class BadBody(Exception):
    """The request's body cannot be read or is no JSON object."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "demo-orders"
    sys_version = ""
    wbufsize = -1  # head and body leave in one segment
    disable_nagle_algorithm = True
    timeout = 120
    orders = Orders()
    verbose = False

    def do_GET(self):
        path = urlsplit(self.path).path
        if path == "/orders":
            found = self.orders.all()
            return self.answer(200, {"count": len(found), "orders": found})
        if path == "/status":
            return self.answer(200, self.orders.status())
        for order in self.orders.all():
            if path == "/orders/" + order["id"]:
                return self.answer(200, order)
        return self.answer(404, {"error": "no such thing"})

    def do_POST(self):
        try:
            body = self.read_body()
        except BadBody as fault:
            self.close_connection = True
            return self.answer(400, {"error": str(fault)})
        path = urlsplit(self.path).path
        if path == "/reset":
            self.orders.reset()
            return self.answer(200, self.orders.status())
        if path != "/orders":
            return self.answer(404, {"error": "no such thing"})
        self.orders.busy(+1)
        try:
            return self.create(body)
        finally:
            self.orders.busy(-1)

    def create(self, body):
        fail = self.trouble("fail", "X-Demo-Fail")
        if fail:
            return self.answer(fail if 400 <= fail <= 599 else 500, {"error": "told to fail"})
        try:
            wanted = json.loads(body) if body else {}
            if not isinstance(wanted, dict):
                raise ValueError
        except ValueError:
            return self.answer(400, {"error": "the body is no JSON object"})
        order = self.orders.add(wanted)
        delay = self.trouble("delay_ms", "X-Demo-Delay-Ms")
        if delay:
            time.sleep(min(delay, 600_000) / 1000)
        if self.trouble("drop", "X-Demo-Drop"):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        return self.answer(201, order, {"Location": "/orders/" + order["id"]})

    def trouble(self, parameter, header):
        asked = parse_qs(urlsplit(self.path).query).get(parameter, [self.headers.get(header, "0")])[0]
        return int(asked) if asked.isascii() and asked.isdigit() else 0

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self.read_chunks()
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > MAX_BODY:
            raise BadBody("bad Content-Length")
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            raise BadBody("the body is cut short")
        return body

    def read_chunks(self):
        body = b""
        while True:
            try:
                size = int(self.rfile.readline(1024).split(b";")[0].strip(), 16)
            except ValueError:
                raise BadBody("bad chunk") from None
            if size < 0 or len(body) + size > MAX_BODY:
                raise BadBody("too large")
            body += self.rfile.read(size)
            if size:
                self.rfile.readline(1024)
                continue
            while self.rfile.readline(8192) not in (b"\r\n", b"\n", b""):
                pass
            return body

    def answer(self, status, content, headers=None):
        body = json.dumps(content).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        if self.verbose:
            super().log_message(format, *args)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # a peer that goes away in the middle is part of the demonstration
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError, BrokenPipeError)):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", nargs="?", type=int, default=3000)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--verbose", action="store_true", help="log each request on standard error")
    options = parser.parse_args()
    Handler.verbose = options.verbose
    try:
        server = Server((options.host, options.port), Handler)
    except OSError as fault:
        sys.exit(f"demo_backend.py: cannot listen on {options.host}:{options.port}: {fault.strerror}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"listening on {options.host}:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
