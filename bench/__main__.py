"""Measures and prints a table per module; ends with 1 when an aim is missed.

`python -m bench planning` runs that module alone. A module named in MEASURED has a function `rows()` that
yields a `bench.row.Row` as soon as it is measured, and a docstring whose first line says what is measured.
"""

import ast
import json
import os
import signal
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from bench.row import Row
from streamapp.spec.problem import nearest

MEASURED = (
    "command",
    "kit",
    "start",
    "planning",
    "expansion",
    "placement",
    "log",
    "stores",
    "formats",
    "operations",
    "control_plane.launches",
    "wire",
    "control",
    "engine.local_store",
    "engine.remote_join",
    "engine.adjunct_tables",
    "engine.expressions",
    "engine.overhead",
    "engine.lanes",
    "engine.slow_lane",
    "engine.even_lanes",
    "engine.viewers",
    "engine.lost_lane",
    "engine.changelog",
    "engine.restart",
    "engine.join",
    "engine.registry_join",
    "engine.table_sinks",
    "nexmark.generation",
    "nexmark.embedded_queries",
    "nexmark.kafka_queries",
    "kafka.join",
    "kafka.registry_join",
    "kafka.windows",
    "kafka.overhead",
    "kafka.delivery",
    "kafka.second_cluster",
    "kafka.latency",
    "kafka.outages",
)
QUICK = {
    "STREAMAPP_BENCH_VIEWS": "400000",
    "STREAMAPP_BENCH_STOCK_BATCH": "50000",
    "STREAMAPP_BENCH_EVENTS": "300000",
    "STREAMAPP_BENCH_QUERIES": "q0,q2,q11,q14,q17,q20",
}
"""What a quick run takes, by the variables that say it."""


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick", is_flag=True, help="Less data in benches of long runs.")
@click.option("--list", "listed", is_flag=True, help="Print the names and what each measures, and end.")
@click.option(
    "--json",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write to FILE.",
)
def main(names: Sequence[str], quick: bool, listed: bool, file: Path | None) -> None:
    """Measure what is named, or everything, each figure beside what it is compared with.

    A name may be that of a group, such as engine, or a pattern, such as '*join'. Ends with 1 when an aim is
    missed.

    FILE gets a list of objects: bench, name, value, unit, aim (least, most), missed, comparedWith (name,
    value), ratio of the two values, remark. What was left out has null as its value. FILE is written after
    each figure, so that a run that is interrupted leaves what it has measured.

    \b
    Examples:
      python -m bench --list
      python -m bench command 'kafka.*' --json figures.json
    """
    chosen = _chosen(names)
    if listed:
        for name in chosen:
            click.echo(f"{name:<24} {_title(name)}")
        return
    if quick:
        for variable, size in QUICK.items():
            os.environ.setdefault(variable, size)
    measured: list[tuple[str, Row]] = []
    if file is not None:
        _write(file, measured)  # an hour of measuring should not end in a folder that is not there
    for name in chosen:
        click.echo(f"\n{_title(name)}\n")
        for row in import_module(f"bench.{name}").rows():
            click.echo(_line(row))
            measured.append((name, row))
            if file is not None:
                _write(file, measured)
    if missed := sum(row.missed for _, row in measured):
        click.echo(f"\n{missed} missed their aim")
        sys.exit(1)


def _chosen(names: Sequence[str]) -> list[str]:
    """The benches of these names and groups, in their order; all where none is named."""
    for name in names:
        if not _matching(name):
            groups = sorted({bench.partition(".")[0] for bench in MEASURED if "." in bench})
            raise click.BadParameter(f'no bench "{name}"{nearest(name, [*MEASURED, *groups])}')
    matching = {bench for name in names for bench in _matching(name)}
    return [bench for bench in MEASURED if bench in matching or not names]


def _matching(name: str) -> list[str]:
    return [
        bench
        for bench in MEASURED
        if bench == name or bench.startswith(f"{name}.") or fnmatchcase(bench, name)
    ]


def _title(name: str) -> str:
    """What a bench measures: the first line of its docstring, read without importing what it measures."""
    spec = find_spec(f"bench.{name}")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    return (ast.get_docstring(ast.parse(Path(spec.origin).read_bytes())) or "").splitlines()[0]


def _line(row: Row) -> str:
    aim = f"aim {row.aim}" if row.aim else ""
    mark = "  MISSED" if row.missed else ""
    return f"  {row.name:<58} {row.figure:>10,.4g} {row.unit:<12} {aim:<14} {row.remark}{mark}"


def _write(file: Path, measured: Sequence[tuple[str, Row]]) -> None:
    try:
        file.write_text(json.dumps([_fields(*entry) for entry in measured], indent=2) + "\n", "utf-8")
    except OSError as error:
        raise click.BadParameter(f"cannot write {file}: {error.strerror}", param_hint="--json") from None


def _fields(bench: str, row: Row) -> dict[str, object]:
    aim = {"least": row.aim.least, "most": row.aim.most} if row.aim else None
    compared = {"name": row.compared.name, "value": row.compared.figure} if row.compared else None
    return {
        "bench": bench,
        "name": row.name.strip(),
        "value": None if isnan(row.figure) else row.figure,
        "unit": row.unit,
        "aim": aim,
        "missed": row.missed,
        "comparedWith": compared,
        "ratio": row.ratio,
        "remark": row.beside,
    }


def _end(number: int, _: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)  # brokers, Spark and others that a bench has started end with it
    main()
