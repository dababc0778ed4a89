"""An operator of several namespaces, of which one is gone: the role in it that it was given went along."""

from pathlib import Path

from tests.harness.api_server.api_server import RBAC, ApiServer
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator, app, echoed, put

QUICK = 0.05


def _neighbour(server: ApiServer, namespace: str) -> str:
    name = f"{namespace}-neighbour"
    server.new_namespace(name)
    return name


def _close(server: ApiServer, namespace: str) -> None:
    server.ask("DELETE", f"{RBAC}/namespaces/{namespace}/rolebindings/streamapp-operator-bounded")


def _bounded(server: ApiServer, namespaces: str, log: Path) -> Operator:
    return Operator(server, namespaces, log, patience=QUICK, user="bounded")


def test_a_namespace_that_is_gone_keeps_nobody_from_looking_after_the_others(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    gone = _neighbour(api_server, namespace)
    api_server.allow_in(namespace, "bounded")
    put(api_server, app(namespace, processors=2))
    with _bounded(api_server, f"{namespace},{gone}", tmp_path / "one.log") as one:
        until(lambda: echoed(api_server, namespace) == "2", 60, one)
        assert [line for line in one.lines() if f"into namespace {gone}" in line["message"]]


def test_a_namespace_that_goes_costs_the_others_a_new_process_at_most(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    going = _neighbour(api_server, namespace)
    for one in (namespace, going):
        api_server.allow_in(one, "bounded")
        put(api_server, app(one, processors=2))
    with _bounded(api_server, f"{namespace},{going}", tmp_path / "one.log") as first:
        until(lambda: echoed(api_server, namespace) == echoed(api_server, going) == "2", 60, first)
        _close(api_server, going)
        assert first.wait(60) == 1
    with _bounded(api_server, f"{namespace},{going}", tmp_path / "two.log") as second:
        put(api_server, app(namespace, processors=3))
        until(lambda: echoed(api_server, namespace) == "3", 60, second)


def test_a_namespace_that_comes_back_is_looked_after_by_the_next_process(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    back = _neighbour(api_server, namespace)
    api_server.allow_in(namespace, "bounded")
    with _bounded(api_server, f"{namespace},{back}", tmp_path / "one.log") as one:
        until(one.leads, 60, one)
        api_server.allow_in(back, "bounded")
        assert one.wait(60) == 1
        assert f"namespace {back} can be looked into again" in one.said()


def test_one_that_may_look_into_no_namespace_ends_and_says_so(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    with _bounded(api_server, namespace, tmp_path / "one.log") as one:
        assert one.wait(60) == 1
        assert "streamapps" in one.said()
