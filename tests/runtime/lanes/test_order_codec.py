"""Orders on their way to a lane: whatever becomes of them, none is taken for another."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.lanes.protocol.batch_orders import (
    BroadcastOrder,
    KnownRejection,
    LaneOrder,
    Orders,
    ReadRange,
    SidePartition,
    TaskOrder,
)
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory, OrderMismatchError
from streamapp_runtime.lanes.protocol.rejections import RejectionCause, RejectionCount
from streamapp_runtime.lanes.protocol.state_query import StateQuery
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

SKIP = (KnownRejection("events", 0, 17, "division by zero", RejectionCause.CODE),)
TASK = TaskOrder(
    "Partition 0",
    3,
    '{"a": 1}',
    (ReadRange("events", 0, 0, 4),),
    (SidePartition("users", 0, 7),),
    (("events", 0),),
    (("events", 1),),
    '{"b": 2}',
    (RejectionCount(RejectionCause.CODE, "events", 0, 2, 4, 1),),
)
SHARED = (BroadcastOrder("rates", True, "1-1", "1-2", ("1-0",)),)
QUERIES = (
    StateQuery(3, "users", ("Partition 0",), (b"u\xff", b""), timed=True),
    StateQuery(4, "users", ("Partition 0",), start=b"a", end=b"b", limit=9, snapshot=2, begins=True),
)

tasks = st.builds(
    replace,
    st.just(TASK),
    checkpoint=st.sampled_from(["", '{"a": 1}', '{"a": 2}']),
    ranges=st.sampled_from([(), TASK.ranges]),
    side_inputs=st.sampled_from([(), TASK.side_inputs]),
    lagging=st.sampled_from([(), TASK.lagging]),
    ended=st.sampled_from([(), TASK.ended]),
    inherited_bookkeeping=st.sampled_from(["", TASK.inherited_bookkeeping]),
    rejections=st.sampled_from([(), TASK.rejections]),
)
lanes = st.lists(tasks, max_size=3).map(
    lambda made: LaneOrder(
        "processor-0", tuple(replace(task, name=f"Partition {n}") for n, task in enumerate(made)), "here"
    )
)


def order(batch: int, lane: LaneOrder) -> Orders:
    return Orders(4, batch, 1_234 + batch, (lane,), skip=SKIP if batch % 2 else (), trial=batch % 3 == 0)


def reports(checkpoints: Sequence[str]) -> list[TaskReport]:
    return [
        TaskReport(f"Partition {n}", TaskStatus.COMMITTED, checkpoint)
        for n, checkpoint in enumerate(checkpoints)
    ]


def test_an_order_arrives_as_it_was_sent() -> None:
    lane = LaneOrder("processor-0", (TASK,), "here", SHARED, QUERIES, (1, 2))
    sent = Orders(4, 9, 1234, (lane,), skip=SKIP, steps_to="a:1")
    assert OrderMemory().decode(OrderMemory().encode(sent)) == sent


@given(
    st.lists(
        st.tuples(lanes, st.lists(st.sampled_from(["", '{"a": 2}', '{"a": 3}']), max_size=3)), max_size=6
    )
)
def test_every_order_of_a_row_arrives_as_it_was_sent(
    batches: list[tuple[LaneOrder, list[str]]],
) -> None:
    driver, worker = OrderMemory(), OrderMemory()
    for number, (lane, checkpoints) in enumerate(batches, start=1):
        sent = order(number, lane)
        assert worker.decode(driver.encode(sent)) == sent
        driver.note(reports(checkpoints))
        worker.note(reports(checkpoints))


@given(
    st.lists(lanes, min_size=1, max_size=5),
    st.lists(st.integers(0, 4), max_size=8),
    st.lists(st.sampled_from(["", '{"a": 3}']), max_size=3),
)
def test_an_order_that_is_lost_repeated_or_late_is_never_taken_for_another(
    sent_lanes: list[LaneOrder], delivered: list[int], checkpoints: list[str]
) -> None:
    driver, worker = OrderMemory(), OrderMemory()
    sent, texts = [], []
    for number, lane in enumerate(sent_lanes, start=1):
        sent.append(order(number, lane))
        texts.append(driver.encode(sent[-1]))
        driver.note(reports(checkpoints))
    for place in delivered:
        if place < len(texts):
            try:
                assert worker.decode(texts[place]) == sent[place]
            except OrderMismatchError:
                continue


def test_a_checkpoint_that_only_one_side_knows_is_noticed() -> None:
    driver, worker = OrderMemory(), OrderMemory()
    lane = LaneOrder("processor-0", (replace(TASK, name="Partition 0"),), "here")
    worker.decode(driver.encode(order(1, lane)))
    worker.note(reports(['{"a": 2}']))  # and the report is lost
    with pytest.raises(OrderMismatchError, match="other checkpoints than processor-0 has"):
        worker.decode(driver.encode(order(2, lane)))


def test_what_did_not_change_is_not_sent_again() -> None:
    driver = OrderMemory()
    many = tuple(
        replace(TASK, name=f"Partition {n}", checkpoint="x" * 600, ranges=(), lagging=(), ended=())
        for n in range(10)
    )
    first = driver.encode(order(2, LaneOrder("processor-0", many)))
    driver.note(reports(["y" * 600] * 5))
    reported = tuple(replace(task, checkpoint="y" * 600) for task in many[:5])
    second = driver.encode(order(4, LaneOrder("processor-0", (*reported, *many[5:]))))
    assert len(first) > 10 * 600
    assert len(second) < 300
