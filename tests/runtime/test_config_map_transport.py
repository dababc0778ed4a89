"""The driver's end of the protocol at a real API server, with just the rights that its role gives."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState, Progress, Report
from streamapp.protocol.message_names import REPORT, WANTED
from streamapp.protocol.report_codec import decode_report
from streamapp.protocol.silent_driver import (
    SILENT_DRIVER,
    STANDBY_MANAGER,
    SilentDriver,
    silent_driver_of,
)
from streamapp.protocol.wanted_state import WantedState, encode_wanted
from streamapp_operator.controller.watch.cached_fields import foreign_write_time
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.driver_role import driver_role
from streamapp_runtime.transport import kubernetes_api as client
from streamapp_runtime.transport.config_map_transport import ConfigMapTransport
from tests.harness.api_server.api_server import RBAC, ApiServer

PATIENCE_SECONDS = 30.0
APP: dict[str, Any] = {"metadata": {"name": "app", "namespace": "", "uid": "u-1"}}


def eventually(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if result := found():
            return result
        time.sleep(0.05)
    raise AssertionError("it did not come to that")


def path(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps" + f"/{name}" * bool(name)


@pytest.fixture
def carrier(api_server: ApiServer, namespace: str, tmp_path: Path) -> Iterator[ConfigMapTransport]:
    """One whose account may do what the operator lets drivers do, and nothing else."""
    for name in (object_names.job_model("app"), object_names.report("app")):
        api_server.ask("POST", path(namespace), {"metadata": {"name": name}})
    rights = {**driver_role(APP, claims=False), "metadata": {"name": "driver"}}
    within = f"{RBAC}/namespaces/{namespace}"
    api_server.ask("POST", f"{within}/roles", rights)
    subject = {"kind": "ServiceAccount", "name": "driver", "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "driver"}
    bound = {"metadata": {"name": "driver"}, "roleRef": reference, "subjects": [subject]}
    api_server.ask("POST", f"{within}/rolebindings", bound)
    api_server.ask(
        "POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "driver"}}
    )
    asked = f"/api/v1/namespaces/{namespace}/serviceaccounts/driver/token"
    given = api_server.ask("POST", asked, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"})
    (tmp_path / "token").write_text(given["status"]["token"])
    authority = api_server.folder / "apiserver.crt"
    server = client.KubernetesApi(api_server.url, tmp_path / "token", authority, namespace)
    opened = ConfigMapTransport(server, object_names.job_model("app"), object_names.report("app"))
    opened.begin()
    yield opened
    opened.close()


def told(api_server: ApiServer, namespace: str) -> Report | None:
    found = api_server.ask("GET", path(namespace, object_names.report("app")))
    text = (found.get("data") or {}).get(REPORT)
    return decode_report(text) if text else None


def want(api_server: ApiServer, namespace: str, wanted: WantedState) -> None:
    body = {"data": {WANTED: encode_wanted(wanted)}}
    content = "application/merge-patch+json"
    api_server.ask("PATCH", path(namespace, object_names.job_model("app")), body, content)


def test_what_is_wanted_is_heard_of_each_time_that_it_changes(
    api_server: ApiServer, namespace: str, carrier: ConfigMapTransport
) -> None:
    assert carrier.wanted() is None
    for processors in (2, 3):
        want(api_server, namespace, WantedState("hash", processors))
        eventually(lambda processors=processors: carrier.wanted() == WantedState("hash", processors))


def test_a_report_arrives_and_one_that_says_the_same_is_not_written(
    api_server: ApiServer, namespace: str, carrier: ConfigMapTransport
) -> None:
    report = Report(DriverState.RUNNING, driver="app-driver-1", model_version=3)
    carrier.report(report)
    eventually(lambda: told(api_server, namespace) == report)
    before = api_server.ask("GET", path(namespace, object_names.report("app")))
    carrier.report(replace(report))
    carrier.close()
    after = api_server.ask("GET", path(namespace, object_names.report("app")))
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_the_word_of_a_standby_stands_beside_the_report_and_is_taken_back(
    api_server: ApiServer, namespace: str, carrier: ConfigMapTransport
) -> None:
    report = Report(DriverState.RUNNING, driver="app-driver-1", model_version=3)
    carrier.report(report)
    eventually(lambda: told(api_server, namespace) == report)
    name = object_names.report("app")
    reported_at = foreign_write_time(api_server.ask("GET", path(namespace, name)))
    word = SilentDriver("app-driver-1", "app-driver-2")
    time.sleep(1.1)  # the API server writes seconds
    carrier.api.annotate(name, {SILENT_DRIVER: word.annotation()}, STANDBY_MANAGER)
    annotated = api_server.ask("GET", path(namespace, name))
    assert silent_driver_of(annotated["metadata"]["annotations"]) == word
    assert told(api_server, namespace) == report
    assert foreign_write_time(annotated) == reported_at
    carrier.api.annotate(name, {SILENT_DRIVER: None}, STANDBY_MANAGER)
    assert not api_server.ask("GET", path(namespace, name))["metadata"].get("annotations")


def test_a_report_that_somebody_deleted_is_sent_again(
    api_server: ApiServer, namespace: str, carrier: ConfigMapTransport
) -> None:
    carrier.resend_seconds = 0.2
    report = Report(DriverState.RUNNING, driver="app-driver-1", model_version=3)
    carrier.report(report)
    eventually(lambda: told(api_server, namespace) == report)
    name = object_names.report("app")
    api_server.ask("DELETE", path(namespace, name))
    api_server.ask("POST", path(namespace), {"metadata": {"name": name}})
    eventually(lambda: told(api_server, namespace) == report)


def test_the_last_report_is_there_when_the_driver_ends(
    api_server: ApiServer, namespace: str, carrier: ConfigMapTransport
) -> None:
    for lag in range(50):
        carrier.report(Report(DriverState.RUNNING, progress=Progress(lag)))
    carrier.report(Report(DriverState.ENDED))
    carrier.close()
    assert told(api_server, namespace) == Report(DriverState.ENDED)


def test_when_a_server_that_was_away_is_back_it_is_told_the_newest(
    api_server: ApiServer, namespace: str, carrier: ConfigMapTransport
) -> None:
    right = carrier.api
    carrier.api = replace(right, url="https://127.0.0.1:1")
    carrier.report(Report(DriverState.STARTING))
    carrier.report(Report(DriverState.RUNNING))
    carrier.api = right
    eventually(lambda: told(api_server, namespace) == Report(DriverState.RUNNING))


def test_what_cannot_be_read_changes_nothing(
    api_server: ApiServer, namespace: str, carrier: ConfigMapTransport
) -> None:
    heard: list[str] = []
    carrier.trouble = heard.append
    want(api_server, namespace, WantedState("hash", 2))
    eventually(carrier.wanted)
    body = {"data": {WANTED: "{}"}}
    name = object_names.job_model("app")
    api_server.ask("PATCH", path(namespace, name), body, "application/merge-patch+json")
    eventually(lambda: heard)
    assert carrier.wanted() == WantedState("hash", 2)
