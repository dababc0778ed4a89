"""A small server for metrics and for the liveness of the driver, in threads of its own.

Each connection has a thread, and both are bounded: nobody waits behind others, and where there are too many,
the oldest connection of the address that has most ends. So a kubelet is answered beside whoever holds
connections open.

`prometheus_client.start_http_server` is not used: it answers on every path, prints a traceback for each
reader that breaks off, and takes half a second to end.
"""

import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from streamapp.connection_bounds import MOST_CONNECTIONS, MOST_OF_ADDRESS, REQUEST_SECONDS, ConnectionBounds
from streamapp.protocol.message_names import LIVENESS_PATH, READINESS_PATH
from streamapp_runtime.driver.loopback_requests import foreign_refusal

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


class _BoundedServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128
    most_of_address = MOST_CONNECTIONS

    def __init__(self, *args: Any) -> None:
        """Listen, with no connection yet."""
        self._bounds = ConnectionBounds[Any](MOST_CONNECTIONS, self.most_of_address, REQUEST_SECONDS)
        self._lock = Lock()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection, and end another one where there are too many."""
        with self._lock:
            excess = self._bounds.add(request, client_address[0], time.monotonic())
        if excess is not None:
            self._end(excess)
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """End the connections that have not said in time what they want."""
        with self._lock:
            overdue = list(self._bounds.overdue(time.monotonic()))
        for connection in overdue:
            self._end(connection)

    def note_request(self, connection: Any) -> None:
        """Note that a connection has said what it wants."""
        with self._lock:
            self._bounds.settle(connection)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, whose thread ends."""
        self._forget(request)
        super().shutdown_request(request)

    def _end(self, connection: Any) -> None:
        """Have the thread of a connection read its end, and close it."""
        self._forget(connection)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def _forget(self, connection: Any) -> None:
        with self._lock:
            self._bounds.forget(connection)

    def handle_error(self, *_: object) -> None:
        """A reader that left before its answer is nothing to speak of."""


class _EveryAddressServer(_BoundedServer):
    """Listens on the addresses of both families, where the machine has both."""

    most_of_address = MOST_OF_ADDRESS
    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

    def server_bind(self) -> None:
        """Take IPv4 too."""
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class _QuietHandler(WSGIRequestHandler):
    timeout = REQUEST_SECONDS  # for each part of the answer, too
    server: _BoundedServer

    def get_environ(self) -> dict[str, Any]:
        """The request, which is read by now."""
        self.server.note_request(self.request)
        return super().get_environ()

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

    `routes` has what answers below other paths, such as "/page", and judges itself who may ask.
    """
    metrics_app = make_wsgi_app(registry)
    probes = {LIVENESS_PATH: liveness, READINESS_PATH: readiness}

    def respond(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        for path, respond_below in (routes or {}).items():
            if f"{environ['PATH_INFO']}/".startswith(f"{path}/"):
                return respond_below(environ, start_response)
        if host == LOOPBACK and (refusal := foreign_refusal(environ)):
            status, refused = refusal
            start_response(status, [_TEXT])
            return [refused]
        asked = f"{environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}"
        if (answer := probes.get(asked)) is not None:
            passed, text = answer()
            start_response("200 OK" if passed else "503 Service Unavailable", [_TEXT])
            return [f"{text}\n".encode()]
        if environ["PATH_INFO"] in {"/", "/metrics"}:
            content: Iterable[bytes] = metrics_app(environ, start_response)
            return content
        start_response("404 Not Found", [_TEXT])
        return [b"look at /metrics\n"]

    server_class = _EveryAddressServer if host == EVERYWHERE else _BoundedServer
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
