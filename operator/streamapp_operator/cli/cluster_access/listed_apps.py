"""The apps of a cluster as a command lists them, with the rights of its user."""

import asyncio
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from streamapp_operator.app_overview.app_reports import AppReports
from streamapp_operator.app_overview.app_row import app_row
from streamapp_operator.app_overview.apps_reading import AppsReading
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import ClusterError
from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, STREAM_APP
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole

FRESH_SECONDS: Final = 2.5
"""So long a listing counts for all who look."""


@dataclass(slots=True)
class ListedApps:
    """The apps of a namespace, or of all (None)."""

    cluster: ApiClusterClient
    namespace: str | None
    _reports: AppReports = field(default_factory=AppReports)
    _apps: dict[tuple[str, str], Manifest] = field(default_factory=dict)
    _reading: tuple[float, AppsReading] | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self) -> AppsReading:
        """The apps of the last seconds."""
        async with self._turn:
            if self._reading is None or monotonic() - self._reading[0] >= FRESH_SECONDS:
                self._reading = monotonic(), await self._read()
            return self._reading[1]

    async def app(self, namespace: str, name: str) -> Manifest | None:
        """One of the apps that were listed last."""
        return self._apps.get((namespace, name))

    async def _read(self) -> AppsReading:
        apps = await self.cluster.select(STREAM_APP, self.namespace, {})
        config_maps: list[Manifest] = []
        notices: tuple[str, ...] = ()
        try:
            config_maps = await self.cluster.select(
                CONFIG_MAP, self.namespace, {ROLE_LABEL: ObjectRole.REPORT.value}
            )
        except ClusterError as error:
            notices = (f"the drivers' reports: {error}",)
        reports = self._reports.of(apps, config_maps)
        self._apps = {(app["metadata"]["namespace"], app["metadata"]["name"]): app for app in apps}
        rows = [app_row(app, reports.get(app["metadata"]["uid"])) for app in apps]
        return AppsReading(tuple(rows), notices)
