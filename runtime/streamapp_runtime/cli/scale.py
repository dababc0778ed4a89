"""`streamapp scale`: give a run another number of processors while it goes on."""

import sys
from pathlib import Path

import click

from streamapp.cli.app_sources import one_app

RETRY = 3


@click.command(short_help="Give a run another number of processors.")
@click.argument("app")
@click.argument("processors", type=click.IntRange(1, 64))
@click.option(
    "--data", type=click.Path(file_okay=False, path_type=Path), help="In place of the system's path."
)
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def scale(app: str, processors: int, data: Path | None, name: str | None) -> None:
    """Change the number of PROCESSORS of the run of APP on this machine.

    The run applies it between two batches, as soon as executors are there, and says so. It lasts as long as
    that run. An app on a cluster is scaled with `kubectl scale`.

    Exits with 3 where no run of the app is in progress.

    \b
    Example:
      streamapp scale app.yaml 4 --data ./data
    """
    from streamapp.protocol.driver_report import DriverState
    from streamapp.protocol.wanted_state import WantedState
    from streamapp_runtime.transport.file_transport import message_folder, read_report, write_wanted

    selected = one_app(app, name)
    embedded = selected.spec.home.embedded
    data_folder = data or (Path(embedded.path) if embedded else None)
    if data_folder is None:
        raise click.UsageError("name the folder of the app's stores with --data, as for the run")
    folder = message_folder(data_folder.resolve() / "state", selected.application_id)
    report = read_report(folder)
    if report is None or report.state is DriverState.ENDED:
        click.echo(f"no run of {selected.application_id} is in progress here: {folder}", err=True)
        sys.exit(RETRY)
    write_wanted(folder, WantedState(processors=processors))
    click.echo(f"{selected.application_id}: {processors} processors wanted, {len(report.binding)} now")
