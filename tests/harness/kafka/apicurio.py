"""A schema registry that nobody here wrote: Apicurio's, got by Maven once, with its schemas in memory."""

import os
import shutil
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.machine.left_out import leave_out
from tests.harness.machine.listening_sockets import listening_sockets

RELEASE = "3.0.9"  # newer ones need Java 21
_ARTIFACT = f"io.apicurio:apicurio-registry-app:{RELEASE}:tar.gz:all"
_RUNNER = f"apicurio-registry-app-{RELEASE}-runner.jar"
_START_SECONDS = 120.0


@contextmanager
def apicurio() -> Iterator[str]:
    """The URL of the registry while it runs; the test is left out where it cannot be had."""
    command = ["java", "-Xmx384m", "-XX:TieredStopAtLevel=1", "-Dquarkus.http.host=127.0.0.1"]
    process = subprocess.Popen(
        [*command, "-Dquarkus.http.port=0", "-jar", _home() / _RUNNER],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _answering(process)
    finally:
        process.kill()
        process.wait()


def _answering(process: "subprocess.Popen[bytes]") -> str:
    """The URL, once something answers there as a registry does."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        for socket in listening_sockets(process.pid):
            url = f"http://127.0.0.1:{socket.port}/apis/ccompat/v7"
            try:
                with urllib.request.urlopen(f"{url}/subjects", timeout=5):  # noqa: S310
                    return url
            except (urllib.error.URLError, OSError):
                pass
        time.sleep(0.1)
    raise AssertionError(f"Apicurio does not answer after {_START_SECONDS:.0f} s, or has ended")


def _home() -> Path:
    """The folder of the unpacked registry."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = caches / "streamapp" / "apicurio" / RELEASE
    if not home.exists():
        maven = shutil.which("mvn")
        if maven is None or shutil.which("java") is None:
            leave_out("no Maven or Java to run a schema registry with (Debian: apt-get install maven)")
        home.parent.mkdir(parents=True, exist_ok=True)
        # Renamed when complete, so that a fetch that was cut short is not taken for the registry.
        with tempfile.TemporaryDirectory(dir=home.parent) as unfinished:
            _fetch(maven, Path(unfinished))
            unpacked = Path(unfinished, "unpacked")
            if not home.exists():  # another process was faster
                unpacked.rename(home)
    return home


def _fetch(maven: str, folder: Path) -> None:
    # Into a repository of its own, and without its parent, which is not published.
    chosen = [f"-Dartifact={_ARTIFACT}", "-Dtransitive=false", f"-Dmaven.repo.local={folder}"]
    goal = "org.apache.maven.plugins:maven-dependency-plugin:2.8:get"
    run = subprocess.run([maven, "-B", "-q", goal, *chosen], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        words = (run.stdout + run.stderr).strip().splitlines() or ["it did not say why"]
        leave_out(f"Maven could not fetch a schema registry: {words[0]}")
    (archive,) = folder.rglob("apicurio-registry-app-*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder / "unpacked", filter="data")
