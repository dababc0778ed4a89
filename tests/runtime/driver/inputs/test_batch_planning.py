"""The next step of a run as tables: what is there and what lanes can take, and what a batch reads then."""

from dataclasses import replace

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.batch_pacing import LONGEST_LOOK_SECONDS, LONGEST_WAIT_SECONDS
from streamapp_runtime.driver.inputs.batch_planning import (
    KEEP_ALIVE_SECONDS,
    BatchDelays,
    BatchReasons,
    InputView,
    InputWait,
    NextStep,
    PlannedReads,
    TaskView,
    input_wait,
    next_step,
    plan_reads,
    rest_seconds,
)
from streamapp_runtime.driver.inputs.fill_turns import TurnTakingStore
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, ReadOrder
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition

ORDER = ReadOrder(priority=("inner",), bootstrap=frozenset({"people"}), side=frozenset({"people"}))


def reads(task: str, stream: str, count: int) -> PendingRange:
    """Some records of the partition of a stream that is this task's."""
    return PendingRange(task, Partition(stream, int(task[-1])), 0, count)


def passed(task: str, stream: str) -> UnreadPartition:
    return UnreadPartition(task, Partition(stream, int(task[-1])))


NOTHING = InputView((), ORDER, most=10)
TWO = frozenset({"t0", "t1"})
VIEWS = (reads("t0", "views", 4), reads("t1", "views", 5))
INNER = reads("t0", "inner", 3)
PEOPLE = reads("t0", "people", 2)
STORE = {"t0": TurnTakingStore(frozenset({PEOPLE.partition}), TWO)}


@pytest.mark.parametrize(
    ("view", "tasks", "delays", "plan"),
    [
        pytest.param(
            NOTHING, TaskView(TWO), BatchDelays(), PlannedReads([], unread=()), id="nothing is there"
        ),
        pytest.param(
            replace(NOTHING, readable=VIEWS),
            TaskView(TWO),
            BatchDelays(),
            PlannedReads([*VIEWS], unread=(), input_left=False),
            id="all is read",
        ),
        pytest.param(
            replace(NOTHING, readable=VIEWS, most=6),
            TaskView(TWO),
            BatchDelays(),
            PlannedReads([reads("t0", "views", 3), reads("t1", "views", 3)], unread=(), input_left=True),
            id="no more than a batch takes",
        ),
        pytest.param(
            replace(NOTHING, readable=(*VIEWS, INNER), most=3),
            TaskView(TWO),
            BatchDelays(),
            PlannedReads([INNER], unread=(), input_left=True),
            id="rows on their way go first, and those behind are not passed over",
        ),
        pytest.param(
            replace(NOTHING, readable=(*VIEWS, INNER)),
            TaskView(TWO),
            BatchDelays(inputs=0.2),
            PlannedReads([INNER]),
            id="inputs wait, rows on their way do not",
        ),
        pytest.param(
            replace(NOTHING, readable=(*VIEWS, INNER)),
            TaskView(TWO),
            BatchDelays(inputs=0.2, records=0.1),
            PlannedReads([]),
            id="the interval is not over for any record",
        ),
        pytest.param(
            replace(NOTHING, readable=VIEWS),
            TaskView(TWO, restoring=frozenset({"t0"})),
            BatchDelays(),
            PlannedReads([VIEWS[1]], unread=(), input_left=True),
            id="a store is restored",
        ),
        pytest.param(
            replace(NOTHING, readable=VIEWS),
            TaskView(TWO, paused=frozenset({"t0"})),
            BatchDelays(),
            PlannedReads([VIEWS[1]], unread=(), input_left=True),
            id="a remote table is away",
        ),
        pytest.param(
            replace(NOTHING, readable=VIEWS),
            TaskView(TWO, busy=frozenset({"t0"})),
            BatchDelays(),
            PlannedReads([VIEWS[1]], unread=(), input_left=False),
            id="a lane is at work",
        ),
        pytest.param(
            replace(NOTHING, readable=(*VIEWS, reads("t0", "inner", 11))),
            TaskView(TWO, busy=frozenset({"t0"})),
            BatchDelays(),
            PlannedReads([], unread=()),
            id="a lane at work has more before it than a batch",
        ),
        pytest.param(
            replace(NOTHING, readable=VIEWS),
            TaskView(frozenset({"t1"})),
            BatchDelays(),
            PlannedReads([VIEWS[1]], unread=(), input_left=True),
            id="a processor is missing",
        ),
        pytest.param(
            replace(NOTHING, readable=(*VIEWS, PEOPLE), waiting=TWO, filling=TWO),
            TaskView(TWO),
            BatchDelays(),
            PlannedReads([PEOPLE], unread=(), input_left=True),
            id="tables are filled before they are joined",
        ),
        pytest.param(
            replace(NOTHING, readable=VIEWS, waiting=TWO),
            TaskView(TWO),
            BatchDelays(),
            PlannedReads([], unread=(passed("t0", "views"), passed("t1", "views"))),
            id="rows wait for tables that nothing fills",
        ),
        pytest.param(
            replace(NOTHING, readable=(*VIEWS, PEOPLE), stores=STORE),
            TaskView(TWO),
            BatchDelays(),
            PlannedReads(
                [PEOPLE],
                frozenset({"t0"}),
                unread=(passed("t0", "views"), passed("t1", "views")),
                input_left=True,
            ),
            id="it is the turn of a store that is filled",
        ),
        pytest.param(
            replace(NOTHING, readable=(*VIEWS, PEOPLE), stores=STORE, filled_last=frozenset({"t0"})),
            TaskView(TWO),
            BatchDelays(),
            PlannedReads([*VIEWS], unread=(passed("t0", "people"),), input_left=True),
            id="it is the turn of the rows that see it",
        ),
        pytest.param(
            replace(NOTHING, endless=(passed("t0", "views"), passed("t1", "views"))),
            TaskView(TWO, restoring=frozenset({"t1"})),
            BatchDelays(),
            PlannedReads([], unread=(passed("t0", "views"),)),
            id="what waits for what does not come is said of tasks that could read",
        ),
    ],
)
def test_what_a_batch_reads(
    view: InputView, tasks: TaskView, delays: BatchDelays, plan: PlannedReads
) -> None:
    assert plan_reads(view, tasks, delays) == plan


@pytest.mark.parametrize(
    ("reasons", "step"),
    [
        (BatchReasons(), NextStep.HEAR),
        (BatchReasons(reads=True), NextStep.RUN),
        (BatchReasons(is_pressing=True), NextStep.RUN),
        (BatchReasons(is_due=True), NextStep.RUN),
        (BatchReasons(is_asked=True), NextStep.ANSWER),
        (BatchReasons(is_asked=True, is_due=True), NextStep.RUN),
        (BatchReasons(idle_seconds=KEEP_ALIVE_SECONDS), NextStep.HEAR),
        (BatchReasons(idle_seconds=KEEP_ALIVE_SECONDS + 0.1), NextStep.RUN),
    ],
)
def test_what_is_done_next(reasons: BatchReasons, step: NextStep) -> None:
    assert next_step(reasons) is step


@pytest.mark.parametrize(
    ("inputs", "has_more", "priority", "seconds"),
    [
        (0.0, False, (), 0.0),
        (0.2, False, (), 0.2),
        (9.0, False, (), LONGEST_LOOK_SECONDS),
        (0.2, True, (), 0.0),
        (0.2, False, ("inner",), 0.0),
    ],
)
def test_how_long_a_driver_rests(inputs: float, has_more: bool, priority: tuple[str], seconds: float) -> None:
    assert rest_seconds(BatchDelays(inputs), has_more=has_more, order=ReadOrder(priority)) == seconds


@pytest.mark.parametrize(
    ("inputs", "pacing", "seconds"), [(0.0, 0.05, 0.05), (0.2, 0.05, 0.2), (0.0, 9.0, LONGEST_LOOK_SECONDS)]
)
def test_how_often_is_looked(inputs: float, pacing: float, seconds: float) -> None:
    assert BatchDelays(inputs, looks=pacing).look_seconds == seconds


@pytest.mark.parametrize(
    ("inputs", "ring", "has_read_all", "wait"),
    [
        (0.0, None, True, InputWait(LONGEST_WAIT_SECONDS, own_streams_only=False)),
        (0.0, 0.3, True, InputWait(0.3, own_streams_only=False)),
        (0.0, 9.0, True, InputWait(LONGEST_WAIT_SECONDS, own_streams_only=False)),
        (0.2, None, True, InputWait(0.2, own_streams_only=True)),
        (0.0, None, False, InputWait(0.1, own_streams_only=True)),
        (0.2, 0.05, True, InputWait(0.05, own_streams_only=True)),
    ],
)
def test_how_long_records_are_waited_for(
    inputs: float, ring: float | None, has_read_all: bool, wait: InputWait
) -> None:
    assert input_wait(BatchDelays(inputs, looks=0.1), ring, has_read_all=has_read_all) == wait
