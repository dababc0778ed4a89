"""Operations on whole batches: million rows per CPU second, beside one row at a time in plain Python."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pyarrow as pa

from bench.row import Aim, Compared, Row
from streamapp_runtime.operators.aggregate.totals_operation import PartialTotal, Span, Totals
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.operation import Operation
from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.tables.table_operations import LookUp, WriteTable
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreMark
from streamapp_runtime.stores.store_opening import open_store

ROWS = 1_000_000
CALL = 65_536  # rows that Spark hands over at once
BATCH = 4  # calls between two commits
KEYS = 100_000
VIEWS = pa.schema([("user", pa.string()), ("page", pa.string()), ("n", pa.int64())])
USERS = pa.schema([("country", pa.string()), ("tier", pa.int32())])
SENT = pa.schema([("page", pa.string()), ("n", pa.int64())])
NOTHING = pa.schema([])
SUMS = (
    PartialTotal("count", None, "BIGINT"),
    PartialTotal("sum", 2, "BIGINT"),
    PartialTotal("max", 2, "BIGINT"),
)


def rows() -> Iterator[Row]:
    """Lookups and totals over each store, then what else keeps state, over LMDB."""
    views = _views(KEYS)
    for kind in StoreKind:
        look_up = LookUp("users", False, None, (0, 1, 3, 4))
        aim = Aim(least=3.0) if kind is StoreKind.LMDB else None
        yield _row(f"look up {KEYS:,} keys in {kind}", _measured(kind, look_up, [(v,) for v in views]), aim)
    for kind in StoreKind:
        figure = _measured(kind, _totals(None), [(v,) for v in views])
        yield _row(f"count, sum and max of {KEYS:,} keys in {kind}", figure)
    figure = _measured(StoreKind.LMDB, _totals(None), [(v,) for v in _views(KEYS, 4 * CALL)])
    yield _row(f"the same in lmdb, {4 * CALL:,} rows in a call", figure)
    few = _views(1_000)
    plain = Compared("plain Python", _plain_totals(few))
    figure = _measured(StoreKind.LMDB, _totals(None), [(v,) for v in few])
    yield _row("count, sum and max of 1,000 keys in lmdb", figure, Aim(least=2.0), plain)
    for name, span in (
        ("tumbling windows", Span("tumbling", 10_000, 10_000)),
        ("windows hopping four times", Span("hopping", 10_000, 2_500)),
        ("sessions", Span("session", 1_000, 0)),
    ):
        figure = _measured(StoreKind.LMDB, _totals(span), [(v,) for v in few])
        yield _row(f"the same in {name}", figure)
    figure = _measured(StoreKind.LMDB, WriteTable("users", (1, 2)), [(v,) for v in views])
    yield _row(f"send to a table of {KEYS:,} keys in lmdb", figure)
    join = JoinStreams("joined", "inner", 100, "event", (0, 1, 2, 4))
    halves = [(view, _shifted(view)) for view in views]
    yield _row(f"join two streams of {KEYS:,} keys", 2 * _measured(StoreKind.LMDB, join, halves))


def _row(name: str, figure: float, aim: Aim | None = None, compared: Compared | None = None) -> Row:
    return Row(name, figure, "M rows/CPU s", aim, compared=compared)


def _totals(span: Span | None) -> Totals:
    return Totals("sums", (), False, SUMS, span, "onUpdate", 0, (0, 3, 4, 5))


def _measured(kind: StoreKind, operation: Operation, calls: Sequence[tuple[Slice, ...]]) -> float:
    """All calls, in batches that are settled, handed on and applied; the table is filled before."""
    stores: dict[tuple[int, str], Store] = {}
    with TemporaryDirectory() as folder:

        def opened(task: int, name: str) -> Store:
            if (task, name) not in stores:
                place = Path(folder, name)
                stores[task, name] = open_store(
                    kind, place, StoreIdentity("bench", "0", name, ""), owner="bench"
                )
            return stores[task, name]

        _run(WriteTable("users", (0, 1)), [(_users(),)], opened, stores)
        seconds = _run(operation, calls, opened, stores)
        for store in stores.values():
            store.close()
    return sum(len(call[0]) for call in calls) / seconds / 1e6


def _run(
    operation: Operation,
    calls: Sequence[tuple[Slice, ...]],
    opened: Callable[[int, str], Store],
    stores: dict[tuple[int, str], Store],
) -> float:
    given = [VIEWS] * len(calls[0]) if len(calls[0][0].columns) == len(VIEWS) else [USERS]
    executor = make_executor(operation, given, NOTHING)
    schemas = {"users": USERS if given == [USERS] or isinstance(operation, LookUp) else SENT}
    started = process_time()
    for first in range(0, len(calls), BATCH):
        state = LaneState(opened, schemas, tasks=1, time_ms=0)
        for slices in calls[first : first + BATCH]:
            executor.execute(slices, state)
        executor.finish_batch(state)
        for _ in state.changes.drain():
            pass
        for (task, name), store in stores.items():
            store.apply(StoreMark("bench", str(task), name, "", str(first), 0))
    return process_time() - started


def _views(keys: int, call: int = CALL) -> list[Slice]:
    """Views by random users, one a millisecond."""
    random = np.random.default_rng(7)
    names = pa.array([f"user-{n:06d}" for n in range(keys)])
    pages = pa.array([f"/page/{n}" for n in range(1_000)])
    chosen = random.integers(0, keys, ROWS)
    users = names.take(pa.array(chosen))
    page = pages.take(pa.array(random.integers(0, 1_000, ROWS)))
    number = pa.array(random.integers(0, 1_000, ROWS))
    whole = _slice(users.cast(pa.binary()), np.arange(ROWS), (users, page, number))
    return [whole.take(pa.array(np.arange(at, min(at + call, ROWS)))) for at in range(0, ROWS, call)]


def _users() -> Slice:
    keys = pa.array([f"user-{n:06d}".encode() for n in range(KEYS)])
    tiers = pa.array(np.arange(KEYS) % 5).cast(pa.int32())
    return _slice(keys, np.arange(KEYS), (pa.array(["at"] * KEYS), tiers))


def _shifted(views: Slice) -> Slice:
    """The same rows fifty milliseconds later."""
    times = views.time.to_numpy() + 50
    return _slice(views.key, times, views.columns)


def _slice(keys: pa.Array, times: np.ndarray, columns: tuple[pa.Array, ...]) -> Slice:
    count = len(keys)
    return Slice(
        task=pa.array(np.zeros(count, np.int32)),
        key=keys,
        time=pa.array(times),
        tombstone=pa.array(np.zeros(count, bool)),
        source=pa.array(np.zeros(count, np.int32)),
        offset=pa.array(np.arange(count)),
        columns=columns,
    )


def _plain_totals(calls: Sequence[Slice]) -> float:
    """The same totals in a dictionary, from lists that are there already."""
    batches = [(call.key.to_pylist(), call.columns[2].to_pylist()) for call in calls]
    totals: dict[bytes, tuple[int, int, int]] = {}
    started = process_time()
    for keys, numbers in batches:
        for key, number in zip(keys, numbers, strict=True):
            count, total, largest = totals.get(key, (0, 0, number))
            totals[key] = (count + 1, total + number, max(largest, number))
    return ROWS / (process_time() - started) / 1e6
