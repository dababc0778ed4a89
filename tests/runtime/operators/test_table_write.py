import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.operators.tables.table_operations import FillTable, WriteTable
from streamapp_runtime.rows.row_decoder import decode
from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS, Lane, cut_up, lane

SENT = pa.schema([("tier", pa.int32()), ("country", pa.string())])
USERS = pa.schema([("country", pa.string()), ("tier", pa.int32())])
NOTHING = pa.schema([])

sent = some_rows(
    st.sampled_from([None, b"", b"ann", b"bob", b"x" * 600]),
    st.none() | st.tuples(st.none() | st.integers(0, 9), st.none() | st.text(max_size=3)),
    tasks=TASKS,
)


def table(running: Lane) -> dict[tuple[int, bytes], tuple[object, ...]]:
    return {
        (task, key): tuple(decode(pa.array([value]), USERS).to_pylist()[0].values())
        for (task, _), entries in running.contents().items()
        for key, value in entries.items()
    }


@pytest.mark.parametrize("kind", [StoreKind.MEMORY, StoreKind.LMDB])
@given(sent, st.lists(st.integers(0, 99), max_size=3))
def test_the_last_row_of_a_key_stays_and_a_tombstone_deletes(kind, rows, cuts):
    with lane(kind, users=USERS) as running:
        fill = make_executor(WriteTable("users", (1, 0)), [SENT], NOTHING)
        assert running.batch(fill, [(slice_of(part, SENT),) for part in cut_up(rows, cuts)]) == []
        found = table(running)
        assert running.contents() == running.replays()
        skipped = running.counted.get(("nullKeys", "users"), 0)
    last = {(row.task, row.key): row.columns for row in rows if row.key is not None}
    assert found == {place: (columns[1], columns[0]) for place, columns in last.items() if columns}
    assert skipped == sum(row.key is None for row in rows)


def test_what_a_side_input_fills_is_in_no_changelog():
    with lane(users=USERS) as running:
        fill = make_executor(FillTable("users", "people", True, (1, 0)), [SENT], NOTHING)
        running.batch(fill, [(slice_of([Row(b"ann", (1, "at"))], SENT),)])
        assert table(running) == {(0, b"ann"): ("at", 1)}
        assert running.replays() == {}
