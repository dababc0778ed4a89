"""A broker to try things with: `python -m tests.harness.kafka start` leaves one running, `stop` ends it."""

import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import click

from tests.harness.kafka.broker import Broker

_FOLDER = Path(tempfile.gettempdir(), "streamapp-kafka")


@click.group()
def main() -> None:
    """One broker on loopback, whose data goes when it is stopped."""


@main.command()
@click.argument("folder", type=click.Path(path_type=Path), default=_FOLDER)
def start(folder: Path) -> None:
    """Start it and print its address."""
    if folder.exists():
        raise click.ClickException(f"{folder} is there already: stop that broker first")
    broker = Broker(folder)
    broker.start()
    (folder / "pid").write_text(str(broker.pid), encoding="utf-8")
    click.echo(broker.bootstrap)
    # It outlives this process, which must not wait for it.
    os._exit(0)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path), default=_FOLDER)
def stop(folder: Path) -> None:
    """End it and remove its data."""
    process = Path("/proc", (folder / "pid").read_text(encoding="utf-8"))
    if process.exists() and str(folder) in (process / "cmdline").read_text(encoding="utf-8"):
        os.kill(int(process.name), signal.SIGTERM)
        while process.exists():
            time.sleep(0.05)
    shutil.rmtree(folder)


main()
