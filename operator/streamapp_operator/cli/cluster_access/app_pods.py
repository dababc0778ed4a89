"""The pods of an app, and which of them a command is about."""

from collections.abc import Iterable

import click

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import POD
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState, incarnation_of, read_pod
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole
from streamapp_operator.reconciler.pods import driver_template, executor_template


async def read_app_pods(cluster: ApiClusterClient, namespace: str, app: str) -> list[Manifest]:
    """The pods of an app: its drivers and executors."""
    return await cluster.select(POD, namespace, {APP_LABEL: app})


def app_drivers(pods: Iterable[Manifest]) -> list[PodState]:
    """The drivers among an app's pods, the newest last."""
    drivers = (
        read_pod(pod, driver_template.DRIVER_CONTAINER) for pod in pods if _role(pod) == ObjectRole.DRIVER
    )
    return sorted(drivers, key=incarnation_of)


def app_executors(pods: Iterable[Manifest]) -> list[PodState]:
    """The executors among an app's pods, by name."""
    executors = (
        read_pod(pod, executor_template.EXECUTOR_CONTAINER)
        for pod in pods
        if _role(pod) == ObjectRole.EXECUTOR
    )
    return sorted(executors, key=lambda executor: executor.name)


def select_driver(pods: list[Manifest], app: str, *, previous: bool = False) -> PodState:
    """The newest driver of an app, or the one before it; a ClickException where there is none.

    A standby driver counts once the driver before it has ended.
    """
    drivers = app_drivers(pods)
    live_drivers = [driver for driver in drivers if driver.life is not PodLifecycle.ENDED]
    drivers = [driver for driver in drivers if driver not in live_drivers[1:]]
    if len(drivers) <= previous:
        pod_kind = "driver before the newest one" if previous else "driver"
        raise click.ClickException(f'app "{app}" has no {pod_kind}; see streamapp status {app}')
    return drivers[-1 - previous]


def select_container(
    pods: list[Manifest], app: str, *, previous: bool, executor: str | None
) -> tuple[str, str]:
    """The names of a pod and its container: a driver's, or the executor's that Spark numbers so."""
    if executor is None:
        return select_driver(pods, app, previous=previous).name, driver_template.DRIVER_CONTAINER
    for pod in pods:
        if pod["metadata"]["labels"].get("spark-exec-id") == executor:
            return pod["metadata"]["name"], executor_template.EXECUTOR_CONTAINER
    raise click.ClickException(f'app "{app}" has no executor {executor}')


def _role(pod: Manifest) -> str:
    return str(pod["metadata"]["labels"].get(ROLE_LABEL))
