import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.aggregate.group_reduction import state_type
from streamapp_runtime.operators.aggregate.totals_operation import PartialTotal, Totals
from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS, cut_up, lane
from tests.harness.oracles.totals_oracle import FUNCTIONS, comparable

UTC = datetime.UTC
VALUES = {
    pa.int32(): st.integers(-5, 5),
    pa.int64(): st.integers(-(10**17), 10**17),
    pa.float64(): st.sampled_from([-1.5, 0.0, 2.0, 7.25, float("nan")]),
    pa.decimal128(12, 2): st.integers(-(10**11), 10**11).map(lambda n: Decimal(n).scaleb(-2)),
    pa.decimal128(38, 3): st.integers(-(10**30), 10**30).map(lambda n: Decimal(n).scaleb(-3)),
    pa.string(): st.text(max_size=3),
    pa.binary(): st.binary(max_size=3),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(UTC)),
    pa.timestamp("us"): st.datetimes(),
    pa.duration("us"): st.timedeltas(datetime.timedelta(days=-100), datetime.timedelta(days=100)),
}
KEYS = st.sampled_from([None, b"", b"ann", b"bob", b"cid"])


def partials_of(kind: pa.DataType) -> list[PartialTotal]:
    """A count of all rows, and all there is of a column of this type, which is the first."""
    functions = [name for name in ("count", "sum", "min", "max") if state_type(name, kind) is not None]
    return [PartialTotal("count", None, ""), *(PartialTotal(name, 0, "") for name in functions)]


@pytest.mark.parametrize("kind", VALUES, ids=str)
@given(st.data())
def test_the_last_row_of_a_key_has_the_totals_of_all_its_rows(kind, data):
    schema = pa.schema([("x", kind), ("n", pa.int64())])
    columns = st.tuples(st.none() | VALUES[kind], st.integers(0, 9))
    rows = data.draw(some_rows(KEYS, st.none() | columns, tasks=TASKS, most=12))
    cuts = data.draw(st.lists(st.integers(0, 99), max_size=3))
    partials = partials_of(kind)
    chosen = (1, *range(2, 2 + len(partials)))
    totals = Totals("sums", (), False, tuple(partials), None, "onUpdate", 0, chosen)
    with lane() as running:
        found = running.batch(
            make_executor(totals, [schema], pa.schema([])),
            [(slice_of(part, schema),) for part in cut_up(rows, cuts)],
        )
        assert running.contents() == running.replays()
        assert running.counted.get(("nullKeys", "sums"), 0) == sum(
            row.key is None and row.columns is not None for row in rows
        )
    groups: dict[tuple[int, bytes], list[Row]] = {}
    for row in rows:
        if row.key is not None and row.columns is not None:
            groups.setdefault((row.task, row.key), []).append(row)
    last = {(row.task, row.key): row for row in found}
    assert last.keys() == groups.keys()
    for place, group in groups.items():
        values = [row.columns[0] for row in group]
        expected = [len(group), *(FUNCTIONS[partial.function](values) for partial in partials[1:])]
        assert comparable(last[place].columns) == comparable((group[-1].columns[1], *expected))
        assert last[place].offset == group[-1].offset


@pytest.mark.parametrize("kind", StoreKind)
@given(
    some_rows(KEYS, st.tuples(st.integers(-9, 9)), tasks=TASKS),
    st.lists(st.integers(0, 99), max_size=3),
)
def test_cuts_and_batches_change_nothing_of_what_is_kept(kind, rows, cuts):
    schema = pa.schema([("x", pa.int64())])
    totals = Totals("sums", (), False, tuple(partials_of(pa.int64())), None, "onUpdate", 0, (1, 2, 3, 4, 5))
    executor = make_executor(totals, [schema], pa.schema([]))
    with lane(kind) as in_batches, lane() as at_once:
        for part in cut_up(rows, cuts):
            in_batches.batch(executor, [(slice_of(part, schema),)])
        at_once.batch(executor, [(slice_of(rows, schema),)])
        assert in_batches.contents() == at_once.contents() == in_batches.replays()


def test_one_row_goes_out_for_each_key_in_the_order_of_their_first_rows():
    schema = pa.schema([("x", pa.int64())])
    totals = Totals("sums", (), False, (PartialTotal("sum", 0, "BIGINT"),), None, "onUpdate", 0, (1,))
    rows = [
        Row(key, (n,), time=n, offset=n) for n, key in enumerate([b"bob", b"ann", b"bob", b"cid", b"ann"])
    ]
    with lane() as running:
        found = running.batch(make_executor(totals, [schema], pa.schema([])), [(slice_of(rows, schema),)])
    assert found == [
        Row(b"bob", (2,), time=2, offset=2),
        Row(b"ann", (5,), time=4, offset=4),
        Row(b"cid", (3,), time=3, offset=3),
    ]


@given(
    some_rows(
        st.just(b"not asked for"),
        st.tuples(
            st.sampled_from([None, "a", 'b"c', "d\n"]),
            st.sampled_from([None, 0.0, -0.0, 1.5]),
            st.integers(0, 9),
        ),
        tasks=TASKS,
    ),
    st.lists(st.integers(0, 99), max_size=3),
    st.sampled_from([None, 0, 1]),
)
def test_rows_are_grouped_by_columns_under_the_json_of_these(rows, cuts, placed_by):
    schema = pa.schema([("a", pa.string()), ("b", pa.float64()), ("x", pa.int64())])
    totals = Totals(
        "sums", (0, 1), True, (PartialTotal("sum", 2, "BIGINT"),), None, "onUpdate", 0, (0, 1, 3), placed_by
    )
    with lane() as running:
        found = running.batch(
            make_executor(totals, [schema], pa.schema([])),
            [(slice_of(part, schema),) for part in cut_up(rows, cuts)],
        )
        lacking = [row for row in rows if placed_by is not None and row.columns[placed_by] is None]
        assert running.counted.get(("nullKeys", "sums"), 0) == len(lacking)
    expected: dict[tuple[object, ...], int] = {}
    for row in rows:
        if row in lacking:
            continue
        expected[row.task, *row.columns[:2]] = expected.get((row.task, *row.columns[:2]), 0) + row.columns[2]
    assert {(row.task, *row.columns[:2]): row.columns[2] for row in found} == expected
    for row in found:
        named = {name: value for name, value in zip("ab", row.columns, strict=False) if value is not None}
        assert pa.array([row.key]).cast(pa.string())[0].as_py() == written(named)


def written(named: dict[str, object]) -> str:
    texts = {"a": '"a"', 'b"c': '"b\\"c"', "d\n": '"d\\n"', 0.0: "0", 1.5: "1.5"}
    return "{" + ",".join(f'"{name}":{texts[value]}' for name, value in named.items()) + "}"
