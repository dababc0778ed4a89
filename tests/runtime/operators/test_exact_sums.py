"""Exact sums: a group whose sum fits has it, whatever other groups hold, and only others lose rows."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp_runtime.operators.aggregate.totals_operation import PartialTotal, Span, Totals
from streamapp_runtime.operators.operation_table import make_executor
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS, Lane, cut_up, lane

INT, DECIMAL = pa.int64(), pa.decimal128(38, 2)
LARGEST = Decimal("9" * 36 + ".99")
BOUNDS = {INT: (-(2**63), 2**63 - 1), DECIMAL: (LARGEST.copy_negate(), LARGEST)}
SPANS = [None, Span("tumbling", 10, 10), Span("hopping", 10, 5), Span("session", 3, 0)]
HALF = 2**62


def sums(kind: pa.DataType, span: Span | None = None) -> Any:
    chosen = (1,) if span is None else (1, 2, 3)
    totals = Totals("sums", (), False, (PartialTotal("sum", 0, "", "sum(x)"),), span, "onUpdate", 0, chosen)
    return make_executor(totals, [pa.schema([("x", kind)])], pa.schema([]))


def run(running: Lane, kind: pa.DataType, batches: Sequence[Sequence[Row]], span: Span | None = None) -> Any:
    """The last total of each group, and the rows that were named as those that do not fit."""
    found: dict[Any, Any] = {}
    executor, schema = sums(kind, span), pa.schema([("x", kind)])
    for batch in batches:
        for row in running.batch(executor, [(slice_of(batch, schema),)]):
            assert row.columns is not None
            found[row.task, row.key, *row.columns[:-1]] = row.columns[-1]
    return found, [failed.offset for failed in running.failed]


def rows(*pairs: tuple[bytes, Any]) -> list[Row]:
    return [Row(key, (value,), offset=place) for place, (key, value) in enumerate(pairs)]


@pytest.mark.parametrize("span", SPANS, ids=lambda span: span.kind if span else "running")
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (INT, [(b"ann", HALF), (b"bob", HALF)]),
        (INT, [(b"ann", -(2**63))]),
        (INT, [(b"ann", HALF), (b"ann", -HALF), (b"ann", HALF)]),
        (INT, [(b"ann", 2**63 - 1), (b"ann", 2**63 - 1), (b"ann", -(2**63)), (b"ann", None)]),
        (DECIMAL, [(b"ann", LARGEST), (b"bob", LARGEST), (b"ann", Decimal("-0.01"))]),
        (pa.int32(), [(b"ann", 2**31 - 1), (b"ann", 2**31 - 1)]),
    ],
)
def test_a_sum_that_fits_is_taken_whatever_other_groups_hold(kind, values, span):
    with lane() as running:
        found, failed = run(running, kind, [rows(*values)], span)
    assert not failed
    for (_, key, *_), total in found.items():
        with localcontext(prec=60):
            assert total == sum(value for one, value in values if one == key and value is not None)


def test_moments_of_many_rows_are_summed_by_group():
    values = [1_764_000_000_000_000 + n for n in range(10_000)]
    with lane() as running:
        found, failed = run(running, INT, [rows(*((b"%d" % (n % 50), n) for n in values))])
    assert not failed
    assert found == {
        (
            0,
            b"%d" % k,
        ): sum(n for n in values if n % 50 == k)
        for k in range(50)
    }


@pytest.mark.parametrize("span", SPANS, ids=lambda span: span.kind if span else "running")
def test_a_call_may_leave_its_type_where_the_total_with_what_was_kept_does_not(span):
    batches = [rows((b"ann", -HALF), (b"bob", 1)), rows((b"ann", HALF), (b"ann", HALF), (b"bob", HALF))]
    with lane() as running:
        found, failed = run(running, INT, batches, span)
    assert not failed
    assert set(found.values()) == {HALF, HALF + 1}


@pytest.mark.parametrize("span", SPANS, ids=lambda span: span.kind if span else "running")
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("kind", "value", "one", "reason"),
    [
        (INT, HALF, 1, "sum(x) of its group would be 9223372036854775808, which BIGINT does not hold"),
        (DECIMAL, LARGEST, Decimal("0.50"), "which DECIMAL(38,2) does not hold"),
    ],
    ids=["bigint", "decimal"],
)
def test_only_the_row_with_which_its_group_leaves_the_type_is_named(kind, value, one, reason, apart, span):
    opposite = -value if kind == INT else value.copy_negate()
    given_rows = rows((b"bob", value), (b"ann", value), (b"ann", value), (b"ann", one), (b"bob", opposite))
    batches = [given_rows[:2], given_rows[2:]] if apart else [given_rows]
    expected = [2] if kind == INT else [2, 3]
    with lane() as running:
        found, failed = run(running, kind, batches, span)
        assert all(reason in row.reason for row in running.failed if row.offset == 2)
    assert sorted(set(failed)) == expected
    assert set(found.values()) == {0, value + one if kind == INT else value}


@pytest.mark.parametrize("kind", [INT, DECIMAL], ids=str)
@pytest.mark.parametrize("span", SPANS, ids=lambda span: span.kind if span else "running")
@settings(max_examples=25)
@given(st.data())
def test_sums_are_those_of_exact_numbers_and_rows_that_leave_the_type_are_named(kind, span, data):
    low, high = BOUNDS[kind]
    special = [low, high, high // 2, -(high // 2), 0, 1, -1] if kind == INT else [low, high, Decimal("0.01")]
    drawn = data.draw(
        some_rows(
            st.sampled_from([b"ann", b"bob"]), st.tuples(st.none() | st.sampled_from(special)), tasks=TASKS
        )
    )
    batches = cut_up(drawn, data.draw(st.lists(st.integers(0, 99), max_size=3)))
    totals: dict[Any, Any] = {}
    beyond: set[int] = set()
    with localcontext(prec=60):
        for batch in batches:
            fresh: dict[Any, Any] = {}
            for row in batch:
                fresh.setdefault((row.task, row.key), []).append(row)
            for group, members in fresh.items():
                values = [row.columns[0] for row in members if row.columns[0] is not None]
                fits = low <= sum(values, totals.get(group, 0)) <= high
                for row in members:
                    if (value := row.columns[0]) is None:
                        continue
                    total = totals.get(group, 0) + value
                    if fits or low <= total <= high:
                        totals[group] = total
                    else:
                        beyond.add(row.offset)
    with lane() as running:
        found, failed = run(running, kind, batches, span)
        assert running.contents() == running.replays()
    assert set(failed) == beyond
    assert {group: found[group] for group in found if found[group] is not None} == {
        group: totals[group[:2]] for group in found if group[:2] in totals
    }
