"""What an idle driver wakes up for."""

from streamapp_runtime.driver.inputs.timers import Timers
from streamapp_runtime.lanes.protocol.task_report import EventTimeReport, TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus


def test_a_batch_is_due_when_the_first_of_all_times_has_come():
    timers = Timers()
    timers.note(
        [
            TaskReport("a", TaskStatus.COMMITTED, time=EventTimeReport(due=30)),
            TaskReport("b", TaskStatus.COMMITTED, time=EventTimeReport(idle_at=20)),
        ]
    )
    assert [timers.ring(now) for now in (19, 20, 40)] == [False, True, True]
    assert timers.pending


def test_a_task_that_waits_for_nothing_any_more_wakes_nobody():
    timers = Timers()
    timers.note([TaskReport("a", TaskStatus.COMMITTED, time=EventTimeReport(due=30, idle_at=10))])
    timers.note([TaskReport("a", TaskStatus.COMMITTED)])
    assert not timers.ring(1_000)
    assert not timers.pending


def test_all_has_ended_when_each_task_has_said_so_last():
    timers = Timers()
    timers.note([TaskReport("a", TaskStatus.COMMITTED, time=EventTimeReport(ended=True))])
    assert not timers.all_ended(["a", "b"])
    timers.note([TaskReport("b", TaskStatus.COMMITTED, time=EventTimeReport(ended=True))])
    assert timers.all_ended(["a", "b"])
    timers.note([TaskReport("a", TaskStatus.RESTORING)])
    assert not timers.all_ended(["a", "b"])
