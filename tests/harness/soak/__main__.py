"""`python -m tests.harness.soak --seconds 3600`: an app under load; does it grow, and are rows exact?"""

import json
import signal
import sys
import tempfile
from pathlib import Path

import click

from tests.harness.soak.app_soak import HEADING, AppSoak
from tests.harness.soak.soak_rows import MOST_RATE


@click.command()
@click.option("--seconds", type=click.IntRange(30), default=3_600, show_default=True)
@click.option(
    "--rate", type=click.IntRange(1, MOST_RATE), default=1_500, show_default=True, help="Views a second."
)
@click.option("--losses", type=click.IntRange(0), default=0, show_default=True, help="Executors to kill.")
@click.option("--json", "as_json", type=click.Path(path_type=Path), help="A file for the figures.")
@click.option("--folder", type=click.Path(path_type=Path), help="Kept afterwards; a temporary one otherwise.")
def main(seconds: int, rate: int, losses: int, as_json: Path | None, folder: Path | None) -> None:
    """Run an app with joins, windows and tables over Kafka, and print how much each figure grows an hour.

    Exits with 1 where a figure grows by more than its bound, beyond two standard errors, or where outputs
    are not what a model says.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # broker, app and feeder end with it
        signal.signal(number, _end)
    with tempfile.TemporaryDirectory() as temporary:
        home = folder or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        result = AppSoak(home, click.echo, rate, losses).run(seconds)
    if as_json is not None:
        as_json.write_text(json.dumps(result.facts(), indent=2) + "\n", encoding="utf-8")
    click.echo(HEADING)
    for figure in result.figures:
        click.echo(str(figure))
    for difference in result.differences[:20]:
        click.echo(difference)
    exact = f"{len(result.differences)} differences" if result.differences else "every row exactly once"
    click.echo(f"{result.rows:,} views in {result.seconds:.0f} s, {result.losses} executors lost: {exact}")
    sys.exit(not result.passed)


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


main()
