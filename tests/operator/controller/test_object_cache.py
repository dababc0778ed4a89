"""What the watches tell, and what a comparison with the API server puts right."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from streamapp_operator.controller.client.api_cluster_client import FIELD_MANAGER, ApiClusterClient
from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, POD, STREAM_APP
from streamapp_operator.controller.watch.cache_comparison import compare_cache, fill_cache
from streamapp_operator.controller.watch.cached_fields import (
    MAX_CACHED_DATA,
    cached_fields,
    foreign_write_time,
)
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.controller.watch.watch_activity import comparison_due
from streamapp_operator.controller.watch.watch_timeouts import WatchTimeouts
from tests.harness.api_server.api_cluster import cluster
from tests.harness.api_server.api_server import ApiServer
from tests.harness.operator.operator_processes import app, path_of, put

KEY = AppKey("shop", "app")


def _pod(name: str = "app-driver-1", version: int = 1, uid: str = "u1", of: str = "app") -> dict[str, Any]:
    metadata = {"namespace": "shop", "name": name, "uid": uid, "resourceVersion": str(version)}
    return {"metadata": metadata | {"labels": {"streamapp.dev/app": of}}}


def test_a_pod_is_found_by_its_app() -> None:
    cache = ObjectCache()
    assert cache.put(POD, _pod()) == KEY
    assert cache.pods(KEY) == (_pod(),)
    assert cache.pods(AppKey("shop", "other")) == ()


def test_what_comes_late_is_no_news() -> None:
    cache = ObjectCache()
    cache.put(POD, _pod(version=10))
    assert cache.put(POD, _pod(version=9)) is None
    assert cache.pods(KEY)[0]["metadata"]["resourceVersion"] == "10"


def test_the_end_of_an_object_does_not_take_the_next_of_its_name_with_it() -> None:
    cache = ObjectCache()
    cache.put(POD, _pod(version=10, uid="u2"))
    assert cache.delete(POD, _pod(version=11, uid="u1")) is None
    assert len(cache.pods(KEY)) == 1


def test_a_pod_that_loses_its_label_is_gone_from_its_app() -> None:
    cache = ObjectCache()
    cache.put(POD, _pod())
    bare = _pod(version=2)
    del bare["metadata"]["labels"]
    assert cache.delete(POD, bare) == KEY
    assert cache.pods(KEY) == ()


def test_a_pod_that_changes_hands_is_found_by_its_new_app_only() -> None:
    cache = ObjectCache()
    cache.put(POD, _pod())
    assert cache.put(POD, _pod(version=2, of="other")) == AppKey("shop", "other")
    assert cache.pods(KEY) == ()


def test_an_app_made_anew_for_another_operator_is_gone_for_this_one() -> None:
    cache = ObjectCache(selects=lambda found: found["spec"] == {})
    first = {"metadata": _pod("app")["metadata"], "spec": {}}
    second = {"metadata": _pod("app", 2, "u2")["metadata"], "spec": {"operatorClass": "blue"}}
    assert cache.put(STREAM_APP, first) == KEY
    assert cache.put(STREAM_APP, second) == KEY
    assert cache.app(KEY) is None
    assert cache.versions(STREAM_APP) == {("shop", "app"): "2"}


def test_apps_of_one_application_id_are_found_by_it_until_they_are_gone() -> None:
    cache = ObjectCache()
    plain = {"metadata": _pod("app")["metadata"], "spec": {}}
    named = {"metadata": _pod("other", uid="u2")["metadata"], "spec": {"applicationId": "shop.app"}}
    cache.put(STREAM_APP, plain)
    cache.put(STREAM_APP, named)
    assert cache.apps_of("shop.app") == (plain, named)
    cache.delete(STREAM_APP, plain)
    assert cache.apps_of("shop.app") == (named,)
    renamed = {"metadata": _pod("other", 2, "u3")["metadata"], "spec": {"applicationId": "else"}}
    cache.put(STREAM_APP, renamed)
    assert cache.apps_of("shop.app") == ()
    assert cache.apps_of("else") == (renamed,)


def test_large_data_and_the_books_of_others_are_not_kept() -> None:
    large = _pod("m") | {"data": {"a": "x" * (MAX_CACHED_DATA + 1)}}
    large["metadata"] |= {
        "managedFields": [{}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "mine": "yes"},
    }
    kept = cached_fields(CONFIG_MAP, large)
    assert "data" not in kept
    assert "managedFields" not in kept["metadata"]
    assert kept["metadata"]["annotations"] == {"mine": "yes"}
    assert "data" in large


def test_of_the_writes_to_a_config_map_the_last_by_somebody_else_is_kept() -> None:
    writes = [
        {"manager": FIELD_MANAGER, "time": "2026-11-01T12:00:09Z", "fieldsV1": {"f:data": {}}},
        {"manager": "driver", "time": "2026-11-01T12:00:04Z", "fieldsV1": {"f:data": {}}},
        {"manager": "driver", "time": "2026-11-01T12:00:07Z", "subresource": "status"},
        {"manager": "nobody"},
    ]
    report = _pod("report")
    report["metadata"]["managedFields"] = writes
    cached = cached_fields(CONFIG_MAP, report)
    assert cached["metadata"]["managedFields"] == [{"manager": "driver", "time": "2026-11-01T12:00:07Z"}]
    assert foreign_write_time(cached) == foreign_write_time(report) == "2026-11-01T12:00:07Z"
    report["metadata"]["managedFields"] = writes[:1]
    assert "managedFields" not in cached_fields(CONFIG_MAP, report)["metadata"]
    assert foreign_write_time(report) == ""


def test_a_comparison_is_due_after_a_silence_once_and_every_five_minutes() -> None:
    assert not comparison_due(now=89.0, last_event=0.0, last_comparison=0.0, timeouts=WatchTimeouts())
    assert comparison_due(now=90.0, last_event=0.0, last_comparison=0.0, timeouts=WatchTimeouts())
    assert not comparison_due(now=200.0, last_event=0.0, last_comparison=90.0, timeouts=WatchTimeouts())
    assert comparison_due(now=390.0, last_event=0.0, last_comparison=90.0, timeouts=WatchTimeouts())
    assert comparison_due(now=300.0, last_event=299.0, last_comparison=0.0, timeouts=WatchTimeouts())


def _compared(
    server: ApiServer, namespace: str, do: Callable[[ApiClusterClient, ObjectCache], Awaitable[Any]]
) -> Any:
    async def doing() -> Any:
        async with cluster(server.kubeconfig()) as api:
            here = ApiClusterClient(api.transport, (namespace,), api.may_write_for, api.now)
            return await do(here, ObjectCache(cached_fields))

    return asyncio.run(doing())


def test_what_vanished_while_no_watch_was_there_is_noticed(api_server: ApiServer, namespace: str) -> None:
    put(api_server, app(namespace, "stays"))
    put(api_server, app(namespace, "goes"))

    async def do(api: ApiClusterClient, cache: ObjectCache) -> Any:
        await fill_cache(api, cache, STREAM_APP)
        api_server.ask("DELETE", path_of(app(namespace, "goes")))
        return await compare_cache(api, cache, STREAM_APP), list(cache.apps())

    wrong, left = _compared(api_server, namespace, do)
    assert wrong == [AppKey(namespace, "goes")]
    assert left == [AppKey(namespace, "stays")]


def test_what_changed_and_what_came_is_noticed_too(api_server: ApiServer, namespace: str) -> None:
    put(api_server, app(namespace, "changes"))

    async def do(api: ApiClusterClient, cache: ObjectCache) -> Any:
        await fill_cache(api, cache, STREAM_APP)
        put(api_server, app(namespace, "changes", processors=7))
        put(api_server, app(namespace, "comes"))
        wrong = await compare_cache(api, cache, STREAM_APP)
        changed = cache.app(AppKey(namespace, "changes"))
        assert changed is not None
        return wrong, changed["spec"]["processors"]

    wrong, processors = _compared(api_server, namespace, do)
    assert wrong == [AppKey(namespace, "changes"), AppKey(namespace, "comes")]
    assert processors == 7


def test_a_cache_that_is_right_is_left_alone(api_server: ApiServer, namespace: str) -> None:
    put(api_server, app(namespace))

    async def do(api: ApiClusterClient, cache: ObjectCache) -> Any:
        for kind in (STREAM_APP, POD, CONFIG_MAP):
            await fill_cache(api, cache, kind)
        return [await compare_cache(api, cache, kind) for kind in (STREAM_APP, POD, CONFIG_MAP)]

    assert _compared(api_server, namespace, do) == [[], [], []]
