"""Queries of the state of a loop that runs in the tests' own process."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import Any

from prometheus_client import CollectorRegistry

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.checkpoints.committed_rows import committed_rows
from streamapp_runtime.driver.reporting.metrics_server import metrics_server, serve_metrics
from streamapp_runtime.driver.state_queries.query_result import QueryResult, read_rows
from streamapp_runtime.driver.state_queries.query_routes import QueryRoutes
from streamapp_runtime.driver.state_queries.state_lookup_request import StateLookup

Rows = list[dict[str, Any]]
PATIENT_SECONDS = 120.0
"""How long a query waits here: batches of a busy machine take long."""


def asked(loop: Loop, lookup: StateLookup) -> QueryResult:
    """What is answered, while the loop goes on as a run has it."""
    with ThreadPoolExecutor(1) as threads:
        answers = threads.submit(read_rows, loop.queries, lookup)
        while not answers.done():
            loop.step()
            loop.queries.arrived.rest(0.01)
        return answers.result()


def scanned(loop: Loop, table: str, limit: int, prefix: bytes = b"") -> Rows:
    """All rows of a table, so many entries at a time."""
    rows: Rows = []
    after: bytes | None = None
    while True:
        result = asked(loop, StateLookup(table, prefix=prefix, after=after, limit=limit))
        rows += result.rows
        if result.last is None:
            return rows
        assert after is None or result.last > after
        after = result.last


def pages_of_snapshot(loop: Loop, table: str, limit: int) -> Iterator[Rows]:
    """The rows of a snapshot, a page each; the loop goes on only while a page is asked for."""
    lookup = StateLookup(table, limit=limit, snapshot=f"of {table}", begins=True)
    while True:
        result = asked(loop, lookup)
        yield list(result.rows)
        if result.last is None:
            loop.queries.end_snapshot(lookup.snapshot)
            return
        lookup = replace(lookup, after=result.last, begins=False)


def committed(loop: Loop, table: str) -> Rows:
    """The same by the changelog, as of the checkpoints."""
    known_table = loop.queries.tables[table]
    application_id = loop.launch.app.application_id
    return [
        row
        for task_rows in committed_rows(loop.launch.context.systems.home, application_id, known_table, None)
        for row in task_rows.objects()
    ]


def begun_snapshot(loop: Loop, table: str) -> tuple[Rows, Iterator[Rows], Rows]:
    """What a table holds, the pages of a snapshot of just that, and the first of them.

    A broadcast table may show its next version between the scan and the snapshot; then both are taken again.
    """
    while True:
        before = in_order(scanned(loop, table, 1_000))
        pages = pages_of_snapshot(loop, table, 2)
        rows = next(pages)
        if in_order(scanned(loop, table, 1_000)) == before:
            return before, pages, rows
        list(pages)


def in_order(rows: Rows) -> Rows:
    """Rows by key, task and what they say."""
    return sorted(rows, key=lambda row: (row["key"], row["task"], str(row["row"])))


def counts_while_at_work(loop: Loop, table: str, page: int = 0) -> tuple[list[int], list[BatchResult]]:
    """The sums of `count(*)` that scans say one after the other, and the batches up to the end meanwhile.

    With the size of a page each scan is of a snapshot that is read in pages.
    """
    over = Event()
    loop.queries.seconds = PATIENT_SECONDS

    def one_scan() -> int:
        lookup = (
            StateLookup(table, limit=page, snapshot="scanned", begins=True) if page else StateLookup(table)
        )
        count = 0
        while True:
            result = read_rows(loop.queries, lookup)
            count += sum(row["row"]["count(*)"] for row in result.rows)
            if result.last is None:
                loop.queries.end_snapshot(lookup.snapshot)
                return count
            lookup = replace(lookup, after=result.last, begins=False)

    def scan() -> list[int]:
        counts = []
        while not over.is_set():
            counts.append(one_scan())
        return counts

    with ThreadPoolExecutor(1) as threads:
        counts = threads.submit(scan)
        batches = [batch for _ in iter(lambda: loop.planner.behind, False) if (batch := loop.step())]
        over.set()
        while not counts.done():
            loop.step()
    return counts.result(), batches


@contextmanager
def state_served(loop: Loop, token: str = "") -> Iterator[tuple[str, list[Mapping[str, object]]]]:
    """The address at which a loop's state is asked, while the loop goes on, and what is noted of queries."""
    notes: list[Mapping[str, object]] = []
    over = Event()

    def go_on() -> None:
        while not over.is_set():
            loop.step()
            loop.queries.arrived.rest(0.01)

    routes = QueryRoutes(loop.queries, lambda _, facts: notes.append(facts), token)
    server = metrics_server(CollectorRegistry(), 0, routes={"/state": routes.respond})
    with ThreadPoolExecutor(1) as threads, serve_metrics(server) as url:
        running = threads.submit(go_on)
        try:
            yield url.removesuffix("/metrics"), notes
        finally:
            over.set()
            running.result()
