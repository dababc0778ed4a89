"""`streamapp drive`: what runs in the driver's pod."""

import os
import time
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamapp.author.app_streams import is_embedded
from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted
from streamapp.protocol.log_settings import LogSettings
from streamapp.protocol.message_names import PAGE_PORT, STATE_ACCESS_VARIABLE, TERMINATION
from streamapp.protocol.silent_driver import SILENT_DRIVER, STANDBY_MANAGER, SilentDriver
from streamapp.protocol.termination import ExitCode
from streamapp.spec.problem import Problem
from streamapp_runtime.cli.run_process.run_end import RunEnd

if TYPE_CHECKING:
    from streamapp_runtime.driver.executors.executor_locations import Pods
    from streamapp_runtime.driver.modes.pod_environment import PodEnvironment
    from streamapp_runtime.driver.standby.driver_watch import DriverWatch
    from streamapp_runtime.transport.kubernetes_api import KubernetesApi


@click.command(short_help="Run an accepted app under the operator, in the driver's pod.")
@click.option(
    "--metrics-port", type=click.IntRange(0, 65_535), default=9404, show_default=True, help="For Prometheus."
)
@click.option(
    "--page-port",
    type=click.IntRange(0, 65_535),
    default=PAGE_PORT,
    show_default=True,
    help="On 127.0.0.1, for the page and for queries of the state, where the resource enables them.",
)
@click.option(
    "--termination",
    type=click.Path(dir_okay=False, path_type=Path),
    default=TERMINATION,
    show_default=True,
    help="Where the last word is left.",
)
@click.option(
    "--standby",
    is_flag=True,
    help="Start Java and Spark, and wait until the operator has this driver take over.",
)
@click.option(
    "--early-executors",
    is_flag=True,
    help="With --standby: have executors start before this driver takes over.",
)
def drive(metrics_port: int, page_port: int, termination: Path, standby: bool, early_executors: bool) -> None:
    """Run an accepted app by the models that the operator makes.

    The operator starts this; its environment says where everything is, and what is logged (spec.logging).
    It ends as `streamapp run` does, and leaves its last word where Kubernetes looks for it.

    \b
    Example, as the operator's pods have it:
      streamapp drive
    """
    from streamapp_runtime.cli.run_process.message_output import log_end
    from streamapp_runtime.log_lines.line_labels import ProcessRole
    from streamapp_runtime.log_lines.python_logging import ProcessLogging

    application_id = os.environ.get("STREAMAPP_APPLICATION_ID", "")
    ProcessLogging(LogSettings.of_environment(os.environ), application_id, ProcessRole.DRIVER).begin()
    run_end = _run_managed(metrics_port, page_port, standby=standby, early_executors=early_executors)
    with suppress(OSError):  # the exit code is there in any case
        termination.write_text(run_end.ending.text(), "utf-8")
    log_end(run_end)
    raise SystemExit(int(run_end.code))


def _run_managed(metrics_port: int, page_port: int, *, standby: bool, early_executors: bool) -> RunEnd:
    from streamapp_runtime.driver.modes.pod_environment import pod_environment
    from streamapp_runtime.driver.spark.jvm_process import start_early

    try:
        environment = pod_environment()
    except KeyError as error:
        return _no_pod(error)
    accepted = _accepted(environment.app)
    if isinstance(accepted, Problem):
        return RunEnd(ExitCode.CONFIG, problems=(accepted,))
    with suppress(OSError, ValueError, KeyError):  # which are said where the session is opened
        start_early(environment.jvm(accepted.app))  # a second of Java, beside a second of imports

    from streamapp_runtime.transport.kubernetes_api import KubernetesApi

    try:
        api = KubernetesApi.of_pod()
    except (KeyError, OSError) as error:
        return _no_pod(error)
    return _run_accepted(
        accepted, environment, api, metrics_port, page_port, standby=standby, early_executors=early_executors
    )


def _run_accepted(
    accepted: AcceptedApp,
    environment: "PodEnvironment",
    api: "KubernetesApi",
    metrics_port: int,
    page_port: int,
    *,
    standby: bool,
    early_executors: bool,
) -> RunEnd:
    from streamapp_runtime.cli.run_process.driver_routes import state_routes
    from streamapp_runtime.cli.run_process.message_output import log_message
    from streamapp_runtime.cli.run_process.run_attempt import RunParts
    from streamapp_runtime.driver.modes.managed import Managed
    from streamapp_runtime.driver.modes.mounted_secrets import driver_secret_values
    from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
    from streamapp_runtime.driver.reporting.metrics_server import EVERYWHERE, metrics_server, serve_metrics
    from streamapp_runtime.driver.reporting.progress_log import ProgressLog
    from streamapp_runtime.driver.standby.hand_over import HandOver
    from streamapp_runtime.redacted_output import redact_output, redacted
    from streamapp_runtime.transport.config_map_transport import ConfigMapTransport

    redact_output(driver_secret_values(environment))
    spec = accepted.app.spec
    parts = RunParts.of(
        ProgressLog(log_message, time.monotonic),
        DriverLiveness(time.monotonic, warming_up=standby),
        page=spec.page.enabled,
        show_values=spec.page.show_values,
        state_queries=spec.state_queries.enabled,
    )
    batch_failed, liveness, queries = parts.progress.batch_failed, parts.liveness, parts.queries
    transport = ConfigMapTransport(api, environment.wanted, environment.report, batch_failed, redacted)
    transport.begin()
    drivers = partial(api.pods, environment.drivers)
    mode = Managed(
        accepted,
        environment,
        transport,
        partial(api.pods, environment.executor_selector()),
        standby=standby,
        early_executors=early_executors,
        liveness=liveness,
        driver_watch=_driver_watch(api, environment, drivers, metrics_port) if standby else None,
    )
    # An app with an embedded log is opened by one driver, which the next one waits for.
    hands_over = bool(environment.drivers) and not is_embedded(accepted.app)
    hand_over = HandOver(drivers, environment.incarnation, environment.grace_seconds) if hands_over else None
    token = os.environ.get(STATE_ACCESS_VARIABLE, "")
    routes = state_routes(queries, log_message, token) if queries is not None and token else {}
    server = metrics_server(
        parts.metrics.registry, metrics_port, EVERYWHERE, liveness.answer, liveness.readiness, routes
    )
    # Page and state are where nobody reaches them but who may forward ports: metrics are for everybody.
    on_loopback = parts.served(page_port) if parts.has_routes else nullcontext()
    with serve_metrics(server), on_loopback:
        run_end = parts.run(mode, hand_over=hand_over)
    transport.close()
    return run_end.redacted(redacted)


def _driver_watch(
    api: "KubernetesApi", environment: "PodEnvironment", drivers: "Pods", port: int
) -> "DriverWatch":
    """The watch of the other driver, whose port is that of this one."""
    from streamapp_runtime.driver.standby.driver_watch import DriverWatch

    def tell(driver: str) -> None:
        annotation = SilentDriver(driver, environment.pod).annotation() if driver else None
        api.annotate(environment.report, {SILENT_DRIVER: annotation}, STANDBY_MANAGER)

    return DriverWatch(drivers, environment.incarnation, port, tell)


def _no_pod(error: Exception) -> RunEnd:
    return RunEnd(ExitCode.MISUSE, f"this is no driver's pod: {error}")


def _accepted(file: Path) -> AcceptedApp | Problem:
    try:
        return decode_accepted(file.read_text("utf-8"))
    except UnreadableError as error:
        return Problem(0, 0, "", f"{error.message}; {error.hint}", error.reason)
    except OSError as error:
        return Problem(0, 0, "", f"there is no accepted app: {error}")
