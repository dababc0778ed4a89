"""The pods of an app, and which of them a command is about."""

from collections.abc import Iterable

import click

from streamapp.placement.locations.pod_facts import EXECUTOR_ID
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
    """The names of a pod and its container: a driver's, or the executor's that Spark numbers so.

    The executors of a driver that is to take over have the same numbers as those of the driver before it.
    """
    if executor is None:
        return select_driver(pods, app, previous=previous).name, driver_template.DRIVER_CONTAINER
    numbered_pods = [pod for pod in app_executors(pods) if pod.labels.get(EXECUTOR_ID) == executor]
    if not numbered_pods:
        raise click.ClickException(f'app "{app}" has no executor {executor}')
    drivers = [driver.uid for driver in app_drivers(pods) if driver.life is not PodLifecycle.ENDED]
    of_oldest_driver = [pod for pod in numbered_pods if drivers and pod.owner_pod == drivers[0]]
    return (of_oldest_driver or numbered_pods)[0].name, executor_template.EXECUTOR_CONTAINER


def _role(pod: Manifest) -> str:
    return str(pod["metadata"]["labels"].get(ROLE_LABEL))
