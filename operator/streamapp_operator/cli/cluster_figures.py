"""Figures of apps on a cluster for `streamapp top`: of their resources, their drivers' reports and pages."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Final

import click
from kubernetes.aio.client.configuration import Configuration

from streamapp.cli.app_table.app_figures import AppFigures, FiguresReading
from streamapp.cli.option_groups import ClusterAccess
from streamapp.cli.output_option import UnreachableError
from streamapp_operator.app_overview.app_reports import (
    AppReports,
    DatedReport,
    current_driver,
    has_page,
    report_of_driver,
)
from streamapp_operator.app_overview.app_row import UNKNOWN_PHASE
from streamapp_operator.cli.cluster_access.app_lookup import read_app, read_report_maps
from streamapp_operator.cli.cluster_access.cluster_command import (
    DEFAULT_NAMESPACE,
    cluster_configuration,
    open_cluster,
)
from streamapp_operator.cli.cluster_access.page_request import PageUnansweredError, read_page
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import ClusterError, UnansweredError
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import STREAM_APP

PAGES_AT_A_TIME: Final = 16


@dataclass(slots=True)
class ClusterFigures:
    """The apps of a namespace, of all namespaces (None), or one app. Its connections last until `close`."""

    access: ClusterAccess
    app: str | None
    namespace: str | None
    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    _opened: AsyncExitStack = field(default_factory=AsyncExitStack)
    _cluster: ApiClusterClient | None = None
    _configuration: Configuration | None = (
        None  # of the forwarding of ports, which has connections of its own
    )
    _reports: AppReports = field(default_factory=AppReports)

    def read(self) -> FiguresReading:
        """The figures of now; a ClickException where the apps cannot be read."""
        try:
            return self._runner.run(self._read())
        except UnansweredError as error:
            raise UnreachableError(str(error)) from None
        except ClusterError as error:
            raise click.ClickException(str(error)) from None

    def close(self) -> None:
        """Close the connections."""
        self._runner.run(self._opened.aclose())
        self._runner.close()

    async def _read(self) -> FiguresReading:
        if self._cluster is None or self._configuration is None:
            self._configuration = await cluster_configuration(self.access)
            opened = open_cluster(await cluster_configuration(self.access))
            self._cluster = await self._opened.enter_async_context(opened)
        cluster, configuration = self._cluster, self._configuration
        if self.app is not None and self.namespace is not None:
            manifests = [await read_app(cluster, self.namespace, self.app)]
        else:
            manifests = await cluster.select(STREAM_APP, self.namespace, {})
        config_maps, notices = await read_report_maps(cluster, self.namespace, self.app)
        reports = self._reports.of(manifests, config_maps)
        now = cluster.seconds()
        apps = [_app_figures(app, reports.get(app["metadata"]["uid"]), now) for app in manifests]
        turns = asyncio.Semaphore(PAGES_AT_A_TIME)
        paged_apps = await asyncio.gather(
            *(
                _with_page(figures, app, configuration, turns)
                for figures, app in zip(apps, manifests, strict=True)
            )
        )
        unanswered = defaultdict(list)
        for figures, why in paged_apps:
            if why:
                unanswered[why].append(figures.name)
        notices += tuple(f"{_pages(names)}: {why}" for why, names in unanswered.items())
        return FiguresReading(tuple(figures for figures, _ in paged_apps), notices)


def open_figures(access: ClusterAccess, app: str | None, all_namespaces: bool) -> ClusterFigures:
    """The figures of the apps that these options of `streamapp top` name."""
    return ClusterFigures(access, app, None if all_namespaces else access.namespace or DEFAULT_NAMESPACE)


def _app_figures(app: Manifest, dated: DatedReport | None, now: float) -> AppFigures:
    """The figures of resource and report. A report of an earlier driver says nothing of this one."""
    metadata, status = app["metadata"], app.get("status") or {}
    conditions = {condition["type"]: condition for condition in status.get("conditions") or ()}
    figures = AppFigures(
        name=metadata["name"],
        namespace=metadata["namespace"],
        phase=status.get("phase", UNKNOWN_PHASE),
        ready=conditions.get("Ready", {}).get("status"),
        generation=metadata.get("generation"),
        accepted_generation=status.get("acceptedGeneration"),
        processors=status.get("processors"),
        tasks=status.get("tasks"),
        restarts=status.get("restarts", 0) if status else None,
    )
    current = report_of_driver(app, dated)
    if current is None:
        return figures
    lag = current.report.progress.lag
    age = None if current.written_at is None else max(0.0, now - current.written_at)
    return replace(figures, lag=lag, lag_is_bound=lag > 0, age=age)


async def _with_page(
    figures: AppFigures, app: Manifest, configuration: Configuration, turns: asyncio.Semaphore
) -> tuple[AppFigures, str]:
    """The figures with what the driver's page says, and why it says nothing where it has to."""
    driver = current_driver(app)
    if not has_page(app) or not (driver.get("pod") and driver.get("startedAt")):
        return figures, ""
    try:
        async with turns:
            run = await read_page(configuration, app["metadata"]["namespace"], driver["pod"])
    except PageUnansweredError as error:
        return figures, str(error)
    return replace(
        figures,
        rows_in=run.rows_in,
        rows_out=run.rows_out,
        lag=run.lag,
        lag_is_bound=False,
        behind=run.behind,
        age=run.age,
        run=run,
    ), ""


def _pages(names: Sequence[str]) -> str:
    others = len(names) - 1
    return f"the page of {names[0]}" + (f" and {others} other{'s' * (others > 1)}" if others else "")
