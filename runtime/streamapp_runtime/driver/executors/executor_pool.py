"""The executors of a run on this machine: more of them while it continues, or fewer.

One processor needs none. Several are a Spark cluster inside the driver's JVM, of a worker for each executor;
a worker more brings an executor more. From one processor to several Spark itself is started again, and for a
stream that grew, where the app wants that.
"""

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from streamapp_runtime.driver.executors.lane_partitions import lane_elements, lane_identities
from streamapp_runtime.driver.executors.session_lanes import close_lanes
from streamapp_runtime.driver.spark.scala_objects import companion, field_of, sequence
from streamapp_runtime.driver.spark.session_settings import MEMORY, mebibytes
from streamapp_runtime.driver.spark.spark_session import (
    close_session,
    in_one_process,
    live_executors,
    open_session,
)
from streamapp_runtime.expressions.spark_source import DeferredSession

EXECUTOR_WAIT_SECONDS = 60.0
"""How long new executors are waited for before the change is made without them."""
UNLIMITED_WORKERS = 1_000_000
"""So many workers as ever are wanted: where a cluster brings executors by itself."""
_NUMBERS = iter(range(1_000, 1_000_000))
"""Spark numbers the workers of one JVM; those it began with have the small numbers."""


@dataclass(slots=True)
class ExecutorPool:
    """The executors of one session, and how many of them there are to be."""

    name: str
    session: DeferredSession
    prepare: Callable[[SparkContext], None]  # sets what a new session needs
    workers: int  # of the cluster in the driver's JVM; 1 where there is none
    _requested: tuple[int, float] | None = None  # for how many, and when

    def ready(self, count: int) -> bool:
        """Whether so many can be given work. They are asked for, and waited for, but not for ever."""
        if in_one_process(self.session.context) or len(live_executors(self.session.context)) >= count:
            self._requested = None
            return True
        if self._requested is None or self._requested[0] != count:
            self._request(count)
            self._requested = count, time.monotonic()
        if time.monotonic() - self._requested[1] < EXECUTOR_WAIT_SECONDS:
            return False
        self._requested = None
        return True

    def request(self, count: int) -> None:
        """Ask for so many, and wait for none."""
        if not in_one_process(self.session.context):
            self._limit(count)

    @property
    def present(self) -> int:
        """How many executors there are."""
        return len(live_executors(self.session.context))

    def start_workers(self, until: Callable[[], bool], seconds: float) -> None:
        """Have each executor start the Python worker of its lane, and Spark compile its first job.

        The job is given up when it is not over in time, or its results are not wanted any more.
        """
        job = Thread(target=self._identify, daemon=True)
        job.start()
        deadline = time.monotonic() + seconds
        while job.is_alive() and not until() and time.monotonic() < deadline:
            job.join(0.05)
        if job.is_alive():
            self.session.context.cancelAllJobs()

    def _identify(self) -> None:
        executors = live_executors(self.session.context)
        hosts = [(host, name) for name, host in executors.items()]
        lanes = lane_elements(self.session.context, hosts, len(executors))
        with suppress(
            PySparkException, Py4JError, OSError
        ):  # an executor was lost: the first batch hears of it
            lane_identities(lanes)

    def renewed(self, count: int) -> DeferredSession | None:
        """A new session where this one is too small for ever; the lanes of the old one have to be closed."""
        return None if count == 1 or not in_one_process(self.session.context) else self.restarted(count)

    def restarted(self, count: int) -> DeferredSession:
        """Spark started again with so many; the lanes of the old session have to be released."""
        self.close()
        self.session = open_session(self.name, count)
        self.prepare(self.session.context)
        self.workers = count
        return self.session

    def close(self) -> None:
        """End the lanes, and Spark."""
        close_lanes()
        close_session(self.session)

    def release_others(self, needed: Collection[str]) -> None:
        """Have Spark end all executors but these."""
        if in_one_process(self.session.context):
            return
        surplus = sorted(live_executors(self.session.context).keys() - set(needed))
        if not surplus:
            return
        context: Any = self.session.context
        self._limit(len(needed))
        ids = sequence(context._jvm, surplus)  # noqa: SLF001 - Python has no killExecutors
        context._jsc.sc().schedulerBackend().killExecutors(ids, False, False, True)  # noqa: SLF001

    def _request(self, count: int) -> None:
        self._limit(count)
        for _ in range(self.workers, count):
            _add_worker(self.session.context)
        self.workers = max(self.workers, count)

    def _limit(self, count: int) -> None:
        """How many executors Spark is to have; unless it is told it takes all that it can get."""
        context: Any = self.session.context
        jvm = context._jvm  # noqa: SLF001 - Python has no requestTotalExecutors
        no_localities = companion(jvm, "scala.collection.immutable.Map").empty()
        context._jsc.sc().requestTotalExecutors(count, 0, no_localities)  # noqa: SLF001


def _add_worker(spark: SparkContext) -> None:
    """Another worker in the cluster of this JVM, with room for one executor."""
    context: Any = spark  # which has no types for these
    jvm, scala = context._jvm, context._jsc.sc()  # noqa: SLF001 - Spark has no other way
    masters = field_of(scala.schedulerBackend(), "masters")
    no_option = jvm.scala.Option.empty()
    number = jvm.scala.Option.apply(next(_NUMBERS))
    worker = companion(jvm, "org.apache.spark.deploy.worker.Worker")
    host, memory = context.getConf().get("spark.driver.host"), mebibytes(MEMORY)
    worker.startRpcEnvAndEndpoint(
        host, 0, 0, 1, memory, masters, None, number, scala.conf().clone(), no_option
    )
