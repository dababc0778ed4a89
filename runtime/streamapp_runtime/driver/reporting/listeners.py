"""Who is called when something happens in a run."""

from collections.abc import Callable
from dataclasses import dataclass

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import LoopListeners
from streamapp_runtime.driver.reporting.open_windows import OpenWindows
from streamapp_runtime.driver.start.launch import Launch


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners(LoopListeners):
    """Those of the loop, and of what is before, between and after its batches."""

    launched: Callable[[Launch], None]
    batch: Callable[[BatchResult], None]
    idle: Callable[[], None]
    left_open: Callable[[tuple[OpenWindows, ...]], None]  # at the end of a run
