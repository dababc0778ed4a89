"""A server of this process that answers with JSON."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext


class JsonAnswers(BaseHTTPRequestHandler):
    """The handler of a request, which says nothing of it anywhere."""

    def send_json(self, status: int, text: str, **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        known = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in {**known, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def answering(handler: type[JsonAnswers], port: int = 0, tls: SSLContext | None = None) -> Iterator[str]:
    """The URL of the server, while it answers."""
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    yield f"http{'s' * (tls is not None)}://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()
