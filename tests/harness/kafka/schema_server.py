"""A schema registry with what its API answers, which can be away, overloaded, or no registry at all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote

from tests.harness.kafka.json_answers import JsonAnswers, answering


@dataclass(slots=True)
class SchemaServer:
    """Schemas by what they are asked for by; the next answers may be given beforehand."""

    url: str = ""
    ids: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # numbers, and ids that are the same everywhere
    versions: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    next_answers: list[tuple[int, str]] = field(default_factory=list)
    subjects: dict[str, list[int]] = field(default_factory=dict)  # the ids of their versions
    incompatible: list[str] = field(default_factory=list)  # the words for whatever is to be registered
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
            case ["subjects", subject, "versions", "latest"] if unquote(subject) in self.subjects:
                return 200, json.dumps({"id": self.subjects[unquote(subject)][-1]})
            case ["subjects", subject, "versions", *version]:
                every = {
                    number: one for (name, number), one in self.versions.items() if name == unquote(subject)
                }
                found: Any = every.get(version[0]) if version else [int(number) for number in every]
                refusal = {"error_code": 40401, "message": "Subject not found"}
                return (200, json.dumps(found)) if found else (404, json.dumps(refusal))
            case _:
                return 404, json.dumps({"error_code": 404, "message": "HTTP 404 Not Found"})

    def answer_to(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        """The status and the body of an answer to a request with a body."""
        self.paths.append(path)
        if self.next_answers:
            return self.next_answers.pop(0)
        match path.partition("?")[0].strip("/").split("/"):
            case ["compatibility", "subjects", subject, "versions", "latest"]:
                if unquote(subject) not in self.subjects:
                    return 404, json.dumps({"error_code": 40401, "message": "Subject not found"})
                words = self.incompatible
                return 200, json.dumps({"is_compatible": not words, "messages": words})
            case ["subjects", subject, "versions"]:
                known = [int(name) for name, one in self.ids.items() if one["schema"] == body["schema"]]
                schema_id = known[0] if known else len(self.ids) + 1
                self.ids[str(schema_id)] = {"schema": body["schema"], "schemaType": body["schemaType"]}
                self.subjects.setdefault(unquote(subject), []).append(schema_id)
                return 200, json.dumps({"id": schema_id})
            case _:
                return 404, json.dumps({"error_code": 404, "message": "HTTP 404 Not Found"})


@contextmanager
def schema_server() -> Iterator[SchemaServer]:
    """The server, while it answers."""
    registry = SchemaServer()

    class Handler(JsonAnswers, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.logins.append(self.headers.get("Authorization", ""))
            self.send_json(*registry.answer(self.path))

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_json(*registry.answer_to(self.path, sent))

    with answering(Handler) as registry.url:
        yield registry
