"""Tasks that are formed anew take over what others have heard of their partitions, and never less."""

from dataclasses import replace

from streamapp.control.bookkeeping import Bookkeeping
from streamapp.control.bookkeeping_codec import decode_bookkeeping, encode_bookkeeping
from streamapp.control.upstream import UpstreamProgress
from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.layouts.split import Split
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, EventTimeProgress
from streamapp_runtime.driver.inputs.watermark_handover import inherited_bookkeeping

P, Q = Partition("views", 0), Partition("views", 1)


def checkpoint(
    positions: dict[Partition, int], watermarks: dict[Partition, int], turn: int = 0
) -> Checkpoint:
    books = Bookkeeping(
        100, {p: UpstreamProgress(since=0, watermark=at, spoken=50) for p, at in watermarks.items()}
    )
    return Checkpoint("run", "", positions, {}, EventTimeProgress(turn, {}, {}, encode_bookkeeping(books)))


def taken_over(tasks, checkpoints, *, shared=(), layout=None, turn=0):
    found = inherited_bookkeeping(tasks, checkpoints, shared, layout, turn)
    books = {task: decode_bookkeeping(text) for task, text in found.items()}
    return {task: {p: u.watermark for p, u in b.partitions.items()} for task, b in books.items()}


def test_a_task_with_partitions_that_another_had_takes_over_what_was_heard_of_them():
    before = {"a": checkpoint({P: 5}, {P: 10}), "b": checkpoint({Q: 7}, {Q: 20})}
    assert taken_over({"all": (P, Q)}, before) == {"all": {P: 10, Q: 20}}


def test_a_task_that_goes_on_with_its_own_partitions_takes_over_nothing():
    before = {"a": checkpoint({P: 5}, {P: 10}), "b": checkpoint({Q: 7}, {Q: 20})}
    assert taken_over({"a": (P,), "b": (Q,)}, before) == {}


def test_a_task_that_comes_back_hears_of_what_was_read_meanwhile():
    before = {"a": checkpoint({P: 5}, {P: 10}), "all": checkpoint({P: 9, Q: 9}, {P: 40, Q: 30})}
    assert taken_over({"a": (P,)}, before) == {"a": {P: 40}}


def test_what_every_task_reads_for_itself_is_not_taken_over():
    before = {"a": checkpoint({P: 9}, {P: 10}), "b": checkpoint({P: 7}, {P: 5})}
    assert taken_over({"a": (P,), "b": (P,)}, before, shared=[P]) == {}


def test_another_turn_says_nothing():
    before = {"a": checkpoint({P: 5}, {P: 10}, turn=1)}
    assert taken_over({"b": (P,)}, before, turn=2) == {}


def test_a_new_partition_has_the_watermark_of_the_one_that_it_was_split_from():
    streams = {"views": StreamLayout(1, 2, 1, ("a",))}
    layout = Layout("run", "partition", streams, splits=(Split("views", 1, 2, seen_at=0.0),))
    before = {"a": checkpoint({P: 5}, {P: 10})}
    assert taken_over({"a": (P, Q)}, before, layout=layout) == {"a": {Q: 10}}
    stateless = replace(layout, streams={"views": StreamLayout(1, 2)}, splits=())
    assert taken_over({"a": (P, Q)}, before, layout=stateless) == {}
