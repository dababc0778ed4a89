"""From pieces to the program: tags for edges, registers for columns, a layer for each piece."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from streamapp_runtime.expressions.template import Template
from streamapp_runtime.operators.compilation.piece import Piece, SqlPart
from streamapp_runtime.operators.stateless.stream_operations import Write
from streamapp_runtime.program.hops import needs_spark, tables_of
from streamapp_runtime.program.program import (
    Layer,
    PlacedOperation,
    Program,
    PythonLayer,
    RowEdge,
    SqlLayer,
    TableColumns,
)
from streamapp_runtime.program.registers import allot_registers, register_prefixes, wide_row
from streamapp_runtime.program.sql_steps import PlacedPiece, sql_steps


def fuse_filters(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces, which come after their sources, without filters that only one SQL piece reads."""
    readers = Counter(source for piece in pieces for source in piece.sources)
    piece_of: dict[str, Piece] = {}
    for piece in pieces:
        source = piece_of.get(piece.sources[0]) if len(piece.sources) == 1 else None
        if source is None or readers[source.name] != 1 or not _filters(source) or _stays(source, piece_of):
            piece_of[piece.name] = piece
        elif isinstance(piece.work, SqlPart) and isinstance(source.work, SqlPart):
            where = _both(source.work.where, piece.work.where)
            del piece_of[source.name]
            work = replace(piece.work, where=where, judgeable=None)
            filters = (*source.filters, source.name)
            piece_of[piece.name] = replace(piece, sources=source.sources, work=work, filters=filters)
        else:
            piece_of[piece.name] = piece
    return tuple(piece_of.values())


def _filters(piece: Piece) -> bool:
    """True if the piece reads one source, keeps rows or drops them, and changes nothing."""
    work = piece.work
    if not isinstance(work, SqlPart) or len(piece.sources) != 1:
        return False
    changes = work.key or work.delete or work.generator
    return not changes and [output.column for output in work.outputs] == list(range(len(work.outputs)))


def _stays(piece: Piece, piece_of: Mapping[str, Piece]) -> bool:
    """True if a Python worker both makes and can judge the rows of a filter."""
    return not needs_spark(piece) and not any(_in_sql(piece_of[name], piece_of) for name in piece.sources)


def _in_sql(piece: Piece, piece_of: Mapping[str, Piece]) -> bool:
    """True if rows come from Spark; what computes nothing is where its sources are."""
    if not isinstance(piece.work, SqlPart):
        return False
    return needs_spark(piece) or any(_in_sql(piece_of[name], piece_of) for name in piece.sources)


def _both(first: Template | None, second: Template | None) -> Template | None:
    """Both conditions, the first one asked first: the second may rely on it."""
    if first is None or second is None:
        return first or second
    pieces = ("CASE WHEN (", *first.pieces, ") THEN (", *second.pieces, ") ELSE false END")
    return Template(pieces)


def layer_by_piece(pieces: Sequence[Piece]) -> dict[str, int]:
    """The layer of each piece. Pieces come after their sources; there is no circle with SQL through a table.

    The smallest numbers that satisfy all: each pass only raises them, and stops when none is raised.
    """
    level = {piece.name: 0 for piece in pieces}
    of_table: dict[str, int] = {}
    moved = True
    while moved:
        moved = False
        for piece in pieces:
            least = max(
                _earliest(piece, level),
                level[piece.name],
                *(of_table.get(table, 0) for table in tables_of(piece)),
            )
            if level[piece.name] != least:
                level[piece.name], moved = least, True
            for table in tables_of(piece):
                if of_table.get(table, 0) < least:
                    of_table[table], moved = least, True
    last = max((number + number % 2 for number in level.values()), default=0)
    return {p.name: last if isinstance(p.work, Write) else level[p.name] for p in pieces}


def _earliest(piece: Piece, level: Mapping[str, int]) -> int:
    ready = max((level[source] for source in piece.sources), default=0)
    if not isinstance(piece.work, SqlPart):
        return ready + ready % 2
    return ready + (ready + 1) % 2 if needs_spark(piece) else ready


def assemble(pieces: tuple[Piece, ...], tables: tuple[TableColumns, ...]) -> Program:
    """The program of pieces that have an order of layers."""
    in_order = _in_order(pieces)
    ordered = fuse_filters(in_order)
    level = layer_by_piece(ordered)
    edges, placed = _connect(ordered)
    layers = tuple(
        _layer([placed[piece.name] for piece in ordered if level[piece.name] == number], number)
        for number in range(max(level.values(), default=0) + 1)
    )
    family = register_prefixes(column.type for edge in edges for column in edge.columns)
    clock = any(isinstance(p.work, SqlPart) and p.work.reads_batch_time for p in pieces)
    row = wide_row([edge.columns for edge in edges], family, clock)
    return Program(layers, edges, row, tables, tuple(in_order))


def _in_order(pieces: Sequence[Piece]) -> list[Piece]:
    """Each piece after its sources, else in the order of declaration."""
    by_name = {piece.name: piece for piece in pieces}
    sorter = TopologicalSorter({piece.name: piece.sources for piece in pieces})
    place = {piece.name: number for number, piece in enumerate(pieces)}
    sorter.prepare()
    ordered: list[Piece] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=place.__getitem__)
        ordered += [by_name[name] for name in ready]
        sorter.done(*ready)
    return ordered


def _connect(pieces: Sequence[Piece]) -> tuple[tuple[RowEdge, ...], Mapping[str, PlacedPiece]]:
    """An edge for every source of every piece, tags counted from 0 in the order of the readers."""
    family = register_prefixes(column.type for piece in pieces for column in piece.columns)
    columns = {piece.name: piece.columns for piece in pieces}
    registers = {piece.name: allot_registers(piece.columns, family) for piece in pieces}
    edges: list[RowEdge] = []
    sources: dict[str, list[RowEdge]] = {piece.name: [] for piece in pieces}
    outputs: dict[str, list[RowEdge]] = {piece.name: [] for piece in pieces}
    for piece in pieces:
        for source in piece.sources:
            edge = RowEdge(len(edges), source, piece.name, columns[source], registers[source])
            edges.append(edge)
            sources[piece.name].append(edge)
            outputs[source].append(edge)
    placed = {
        piece.name: PlacedPiece(piece, tuple(sources[piece.name]), tuple(outputs[piece.name]))
        for piece in pieces
    }
    return tuple(edges), placed


def _layer(placed: list[PlacedPiece], number: int) -> Layer:
    if number % 2:
        return SqlLayer(sql_steps(placed))
    return PythonLayer(tuple(_task(each) for each in placed))


def _task(placed: PlacedPiece) -> PlacedOperation:
    work = placed.piece.work
    operation = work.in_python if isinstance(work, SqlPart) else work
    if operation is None:
        raise AssertionError(f"{placed.piece.name} computes, and was put among Python workers")
    return PlacedOperation(placed.piece.name, operation, placed.sources, placed.outputs)
