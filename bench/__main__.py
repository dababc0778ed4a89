"""Measures and prints a table per module; ends with 1 when an aim is missed.

`python -m bench planning` runs that module alone. A module named in MEASURED has a function `rows()` that
yields a `bench.row.Row` as soon as it is measured, and a docstring whose first line says what is measured.
"""

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

from bench.row import Row

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


def main(chosen: Sequence[str]) -> int:
    """Run the chosen modules, or all."""
    missed = 0
    for name in chosen or MEASURED:
        module = import_module(f"bench.{name}")
        print(f"\n{(module.__doc__ or '').splitlines()[0]}\n")
        missed += show(module.rows())
    if missed:
        print(f"\n{missed} missed their aim")
    return 1 if missed else 0


def show(rows: Iterable[Row]) -> int:
    """Print each row as soon as it is measured; how many missed their aim."""
    missed = 0
    for row in rows:
        aim = f"aim {row.aim}" if row.aim else ""
        mark = "  MISSED" if row.missed else ""
        print(
            f"  {row.name:<58} {row.figure:>10,.4g} {row.unit:<12} {aim:<14} {row.beside}{mark}", flush=True
        )
        missed += row.missed
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
