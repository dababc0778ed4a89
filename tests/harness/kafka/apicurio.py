"""A schema registry that nobody here wrote: Apicurio's, got by Maven once, with its schemas in memory."""

import shutil
import subprocess
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.harness.machine.fetched_folder import fetched_folder
from tests.harness.machine.left_out import leave_out
from tests.harness.machine.listening_sockets import listening_sockets
from tests.harness.machine.processes import until

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
    urls: list[str] = []

    def answers() -> bool:
        assert process.poll() is None, "Apicurio has ended"
        for socket in listening_sockets(process.pid):
            url = f"http://127.0.0.1:{socket.port}/apis/ccompat/v7"
            with suppress(OSError), urllib.request.urlopen(f"{url}/subjects", timeout=5):  # noqa: S310
                urls.append(url)
        return bool(urls)

    until(answers, limit=_START_SECONDS)
    return urls[0]


def _home() -> Path:
    """The folder of the unpacked registry."""
    return fetched_folder(f"apicurio/{RELEASE}", _fetch)


def _fetch(folder: Path) -> Path:
    maven = shutil.which("mvn")
    if maven is None or shutil.which("java") is None:
        leave_out("no Maven or Java to run a schema registry with (Debian: apt-get install maven)")
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
    return folder / "unpacked"
