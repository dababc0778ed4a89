"""From pieces to the program: an order for them, and tags for the edges between them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from streamapp_runtime.expressions.template import Template
from streamapp_runtime.operators.compilation.evaluated_rows import evaluated_rows
from streamapp_runtime.operators.compilation.piece import Piece, SqlPart
from streamapp_runtime.program.program import PlacedOperation, Program, RowEdge, TableColumns


def fuse_filters(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces, which come after their sources, with filters that Spark evaluates in their only reader."""
    readers = Counter(source for piece in pieces for source in piece.sources)
    piece_of: dict[str, Piece] = {}
    for piece in pieces:
        source = piece_of.get(piece.sources[0]) if len(piece.sources) == 1 else None
        is_fused = source is not None and readers[source.name] == 1 and _is_evaluated_filter(source)
        if source and is_fused and isinstance(piece.work, SqlPart) and isinstance(source.work, SqlPart):
            where = _both(source.work.where, piece.work.where)
            del piece_of[source.name]
            work = replace(piece.work, where=where, judgeable=None)
            filters = (*source.filters, source.name)
            piece_of[piece.name] = replace(piece, sources=source.sources, work=work, filters=filters)
        else:
            piece_of[piece.name] = piece
    return tuple(piece_of.values())


def _is_evaluated_filter(piece: Piece) -> bool:
    """True if Spark evaluates the piece, which keeps rows or drops them, and changes nothing."""
    work = piece.work
    if not isinstance(work, SqlPart) or work.where is None or work.in_python is not None:
        return False
    changes = work.key or work.delete or work.generator
    return not changes and [output.column for output in work.outputs] == list(range(len(work.outputs)))


def _both(first: Template | None, second: Template | None) -> Template | None:
    """Both conditions, the first one asked first: the second may rely on it."""
    if first is None or second is None:
        return first or second
    pieces = ("CASE WHEN (", *first.pieces, ") THEN (", *second.pieces, ") ELSE false END")
    return Template(pieces)


def assemble(pieces: tuple[Piece, ...], tables: tuple[TableColumns, ...]) -> Program:
    """The program of pieces."""
    in_order = _in_order(pieces)
    ordered = fuse_filters(in_order)
    edges, sources, outputs = _connect(ordered)
    tasks = tuple(_task(piece, tuple(sources[piece.name]), tuple(outputs[piece.name])) for piece in ordered)
    return Program(tasks, edges, tables, tuple(in_order))


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


_EdgesByPiece = Mapping[str, Sequence[RowEdge]]


def _connect(pieces: Sequence[Piece]) -> tuple[tuple[RowEdge, ...], _EdgesByPiece, _EdgesByPiece]:
    """An edge for every source of every piece, and by piece those that it reads and those that it fills.

    Tags count from 0 in the order of the readers.
    """
    columns = {piece.name: piece.columns for piece in pieces}
    sources: dict[str, list[RowEdge]] = {piece.name: [] for piece in pieces}
    outputs: dict[str, list[RowEdge]] = {piece.name: [] for piece in pieces}
    edges: list[RowEdge] = []
    for piece in pieces:
        for source in piece.sources:
            edge = RowEdge(len(edges), source, piece.name, columns[source])
            edges.append(edge)
            sources[piece.name].append(edge)
            outputs[source].append(edge)
    return tuple(edges), sources, outputs


def _task(piece: Piece, sources: tuple[RowEdge, ...], outputs: tuple[RowEdge, ...]) -> PlacedOperation:
    operation = piece.work
    if isinstance(operation, SqlPart):
        operation = operation.in_python or evaluated_rows(operation, sources[0].columns)
    return PlacedOperation(piece.name, operation, sources, outputs)
