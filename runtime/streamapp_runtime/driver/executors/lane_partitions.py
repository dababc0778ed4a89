"""Lanes as partitions of what Spark runs jobs over, each with the executor on which its task has to run."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from pyspark import RDD, SparkContext
from pyspark.serializers import NoOpSerializer

from streamapp_runtime.driver.spark.scala_objects import sequence
from streamapp_runtime.lanes.protocol.executor_identity import report_identity
from streamapp_runtime.lanes.worker import prepare_for_lane
from streamapp_runtime.systems.connection import SystemConnections


def lane_identities(lanes: "RDD[bytes]") -> dict[int, str]:
    """The executor on which each lane finds itself, as its worker reports it."""
    return dict(lanes.mapPartitionsWithIndex(report_identity).collect())


def worker_job(lanes: "RDD[bytes]", systems: SystemConnections | None) -> "RDD[tuple[int, str]]":
    """A job that starts the Python worker of each lane, and has it import what a lane needs.

    Its environment is settled, so that another thread may run it.
    """
    workers = lanes.mapPartitionsWithIndex(partial(prepare_for_lane, systems))
    workers.id()  # makes it, with the environment as it is now
    return workers


def lane_elements(
    context: SparkContext,
    executors: Sequence[tuple[str, str]],
    lanes: int,
    contents: Sequence[bytes] | None = None,
) -> "RDD[bytes]":
    """One element per lane, in a partition of its own; `executors` are (host, id), empty in one process.

    `contents` are what each lane is given; nothing where there are none.
    """
    jvm: Any = context._jvm  # noqa: SLF001 - Python has no makeRDD with locations
    pairs = []
    for lane in range(lanes):
        locations = []
        if executors:
            host, executor = executors[lane]
            locations.append(f"executor_{host}_{executor}")
        pairs.append(jvm.scala.Tuple2(contents[lane] if contents else b"", sequence(jvm, locations)))
    tag = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("[B"))
    java = context._jsc.sc().makeRDD(sequence(jvm, pairs), tag).toJavaRDD()  # noqa: SLF001
    return RDD(java, context, NoOpSerializer())
