import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.aggregate.session_store import sessions_schema
from streamapp_runtime.operators.aggregate.totals_form import totals_form
from streamapp_runtime.operators.aggregate.totals_operation import PartialTotal, Span, Totals
from streamapp_runtime.operators.aggregate.window_output import window_output
from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.rows.row_decoder import decode
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS, Lane, cut_up, lane
from tests.harness.engine.watermark_batches import milliseconds
from tests.harness.oracles.totals_oracle import greatest, summed

SCHEMA = pa.schema([("x", pa.int64())])
PARTIALS = (
    PartialTotal("count", None, "BIGINT"),
    PartialTotal("sum", 0, "BIGINT"),
    PartialTotal("max", 0, "BIGINT"),
)
CHOSEN = (1, 2, 3, 4, 5)
Windows = dict[tuple[int, bytes, int, int], list[int]]

some = some_rows(
    st.sampled_from([None, b"ann", b"bob"]),
    st.none() | st.tuples(st.integers(-9, 9)),
    times=st.none() | st.integers(-30, 60),
    tasks=TASKS,
    most=20,
)
cuts = st.lists(st.integers(0, 99), max_size=3)


def totals(span: Span) -> Totals:
    return Totals("sums", (), False, PARTIALS, span, "onUpdate", 0, CHOSEN)


def sessions_kept() -> pa.Schema:
    operation = totals(Span("session", 1, 0))
    return sessions_schema(totals_form(operation, SCHEMA), window_output(operation, SCHEMA))


def counting(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.columns is not None and row.key is not None and row.time is not None]


def windows_put_out(rows: list[Row]) -> dict[tuple[int, bytes, int, int], tuple[int, ...]]:
    """The last row that went out of each window."""
    return {(row.task, row.key, *map(milliseconds, row.columns[:2])): row.columns[2:] for row in rows}


def kept_sessions(running: Lane) -> dict[tuple[int, str, bytes], object]:
    """The sessions in the stores, each key of which is to be looked at once."""
    found = {}
    for (task, name), entries in running.contents().items():
        kept = {key[1:]: value for key, value in entries.items() if key[:1] == b"\x00"}
        times = sorted(key[9:] for key in entries if key[:1] == b"\x01")
        assert times == sorted(kept)
        decoded = decode(pa.array(kept.values(), pa.binary()), sessions_kept()).column("sessions").to_pylist()
        found |= {(task, name, key): sessions for key, sessions in zip(kept, decoded, strict=True)}
    return found


def expected(windows: Windows) -> dict[tuple[int, bytes, int, int], tuple[int, ...]]:
    return {place: (len(xs), summed(xs), greatest(xs)) for place, xs in windows.items()}


@given(some, cuts, st.integers(1, 25), st.integers(1, 25), st.booleans())
def test_a_row_counts_in_every_window_that_its_time_lies_in(rows, places, size, advance, tumbling):
    span = Span("tumbling", size, size) if tumbling else Span("hopping", size, advance)
    windows: Windows = {}
    for row in counting(rows):
        for start in range(-100, 100):
            if start % span.advance_ms == 0 and start <= row.time < start + size:
                windows.setdefault((row.task, row.key, start, start + size), []).append(row.columns[0])
    with lane() as running:
        executor = make_executor(totals(span), [SCHEMA], pa.schema([]))
        found = running.batch(executor, [(slice_of(part, SCHEMA),) for part in cut_up(rows, places)])
        assert running.contents() == running.replays()
        skipped = running.counted.get(("nullTimes", "sums"), 0)
    assert windows_put_out(found) == expected(windows)
    assert skipped == sum(
        row.time is None and row.key is not None and row.columns is not None for row in rows
    )


@given(some, cuts, st.integers(1, 25))
def test_a_session_holds_rows_with_no_longer_silence_between_them_than_its_gap(rows, places, gap):
    sessions: Windows = {}
    by_time = sorted(counting(rows), key=lambda row: row.time)
    for task, key in {(row.task, row.key) for row in by_time}:
        spans: list[list[Row]] = []
        for row in by_time:
            if (row.task, row.key) != (task, key):
                continue
            if spans and row.time - spans[-1][-1].time <= gap:
                spans[-1].append(row)
            else:
                spans.append([row])
        for span in spans:
            sessions[task, key, span[0].time, span[-1].time + gap] = [row.columns[0] for row in span]
    with lane() as running, lane() as at_once:
        executor = make_executor(totals(Span("session", gap, 0)), [SCHEMA], pa.schema([]))
        found = running.batch(executor, [(slice_of(part, SCHEMA),) for part in cut_up(rows, places)])
        at_once.batch(executor, [(slice_of(rows, SCHEMA),)])
        assert running.contents() == running.replays()
        assert kept_sessions(running) == kept_sessions(at_once)
    out = windows_put_out(found)
    assert expected(sessions).items() <= out.items()
    # What else went out are sessions that have grown since: each lies within one that is there.
    for task, key, start, end in out.keys() - sessions.keys():
        assert any((task, key) == place[:2] and place[2] <= start and end <= place[3] for place in sessions)


def test_a_row_between_two_sessions_makes_them_one():
    with lane() as running:
        executor = make_executor(totals(Span("session", 10, 0)), [SCHEMA], pa.schema([]))
        apart = [Row(b"ann", (1,), time=0), Row(b"ann", (2,), time=20)]
        first = running.batch(executor, [(slice_of(apart, SCHEMA),)])
        then = running.batch(executor, [(slice_of([Row(b"ann", (4,), time=10)], SCHEMA),)])
    assert windows_put_out(first) == {(0, b"ann", 0, 10): (1, 1, 1), (0, b"ann", 20, 30): (1, 2, 2)}
    assert windows_put_out(then) == {(0, b"ann", 0, 30): (3, 7, 4)}
