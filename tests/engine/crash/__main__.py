"""`python -m tests.engine.crash --kills 50 --seed 1`: besiege the app; are its outputs exact?"""

import sys
import tempfile
import time
from pathlib import Path

import click

from tests.engine.crash.attack import attacks
from tests.engine.crash.siege import Siege


@click.command()
@click.option("--kills", type=click.IntRange(1), default=50, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--spare-driver", is_flag=True, help="Kill only what a driver replaces.")
@click.option("--folder", type=click.Path(path_type=Path), help="Kept afterwards; a temporary one otherwise.")
def main(kills: int, seed: int, spare_driver: bool, folder: Path | None) -> None:
    """Kill processes of a running app, and compare its outputs with a model."""
    with tempfile.TemporaryDirectory() as temporary:
        begun = time.monotonic()
        siege = Siege(folder or Path(temporary), click.echo)
        wrong = siege.run(attacks(seed, spare_driver=spare_driver), seed, kills)
        told = ", ".join(f"{number} x {what}" for what, number in sorted(siege.killed.items()))
        click.echo(
            f"seed {seed}: {siege.killed.total()} killed ({told}), {siege.stops} times asked to stop, "
            f"{siege.starts} starts, {time.monotonic() - begun:.0f} s"
        )
        for line in wrong[:20]:
            click.echo(line)
        click.echo(f"{len(wrong)} differences" if wrong else "every output exactly once")
        sys.exit(bool(wrong))


main()
