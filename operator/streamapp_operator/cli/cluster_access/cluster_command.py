"""A connection to a cluster for the length of one command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import click
from kubernetes.aio.client.configuration import Configuration

from streamapp.cli.option_groups import ClusterAccess
from streamapp.cli.option_groups import cluster_options as access_options
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
    """Add the options that select a cluster to a command, which receives `namespace` and `access`."""
    namespace = click.option(
        "-n", "--namespace", default=DEFAULT_NAMESPACE, show_default=True, help="The app's."
    )
    return namespace(access_options()(command))


def run_with_cluster(
    access: ClusterAccess,
    use: Callable[[ApiClusterClient], Awaitable[T]],
    *,
    writes: bool = False,
) -> T:
    """Call `use` with a client and return its result; a failed request becomes a one-line usage error.

    The client refuses every write unless the command `writes`.
    """
    return asyncio.run(with_cluster(access, use, writes=writes))


async def with_cluster(
    access: ClusterAccess,
    use: Callable[[ApiClusterClient], Awaitable[T]],
    *,
    writes: bool = False,
) -> T:
    """`run_with_cluster` within an event loop."""
    try:
        async with open_cluster(await cluster_configuration(access), writes=writes) as cluster:
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


async def cluster_configuration(access: ClusterAccess) -> Configuration:
    """The address and credentials that the options of a command name; a usage error where there are none."""
    try:
        return await load_configuration(
            Path(access.kubeconfig) if access.kubeconfig else None, access.context
        )
    except ClientConfigurationError as error:
        raise click.UsageError(f"no way to an API server: {error}") from None
