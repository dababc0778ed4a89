"""`streamapp bundle` before a real API server: what is in the archive, and what could not be read."""

import json
import stat
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result

from streamapp_operator.cli.bundle import bundle
from streamapp_operator.cli.support_bundle.bundle_archive import archive_bytes
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.granted_rights import grant_apps, user
from tests.harness.api_server.played_node import node_with_kubelet
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join
from tests.harness.operator.unpacked_bundle import UnpackedBundle

MARK = "a-word-that-nobody-may-read"
FILES = [
    "config-maps/app-accepted-1.json",
    "config-maps/app-job-model.json",
    "config-maps/app-locality.json",
    "config-maps/app-report.json",
    "events.json",
    "index.json",
    "logs/app-driver-1/driver.log",
    "logs/app-driver-2/driver.log",
    "logs/app-exec-7/spark-kubernetes-executor.log",
    "nodes.json",
    "operator.json",
    "plan.txt",
    "pods/app-driver-1.json",
    "pods/app-driver-2.json",
    "pods/app-exec-7.json",
    "resource.json",
    "revisions/app-revision-1.json",
    "status.txt",
    "versions.json",
]


class Kubelet(BaseHTTPRequestHandler):
    """Its containers have written four lines, one of them with a variable and a password."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        pod, container = url.path.split("/")[-2:]
        lines = [f"{pod} {container} {number}\n" for number in range(3)]
        lines.append(f"TOKEN is {MARK}-variable, and password={MARK}-log\n")
        self.send_response(200)
        self.end_headers()
        last = int(parse_qs(url.query)["tailLines"][0])
        self.wfile.write("".join(lines[-last:]).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def run(sim: OperatorSim, output: Path, *words: str, user: str = "admin") -> Result:
    return CliRunner().invoke(bundle, ["app", "--output", str(output), *words, *sim.cluster_options(user)])


@pytest.fixture
def app(sim: OperatorSim, api_server: ApiServer) -> Iterator[OperatorSim]:
    """One that runs again after a failure, with secrets wherever the API server takes them."""
    name = f"node-of-{sim.namespace}"
    core = f"/api/v1/namespaces/{sim.namespace}"
    secret = {"metadata": {"name": "kafka"}, "stringData": {"sasl.password": f"{MARK}-secret"}}
    sim.server.ask("POST", f"{core}/secrets", secret)
    resource = join(
        env=[{"name": "TOKEN", "value": f"{MARK}-variable"}],
        driver={"sparkConf": {"spark.hadoop.fs.s3a.secret.key": f"{MARK}-spark"}},
    )
    resource["spec"]["systems"][0]["kafka"]["configSecret"] = {"name": "kafka"}
    resource["spec"]["tables"].append(
        {
            "name": "remote",
            "columns": "user STRING, city STRING",
            "remote": {
                "python": "streamapp_runtime.remote.redis:RedisTable",
                "options": {"url": f"redis://:{MARK}-url@cache", "auth": {"password": f"{MARK}-option"}},
            },
        }
    )
    resource["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": json.dumps({"spec": f"{MARK}-applied"}),
        "shop.example/api-token": f"{MARK}-annotation",
    }
    with node_with_kubelet(api_server, name, Kubelet):
        sim.apply(resource)
        sim.settle()
        sim.begin(node=name)
        sim.end(code=3, message=f"cannot reach https://user:{MARK}-ending@host/")
        sim.settle()
        sim.pass_time(60)
        sim.settle()
        sim.begin(node=name)
        sim.executor(7, node=name)
        sim.report()
        sim.settle()
        involved = {"kind": "Pod", "namespace": sim.namespace, "name": "app-driver-1"}
        event = {
            "metadata": {"name": "app-driver-1.1"},
            "involvedObject": involved,
            "type": "Warning",
            "reason": "Failed",
            "message": f"pull with Bearer {MARK}-event",
        }
        sim.server.ask("POST", f"{core}/events", event)
        sim.server.ask(
            "POST",
            f"{core}/events",
            {**event, "metadata": {"name": "x"}, "involvedObject": {**involved, "name": "x"}},
        )
        yield sim


@ON_REAL_SERVER
def test_it_has_all_that_is_known_and_no_secret(app: OperatorSim, tmp_path: Path) -> None:
    path = tmp_path / "app.tar.gz"
    result = run(app, path, "--log-lines", "3")
    assert result.exit_code == 0, result.output
    archive = UnpackedBundle.read(path)
    assert sorted(archive.files) == FILES
    assert MARK.encode() not in archive.content
    assert MARK not in result.output
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"wrote {path}: {len(FILES)} files, {path.stat().st_size:,} bytes\n" in result.output
    assert archive.files["logs/app-driver-2/driver.log"].splitlines() == [
        "app-driver-2 driver 1",
        "app-driver-2 driver 2",
        "TOKEN is ***, and password=***",
    ]
    index = archive.index
    assert [file["name"] for file in index["files"]] == [name for name in FILES if name != "index.json"]
    assert {"environment", "secret-name", "applied-copy", "known-value"} <= index["redaction"][
        "hidden"
    ].keys()
    assert "joined" in archive.files["plan.txt"]
    assert {event["involvedObject"]["name"] for event in archive.json("events.json")} == {
        "app",
        "app-driver-1",
    }
    pod = archive.json("pods/app-driver-2.json")
    volumes = [volume["secret"] for volume in pod["spec"]["volumes"] if "secret" in volume]
    assert {volume["secretName"] for volume in volumes} == {"app-driver-2-run", "kafka"}
    assert archive.json("nodes.json")[0]["name"] == f"node-of-{app.namespace}"
    assert archive.json("versions.json")["kubernetes"]["gitVersion"].startswith("v1.")


@ON_REAL_SERVER
def test_what_may_not_be_read_is_listed_and_not_fatal(app: OperatorSim, tmp_path: Path) -> None:
    grant_apps(app.server, app.namespace, user("nobody"), "get")
    file = tmp_path / "app.tar.gz"
    result = run(app, file, user="nobody")
    assert result.exit_code == 0, result.output
    archive = UnpackedBundle.read(file)
    assert {"resource.json", "status.txt", "versions.json"} <= archive.files.keys()
    unread = archive.unread
    assert {"pods", "configmaps", "persistentvolumeclaims", "controllerrevisions", "events"} <= unread.keys()
    assert 'User "nobody" cannot list resource "pods"' in unread["pods"]
    assert "not in it: pods: 403: " in result.output


@ON_REAL_SERVER
def test_a_file_that_exists_is_left_alone(app: OperatorSim, tmp_path: Path) -> None:
    file = tmp_path / "app.tar.gz"
    file.write_text("something else", encoding="utf-8")
    result = run(app, file)
    assert result.exit_code == 1
    assert f"{file} exists; name another file with --output" in result.output
    assert file.read_text("utf-8") == "something else"


@ON_REAL_SERVER
def test_an_app_that_is_not_there_is_named_and_nothing_is_written(sim: OperatorSim, tmp_path: Path) -> None:
    file = tmp_path / "app.tar.gz"
    result = run(sim, file)
    assert result.exit_code == 1
    assert f'there is no StreamApp "app" in namespace {sim.namespace}' in result.output
    assert not file.exists()


def test_the_same_files_make_the_same_bytes() -> None:
    files = {"b.json": "{}", "a.log": "x"}
    assert archive_bytes("app-bundle", files) == archive_bytes("app-bundle", dict(reversed(files.items())))
