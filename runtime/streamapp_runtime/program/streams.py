"""Where rows come from and go to: inputs, intermediate streams, outputs."""

from streamapp.spec.resource.operators import Broadcast, PartitionBy, SendTo
from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.program.analysis import canonical
from streamapp_runtime.program.fitting import fit
from streamapp_runtime.program.keys import Key
from streamapp_runtime.program.operations import Read, Role, Write
from streamapp_runtime.program.piece import Chain, Compiled, Flow, Piece, SqlPart
from streamapp_runtime.program.refusal import RefusedError
from streamapp_runtime.program.rows import rekey
from streamapp_runtime.program.template import Template, all_columns, column, columns
from streamapp_runtime.program.within import within
from streamapp_runtime.program.world import World

ONE_VALUE = {"bytes": Column("value", "BINARY"), "string": Column("value", "STRING")}
"""Formats whose records are one value each."""


def columns_of(stream: Stream) -> tuple[Column, ...]:
    """The columns of a declared stream; empty where nothing says them."""
    if stream.columns is not None:
        found = canonical(parse_columns(stream.columns))
        wanted = ONE_VALUE.get(stream.format)
        if wanted and [c.type for c in found] != [wanted.type]:
            raise RefusedError(f'format "{stream.format}" has one column of type {wanted.type}', "columns")
        return found
    return (ONE_VALUE[stream.format],) if stream.format in ONE_VALUE else ()


def compile_read(stream: Stream, table: str | None = None, versions: str = "none") -> Compiled:
    """Read a stream that exists outside the app, for operators or into a table."""
    found = columns_of(stream)
    if not found:
        raise RefusedError(
            f'missing; the app reads "{stream.name}", and format "{stream.format}" needs them', "columns"
        )
    event_time = stream.event_time.column if stream.event_time else None
    topic = stream.topic or stream.name
    role = Role.INPUT if table is None else Role.SIDE_INPUT
    read = Read(
        stream=stream.name,
        system=stream.system,
        topic=topic,
        role=role,
        format=stream.format,
        columns=found,
        key=stream.key,
        event_time=event_time,
        table=table,
        control=stream.control,
        versions=versions,
    )
    piece = Piece(read.name, stream.name, (), read, found)
    return Compiled((piece,), Flow(read.name, found, Key(stream.key, stream.key)))


def compile_partition_by(body: PartitionBy, name: str, flow: Flow, world: World) -> Compiled:
    """Write rows under a new key to the stream that the operator makes, and read it."""
    key, known = rekey(world.spark, body.key, flow)
    # Computed even where the record's key should be the same column: what producers wrote may differ.
    part = SqlPart(columns(len(flow.columns)), key=key, tombstones_keep_key=flow.key.is_column(known.column))
    chain = Chain(name, flow).then("key", part, flow.columns, known)
    return _through(chain, Role.INTERMEDIATE, Key(known.column, known.column), world)


def compile_broadcast(_: Broadcast, name: str, flow: Flow, world: World) -> Compiled:
    """Write rows to the stream that the operator makes, which every task reads whole."""
    return _through(Chain(name, flow), Role.BROADCAST, flow.key, world)


def compile_send_to(body: SendTo, name: str, flow: Flow, world: World) -> Compiled:
    """Write rows to an output stream, under its key column where it has one."""
    stream = world.stream(body.stream)
    with within("stream"):
        wanted = columns_of(stream) or flow.columns
        if stream.columns is None and stream.format in ONE_VALUE and len(flow.columns) == 1:
            wanted = (Column(flow.columns[0].name, wanted[0].type),)
        outputs = fit(world.spark, flow.columns, wanted, f'stream "{stream.name}"')
        key = _key_column(stream, wanted, flow)
    chain = Chain(name, flow)
    if key is not None or not all_columns(outputs) or wanted != flow.columns:
        kept = key is None or flow.key.is_column(stream.key)
        chain = chain.then("row", SqlPart(outputs, key=key, tombstones_keep_key=kept), wanted, flow.key)
    write = Write(stream.name, stream.system, stream.topic or stream.name, Role.OUTPUT, stream.format)
    return chain.then("", write, (), flow.key).ended()


def _key_column(stream: Stream, wanted: tuple[Column, ...], flow: Flow) -> Template | None:
    """The key to write under; none where the rows have it already."""
    if stream.key is None or flow.key.is_column(stream.key):
        return None
    places = {c.name.lower(): p for p, c in enumerate(flow.columns)}
    if stream.key.lower() not in places:
        raise RefusedError(
            f'stream "{stream.name}" has key "{stream.key}", and the rows sent have no such column'
        )
    return column(places[stream.key.lower()])


def _through(chain: Chain, role: Role, key: Key, world: World) -> Compiled:
    name = world.app.intermediate_stream(chain.operator)
    system, carried = world.system_of(name), chain.flow.columns
    write = Write(name, system, name, role, "json", world.partitions(name))
    read = Read(name, system, name, role, "json", carried)
    written = chain.then("write", write, (), key)
    back = Piece(chain.operator, chain.operator, (), read, carried)
    return Compiled((*written.pieces, back), Flow(back.name, carried, key))
