"""Lanes as partitions of what Spark runs jobs over, each with the executor on which its task has to run."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from pyspark import RDD, SparkContext
from pyspark.serializers import NoOpSerializer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

from streamapp_runtime.driver.spark.scala_objects import sequence
from streamapp_runtime.lanes.protocol.executor_identity import report_identity
from streamapp_runtime.lanes.worker import prepare_for_lane
from streamapp_runtime.systems.connection import SystemConnections

SCHEMA = StructType([StructField("lane", IntegerType(), nullable=False)])


LAYER_VARIABLE: Final = "STREAMAPP_LAYER"


def lane_identities(lanes: "RDD[bytes]") -> dict[int, str]:
    """The executor on which each lane finds itself, as its worker reports it."""
    use_workers_of_layer(lanes.context, 0)
    return dict(lanes.mapPartitionsWithIndex(report_identity).collect())


def worker_job(lanes: "RDD[bytes]", systems: SystemConnections | None) -> "RDD[tuple[int, str]]":
    """A job that starts the Python worker of each lane, and has it import what a lane needs.

    Its environment is settled, so that another thread may run it.
    """
    use_workers_of_layer(lanes.context, 0)
    workers = lanes.mapPartitionsWithIndex(partial(prepare_for_lane, systems))
    workers.id()  # makes it, with the environment as it is now
    return workers


def use_workers_of_layer(context: SparkContext, number: int) -> None:
    """A different environment gives each layer worker processes of its own."""
    context.environment[LAYER_VARIABLE] = str(number)


def lane_elements(
    context: SparkContext,
    executors: Sequence[tuple[str, str]],
    lanes: int,
    contents: Sequence[bytes] | None = None,
) -> "RDD[bytes]":
    """One element per lane, in a partition of its own; `executors` are (host, id), empty in one process.

    `contents` are what each lane is given; nothing where there are none.
    """
    java = _partitions(context, executors, lanes, "[B", lambda lane: contents[lane] if contents else b"")
    return RDD(java, context, NoOpSerializer())


def lane_rows(session: SparkSession, executors: Sequence[tuple[str, str]], lanes: int) -> DataFrame:
    """The same as rows of a DataFrame, where a layer is Spark's.

    Preferred locations carry through every narrow step that follows, which no data source could do.
    """
    context: Any = session.sparkContext
    gateway, jvm = context._gateway, context._jvm  # noqa: SLF001 - Python has no rows of the JVM

    def row(lane: int) -> object:
        cells = gateway.new_array(jvm.java.lang.Object, 1)
        cells[0] = lane
        return jvm.org.apache.spark.sql.RowFactory.create(cells)

    rows = _partitions(context, executors, lanes, "org.apache.spark.sql.Row", row)
    java: Any = session._jsparkSession  # noqa: SLF001
    return DataFrame(java.createDataFrame(rows, java.parseDataType(SCHEMA.json())), session)


def _partitions(
    context: SparkContext,
    executors: Sequence[tuple[str, str]],
    lanes: int,
    element_class: str,
    element: Callable[[int], object],
) -> Any:
    """The JVM's RDD with an element of that class for each lane."""
    jvm: Any = context._jvm  # noqa: SLF001 - Python has no makeRDD with locations
    pairs = []
    for lane in range(lanes):
        locations = []
        if executors:
            host, executor = executors[lane]
            locations.append(f"executor_{host}_{executor}")
        pairs.append(jvm.scala.Tuple2(element(lane), sequence(jvm, locations)))
    tag = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName(element_class))
    return context._jsc.sc().makeRDD(sequence(jvm, pairs), tag).toJavaRDD()  # noqa: SLF001
