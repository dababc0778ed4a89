from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.expansion.start_positions import (
    ReadMark,
    StartOrigin,
    StartPosition,
    newest_marks,
    start_origin,
    start_positions,
)
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed

V0, V1, V2 = (Partition("views", index) for index in range(3))
RATES = Partition("rates", 0)


def test_a_partition_goes_on_where_whoever_read_it_last_had_stopped() -> None:
    checkpoints = {"a": {V0: ReadMark(100, 7), V1: ReadMark(5)}, "b": {V0: ReadMark(40, 3)}}
    assert newest_marks(checkpoints) == {V0: ReadMark(100, 7), V1: ReadMark(5)}


def test_of_two_marks_at_one_position_the_one_with_the_later_watermark_counts() -> None:
    checkpoints = {"a": {V0: ReadMark(4)}, "b": {V0: ReadMark(4, -9)}, "c": {V0: ReadMark(4, -12)}}
    assert newest_marks(checkpoints) == {V0: ReadMark(4, -9)}


def test_tasks_that_are_formed_anew_read_on_by_partition() -> None:
    app = formed({"views": 2}, stateful=False)
    found = start_positions(
        {"one": [V0, V1]}, [], {"gone": {V0: ReadMark(3)}, "gone too": {V1: ReadMark(9)}}, app.layout
    )
    assert found == {
        "one": {
            V0: StartPosition(ReadMark(3), StartOrigin.AS_SET),
            V1: StartPosition(ReadMark(9), StartOrigin.AS_SET),
        }
    }


def test_a_partition_that_came_with_a_growth_is_read_from_its_oldest_record() -> None:
    for stateful in (True, False):
        grown = formed({"views": 4}, formed({"views": 2}, stateful=stateful), stateful=stateful)
        assert [start_origin(Partition("views", index), grown.layout) for index in range(4)] == [
            StartOrigin.AS_SET,
            StartOrigin.AS_SET,
            StartOrigin.OLDEST,
            StartOrigin.OLDEST,
        ]


def test_all_of_a_new_stream_starts_as_set_even_if_it_is_folded() -> None:
    grown = formed({"views": 4}, formed({"views": 2}))
    joined = formed({"clicks": 4, "views": 4}, grown, copartition_groups=[["clicks", "views"]])
    assert {start_origin(Partition("clicks", index), joined.layout) for index in range(4)} == {
        StartOrigin.AS_SET
    }


def test_a_broadcast_partition_is_read_by_each_task_for_itself() -> None:
    app = formed({"rates": 1, "views": 2}, broadcast=["rates"])
    checkpoints = {"Partition 0": {RATES: ReadMark(12), V0: ReadMark(1)}}
    found = start_positions(app.tasks, app.broadcast, checkpoints, app.layout)
    assert found["Partition 0"][RATES] == StartPosition(ReadMark(12), StartOrigin.AS_SET)
    assert found["Partition 1"][RATES] == StartPosition(None, StartOrigin.AS_SET)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=30))
def test_however_a_partition_moves_nothing_is_read_twice_or_left_out(moves: list[tuple[int, int]]) -> None:
    """Each move gives the partition to a task, which reads some records and writes its checkpoint."""
    layout = formed({"views": 1}, stateful=False).layout
    checkpoints: dict[str, dict[Partition, ReadMark]] = {}
    read: list[int] = []
    for task, amount in moves:
        start = start_positions({str(task): [V0]}, [], checkpoints, layout)[str(task)][V0]
        position = start.mark.position if start.mark else 0
        read += range(position, position + amount)
        checkpoints.setdefault(str(task), {})[V0] = ReadMark(position + amount)
    assert read == list(range(len(read)))
