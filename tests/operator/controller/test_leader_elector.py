"""One replica leads, another takes over, and a write by one that leads no more does not happen."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from streamapp_operator.controller.client.api_errors import LeadershipLostError, RejectedError
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.process.leader_elector import LeaderElector
from streamapp_operator.controller.process.lease import LeaseTerms
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.fault_proxy import HANG, LOST, proxied
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import Operator, app, echoed, lease, put

NAME = "streamapp-operator"
QUICK = LeaseTerms(duration=3.0, deadline=2.0, retry=0.5)


def _electing(
    server: ApiServer,
    namespace: str,
    do: Callable[[LeaderElector, LeaderElector], Awaitable[Any]],
    url: str = "",
    terms: LeaseTerms = QUICK,
) -> Any:
    """Two electors of one lease; the first goes by the URL."""

    async def doing() -> Any:
        pools = [
            ApiTransport(await load_configuration(server.kubeconfig("operator", way)), lambda *_: None)
            for way in (url, "")
        ]
        first, second = [
            LeaderElector(calls, namespace, NAME, me, monotonic, lambda: datetime.now(UTC), terms)
            for calls, me in zip(pools, ("first", "second"), strict=True)
        ]
        try:
            return await do(first, second)
        finally:
            for calls in pools:
                await calls.close()

    return asyncio.run(doing())


def test_the_first_that_comes_leads_and_the_second_waits(api_server: ApiServer, namespace: str) -> None:
    async def do(first: LeaderElector, second: LeaderElector) -> Any:
        await asyncio.wait_for(first.campaign(), 30)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(second.campaign(), 1.0)
        return first.leads, second.leads

    assert _electing(api_server, namespace, do, terms=LeaseTerms()) == (True, False)
    assert lease(api_server, namespace)["spec"]["holderIdentity"] == "first"


def test_of_two_that_come_at_once_one_leads(api_server: ApiServer, namespace: str) -> None:
    async def do(first: LeaderElector, second: LeaderElector) -> Any:
        racing = [asyncio.create_task(one.campaign()) for one in (first, second)]
        await asyncio.wait(racing, return_when=asyncio.FIRST_COMPLETED)
        for task in racing:
            task.cancel()
        await asyncio.wait(racing)
        return [first.leads, second.leads]

    assert sorted(_electing(api_server, namespace, do, terms=LeaseTerms())) == [False, True]


def test_a_lease_given_back_is_taken_at_once(api_server: ApiServer, namespace: str) -> None:
    async def do(first: LeaderElector, second: LeaderElector) -> Any:
        await asyncio.wait_for(first.campaign(), 30)
        await first.release()
        assert not first.leads
        await asyncio.wait_for(second.campaign(), 5.0)
        return second.leads

    assert _electing(api_server, namespace, do, terms=LeaseTerms(duration=600.0, deadline=300.0, retry=2.0))


def test_a_lease_that_is_not_renewed_is_taken_when_its_time_is_over(
    api_server: ApiServer, namespace: str
) -> None:
    async def do(first: LeaderElector, second: LeaderElector) -> Any:
        await asyncio.wait_for(first.campaign(), 30)
        await asyncio.wait_for(second.campaign(), 60)
        return first.leads_for(), second.leads

    left, leads = _electing(api_server, namespace, do)
    assert (left, leads) == (0.0, True)
    assert lease(api_server, namespace)["spec"]["leaseTransitions"] == 2


def test_one_that_is_cut_off_stops_before_another_may_begin(api_server: ApiServer, namespace: str) -> None:
    with proxied(api_server) as proxy:

        async def do(first: LeaderElector, second: LeaderElector) -> Any:
            await asyncio.wait_for(first.campaign(), 30)
            proxy.away = True
            taking = asyncio.create_task(second.campaign())
            with pytest.raises(LeadershipLostError):
                await asyncio.wait_for(first.keep_leading(), 60)
            early = second.leads
            await asyncio.wait_for(taking, 60)
            return early

        assert _electing(api_server, namespace, do, proxy.url) is False


@pytest.mark.parametrize("fault", [HANG, LOST, 500, 409])
def test_one_renewal_that_fails_costs_nothing(api_server: ApiServer, namespace: str, fault: int) -> None:
    """Also one that was done and whose answer was lost, after which the lease is another than was known."""
    with proxied(api_server) as proxy:

        async def do(first: LeaderElector, _: LeaderElector) -> Any:
            await asyncio.wait_for(first.campaign(), 30)
            proxy.fail("PUT", "/leases/", fault)
            keeping = asyncio.create_task(first.keep_leading())
            before = lease(api_server, namespace)["spec"]["renewTime"]

            def renewed_after_the_fault() -> bool:
                later = lease(api_server, namespace)["spec"]["renewTime"]
                puts = [asked for asked in proxy.asked if asked.method == "PUT"]
                return proxy.left() == 0 and puts[-1].code == 200 and later != before

            await asyncio.to_thread(until, renewed_after_the_fault, 60)
            lost = keeping.done()
            keeping.cancel()
            return lost, first.leads

        terms = LeaseTerms(duration=30.0, deadline=20.0, retry=1.0)
        assert _electing(api_server, namespace, do, proxy.url, terms) == (False, True)


def test_one_whose_lease_another_holds_stops_at_once(api_server: ApiServer, namespace: str) -> None:
    async def do(first: LeaderElector, _: LeaderElector) -> Any:
        await asyncio.wait_for(first.campaign(), 30)
        api_server.ask(
            "PATCH",
            f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{NAME}",
            {"spec": {"holderIdentity": "someone"}},
            "application/merge-patch+json",
        )
        with pytest.raises(LeadershipLostError):
            await asyncio.wait_for(first.keep_leading(), 30)
        return first.leads

    assert (
        _electing(api_server, namespace, do, terms=LeaseTerms(duration=600.0, deadline=300.0, retry=0.5))
        is False
    )


def test_one_that_may_not_touch_the_lease_says_so_and_does_not_wait_for_ever(
    api_server: ApiServer, namespace: str
) -> None:
    async def doing() -> None:
        calls = ApiTransport(await load_configuration(api_server.kubeconfig("nobody")), lambda *_: None)
        elector = LeaderElector(calls, namespace, NAME, "nobody", monotonic, lambda: datetime.now(UTC))
        try:
            await asyncio.wait_for(elector.campaign(), 30)
        finally:
            await calls.close()

    with pytest.raises(RejectedError, match="cannot get resource"):
        asyncio.run(doing())


def test_of_two_operators_one_works_and_when_it_is_killed_the_other_does_within_twenty_seconds(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    put(api_server, app(namespace))
    with Operator(api_server, namespace, tmp_path / "first.log", pace=1.0) as first:
        until(lambda: echoed(api_server, namespace) == "1", 60, first)
        with Operator(api_server, namespace, tmp_path / "second.log", pace=1.0) as second:
            until(lambda: second.asked("/readyz")[0] == 200, 60, second)
            assert second.measured("streamapp_operator_leading") == {"": 0.0}
            assert second.measured("streamapp_operator_reconciles_total") == {}
            assert second.measured("streamapp_operator_queue_depth") == {"": 0.0}
            first.signal(signal.SIGKILL)
            put(api_server, app(namespace, processors=4))
            until(lambda: echoed(api_server, namespace) == "4", 20, second)
            assert second.leads()


def test_an_operator_that_is_told_to_stop_is_followed_at_once(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    """Long before its lease would be over."""
    put(api_server, app(namespace))
    with Operator(api_server, namespace, tmp_path / "first.log", pace=30.0) as first:
        until(lambda: echoed(api_server, namespace) == "1", 60, first)
        with Operator(api_server, namespace, tmp_path / "second.log", pace=1.0) as second:
            until(lambda: second.asked("/readyz")[0] == 200, 60, second)
            first.signal(signal.SIGTERM)
            assert first.wait(20) == 0
            put(api_server, app(namespace, processors=4))
            until(lambda: echoed(api_server, namespace) == "4", 30, second)
