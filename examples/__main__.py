"""`python -m examples`: lists the examples, makes up their rows, and runs them."""

import json
import sys
import time
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from examples.example_apps import app_of, example, names
from examples.example_data import BEGIN
from examples.example_run import run_example

NAME = click.argument("name", type=click.Choice(names()), metavar="NAME")
SEED = click.option("--seed", default=7, show_default=True, help="Another seed gives other rows.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def examples() -> None:
    """List the examples, make up their rows, and run them."""


@examples.command("list")
def list_examples() -> None:
    """List the examples, each with its inputs."""
    for name in names():
        one = example(name)
        inputs = dict.fromkeys(stream for stream, _ in islice(one.endless(7, BEGIN), 1_000))
        click.echo(f"{name:<14} {', '.join(inputs)}")


@examples.command("run")
@NAME
@click.option(
    "--rows", type=click.IntRange(min=1), default=1_000, show_default=True, help="How many it reads."
)
@SEED
def run(name: str, rows: int, seed: int) -> None:
    """Run an example on made-up rows; exits with 1 if its outputs are not the expected rows."""
    with TemporaryDirectory() as folder:
        if not run_example(example(name), Path(folder), rows, seed, click.echo):
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
    streams = {one.name for source in example(name).sources for one in app_of(source).spec.streams}
    written = {name for name, _ in islice(example(name).endless(seed, BEGIN), 1_000)}
    if stream not in streams & written:
        raise click.BadParameter(f'"{stream}" is none of {", ".join(sorted(written))}', param_hint="STREAM")
    events = example(name).endless(seed, BEGIN if rate is None else datetime.now(UTC))
    most = rows if rows or rate else 20
    for row in islice((row for other, row in events if other == stream), most):
        click.echo(json.dumps(row))
        if rate is not None:
            sys.stdout.flush()
            time.sleep(1 / rate)


if __name__ == "__main__":
    examples(prog_name="python -m examples")
