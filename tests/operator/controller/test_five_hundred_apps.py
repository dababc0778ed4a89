"""Five hundred apps applied at once, with sixteen workers that take turns at every call."""

import asyncio
import random
from collections import Counter
from datetime import UTC, datetime
from time import monotonic
from typing import Any, cast

import pytest

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiReply, ApiRequest, ApiTransport
from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.telemetry.operator_metrics import operator_collector
from streamapp_operator.controller.watch.cached_fields import cached_fields
from streamapp_operator.controller.watch.object_cache import WATCHED_KINDS, ObjectCache
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileOutcome
from streamapp_operator.controller.workqueue.retry_backoff import RetryBackoff
from streamapp_operator.controller.workqueue.workers import WorkerPool
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.reconcile import reconcile
from tests.harness.api_server.memory_api import MemoryApi, MemoryCalls
from tests.harness.operator.operator_sim import INSTALLATION, START, Table
from tests.harness.operator.small_apps import join

APPS = 500
WATCHED = {kind.name: kind for kind in WATCHED_KINDS}


class Polite(MemoryCalls):
    """Gives every other worker a turn before each answer, as a network does."""

    async def send(self, call: ApiRequest, limit: float = 0.0) -> ApiReply:
        await asyncio.sleep(0)
        return await super().send(call, limit)


async def _all() -> MemoryApi:
    api = MemoryApi(lambda: START)
    cache, queue = ObjectCache(cached_fields), KeyQueue[AppKey](monotonic)

    def seen(new: dict[str, Any]) -> None:
        kind = WATCHED.get(new.get("kind", ""))
        key = cache.put(kind, new) if kind else None
        if key is not None:
            queue.add(key)

    api.on_change = seen
    cluster = ApiClusterClient(
        cast("ApiTransport", Polite(api)), (), lambda: 60.0, lambda: datetime.fromtimestamp(START, UTC)
    )
    table = Table(KnownCounts({"views": 8, "users": 8, "enriched": None}))
    world = ReconcileContext(cluster, cache, lambda: START, table, INSTALLATION)

    async def one(key: AppKey) -> ReconcileOutcome:
        return await reconcile(key, world)

    workers = WorkerPool(
        queue, one, lambda _: 1, lambda: None, RetryBackoff(random.random), operator_collector(), monotonic
    )
    path = "/apis/streamapp.dev/v1alpha1/namespaces/shop/streamapps"
    for number in range(APPS):
        api.ask("POST", path, join(f"app-{number}"))
    working = asyncio.create_task(workers.run(16))
    async with asyncio.timeout(300):
        while queue.depth or len(_drivers(api)) < APPS:
            await asyncio.sleep(0.01)
    working.cancel()
    await asyncio.wait({working})
    queue.close()
    return api


def _drivers(api: MemoryApi) -> list[str]:
    return [path for path in api.created if "/pods/" in path]


@pytest.mark.long
def test_each_is_launched_and_none_twice() -> None:
    api = asyncio.run(_all())
    assert Counter(_drivers(api)) == {
        f"/api/v1/namespaces/shop/pods/app-{number}-driver-1": 1 for number in range(APPS)
    }
