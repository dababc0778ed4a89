from dataclasses import replace

import pyarrow as pa
import pytest

from streamapp.spec.reasons import Reason
from streamapp_runtime.operators.aggregate.totals_operation import PartialTotal, Span, Totals
from streamapp_runtime.operators.compilation.row_operations import SelectColumns
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.operation_executor import UnsupportedOperationError
from streamapp_runtime.operators.operation_table import make_executor, state_schema_hash, unsupported_reason
from streamapp_runtime.operators.tables.table_operations import LookUp
from streamapp_runtime.operators.user_code.user_operations import ProcessRows, PythonMap
from tests.harness.engine.plain_rows import Row, slice_of
from tests.harness.engine.task_lane import lane

ROWS = pa.schema([("x", pa.int64()), ("y", pa.string()), ("z", pa.list_(pa.int64()))])
TOTALS = Totals("sums", (), False, (PartialTotal("sum", 0, "BIGINT"),), None, "onUpdate", 0, (3,))
JOIN = JoinStreams("joined", "inner", 1_000, "event", (0,))
HOUR = Span("tumbling", 3_600_000, 3_600_000)


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (replace(TOTALS, partials=(PartialTotal("sum", 1, ""),)), "there is no sum of string values"),
        (
            replace(TOTALS, partials=(PartialTotal("max", 2, ""),)),
            "there is no max of list<item: int64> values",
        ),
        (replace(TOTALS, key=(2,), composed=True), "there are no groups by list<item: int64> values"),
    ],
)
def test_what_cannot_run_yet_is_refused_before_the_first_row(operation, reason):
    assert reason in (unsupported_reason(operation, [ROWS]) or "")
    with pytest.raises(UnsupportedOperationError, match="cast the columns") as caught:
        make_executor(operation, [ROWS], ROWS)
    assert caught.value.reason is Reason.NOT_YET_SUPPORTED


@pytest.mark.parametrize(
    "operation",
    [
        TOTALS,
        replace(TOTALS, window=HOUR),
        replace(TOTALS, window=HOUR, emit="onWatermark"),
        JOIN,
        replace(JOIN, time="arrival", type="full"),
        replace(JOIN, type="left"),
    ],
)
def test_what_can_run_is_not_refused(operation):
    assert unsupported_reason(operation, [ROWS]) is None


def test_own_state_has_another_hash_where_its_bytes_mean_something_else():
    different = [
        TOTALS,
        replace(TOTALS, window=HOUR),
        replace(TOTALS, window=Span("hopping", 3_600_000, 60_000)),
        replace(TOTALS, window=Span("session", 3_600_000, 0)),
        replace(TOTALS, partials=(PartialTotal("max", 0, "BIGINT"),)),
        replace(TOTALS, partials=(PartialTotal("max", 1, "STRING"),)),
        replace(TOTALS, key=(1,), composed=True),
        replace(TOTALS, key=(0, 1), composed=True),
        ProcessRows("visits", "tests.harness.user_code.operator_code:Visits", ()),
    ]
    joins = [JOIN, replace(JOIN, within_ms=2_000), replace(JOIN, time="arrival")]
    hashes = [state_schema_hash(each, [ROWS]) for each in different] + [
        state_schema_hash(each, [ROWS, ROWS]) for each in joins
    ]
    hashes.append(state_schema_hash(JOIN, [ROWS, ROWS.remove(2)]))
    assert None not in hashes
    assert len(set(hashes)) == len(hashes)


def test_own_state_keeps_its_hash_where_only_the_columns_around_it_change():
    assert state_schema_hash(replace(TOTALS, chosen=(0, 3)), [ROWS]) == state_schema_hash(
        TOTALS, [ROWS.remove(2)]
    )


@pytest.mark.parametrize(
    "operation",
    [
        LookUp("users", False, None, (0,)),
        PythonMap("tests.harness.user_code.operator_code:shouted", True),
        ProcessRows("careless", "tests.harness.user_code.operator_code:Careless", ()),
        SelectColumns((0,)),
    ],
)
def test_what_keeps_nothing_of_its_own_has_no_hash(operation):
    assert state_schema_hash(operation, [ROWS]) is None


def test_a_choice_gives_the_rows_of_all_its_sources_with_the_chosen_columns():
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    executor = make_executor(SelectColumns((1,)), [schema, schema], pa.schema([("b", pa.int64())]))
    first, second = Row(b"ann", (1, 2)), Row(b"bob", None)
    with lane() as running:
        found = running.batch(executor, [(slice_of([first], schema), slice_of([second], schema))])
    assert found == [Row(b"ann", (2,)), second]
