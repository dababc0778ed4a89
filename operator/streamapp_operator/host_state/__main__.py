"""`python -m streamapp_operator.host_state`: what a pod on each node does for state that is kept there."""

import asyncio
import logging
import signal
import threading
from pathlib import Path
from time import time

import click

from streamapp.spec.durations import milliseconds
from streamapp_operator.cluster.access import NoAccessError
from streamapp_operator.cluster.answers import ClusterError
from streamapp_operator.host_state.folders import found, prepare, remove
from streamapp_operator.host_state.given_up import given_up
from streamapp_operator.host_state.owners import owners
from streamapp_operator.telemetry.logs import log_to

_log = logging.getLogger("streamapp_operator.host_state")


def _seconds(_: click.Context, __: click.Parameter, said: str | None) -> float | None:
    try:
        return None if said is None else milliseconds(said) / 1000
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
    log_to(level=logging.INFO)
    told = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: told.set())
    while not told.is_set():
        for root in roots:
            prepare(root)
        if clean_after is not None:
            _clean(roots, namespaces, clean_after)
        if once:
            return
        told.wait(every)


def _clean(roots: tuple[Path, ...], namespaces: tuple[str, ...], after: float) -> None:
    """One round. Without a word from the API server about apps nothing is taken away."""
    folders = [folder for root in roots for folder in found(root)]
    try:
        apps = asyncio.run(owners(namespaces))
    except (ClusterError, NoAccessError) as error:
        _log.warning("nothing is cleared: %s", error)
        return
    for folder in given_up(folders, apps, namespaces, time(), after):
        remove(folder)
        _log.info("cleared", extra={"folder": folder.path})


if __name__ == "__main__":
    main()
