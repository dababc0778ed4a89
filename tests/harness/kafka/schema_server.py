"""A schema registry with what its API answers, which can be away, overloaded, or no registry at all."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


@dataclass(slots=True)
class SchemaServer:
    """Schemas by what they are asked for by; the next answers may be given beforehand."""

    url: str = ""
    ids: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # numbers, and ids that are the same everywhere
    versions: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    next_answers: list[tuple[int, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)  # as they were asked for
    logins: list[str] = field(default_factory=list)

    def register(self, schema_id: object, schema: Any, **fields: Any) -> None:
        """Have a schema under an id."""
        self.ids[str(schema_id)] = {"schema": json.dumps(schema), **fields}

    def answer(self, path: str) -> tuple[int, str]:
        """The status and the body of an answer."""
        self.paths.append(path)
        if self.next_answers:
            return self.next_answers.pop(0)
        match path.strip("/").split("/"):
            case ["schemas", "ids" | "guids", name] if name in self.ids:
                return 200, json.dumps(self.ids[name])
            case ["schemas", "ids", _]:
                return 404, json.dumps({"error_code": 40403, "message": "Schema not found"})
            case ["subjects", subject, "versions", version]:
                found = self.versions.get((unquote(subject), version))
                refusal = {"error_code": 40401, "message": "Subject not found"}
                return (200, json.dumps(found)) if found else (404, json.dumps(refusal))
            case _:
                return 404, json.dumps({"error_code": 404, "message": "HTTP 404 Not Found"})


@contextmanager
def schema_server() -> Iterator[SchemaServer]:
    """The server, while it answers."""
    registry = SchemaServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.logins.append(self.headers.get("Authorization", ""))
            status, text = registry.answer(self.path)
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    yield registry
    server.shutdown()
    server.server_close()
    thread.join()
