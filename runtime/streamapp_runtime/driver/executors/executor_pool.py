"""The executors of a run on this machine: more of them while it continues, or fewer.

One processor needs none. Several are a Spark cluster inside the driver's JVM, of a worker for each executor;
a worker more brings an executor more. From one processor to several Spark itself is started again, and for a
stream that grew, where the app wants that.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark import SparkContext

from streamapp_runtime.driver.executors.lane_partitions import lane_elements, worker_job
from streamapp_runtime.driver.executors.session_lanes import close_lanes, session_lanes
from streamapp_runtime.driver.spark.background_job import BackgroundJob
from streamapp_runtime.driver.spark.jvm_options import USUAL_MEMORY, mebibytes
from streamapp_runtime.driver.spark.scala_objects import companion, field_of, sequence
from streamapp_runtime.driver.spark.spark_session import (
    close_session,
    in_one_process,
    live_executors,
    open_session,
)
from streamapp_runtime.systems.connection import SystemConnections

EXECUTOR_WAIT_SECONDS = 60.0
"""How long new executors are waited for before the change is made without them."""
WORKER_WAIT_SECONDS = 10.0
"""How long the Python workers of new executors are waited for."""
_WORKER_JOB: Final = "streamapp-workers"
"""The group of the Spark job in which executors start their Python workers."""
UNLIMITED_WORKERS = 1_000_000
"""So many workers as ever are wanted: where a cluster brings executors by itself."""
_NUMBERS = iter(range(1_000, 1_000_000))
"""Spark numbers the workers of one JVM; those it began with have the small numbers."""


@dataclass(slots=True)
class _Growth:
    """Executors that were asked for in addition to those that there were."""

    count: int  # of all of them
    before: frozenset[str]
    deadline: float  # until when they are waited for, and then their workers
    workers: BackgroundJob | None = None  # in which the new ones start their Python workers

    @property
    def is_over(self) -> bool:
        """True if nothing is waited for any more: the new ones have their workers, or took too long."""
        has_workers = self.workers is not None and self.workers.is_over
        return has_workers or time.monotonic() >= self.deadline


@dataclass(slots=True)
class ExecutorPool:
    """The executors of one session, and how many of them there are to be."""

    name: str
    spark: SparkContext
    prepare: Callable[[SparkContext], None]  # sets what a new session needs
    workers: int  # of the cluster in the driver's JVM; 1 where there is none
    systems: SystemConnections | None = None  # of the app's streams, whose clients new workers import
    _growth: _Growth | None = None

    def ready(self, count: int) -> bool:
        """True if so many executors can be given work: those asked for have their Python workers then.

        They are waited for, but not for ever.
        """
        if in_one_process(self.spark):
            return True
        executors = live_executors(self.spark)
        growth = self._growth
        if growth is None or growth.count != count:
            if len(executors) >= count:
                self._growth = None
                return True
            self._request(count)
            deadline = time.monotonic() + EXECUTOR_WAIT_SECONDS
            self._growth = growth = _Growth(count, frozenset(executors), deadline)
        if growth.workers is None and len(executors) >= count:
            new = {name: host for name, host in executors.items() if name not in growth.before}
            growth.workers = self._begin_workers(new)
            growth.deadline = time.monotonic() + WORKER_WAIT_SECONDS
        if not growth.is_over:
            return False
        if growth.workers is not None:
            growth.workers.give_up()
        self._growth = None
        return True

    def request(self, count: int) -> None:
        """Ask for so many, and wait for none."""
        if not in_one_process(self.spark):
            self._limit(count)

    @property
    def present(self) -> int:
        """The number of live executors."""
        return len(live_executors(self.spark))

    def start_workers(self, until: Callable[[], bool], seconds: float) -> None:
        """Have each executor start the Python worker of its lane, and Spark compile its first job.

        The job is given up when it is not over in time, or its results are not wanted any more.
        """
        self._begin_workers(live_executors(self.spark)).wait(seconds, until)

    def _begin_workers(self, executors: Mapping[str, str]) -> BackgroundJob:
        """Have these executors run a job whose tasks start Python workers, which import what lanes need."""
        hosts = [(host, name) for name, host in executors.items()]
        workers = worker_job(lane_elements(self.spark, hosts, len(hosts)), self.systems)
        lanes = session_lanes(self.spark)

        def run() -> None:
            identities = {hosts[lane][1]: identity for lane, identity in workers.collect()}
            lanes.identities.update(identities)

        # Where an executor is lost, the first batch hears of it.
        return BackgroundJob(self.spark, _WORKER_JOB, "start the Python workers", run)

    def renewed(self, count: int) -> SparkContext | None:
        """A new session where this one is too small for ever; the lanes of the old one have to be closed."""
        return None if count == 1 or not in_one_process(self.spark) else self.restarted(count)

    def restarted(self, count: int) -> SparkContext:
        """Spark started again with so many; the lanes of the old session have to be released."""
        self.close()
        self.spark = open_session(self.name, count)
        self.prepare(self.spark)
        self.workers = count
        return self.spark

    def close(self) -> None:
        """End the lanes, and Spark."""
        close_lanes()
        close_session(self.spark)

    def release_others(self, needed: Collection[str]) -> None:
        """Have Spark end all executors but these."""
        if in_one_process(self.spark):
            return
        surplus = sorted(live_executors(self.spark).keys() - set(needed))
        if not surplus:
            return
        context: Any = self.spark
        self._limit(len(needed))
        ids = sequence(context._jvm, surplus)  # noqa: SLF001 - Python has no killExecutors
        context._jsc.sc().schedulerBackend().killExecutors(ids, False, False, True)  # noqa: SLF001

    def _request(self, count: int) -> None:
        self._limit(count)
        for _ in range(self.workers, count):
            _add_worker(self.spark)
        self.workers = max(self.workers, count)

    def _limit(self, count: int) -> None:
        """Tell Spark the number of executors to have; unless it is told it takes all that it can get."""
        context: Any = self.spark
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
    host, memory = context.getConf().get("spark.driver.host"), mebibytes(USUAL_MEMORY)
    worker.startRpcEnvAndEndpoint(
        host, 0, 0, 1, memory, masters, None, number, scala.conf().clone(), no_option
    )
