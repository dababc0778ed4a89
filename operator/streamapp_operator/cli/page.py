"""`streamapp page`: the page of an app on a cluster, opened on this machine."""

import asyncio
import sys
import webbrowser
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import click

from streamapp.protocol.message_names import PAGE_PORT
from streamapp_operator.cli.cluster_access.app_lookup import read_app
from streamapp_operator.cli.cluster_access.app_pods import read_app_pods, select_driver
from streamapp_operator.cli.cluster_access.cluster_command import (
    cluster_configuration,
    cluster_options,
    run_with_cluster,
    with_cluster,
)
from streamapp_operator.cli.cluster_access.port_forward import PortForwardError, forward_connection
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient

HOST: Final = "127.0.0.1"


@click.command(short_help="Open the page of an app on a cluster.")
@click.argument("app")
@cluster_options
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="On this machine; else a free one.")
@click.option("--open/--no-open", "opens", default=None, help="Open a browser; by default on a terminal.")
def page(
    app: str, namespace: str, kubeconfig: str | None, context: str | None, port: int, opens: bool | None
) -> None:
    """Open the page of APP, which its driver serves where spec.page.enabled is true.

    The page is forwarded to a port of this machine until Ctrl-C, also to the driver that comes after a
    restart. That takes the right to forward ports of the namespace's pods.

    \b
    Examples:
      streamapp page page-views --namespace shop
      streamapp page page-views --port 9405 --no-open
    """
    where = AppPage(app, namespace, kubeconfig, context)
    where.check()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(where, port, sys.stdout.isatty() if opens is None else opens))


@dataclass(slots=True)
class AppPage:
    """An app on a cluster, and the way to its page."""

    app: str
    namespace: str
    kubeconfig: str | None
    context: str | None
    _complaint: str = field(default="", init=False)  # the last one that was written

    def check(self) -> None:
        """A ClickException where the app is not there, has no page, or has no driver."""
        run_with_cluster(self.kubeconfig, self.context, self._check)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection of a browser to the newest driver. What goes wrong is written once."""
        try:
            pod = await with_cluster(self.kubeconfig, self.context, self._driver)
            configuration = await cluster_configuration(self.kubeconfig, self.context)
            await forward_connection(configuration, (self.namespace, pod), PAGE_PORT, reader, writer)
            self._complaint = ""
        except (PortForwardError, click.ClickException) as error:
            if str(error) != self._complaint:
                self._complaint = str(error)
                click.echo(f"no page at the moment: {error}", err=True)
        except ConnectionError:  # the browser has left
            pass
        finally:
            with suppress(ConnectionError):
                writer.close()
                await writer.wait_closed()

    async def _check(self, cluster: ApiClusterClient) -> None:
        manifest = await read_app(cluster, self.namespace, self.app)
        if not manifest["spec"].get("page", {}).get("enabled"):
            raise click.ClickException(
                f'app "{self.app}" serves no page: set spec.page.enabled to true, which restarts its driver'
            )
        await self._driver(cluster)

    async def _driver(self, cluster: ApiClusterClient) -> str:
        return select_driver(await read_app_pods(cluster, self.namespace, self.app), self.app).name


async def _serve(where: AppPage, port: int, opens: bool) -> None:
    try:
        server = await asyncio.start_server(where.forward, HOST, port)
    except OSError as error:
        raise click.BadParameter(f"port {port}: {error.strerror}", param_hint="--port") from None
    url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}/page/"
    click.echo(f"page of {where.app} at {url} until Ctrl-C")
    if opens:
        webbrowser.open(url)
    async with server:
        await server.serve_forever()
