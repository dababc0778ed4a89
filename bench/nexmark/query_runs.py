"""A run of a Nexmark app over the events that lie on a system, its rate, and the proof of its answer.

`STREAMAPP_BENCH_EVENTS` says how many events; `python -m bench --quick` takes fewer.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from bench.app_runs.runs import Moment, Run, run_app
from bench.nexmark.answers import Answers
from bench.nexmark.event_records import records
from bench.nexmark.events import KEYS
from bench.nexmark.nexmark_queries import FOLDER, QUERIES, NexmarkQuery
from bench.row import Row

EVENTS = int(os.environ.get("STREAMAPP_BENCH_EVENTS", "2000000"))
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
    for query in QUERIES.values():
        app = query.to_the_end()
        app["spec"]["systems"] = [{"name": "main", **system}]
        environment = {"PYTHONPATH": str(FOLDER)}
        run = run_app(yaml.safe_dump(app), data, rows=BATCH, environment=environment)
        differences = expected.differences(query, pa.chunked_array(written(query.name), pa.binary()))
        if differences:
            raise AssertionError(f"{query.name}: {differences}")
        count = sum(counts[stream] for stream in query.inputs)
        yield _row(query, run, count, differences.written)


def _row(query: NexmarkQuery, run: Run, count: int, answered: int) -> Row:
    first, last = _at(run, WARM), _at(run, LAST)
    part = count * (last.rows_in - first.rows_in) / run.rows_in
    beside = (
        f"{part / (last.at - first.at):,.0f} by the clock; "
        f"{count:,} rows, {answered:,} of the answer, all as DuckDB's"
    )
    return Row(query.name, part / (last.cpu - first.cpu), "rows/CPU s", beside=beside)


def _at(run: Run, share: float) -> Moment:
    """The end of the batch by which this share was read, with all rows until then."""
    totals = accumulate(moment.rows_in for moment in run.moments)
    return next(
        replace(moment, rows_in=total)
        for moment, total in zip(run.moments, totals, strict=True)
        if total >= share * run.rows_in
    )
