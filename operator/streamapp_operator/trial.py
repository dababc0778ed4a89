"""`python -m streamapp_operator.trial FILE`: an app is applied, awaited to its end, and taken away again.

The chart's test is this: whether an installation can run an app, seen from where a user stands.
"""

import asyncio
import sys
from pathlib import Path
from time import monotonic

import click
import yaml

from streamapp.spec.value_types.durations import milliseconds
from streamapp_operator.cli.status_text import status_text
from streamapp_operator.controller.client.api_errors import ClusterError, UnansweredError
from streamapp_operator.controller.client.api_requests import ApiRequest, ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.object_paths import collection_path, object_path
from streamapp_operator.controller.client.resource_kinds import POD, STREAM_APP, Verb
from streamapp_operator.reconciler.status.phase import Phase

FINAL_PHASES = (Phase.COMPLETED, Phase.FAILED, Phase.REJECTED)
_LOOK_SECONDS = 1.0


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--limit", default="5m", show_default=True, help="How long it may take.")
@click.option("--kubeconfig", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(file: Path, limit: str, kubeconfig: Path | None) -> None:
    """Run the app of FILE to its end; 0 when it is completed."""
    app = yaml.safe_load(file.read_text(encoding="utf-8"))
    try:
        sys.exit(asyncio.run(run_trial(app, milliseconds(limit) / 1000, kubeconfig)))
    except ClusterError as error:
        raise click.ClickException(str(error)) from None


async def run_trial(app: Manifest, limit: float, kubeconfig: Path | None = None) -> int:
    """What the command ends with."""
    calls = ApiTransport(await load_configuration(kubeconfig), lambda _, __: None)
    namespace, name = app["metadata"]["namespace"], app["metadata"]["name"]
    path = object_path(STREAM_APP, namespace, name)
    try:
        await calls.send(ApiRequest(Verb.CREATE, "POST", collection_path(STREAM_APP, namespace), body=app))
        try:
            found = await _over(calls, path, limit)
            click.echo(status_text(found), nl=False)
            completed = _phase(found) == Phase.COMPLETED
            if not completed:
                click.echo(await _said(calls, found))
        finally:
            await calls.send(ApiRequest(Verb.DELETE, "DELETE", path, expected=(404,)))
    finally:
        await calls.close()
    return 0 if completed else 1


async def _over(calls: ApiTransport, path: str, limit: float) -> Manifest:
    """The app when it is over, or when time is; each phase that it comes to is told."""
    end, told = monotonic() + limit, ""
    while True:
        found: Manifest = (await calls.send(ApiRequest(Verb.GET, "GET", path))).body
        if _phase(found) not in ("", told):
            told = _phase(found)
            click.echo(told)
        if told in FINAL_PHASES or monotonic() > end:
            return found
        await asyncio.sleep(_LOOK_SECONDS)


async def _said(calls: ApiTransport, app: Manifest) -> str:
    """The last lines of the driver, if there is one."""
    pod = app.get("status", {}).get("driver", {}).get("pod")
    if not pod:
        return "there is no driver"
    path = f"{object_path(POD, app['metadata']['namespace'], pod)}/log"
    try:
        reply = await calls.send(
            ApiRequest(Verb.GET, "GET", path, (("tailLines", "50"),), expected=(400, 404))
        )
    except UnansweredError as error:
        return str(error)
    return str(reply.body)


def _phase(app: Manifest) -> str:
    return str(app.get("status", {}).get("phase", ""))


if __name__ == "__main__":
    main()
