"""An HTTP server on this machine that takes OTLP spans and OpenLineage events, and may refuse them."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

Attributes = dict[str, Any]


@dataclass(slots=True)
class TelemetryReceiver:
    """What came, decoded."""

    url: str
    status: int = HTTPStatus.OK
    spans: list[Span] = field(default_factory=list)
    services: set[str] = field(default_factory=set)
    events: list[dict[str, Any]] = field(default_factory=list)
    authorizations: set[str] = field(default_factory=set)

    def take(self, path: str, authorization: str, body: bytes) -> int:
        """Take a request as a collector of traces or a lineage server does."""
        if self.status != HTTPStatus.OK:
            return self.status
        if path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.services.add(attributes_of(resource.resource)["service.name"])
                self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        elif path == "/api/v1/lineage":
            self.authorizations.add(authorization)
            self.events.append(json.loads(body))
        else:
            return HTTPStatus.NOT_FOUND
        return self.status


def attributes_of(part: Any) -> Attributes:
    """The attributes of a span or a resource."""
    values = {one.key: one.value for one in part.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values.items()}


@contextmanager
def telemetry_receiver() -> Iterator[TelemetryReceiver]:
    """A receiver at a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            self.send_response(receiver.take(self.path, self.headers.get("Authorization", ""), body))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = TelemetryReceiver(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
