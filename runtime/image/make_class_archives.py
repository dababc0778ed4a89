"""Makes the class archives of the runtime's image: one for drivers, one for executors.

    python make_class_archives.py FOLDER ENTRYPOINT

Run while the image is built. A Spark driver starts as it does in a pod and asks for an executor. A small
server on loopback is the API server that it asks, and starts the executor's container command as a kubelet
would. Both JVMs write down the classes that they load, and the archives are made of those.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyspark
from pyspark import SparkConf, SparkContext

from streamapp_runtime.driver.spark.class_archive import FOLDER, ClassArchive, JvmRole
from streamapp_runtime.driver.spark.class_archive_making import make
from streamapp_runtime.driver.spark.expression_jar import PLUGIN
from streamapp_runtime.driver.spark.java_command import spark_jars
from streamapp_runtime.driver.spark.jvm import end_jvm, start_jvm
from streamapp_runtime.driver.spark.sql_class_recording import evaluate_once, read_once
from streamapp_runtime.expressions.spark_source import jvm_of_context
from streamapp_runtime.installed_java import find_java

EXECUTOR_SECONDS = 120.0
JOBS = 3


@dataclass(slots=True)
class Kubelet:
    """The pods that Spark asks for; the containers of executors run as processes here."""

    entrypoint: Path
    variables: dict[str, str]  # that every container has
    pods: dict[str, dict[str, Any]] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def create(self, pod: dict[str, Any]) -> dict[str, Any]:
        """Run a pod's container."""
        name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]
        variables = {one["name"]: one.get("value", "127.0.0.1") for one in container.get("env", ())}
        command = [str(self.entrypoint), *container.get("args", ())]
        environment = {**os.environ, **variables, **self.variables}
        self.processes.append(subprocess.Popen(command, env=environment))  # noqa: S603 - the image's own
        pod["metadata"] |= {"uid": name, "namespace": "default", "resourceVersion": "1"}
        pod["status"] = {"phase": "Running", "podIP": "127.0.0.1"}
        self.pods[name] = pod
        return pod

    def end(self) -> None:
        """Wait until the containers have ended, as they do without a driver."""
        for process in self.processes:
            process.wait(EXECUTOR_SECONDS)


@contextmanager
def api_server(kubelet: Kubelet) -> Iterator[str]:
    """Answers what Spark asks of an API server: pods are created, listed, watched and deleted."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            if self.headers.get("Upgrade"):  # a watch by WebSocket: the client then asks for a plain one
                self._answer({})
                return
            if query.get("watch") == ["true"]:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.flush()
                ended.wait()
                return
            items = list(kubelet.pods.values())
            self._answer({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items})

        def do_POST(self) -> None:
            self._answer(kubelet.create(self._body()), 201)

        def do_PATCH(self) -> None:
            self._body()
            self._answer(kubelet.pods.get(self.path.rpartition("/")[2], {"kind": "Pod", "apiVersion": "v1"}))

        def do_DELETE(self) -> None:
            self._body()
            kubelet.pods.clear()
            self._answer({"kind": "Status", "apiVersion": "v1", "status": "Success"})

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _body(self) -> dict[str, Any]:
            length = int(self.headers["Content-Length"] or 0)
            body: dict[str, Any] = json.loads(self.rfile.read(length) or b"{}")
            return body

        def _answer(self, document: dict[str, Any], code: int = 200) -> None:
            text = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    ended = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        ended.set()
        server.shutdown()


def use_spark(master: str) -> None:
    """A driver's first minutes: an executor, and expressions that are read here and evaluated there."""
    settings = {
        "spark.master": f"k8s://{master}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.authenticate": "true",
        "spark.authenticate.secret": "recorded",
        "spark.kubernetes.container.image": "recorded",
        "spark.kubernetes.executor.disableConfigMap": "true",
        "spark.dynamicAllocation.enabled": "false",
        "spark.task.maxFailures": "1",
        "spark.plugins": PLUGIN,
        "spark.sql.ansi.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
    }
    start_jvm(settings)
    conf = SparkConf().setAppName("recorded").set("spark.executor.instances", "1").setAll([*settings.items()])
    context = SparkContext(conf=conf)
    context.setLogLevel("ERROR")
    deadline = time.monotonic() + EXECUTOR_SECONDS
    while not _has_executor(context):
        if time.monotonic() > deadline:
            raise TimeoutError("the executor did not come")
        time.sleep(0.1)
    read_once(jvm_of_context(context))
    for _ in range(JOBS):
        context.parallelize(range(1), 1).mapPartitions(evaluate_once).count()
    context.stop()
    end_jvm()


def _has_executor(context: Any) -> bool:
    listed = context._jsc.sc().statusStore().executorList(True)  # noqa: SLF001 - Spark has no other way
    return any(listed.apply(index).id() != "driver" for index in range(listed.size()))


def main(folder: Path, entrypoint: Path) -> None:
    """Record, and make both archives."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ[FOLDER] = str(folder)
    java, jars = find_java(), spark_jars(Path(pyspark.__file__).with_name("jars"))
    if java is None:
        raise FileNotFoundError("there is no java")
    drivers, executors = _archive(JvmRole.DRIVER, java, jars), _archive(JvmRole.EXECUTOR, java, jars)
    options = folder / "executor.options"
    options.write_text(_arguments(executors, jars), "utf-8")
    kubelet = Kubelet(entrypoint, {"STREAMAPP_EXECUTOR_OPTIONS": str(options)})
    with api_server(kubelet) as url:
        use_spark(url)
    kubelet.end()
    for archive in (drivers, executors):
        make(archive, java, jars)
        if not archive.is_whole:
            raise RuntimeError(f"no archive was made for the {archive.role}: {archive.failure_text}")
        archive.file.chmod(0o644)
        sys.stdout.write(f"{archive.file.name}: {archive.file.stat().st_size >> 20} MiB\n")
    options.write_text(_arguments(executors, jars), "utf-8")
    for file in (*folder.glob("*.lock"), folder / "lock"):
        file.unlink(missing_ok=True)


def _archive(role: JvmRole, java: str, jars: tuple[str, ...]) -> ClassArchive:
    archive = ClassArchive.of(role, java, jars)
    if archive is None:
        raise RuntimeError(f"there shall be no archive for the {role}")
    return archive


def _arguments(archive: ClassArchive, jars: tuple[str, ...]) -> str:
    """The file of arguments that executors begin with: their jars in the order of the archive."""
    return "".join(f'"{argument}"\n' for argument in ("-cp", os.pathsep.join(jars), *archive.options()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
