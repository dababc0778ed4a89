"""`streamapp page`: the page of an app on a cluster, opened on this machine."""

import asyncio
import sys
import webbrowser
from contextlib import suppress
from typing import Final

import click

from streamapp_operator.cli.cluster_access.cluster_command import cluster_options
from streamapp_operator.cli.cluster_access.forwarded_driver import HOST, ForwardedDriver, ServedPart

_PAGE: Final = ServedPart("page", "serves no page")


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
    driver = ForwardedDriver(app, namespace, kubeconfig, context, _PAGE, _complain)
    driver.check()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(driver, port, sys.stdout.isatty() if opens is None else opens))


def _complain(reason: str) -> None:
    click.echo(f"no page at the moment: {reason}", err=True)


async def _serve(driver: ForwardedDriver, port: int, opens: bool) -> None:
    try:
        server = await asyncio.start_server(driver.forward, HOST, port)
    except OSError as error:
        raise click.BadParameter(f"port {port}: {error.strerror}", param_hint="--port") from None
    url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}/page/"
    click.echo(f"page of {driver.app} at {url} until Ctrl-C")
    if opens:
        webbrowser.open(url)
    async with server:
        await server.serve_forever()
