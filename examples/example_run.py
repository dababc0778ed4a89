"""An example run by the commands that its page names, on made-up rows, and compared with what is expected."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

from examples.example_apps import ExampleApp, app_of
from examples.example_data import Event, Row, json_row, rows_of
from examples.example_tables import clear_earlier_run, table_rows, table_system

COMMAND = Path(sys.executable).with_name("streamapp")
SHOWN = 3
"""So many rows of each output are shown."""


def run_example(example: ExampleApp, folder: Path, rows: int, seed: int, say: Callable[[str], None]) -> bool:
    """Write rows, run the apps, read the outputs, and say whether these are the expected rows."""
    for source in example.sources:
        clear_earlier_run(app_of(source))
    (folder / example.folder.name).symlink_to(example.folder)
    rounds = example.rounds(rows, seed)
    for number, events in enumerate(rounds, start=1):
        say(f"\n== round {number} of {len(rounds)}: {len(events):,} rows\n")
        _write(example, folder, events, say)
        for source in example.sources:
            _streamapp(f"run {_name(source)} --processors 1 --until-end --quiet", folder, say)
    equal = True
    for stream, expected in example.generator.expected(rounds).items():
        actual = _read(example, folder, stream, say)
        equal = say_rows(stream, actual, expected, say) and equal
    return equal


def say_rows(stream: str, actual: list[Row], expected: list[Row], say: Callable[[str], None]) -> bool:
    """Show some rows of an output, and say whether all of them are the expected ones."""
    same = in_order(actual) == in_order(expected)
    for row in actual[:SHOWN]:
        say(json.dumps(row))
    verdict = "equal to" if same else "NOT"
    say(f"{len(actual):,} rows in {stream}: {verdict} the {len(expected):,} expected")
    return same


def in_order(rows: list[Row]) -> list[str]:
    """Rows as texts in an order that no run decides."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def _write(example: ExampleApp, folder: Path, events: list[Event], say: Callable[[str], None]) -> None:
    for stream in dict.fromkeys(stream for stream, _ in events):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows_of(stream, events))
        (folder / f"{stream}.jsonl").write_text(lines, "utf-8")
        source, partitions = _name(example.reader(stream)), example.partitions[stream]
        _streamapp(f"log write {source} {stream} {stream}.jsonl --partitions {partitions}", folder, say)


def _read(example: ExampleApp, folder: Path, stream: str, say: Callable[[str], None]) -> list[Row]:
    source = example.reader(stream)
    app = app_of(source)
    if system := table_system(app, stream):
        table = app.spec.stream(stream).topic or stream
        say(f"the {system.kind} table {table}")
        with chdir(folder):  # which paths of the app are relative to
            return [json_row(row) for row in table_rows(system, table)]
    lines = _streamapp(f"log read {_name(source)} {stream}", folder, say).splitlines()
    return [json.loads(line) for line in lines]


def _name(source: Path) -> str:
    return f"{source.parent.name}/{source.name}"


def _streamapp(arguments: str, folder: Path, say: Callable[[str], None]) -> str:
    say(f"$ streamapp {arguments}")
    command = [str(COMMAND), *shlex.split(arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode:
        raise SystemExit(f"it ended with {done.returncode}: {done.stderr}")
    return done.stdout
