"""Lanes on the executors of a Spark session."""

from collections.abc import Callable
from dataclasses import dataclass

from streamapp_runtime.driver.batches.batch_watch import BatchWatch
from streamapp_runtime.driver.executors.lane_executors import LaneExecutors
from streamapp_runtime.driver.executors.lane_hosts import HostedModel
from streamapp_runtime.driver.executors.resident_lanes import SHORT_LOSS_SECONDS
from streamapp_runtime.driver.executors.session_lanes import driver_address, session_lanes
from streamapp_runtime.driver.spark.spark_session import is_alive
from streamapp_runtime.expressions.spark_source import DeferredSession


@dataclass(frozen=True, slots=True)
class SparkHosting:
    """The executors of a session, or its own process where it has none."""

    session: DeferredSession

    def hosts(self, model: HostedModel) -> LaneExecutors:
        """The executors of a model's lanes."""
        return LaneExecutors(
            self.session,
            program=model.program,
            setup=model.setup,
            pause=model.pause,
            bound=model.bound,
            store_locations=model.store_locations,
            locations=model.locations,
            loss_seconds=SHORT_LOSS_SECONDS if model.independent else None,
        )

    def watcher(self, slow: Callable[[str], None], waits: Callable[[str, str], None]) -> BatchWatch:
        """A watch over the jobs of the session, whose settings take a call to the JVM each to be read."""
        context = self.session.context
        host, bind = driver_address(context)
        look = session_lanes(context).look_for_executors
        return BatchWatch(host, bind, context.cancelAllJobs, slow, waits, look)

    @property
    def end_reason(self) -> str:
        """Why no batch can run any more: Spark's driver cannot be spoken to, or lanes get no orders."""
        context = self.session.context
        return session_lanes(context).server.end_reason if is_alive(context) else "Spark has ended"
