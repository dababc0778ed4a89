import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.operators.tables.table_operations import LookUp, WriteTable
from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS, cut_up, lane

VIEWS = pa.schema([("page", pa.string()), ("other", pa.binary())])
USERS = pa.schema([("country", pa.string()), ("tier", pa.int32())])
JOINED = pa.schema([("page", pa.string()), ("tier", pa.int32()), ("country", pa.string())])

keys = st.sampled_from([None, b"ann", b"bob", b"cid", b"dan"])
users = some_rows(
    keys,
    st.none() | st.tuples(st.none() | st.text(max_size=3), st.none() | st.integers(0, 9)),
    tasks=TASKS,
)
views = some_rows(
    keys, st.none() | st.tuples(st.text(max_size=3), keys), times=st.integers(0, 99), tasks=TASKS
)


@pytest.mark.parametrize("kind", [StoreKind.MEMORY, StoreKind.LMDB])
@given(
    users,
    views,
    st.lists(st.integers(0, 99), max_size=3),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_each_row_finds_what_its_table_held_last(kind, filled, asked, cuts, left, key):
    look_up = make_executor(LookUp("users", left, key, (0, 3, 2)), [VIEWS], JOINED)
    with lane(kind, users=USERS) as running:
        fill = make_executor(WriteTable("users", (0, 1)), [USERS], pa.schema([]))
        running.batch(fill, [(slice_of(rows, USERS),) for rows in cut_up(filled, cuts)])
        found = running.batch(look_up, [(slice_of(rows, VIEWS),) for rows in cut_up(asked, cuts)])
        assert running.contents() == running.replays()
    table = {(row.task, row.key): row.columns for row in filled}
    expected = []
    for row in asked:
        if row.columns is None:
            expected.append(row)
            continue
        sought = row.key if key is None else row.columns[1]
        match = None if sought is None else table.get((row.task, sought))
        if match is not None:
            expected.append(row._replace(columns=(row.columns[0], match[1], match[0])))
        elif left:
            expected.append(row._replace(columns=(row.columns[0], None, None)))
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    for task in range(TASKS):
        whole = [row for row in expected if row.task == task]
        if len(cut_up(asked, cuts)) == 1:
            assert [row for row in found if row.task == task] == whole


def test_rows_of_one_task_stay_in_their_order():
    with lane(users=USERS) as running:
        rows = [Row(b"ann", (str(n), None), offset=n) for n in range(5)]
        rows[2] = Row(b"bob", None, offset=2)
        found = running.batch(
            make_executor(LookUp("users", True, None, (0, 3, 2)), [VIEWS], JOINED), [(slice_of(rows, VIEWS),)]
        )
    assert [row.offset for row in found] == [0, 1, 2, 3, 4]
    assert found[2].columns is None


def test_nothing_comes_of_no_rows():
    with lane(users=USERS) as running:
        look_up = make_executor(LookUp("users", True, None, (0,)), [VIEWS], JOINED)
        assert running.batch(look_up, [(slice_of([], VIEWS),)]) == []
