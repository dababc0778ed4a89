"""Where metrics are read from: a small server in a thread of the driver."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

LOOPBACK = "127.0.0.1"
EVERYWHERE = ""
"""In a pod, where Prometheus comes from outside."""
CONTENT = "text/plain; version=0.0.4; charset=utf-8"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A reader that left before its answer is nothing to speak of."""


def metrics_server(text: Callable[[], str], port: int, host: str = LOOPBACK) -> ThreadingHTTPServer:
    """A server on a port, a free one for 0; an OSError where the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        """Answers one scrape."""

        def do_GET(self) -> None:
            """The metrics; nothing else is here."""
            found = self.path.partition("?")[0] in {"/", "/metrics"}
            content = text().encode() if found else b"look at /metrics\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", CONTENT)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing of scrapes."""

    return _Server((host, port), Handler)


@contextmanager
def serve_metrics(server: ThreadingHTTPServer) -> Iterator[str]:
    """Serve for as long as this lasts; gives the address."""
    thread = Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
