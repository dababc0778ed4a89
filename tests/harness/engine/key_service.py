"""An HTTP service of this process that is asked for many keys at once; it can be ended and held up."""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from ssl import SSLContext
from typing import Any

from tests.harness.kafka.json_answers import JsonAnswers, answering


@dataclass(slots=True)
class KeyService:
    """Rows as JSON by key; the next answers may be given beforehand."""

    rows: dict[str, str] = field(default_factory=dict)
    next_answers: list[tuple[int, str, dict[str, str]]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)  # path, headers, body
    tls: SSLContext | None = None
    url: str = ""
    _free: threading.Event = field(default_factory=threading.Event)
    _running: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        service = self

        class Handler(JsonAnswers, BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.requests.append((self.path, dict(self.headers), body))
                service._free.wait()
                status, text, headers = service._answer(body["keys"])
                self.send_json(status, text, **headers)

        self._free.set()
        port = int(self.url.rpartition(":")[2] or 0)
        self.url = self._running.enter_context(answering(Handler, port, self.tls))

    def end(self) -> None:
        self._running.close()

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """It takes requests meanwhile, and answers nothing."""
        self._free.clear()
        yield
        self._free.set()

    def _answer(self, keys: list[str]) -> tuple[int, str, dict[str, str]]:
        if self.next_answers:
            return self.next_answers.pop(0)
        members = (f"{json.dumps(key)}: {self.rows[key]}" for key in keys if key in self.rows)
        return 200, f"{{{', '.join(members)}}}", {}
