"""A connection to a cluster for the length of one command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import click
from kubernetes.aio.client.configuration import Configuration

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
    return asyncio.run(with_cluster(kubeconfig, context, use, writes=writes))


async def with_cluster(
    kubeconfig: str | None,
    context: str | None,
    use: Callable[[ApiClusterClient], Awaitable[T]],
    *,
    writes: bool = False,
) -> T:
    """`run_with_cluster` within an event loop."""
    try:
        async with open_cluster(await cluster_configuration(kubeconfig, context), writes=writes) as cluster:
            return await use(cluster)
    except LeadershipLostError:
        raise
    except ClusterError as error:
        raise click.ClickException(str(error)) from None


@asynccontextmanager
async def open_cluster(
    configuration: Configuration, *, writes: bool = False
) -> AsyncIterator[ApiClusterClient]:
    """A client that holds its connections for as long as this lasts."""
    transport = ApiTransport(configuration, lambda _, __: None)
    write_seconds = WRITE_SECONDS if writes else 0.0
    try:
        yield ApiClusterClient(transport, (), lambda: write_seconds, transport.clock.now)
    finally:
        await transport.close()


async def cluster_configuration(kubeconfig: str | None, context: str | None) -> Configuration:
    """The address and credentials that the options of a command name; a usage error where there are none."""
    try:
        return await load_configuration(Path(kubeconfig) if kubeconfig else None, context)
    except ClientConfigurationError as error:
        raise click.UsageError(f"no way to an API server: {error}") from None
