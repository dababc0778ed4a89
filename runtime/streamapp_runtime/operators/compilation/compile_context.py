"""The context of the compilation of one operator, beside its own entry and its sources."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp.plan.partition_plan import Plan
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.spark_source import SparkSource


@dataclass(frozen=True, slots=True)
class CompileContext:
    """The app, its plan, Spark, and the columns of tables as far as they are known."""

    spark: SparkSource
    app: StreamApp
    plan: Plan
    table_columns: Mapping[str, tuple[Column, ...]]

    def partitions(self, stream: str) -> int | None:
        """The planned count of a stream."""
        planned = self.plan.streams.get(stream)
        return planned.partitions if planned else None

    def system_of(self, stream: str) -> str:
        """The system of a stream; its home is that of the streams it makes."""
        planned = self.plan.streams.get(stream)
        return (planned.system if planned else "") or self.app.spec.home.name
