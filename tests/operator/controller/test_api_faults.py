"""What the operator does when the API server is slow, busy, wrong or away."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.fault_proxy import HANG, LOST, FaultProxy, proxied
from tests.harness.machine.processes import until
from tests.harness.operator.operator_processes import CALM, Operator, app, echoed, put

ECHO = "/configmaps/app-echo"
SOON = 0.04
BRISK = 0.3
"""Of the election's times: what is lost is lost after 2 s."""
"""Patience in parts of what holds in earnest: 3 s for a watch, 3.6 s for a comparison, 12 s for the next."""


@contextmanager
def _at_work(
    server: ApiServer, namespace: str, log: Path, patience: float = 1.0
) -> Iterator[tuple[FaultProxy, Operator]]:
    """An operator behind a proxy, with an app that it has seen to."""
    put(server, app(namespace))
    with (
        proxied(server) as proxy,
        Operator(server, namespace, log, patience=patience, url=proxy.url) as one,
    ):
        until(lambda: echoed(server, namespace) == "1", 60, one)
        yield proxy, one


def _echoes_after(server: ApiServer, namespace: str, log: Path, *faults: tuple[str, int]) -> FaultProxy:
    """The echo comes in the end, and every fault has happened."""
    put(server, app(namespace))
    with proxied(server) as proxy:
        for method, code in faults:
            proxy.fail(method, ECHO, code)
        with Operator(server, namespace, log, url=proxy.url) as one:
            until(lambda: echoed(server, namespace) == "1", 60, one)
            until(lambda: proxy.left() == 0, 60, one)
            assert one.code is None
        return proxy


def test_conflicts_errors_and_lost_connections_are_tried_again(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    _echoes_after(api_server, namespace, tmp_path / "one.log", ("PATCH", 409), ("PATCH", 500), ("GET", 504))


def test_a_call_without_an_answer_is_given_up_and_tried_again(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    _echoes_after(api_server, namespace, tmp_path / "one.log", ("GET", HANG))


def test_a_write_whose_answer_is_lost_is_seen_to_be_done(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    proxy = _echoes_after(api_server, namespace, tmp_path / "one.log", ("PATCH", LOST))
    writes = [asked for asked in proxy.asked if asked.method == "PATCH" and ECHO in asked.path]
    assert [asked.code for asked in writes] == [201, HANG]


def test_a_server_that_asks_to_be_left_alone_is_left_alone_by_all(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        put(api_server, app(namespace, name))
    with proxied(api_server) as proxy:
        proxy.fail("PATCH", "/configmaps/b-echo", 429, Retry_After="2")
        with Operator(api_server, namespace, tmp_path / "one.log", url=proxy.url) as one:
            for name in ("a", "b", "c"):
                until(lambda name=name: echoed(api_server, namespace, name) == "1", 60, one)
        ours = [a for a in proxy.asked if "-echo" in a.path]
        asked_at = next(asked.at for asked in ours if asked.code == 429)
        begun = [asked.at for asked in ours if asked.at > asked_at + 0.5]
        assert min(begun) >= asked_at + 2.0


def test_a_server_that_asks_to_be_left_alone_for_a_day_is_asked_again_within_seconds(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    put(api_server, app(namespace))
    with proxied(api_server) as proxy:
        proxy.fail("PATCH", "/configmaps/app-echo", 429, Retry_After="86400")
        with Operator(api_server, namespace, tmp_path / "one.log", url=proxy.url) as one:
            until(lambda: echoed(api_server, namespace) == "1", 60, one)
        assert 429 in [asked.code for asked in proxy.asked]


def test_watches_are_opened_within_seconds_where_the_server_asks_them_to_wait_for_a_day(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    """The list before a watch and the watch itself: kopf would wait for the day."""
    with _at_work(api_server, namespace, tmp_path / "one.log") as (proxy, one):
        proxy.fail("GET", "/streamapps.*watch=", 429, Retry_After="86400")
        proxy.fail("GET", r"/streamapps\?limit=", 429, Retry_After="86400")
        proxy.expire("/streamapps")
        proxy.cut_watches()
        until(lambda: proxy.left() == 0, 60, one)
        put(api_server, app(namespace, processors=4))
        until(lambda: echoed(api_server, namespace) == "4", 30, one)


def test_a_watch_that_falls_silent_is_opened_anew(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    with _at_work(api_server, namespace, tmp_path / "one.log", patience=SOON) as (proxy, one):
        proxy.silence_watches()
        put(api_server, app(namespace, processors=4))
        until(lambda: echoed(api_server, namespace) == "4", 60, one)


def test_watches_that_know_too_old_a_version_begin_anew(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    with _at_work(api_server, namespace, tmp_path / "one.log") as (proxy, one):
        proxy.expire("/streamapps")
        proxy.cut_watches()
        until(lambda: proxy.left() == 0, 60, one)
        put(api_server, app(namespace, processors=4))
        until(lambda: echoed(api_server, namespace) == "4", 60, one)


def test_what_vanished_while_the_watch_was_broken_is_noticed(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    """No watch tells of it: after the break they begin with a list, in which the object just is not there."""
    with _at_work(api_server, namespace, tmp_path / "one.log", patience=SOON) as (proxy, one):
        proxy.fail("GET", "/configmaps.*watch=", 500, times=3)  # seconds in which the object can vanish
        proxy.expire("/configmaps")
        proxy.cut_watches()
        api_server.ask("DELETE", f"/api/v1/namespaces/{namespace}{ECHO}")
        until(lambda: echoed(api_server, namespace) == "1", 60, one)
        until(lambda: proxy.left() == 0, 60, one)
        missed = {'{kind="ConfigMap"}': 1.0}
        until(lambda: one.measured("streamapp_operator_watch_missed_total") == missed, 60, one)


def test_a_leader_cut_off_ends_and_the_next_process_works_when_the_way_is_free_again(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    put(api_server, app(namespace))
    with proxied(api_server) as proxy:
        with Operator(
            api_server, namespace, tmp_path / "first.log", pace=BRISK, patience=SOON, url=proxy.url
        ) as first:
            until(lambda: echoed(api_server, namespace) == "1", 60, first)
            proxy.away = True
            put(api_server, app(namespace, processors=4))
            assert first.wait(40) == 1
        assert echoed(api_server, namespace) == "1"
        with Operator(
            api_server, namespace, tmp_path / "next.log", pace=BRISK, patience=SOON, url=proxy.url
        ) as following:
            until(lambda: "could not be filled" in following.said(), 40, following)
            assert following.asked("/livez")[0] == 200
            assert following.asked("/readyz")[0] == 500
            proxy.away = False
            until(lambda: echoed(api_server, namespace) == "4", 60, following)
            assert following.asked("/readyz")[0] == 200


def test_a_replica_that_waits_outlives_the_servers_absence(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    put(api_server, app(namespace))
    with (
        proxied(api_server) as proxy,
        Operator(api_server, namespace, tmp_path / "leads.log", pace=CALM) as leads,
    ):
        until(leads.leads, 60, leads)
        with Operator(
            api_server, namespace, tmp_path / "waits.log", pace=CALM, patience=SOON, url=proxy.url
        ) as waits:
            until(lambda: waits.asked("/readyz")[0] == 200, 60, waits)
            proxy.away = True
            until(lambda: "could not be compared" in waits.said(), 60, waits)
            proxy.away = False
            assert waits.asked("/livez")[0] == 200
            assert not waits.leads()
