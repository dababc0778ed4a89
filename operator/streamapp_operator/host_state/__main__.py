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
from streamapp_operator.host_state.orphaned_folders import (
    KnownApp,
    StateFolder,
    marks_to_write,
    orphaned_folders,
    why_kept,
)
from streamapp_operator.host_state.state_folders import (
    app_folders,
    prepare_root,
    remove_folder,
    remove_stray_marks,
    write_mark,
)
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
@click.option("--clean-after", callback=_seconds, help="How long the state of deleted apps is kept, as 7d.")
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
    reported: set[str] = set()
    while not stop_requested.is_set():
        for root in roots:
            prepare_root(root)
        _look_after(roots, namespaces, clean_after, reported)
        if once:
            return
        stop_requested.wait(every)


def _look_after(
    roots: tuple[Path, ...], namespaces: tuple[str, ...], clean_after: float | None, reported: set[str]
) -> None:
    """One round of marking and clearing; nothing is done while the API server cannot list the apps.

    A folder that is left alone is named once, in `reported`.
    """
    folders = [folder for root in roots for folder in app_folders(root)]
    try:
        apps = asyncio.run(known_apps(namespaces))
    except (ClusterError, ClientConfigurationError) as error:
        _log.warning("nothing is marked or cleared: %s", error)
        return
    for root in roots:
        remove_stray_marks(root, folders)
    for folder, mark in marks_to_write(folders, apps):
        write_mark(folder, mark)
    if clean_after is None:
        return
    for folder in orphaned_folders(folders, apps, namespaces, time(), clean_after):
        _clear(folder, apps, reported)


def _clear(folder: StateFolder, apps: list[KnownApp], reported: set[str]) -> None:
    if reason := why_kept(folder, apps):
        if folder.path not in reported:
            _log.warning("left alone: %s", reason, extra={"folder": folder.path})
            reported.add(folder.path)
        return
    try:
        remove_folder(folder)
    except (OSError, RecursionError) as error:
        _log.warning("not cleared: %s", error, extra={"folder": folder.path})
        return
    _log.info("cleared", extra={"folder": folder.path})


if __name__ == "__main__":
    main()
