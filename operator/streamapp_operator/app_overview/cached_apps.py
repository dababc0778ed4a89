"""The apps of an operator, as its watches have seen them."""

import asyncio
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from typing import Final

from streamapp_operator.app_overview.app_reports import AppReports
from streamapp_operator.app_overview.app_row import Document, app_row
from streamapp_operator.app_overview.apps_reading import AppsReading, SharedReading
from streamapp_operator.controller.client.api_errors import ClusterError
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, STREAM_APP
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.objects import object_names

FRESH_SECONDS: Final = 1.0
"""All viewers of such a time share one reading."""
READS_AT_A_TIME: Final = 8
Versions = tuple[str, str | None]
"""Of an app, and of the ConfigMap of its report."""


@dataclass(slots=True)
class CachedApps:
    """The rows of an operator's apps. Only those of apps that changed are made again."""

    cache: ObjectCache
    cluster: ClusterClient
    clock: InitVar[Callable[[], float]]
    _rows: dict[AppKey, tuple[Versions, Document]] = field(default_factory=dict)
    _reading: SharedReading = field(init=False)

    def __post_init__(self, clock: Callable[[], float]) -> None:
        self._reading = SharedReading(FRESH_SECONDS, clock)

    async def read(self) -> AppsReading:
        """All apps of the operator."""
        return await self._reading.get(self._read)

    async def app(self, namespace: str, name: str) -> Manifest | None:
        """The resource of one app."""
        return self.cache.app(AppKey(namespace, name))

    async def _read(self) -> AppsReading:
        apps, config_maps = self.cache.versions(STREAM_APP), self.cache.versions(CONFIG_MAP)
        wanted = {
            key: (apps[key.namespace, key.name], config_maps.get((key.namespace, _report_name(key))))
            for key in sorted(self.cache.apps())
        }
        changed = [key for key, versions in wanted.items() if self._rows.get(key, ("",))[0] != versions]
        turns = asyncio.Semaphore(READS_AT_A_TIME)

        async def read(key: AppKey) -> tuple[Document | None, str]:
            async with turns:
                return await self._row(key)

        notices = []
        for key, (row, fault) in zip(
            changed, await asyncio.gather(*(read(key) for key in changed)), strict=True
        ):
            if row is None:
                wanted.pop(key)
                continue
            self._rows[key] = (("", None) if fault else wanted[key]), row  # with a fault, read again
            if fault:
                notices.append(f"the report of {key}: {fault}")
        self._rows = {key: self._rows[key] for key in wanted}
        return AppsReading(tuple(row for _, row in self._rows.values()), tuple(notices))

    async def _row(self, key: AppKey) -> tuple[Document | None, str]:
        """The row of an app, and why its report is not in it; nothing for an app that is gone."""
        app, fault = self.cache.app(key), ""
        if app is None:
            return None, ""
        config_map = self.cache.config_map(key.namespace, _report_name(key))
        if config_map is not None and "data" not in config_map:  # too large for the cache
            try:
                config_map = await self.cluster.read(CONFIG_MAP, key.namespace, _report_name(key))
            except ClusterError as error:
                fault = str(error)
        reports = AppReports().of([app], [config_map] if config_map else [])
        return app_row(app, reports.get(app["metadata"]["uid"])), fault


def _report_name(key: AppKey) -> str:
    return object_names.report(key.name)
