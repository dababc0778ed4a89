"""Measures and prints a table per module; ends with 1 when an aim is missed.

`python -m bench planning` runs that module alone. A module named in MEASURED has a function `rows()` that
yields a `bench.row.Row` as soon as it is measured, and a docstring whose first line says what is measured.
"""

import ast
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click

from bench.row import Row
from streamapp.spec.problem import nearest

MEASURED = (
    "command",
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
    "engine.overhead",
    "engine.lanes",
    "engine.changelog",
    "engine.restart",
    "engine.join",
    "kafka.join",
    "kafka.windows",
    "kafka.overhead",
    "kafka.delivery",
    "kafka.latency",
)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--list", "listed", is_flag=True, help="Print the names and what each measures, and end.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Also write to FILE.")
def main(names: Sequence[str], listed: bool, file: Path | None) -> None:
    """Measure what is named, or everything, each figure beside what it is compared with.

    A name may be that of a group, such as engine. Ends with 1 when an aim is missed.

    FILE gets a list of objects: bench, name, value, unit, aim (least, most), missed, comparedWith. It is
    written after each figure, so that a run that is interrupted leaves what it has measured.
    """
    chosen = _chosen(names)
    if listed:
        for name in chosen:
            click.echo(f"{name:<24} {_title(name)}")
        return
    measured: list[tuple[str, Row]] = []
    for name in chosen:
        click.echo(f"\n{_title(name)}\n")
        for row in import_module(f"bench.{name}").rows():
            click.echo(_line(row))
            measured.append((name, row))
            if file is not None:
                file.write_text(json.dumps([_fields(*entry) for entry in measured], indent=2) + "\n")
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
    return [bench for bench in MEASURED if bench == name or bench.startswith(f"{name}.")]


def _title(name: str) -> str:
    """What a bench measures: the first line of its docstring, read without importing what it measures."""
    spec = find_spec(f"bench.{name}")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    return (ast.get_docstring(ast.parse(Path(spec.origin).read_bytes())) or "").splitlines()[0]


def _line(row: Row) -> str:
    aim = f"aim {row.aim}" if row.aim else ""
    mark = "  MISSED" if row.missed else ""
    return f"  {row.name:<58} {row.figure:>10,.4g} {row.unit:<12} {aim:<14} {row.beside}{mark}"


def _fields(bench: str, row: Row) -> dict[str, object]:
    aim = {"least": row.aim.least, "most": row.aim.most} if row.aim else None
    return {
        "bench": bench,
        "name": row.name,
        "value": row.figure,
        "unit": row.unit,
        "aim": aim,
        "missed": row.missed,
        "comparedWith": row.beside,
    }


if __name__ == "__main__":
    main()
