"""`python -m examples`: lists the examples, makes up their rows, runs them, and deploys them."""

import json
import sys
import time
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from examples.example_apps import example, names
from examples.example_data import BEGIN
from examples.example_deployment import deploy_example, deployable_names, undeployable_reason
from examples.example_run import run_example
from examples.trial_cluster import existing_cluster, kind_cluster

NAME = click.argument("name", type=click.Choice(names()), metavar="NAME")
SEED = click.option("--seed", default=7, show_default=True, help="Another seed gives other rows.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def examples() -> None:
    """List the examples, make up their rows, run them, and deploy them."""


@examples.command("list")
def list_examples() -> None:
    """List the examples, each with its inputs."""
    for name in names():
        click.echo(f"{name:<14} {', '.join(_inputs(name))}")


@examples.command("run")
@NAME
@click.option(
    "--rows",
    type=click.IntRange(min=100),
    default=1_000,
    show_default=True,
    help="How many: fewer than 100 would have some outputs stay empty.",
)
@SEED
def run(name: str, rows: int, seed: int) -> None:
    """Run an example on made-up rows; exits with 1 if its outputs are not the expected rows."""
    with TemporaryDirectory() as folder:
        if not run_example(example(name), Path(folder), rows, seed, click.echo):
            sys.exit(1)


@examples.command("deploy")
@NAME
@click.option("--rows", type=click.IntRange(min=100), default=1_000, show_default=True, help="How many.")
@SEED
@click.option("--cluster", default="streamapp", show_default=True, help="The kind cluster, made if need be.")
@click.option("--build", is_flag=True, help="Build the images again for a cluster that is there.")
@click.option("--context", help="A kubectl context, of a cluster that has StreamApp and the broker already.")
def deploy(name: str, rows: int, seed: int, cluster: str, build: bool, context: str | None) -> None:
    """Deploy an example to a cluster; exits with 1 if its outputs do not become the expected rows.

    Without --context it is a cluster of kind: a new one gets the images of this checkout, StreamApp by its
    chart and a Kafka broker. That needs Docker, kind, kubectl, Helm and Maven. The app stays: deploy it
    again, and it begins with other rows.
    """
    if reason := undeployable_reason(example(name)):
        raise click.BadParameter(
            f"{name} {reason}; deployable are {', '.join(deployable_names())}", param_hint="NAME"
        )
    if context is not None and build:
        raise click.UsageError("--build is for a cluster of kind's; leave --context out")
    say = click.echo
    target = existing_cluster(context, say) if context else kind_cluster(cluster, build, say)
    if not deploy_example(example(name), target, rows, seed):
        sys.exit(1)


@examples.command("rows")
@NAME
@click.argument("stream")
@click.option("--rows", type=click.IntRange(min=1), help="How many rows; 20, and with --rate without an end.")
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), help="So many a second, dated from now on."
)
@SEED
def print_rows(name: str, stream: str, rows: int | None, rate: float | None, seed: int) -> None:
    """Print rows of a stream as JSON lines, which `streamapp log write` takes."""
    inputs = _inputs(name, seed)
    if stream not in inputs:
        raise click.BadParameter(f'"{stream}" is none of {", ".join(inputs)}', param_hint="STREAM")
    events = example(name).endless(seed, BEGIN if rate is None else datetime.now(UTC))
    most = rows if rows or rate else 20
    for row in islice((row for other, row in events if other == stream), most):
        click.echo(json.dumps(row))
        if rate is not None:
            sys.stdout.flush()
            time.sleep(1 / rate)


def _inputs(name: str, seed: int = 7) -> list[str]:
    """The streams that an example's rows are for, in the order in which they come."""
    return list(dict.fromkeys(stream for stream, _ in islice(example(name).endless(seed, BEGIN), 1_000)))


if __name__ == "__main__":
    examples(prog_name="python -m examples")
