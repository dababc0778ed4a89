"""`streamapp page`: the page of an app on a cluster, or of all its apps, opened on this machine."""

import asyncio
import sys
import webbrowser
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import click
from aiohttp import web

from streamapp.cli.option_groups import ClusterAccess
from streamapp_operator.app_overview.apps_page import PREFIX, AppsPage
from streamapp_operator.app_overview.viewer_rights import EveryNamespace
from streamapp_operator.cli.cluster_access.cluster_command import (
    DEFAULT_NAMESPACE,
    cluster_options,
    with_cluster,
)
from streamapp_operator.cli.cluster_access.forwarded_driver import HOST, ForwardedDriver, ServedPart
from streamapp_operator.cli.cluster_access.listed_apps import ListedApps
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.telemetry.bounded_http import serve_bounded

_PAGE: Final = ServedPart("page", "serves no page")


@click.command(short_help="Open the page of an app on a cluster, or of all apps.")
@click.argument("app", required=False)
@cluster_options
@click.option("-A", "--all-namespaces", is_flag=True, help="The page of the apps of all namespaces.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="On this machine; else a free one.")
@click.option("--open/--no-open", "opens", default=None, help="Open a browser; by default on a terminal.")
def page(
    app: str | None,
    namespace: str,
    access: ClusterAccess,
    all_namespaces: bool,
    port: int,
    opens: bool | None,
) -> None:
    """Open the page of APP, or the page of all apps of a namespace.

    The page of APP is served by its driver where spec.page.enabled is true. It is forwarded to a port of
    this machine until Ctrl-C, also to the driver that comes after a restart. That takes the right to forward
    ports of the namespace's pods.

    Without APP the page has a row for each app: its phase, why it is not ready, its lag, what changed last.
    This command serves it, of what your own rights let it list: StreamApps, and ConfigMaps for the lag.

    \b
    Examples:
      streamapp page page-views --namespace shop
      streamapp page page-views --port 9405 --no-open
      streamapp page --namespace shop
      streamapp page -A
    """
    if all_namespaces and (app or namespace != DEFAULT_NAMESPACE):
        raise click.UsageError("-A is about all apps; leave out APP and --namespace")
    opens = sys.stdout.isatty() if opens is None else opens
    with suppress(KeyboardInterrupt):
        if app is not None:
            driver = ForwardedDriver(app, namespace, access, _PAGE, _complain)
            driver.check()
            asyncio.run(_forward(driver, port, opens))
        else:
            shown = None if all_namespaces else namespace
            asyncio.run(with_cluster(access, _apps_server(shown, port, opens)))


def _complain(reason: str) -> None:
    click.echo(f"no page at the moment: {reason}", err=True)


def _say(subject: str, url: str, opens: bool) -> None:
    click.echo(f"page of {subject} at {url} until Ctrl-C")
    if opens:
        webbrowser.open(url)


def _taken(port: int, error: OSError) -> click.BadParameter:
    return click.BadParameter(f"port {port}: {error.strerror}", param_hint="--port")


async def _forward(driver: ForwardedDriver, port: int, opens: bool) -> None:
    try:
        server = await asyncio.start_server(driver.forward, HOST, port)
    except OSError as error:
        raise _taken(port, error) from None
    _say(driver.app, f"http://{HOST}:{server.sockets[0].getsockname()[1]}/page/", opens)
    async with server:
        await server.serve_forever()


def _apps_server(
    namespace: str | None, port: int, opens: bool
) -> Callable[[ApiClusterClient], Awaitable[None]]:
    """The function that serves the page of all apps until it is cancelled."""

    async def serve(cluster: ApiClusterClient) -> None:
        source = ListedApps(cluster, namespace)
        await source.read()  # what is wrong with the request is said before the page opens
        application = web.Application()
        page_of_apps = AppsPage(source, EveryNamespace())
        application.add_subapp(PREFIX, page_of_apps.application())
        subject = f"the apps of {namespace}" if namespace else "all apps"
        try:
            async with serve_bounded(HOST, port, application) as served_port:
                _say(subject, f"http://{HOST}:{served_port}{PREFIX}/", opens)
                await asyncio.Event().wait()
        except OSError as error:
            raise _taken(port, error) from None

    return serve
