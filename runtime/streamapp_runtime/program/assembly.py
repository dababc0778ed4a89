"""From pieces to the program: tags for edges, registers for columns, a layer for each piece."""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

from streamapp_runtime.operators.compilation.piece import Piece, SqlPart
from streamapp_runtime.program.filter_fusion import fuse_filters
from streamapp_runtime.program.layer_assignment import layer_by_piece
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
