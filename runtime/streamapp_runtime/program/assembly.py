"""From pieces to the program: tags for edges, registers for columns, a layer for each piece."""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

from streamapp_runtime.program.fusion import fused
from streamapp_runtime.program.levels import levels
from streamapp_runtime.program.piece import Piece, SqlPart
from streamapp_runtime.program.program import Edge, Layer, Program, PythonLayer, SqlLayer, TableRows, Task
from streamapp_runtime.program.registers import allot, families, wide_row
from streamapp_runtime.program.steps import Placed, steps


def assemble(pieces: tuple[Piece, ...], tables: tuple[TableRows, ...]) -> Program:
    """The program of pieces that have an order of layers."""
    ordered = fused(_in_order(pieces))
    level = levels(ordered)
    edges, placed = _connect(ordered)
    layers = tuple(
        _layer([placed[piece.name] for piece in ordered if level[piece.name] == number], number)
        for number in range(max(level.values(), default=0) + 1)
    )
    family = families(column.type for edge in edges for column in edge.columns)
    clock = any(isinstance(p.work, SqlPart) and p.work.reads_batch_time for p in pieces)
    return Program(layers, edges, wide_row([edge.columns for edge in edges], family, clock), tables)


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


def _connect(pieces: Sequence[Piece]) -> tuple[tuple[Edge, ...], Mapping[str, Placed]]:
    """An edge for every source of every piece, tags counted from 0 in the order of the readers."""
    family = families(column.type for piece in pieces for column in piece.columns)
    columns = {piece.name: piece.columns for piece in pieces}
    registers = {piece.name: allot(piece.columns, family) for piece in pieces}
    edges: list[Edge] = []
    sources: dict[str, list[Edge]] = {piece.name: [] for piece in pieces}
    outputs: dict[str, list[Edge]] = {piece.name: [] for piece in pieces}
    for piece in pieces:
        for source in piece.sources:
            edge = Edge(len(edges), source, piece.name, columns[source], registers[source])
            edges.append(edge)
            sources[piece.name].append(edge)
            outputs[source].append(edge)
    placed = {
        piece.name: Placed(piece, tuple(sources[piece.name]), tuple(outputs[piece.name])) for piece in pieces
    }
    return tuple(edges), placed


def _layer(placed: list[Placed], number: int) -> Layer:
    if number % 2:
        return SqlLayer(steps(placed))
    return PythonLayer(tuple(_task(each) for each in placed))


def _task(placed: Placed) -> Task:
    work = placed.piece.work
    operation = work.in_python if isinstance(work, SqlPart) else work
    if operation is None:
        raise AssertionError(f"{placed.piece.name} computes, and was put among Python workers")
    return Task(placed.piece.name, operation, placed.sources, placed.outputs)
