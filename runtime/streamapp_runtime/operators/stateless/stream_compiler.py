"""The sources and destinations of rows: inputs, intermediate streams, outputs."""

from collections.abc import Mapping
from typing import Final

from streamapp.author.app_streams import table_streams
from streamapp.columns.column_rules import input_columns, output_columns, output_key
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import CompileRefusedError, refusals_within
from streamapp.columns.row_key import RowKey
from streamapp.spec.resource.operators import Broadcast, PartitionBy, SendTo
from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import Column, declared_name, parse_columns
from streamapp.spec.value_types.record_fields import FIELD_TYPES, RecordField
from streamapp.tasks.key_placement import KeyReliance
from streamapp_runtime.expressions.analysis import canonical
from streamapp_runtime.expressions.expression import expression
from streamapp_runtime.expressions.template import Template, all_columns, column_template
from streamapp_runtime.operators.compilation.column_fit import fit_columns, nullable_columns
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.key_change import key_value, rekey
from streamapp_runtime.operators.compilation.piece import (
    CompiledOperator,
    Piece,
    PieceChain,
    RowFlow,
    SqlPart,
)
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write


def compile_read(
    stream: Stream, reliance: KeyReliance, table: str | None = None, versions: str = "none"
) -> CompiledOperator:
    """Read a stream that exists outside the app, for operators or into a table."""
    of_keys = _key_columns(stream)
    columns = input_columns(stream, _declared_columns(stream), of_keys)
    time = stream.event_time
    topic = stream.topic or stream.name
    role = StreamRole.INPUT if table is None else StreamRole.SIDE_INPUT
    read = Read(
        stream=stream.name,
        system=stream.system,
        topic=topic,
        role=role,
        format=stream.format,
        columns=columns,
        key=declared_name(columns, stream.key) if stream.key else None,
        event_time=declared_name(columns, time.column) if time else None,
        event_time_unit=time.unit if time else None,
        max_ahead=time.max_ahead if time else None,
        table=table,
        control=stream.carries_watermarks,
        versions=versions,
        reliance=reliance,
        metadata=tuple(field for field, _ in stream.metadata.columns) if stream.metadata else (),
        registry=stream.registry,
        key_columns=len(of_keys),
        registered_keys=stream.has_registered_keys,
    )
    columns = nullable_columns(columns)
    piece = Piece(read.name, stream.name, (), read, columns)
    return CompiledOperator((piece,), RowFlow(read.name, columns, RowKey(stream.key, stream.key)))


def compile_partition_by(
    body: PartitionBy, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Write rows under a new key to the stream that the operator makes, and read it."""
    (flow,) = flows
    change = rekey(context.spark, body.key, flow)
    row_key = change.row_key
    # Computed even where the record's key should be the same column: what producers wrote may differ.
    part = change.keyed(len(flow.columns), tombstones_keep_key=flow.key.is_column(row_key.column))
    chain = PieceChain(name, flow).then("key", part, flow.columns, row_key)
    return _through(chain, StreamRole.INTERMEDIATE, RowKey(row_key.column, row_key.column), context)


def compile_broadcast(
    _: Broadcast, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Write rows to the stream that the operator makes, which every task reads whole."""
    (flow,) = flows
    return _through(PieceChain(name, flow), StreamRole.BROADCAST, flow.key, context)


def compile_send_to(
    body: SendTo, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Write rows to an output stream, under its key column where it has one."""
    (flow,) = flows
    stream = context.app.spec.stream(body.stream)
    field_values = [
        _of_record(text, field, flow, context)
        for text, field in ((body.timestamp, RecordField.TIMESTAMP), (body.headers, RecordField.HEADERS))
        if text is not None
    ]
    spare = {flow.columns[place].name for value, _ in field_values for place in value.columns}
    with refusals_within("stream"):
        of_keys = _key_columns(stream)
        columns = output_columns(stream, _declared_columns(stream), of_keys, flow)
        if stream.key_is_decoded and not of_keys:  # the key column of the values, which keys hold too
            of_keys = stream.key_column_of(columns)
        wanted = (*columns, *of_keys)
        outputs = fit_columns(context.spark, flow.columns, wanted, f'stream "{stream.name}"', spare)
        columns, of_keys = nullable_columns(columns), nullable_columns(of_keys)
        key_position = output_key(stream, flow)
        key = key_text = None
        if key_position is not None:
            key = column_template(key_position)
            key_text = key_value(key, flow.columns[key_position].type)
    chain = PieceChain(name, flow)
    outputs, columns = (
        (*outputs, *(value for value, _ in field_values)),
        (
            *columns,
            *(Column(f"__key_{column.name}", column.type) for column in of_keys),
            *(held for _, held in field_values),
        ),
    )
    if key is not None or not all_columns(outputs) or columns != flow.columns:
        keeps_key = key is None or flow.key.is_column(stream.key)
        part = SqlPart(outputs, key=key, tombstones_keep_key=keeps_key, key_value=key_text)
        chain = chain.then("row", part, columns, flow.key)
    write = Write(
        stream.name,
        stream.system,
        stream.topic or stream.name,
        StreamRole.OUTPUT,
        stream.format,
        timestamp=body.timestamp is not None,
        headers=body.headers is not None,
        traces=body.headers is None and stream.name not in table_streams(context.app),
        partitioner=stream.partitioner,
        key_columns=of_keys,
    )
    return chain.then("", write, (), flow.key).ended()


_HEADERS, _HEADER_LIST = FIELD_TYPES[RecordField.HEADERS], FIELD_TYPES[RecordField.HEADER_LIST]
_RECORD_TYPES: Final[Mapping[RecordField, Mapping[str, str]]] = {
    RecordField.TIMESTAMP: {"TIMESTAMP": "TIMESTAMP"},
    RecordField.HEADERS: {
        _HEADERS: _HEADERS,
        "MAP<STRING, STRING>": _HEADERS,
        _HEADER_LIST: _HEADER_LIST,
    },
}
"""The types that what a record is given may have, and the one that each is written as."""


def _of_record(
    text: str, field: RecordField, flow: RowFlow, context: CompileContext
) -> tuple[Template, Column]:
    """The value that a record has for its time or headers, and the column in which it goes there."""
    with refusals_within(field):
        value, kind = expression(context.spark, text, ColumnScope((ScopeSide("", flow.columns),)))
        written = _RECORD_TYPES[field].get(kind)
        if written is None:
            *others, last = _RECORD_TYPES[field]
            allowed = f"{', '.join(others)} or {last}" if others else last
            raise CompileRefusedError(f"has to be {allowed}; found {kind}")
    if written != kind:
        value = value.inside("CAST(", f" AS {written})")
    return value, Column(f"__{field}", written)


def _declared_columns(stream: Stream) -> tuple[Column, ...]:
    if stream.columns is None:
        return ()
    with refusals_within("columns"):
        return canonical(parse_columns(stream.columns))


def _key_columns(stream: Stream) -> tuple[Column, ...]:
    if stream.metadata is None or stream.metadata.key_columns is None:
        return ()
    with refusals_within("metadata.keyColumns"):
        return canonical(parse_columns(stream.metadata.key_columns))


def _through(chain: PieceChain, role: StreamRole, key: RowKey, context: CompileContext) -> CompiledOperator:
    name = context.app.intermediate_stream(chain.operator)
    system, carried = context.system_of(name), chain.flow.columns
    write = Write(name, system, name, role, "json", context.partitions(name))
    read = Read(name, system, name, role, "json", carried)
    written = chain.then("write", write, (), key)
    back = Piece(chain.operator, chain.operator, (), read, carried)
    return CompiledOperator((*written.pieces, back), RowFlow(back.name, carried, key))
