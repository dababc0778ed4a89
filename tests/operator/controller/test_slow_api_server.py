"""How long a driver takes where every call to the API server takes long: calls go side by side."""

from pathlib import Path
from time import monotonic

from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.fault_proxy import proxied
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator
from tests.harness.operator.small_apps import join

CALL_SECONDS = 1.0
MOST_ROUNDS = 12
"""Eight rounds of calls, and what a busy machine adds. One call after the other, these are 23."""


def test_a_driver_comes_after_a_few_rounds_of_calls(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{namespace}/streamapps"
    pods = f"/api/v1/namespaces/{namespace}/pods"
    with (
        proxied(api_server) as proxy,
        Operator(
            api_server,
            namespace,
            tmp_path / "one.log",
            url=proxy.url,
            module="tests.harness.operator.whole_operator",
        ) as one,
    ):
        until(one.leads, 60, one)
        api_server.ask("POST", path, join("first"))
        until(lambda: len(api_server.ask("GET", pods)["items"]) == 1, 60, one)
        proxy.delay = CALL_SECONDS
        began = monotonic()
        api_server.ask("POST", path, join("second"))
        until(lambda: len(api_server.ask("GET", pods)["items"]) == 2, 60, one)
        assert monotonic() - began < MOST_ROUNDS * CALL_SECONDS
