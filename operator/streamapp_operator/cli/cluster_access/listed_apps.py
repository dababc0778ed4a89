"""The apps of a cluster as a command lists them, with the rights of its user."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from streamapp_operator.app_overview.app_reports import AppReports
from streamapp_operator.app_overview.app_row import app_row
from streamapp_operator.app_overview.apps_reading import AppsReading, SharedReading
from streamapp_operator.cli.cluster_access.app_lookup import read_report_maps
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import STREAM_APP

FRESH_SECONDS: Final = 2.5
"""So long a listing counts for all who look."""


@dataclass(slots=True)
class ListedApps:
    """The apps of a namespace, or of all (None)."""

    cluster: ApiClusterClient
    namespace: str | None
    _reports: AppReports = field(default_factory=AppReports)
    _apps: dict[tuple[str, str], Manifest] = field(default_factory=dict)
    _reading: SharedReading = field(default_factory=lambda: SharedReading(FRESH_SECONDS, monotonic))

    async def read(self) -> AppsReading:
        """The apps of the last seconds."""
        return await self._reading.get(self._read)

    async def app(self, namespace: str, name: str) -> Manifest | None:
        """One of the apps that were listed last."""
        return self._apps.get((namespace, name))

    async def _read(self) -> AppsReading:
        apps = await self.cluster.select(STREAM_APP, self.namespace, {})
        config_maps, notices = await read_report_maps(self.cluster, self.namespace)
        reports = self._reports.of(apps, config_maps)
        self._apps = {(app["metadata"]["namespace"], app["metadata"]["name"]): app for app in apps}
        rows = [app_row(app, reports.get(app["metadata"]["uid"])) for app in apps]
        return AppsReading(tuple(rows), notices)
