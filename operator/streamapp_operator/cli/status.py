"""`streamapp status`: how an app on a cluster is, and why."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import click

from streamapp.cli.option_groups import ClusterAccess
from streamapp.cli.output_option import JSON, output_option
from streamapp.protocol.driver_report import Report
from streamapp.protocol.start_steps import StartStep
from streamapp_operator.app_overview.app_reports import current_driver, report_in
from streamapp_operator.cli.cluster_access.app_lookup import read_app, read_report_maps
from streamapp_operator.cli.cluster_access.app_pods import app_drivers, app_executors, read_app_pods
from streamapp_operator.cli.cluster_access.cluster_command import cluster_options, run_with_cluster
from streamapp_operator.cli.status_text import status_text
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import ClusterError
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.pod_state import PodState

_CREATED: Final = "pod created"
_STEPS: Final = {
    StartStep.PROCESS: "process started",
    StartStep.SPARK: "Spark session started",
    StartStep.STANDBY: "ready to take over",
    StartStep.TAKE_OVER: "previous driver ended, this one took over",
    StartStep.LAUNCH: "app compiled",
    StartStep.BATCH: "first batch committed",
}


@dataclass(frozen=True, slots=True)
class TimedStep:
    """A step, and its time in seconds since 1970."""

    at: float
    text: str


def last_start(
    driver: PodState, executors: Iterable[PodState], report: Report | None
) -> tuple[TimedStep, ...]:
    """The steps in their order, from the creation of the driver's pod on.

    Kubernetes writes whole seconds, and its clock may differ from that of the driver's node.
    """
    reported_times = report.start if report is not None and report.driver == driver.name else {}
    own_executors = [pod for pod in executors if pod.owner_pod in {"", driver.uid}]
    steps = [
        *_pod_steps(driver),
        *_executor_steps(own_executors),
        *(TimedStep(at, _STEPS[StartStep(name)]) for name, at in reported_times.items() if name in _STEPS),
    ]
    return tuple(sorted(steps, key=lambda step: step.at))


def _pod_steps(driver: PodState) -> Iterator[TimedStep]:
    yield TimedStep(driver.made_at, _CREATED)
    if driver.scheduled_at is not None:
        yield TimedStep(driver.scheduled_at, f"pod scheduled to {driver.node}")
    if driver.started_at is not None:
        yield TimedStep(driver.started_at, "container started")


def _executor_steps(executors: Sequence[PodState]) -> Iterator[TimedStep]:
    started = [pod.started_at for pod in executors if pod.started_at is not None]
    if started:
        yield TimedStep(max(started), f"executors started: {len(started)} of {len(executors)}")


def last_start_text(steps: Sequence[TimedStep]) -> Iterator[str]:
    """The lines of the steps, each with the seconds since the first one."""
    texts = {step.text: step.at for step in steps}
    begin = texts[_CREATED]
    batch, take_over = texts.get(_STEPS[StartStep.BATCH]), texts.get(_STEPS[StartStep.TAKE_OVER])
    if batch is None:
        yield "  last start   no batch yet"
    else:
        after = f", {batch - take_over:.1f} s after it took over" if take_over is not None else ""
        yield f"  last start   first batch {batch - begin:.1f} s after the pod was created{after}"
    yield from (f"               {step.at - begin:7.1f} s  {step.text}" for step in steps)


@click.command(short_help="Show an app's phase, and the conditions behind it.")
@click.argument("app")
@cluster_options
@output_option("text", JSON)
def status(app: str, namespace: str, access: ClusterAccess, output: str) -> None:
    """Show APP: its phase, its driver, its tasks, and every condition that needs attention.

    The steps of the driver's last start are shown where the user may read the app's pods and the driver's
    report.

    Exits with 0 when the app is ready, with 1 when it is not or is not there.

    \b
    Examples:
      streamapp status page-views --namespace shop
      streamapp status page-views -o json
    """
    with_start = output == "text"
    manifest, start_lines = run_with_cluster(
        access, lambda cluster: _read(cluster, namespace, app, with_start=with_start)
    )
    app_status = manifest.get("status") or {}
    click.echo(
        json.dumps(app_status, indent=2) if output == "json" else status_text(manifest, start_lines),
        nl=output == "json",
    )
    ready = next(
        (condition for condition in app_status.get("conditions", ()) if condition["type"] == "Ready"), None
    )
    if ready is None or ready["status"] != "True":
        sys.exit(1)


async def _read(
    cluster: ApiClusterClient, namespace: str, app: str, *, with_start: bool
) -> tuple[Manifest, tuple[str, ...]]:
    """The app, and the lines about the start of its driver, as far as the user may read what they are of."""
    manifest = await read_app(cluster, namespace, app)
    driver_name = current_driver(manifest).get("pod")
    if not with_start or not driver_name:
        return manifest, ()
    try:
        pods = await read_app_pods(cluster, namespace, app)
    except ClusterError as error:
        return manifest, (f"  last start   not known: {error}",)
    driver = next((pod for pod in app_drivers(pods) if pod.name == driver_name), None)
    if driver is None:
        return manifest, ()
    report_maps, _ = await read_report_maps(cluster, namespace, app)
    report = report_in(report_maps[0]) if report_maps else None
    return manifest, tuple(last_start_text(last_start(driver, app_executors(pods), report)))
