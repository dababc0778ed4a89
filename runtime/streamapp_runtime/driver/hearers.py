"""Who hears of what happens in a run."""

from collections.abc import Callable
from dataclasses import dataclass

from streamapp_runtime.driver.batch import Batch
from streamapp_runtime.driver.change import Change
from streamapp_runtime.driver.launch import Launch


@dataclass(frozen=True, slots=True)
class Hearers:
    """Called from the driver's own thread, between batches."""

    launched: Callable[[Launch], None]
    heard: Callable[[Batch], None]
    trouble: Callable[[str], None]
    idle: Callable[[], None]
    changed: Callable[[Change], None]
