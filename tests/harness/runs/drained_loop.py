"""Runs batches of a loop until it has nothing left to do."""

import time

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop

MOST_STEPS = 300
LOOK_SECONDS = 0.01
"""How long a loop rests at most that waits for anything but the next batch."""


def drain(loop: Loop) -> list[BatchResult]:
    """The batches up to the end of what there is; records may wait for others, as in a run of the command."""
    batches = []
    for _ in range(MOST_STEPS):
        batch = loop.step()
        if batch is not None:
            batches.append(batch)
        elif loop.planner.behind:
            time.sleep(loop.planner.rest_seconds or min(loop.planner.look_seconds, LOOK_SECONDS))
        else:
            return batches
    raise AssertionError("the app does not come to its end")
