"""The operator goes by the API server's clock, however wrong that of its own node is."""

from email.utils import formatdate
from pathlib import Path
from time import monotonic, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_operator.controller.client.server_clock import ServerClock
from streamapp_operator.reconciler.facts.timestamps import format_timestamp, parse_timestamp
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.fault_proxy import proxied
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator, app, lease, path_of, put

DAY = 86_400
BACKOFF = 8
LENIENT = 60.0


class Clocks:
    """A server's clock, and the monotonic one of a process that asks it."""

    def __init__(self, server_time: float) -> None:
        self.elapsed, self.server_time = 0.0, server_time
        self.clock = ServerClock(lambda: self.elapsed, lambda: 0.0)

    def pass_time(self, seconds: float) -> None:
        self.elapsed += seconds
        self.server_time += seconds

    def ask(self, there: float, back: float) -> None:
        began = self.clock.begin()
        self.pass_time(there)
        date = formatdate(int(self.server_time), usegmt=True)
        self.pass_time(back)
        self.clock.answered(date, began)


ways = st.floats(0, 2)
starts = st.floats(1e9, 2e9)


@given(starts, st.lists(st.tuples(ways, ways, st.floats(0, 1e5)), min_size=1))
def test_it_is_never_further_off_than_a_date_and_its_way(
    start: float, requests: list[tuple[float, float, float]]
) -> None:
    clocks = Clocks(start)
    for there, back, pause in requests:
        clocks.ask(there, back)
        error = clocks.clock.seconds() - clocks.server_time
        assert -1 - back - 1e-3 <= error <= 1 + there + 1e-3
        clocks.pass_time(pause)


@given(starts, st.floats(-10 * DAY, 10 * DAY))
def test_a_server_whose_clock_is_set_is_followed_at_once(start: float, step: float) -> None:
    clocks = Clocks(start)
    clocks.ask(0.1, 0.1)
    clocks.server_time += step
    clocks.ask(0.1, 0.1)
    assert abs(clocks.clock.seconds() - clocks.server_time) <= 1.2


@pytest.mark.parametrize("date", [None, "", "soon", "Mon, 99 Feb 2026 99:00:00 GMT", "9" * 40])
def test_an_answer_without_a_date_changes_nothing(date: str | None) -> None:
    clocks = Clocks(1e9)
    clocks.clock.answered(date, clocks.clock.begin())
    assert clocks.clock.seconds() == 0.0
    clocks.ask(0.0, 0.0)
    clocks.clock.answered(date, clocks.clock.begin())
    assert clocks.clock.seconds() == 1e9


@pytest.mark.parametrize("ahead", [-DAY, DAY])
def test_an_operator_whose_clock_is_a_day_off_waits_as_long_as_is_asked(
    api_server: ApiServer, namespace: str, tmp_path: Path, ahead: int
) -> None:
    """The operator's clock is behind that of the API server where this one is ahead."""
    with proxied(api_server) as proxy:
        proxy.ahead = ahead
        module, log = "tests.harness.operator.whole_operator", tmp_path / "operator.log"
        with Operator(api_server, namespace, log, url=proxy.url, module=module) as operator:
            wanted = app(namespace)
            wanted["spec"]["restartPolicy"] = {"backoff": f"{BACKOFF}s"}
            put(api_server, wanted)
            core = f"/api/v1/namespaces/{namespace}"
            first = f"{core}/pods/app-driver-1"
            until(lambda: api_server.call("GET", first)[0] == 200, 60, operator)
            ended_at = monotonic()
            api_server.ask(
                "PATCH", f"{first}/status", _failed(time() + ahead), "application/merge-patch+json"
            )
            until(lambda: api_server.call("GET", f"{core}/pods/app-driver-2")[0] == 200, 120, operator)
            seconds_waited = monotonic() - ended_at
            assert BACKOFF - 2 <= seconds_waited <= BACKOFF + LENIENT / 2
            status = api_server.ask("GET", path_of(wanted))["status"]
            times = [condition["lastTransitionTime"] for condition in status["conditions"]]
            times += [status["driver"]["lastEnding"]["endedAt"]]
            times += [lease(api_server, namespace)["spec"]["renewTime"]]
            times += [event["lastTimestamp"] for event in api_server.ask("GET", f"{core}/events")["items"]]
    assert len(times) > 8
    for written in times:
        moment = parse_timestamp(written)
        assert moment is not None
        assert abs(moment - time() - ahead) < LENIENT


def _failed(now: float) -> dict[str, Any]:
    moment = format_timestamp(now)
    terminated = {"exitCode": 3, "startedAt": moment, "finishedAt": moment}
    container = {"name": "driver", "image": "x", "imageID": "", "restartCount": 0, "ready": False}
    return {
        "status": {
            "phase": "Failed",
            "containerStatuses": [{**container, "state": {"terminated": terminated}}],
        }
    }
