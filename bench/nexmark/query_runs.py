"""A run of a Nexmark app over the events that lie on a system, its rate, and the proof of its answer.

`STREAMAPP_BENCH_EVENTS` says how many events, and `STREAMAPP_BENCH_QUERIES` which queries, comma between
them; `python -m bench --quick` takes fewer.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from bench.app_runs.runs import Run, run_app
from bench.kafka.others import Progress, within
from bench.nexmark.answers import Answers
from bench.nexmark.event_records import records
from bench.nexmark.events import KEYS
from bench.nexmark.nexmark_queries import FOLDER, QUERIES
from bench.row import Row

EVENTS = int(os.environ.get("STREAMAPP_BENCH_EVENTS", "2000000"))
MEASURED = tuple(
    QUERIES[name] for name in os.environ.get("STREAMAPP_BENCH_QUERIES", ",".join(QUERIES)).split(",")
)
BATCH = max(EVENTS // 20, 10_000)
WARM, LAST = 0.1, 0.9
"""Rates are of the part between; all that is read counts, also what the app has written for itself."""


def inputs() -> dict[str, Iterator[pa.RecordBatch]]:
    """The records of each stream that queries read."""
    return {stream: records(stream, 0, EVENTS) for stream in KEYS}


def query_rows(
    data: Path,
    system: Mapping[str, Any],
    counts: Mapping[str, int],
    expected: Answers,
    written: Callable[[str], Sequence[pa.Array]],
) -> Iterator[Row]:
    """Each app on a system on which its inputs lie: how many rows it reads for each CPU second."""
    for query in MEASURED:
        app = query.to_the_end()
        app["spec"]["systems"] = [{"name": "main", **system}]
        environment = {"PYTHONPATH": str(FOLDER)}
        run = run_app(yaml.safe_dump(app), data, rows=BATCH, environment=environment)
        differences = expected.differences(query, pa.chunked_array(written(query.name), pa.binary()))
        if differences:
            raise AssertionError(f"{query.name}: {differences}")
        count = sum(counts[stream] for stream in query.inputs)
        yield rate_row(query.name, _told(run), count, differences.written)


def rate_row(name: str, told: Sequence[Progress], count: int, answered: int) -> Row:
    """The rows of the inputs for each CPU second, and by the clock."""
    first, last = within(told, WARM, LAST)
    part = count * (last.rows - first.rows) / told[-1].rows
    beside = (
        f"{part / (last.at - first.at):,.0f} by the clock; "
        f"{count:,} rows, {answered:,} of the answer, all as DuckDB's"
    )
    return Row(name, part / (last.cpu - first.cpu), "rows/CPU s", beside=beside)


def _told(run: Run) -> list[Progress]:
    """What was read until the end of each batch."""
    totals = accumulate(moment.rows_in for moment in run.moments)
    return [Progress(total, moment.cpu, moment.at) for moment, total in zip(run.moments, totals, strict=True)]
