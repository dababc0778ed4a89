"""`streamapp logs`: what an app's driver, or an executor, has written."""

import asyncio
import json

import aiohttp
import click
from kubernetes.aio.client.api_client import ApiClient

from streamapp.cli.option_groups import ClusterAccess
from streamapp_operator.cli.cluster_access.app_pods import read_app_pods, select_container
from streamapp_operator.cli.cluster_access.cluster_command import (
    cluster_configuration,
    cluster_options,
    run_with_cluster,
)
from streamapp_operator.controller.client.api_requests import authorised_headers
from streamapp_operator.controller.client.manifest import object_path
from streamapp_operator.controller.client.resource_kinds import POD

CHUNK = 64 * 1024


@click.command(short_help="Show what an app on a cluster has written.")
@click.argument("app")
@cluster_options
@click.option("-f", "--follow", is_flag=True, help="Follow the log as it is written.")
@click.option("--previous", is_flag=True, help="Of the driver before the newest one.")
@click.option("--executor", metavar="ID", help="Of an executor, as Spark numbers them.")
@click.option("--tail", type=click.IntRange(0), help="Only so many lines from the end.")
def logs(
    app: str,
    namespace: str,
    access: ClusterAccess,
    follow: bool,
    previous: bool,
    executor: str | None,
    tail: int | None,
) -> None:
    """Show what the newest driver of APP has written.

    \b
    Examples:
      streamapp logs page-views --namespace shop --follow
      streamapp logs page-views --previous --tail 50
    """
    pods = run_with_cluster(access, lambda cluster: read_app_pods(cluster, namespace, app))
    name, container = select_container(pods, app, previous=previous, executor=executor)
    query = {"container": container, "follow": str(follow).lower()}
    query |= {"tailLines": str(tail)} if tail is not None else {}
    asyncio.run(_show(access, f"{object_path(POD, namespace, name)}/log", query))


def _message(reply_text: str) -> str:
    """The message in an error reply of the API server."""
    try:
        return str(json.loads(reply_text)["message"])
    except (ValueError, KeyError, TypeError):
        return reply_text


async def _show(access: ClusterAccess, path: str, query: dict[str, str]) -> None:
    client = ApiClient(await cluster_configuration(access))
    try:
        query_string = "&".join(f"{name}={value}" for name, value in query.items())
        reply = await client.rest_client.request(
            "GET",
            f"{client.configuration.host}{path}?{query_string}",
            headers=await authorised_headers(client, "GET", path),
            _request_timeout=aiohttp.ClientTimeout(total=None, sock_connect=10),
        )
        if reply.status != 200:
            raise click.ClickException(_message((await reply.read()).decode(errors="replace")))
        async for chunk in reply.response.content.iter_chunked(CHUNK):
            click.echo(chunk, nl=False)
    finally:
        await client.close()
