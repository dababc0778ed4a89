"""The YAML language server that editors start, from npm: it is asked over its standard input and output."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from tests.harness.machine.fetched_folder import fetched_folder
from tests.harness.machine.left_out import leave_out

PACKAGE = "yaml-language-server"
RELEASE = "1.19.2"
NO_NPM = "no npm on this machine to fetch a YAML language server with (Debian: apt-get install npm)"
Message = dict[str, Any]
SETTINGS = {
    "validate": True,
    "hover": True,
    "completion": True,
    "schemaStore": {"enable": False},
    "kubernetesCRDStore": {"enable": False},
}
"""As an editor has them, but that nothing is asked for in the network."""


@contextmanager
def yaml_language_server(folder: Path) -> Iterator["LanguageServer"]:
    """The server over a folder; without npm the test is skipped, but never where it has to run."""
    try:
        command = [*_command(), "--stdio"]
    except _NoLanguageServerError as error:
        leave_out(str(error))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            server = LanguageServer(process.stdin, process.stdout, folder)
            server.start()
            yield server
        finally:
            process.kill()


@dataclass
class LanguageServer:
    """A server that has started."""

    questions: IO[bytes]
    answers: IO[bytes]
    folder: Path
    asked: int = field(default=0, init=False)
    opened: int = field(default=0, init=False)

    def start(self) -> None:
        """Introduce an editor."""
        capabilities = {
            "workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}},
            "textDocument": {"completion": {"completionItem": {"documentationFormat": ["markdown"]}}},
        }
        root = self.folder.as_uri()
        self.ask("initialize", {"processId": os.getpid(), "rootUri": root, "capabilities": capabilities})
        self._send("initialized", {})
        self._send("workspace/didChangeConfiguration", {"settings": {"yaml": SETTINGS}})

    def problems(self, text: str) -> list[str]:
        """What the server finds in a file: each line with its message."""
        uri = self._open(text)
        published = self._next(
            lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri
        )
        return [
            f"{diagnostic['range']['start']['line'] + 1}: {diagnostic['message']}"
            for diagnostic in published["params"]["diagnostics"]
        ]

    def completions(self, text: str) -> dict[str, str]:
        """What the server offers where `|` stands in a text, each with what it says of it."""
        answer = self._at_the_bar("textDocument/completion", text)
        items = answer["items"] if isinstance(answer, dict) else answer
        return {item["label"]: _markdown(item.get("documentation", "")) for item in items}

    def hover(self, text: str) -> str:
        """What the server says of the word where `|` stands in a text."""
        return _markdown(self._at_the_bar("textDocument/hover", text)["contents"])

    def ask(self, method: str, params: Any) -> Any:
        """The answer to a request."""
        self.asked += 1
        self._send(method, params, id=self.asked)
        answer = self._next(lambda m: m.get("id") == self.asked and "method" not in m)
        assert "error" not in answer, answer
        return answer["result"]

    def _at_the_bar(self, method: str, text: str) -> Any:
        before, _, after = text.partition("|")
        uri = self._open(before + after)
        place = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        return self.ask(method, {"textDocument": {"uri": uri}, "position": place})

    def _open(self, text: str) -> str:
        """Open a new file; the server looks for the schema beside it."""
        self.opened += 1
        uri = (self.folder / f"{self.opened}.yaml").as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._send("textDocument/didOpen", {"textDocument": document})
        return uri

    def _send(self, method: str, params: Any, **head: Any) -> None:
        self._write({"method": method, "params": params, **head})

    def _write(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.questions.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.questions.flush()

    def _next(self, wanted: Callable[[Message], bool]) -> Message:
        """The next message of a kind; what the server asks on the way is answered."""
        while not wanted(message := self._read()):
            if "method" in message and "id" in message:
                settings = [
                    SETTINGS if item.get("section") == "yaml" else {}
                    for item in (message.get("params") or {}).get("items", ())
                ]
                is_configuration = message["method"] == "workspace/configuration"
                self._write({"id": message["id"], "result": settings if is_configuration else None})
        return message

    def _read(self) -> Message:
        length = 0
        while line := self.answers.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server has ended"
        message: Message = json.loads(self.answers.read(length))
        return message


class _NoLanguageServerError(Exception):
    """This machine cannot run the server; the message says what it lacks."""


def _command() -> tuple[str, Path]:
    """What starts the server, which npm fetches if it is not there."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise _NoLanguageServerError(NO_NPM)
    home = fetched_folder(f"npm/{PACKAGE}-{RELEASE}", partial(_fetch, npm))
    return node, home / "node_modules" / PACKAGE / "bin" / PACKAGE


def _fetch(npm: str, folder: Path) -> Path:
    target = folder / "server"
    target.mkdir()
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(target)]
    run = subprocess.run(
        [npm, "install", *options, f"{PACKAGE}@{RELEASE}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        lines = (run.stdout + run.stderr).strip().splitlines() or ["it did not say why"]
        raise _NoLanguageServerError(f"npm could not fetch a YAML language server: {lines[0]}")
    return target


def _markdown(content: Any) -> str:
    match content:
        case str():
            return content
        case {"value": str(text)}:
            return text
        case [*entries]:
            return "\n".join(map(_markdown, entries))
    return ""
