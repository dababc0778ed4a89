"""The streams of an app under test: their topics, their partitions, and what their records hold."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from streamapp.author.app_streams import declared_topics
from streamapp.spec.problem import nearest
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.checkpoints.delivery_target import change_by_records, sink_table
from streamapp_runtime.formats.format_options import format_options
from streamapp_runtime.formats.stream_format import DEFAULT_OPTIONS, open_format
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.program.program import Program
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import RecordRefusedError
from streamapp_runtime.testing.kit_errors import AppFailedError, WrongUseError
from streamapp_runtime.testing.record_rows import RowCodec, StreamRecord, stored_batches, stream_records
from streamapp_runtime.testing.row_diff import Rows
from streamapp_runtime.testing.tested_app import KIT_SUFFIX, observed_streams


@dataclass(slots=True)
class TestedStreams:
    """The streams that an app declares, in the log of a test."""

    app: StreamApp
    systems: Systems
    program: Program | None = None  # of the app once it has started: it knows the columns of outputs

    def create_inputs(self, partitions: int | Mapping[str, int]) -> None:
        """Create the streams that the app reads, all with as many partitions, or by name.

        A stream that the app writes is created by the app, unless it is named.
        """
        spec = self.app.spec
        named = partitions if isinstance(partitions, Mapping) else {}
        for name in named:
            self.declared(name)
        written = {operator.send_to.stream for operator in spec.operators if operator.send_to is not None}
        set_aside = {spec.late_rows.stream, spec.on_bad_record.stream, spec.on_code_error.stream}
        for stream in spec.streams:
            if stream.name in set_aside or (stream.name in written and stream.name not in named):
                continue
            if not self.count(stream.name):
                count = named.get(stream.name, 1) if isinstance(partitions, Mapping) else partitions
                self.systems.create(stream.name, count)

    def names(self) -> tuple[str, ...]:
        """The streams that the app declares, and the operators whose rows are to be seen."""
        declared = [name for name in declared_topics(self.app) if not name.endswith(KIT_SUFFIX)]
        return (*declared, *observed_streams(self.app))

    def declared(self, stream: str) -> str:
        """The stream of the resource that has the rows; WrongUseError where no stream has that name."""
        name = observed_streams(self.app).get(stream, stream)
        if name not in declared_topics(self.app):
            raise WrongUseError(f'no stream "{stream}"{nearest(stream, self.names())}')
        return name

    def count(self, stream: str) -> int:
        """The number of partitions of a stream; 0 where it does not exist."""
        return self.systems.partitions(self.declared(stream)) or 0

    def codec(self, name: str) -> RowCodec:
        """The codec of a stream's rows: by its columns, or by those of the operator that writes it."""
        stream = self.app.spec.stream(self.declared(name))
        columns = self._compiled_columns(stream.name)
        if not columns and stream.columns is None:
            raise WrongUseError(f'nothing says which columns "{name}" has')
        if not columns:
            columns = parse_columns(stream.columns or "")
        options = format_options(self.app).get(stream.name, DEFAULT_OPTIONS)
        schemas = self.systems.schemas(stream.name) if stream.needs_registry else None
        return RowCodec(stream, columns, open_format(stream.format, columns, options, schemas), schemas)

    def records(self, stream: str) -> list[StreamRecord]:
        """All records of a stream; none where the app has yet to create it."""
        return list(stream_records(self.systems, self.codec(stream))) if self.count(stream) else []

    def arrow(self, stream: str) -> pa.Table:
        """The rows of a stream; tombstones are left out."""
        codec = self.codec(stream)
        batches = stored_batches(self.systems, codec.stream.name) if self.count(stream) else ()
        return pa.Table.from_batches([codec.columns_of(batch) for _, batch in batches], codec.format.schema)

    def sink_rows(self, deployed: StreamApp, stream: str) -> Rows:
        """The rows of the table of a sink that a stream of the deployed app is."""
        sinks = {system.name for system in deployed.spec.systems if system.has_tables}
        names = [one.name for one in deployed.spec.streams if one.system in sinks]
        if stream not in names:
            raise WrongUseError(f'no stream "{stream}" goes to a table{nearest(stream, names)}')
        batches = [batch for _, batch in stored_batches(self.systems, stream)] if self.count(stream) else []
        if not batches:
            return Rows()
        table = sink_table(deployed, stream)
        record_format = open_format(deployed.spec.stream(stream).format, table.columns)
        try:
            change = change_by_records(table, record_format, pa.Table.from_batches(batches))
        except RecordRefusedError as error:
            raise AppFailedError(f"an output cannot be delivered: {error}") from None
        return Rows(change.rows.to_pylist())

    def size(self, stream: str) -> int:
        """The number of records that a stream has."""
        name = self.declared(stream)
        spans = self.systems.spans(Partition(name, index) for index in range(self.count(stream)))
        return sum(span.end - span.oldest for span in spans.values())

    def _compiled_columns(self, name: str) -> tuple[Column, ...]:
        columns: tuple[Column, ...] = ()
        for task in self.program.tasks if self.program else ():
            operation = task.operation
            if isinstance(operation, Read) and operation.stream == name:
                columns = operation.value_columns
            elif isinstance(operation, Write) and operation.stream == name:
                columns = columns or tuple(operation.value_columns(task.sources[0].columns))
        return columns
