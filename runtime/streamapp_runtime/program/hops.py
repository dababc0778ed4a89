"""Circles that no order of layers can run: their rows take a hop through a stream into the next batch.

All operations on a table are of one worker. Where SQL lies on a way that leaves a table's operations and
comes back to them, the last of them would have to run both before and after that SQL.
"""

from collections.abc import Sequence
from dataclasses import replace

from streamapp.author.names import hop_stream
from streamapp.graph.components import strong_components
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.piece import Piece, SqlPart
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.operators.tables.table_operations import WriteTable


def with_hops(pieces: tuple[Piece, ...], world: CompileContext) -> tuple[Piece, ...]:
    """The pieces, with a hop before as few operations on tables as it takes, writers first."""
    cut_pieces = list(pieces)
    while True:
        circle = _circle(cut_pieces)
        if not circle:
            return tuple(cut_pieces)
        cut_pieces = _cut(cut_pieces, circle, world)


def tables_of(piece: Piece) -> tuple[str, ...]:
    """The tables whose stores a piece touches."""
    return () if isinstance(piece.work, SqlPart) else piece.work.local_tables()


def needs_spark(piece: Piece) -> bool:
    """Work that only Spark SQL can do."""
    return isinstance(piece.work, SqlPart) and piece.work.in_python is None


def _circle(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of a circle through tables that has SQL on it; none where there is none."""
    number = {piece.name: n for n, piece in enumerate(pieces)}
    tables = {table: len(pieces) + n for n, table in enumerate(_all_tables(pieces))}
    before: list[list[int]] = [[] for _ in range(len(pieces) + len(tables))]
    for vertex, piece in enumerate(pieces):
        before[vertex] += [number[source] for source in piece.sources]
        for table in tables_of(piece):  # one layer: each waits for what the others wait for
            before[vertex].append(tables[table])
            before[tables[table]].append(vertex)
    for part in strong_components(before):
        inside = [pieces[vertex] for vertex in sorted(part) if vertex < len(pieces)]
        if len(part) > 1 and any(needs_spark(piece) for piece in inside):
            return inside
    return []


def _all_tables(pieces: Sequence[Piece]) -> list[str]:
    return sorted({table for piece in pieces for table in tables_of(piece)})


def _cut(pieces: Sequence[Piece], circle: list[Piece], world: CompileContext) -> list[Piece]:
    """Put a hop before one operation on a table that reads from inside the circle."""
    inside = {piece.name for piece in circle}
    candidates = [p for p in circle if tables_of(p) and inside & set(p.sources)]
    writers = [p for p in candidates if isinstance(p.work, WriteTable)]
    chosen = (writers or candidates)[-1]
    (source,) = chosen.sources
    rows = next(piece for piece in pieces if piece.name == source).columns
    stream = hop_stream(world.app.application_id, chosen.operator)
    system = world.app.spec.home.name
    count = _partitions(tables_of(chosen)[0], pieces, world)
    write = Write(stream, system, stream, StreamRole.HOP, "columns", count)
    read = Read(stream, system, stream, StreamRole.HOP, "columns", rows)
    away = Piece(f"{chosen.operator}/hop", chosen.operator, (source,), write, ())
    back = Piece(f"{chosen.operator}/after-hop", chosen.operator, (), read, rows)
    rewired_pieces = [replace(p, sources=(back.name,)) if p is chosen else p for p in pieces]
    return [*rewired_pieces, away, back]


def _partitions(table: str, pieces: Sequence[Piece], world: CompileContext) -> int | None:
    """The count that everything joined through a table has."""
    users = {piece.operator for piece in pieces if table in tables_of(piece)}
    counts = [join.partitions for join in world.plan.joins if join.operator in users]
    return next((count for count in counts if count is not None), None)
