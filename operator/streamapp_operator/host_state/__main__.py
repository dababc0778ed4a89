"""`python -m streamapp_operator.host_state`: prepares and cleans the state folders of one node."""

import asyncio
import logging
import signal
import threading
from pathlib import Path
from time import time

import click

from streamapp.spec.value_types.durations import milliseconds
from streamapp_operator.controller.client.api_errors import ClusterError
from streamapp_operator.controller.client.client_configuration import ClientConfigurationError
from streamapp_operator.controller.telemetry.json_logs import configure_logging
from streamapp_operator.host_state.known_apps import known_apps
from streamapp_operator.host_state.orphaned_folders import orphaned_folders
from streamapp_operator.host_state.state_folders import app_folders, prepare_root, remove_folder
from streamapp_operator.reconciler.installation import nested_roots

_log = logging.getLogger("streamapp_operator.host_state")


def _seconds(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    try:
        return None if text is None else milliseconds(text) / 1000
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.option(
    "--root", "roots", multiple=True, required=True, type=click.Path(file_okay=False, path_type=Path)
)
@click.option("-n", "--namespace", "namespaces", multiple=True, help="Clean for apps of these only.")
@click.option(
    "--clean-after", callback=_seconds, help="How long what is no app's is kept, as 7d; left out: for ever."
)
@click.option("--every", callback=_seconds, default="10m", show_default=True)
@click.option("--once", is_flag=True, help="End after the first round.")
def main(
    roots: tuple[Path, ...], namespaces: tuple[str, ...], clean_after: float | None, every: float, once: bool
) -> None:
    """Prepare the roots of this node, and clear them of what no app has any more."""
    if nested := nested_roots([str(root) for root in roots]):
        raise click.BadParameter(nested, param_hint="--root")
    configure_logging(level=logging.INFO)
    stop_requested = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop_requested.set())
    while not stop_requested.is_set():
        for root in roots:
            prepare_root(root)
        if clean_after is not None:
            _clean(roots, namespaces, clean_after)
        if once:
            return
        stop_requested.wait(every)


def _clean(roots: tuple[Path, ...], namespaces: tuple[str, ...], after: float) -> None:
    """One round of cleaning. Nothing is removed while the API server cannot list the apps."""
    folders = [folder for root in roots for folder in app_folders(root)]
    try:
        apps = asyncio.run(known_apps(namespaces))
    except (ClusterError, ClientConfigurationError) as error:
        _log.warning("nothing is cleared: %s", error)
        return
    for folder in orphaned_folders(folders, apps, namespaces, time(), after):
        remove_folder(folder)
        _log.info("cleared", extra={"folder": folder.path})


if __name__ == "__main__":
    main()
