"""A batch is bounded by the number of its records, and by their bytes as far as these can be foreseen."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.driver.inputs.batch_budget import GUESSED_RECORD_BYTES, BatchBudget
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus


def told(rows: int, size: int) -> TaskReport:
    return TaskReport("task", TaskStatus.COMMITTED, rows_in=rows, bytes_in=size)


def test_before_anything_was_seen_records_are_guessed_to_be_small() -> None:
    assert BatchBudget().records(1_000_000, 256 * GUESSED_RECORD_BYTES) == 256


def test_records_that_are_small_are_bounded_by_their_number() -> None:
    assert BatchBudget().records(10, 1 << 30) == 10


SIZES = st.tuples(st.integers(1, 1_000), st.integers(0, 10_000_000))


@given(batches=st.lists(st.lists(SIZES, min_size=1), min_size=1), most=st.integers(1_024, 1 << 40))
def test_a_batch_like_the_last_one_stays_within_its_bytes_but_for_one_record(
    batches: list[list[tuple[int, int]]], most: int
) -> None:
    budget = BatchBudget()
    for tasks in batches:
        budget.note([told(rows, size) for rows, size in tasks])
    each = sum(size for _, size in batches[-1]) / sum(rows for rows, _ in batches[-1])
    assert budget.records(1 << 40, most) == 1 or budget.records(1 << 40, most) * each <= most * (1 + 1e-9)


def test_a_batch_without_records_changes_nothing() -> None:
    budget = BatchBudget()
    budget.note([told(1, 1_024)])
    budget.note([told(0, 0)])
    assert budget.records(1 << 40, 1 << 20) == 1_024
