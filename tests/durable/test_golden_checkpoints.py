"""Checkpoints as version 1 wrote them: every later version has to read these bytes."""

from streamapp.control.control_sender import LastSent
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, EventTimeProgress

VERSION_1 = (
    b'{"format": 1, "run": "run-1", "attempt": "3.7.0", "positions": {"users#0": 4, "views#2": 91}, '
    b'"changelogs": {"users": 12}, "time": {"turn": 2, "watermarks": {"views": 60000}, '
    b'"sent": {"by-user": [5, 60000, 1000]}, "heard": "", "closed": {"totals": 30000}}}'
)
CHECKPOINT = Checkpoint(
    "run-1",
    "3.7.0",
    {Partition("views", 2): 91, Partition("users", 0): 4},
    {"users": 12},
    EventTimeProgress(2, {"views": 60_000}, {"by-user": LastSent(5, 60_000, 1_000)}, "", {"totals": 30_000}),
)


def test_version_1_is_read() -> None:
    assert Checkpoint.decode(VERSION_1) == CHECKPOINT


def test_version_1_is_what_is_written() -> None:
    assert CHECKPOINT.encode() == VERSION_1
