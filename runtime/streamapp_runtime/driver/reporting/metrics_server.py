"""Where metrics are read from: a small server in a thread of the driver.

`prometheus_client.start_http_server` is not used: it answers on every path, prints a traceback for each
reader that breaks off, and takes half a second to end.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

LOOPBACK = "127.0.0.1"
EVERYWHERE = ""
"""In a pod, where Prometheus comes from outside."""


class _QuietServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A reader that left before its answer is nothing to speak of."""


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of scrapes."""


def metrics_server(registry: CollectorRegistry, port: int, host: str = LOOPBACK) -> WSGIServer:
    """A server on a port, a free one for 0; an OSError where the port is taken."""
    metrics_app = make_wsgi_app(registry)

    def respond(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if environ["PATH_INFO"] in {"/", "/metrics"}:
            content: Iterable[bytes] = metrics_app(environ, start_response)
            return content
        start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"look at /metrics\n"]

    return make_server(host, port, respond, _QuietServer, _QuietHandler)


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
