import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.operators.user_code.user_operations import PythonMap
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS, cut_up, lane

SCHEMA = pa.schema([("page", pa.string())])
CODE = "tests.harness.user_code.operator_code:"

some = some_rows(
    st.sampled_from([None, b"ann", b"bob"]),
    st.none() | st.tuples(st.sampled_from(["a", "b", "c"])),
    times=st.integers(0, 99),
    tasks=TASKS,
    most=12,
)
cuts = st.lists(st.integers(0, 99), max_size=3)


def mapped(function: str, rows, *, each: bool, places=()):
    executor = make_executor(PythonMap(CODE + function, each), [SCHEMA], SCHEMA)
    with lane() as running:
        return running.batch(executor, [(slice_of(part, SCHEMA),) for part in cut_up(rows, places)])


def by_task(rows):
    return [[row for row in rows if row.task == task] for task in range(TASKS)]


@given(some, cuts)
def test_a_map_gives_each_row_in_its_place_with_its_key_and_lets_tombstones_pass(rows, places):
    expected = [
        row if row.columns is None else row._replace(columns=(row.columns[0].upper(),)) for row in rows
    ]
    assert by_task(mapped("shouted", rows, each=True, places=places)) == by_task(expected)


@given(some, cuts)
def test_rows_of_a_flat_map_have_key_time_and_origin_of_the_row_they_name(rows, places):
    expected = [made for row in rows for made in [row] * (1 if row.columns is None else 2)]
    assert by_task(mapped("twice", rows, each=False, places=places)) == by_task(expected)


def test_rows_of_a_flat_map_that_name_no_row_have_no_key_and_the_latest_time():
    rows = [Row(b"ann", ("a",), time=3), Row(b"ann", None, time=4), Row(b"bob", ("b",), time=2)]
    found = mapped("twice_of_nowhere", rows, each=False)
    made = [Row(None, (page,), time=3, source=-1, offset=-1) for page in "abab"]
    assert found == [*made, rows[1]]


@pytest.mark.parametrize(
    ("function", "each", "message"),
    [
        ("halved", True, "halved gave 1 rows for 2; a map gives one row for each"),
        ("nameless", True, "gave no column page; its columns are: something"),
        ("wrongly_typed", True, 'gave column "page" as list<item: int64>, which is no string'),
        ("no_batch", False, "gave a list; what it gives has to be a pyarrow.RecordBatch"),
        (
            "of_rows_that_are_not_there",
            False,
            "names rows in __row that there are not; its batch had rows 0 to 1",
        ),
        ("failing", False, "failed: KeyError('no such page in 2 rows')"),
        ("missing", True, "missing cannot be loaded"),
        ("not_callable", True, "is neither a class nor a function"),
    ],
)
def test_what_is_wrong_with_a_function_is_said(function, each, message):
    with pytest.raises(UserCodeError) as caught:
        mapped(function, [Row(b"ann", ("a",)), Row(b"bob", ("b",))], each=each)
    assert message in str(caught.value)
    assert caught.value.python == CODE + function


def test_a_failure_shows_the_lines_of_the_apps_own_code_and_none_of_ours():
    with pytest.raises(UserCodeError) as caught:
        mapped("failing", [Row(b"ann", ("a",))], each=True)
    assert 'raise KeyError(f"no such page in {batch.num_rows} rows")' in caught.value.trace
    assert "streamapp_runtime" not in caught.value.trace
