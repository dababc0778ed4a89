"""Apps with a status of the test's choice, in an operator's cache, and the page of all apps over it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Any

from aiohttp import web
from kubernetes.aio.client.configuration import Configuration

from streamapp.protocol import message_names
from streamapp.protocol.driver_report import DriverState, Progress, Report, next_power_of_two
from streamapp.protocol.report_codec import encode_report
from streamapp_operator.app_overview.apps_page import PREFIX, AppsPage
from streamapp_operator.app_overview.cached_apps import CachedApps
from streamapp_operator.app_overview.viewer_rights import EveryNamespace
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.resource_kinds import kind_of
from streamapp_operator.controller.telemetry.bounded_http import serve_bounded
from streamapp_operator.controller.watch.cached_fields import cached_fields
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole
from streamapp_operator.reconciler.status.app_condition import EXPECTED_STATUS, ConditionType
from tests.harness.operator.small_apps import join

CHANGED = "2026-11-20T12:00:00Z"
_REASONS = {
    ConditionType.ACCEPTED: ConditionReason.ACCEPTED,
    ConditionType.PLANNED: ConditionReason.PLANNED,
    ConditionType.LAUNCHED: ConditionReason.LAUNCHED,
    ConditionType.READY: ConditionReason.RUNNING,
    ConditionType.PROGRESSING: ConditionReason.STABLE,
    ConditionType.DEGRADED: ConditionReason.HEALTHY,
    ConditionType.STALLED: ConditionReason.HEALTHY,
    ConditionType.SUSPENDED: ConditionReason.NOT_SUSPENDED,
    ConditionType.CONFIGURATION_OUTDATED: ConditionReason.UP_TO_DATE,
    ConditionType.RECONCILIATION_PAUSED: ConditionReason.NOT_PAUSED,
}
_versions = iter(range(1, 1_000_000))


def condition(type_: str, status: str, reason: str, message: str = "", at: str = CHANGED) -> dict[str, Any]:
    return {"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def overview_app(
    name: str,
    phase: str,
    *unexpected: dict[str, Any],
    namespace: str = "shop",
    reason: str = "Running",
    restarts: int = 0,
    driver: bool = True,
    **spec: Any,
) -> dict[str, Any]:
    """An app of which all is as expected but these conditions."""
    app = join(name, **spec)
    app["metadata"] |= {
        "namespace": namespace,
        "uid": f"uid-{namespace}-{name}",
        "resourceVersion": str(next(_versions)),
        "generation": 2,
    }
    others = {one["type"]: one for one in unexpected}
    app["status"] = {
        "phase": phase,
        "reason": reason,
        "acceptedGeneration": 2,
        "tasks": 8,
        "processors": 2,
        "restarts": restarts,
        "plan": {"outcome": "accepted", "streams": 3, "joins": 1, "hash": "a"},
        "jobModel": {"version": 4, "hash": "b", "configMap": f"{name}-job-model", "runId": "run-1"},
        "driver": {
            "incarnation": 3,
            "generation": 2,
            "pod": f"{name}-driver-3",
            "node": "node-1",
            "startedAt": CHANGED,
        },
        "conditions": [
            others.get(type_) or condition(str(type_), EXPECTED_STATUS[type_], str(reason_of_type))
            for type_, reason_of_type in _REASONS.items()
        ],
    }
    if not driver:
        del app["status"]["driver"], app["status"]["tasks"], app["status"]["processors"]
    return app


def overview_report(
    app: dict[str, Any], lag: int, at: str = CHANGED, driver: str | None = None, **fields: Any
) -> dict[str, Any]:
    """The ConfigMap with the report of an app's driver."""
    metadata = app["metadata"]
    pod = app["status"]["driver"]["pod"] if driver is None else driver
    report = Report(DriverState.RUNNING, driver=pod, progress=Progress(next_power_of_two(lag)), **fields)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": object_names.report(metadata["name"]),
            "namespace": metadata["namespace"],
            "uid": f"report-of-{metadata['uid']}",
            "resourceVersion": str(next(_versions)),
            "labels": {APP_LABEL: metadata["name"], ROLE_LABEL: str(ObjectRole.REPORT)},
            "ownerReferences": [{"uid": metadata["uid"]}],
            "managedFields": [{"manager": "streamapp-driver", "time": at}],
        },
        "data": {message_names.REPORT: encode_report(report)},
    }


def overview_cache(*objects: dict[str, Any]) -> ObjectCache:
    """A cache as an operator's watches fill it."""
    cache = ObjectCache(cached_fields)
    for one in objects:
        cache.put(kind_of(one), one)
    return cache


@contextmanager
def apps_page_served(cache: ObjectCache) -> Iterator[str]:
    """The page over a cache, for whoever asks; its address. No API server is behind it."""
    address, stop = "", Event()
    ready = Event()

    async def serve() -> None:
        nonlocal address
        transport = ApiTransport(Configuration(host="https://127.0.0.1:1"), lambda _, __: None)
        cluster = ApiClusterClient(transport, (), lambda: 0.0, transport.clock.now)
        application = web.Application()
        page = AppsPage(CachedApps(cache, cluster, monotonic), EveryNamespace())
        application.add_subapp(PREFIX, page.application())
        async with serve_bounded("127.0.0.1", 0, application) as port:
            address = f"http://127.0.0.1:{port}{PREFIX}/"
            ready.set()
            await asyncio.to_thread(stop.wait)
        await transport.close()

    server = Thread(target=asyncio.run, args=(serve(),))
    server.start()
    try:
        assert ready.wait(30)
        yield address
    finally:
        stop.set()
        server.join()
