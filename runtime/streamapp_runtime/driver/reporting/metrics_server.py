"""Where metrics are read from, and whether the driver makes progress: a small server in a thread of its own.

`prometheus_client.start_http_server` is not used: it answers on every path, prints a traceback for each
reader that breaks off, and takes half a second to end.
"""

import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from streamapp.protocol.message_names import LIVENESS_PATH, READINESS_PATH

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

LOOPBACK = "127.0.0.1"
EVERYWHERE = ""
"""In a pod, where Prometheus and the kubelet come from outside, by whichever address the pod has."""
_TEXT = ("Content-Type", "text/plain; charset=utf-8")
Answer = Callable[[], tuple[bool, str]]
"""Whether the driver makes progress, and what it does."""
Respond = Callable[["WSGIEnvironment", "StartResponse"], Iterable[bytes]]
"""Answers a request."""


class _QuietServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A reader that left before its answer is nothing to speak of."""


class _EveryAddressServer(_QuietServer):
    """Listens on the addresses of both families, where the machine has both."""

    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

    def server_bind(self) -> None:
        """Take IPv4 too."""
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of scrapes."""


def metrics_server(
    registry: CollectorRegistry,
    port: int,
    host: str = LOOPBACK,
    liveness: Answer | None = None,
    readiness: Answer | None = None,
    routes: Mapping[str, Respond] | None = None,
) -> WSGIServer:
    """A server on a port, a free one for 0; an OSError where the port is taken.

    `routes` has what answers below other paths, such as "/page".
    """
    metrics_app = make_wsgi_app(registry)
    probes = {LIVENESS_PATH: liveness, READINESS_PATH: readiness}

    def respond(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        asked = f"{environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}"
        if (answer := probes.get(asked)) is not None:
            passed, text = answer()
            start_response("200 OK" if passed else "503 Service Unavailable", [_TEXT])
            return [f"{text}\n".encode()]
        for path, respond_below in (routes or {}).items():
            if f"{environ['PATH_INFO']}/".startswith(f"{path}/"):
                return respond_below(environ, start_response)
        if environ["PATH_INFO"] in {"/", "/metrics"}:
            content: Iterable[bytes] = metrics_app(environ, start_response)
            return content
        start_response("404 Not Found", [_TEXT])
        return [b"look at /metrics\n"]

    server_class = _EveryAddressServer if host == EVERYWHERE else _QuietServer
    return make_server(host, port, respond, server_class, _QuietHandler)


@contextmanager
def serve_metrics(server: WSGIServer) -> Iterator[str]:
    """Serve for as long as this lasts; gives the address."""
    thread = Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
