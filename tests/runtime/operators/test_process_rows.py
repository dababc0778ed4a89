import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.operators.user_code.user_operations import ProcessRows
from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS, cut_up, lane
from tests.harness.user_code.operator_code import Visits

VIEWS = pa.schema([("page", pa.string())])
MADE = pa.schema([("visits", pa.int64()), ("before", pa.string())])
CODE = "tests.harness.user_code.operator_code:"

some = some_rows(
    st.sampled_from([b"", b"ann", b"bob"]),
    st.none() | st.tuples(st.sampled_from(["a", "b", "c"])),
    times=st.integers(0, 99),
    tasks=TASKS,
    most=12,
)


@pytest.mark.parametrize("kind", [StoreKind.MEMORY, StoreKind.LMDB])
@given(some, st.lists(st.integers(0, 99), max_size=3))
def test_a_class_finds_what_it_kept_of_each_task_and_puts_out_rows_that_keep_their_key(kind, rows, cuts):
    with lane(kind, last=VIEWS) as running:
        executor = make_executor(ProcessRows("visits", CODE + "Visits", ("last",)), [VIEWS], MADE)
        found = running.batch(executor, [(slice_of(part, VIEWS),) for part in cut_up(rows, cuts)])
        assert running.contents() == running.replays()
    seen: dict[tuple[int, bytes], list[str]] = {}
    expected = []
    for row in rows:
        pages = seen.setdefault((row.task, row.key), [])
        if row.columns is None:
            pages.clear()
        else:
            expected.append(row._replace(columns=(len(pages) + 1, pages[-1] if pages else None)))
            pages += row.columns
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_a_class_is_opened_once_with_the_columns_of_its_tables_and_closed_once():
    Visits.log.clear()
    with lane(last=VIEWS) as running:
        executor = make_executor(ProcessRows("visits", CODE + "Visits", ("last",)), [VIEWS], MADE)
        for _ in range(2):
            running.batch(executor, [(slice_of([Row(b"ann", ("a",))], VIEWS),)])
        executor.close()
        executor.close()
    assert Visits.log == ["open visits ['last']", "close"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Careless", 'no table \\"nobody named this\\" is named in the operator'),
        ("Stateless", "the class has no state table; give it state_columns"),
        ("Nowhere", "cannot be loaded"),
    ],
)
def test_what_is_wrong_with_a_class_is_said(name, message):
    with lane(last=VIEWS) as running, pytest.raises(UserCodeError) as caught:
        executor = make_executor(ProcessRows("visits", CODE + name, ("last",)), [VIEWS], MADE)
        running.batch(executor, [(slice_of([Row(b"ann", ("a",))], VIEWS),)])
    assert message.replace('\\"', '"') in str(caught.value).replace('\\"', '"')
