"""`python -m streamapp_operator.smoke_test FILE`: applies an app, awaits its end and deletes it.

`helm test` runs this module to check from a user's point of view that an installation can run an app.
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
from streamapp_operator.controller.client.manifest import Manifest, collection_path, object_path
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
        sys.exit(asyncio.run(run_smoke_test(app, milliseconds(limit) / 1000, kubeconfig)))
    except ClusterError as error:
        raise click.ClickException(str(error)) from None


async def run_smoke_test(app: Manifest, limit: float, kubeconfig: Path | None = None) -> int:
    """Create the app, await its end and delete it; the exit code."""
    transport = ApiTransport(await load_configuration(kubeconfig), lambda _, __: None)
    namespace, name = app["metadata"]["namespace"], app["metadata"]["name"]
    path = object_path(STREAM_APP, namespace, name)
    try:
        await transport.send(
            ApiRequest(Verb.CREATE, "POST", collection_path(STREAM_APP, namespace), body=app)
        )
        try:
            manifest = await _await_end(transport, path, limit)
            click.echo(status_text(manifest), nl=False)
            completed = _phase(manifest) == Phase.COMPLETED
            if not completed:
                click.echo(await _driver_log(transport, manifest))
        finally:
            await transport.send(ApiRequest(Verb.DELETE, "DELETE", path, expected=(404,)))
    finally:
        await transport.close()
    return 0 if completed else 1


async def _await_end(transport: ApiTransport, path: str, limit: float) -> Manifest:
    """The app when it reached a final phase or the limit passed; prints each new phase."""
    deadline, printed_phase = monotonic() + limit, ""
    while True:
        manifest: Manifest = (await transport.send(ApiRequest(Verb.GET, "GET", path))).body
        if _phase(manifest) not in ("", printed_phase):
            printed_phase = _phase(manifest)
            click.echo(printed_phase)
        if printed_phase in FINAL_PHASES or monotonic() > deadline:
            return manifest
        await asyncio.sleep(_LOOK_SECONDS)


async def _driver_log(transport: ApiTransport, app: Manifest) -> str:
    """The last lines of the driver's log, if there is a driver."""
    pod = app.get("status", {}).get("driver", {}).get("pod")
    if not pod:
        return "there is no driver"
    path = f"{object_path(POD, app['metadata']['namespace'], pod)}/log"
    try:
        reply = await transport.send(
            ApiRequest(Verb.GET, "GET", path, (("tailLines", "50"),), expected=(400, 404))
        )
    except UnansweredError as error:
        return str(error)
    return str(reply.body)


def _phase(app: Manifest) -> str:
    return str(app.get("status", {}).get("phase", ""))


if __name__ == "__main__":
    main()
