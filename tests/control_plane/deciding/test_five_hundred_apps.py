"""Five hundred apps applied at once, with sixteen workers that take turns at every call."""

import asyncio
import random
from collections import Counter
from datetime import UTC, datetime
from time import monotonic
from typing import Any, cast

from streamapp_operator.cluster.api import ApiCluster
from streamapp_operator.cluster.cache import Cache
from streamapp_operator.cluster.calls import Call, Calls, Reply
from streamapp_operator.cluster.kinds import CONFIG_MAP, POD, STREAM_APP
from streamapp_operator.counts.answers import Known
from streamapp_operator.key import Key
from streamapp_operator.outcome import Outcome
from streamapp_operator.reconcile import reconcile
from streamapp_operator.telemetry.measured import Measured
from streamapp_operator.watch.remembered import remembered
from streamapp_operator.work.backoff import Backoff
from streamapp_operator.work.queue import KeyQueue
from streamapp_operator.work.workers import Workers
from streamapp_operator.world import World
from tests.control_plane.deciding.apps import join
from tests.control_plane.deciding.memory_api import MemoryApi, MemoryCalls
from tests.control_plane.deciding.stage import INSTALLATION, START, Table

APPS = 500
WATCHED = {"StreamApp": STREAM_APP, "Pod": POD, "ConfigMap": CONFIG_MAP}


class Polite(MemoryCalls):
    """Gives every other worker a turn before each answer, as a network does."""

    async def send(self, call: Call, limit: float = 0.0) -> Reply:
        await asyncio.sleep(0)
        return await super().send(call, limit)


async def _all() -> MemoryApi:
    api = MemoryApi(lambda: START)
    cache, queue = Cache(remembered), KeyQueue[Key](monotonic)

    def seen(new: dict[str, Any]) -> None:
        kind = WATCHED.get(new.get("kind", ""))
        key = cache.put(kind, new) if kind else None
        if key is not None:
            queue.add(key)

    api.on_change = seen
    cluster = ApiCluster(
        cast("Calls", Polite(api)), (), lambda: 60.0, lambda: datetime.fromtimestamp(START, UTC)
    )
    table = Table(Known({"views": 8, "users": 8, "enriched": None}))
    world = World(cluster, cache, lambda: START, table, INSTALLATION)

    async def one(key: Key) -> Outcome:
        return await reconcile(key, world)

    workers = Workers(queue, one, lambda _: 1, lambda: None, Backoff(random.random), Measured(), monotonic)
    path = "/apis/streamapp.dev/v1alpha1/namespaces/shop/streamapps"
    for number in range(APPS):
        api.ask("POST", path, join(f"app-{number}"))
    working = asyncio.create_task(workers.drain(16))
    async with asyncio.timeout(300):
        while queue.depth or len(_drivers(api)) < APPS:
            await asyncio.sleep(0.01)
    working.cancel()
    await asyncio.wait({working})
    queue.close()
    return api


def _drivers(api: MemoryApi) -> list[str]:
    return [path for path in api.created if "/pods/" in path]


def test_each_is_launched_and_none_twice() -> None:
    api = asyncio.run(_all())
    assert Counter(_drivers(api)) == {
        f"/api/v1/namespaces/shop/pods/app-{number}-driver-1": 1 for number in range(APPS)
    }
