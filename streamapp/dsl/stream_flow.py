"""Streams and flows: every method adds one operator and returns the operator's output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from streamapp.dsl.app_parts import AppParts, PythonCode, resource_fields
from streamapp.dsl.named_arguments import named_arguments
from streamapp.spec.resource.operators import Window


@dataclass(frozen=True, slots=True)
class TableHandle:
    """A table that operators may name."""

    name: str


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of rows: a stream, or the output of an operator.

    The name that each method takes first is the operator's: part of the address of its state, so it
    stays when the program is rearranged.
    """

    parts: AppParts
    name: str

    def _then(self, name: str, kind: str, source: str | list[str], **fields: Any) -> "Flow":
        self.parts.operators.append({"name": name, kind: {"from": source, **resource_fields(fields)}})
        return Flow(self.parts, name)

    @named_arguments
    def filter(self, name: str, *, where: str) -> "Flow":
        """Keep the rows for which the condition holds."""
        return self._then(name, "filter", self.name, where=where)

    @named_arguments
    def map(
        self,
        name: str,
        *,
        select: str | None = None,
        python: PythonCode | None = None,
        columns: str | None = None,
        key: str | None = None,
    ) -> "Flow":
        """Make one row of each, by a select list or by a Python function over Arrow batches."""
        return self._then(name, "map", self.name, select=select, python=python, columns=columns, key=key)

    @named_arguments
    def flat_map(
        self,
        name: str,
        *,
        select: str | None = None,
        python: PythonCode | None = None,
        columns: str | None = None,
        key: str | None = None,
    ) -> "Flow":
        """Make any number of rows from each row."""
        return self._then(name, "flatMap", self.name, select=select, python=python, columns=columns, key=key)

    @named_arguments
    def merge(self, name: str, *others: "Flow") -> "Flow":
        """All rows of this flow and of the others."""
        return self._then(name, "merge", [self.name, *(other.name for other in others)])

    @named_arguments
    def partition_by(
        self,
        name: str,
        *,
        key: str,
        partitions: int | None = None,
        retention: str | None = None,
        idle_timeout: str | None = None,
        idle_quorum: float | None = None,
    ) -> "Flow":
        """Repartition by a new key, through an intermediate stream."""
        idle = {"idleTimeout": idle_timeout, "idleQuorum": idle_quorum}
        return self._then(
            name, "partitionBy", self.name, key=key, partitions=partitions, retention=retention, **idle
        )

    @named_arguments
    def broadcast(
        self, name: str, *, idle_timeout: str | None = None, idle_quorum: float | None = None
    ) -> "Flow":
        """Give every row to every task, through an intermediate stream."""
        return self._then(name, "broadcast", self.name, idleTimeout=idle_timeout, idleQuorum=idle_quorum)

    @named_arguments
    def join(
        self,
        name: str,
        other: "Flow",
        *,
        within: str,
        time: Literal["event", "arrival"] | None = None,
        type: Literal["inner", "left", "right", "full"] | None = None,
        where: str | None = None,
        select: str | None = None,
    ) -> "Flow":
        """Pair rows of equal keys that come within a time of each other."""
        sources = [self.name, other.name]
        return self._then(
            name, "join", sources, within=within, time=time, type=type, where=where, select=select
        )

    @named_arguments
    def join_table(
        self,
        name: str,
        table: TableHandle,
        *,
        type: Literal["inner", "left"] | None = None,
        key: str | None = None,
        select: str | None = None,
    ) -> "Flow":
        """Look up each row in a table."""
        return self._then(name, "joinTable", self.name, table=table.name, type=type, key=key, select=select)

    @named_arguments
    def aggregate(
        self,
        name: str,
        *,
        aggregates: str,
        key: str | None = None,
        window: Window | None = None,
        allowed_lateness: str | None = None,
        emit: Literal["onUpdate", "onWatermark"] | None = None,
    ) -> "Flow":
        """Totals per key, running or per window of event time."""
        fields = {"aggregates": aggregates, "key": key, "window": window, "emit": emit}
        return self._then(name, "aggregate", self.name, **fields, allowed_lateness=allowed_lateness)

    @named_arguments
    def process(
        self,
        name: str,
        *,
        python: PythonCode,
        columns: str | None = None,
        tables: Sequence[TableHandle] = (),
        key: str | None = None,
    ) -> "Flow":
        """Run a user's stateful class."""
        table_names = [table.name for table in tables] or None
        return self._then(
            name, "process", self.name, python=python, columns=columns, tables=table_names, key=key
        )

    @named_arguments
    def send_to_table(self, name: str, table: TableHandle, *, delete_where: str | None = None) -> None:
        """Write the rows to a table."""
        self._then(name, "sendToTable", self.name, table=table.name, delete_where=delete_where)

    @named_arguments
    def send_to(
        self, name: str, stream: "StreamHandle", *, timestamp: str | None = None, headers: str | None = None
    ) -> None:
        """Write the rows to an output stream, with these expressions as the records' time and headers."""
        self._then(name, "sendTo", self.name, stream=stream.name, timestamp=timestamp, headers=headers)


@dataclass(frozen=True, slots=True)
class StreamHandle(Flow):
    """A stream outside the app; it can be read, written and used to fill tables."""
