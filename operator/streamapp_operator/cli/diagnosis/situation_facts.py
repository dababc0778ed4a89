"""The facts that are read of an app to say what is the matter with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kubernetes.aio.client.configuration import Configuration

from streamapp.cli.app_table.app_figures import RunFigures
from streamapp.protocol.driver_report import Report
from streamapp_operator.app_overview.app_reports import has_page, report_in
from streamapp_operator.cli.cluster_access.app_lookup import read_app, read_events
from streamapp_operator.cli.cluster_access.app_pods import app_drivers, app_executors, read_app_pods
from streamapp_operator.cli.cluster_access.page_request import PageUnansweredError, read_page
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import ClusterError
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.status.app_condition import EXPECTED_STATUS, ConditionType
from streamapp_operator.reconciler.status.app_status import REASON_ORDER
from streamapp_operator.reconciler.status.status_events import PRELIMINARY_REASONS


@dataclass(frozen=True, slots=True)
class SituationFacts:
    """An app, its pods, its driver's report and the warnings about its driver."""

    app: Manifest
    driver: PodState | None = None  # the newest
    executors: tuple[PodState, ...] = ()
    report: Report | None = None  # of the newest driver
    driver_warnings: tuple[str, ...] = ()  # events of the driver's pod, the newest last
    unread: tuple[str, ...] = field(default=())  # what could not be read, and why
    run: RunFigures | None = None  # what the driver's page says, where it serves one

    @property
    def name(self) -> str:
        """The app's name."""
        return str(self.app["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """The app's namespace."""
        return str(self.app["metadata"]["namespace"])

    @property
    def status(self) -> Mapping[str, Any]:
        """The status that the operator wrote last; empty where there is none."""
        return self.app.get("status") or {}

    @property
    def last_ending(self) -> Mapping[str, Any]:
        """The ending of the last driver that ended; empty where none has."""
        return (self.status.get("driver") or {}).get("lastEnding") or {}

    @property
    def failures(self) -> int:
        """The number of a driver's failures in a row."""
        return int((self.status.get("driver") or {}).get("failures") or 0)

    @property
    def runs(self) -> bool:
        """True if a driver has its container running."""
        return self.driver is not None and self.driver.life is PodLifecycle.LIVING

    def conditions(self) -> dict[str, Mapping[str, Any]]:
        """The conditions by type."""
        return {condition["type"]: condition for condition in self.status.get("conditions") or ()}

    def message(self, type_: ConditionType, status: str) -> str | None:
        """The message of a condition that has this status."""
        condition = self.conditions().get(type_, {})
        return str(condition["message"]) if condition.get("status") == status else None

    def conditions_by_importance(self) -> list[Mapping[str, Any]]:
        """The conditions that are not as they should be; those with the reason of the status come first."""

        def importance(condition: Mapping[str, Any]) -> tuple[bool, bool, int]:
            reason, sign = condition["reason"], (condition["type"], condition["status"])
            rank = REASON_ORDER.index(sign) if sign in REASON_ORDER else len(REASON_ORDER)
            return reason in PRELIMINARY_REASONS, reason != self.status.get("reason"), rank

        unexpected = (
            condition
            for condition in self.conditions().values()
            if condition["status"] != EXPECTED_STATUS.get(condition["type"])
        )
        return sorted(unexpected, key=importance)


async def read_situation(
    cluster: ApiClusterClient, configuration: Configuration, namespace: str, name: str
) -> SituationFacts:
    """The facts of an app; a ClickException where there is none. What may not be read is left out."""
    app = await read_app(cluster, namespace, name)
    unread: list[str] = []
    try:
        pods = await read_app_pods(cluster, namespace, name)
    except ClusterError as error:
        pods = []
        unread.append(f"pods: {error}")
    driver = next(reversed(app_drivers(pods)), None)
    try:
        report = await _report(cluster, namespace, name)
    except ClusterError as error:
        report = None
        unread.append(f"the driver's report: {error}")
    try:
        warnings = await _warnings(cluster, namespace, driver.name) if driver is not None else ()
    except ClusterError as error:
        warnings = ()
        unread.append(f"events: {error}")
    run = None
    try:
        if driver is not None and driver.life is PodLifecycle.LIVING and has_page(app):
            run = await read_page(configuration, namespace, driver.name)
    except PageUnansweredError as error:
        unread.append(f"the driver's page: {error}")
    is_of_driver = report is not None and driver is not None and report.driver == driver.name
    return SituationFacts(
        app,
        driver,
        tuple(app_executors(pods)),
        report if is_of_driver else None,
        warnings,
        tuple(unread),
        run,
    )


async def _report(cluster: ApiClusterClient, namespace: str, name: str) -> Report | None:
    return report_in(await cluster.read(CONFIG_MAP, namespace, object_names.report(name)))


async def _warnings(cluster: ApiClusterClient, namespace: str, pod: str) -> tuple[str, ...]:
    events = await read_events(cluster, namespace, lambda name: name == pod)
    return tuple(
        f"{event.get('reason', '')}: {event.get('message', '')}"
        for event in events
        if event.get("type") == "Warning"
    )
