"""The API server in memory at a port of loopback, for commands: they get there by a kubeconfig."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from tests.harness.api_server.api_server import kubeconfig_text
from tests.harness.api_server.memory_api import MemoryApi


class ServedMemoryApi(MemoryApi):
    """Objects in memory that other threads may ask for as well. Every user may do everything."""

    def __init__(self, clock: Callable[[], float], kubeconfig: Path) -> None:
        super().__init__(clock)
        self.lock = Lock()
        self._kubeconfig = kubeconfig

    def kubeconfig(self, user: str = "admin") -> Path:
        """The file by which commands get here; there are no rights, and so only the admin."""
        assert user == "admin", "rights are the real API server's to grant"
        return self._kubeconfig

    def answer(self, method: str, path: str, body: Any, content: str) -> tuple[int, Any]:
        with self.lock:
            return super().answer(method, path, body, content)


@contextmanager
def served_memory_api(clock: Callable[[], float], folder: Path) -> Iterator[ServedMemoryApi]:
    """An API server in memory that answers at a port for as long as this lasts."""
    file = folder / "kubeconfig.yaml"
    api = ServedMemoryApi(clock, file)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            content = self.headers.get("Content-Type", "application/json")
            code, answer = api.answer(self.command, self.path, body, content)
            reply = json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        address = f"http://127.0.0.1:{server.server_address[1]}"
        file.write_text(kubeconfig_text({"server": address}, "admin"), encoding="utf-8")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield api
        server.shutdown()
        thread.join()
