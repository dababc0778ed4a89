"""The forwarding of a driver's services from the loopback of its pod to a port of this machine.

Each connection goes to the driver that is the newest then, so that what is forwarded outlives a restart.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import click

from streamapp.cli.option_groups import ClusterAccess
from streamapp.protocol.message_names import PAGE_PORT
from streamapp_operator.cli.cluster_access.app_lookup import read_app
from streamapp_operator.cli.cluster_access.app_pods import read_app_pods, select_driver
from streamapp_operator.cli.cluster_access.cluster_command import (
    cluster_configuration,
    run_with_cluster,
    with_cluster,
)
from streamapp_operator.cli.cluster_access.port_forward import PortForwardError, forward_connection
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient

HOST: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServedPart:
    """Something that drivers serve where a resource says so."""

    field: str  # of the resource's spec, with an `enabled`
    refusal: str  # what an app does that does not enable it


@dataclass(slots=True)
class ForwardedDriver:
    """An app on a cluster, and the way to what its driver serves."""

    app: str
    namespace: str
    access: ClusterAccess
    part: ServedPart
    complain: Callable[[str], None]  # called with why a connection was not carried, once for each reason
    _complaint: str = field(default="", init=False)  # the last one

    def check(self) -> None:
        """A ClickException where the app is not there, does not serve the part, or has no driver."""
        run_with_cluster(self.access, self._check)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection to the newest driver, until either side ends it or the command does."""
        with suppress(asyncio.CancelledError):
            await self._carry(reader, writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            pod = await with_cluster(self.access, self._driver)
            configuration = await cluster_configuration(self.access)
            await forward_connection(configuration, (self.namespace, pod), PAGE_PORT, reader, writer)
            self._complaint = ""
        except (PortForwardError, click.ClickException) as error:
            if str(error) != self._complaint:
                self._complaint = str(error)
                self.complain(self._complaint)
        except ConnectionError:  # who asked has left
            pass
        finally:
            with suppress(ConnectionError):
                writer.close()
                await writer.wait_closed()

    async def _check(self, cluster: ApiClusterClient) -> None:
        manifest = await read_app(cluster, self.namespace, self.app)
        if not manifest["spec"].get(self.part.field, {}).get("enabled"):
            raise click.ClickException(
                f'app "{self.app}" {self.part.refusal}: '
                f"set spec.{self.part.field}.enabled to true, which restarts its driver"
            )
        await self._driver(cluster)

    async def _driver(self, cluster: ApiClusterClient) -> str:
        return select_driver(await read_app_pods(cluster, self.namespace, self.app), self.app).name
