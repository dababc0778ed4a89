"""The rows of an operator's apps: of its cache, and made again for what changed only."""

import asyncio
from typing import Any

import pytest

from streamapp_operator.app_overview.app_row import app_row
from streamapp_operator.app_overview.apps_reading import AppsReading
from streamapp_operator.app_overview.cached_apps import FRESH_SECONDS, CachedApps
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, STREAM_APP
from streamapp_operator.controller.watch.cached_fields import MAX_CACHED_DATA
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from tests.harness.api_server.api_server import ApiServer
from tests.harness.operator.overview_apps import (
    CHANGED,
    overview_app,
    overview_cache,
    overview_report,
)

MANY = {f"stream-{number}": 8 for number in range(1_000)}


class Clock:
    """Seconds that pass when a test says so."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def readings(cache: ObjectCache, server: ApiServer, user: str = "admin", *changes: Any) -> list[AppsReading]:
    """A reading of now, and one after each change; time passes before it."""
    clock = Clock()

    async def read() -> list[AppsReading]:
        transport = ApiTransport(await load_configuration(server.kubeconfig(user), None), lambda _, __: None)
        source = CachedApps(cache, ApiClusterClient(transport, (), lambda: 0.0, transport.clock.now), clock)
        made = [await source.read()]
        for change in changes:
            change()
            clock.seconds += FRESH_SECONDS
            made.append(await source.read())
        await transport.close()
        return made

    return asyncio.run(read())


def lag_of(reading: AppsReading) -> tuple[int | None, float | None]:
    (row,) = reading.rows
    return row["lag"], row["reportedAt"]


def test_a_row_has_the_lag_of_the_drivers_last_report(api_server: ApiServer) -> None:
    app = overview_app("one", "Running")
    (reading,) = readings(overview_cache(app, overview_report(app, 3_000)), api_server)
    assert lag_of(reading) == (4_096, parse_timestamp(CHANGED))


def test_a_report_of_an_earlier_driver_or_of_a_former_app_says_nothing(api_server: ApiServer) -> None:
    app = overview_app("one", "Running")
    earlier = overview_report(app, 3_000, driver="one-driver-2")
    assert lag_of(readings(overview_cache(app, earlier), api_server)[0]) == (None, None)
    foreign = overview_report(app, 3_000)
    foreign["metadata"]["ownerReferences"] = [{"uid": "of-a-former-app"}]
    assert lag_of(readings(overview_cache(app, foreign), api_server)[0]) == (None, None)


def test_rows_change_with_the_app_and_with_the_report_and_go_with_the_app(api_server: ApiServer) -> None:
    app = overview_app("one", "Running")
    cache = overview_cache(app, overview_app("other", "Running"))

    def report() -> None:
        cache.put(CONFIG_MAP, overview_report(app, 7))

    def fail() -> None:
        cache.put(STREAM_APP, overview_app("one", "Failed"))

    def remove() -> None:
        cache.forget(STREAM_APP, "shop", "one")

    first, unchanged, reported, failed, removed = readings(
        cache, api_server, "admin", lambda: None, report, fail, remove
    )
    assert [row["name"] for row in first.rows] == ["one", "other"]
    assert [new is old for new, old in zip(unchanged.rows, first.rows, strict=True)] == [True, True]
    assert [new is old for new, old in zip(reported.rows, first.rows, strict=True)] == [False, True]
    assert reported.rows[0]["lag"] == 8
    assert failed.rows[0]["phase"] == "Failed"
    assert [row["name"] for row in removed.rows] == ["other"]


def test_all_who_look_within_a_second_share_a_reading(api_server: ApiServer) -> None:
    cache = overview_cache(overview_app("one", "Running"))

    async def read() -> bool:
        transport = ApiTransport(await load_configuration(api_server.kubeconfig(), None), lambda _, __: None)
        clock = Clock()
        source = CachedApps(cache, ApiClusterClient(transport, (), lambda: 0.0, transport.clock.now), clock)
        first, second = await asyncio.gather(source.read(), source.read())
        await transport.close()
        return first is second

    assert asyncio.run(read())


@pytest.mark.parametrize("user", ["admin", "nobody"])
def test_a_report_that_is_too_large_for_the_cache_is_read_or_said_to_be_missing(
    api_server: ApiServer, namespace: str, user: str
) -> None:
    app = overview_app("one", "Running", namespace=namespace)
    report = overview_report(app, 100, counts=MANY)
    assert len(str(report["data"])) > MAX_CACHED_DATA
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "owner", "uid": app["metadata"]["uid"]}
    metadata = {**report["metadata"], "ownerReferences": [reference]}
    for by_server in ("uid", "resourceVersion", "managedFields"):
        del metadata[by_server]
    api_server.ask("POST", path, {**report, "metadata": metadata})
    (reading,) = readings(overview_cache(app, report), api_server, user)
    if user == "admin":
        assert (lag_of(reading)[0], reading.notices) == (128, ())
    else:
        (notice,) = reading.notices
        assert notice.startswith(f"the report of {namespace}/one: ")
        assert reading.rows == (app_row(app, None),)
