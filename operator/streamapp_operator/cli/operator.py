"""`streamapp operator`: manage the StreamApps of a cluster."""

import asyncio
import logging
import os
import sys
from pathlib import Path

import click

from streamapp_operator.controller.client.client_configuration import (
    IN_POD_VARIABLE,
    ClientConfigurationError,
)
from streamapp_operator.controller.process.operator_options import OperatorOptions
from streamapp_operator.controller.telemetry.bounded_http import LOOPBACK
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.installation_file import read_installation

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Manage the StreamApps of a Kubernetes cluster.")
@click.option("-n", "--namespace", "namespaces", multiple=True, help="Only this one; may be said again.")
@click.option(
    "--kubeconfig", type=FILE, help="Left out: the pod's own account, else KUBECONFIG or ~/.kube/config."
)
@click.option("--context", help="Which context of the kubeconfig; its current one when left out.")
@click.option("--operator-class", help="Manage apps of this operatorClass; left out: those without one.")
@click.option("--image", help="Image of drivers and executors, for apps that name none.")
@click.option(
    "--installation", type=FILE, help="A YAML file with defaults for all apps, and what they may ask for."
)
@click.option(
    "--lease-namespace",
    help="Where replicas agree on who leads; left out: the pod's namespace, else the first that is watched.",
)
@click.option("--workers", type=click.IntRange(1, 256), default=16, show_default=True, help="Apps at a time.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8080,
    show_default=True,
    help="For /livez, /readyz and /metrics: in a pod on all addresses, otherwise on 127.0.0.1; 0 is any.",
)
@click.option(
    "--apps-page",
    is_flag=True,
    help="Serve the page of all apps at /apps/, by tokens of the cluster.",
)
@click.option(
    "--page-port",
    type=click.IntRange(0, 65_535),
    default=8081,
    show_default=True,
    help="For the page of all apps, on the same addresses; 0 is any.",
)
@click.option(
    "--check-rights", is_flag=True, help="Only ask whether the API server grants every right that is needed."
)
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning"]), default="info", show_default=True
)
def operator(
    namespaces: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    operator_class: str | None,
    image: str | None,
    installation: Path | None,
    lease_namespace: str | None,
    workers: int,
    port: int,
    apps_page: bool,
    page_port: int,
    check_rights: bool,
    log_level: str,
) -> None:
    """Plan, place and launch the StreamApps of a cluster, and keep them running.

    Works in a pod and from a laptop alike. Of several replicas one leads; the others take over when it
    ends. Logs JSON lines to standard error, and ends with 0 only when it was asked to stop.

    \b
    Example:
      streamapp operator --namespace shop --image streamapp-runtime:0.1.0
      streamapp operator --namespace shop --check-rights
    """
    defaults = _installation(installation, image, operator_class)
    options = OperatorOptions(
        namespaces=namespaces,
        kubeconfig=kubeconfig,
        context=context,
        operator_class=operator_class,
        lease_namespace=lease_namespace or "",
        host=None if os.environ.get(IN_POD_VARIABLE) else LOOPBACK,
        port=port,
        apps_page=apps_page,
        page_port=page_port,
        workers=workers,
    )
    if check_rights:
        sys.exit(_check_rights(options))
    code = _run(options, defaults, logging.getLevelNamesMapping()[log_level.upper()])
    # Threads that still wait for an answer from some broker must not keep a process that leads no more.
    sys.stderr.flush()
    os._exit(code)


def _installation(file: Path | None, image: str | None, operator_class: str | None) -> Installation:
    installation = read_installation(file.read_text(encoding="utf-8") if file else "", image, operator_class)
    if isinstance(installation, Installation):
        return installation
    raise click.UsageError("\n".join(f"{file}: {problem}" for problem in installation))


def _check_rights(options: OperatorOptions) -> int:
    from streamapp_operator.cli.rights_check import check_rights
    from streamapp_operator.controller.client.api_errors import ClusterError

    try:
        return asyncio.run(check_rights(options))
    except ClientConfigurationError as error:
        raise click.UsageError(f"no way to an API server: {error}") from None
    except ClusterError as error:
        raise click.ClickException(str(error)) from None


def _run(options: OperatorOptions, installation: Installation, level: int) -> int:
    from time import monotonic

    from streamapp_operator.app_overview.served_apps_page import served_page
    from streamapp_operator.controller.process.operator_process import run_operator
    from streamapp_operator.controller.telemetry.json_logs import configure_logging
    from streamapp_operator.reconciler.partition_counts.partition_lookup import LivePartitionLookup
    from streamapp_operator.reconciler.reconciler_factory import reconciler_for

    configure_logging(level=level)
    reconciler = reconciler_for(
        installation, lambda cluster: LivePartitionLookup(cluster, monotonic, installation)
    )
    try:
        return asyncio.run(run_operator(options, reconciler, served_page(options.apps_page)))
    except ClientConfigurationError as error:
        raise click.UsageError(f"no way to an API server: {error}") from None
    except OSError as error:
        ports = f"port {options.port}" + f" or {options.page_port}" * options.apps_page
        raise click.UsageError(f"{ports}: {error.strerror}") from None
