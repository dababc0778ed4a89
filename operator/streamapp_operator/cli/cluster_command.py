"""A connection to a cluster for the length of one command."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import ClusterError, LeadershipLostError
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import (
    ClientConfigurationError,
    load_configuration,
)

T = TypeVar("T")
DEFAULT_NAMESPACE = "default"
WRITE_SECONDS = 30.0
"""How long a command may wait for a write."""


def cluster_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options that select a cluster to a command."""
    for option in (
        click.option("--context", help="Which context of the kubeconfig; its current one when left out."),
        click.option(
            "--kubeconfig",
            type=click.Path(exists=True, dir_okay=False),
            help="Left out: KUBECONFIG, else ~/.kube/config.",
        ),
        click.option("-n", "--namespace", default=DEFAULT_NAMESPACE, show_default=True, help="The app's."),
    ):
        command = option(command)
    return command


def run_with_cluster(
    kubeconfig: str | None,
    context: str | None,
    use: Callable[[ApiClusterClient], Awaitable[T]],
    *,
    writes: bool = False,
) -> T:
    """Call `use` with a client and return its result; a failed request becomes a one-line usage error.

    The client refuses every write unless the command `writes`.
    """
    return asyncio.run(_run(kubeconfig, context, use, WRITE_SECONDS if writes else 0.0))


async def _run(
    kubeconfig: str | None,
    context: str | None,
    use: Callable[[ApiClusterClient], Awaitable[T]],
    write_seconds: float,
) -> T:
    try:
        transport = ApiTransport(
            await load_configuration(Path(kubeconfig) if kubeconfig else None, context), lambda _, __: None
        )
    except ClientConfigurationError as error:
        raise click.UsageError(f"no way to an API server: {error}") from None
    try:
        return await use(ApiClusterClient(transport, (), lambda: write_seconds, transport.clock.now))
    except LeadershipLostError:
        raise
    except ClusterError as error:
        raise click.ClickException(str(error)) from None
    finally:
        await transport.close()
