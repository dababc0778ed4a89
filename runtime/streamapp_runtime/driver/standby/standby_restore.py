"""The executors of a driver that stands by restore the stores of the lanes that they are going to have."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from streamapp_runtime.driver.executors.binding import bind_executors
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations
from streamapp_runtime.driver.executors.lane_partitions import lane_elements, use_workers_of_layer
from streamapp_runtime.driver.executors.session_lanes import answering_executors
from streamapp_runtime.driver.spark.background_job import BackgroundJob
from streamapp_runtime.expressions.spark_source import DeferredSession
from streamapp_runtime.lanes.layers.standby_lane import StandbySetup, packed_tasks, restore_standby_lane
from streamapp_runtime.lanes.protocol.batch_orders import TaskOrder
from streamapp_runtime.lanes.task_stores.lane_stores import RestoreProgress

PATIENCE_SECONDS: Final = 5.0
"""How much longer than it is told a job may take."""
TAKE_OVER_PATIENCE_SECONDS: Final = 0.5
"""The same once the driver is to take over. An executor that does not answer holds up nothing."""
_RESTORE_JOB: Final = "streamapp-restore"
"""The group of the Spark job in which executors restore stores."""


def restore_standby_stores(
    session: DeferredSession,
    locations: ExecutorLocations,
    setup: StandbySetup,
    lanes: Mapping[str, Sequence[TaskOrder]],
    seconds: float,
    is_over: Callable[[], bool],
) -> RestoreProgress:
    """Restore stores for so many seconds; `lanes` are the tasks of each processor.

    Those that are at work when `is_over` says that nothing more is wanted have the time to end.

    Executors get the lanes that they will be bound to. Where it turns out otherwise, a lane restores its
    stores as if nothing had been restored.
    """
    context = session.context
    live = answering_executors(context)
    bound = bind_executors({}, live, sorted(lanes), {}, locations(live))
    if not bound:
        return RestoreProgress()
    hosts = [(live[executor], executor) for executor in bound.values()]
    use_workers_of_layer(context, 0)
    elements = lane_elements(context, hosts, len(hosts), [packed_tasks(lanes[name]) for name in bound])
    job = elements.mapPartitionsWithIndex(partial(restore_standby_lane, setup, seconds))
    job.id()  # makes it, with the environment as it is now
    progress: list[RestoreProgress] = []
    run = BackgroundJob(
        context, _RESTORE_JOB, "restore stores", lambda: progress.extend(one for _, one in job.collect())
    )
    least_end = time.monotonic() + seconds + TAKE_OVER_PATIENCE_SECONDS
    run.wait(seconds + PATIENCE_SECONDS, until=lambda: time.monotonic() >= least_end and is_over())
    return sum(progress, RestoreProgress())
