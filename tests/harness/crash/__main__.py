"""`python -m tests.harness.crash --kills 50 --seed 1`: besiege the app; are its outputs exact?"""

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import click

from tests.harness.crash.attacks import attacks
from tests.harness.crash.siege import LaneWay, Siege
from tests.harness.kafka.jars import TO_BE_KILLED
from tests.harness.kafka.late_proxy import broker_behind_a_schedule


@click.command()
@click.option("--kills", type=click.IntRange(1), default=50, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--spare-driver", is_flag=True, help="Kill only what a driver replaces.")
@click.option("--system", type=click.Choice(["embedded", "kafka"]), default="embedded", show_default=True)
@click.option(
    "--lanes", type=click.Choice([way.value for way in LaneWay]), default="evaluated", help="Their way."
)
@click.option(
    "--transaction-version", type=click.IntRange(1, 2), default=2, show_default=True, help="The broker's."
)
@click.option("--folder", type=click.Path(path_type=Path), help="Kept afterwards; a temporary one otherwise.")
def main(
    kills: int,
    seed: int,
    spare_driver: bool,
    system: str,
    lanes: str,
    transaction_version: int,
    folder: Path | None,
) -> None:
    """Kill processes of a running app, and the broker if it has one, and compare its outputs with a model.

    The app reaches the broker by a way on which requests of transactions come late and twice.
    """
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        begun, home = time.monotonic(), folder or Path(temporary)
        broker, way = (
            stack.enter_context(
                broker_behind_a_schedule(home / "broker", transaction_version, seed, TO_BE_KILLED)
            )
            if system == "kafka"
            else (None, None)
        )
        siege = Siege(home, click.echo, broker, lanes=LaneWay(lanes), address=way.address if way else "")
        plan = attacks(seed, spare_driver=spare_driver, broker=broker is not None)
        wrong = siege.run(plan, seed, kills)
        told = ", ".join(f"{number} x {what}" for what, number in sorted(siege.killed.items()))
        click.echo(
            f"seed {seed}: {siege.killed.total()} killed ({told}), {siege.stops} times asked to stop, "
            f"{siege.starts} starts, {siege.set_aside} set aside, {time.monotonic() - begun:.0f} s"
        )
        for line in wrong[:20]:
            click.echo(line)
        click.echo(f"{len(wrong)} differences" if wrong else "every output exactly once")
        sys.exit(bool(wrong))


main()
