"""Windows that go out when the watermark passes them: each once, with all rows that were not late."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.aggregate.totals_operation import PartialTotal, Span, Totals
from streamapp_runtime.operators.operation_table import make_executor
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS, cut_up, lane
from tests.harness.engine.watermark_batches import Ticking, milliseconds
from tests.harness.oracles.totals_oracle import greatest, summed

SCHEMA = pa.schema([("name", pa.string()), ("x", pa.int64())])
PARTIALS = (
    PartialTotal("count", None, "BIGINT"),
    PartialTotal("sum", 1, "BIGINT"),
    PartialTotal("max", 1, "BIGINT"),
)
TOTALS = Totals("sums", (0,), False, PARTIALS, Span("tumbling", 10, 10), "onWatermark", 0, (0, 2, 3, 4, 5, 6))

keyed = some_rows(
    st.sampled_from([b"ann", b"bob"]), st.tuples(st.none(), st.integers(-9, 9)), tasks=TASKS,
    times=st.integers(-30, 60), most=12,
)  # fmt: skip
named = keyed.map(lambda rows: [row._replace(columns=(row.key.decode(), row.columns[1])) for row in rows])
moves = st.integers(0, 25)
batches = st.lists(st.tuples(named, st.lists(st.integers(0, 99), max_size=2), moves), max_size=5)
spans = st.one_of(
    st.integers(1, 25).map(lambda size: Span("tumbling", size, size)),
    st.builds(Span, st.just("hopping"), st.integers(1, 25), st.integers(1, 25)),
    st.integers(1, 25).map(lambda gap: Span("session", gap, 0)),
)


def windows_of(rows: Sequence[Row], span: Span) -> dict[tuple[int, str, int, int], list[int]]:
    """The windows of rows, and what is in each, reckoned a row at a time."""
    found: dict[tuple[int, str, int, int], list[int]] = {}
    if span.kind != "session":
        for row in rows:
            for start in range(-100, 100):
                if start % span.advance_ms == 0 and start <= row.time < start + span.size_ms:
                    place = (row.task, row.columns[0], start, start + span.size_ms)
                    found.setdefault(place, []).append(row.columns[1])
        return found
    for task, name in {(row.task, row.columns[0]) for row in rows}:
        sessions: list[list[Row]] = []
        for row in sorted(rows, key=lambda row: row.time):
            if (row.task, row.columns[0]) == (task, name):
                if not sessions or row.time - sessions[-1][-1].time > span.size_ms:
                    sessions.append([])
                sessions[-1].append(row)
        for session in sessions:
            place = (task, name, session[0].time, session[-1].time + span.size_ms)
            found[place] = [row.columns[1] for row in session]
    return found


def place_of(row: Row) -> tuple[int, str, int, int]:
    return (row.task, row.columns[0], *map(milliseconds, row.columns[1:3]))


def called(rows: Sequence[Row], cuts: Sequence[int]):
    return [(slice_of(part, SCHEMA),) for part in cut_up(rows, cuts)]


def out_of_gaps(rows: Sequence[Row], span: Span) -> Counter[Row]:
    """Rows that lie in a window; hops may leave gaps between two."""
    return Counter(row for row in rows if windows_of([row], span))


@given(batches, spans, st.sampled_from([0, 0, 1, 7, 30]), st.sampled_from(["onWatermark", "onUpdate"]))
def test_what_has_gone_out_at_the_end_are_the_totals_of_all_rows_that_were_not_late(
    pieces, span, lateness, emit
):
    operation = replace(TOTALS, window=span, lateness_ms=lateness, emit=emit)
    with lane() as running:
        ticking = Ticking(running, make_executor(operation, [SCHEMA], pa.schema([])), "sums")
        last: dict[tuple[int, str, int, int], tuple[int, ...]] = {}
        out: list[Row] = []
        watermark = -40
        windows: dict[tuple[int, str, int, int], list[int]] = {}
        for rows, cuts, move in pieces:
            for place, xs in (found for row in rows for found in windows_of([row], span).items()):
                if ticking.watermark is None or place[3] + lateness > ticking.watermark:
                    windows.setdefault(place, []).extend(xs)
            watermark += move
            out += ticking.batch(called(rows, cuts), watermark)
            assert running.contents() == running.replays()
        out += ticking.end()
        assert running.contents() == {}
        late = Counter(row._replace(source=7) for row in running.late)
    every = [row for rows, _, _ in pieces for row in rows]
    kept = list((out_of_gaps(every, span) - late).elements())
    for row in out:
        last[place_of(row)] = row.columns[3:]
    if span.kind == "session":
        windows = windows_of(kept, span)
    wanted = {place: (len(xs), summed(xs), greatest(xs)) for place, xs in windows.items()}
    assert wanted.items() <= last.items()
    if span.kind != "session" or (emit == "onWatermark" and not lateness):
        assert last == wanted
    if emit == "onWatermark" and not lateness:
        assert len(out) == len(wanted)
        assert all(row.time == place_of(row)[3] - 1 for row in out)


@given(batches, spans)
def test_a_row_that_is_not_behind_the_watermark_is_never_late(pieces, span):
    operation = replace(TOTALS, window=span)
    with lane() as running:
        ticking = Ticking(running, make_executor(operation, [SCHEMA], pa.schema([])), "sums")
        watermark, behind = None, Counter[Row]()
        for rows, cuts, move in pieces:
            if watermark is not None:
                behind += Counter(row for row in rows if row.time < watermark)
            watermark = move if watermark is None else watermark + move
            ticking.batch(called(rows, cuts), watermark)
        assert not Counter(running.late) - behind


def row(time: int, x: int = 1) -> Row:
    return Row(b"ann", ("ann", x), time=time)


def test_a_window_goes_out_when_the_watermark_reaches_its_end_and_not_before():
    with lane() as running:
        ticking = Ticking(running, make_executor(TOTALS, [SCHEMA], pa.schema([])), "sums")
        assert ticking.batch(called([row(3), row(12)], []), 9) == []
        (first,) = ticking.batch([], 10)
        assert (place_of(first), first.columns[3:], first.time) == ((0, "ann", 0, 10), (1, 1, 1), 9)
        assert len(running.contents()[0, "sums"]) == 1
        assert ticking.batch([], 10) == []


def test_a_late_row_within_the_lateness_sends_its_window_out_again():
    with lane() as running:
        executor = make_executor(replace(TOTALS, lateness_ms=5), [SCHEMA], pa.schema([]))
        ticking = Ticking(running, executor, "sums")
        ticking.batch(called([row(3)], []), 12)
        again = ticking.batch(called([row(4, 7)], []), 14)
        assert [found.columns[3:] for found in again] == [(2, 8, 7)]
        assert ticking.batch(called([row(5)], []), 15)[0].columns[3] == 3
        assert running.contents() == {}
        assert ticking.batch(called([row(6)], []), 16) == []
        assert running.counted == {("lateRows", "sums"): 1}


@pytest.mark.parametrize("span", [Span("tumbling", 10, 10), Span("session", 10, 0)])
def test_a_window_that_an_end_cuts_short_goes_on_in_the_next_turn(span):
    with lane() as running:
        executor = make_executor(replace(TOTALS, window=span), [SCHEMA], pa.schema([]))
        ticking = Ticking(running, executor, "sums")
        ticking.batch(called([row(3)], []), 2)
        first = ticking.end(reopens=True)
        ticking.watermark = None
        ticking.batch(called([row(4, 5)], []), 3, reopens=True)
        second = ticking.end(reopens=True)
        assert [found.columns[3:] for found in (*first, *second)] == [(1, 1, 1), (2, 6, 5)]
