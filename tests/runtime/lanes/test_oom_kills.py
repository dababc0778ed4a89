"""What the kernel counts of processes that it killed for want of memory, in a group of its own."""

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from streamapp_runtime.driver.batches.retries import MemoryKills
from streamapp_runtime.lanes.protocol.executor_identity import MOUNT, oom_kills
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

LIMIT = 256 << 20
CHILD = """
import subprocess, sys
from pathlib import Path
from streamapp_runtime.lanes.protocol.executor_identity import oom_kills
Path(sys.argv[1], "cgroup.procs").write_text("0")
before = oom_kills()
ended = subprocess.run([sys.executable, "-c", "bytearray(1 << 30).replace(b'0', b'1')"])
print(ended.returncode, oom_kills() - before)
"""


@pytest.mark.usefixtures("process")
def test_a_process_that_the_kernel_kills_is_counted_in_its_group() -> None:
    """Left out where a machine lets nobody make control groups, also under CI: no tool mends that."""
    version_1 = (MOUNT / "memory").is_dir()
    group = (MOUNT / "memory" if version_1 else MOUNT) / f"streamapp-{uuid4().hex}"
    try:
        group.mkdir()
        limit = "memory.limit_in_bytes" if version_1 else "memory.max"
        (group / limit).write_text(str(LIMIT))
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        run = [sys.executable, "-c", CHILD, str(group)]
        ended = subprocess.run(run, capture_output=True, text=True, timeout=120, check=True, env=os.environ)
    finally:
        group.rmdir()
    assert ended.stdout.split() == ["-9", "1"]


def test_the_count_of_a_container_is_read_where_it_has_it(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/\n")
    (tmp_path / "memory.events").write_text("low 0\nmax 12\noom 2\noom_kill 3\n")
    assert oom_kills(tmp_path, own) == 3
    assert oom_kills(tmp_path / "nowhere", own) == 0


def test_a_count_that_rises_says_what_befell_a_worker_and_a_new_container_does_not() -> None:
    kills = MemoryKills()
    for count, expected in ((4, False), (4, False), (0, False), (1, True)):
        kills.note([TaskReport("task", TaskStatus.RESTORING, location="here", oom_kills=count)])
        assert kills.recent is expected
    kills.note([TaskReport("task", TaskStatus.RESTORING, location="there", oom_kills=7)])
    kills.recent = False
    kills.note([TaskReport("other", TaskStatus.RESTORING, location="there")])
    assert not kills.recent
