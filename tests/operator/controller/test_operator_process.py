"""One operator as a process, before a real API server and under the rights that it asks for."""

import json
import signal
import sys
from pathlib import Path

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.listening_sockets import listening_sockets
from tests.harness.machine.processes import Child, until
from tests.harness.operator.operator_processes import Operator, app, echoed, lease, path_of, put


def test_an_app_is_reconciled_when_it_comes_and_when_it_changes(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    put(api_server, app(namespace, processors=2))
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        until(lambda: echoed(api_server, namespace) == "2", 30, one)
        put(api_server, app(namespace, processors=5))
        until(lambda: echoed(api_server, namespace) == "5", 30, one)
        put(api_server, app(namespace, "later"))
        until(lambda: echoed(api_server, namespace, "later") == "1", 30, one)


def test_what_is_taken_away_by_hand_comes_back(api_server: ApiServer, namespace: str, tmp_path: Path) -> None:
    put(api_server, app(namespace))
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        until(lambda: echoed(api_server, namespace) == "1", 30, one)
        path = f"/api/v1/namespaces/{namespace}/configmaps/app-echo"
        uid = api_server.ask("GET", path)["metadata"]["uid"]
        api_server.ask("DELETE", path)
        until(lambda: echoed(api_server, namespace) == "1", 30, one)
        assert api_server.ask("GET", path)["metadata"]["uid"] != uid


def test_nothing_is_ever_written_into_an_app_for_kopfs_sake(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    put(api_server, app(namespace))
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        until(lambda: echoed(api_server, namespace) == "1", 30, one)
        metadata = api_server.ask("GET", path_of(app(namespace)))["metadata"]
    assert "finalizers" not in metadata
    assert "annotations" not in metadata
    events = api_server.ask("GET", f"/api/v1/namespaces/{namespace}/events")["items"]
    assert events == []


def test_apps_of_another_class_are_left_alone(api_server: ApiServer, namespace: str, tmp_path: Path) -> None:
    other = app(namespace, "other")
    other["spec"]["operatorClass"] = "blue"
    put(api_server, other)
    put(api_server, app(namespace))
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        until(lambda: echoed(api_server, namespace) == "1", 30, one)
        assert one.measured("streamapp_operator_apps") == {"": 1.0}
    assert echoed(api_server, namespace, "other") is None


def test_told_to_stop_it_gives_the_lease_back_and_ends_with_zero(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        until(one.leads, 30, one)
        one.signal(signal.SIGTERM)
        assert one.wait(20) == 0
    assert lease(api_server, namespace)["spec"]["holderIdentity"] == ""


def test_it_is_alive_at_once_and_ready_when_its_cache_is_filled(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        assert one.asked("/livez") == (200, "ok\n")
        until(lambda: one.asked("/readyz") == (200, "ok\n"), 30, one)


def test_outside_of_a_pod_it_listens_on_this_machine_alone_and_at_the_ports_that_it_names(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        until(one.leads, 30, one)
        sockets = listening_sockets(one.pid)
        named_ports = {value for line in one.lines() for key, value in line.items() if key.endswith("port")}
        assert sockets
        assert {socket.port for socket in sockets} <= named_ports
        assert all(socket.is_loopback for socket in sockets)


def test_calls_are_counted_by_verb_and_code(api_server: ApiServer, namespace: str, tmp_path: Path) -> None:
    put(api_server, app(namespace))
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        until(lambda: echoed(api_server, namespace) == "1", 30, one)
        calls = one.measured("streamapp_operator_api_calls_total")
        assert calls['{code="201",verb="patch"}'] == 1
        assert one.measured("streamapp_operator_leading") == {"": 1.0}


def test_log_lines_are_json_and_name_the_app_its_generation_and_the_reconcile(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    put(api_server, app(namespace))
    with Operator(api_server, namespace, tmp_path / "one.log") as one:
        until(lambda: any(line["message"] == "reconciled" for line in one.lines()), 30, one)
        line = next(line for line in one.lines() if line["message"] == "reconciled")
        assert (line["app"], line["generation"], line["level"]) == (f"{namespace}/app", 1, "debug")
        assert isinstance(line["reconcile"], int)
        assert all(isinstance(json.loads(said), dict) for said in one.said().splitlines())


def test_without_the_crd_or_the_right_to_see_it_the_process_ends_and_says_so(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.harness.operator.echo_operator",
        str(api_server.kubeconfig("nobody")),
    ]
    with Child([*command, namespace, "nobody", "1", "1"], tmp_path / "nobody.log") as one:
        assert one.wait(30) == 1
    assert "cannot list resource" in one.said()
