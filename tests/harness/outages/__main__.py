"""`python -m tests.harness.outages`: each of three brokers frozen, killed and cut off under an app's load."""

import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import click

from tests.harness.machine.network_namespaces import NamespaceNetwork
from tests.harness.outages.broker_cluster import SIZE, BrokerCluster, BrokerFault
from tests.harness.outages.broker_trial import BrokerTrial, every_fault

_FAULTS = (BrokerFault.FROZEN, BrokerFault.KILLED, BrokerFault.CUT_OFF)


@click.command()
@click.option("--fault", "faults", multiple=True, type=click.Choice([each.value for each in _FAULTS]))
@click.option("--seconds", type=float, default=10.0, show_default=True, help="How long each trouble lasts.")
@click.option("--settle", type=float, default=12.0, show_default=True, help="How much passes after each.")
@click.option("--rounds", type=click.IntRange(1), default=1, show_default=True)
@click.option("--folder", type=click.Path(path_type=Path), help="Kept afterwards; a temporary one otherwise.")
def main(faults: tuple[str, ...], seconds: float, settle: float, rounds: int, folder: Path | None) -> None:
    """Print how long a witness and the app had no committed rows, then compare rows with a model."""
    for number in (signal.SIGINT, signal.SIGTERM):  # brokers and app end with it
        signal.signal(number, _end)
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        home = folder or Path(temporary)
        network = NamespaceNetwork(SIZE)
        stack.callback(network.close)
        cluster = BrokerCluster(home, network)
        stack.callback(cluster.close)
        cluster.start()
        trial = BrokerTrial(cluster, home / "app")
        with trial.running():
            for _ in range(rounds):
                for figures in every_fault(
                    trial, tuple(map(BrokerFault, faults or _FAULTS)), seconds, settle, click.echo
                ):
                    for line in figures.lines:
                        click.echo(f"  {figures.fault} {figures.broker + 1}: {line[:400]}")
        click.echo("every row exactly once")


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


main()
