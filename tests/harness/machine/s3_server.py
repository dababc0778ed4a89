"""A real server of S3's protocol on a port of its own, whose buckets are folders; built by Go, once."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.harness.machine.fetched_folder import fetched_folder
from tests.harness.machine.left_out import leave_out
from tests.harness.machine.processes import free_port, get, until

_VERSION: Final = "1.8.0"
_MODULE: Final = f"github.com/versity/versitygw/cmd/versitygw@v{_VERSION}"
KEY, SECRET = "key-of-tests", "secret-of-tests"
BUCKET = "lake"


@dataclass(frozen=True, slots=True)
class S3Server:
    """Where the server is, and the folder of its bucket."""

    port: int
    folder: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def s3_program() -> Path:
    """The server's program, which is built where it is not in the cache yet."""
    return fetched_folder(f"s3/{_VERSION}", _built) / "versitygw"


def _built(folder: Path) -> Path:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOBIN": str(folder / "bin")}
    command = ["go", "install", "-trimpath", "-ldflags", "-s -w", _MODULE]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return folder / "bin"


def _answers(port: int) -> bool:
    with suppress(OSError):
        return get(f"http://127.0.0.1:{port}/")[0] > 0
    return False


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """The server, as long as tests of this process need it."""
    if shutil.which("go") is None:
        leave_out("an S3 server is built by Go, which is not on this machine")
    program, folder = s3_program(), tmp_path_factory.mktemp("s3")
    (folder / BUCKET).mkdir()
    port = free_port()
    command = [str(program), "--port", f"127.0.0.1:{port}", "--quiet", "posix", str(folder)]
    environment = {**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            until(lambda: _answers(port), 20)
            yield S3Server(port, folder / BUCKET)
        finally:
            process.terminate()
