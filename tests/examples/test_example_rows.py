"""Each example on made-up rows, in the test kit, beside what its generator expects."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from examples.example_apps import ExampleApp, app_of, example, names
from examples.example_data import Event, Row, json_row, rows_of, time_of
from examples.example_run import in_order
from examples.example_tables import table_system
from streamapp.testing import TestApp

ROOT = Path(__file__).parents[2]
ROWS = 300


def printed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def streams_of(source: Path) -> dict[str, Any]:
    return {stream.name: stream for stream in app_of(source).spec.streams}


def send_all(events: list[Event], one: ExampleApp, apps: dict[Path, Any]) -> None:
    """What a round writes, streams of tables first: a run waits for them."""
    filling = {
        side.stream for source in apps for table in app_of(source).spec.tables for side in table.side_inputs
    }
    for stream in sorted({stream for stream, _ in events}, key=lambda stream: stream not in filling):
        source, rows = one.reader(stream), rows_of(stream, events)
        is_change = streams_of(source)[stream].format == "debezium"
        apps[source].send(stream, [json.dumps(row).encode() for row in rows] if is_change else rows)


def outputs(one: ExampleApp, rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """What the apps of an example write, each fed with what the one before it has written."""
    apps = {
        source: TestApp(
            source,
            partitions={name: n for name, n in one.partitions.items() if name in streams_of(source)},
        )
        for source in one.sources
    }
    try:
        for events in rounds:
            send_all(events, one, apps)
            for first, second in zip(one.sources, one.sources[1:], strict=False):
                for stream in streams_of(first).keys() & streams_of(second).keys():
                    apps[second].send(stream, apps[first].new_rows(stream))
        assert [app.spark_reasons for app in apps.values()] == [()] * len(apps)
        return {stream: _rows(one, apps, stream) for stream in one.generator.expected(rounds)}
    finally:
        for app in apps.values():
            app.close()


def _rows(one: ExampleApp, apps: dict[Path, Any], stream: str) -> list[Row]:
    source = one.reader(stream)
    app = apps[source]
    if table_system(app_of(source), stream) is not None:
        return [json_row(row) for row in app.sink_rows(stream)]
    if stream == app.app.spec.late_rows.stream:
        return [
            {"operator": late.operator, "time": late.time, "watermark": late.watermark, "row": late.row}
            for late in app.late()
        ]
    return [json_row(row) for row in app.rows(stream)]


def test_there_are_eleven_examples_with_data() -> None:
    assert len(names()) == 11


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", names())
def test_the_outputs_of_an_example_are_the_expected_rows(name: str, seed: int) -> None:
    one = example(name)
    rounds = one.rounds(ROWS, seed)
    expected = one.generator.expected(rounds)
    assert all(expected.values()), "some output is to have no rows at all"
    for stream, rows in outputs(one, rounds).items():
        assert in_order(rows) == in_order(expected[stream])


@pytest.mark.parametrize("name", names())
def test_rows_are_the_same_for_the_same_seed_only(name: str) -> None:
    one = example(name)
    assert one.rounds(ROWS, 1) == one.rounds(ROWS, 1)
    assert one.rounds(ROWS, 1) != one.rounds(ROWS, 2)


@pytest.mark.parametrize("name", names())
def test_the_page_of_an_example_says_how_to_run_and_test_it(name: str) -> None:
    page = (ROOT / "examples" / name / "README.md").read_text("utf-8")
    assert f"python -m examples run {name}\n" in page
    assert f"pytest examples/{name}\n" in page
    assert list((ROOT / "examples" / name).glob("test_*.py"))
    guide = (ROOT / "docs" / "guide" / "examples.md").read_text("utf-8")
    assert f"| `{name}` |" in guide


@pytest.mark.usefixtures("process")
def test_rows_are_printed_as_lines_of_json() -> None:
    lines = printed("rows", "fraud", "payments", "--rows", "5").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows_of("payments", example("fraud").rounds(5, 7)[0])


@pytest.mark.usefixtures("process")
def test_rows_at_a_rate_are_dated_from_now_on() -> None:
    now = datetime.now(UTC)
    done = printed("rows", "fraud", "payments", "--rows", "2", "--rate", "500")
    assert [time_of(json.loads(line)["ts"]) > now for line in done.stdout.splitlines()] == [True, True]


@pytest.mark.usefixtures("process")
def test_a_stream_that_an_example_does_not_read_is_refused_with_those_it_reads() -> None:
    done = printed("rows", "enrichment", "enriched")
    assert done.returncode == 2
    assert '"enriched" is none of customers, products, orders' in done.stderr


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("arguments", [("run", "fruad"), ("run", "fraud", "--rows", "5")], ids=" ".join)
def test_an_unknown_example_and_too_few_rows_are_refused(arguments: tuple[str, ...]) -> None:
    done = printed(*arguments)
    assert done.returncode == 2
    assert "Error: Invalid value for" in done.stderr


def test_with_one_hundred_rows_every_output_has_some() -> None:
    for name in names():
        one = example(name)
        assert all(one.generator.expected(one.rounds(100, 7)).values()), name
