"""Lanes as rows of a DataFrame, each with the executor on which its task has to run."""

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

from streamapp_runtime.lanes.protocol.executor_identity import IDENTITY_SCHEMA, report_identities

SCHEMA = StructType([StructField("lane", IntegerType(), nullable=False)])


LAYER_VARIABLE: Final = "STREAMAPP_LAYER"


def lane_identities(session: SparkSession, lanes: DataFrame) -> dict[int, str]:
    """The executor on which each lane finds itself, as its worker reports it."""
    use_workers_of_layer(session, 0)
    rows = lanes.mapInArrow(report_identities, IDENTITY_SCHEMA).collect()
    return {row.lane: row.executor_id for row in rows}


def use_workers_of_layer(session: SparkSession, number: int) -> None:
    """A different environment gives each layer worker processes of its own."""
    session.sparkContext.environment[LAYER_VARIABLE] = str(number)


def lane_rows(session: SparkSession, executors: Sequence[tuple[str, str]], lanes: int) -> DataFrame:
    """One row per lane, in a partition of its own; `executors` are (host, id), empty in one process.

    Preferred locations carry through every narrow step that follows, which no data source could do.
    """
    context = session.sparkContext
    jvm: Any = context._jvm  # noqa: SLF001 - Python has no makeRDD with locations
    gateway: Any = context._gateway  # noqa: SLF001
    converters = jvm.scala.jdk.javaapi.CollectionConverters
    pairs = jvm.java.util.ArrayList()
    for lane in range(lanes):
        cells = gateway.new_array(jvm.java.lang.Object, 1)
        cells[0] = lane
        locations = jvm.java.util.ArrayList()
        if executors:
            host, executor = executors[lane]
            locations.add(f"executor_{host}_{executor}")
        row = jvm.org.apache.spark.sql.RowFactory.create(cells)
        pairs.add(jvm.scala.Tuple2(row, converters.asScala(locations).toSeq()))
    tag = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("org.apache.spark.sql.Row"))
    rdd = context._jsc.sc().makeRDD(converters.asScala(pairs).toSeq(), tag)  # noqa: SLF001
    java: Any = session._jsparkSession  # noqa: SLF001
    return DataFrame(java.createDataFrame(rdd.toJavaRDD(), java.parseDataType(SCHEMA.json())), session)
