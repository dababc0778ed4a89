"""`python -m tests.oracle --seconds 60 --seed 1`: random apps beside right answers, until one is wrong."""

import sys
import time
from collections.abc import Iterable

import click
import yaml

from tests.oracle.cases.case import Case, Send
from tests.oracle.cases.data_generator import random_case
from tests.oracle.command_driver import CommandDriver
from tests.oracle.kafka_cases import fits_kafka
from tests.oracle.kit_driver import run_in_kit
from tests.oracle.search import fails_alike, search, seeds_from
from tests.oracle.shrinking import shrunk
from tests.oracle.trial import try_case


@click.command()
@click.option(
    "--seconds", type=click.IntRange(1), default=60, show_default=True, help="For how long it looks."
)
@click.option("--seed", type=int, help="Where it begins; drawn and printed when left out.")
@click.option("--case", "is_case", is_flag=True, help="Try the case of the seed alone, and make it small.")
@click.option("--processes", is_flag=True, help="Run each app by `streamapp run`, and kill its processes.")
@click.option("--kafka", metavar="ADDRESS", help="The same with streams in topics of this broker.")
def main(seconds: int, seed: int | None, is_case: bool, processes: bool, kafka: str | None) -> None:
    """Try random apps, and end with 1 at the first wrong answer."""
    driver = CommandDriver(kafka) if processes or kafka else run_in_kit
    first = time.time_ns() % 1_000_000_000 if seed is None else seed
    seeds: Iterable[int] = [first] if is_case else seeds_from(first)
    if kafka:
        seeds = (seed for seed in seeds if fits_kafka(random_case(seed)))
    elif processes:
        seeds = (seed for seed in seeds if not random_case(seed).needs_kit)
    if not is_case:
        click.echo(f"seed {first}")
    report = search(seeds, seconds, driver)
    click.echo(report.line)
    for reason, count in report.reasons.most_common(10):
        click.echo(f"{count:>6}  {reason}")
    if report.wrong is not None:
        options = f" KAFKA={kafka}" if kafka else " PROCESSES=1" * processes
        click.echo(f"wrong: replay with  make oracle SEED={report.wrong} CASE=1{options}")
        case = random_case(report.wrong)
        small = shrunk(case, fails_alike(try_case(case, driver), driver))
        for line in (*described(small), *try_case(small, driver).lines):
            click.echo(line)
    sys.exit(report.wrong is not None)


def described(case: Case) -> list[str]:
    """The case as people read it."""
    text = yaml.safe_dump(dict(case.resource), sort_keys=False, default_flow_style=None, width=160)
    schemas = [f"schemas of {name}: {texts}" for name, texts in case.schemas.items()]
    lines = [text, *schemas, f"{case.partitions} partitions, {case.processors} processors"]
    for step in case.steps:
        lines.append(f"send to {step.stream}:" if isinstance(step, Send) else str(step))
        if isinstance(step, Send):
            for record in step.records:
                written = f", schema {record.version} {record.framing}" * (step.stream in case.schemas)
                lines.append(f"  {record.key!r} {record.row} at {record.timestamp}{written}")
    return lines


if __name__ == "__main__":
    main()
