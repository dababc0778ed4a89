"""Who is called when something happens in a run."""

from collections.abc import Callable
from dataclasses import dataclass

from streamapp_runtime.driver.bad_records.search_watch import SearchProgress
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition
from streamapp_runtime.driver.reporting.open_windows import OpenWindows
from streamapp_runtime.driver.start.launch import Launch


@dataclass(frozen=True, slots=True)
class Listeners:
    """Called from the driver's own thread, between batches; but for `slow`, while that thread waits."""

    launched: Callable[[Launch], None]
    batch: Callable[[BatchResult], None]
    trouble: Callable[[str], None]
    outage: Callable[[OutageNotice], None]  # from any thread
    idle: Callable[[], None]
    unended: Callable[[tuple[str, ...]], None]  # side inputs without a version, while nothing else is done
    held_up: Callable[[tuple[OpenTransaction, ...]], None]  # open for long, in what is read
    unread: Callable[[tuple[UnreadPartition, ...]], None]  # that have records and are passed over for long
    left_open: Callable[[tuple[OpenWindows, ...]], None]  # at the end of a run
    slow: Callable[[str], None]
    searching: Callable[[SearchProgress], None]  # for bad records, from time to time
    doing: Callable[[str, float | None], None]  # a step of the loop, and how many seconds it may take
    changed: Callable[[RunChange], None]
