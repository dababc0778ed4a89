"""Many apps at once under the whole operator: each gets one driver, and then nothing is written."""

from pathlib import Path

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator
from tests.harness.operator.small_apps import join

APPS = 40
WHOLE = "tests.harness.operator.whole_operator"


def _drivers(server: ApiServer, namespace: str) -> list[str]:
    path = f"/api/v1/namespaces/{namespace}/pods?labelSelector=streamapp.dev/role=driver"
    return [pod["metadata"]["labels"]["streamapp.dev/app"] for pod in server.ask("GET", path)["items"]]


def _comparisons(operator: Operator) -> float:
    return min(operator.measured("streamapp_operator_comparisons_total").values(), default=0.0)


@pytest.mark.long
def test_of_many_apps_applied_at_once_each_gets_one_driver_and_then_nothing_is_written(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    names = {f"app-{number}" for number in range(APPS)}
    with Operator(api_server, namespace, tmp_path / "one.log", patience=0.05, module=WHOLE) as one:
        done = api_server.kubectl("create", "-n", namespace, "-f", "-", given=[join(name) for name in names])
        assert done.returncode == 0, done.stderr
        until(lambda: set(_drivers(api_server, namespace)) == names, 240, one)
        until(lambda: _at_rest(one), 120, one)
        before, compared = one.writes(), _comparisons(one)
        until(lambda: _comparisons(one) >= compared + 2, 120, one)
        assert one.writes() == before
        assert sorted(_drivers(api_server, namespace)) == sorted(names)
        assert one.measured("streamapp_operator_watch_missed_total") == {}
        assert one.measured("streamapp_operator_launches_total") == {"": float(APPS)}
        assert one.measured("streamapp_operator_restarts_total") == {"": 0.0}


def _at_rest(operator: Operator) -> bool:
    """A comparison has passed in which nothing was written."""
    before, compared = operator.writes(), _comparisons(operator)
    until(lambda: _comparisons(operator) > compared, 60, operator)
    return operator.writes() == before
